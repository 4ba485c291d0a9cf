//! Images: fetched from a server on loopback, stored once, and served by this service.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::web::{self, Bytes, Data};
use actix_web::{App as Site, HttpResponse, HttpServer};
use calendar::{ImageFetcher, MAX_IMAGE_BYTES};
use outbound::{Names, Reach, is_public};
use serde_json::{Value, json};
use testkit::until;
use tokio::sync::Semaphore;

use crate::app::{App, send};

/// A 7 × 5 pixel PNG image.
pub const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\x06\0\0\0\x89\x9a\xf6\xd8\
    \0\0\0\x0cIDATx\xdac`\x18d\0\0\0\x91\0\x01\xb8\xc8?\xd4\0\0\0\0IEND\xaeB`\x82";

/// A server on loopback with the name `pictures.example`.
struct Peer {
    port: u16,
    log: Arc<PeerLog>,
}

/// Counts the requests to the server, and holds one of them back.
struct PeerLog {
    asked: AtomicUsize,
    gate: Semaphore,
}

impl Peer {
    async fn start() -> Peer {
        let log = Arc::new(PeerLog { asked: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let shared = log.clone();
        let server = HttpServer::new(move || {
            Site::new().app_data(Data::from(shared.clone())).default_service(web::to(serve))
        });
        let server = server.workers(1).disable_signals().bind(("127.0.0.1", 0)).unwrap();
        let port = server.addrs()[0].port();
        actix_web::rt::spawn(server.run());
        Peer { port, log }
    }

    fn asked(&self) -> usize {
        self.log.asked.load(Ordering::SeqCst)
    }

    fn at(&self, path: &str) -> String {
        format!("http://pictures.example:{}{path}", self.port)
    }

    /// Starts an app that resolves only the name of this server.
    async fn app(&self) -> App {
        self.app_with(only_the_peer, Duration::from_secs(60)).await
    }

    async fn app_with(&self, permitted: fn(IpAddr) -> bool, timeout: Duration) -> App {
        let names = [("pictures.example", [127, 0, 0, 1]), ("inner.example", [127, 0, 0, 2])];
        let hosts: HashMap<String, SocketAddr> =
            names.map(|(name, ip)| (name.to_owned(), SocketAddr::from((ip, 0)))).into();
        let reach = Reach { permitted, ..Reach::public() }.with_names(Names::Fixed(hosts));
        let fetcher = ImageFetcher::new(reach, timeout).unwrap();
        App::changed(&["--image-mode=fetch"], |state| state.with_image_fetcher(fetcher)).await
    }
}

async fn serve(request: actix_web::HttpRequest, log: Data<PeerLog>) -> HttpResponse {
    log.asked.fetch_add(1, Ordering::SeqCst);
    let port = request.connection_info().host().rsplit_once(':').unwrap().1.to_owned();
    let moved = |to: String| HttpResponse::Found().insert_header(("Location", to)).finish();
    let image = |kind: &str, bytes: Vec<u8>| HttpResponse::Ok().content_type(kind).body(bytes);
    match request.path() {
        "/a.png" | "/b.png" => image("image/png", PNG.to_vec()),
        "/lying.gif" => image("image/gif; x=y", PNG.to_vec()),
        "/page" => image("text/html", PNG.to_vec()),
        "/svg" => image("image/svg+xml", b"<svg/>".to_vec()),
        "/none" => HttpResponse::Ok().insert_header(("Content-Type", "")).body(PNG),
        "/text.png" => image("image/png", b"not an image".to_vec()),
        "/largest.png" => image("image/png", [PNG, &vec![0; MAX_IMAGE_BYTES - PNG.len()]].concat()),
        "/large.png" => image("image/png", [PNG, &vec![0; MAX_IMAGE_BYTES]].concat()),
        "/vast.png" => {
            let mut vast = PNG.to_vec();
            vast[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
            image("image/png", vast)
        }
        "/endless.png" => HttpResponse::Ok().content_type("image/png").streaming(
            futures_util::stream::repeat_with(|| {
                Ok::<_, actix_web::Error>(Bytes::from_static(&[0; 1 << 16]))
            }),
        ),
        "/silent.png" => std::future::pending().await,
        "/held.png" => {
            log.gate.acquire().await.unwrap().forget();
            image("image/png", PNG.to_vec())
        }
        "/traced.png" if is_traced(&request) => image("image/png", PNG.to_vec()),
        "/moved" => moved("/a.png".to_owned()),
        "/loop" => moved("/loop".to_owned()),
        "/to-literal" => moved(format!("http://127.0.0.1:{port}/a.png")),
        "/to-localhost" => moved(format!("http://localhost:{port}/a.png")),
        "/to-inner" => moved(format!("http://inner.example:{port}/a.png")),
        "/to-file" => moved("file:///etc/passwd".to_owned()),
        _ => HttpResponse::NotFound().content_type("image/png").body(PNG),
    }
}

fn is_traced(request: &actix_web::HttpRequest) -> bool {
    let sent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    sent.is_some_and(|sent| sent.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"))
}

fn only_the_peer(ip: IpAddr) -> bool {
    ip == IpAddr::from([127, 0, 0, 1])
}

fn event(image: &str) -> Value {
    json!({"title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01", "image": image})
}

#[actix_web::test]
async fn write_completes_although_its_client_disconnects() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let body = json!({
        "title": "Held", "start_date": "2027-04-01", "end_date": "2027-04-01",
        "image": peer.at("/held.png"),
    });
    let write = app.request("administrator", "POST", "/events").json(&body).send();
    let writing = actix_web::rt::spawn(write);
    until("the image is fetched", async || peer.asked() == 1).await;
    writing.abort();
    // By the time the server answers another client, it has noticed the disconnect.
    app.get("/events").await.expect(200);
    peer.log.gate.add_permits(1);
    until("the event is written", async || app.rows("events") == 1).await;
}

#[actix_web::test]
async fn fetch_belongs_to_the_trace_of_its_write() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let request =
        || app.request("administrator", "POST", "/events").json(&event(&peer.at("/traced.png")));
    send(request()).await.expect(400);
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    send(request().header("traceparent", traceparent)).await.expect(201);
}

#[actix_web::test]
async fn fetched_image_is_stored_once_and_served_locally() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let created = app.post("/events", &event(&peer.at("/a.png"))).await.expect(201);
    let image = created.json["image"].clone();
    let url = image["url"].as_str().unwrap().to_owned();
    assert_eq!(
        image,
        json!({"url": url, "id": image["id"], "extension": "png", "width": 7, "height": 5, "filesize": PNG.len()})
    );
    assert!(url.starts_with(&app.server.url(&format!("/media/{}/", image["id"]))), "{url}");

    let file = app.server.client().get(&url).send().await.unwrap();
    assert_eq!(file.status(), 200);
    for (name, value) in [("content-type", "image/png"), ("x-content-type-options", "nosniff")] {
        assert_eq!(file.headers()[name], value);
    }
    assert_eq!(file.bytes().await.unwrap(), PNG);
    let read = app.get(&format!("/events/{}", created.id())).await;
    assert_eq!(read.json["json_ld"]["image"], url);

    // A URL is fetched only once, and equal content shares a file.
    app.post("/venues", &json!({"venue": "Hall", "image": peer.at("/a.png")})).await.expect(201);
    assert_eq!(peer.asked(), 1);
    app.post("/organizers", &json!({"organizer": "Ann", "image": peer.at("/b.png")}))
        .await
        .expect(201);
    assert_eq!((peer.asked(), app.rows("images")), (2, 2));
    assert_eq!(app.media_files(), 1);

    // The URL in a response refers to the stored image.
    let again = app.post("/events", &event(&url)).await.expect(201);
    assert_eq!(again.json["image"]["id"], image["id"]);
}

#[actix_web::test]
async fn inline_images_are_fetched_too() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let mut body = event(&peer.at("/moved"));
    body["venue"] = json!({"venue": "Hall", "image": peer.at("/a.png")});
    body["organizer"] = json!([{"organizer": "Ann", "image": peer.at("/b.png")}]);
    let created = app.post("/events", &body).await.expect(201).json;
    for image in [&created["image"], &created["venue"]["image"], &created["organizer"][0]["image"]]
    {
        assert_eq!(image["width"], 7);
    }
    assert_eq!((app.rows("events"), app.rows("venues"), app.rows("images")), (1, 1, 3));
}

#[actix_web::test]
async fn image_that_a_write_names_twice_is_stored_once() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let url = peer.at("/a.png");
    let mut body = event(&url);
    body["venue"] = json!({"venue": "Hall", "image": url});
    body["organizer"] = json!([{"organizer": "Ann", "image": url}]);
    let created = app.post("/events", &body).await.expect(201).json;
    let image = &created["image"]["id"];
    assert_eq!(
        (image, image),
        (&created["venue"]["image"]["id"], &created["organizer"][0]["image"]["id"])
    );
    assert_eq!((peer.asked(), app.rows("images")), (1, 1));
}

#[actix_web::test]
async fn image_format_is_detected_from_the_content() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    for path in ["/lying.gif", "/largest.png"] {
        let created = app.post("/events", &event(&peer.at(path))).await.expect(201);
        assert_eq!(created.json["image"]["extension"], "png", "{path}");
    }
}

#[actix_web::test]
async fn urls_of_other_content_or_private_hosts_are_rejected() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let before = app.rows("entities");
    for (path, text) in [
        ("/page", "image must be the address of a JPEG"),
        ("/svg", "image must be the address of a JPEG"),
        ("/none", "image must be the address of a JPEG"),
        ("/text.png", "image must be the address of a JPEG"),
        ("/large.png", "image must be the address of an image of at most 10 MiB"),
        ("/endless.png", "image must be the address of an image of at most 10 MiB"),
        ("/vast.png", "image must be the address of an image of at most 100 million pixels"),
        ("/missing.png", "image must be an address that responds"),
        ("/loop", "image must be an address that responds"),
        ("/to-literal", "image must be an address that responds"),
        ("/to-localhost", "image must be an address that responds"),
        ("/to-inner", "image must be an address that responds"),
        ("/to-file", "image must be an address that responds"),
    ] {
        let answer = app.post("/events", &event(&peer.at(path))).await.expect(400);
        assert_eq!(answer.code(), "rest_invalid_param", "{path}");
        let said = answer.json["data"]["params"]["image"].as_str().unwrap();
        assert!(said.starts_with(text), "{path}: {said}");
    }
    for address in [
        format!("http://127.0.0.1:{}/a.png", peer.port),
        format!("http://localhost:{}/a.png", peer.port),
        format!("http://inner.example:{}/a.png", peer.port),
        "ftp://pictures.example/a.png".to_owned(),
    ] {
        app.post("/events", &event(&address)).await.expect(400);
    }
    assert_eq!((app.rows("entities"), app.rows("events"), app.media_files()), (before, 0, 0));
}

#[actix_web::test]
async fn image_without_a_length_is_rejected_because_it_may_be_truncated() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The request has no body, so it ends with a blank line.
        let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
        while request.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\nconnection: close\r\n\r\n";
        stream.write_all(&[head, &PNG[..PNG.len() / 2]].concat()).unwrap();
    });
    let app = Peer::start().await.app().await;
    let address = format!("http://pictures.example:{port}/a.png");
    let answer = app.post("/events", &event(&address)).await.expect(400);
    let said = answer.json["data"]["params"]["image"].as_str().unwrap();
    assert!(said.contains("with the image's length"), "{said}");
    assert_eq!(app.media_files(), 0);
}

#[actix_web::test]
async fn name_that_resolves_to_a_private_address_gets_no_connection() {
    let peer = Peer::start().await;
    let app = peer.app_with(is_public, Duration::from_secs(60)).await;
    let answer = app.post("/events", &event(&peer.at("/a.png"))).await.expect(400);
    assert_eq!(answer.code(), "rest_invalid_param");
    assert_eq!(peer.asked(), 0);
}

#[actix_web::test]
async fn rejected_write_fetches_no_image() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let good = event(&peer.at("/a.png"));
    app.call("", "POST", "/events", &good).await.expect(401);
    app.call("reader", "POST", "/events", &good).await.expect(403);
    app.call("contributor", "POST", "/events", &good).await.expect(400);
    let mut bad = good.clone();
    bad["end_date"] = json!("never");
    app.post("/events", &bad).await.expect(400);
    let id = app.event(json!({})).await;
    app.call("author", "PATCH", &format!("/events/{id}"), &good).await.expect(403);
    assert_eq!(peer.asked(), 0);
}

#[actix_web::test]
async fn write_with_more_than_ten_images_to_fetch_is_rejected() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let hall = |number: usize| json!({"venue": format!("Hall {number}"), "image": peer.at(&format!("/a.png?{number}"))});
    let mut body = event("");
    body["venue"] = (0..11).map(hall).collect();
    app.post("/events", &body).await.expect(400);
    assert_eq!((peer.asked(), app.rows("venues")), (10, 0));
    body["venue"] = (0..10).map(hall).collect();
    app.post("/events", &body).await.expect(201);
}

#[actix_web::test]
async fn slow_image_fetch_does_not_block_other_writers() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let held = event(&peer.at("/held.png"));
    let others = async {
        while peer.asked() == 0 {
            tokio::task::yield_now().await;
        }
        app.event(json!({"title": "meanwhile"})).await;
        peer.log.gate.add_permits(1);
    };
    let (held, ()) = futures_util::future::join(app.post("/events", &held), others).await;
    assert_eq!(held.expect(201).json["image"]["width"], 7);
}

#[actix_web::test]
async fn image_fetch_from_a_silent_peer_times_out() {
    let peer = Peer::start().await;
    let app = peer.app_with(only_the_peer, Duration::from_millis(300)).await;
    let answer = app.post("/events", &event(&peer.at("/silent.png"))).await.expect(400);
    let said = answer.json["data"]["params"]["image"].as_str().unwrap();
    assert!(said.starts_with("image must be an address that responds"), "{said}");
}

#[actix_web::test]
async fn media_serves_stored_files_only() {
    let peer = Peer::start().await;
    let app = peer.app().await;
    let created = app.post("/events", &event(&peer.at("/a.png"))).await.expect(201);
    let id = created.json["image"]["id"].as_i64().unwrap();
    let url = created.json["image"]["url"].as_str().unwrap().to_owned();
    let name = url.rsplit('/').next().unwrap();
    for path in [
        format!("/media/{id}/other.png"),
        format!("/media/{}/{name}", id + 1),
        format!("/media/{id}/..%2f{name}"),
        format!("/media/{id}"),
        format!("/media/99999999999999999999/{name}"),
        "/media/x/y".to_owned(),
    ] {
        let answer = send(app.server.get(&path)).await;
        assert_eq!((answer.status, answer.code()), (404, "rest_no_route"), "{path}");
    }
}

#[actix_web::test]
async fn uploaded_image_can_be_read_and_linked() {
    let app = App::new().await;
    let upload = |who: &str, kind: &str, bytes: Vec<u8>| {
        send(app.request(who, "POST", "/images").header("Content-Type", kind).body(bytes))
    };
    let image = upload("author", "image/png", PNG.to_vec()).await.expect(201);
    let id = image.id();
    let name = image.json["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let url = app.server.url(&format!("/media/{id}/{name}"));
    assert_eq!(
        image.json,
        json!({"url": url, "id": id, "extension": "png", "width": 7, "height": 5, "filesize": PNG.len()})
    );
    assert!(image.header("location").ends_with(&format!("/images/{id}")));
    let read = app.get_as("author", &format!("/images/{id}")).await.expect(200);
    assert_eq!(read.json, image.json);
    let file = app.server.get(&format!("/media/{id}/{name}")).send().await.unwrap();
    let header = |name: &str| file.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
    let tag = header("etag");
    assert_eq!(&file.bytes().await.unwrap()[..], PNG);
    let again = app.server.get(&format!("/media/{id}/{name}")).header("If-None-Match", tag);
    assert_eq!(again.send().await.unwrap().status(), 304);
    app.event_as("author", json!({"image": id})).await;
    let event = app.event_as("contributor", json!({"image": id})).await;
    let shown = app.get_as("editor", &format!("/events/{event}")).await.expect(200);
    assert_eq!(shown.json["image"], image.json);
    // The declared media type is ignored. The file may also be sent in a form.
    let form = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
    let body = [form, PNG, b"\r\n--b--\r\n"].concat();
    let second = upload("author", "multipart/form-data; boundary=b", body).await.expect(201);
    assert_ne!(second.id(), id);
    assert_eq!(app.media_files(), 1);
}

#[actix_web::test]
async fn rejected_upload_stores_nothing() {
    let app = App::new().await;
    let upload = |who: &str, kind: &str, bytes: Vec<u8>| {
        send(app.request(who, "POST", "/images").header("Content-Type", kind).body(bytes))
    };
    for (who, status) in [("", 401), ("reader", 403), ("contributor", 403)] {
        upload(who, "image/png", PNG.to_vec()).await.expect(status);
    }
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec();
    let wrong = upload("author", "image/svg+xml", svg).await.expect(400);
    assert_eq!(
        wrong.json["data"]["params"]["file"],
        "file must be a JPEG, PNG, GIF or WebP image."
    );
    let endless =
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff\xff\xff\xff\xff\xff\xff\x08\x06\0\0\0".to_vec();
    upload("author", "image/png", endless).await.expect(400);
    let mut vast = PNG.to_vec();
    vast[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    let wrong = upload("author", "image/png", vast).await.expect(400);
    assert_eq!(
        wrong.json["data"]["params"]["file"],
        "file must be an image of at most 100 million pixels."
    );
    let script = b"GIF89a/*\x01\0\0\0\0;*/=1;alert(1)".to_vec();
    for (kind, bytes) in [("image/png", PNG[..33].to_vec()), ("image/gif", script)] {
        upload("author", kind, bytes).await.expect(400);
    }
    for (kind, bytes) in [
        ("image/png", Vec::new()),
        (
            "multipart/form-data; boundary=b",
            b"--b\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--b--\r\n".to_vec(),
        ),
    ] {
        let missing = upload("author", kind, bytes).await.expect(400);
        assert_eq!(missing.code(), "rest_missing_callback_param", "{kind}");
    }
    upload("author", "text/plain", PNG.to_vec()).await.expect(415);
    let mut large = PNG.to_vec();
    large.resize(MAX_IMAGE_BYTES + 1, 0);
    let refused = upload("author", "image/png", large).await.expect(413);
    assert_eq!(refused.code(), "rest_payload_too_large");
    assert_eq!((app.media_files(), app.rows("images")), (0, 0));
    let event = app.event(json!({})).await;
    for id in ["0".to_owned(), event.to_string(), "99999999999999999999".to_owned()] {
        app.get(&format!("/images/{id}")).await.expect(400);
    }
}
