//! Subscriptions to servers that are slow, wrong, moved, or do not send what they announce.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use calendar::{CalendarFetcher, run_due_subscriptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use outbound::{Names, Reach};
use serde_json::{Value, json};
use testkit::PeerAnswer;

use crate::subscribing::{LIMIT, Subscribing, calendar, counts, event, file_of, ics, message};

const UNKNOWN: &str = "the host is unknown or not public";

const UNENCRYPTED: &str = "the host does not answer over https with a valid certificate, so the file \
     was read over http";

const CUT: &str = "the response is incomplete or malformed";

/// Starts a server that sends the given bytes and closes the connection, or that sends them again and
/// again with short pauses, until its client leaves.
fn raw_server(head: String, bytes: &'static [u8], repeats: bool) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let head = head.clone();
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let mut sent = stream.write_all(head.as_bytes());
                while sent.is_ok() {
                    sent = stream.write_all(bytes);
                    if !repeats {
                        break;
                    }
                    // The client leaves when its time is up.
                    let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
                    if matches!(stream.read(&mut [0; 16]), Ok(0)) {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// Subscribes to a file with two events, replaces the response, and returns the failed run.
async fn failure_of(club: &Subscribing, answer: PeerAnswer) -> Value {
    club.serves(&file_of(&["a", "b"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.answers(move |_| answer.clone());
    let shown = club.run_now(id).await;
    assert_eq!(club.titles().await, ["a", "b"], "{shown}");
    shown
}

#[actix_web::test]
async fn unusable_answer_fails_and_changes_nothing() {
    let whole = file_of(&["a"]);
    let cut = whole.replace("END:VCALENDAR\r\n", "");
    let body = |status: u16| PeerAnswer::Body(status, String::new());
    let page = vec![("content-type", "text/html; charset=utf-8".to_owned())];
    let coded = vec![("content-encoding", "br".to_owned())];
    let answers = [
        ("401", body(401), "the address responded with 401: it requires a password or a key"),
        ("404", body(404), "the address responded with 404: there is no file"),
        ("500", body(500), "the address responded with 500"),
        (
            "page",
            PeerAnswer::Full(200, page, b"<p>hello".to_vec()),
            "the address responded with a text/html that is not a calendar",
        ),
        (
            "empty body",
            ics(""),
            "the address responded with a text/calendar that is not a calendar",
        ),
        ("cut", ics(&cut), "the file ends at line 10 without END:VCALENDAR"),
        ("endless", PeerAnswer::Endless, "the file is larger than 1 MiB"),
        ("large", ics(&"x".repeat(LIMIT + 1)), "the file is larger than 1 MiB"),
        ("close", PeerAnswer::Close, CUT),
        (
            "coding",
            PeerAnswer::Full(200, coded, b"x".to_vec()),
            "the response has an unsupported encoding, br",
        ),
    ];
    for (name, answer, expected) in answers {
        let club = Subscribing::new().await;
        let shown = failure_of(&club, answer).await;
        assert_eq!(counts(&shown, "failed"), [0; 6], "{name}");
        assert_eq!(message(&shown), expected, "{name}");
        assert_eq!((&shown["state"], &shown["failures"]), (&json!("failing"), &json!(1)));
        assert_eq!(shown["next_run_utc"], "2027-03-10 13:00:01");
    }
}

#[actix_web::test]
async fn file_that_is_gone_stops_the_subscription() {
    let club = Subscribing::new().await;
    let shown = failure_of(&club, PeerAnswer::Body(410, String::new())).await;
    assert_eq!(shown["state"], "stopped");
    assert_eq!(message(&shown), "the address responded with 410: the file was permanently removed");
}

#[actix_web::test]
async fn shortened_body_is_not_imported() {
    let club = Subscribing::new().await;
    // The connection ends before the announced length. What arrives is a whole calendar with one
    // event.
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LIMIT}\r\n\r\n");
    let file: &'static str = Box::leak(file_of(&["a"]).into_boxed_str());
    let address = raw_server(head, file.as_bytes(), false);
    let id = club.subscribe_to(&format!("http://{address}/"), json!({})).await;
    let shown = club.run(id).await;
    assert_eq!(counts(&shown, "failed"), [0; 6]);
    assert_eq!(message(&shown), CUT);
    assert!(club.titles().await.is_empty());
}

#[actix_web::test]
async fn file_of_bare_events_that_ends_within_one_is_not_imported() {
    let club = Subscribing::new().await;
    let whole = ["a", "b", "c", "d"].map(|uid| event(uid, 5, "")).concat();
    club.serves(&whole);
    let id = club.subscribe(json!({})).await;
    assert_eq!(counts(&club.run(id).await, "imported")[0], 4);
    let (cut, _) = whole.split_once("SUMMARY:c").unwrap();
    club.serves(cut);
    let run = club.run_now(id).await;
    assert_eq!(run["last_run"]["outcome"], "failed", "{run}");
    assert_eq!(club.titles().await, ["a", "b", "c", "d"]);
}

#[actix_web::test]
async fn body_that_drips_ends_at_the_time_limit() {
    let club = Subscribing::with_time(Duration::from_secs(1)).await;
    let head = "HTTP/1.1 200 OK\r\n\r\n".to_owned();
    let address = raw_server(head, b"BEGIN:VCALENDAR\r\n", true);
    let id = club.subscribe_to(&format!("http://{address}/"), json!({})).await;
    let shown = club.run(id).await;
    assert_eq!(message(&shown), "the file was not received within 1 seconds");
    club.answers(|_| PeerAnswer::Silence);
    let silent = club.subscribe(json!({})).await;
    let shown = club.run(silent).await;
    assert_eq!(message(&shown), "the file was not received within 1 seconds");
}

#[actix_web::test]
async fn pauses_grow_with_failures_and_follow_retry_after() {
    let club = Subscribing::new().await;
    club.answers(|_| PeerAnswer::Body(503, String::new()));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    for (pause, failures) in [(3600, 2), (7200, 3)] {
        club.app.clock.advance(pause - 1);
        assert_eq!(run_due_subscriptions(&club.state).await, 0);
        club.app.clock.advance(1);
        assert_eq!(club.run(id).await["failures"], failures);
    }
    // 15:00 plus four hours; the site then asks for twenty.
    assert_eq!(club.shown(id).await["next_run_utc"], "2027-03-10 19:00:00");
    club.answers(|_| PeerAnswer::Full(429, vec![("retry-after", "72000".to_owned())], Vec::new()));
    club.app.clock.advance(4 * 3600);
    assert_eq!(club.run(id).await["next_run_utc"], "2027-03-11 15:00:00");
    // A success ends the pauses.
    club.serves(&file_of(&["a"]));
    club.app.clock.advance(72_000);
    let shown = club.run(id).await;
    assert_eq!((&shown["failures"], &shown["state"]), (&json!(0), &json!("active")));
    assert_eq!(shown["next_run_utc"], "2027-03-11 16:00:00");
}

#[actix_web::test]
async fn unchanged_file_is_not_read_for_a_day() {
    let club = Subscribing::new().await;
    let file = file_of(&["a"]);
    club.answers(move |request| match request.header("if-none-match") {
        "\"v1\"" => PeerAnswer::Full(304, Vec::new(), Vec::new()),
        _ => {
            let modified = "Mon, 01 Mar 2027 10:00:00 GMT".to_owned();
            let headers = vec![("etag", "\"v1\"".to_owned()), ("last-modified", modified)];
            PeerAnswer::Full(200, headers, file.clone().into_bytes())
        }
    });
    let id = club.subscribe(json!({})).await;
    assert_eq!(counts(&club.run(id).await, "imported")[0], 1);
    assert_eq!(counts(&club.run_now(id).await, "not_modified"), [0; 6]);
    let requests = club.peer.requests();
    assert_eq!(requests[0].header("if-none-match"), "");
    assert_eq!(requests[1].header("if-none-match"), "\"v1\"");
    assert_eq!(requests[1].header("if-modified-since"), "Mon, 01 Mar 2027 10:00:00 GMT");
    assert!(requests[1].header("user-agent").starts_with("calendar/"));
    // After a day, new occurrences of series may be due.
    club.app.clock.advance(86_400);
    assert_eq!(counts(&club.run(id).await, "imported")[2], 1);
    // A released event is written again although the file has not changed.
    let path = format!("/events/{}", club.event_of("a"));
    club.app.call("editor", "PATCH", &path, &json!({"title": "Ours"})).await.expect(200);
    let body = json!({"event": club.event_of("a")});
    let release = format!("/subscriptions/{id}/release");
    club.app.call("editor", "POST", &release, &body).await.expect(200);
    assert_eq!(counts(&club.run(id).await, "imported")[1], 1);
    assert_eq!(club.titles().await, ["a"]);
    // A server that always returns 304 does not provide a file.
    club.answers(|_| PeerAnswer::Full(304, Vec::new(), Vec::new()));
    let other = club.subscribe_to(&club.peer.url("/other.ics"), json!({})).await;
    assert_eq!(club.run(other).await["state"], "failing");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

#[actix_web::test]
async fn gzip_is_unpacked_within_the_size_limit() {
    let club = Subscribing::new().await;
    let packed = gzip(&file_of(&["a"]));
    let half = packed[..packed.len() - 12].to_vec();
    let bomb = gzip(&"x".repeat(LIMIT + 1));
    let kind = |kind: &str| vec![("content-type", kind.to_owned())];
    let coded = || vec![("content-encoding", "gzip".to_owned())];
    for (number, (headers, body, outcome)) in [
        (coded(), packed.clone(), "imported"),
        (kind("application/gzip"), packed, "imported"),
        (coded(), file_of(&["b"]).into_bytes(), "imported"),
        (coded(), half, "failed"),
        (coded(), bomb, "failed"),
    ]
    .into_iter()
    .enumerate()
    {
        club.answers(move |_| PeerAnswer::Full(200, headers.clone(), body.clone()));
        let id = club.subscribe_to(&club.peer.url(&format!("/{number}")), json!({})).await;
        let shown = club.run(id).await;
        assert_eq!(shown["last_run"]["outcome"], outcome, "{number}: {shown}");
    }
    assert_eq!(club.peer.requests()[0].header("accept-encoding"), "gzip");
    assert_eq!(club.titles().await, ["a", "b"]);
}

#[actix_web::test]
async fn only_permanent_redirects_change_the_address() {
    let club = Subscribing::new().await;
    let file = file_of(&["a"]);
    club.answers(move |request| match request.target.as_str() {
        "/new.ics" => ics(&file),
        "/moved" => PeerAnswer::Full(301, vec![("location", "/twice".to_owned())], Vec::new()),
        "/twice" => PeerAnswer::Full(308, vec![("location", "/new.ics".to_owned())], Vec::new()),
        "/today" => PeerAnswer::Full(307, vec![("location", "/moved".to_owned())], Vec::new()),
        "/partly" => PeerAnswer::Full(301, vec![("location", "/later".to_owned())], Vec::new()),
        "/later" => PeerAnswer::Redirect("/new.ics".to_owned()),
        _ => PeerAnswer::Full(302, vec![("location", "/loop".to_owned())], Vec::new()),
    });
    for (path, kept) in [("/today", "/today"), ("/partly", "/later"), ("/moved", "/new.ics")] {
        let id = club.subscribe_to(&club.peer.url(path), json!({})).await;
        let shown = club.run(id).await;
        assert_eq!(shown["last_run"]["outcome"], "imported", "{shown}");
        assert_eq!(shown["url"], club.peer.url(kept), "{path}");
    }
    // Another subscription's URL is not adopted.
    let id = club.subscribe_to(&club.peer.url("/moved"), json!({})).await;
    assert_eq!(club.run(id).await["url"], club.peer.url("/moved"));
    let id = club.subscribe_to(&club.peer.url("/loop"), json!({})).await;
    assert_eq!(message(&club.run(id).await), "the address redirects more than 5 times");
}

#[actix_web::test]
async fn webcal_address_of_a_host_without_https_is_read_over_http() {
    let club = Subscribing::new().await;
    let file = file_of(&["a"]).into_bytes();
    club.answers(move |_| {
        let head = [("content-type", "text/calendar"), ("etag", "\"1\"")];
        let head = head.map(|(name, value)| (name, value.to_owned())).to_vec();
        PeerAnswer::Full(200, head, file.clone())
    });
    let plain = club.peer.url("/club.ics");
    let address = plain.replace("http://", "webcal://");
    let id = club.subscribe_to(&address, json!({})).await;
    assert_eq!(club.shown(id).await["url"], address);
    let run = club.run(id).await;
    assert_eq!(counts(&run, "imported")[0], 1);
    assert_eq!(message(&run), UNENCRYPTED);
    // The next run tries https again.
    assert_eq!(run["url"], address);
    let twice = json!({"url": address});
    let twice = club.app.call("editor", "POST", "/subscriptions", &twice).await.expect(400);
    assert!(twice.text.contains(&format!("subscription {id}")), "{}", twice.text);
    assert_eq!(message(&club.run_now(id).await), UNENCRYPTED);
    // Validators from http are not sent.
    let requests = club.peer.requests();
    assert!(requests.iter().all(|request| request.header("if-none-match").is_empty()));
    // Addresses that name https are not read over http.
    let secure = plain.replace("http://", "webcals://").replace("club", "secure");
    let id = club.subscribe_to(&secure, json!({})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "failed"), [0; 6]);
    assert_eq!(run["url"], secure.replace("webcals", "https"));
}

#[actix_web::test]
async fn webcal_address_of_a_host_that_answers_without_tls_is_read_over_http() {
    let club = Subscribing::new().await;
    let file: &'static str = Box::leak(file_of(&["a"]).into_boxed_str());
    // The server responds to requests over http, and to those over https without TLS.
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", file.len());
    let peer = raw_server(head, file.as_bytes(), false);
    let address = format!("webcal://{peer}/");
    let id = club.subscribe_to(&address, json!({})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "imported")[0], 1, "{run}");
    assert_eq!((message(&run), &run["url"]), (UNENCRYPTED, &json!(address)));
    assert_eq!(club.titles().await, ["a"]);
    // An address that names https is not read over http.
    let id = club.subscribe_to(&format!("https://{peer}/other"), json!({})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "failed"), [0; 6], "{run}");
    assert_eq!(message(&run), "the host did not prove its identity over an encrypted connection");
}

#[actix_web::test]
async fn names_and_redirects_must_lead_to_permitted_addresses() {
    let club = Subscribing::new().await;
    let file = file_of(&["a"]);
    club.answers(move |request| match request.target.as_str() {
        "/file" => ics(&file),
        "/literal" => PeerAnswer::Redirect("http://169.254.169.254/latest".to_owned()),
        "/inner" => PeerAnswer::Redirect("http://inner.example/file".to_owned()),
        _ => PeerAnswer::Redirect("file:///etc/passwd".to_owned()),
    });
    // One name has a permitted address. The other one resolves to an address that is not permitted,
    // as if its owner had changed it.
    let inner = SocketAddr::from(([127, 0, 0, 2], club.address().port()));
    let hosts = HashMap::from([
        ("site.example".to_owned(), club.address()),
        ("inner.example".to_owned(), inner),
    ]);
    let permitted = |ip: std::net::IpAddr| ip == std::net::IpAddr::from([127, 0, 0, 1]);
    let reach = Reach { permitted, ..Reach::public() }.with_names(Names::Fixed(hosts));
    let fetcher = CalendarFetcher::new(reach, LIMIT, Duration::from_secs(30)).unwrap();
    let state = club.state.clone().with_calendar_fetcher(fetcher);
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let refusing = format!("http://site.example:{}/file", closed.port());
    for (path, expected) in [
        ("http://site.example/file", ""),
        ("http://site.example/literal", "the address is not on a public host"),
        ("http://site.example/inner", UNKNOWN),
        ("http://site.example/scheme", "the address redirects without a usable target"),
        ("http://inner.example/file", UNKNOWN),
        ("http://nowhere.example/file", UNKNOWN),
        (&refusing, "the host refused the connection or could not be reached"),
    ] {
        let id = club.subscribe_to(path, json!({})).await;
        run_due_subscriptions(&state).await;
        assert_eq!(message(&club.shown(id).await), expected, "{path}");
    }
    let asked = club.peer.requests();
    assert!(asked.iter().all(|request| request.header("host").starts_with("site.example")));
}

#[actix_web::test]
async fn file_with_too_many_events_is_refused() {
    let club = Subscribing::new().await;
    let daily = "RRULE:FREQ=DAILY;COUNT=500\r\n";
    let series: Vec<String> = (0..41).map(|n| event(&format!("s{n}"), 5, daily)).collect();
    club.serves(&calendar(&series));
    let id = club.subscribe(json!({})).await;
    let shown = club.run(id).await;
    assert_eq!(message(&shown), "the file has more than 20000 events");
    assert!(club.titles().await.is_empty());
}

#[actix_web::test]
async fn former_file_is_read_again_after_a_run_fails_halfway() {
    let club = Subscribing::new().await;
    let serve = |uids: &[&str], tag: &'static str| {
        let file = file_of(uids);
        club.answers(move |request| match request.header("if-none-match") == tag {
            true => PeerAnswer::Full(304, Vec::new(), Vec::new()),
            false => {
                let headers = vec![("etag", tag.to_owned())];
                PeerAnswer::Full(200, headers, file.clone().into_bytes())
            }
        });
    };
    serve(&["a", "b", "c"], "\"v1\"");
    let id = club.subscribe(json!({})).await;
    assert_eq!(counts(&club.run(id).await, "imported")[0], 3);
    serve(&["a", "b", "d"], "\"v2\"");
    // The new event is created, but the missing one cannot be trashed.
    club.app.execute("alter table event_tombstones rename to other_tombstones");
    assert_eq!(club.run_now(id).await["last_run"]["outcome"], "failed");
    club.app.execute("alter table other_tombstones rename to event_tombstones");
    serve(&["a", "b", "c"], "\"v1\"");
    assert_eq!(club.run_now(id).await["last_run"]["outcome"], "imported");
    assert_eq!(club.titles().await, ["a", "b", "c"]);
}
