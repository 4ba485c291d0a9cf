//! Every row of the specification's error table.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use database::{DatabaseError, Db};
use serde_json::{Value, json};

use crate::app::{Answer, App, send};

struct Row {
    who: &'static str,
    method: &'static str,
    path: String,
    body: Value,
    status: u16,
    code: &'static str,
}

fn row(
    who: &'static str,
    method: &'static str,
    path: impl Into<String>,
    body: Value,
    status: u16,
    code: &'static str,
) -> Row {
    Row { who, method, path: path.into(), body, status, code }
}

#[actix_web::test]
async fn every_error_has_its_status_and_code() {
    let app = App::new().await;
    let admin = "administrator";
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let organizer = app.make("/organizers", json!({"organizer": "Ann"})).await;
    let music = app.make("/categories", json!({"name": "Music"})).await;
    app.make("/categories", json!({"name": "Art"})).await;
    let live = app.make("/tags", json!({"name": "Live"})).await;
    let jazz = app.make("/tags", json!({"name": "Jazz"})).await;
    let draft = app.event(json!({"status": "draft"})).await;
    let dates = |title: Value| json!({"title": title, "start_date": "2027-04-01", "end_date": "2027-04-01"});
    let none = || json!({});
    let missing = "rest_missing_callback_param";
    let invalid = "rest_invalid_param";
    let mut rows = vec![
        row(admin, "POST", "/events", none(), 400, missing),
        row(admin, "POST", "/events", dates(Value::Null), 400, missing),
        row(admin, "POST", "/events", dates(json!("  ")), 400, invalid),
        row(admin, "POST", "/events", dates(json!(5)), 400, invalid),
        row(admin, "POST", "/venues", none(), 400, missing),
        row(admin, "POST", "/organizers", none(), 400, missing),
        row(admin, "POST", "/categories", none(), 400, missing),
        row(admin, "POST", "/tags", json!({"name": 5}), 400, invalid),
        row("", "GET", format!("/events/{venue}"), none(), 400, "rest-invalid-event-id"),
        row("", "GET", format!("/events/{organizer}"), none(), 400, "rest-invalid-event-id"),
        row(admin, "PATCH", format!("/events/{venue}"), none(), 400, "rest-invalid-event-id"),
        row("", "GET", "/events/by-slug/nothing", none(), 400, invalid),
        row(admin, "DELETE", "/events/by-slug/nothing", none(), 400, invalid),
        row(admin, "POST", "/events/by-slug/nothing", none(), 404, "rest-event-not-found"),
        row(admin, "PUT", "/events/by-slug/nothing", none(), 404, "rest-event-not-found"),
        row(admin, "PATCH", "/events/by-slug/nothing", none(), 404, "rest-event-not-found"),
        row("", "GET", "/events?page=2", none(), 404, "event-archive-page-not-found"),
        row("", "GET", "/venues?page=2", none(), 404, "venue-archive-page-not-found"),
        row("", "GET", "/organizers?page=2", none(), 404, "organizer-archive-page-not-found"),
        row("", "GET", format!("/events/{draft}"), none(), 403, "event-not-accessible"),
        row("", "POST", "/events", none(), 401, "rest_forbidden"),
        row("reader", "POST", "/events", none(), 403, "rest_forbidden"),
        row("author", "PATCH", format!("/events/{draft}"), none(), 403, "rest_forbidden"),
        row(
            "author",
            "POST",
            "/events",
            {
                let mut body = dates(json!("x"));
                body["author"] = json!(app.user("editor"));
                body
            },
            403,
            "rest_cannot_edit_others",
        ),
        row(admin, "POST", "/venues", json!({"venue": "<b> </b>"}), 400, "could-not-create-venue"),
        row(
            admin,
            "POST",
            "/organizers",
            json!({"organizer": "<i></i>"}),
            400,
            "could-not-create-organizer",
        ),
        row(admin, "POST", "/categories", json!({"name": "MUSIC"}), 400, "term_exists"),
        row(admin, "POST", "/tags", json!({"name": "live"}), 400, "term_exists"),
        row(admin, "PATCH", format!("/tags/{jazz}"), json!({"name": "LIVE"}), 400, "term_exists"),
        row(
            admin,
            "POST",
            "/tags",
            json!({"name": "x", "parent": 1}),
            400,
            "rest_taxonomy_not_hierarchical",
        ),
        row(
            admin,
            "PATCH",
            format!("/tags/{live}"),
            json!({"parent": 1}),
            400,
            "rest_taxonomy_not_hierarchical",
        ),
        row(
            admin,
            "PATCH",
            format!("/categories/{music}"),
            json!({"slug": "art"}),
            400,
            "duplicate_term_slug",
        ),
        row("", "GET", "/nothing", none(), 404, "rest_no_route"),
        row("", "GET", "/events/abc", none(), 404, "rest_no_route"),
        row("", "GET", "/events/1/2", none(), 404, "rest_no_route"),
        row(admin, "PUT", "/events", none(), 404, "rest_no_route"),
        row(admin, "DELETE", "/tags", none(), 404, "rest_no_route"),
        row("", "GET", "/categories/by-slug/x", none(), 404, "rest_no_route"),
        row("", "GET", "?namespace=other/v1", none(), 404, "rest_invalid_namespace"),
    ];
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        for id in ["0", "999999", "99999999999999999999"] {
            rows.push(row(
                admin,
                method,
                format!("/events/{id}"),
                none(),
                404,
                "rest-event-not-found",
            ));
            for kind in ["venues", "organizers", "categories", "tags"] {
                rows.push(row(admin, method, format!("/{kind}/{id}"), none(), 400, invalid));
            }
        }
        for kind in ["venues", "organizers"] {
            rows.push(row(admin, method, format!("/{kind}/by-slug/nothing"), none(), 400, invalid));
        }
    }
    for kind in ["venue", "organizer"] {
        let path = format!("/{kind}s/{}", if kind == "venue" { venue } else { organizer });
        app.delete(&path).await.expect(200);
        rows.push(row(
            "",
            "GET",
            path.clone(),
            none(),
            403,
            if kind == "venue" { "venue-not-accessible" } else { "organizer-not-accessible" },
        ));
        rows.push(row(
            admin,
            "DELETE",
            path,
            none(),
            410,
            if kind == "venue" { "venue-is-in-trash" } else { "organizer-is-in-trash" },
        ));
    }
    let mut table = BTreeSet::new();
    for Row { who, method, path, body, status, code } in rows {
        let answer = app.call(who, method, &path, &body).await;
        assert_eq!(
            (answer.status, answer.code()),
            (status, code),
            "{who} {method} {path} {body}: {}",
            answer.text
        );
        assert_eq!(answer.json["data"]["status"], status, "{path}");
        assert_eq!(answer.header("content-type"), "application/json; charset=UTF-8", "{path}");
        let message = answer.json["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{path}");
        table.insert(format!("{status} {code}: {message}"));
    }
    insta::assert_snapshot!("errors", Vec::from_iter(table).join("\n"));
}

#[actix_web::test]
async fn missing_and_invalid_parameters_are_named() {
    let app = App::new().await;
    let answer = app.post("/events", &json!({"title": "x", "all_day": "maybe"})).await.expect(400);
    assert_eq!(answer.json["message"], "Missing parameter(s): start_date, end_date");
    assert_eq!(answer.json["data"]["params"], json!(["start_date", "end_date"]));
    let body = json!({"title": "x", "start_date": "nonsense", "end_date": "2027-01-01", "all_day": "maybe"});
    let answer = app.post("/events", &body).await.expect(400);
    assert_eq!(answer.json["message"], "Invalid parameter(s): start_date, all_day");
    assert!(answer.json["data"]["params"]["start_date"].is_string());
    assert_eq!(answer.json["data"]["details"]["all_day"]["code"], "rest_invalid_type");
    let answer = app.get("/events?page=x").await.expect(400);
    assert_eq!(answer.json["data"]["details"], json!([]));
}

#[actix_web::test]
async fn errors_keep_the_order_of_their_keys() {
    let app = App::new().await;
    let id = app.make("/tags", json!({"name": "Live"})).await;
    let route = app.get("/nothing").await;
    assert_eq!(
        route.text,
        r#"{"code":"rest_no_route","message":"No route matches this path and method.","data":{"status":404}}"#
    );
    let missing = app.post("/events", &json!({"title": "x"})).await;
    assert_eq!(
        missing.text,
        r#"{"code":"rest_missing_callback_param","message":"Missing parameter(s): start_date, end_date","data":{"status":400,"params":["start_date","end_date"]}}"#
    );
    let plain = app.get("/events?page=x").await;
    assert_eq!(
        plain.text,
        r#"{"code":"rest_invalid_param","message":"Invalid parameter(s): page","data":{"status":400,"params":{"page":"page must be a positive integer."},"details":[]}}"#
    );
    let body = json!({
        "title": " ", "start_date": "2027-01-01", "end_date": "2027-01-01", "all_day": "maybe",
    });
    let detailed = app.post("/events", &body).await;
    assert_eq!(
        detailed.text,
        r#"{"code":"rest_invalid_param","message":"Invalid parameter(s): title, all_day","data":{"status":400,"params":{"title":"title must not be empty.","all_day":"all_day must be a boolean."},"details":{"all_day":{"code":"rest_invalid_type","message":"all_day must be a boolean.","data":{"param":"all_day"}}}}}"#
    );
    let double = app.post("/tags", &json!({"name": "LIVE"})).await;
    assert_eq!(
        double.text,
        format!(
            r#"{{"code":"term_exists","message":"A term with this name already exists.","data":{{"status":400,"term_id":{id}}},"additional_data":[{id}]}}"#
        )
    );
}

#[actix_web::test]
async fn duplicate_term_error_has_the_id_of_the_existing_one() {
    let app = App::new().await;
    let id = app.make("/tags", json!({"name": "Live"})).await;
    let answer = app.post("/tags", &json!({"name": "LIVE"})).await.expect(400);
    assert_eq!(answer.json["data"]["term_id"], id);
    assert_eq!(answer.json["additional_data"], json!([id]));
}

#[actix_web::test]
async fn malformed_body_gets_400_only_if_the_caller_may_write() {
    let app = App::new().await;
    let broken = |who: &str| {
        app.request(who, "POST", "/events")
            .header("content-type", "application/json")
            .body("{\"title\":")
    };
    let answer = send(broken("administrator")).await.expect(400);
    assert_eq!(answer.code(), "rest_invalid_json");
    assert!(answer.json["data"]["json_error_message"].is_string());
    assert_eq!(send(broken("")).await.expect(401).code(), "rest_forbidden");
    // Broken forms are not reported as JSON.
    let part = "--b\r\ncontent-disposition: form-data; name=\"title\"\r\n\r\nA\r\n--b--\r\n";
    let line_break = part.replace("name=", "filename=\"a\r\nb\"; name=");
    for (kind, body) in [
        ("multipart/form-data", part),
        ("multipart/form-data; boundary=b", &line_break),
        ("multipart/form-data; boundary=b", "--b\r\n"),
    ] {
        let request = app.request("administrator", "POST", "/events").header("content-type", kind);
        let answer = send(request.body(body.to_owned())).await.expect(400);
        assert_eq!(answer.code(), "rest_invalid_param", "{body}: {}", answer.text);
        let text = answer.json["data"]["params"]["body"].as_str().unwrap();
        assert!(text.starts_with("body must be a multipart form: "), "{text}");
    }
    let large = app
        .request("administrator", "POST", "/events")
        .header("content-type", "application/json")
        .body(vec![b' '; (1 << 20) + 1]);
    assert_eq!(send(large).await.expect(413).code(), "rest_payload_too_large");
    for (path, kind, member) in [
        ("/events", "application/json", "/data/json_error_message"),
        ("/images", "image/png", "/data/params/file"),
        ("/import/ical", "text/calendar", "/data/params/file"),
    ] {
        let sent = |coding: &str| {
            let request = app.request("administrator", "POST", path).header("content-type", kind);
            send(request.header("content-encoding", coding).body("\u{1f}\u{8b}\u{8}"))
        };
        let text_of = |answer: Answer| answer.json.pointer(member).unwrap().to_string();
        let compressed = text_of(sent("gzip").await.expect(400));
        assert!(compressed.contains("compress"), "{path}: {compressed}");
        assert!(!text_of(sent("Identity").await.expect(400)).contains("compress"), "{path}");
    }
}

#[actix_web::test]
async fn rejected_body_changes_nothing() {
    let app = App::new().await;
    let event = app.event(json!({"title": "Old"})).await;
    let path = format!("/events/{event}");
    let before = app.get(&path).await.expect(200).text;
    app.clock.advance(60);
    let sent = |method: &str, kind: Option<&str>, body: &str| {
        let mut request = app.request("administrator", method, &path).body(body.to_owned());
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        send(request)
    };
    let (new, array) = (r#"{"title":"New"}"#, r#"[{"title":"New"}]"#);
    let (json, unsupported) = (Some("application/json"), "rest_unsupported_media_type");
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        for (kind, body, status, code) in [
            (None, new, 415, unsupported),
            (Some("text/plain"), new, 415, unsupported),
            (Some("application/octet-stream"), new, 415, unsupported),
            (Some("application/json; charset=latin1"), new, 415, unsupported),
            (Some("image/svg+json"), new, 415, unsupported),
            (json, array, 400, "rest_invalid_json"),
            (json, "null", 400, "rest_invalid_json"),
            (json, r#""title""#, 400, "rest_invalid_json"),
            (Some("application/json-patch+json"), array, 400, "rest_invalid_json"),
        ] {
            let answer = sent(method, kind, body).await.expect(status);
            assert_eq!(answer.code(), code, "{method} {kind:?} {body}");
        }
    }
    assert_eq!(app.get(&path).await.expect(200).text, before);
    for (number, kind) in ["application/merge-patch+json", "Application/LD+JSON; charset=UTF-8"]
        .into_iter()
        .enumerate()
    {
        let body = format!(r#"{{"title":"New {number}"}}"#);
        let answer = sent("PATCH", Some(kind), &body).await.expect(200);
        assert_eq!(answer.json["title"], format!("New {number}"), "{kind}");
    }
    // The content type of an empty body does not matter.
    sent("PATCH", Some("text/plain"), "").await.expect(200);
}

#[actix_web::test]
async fn wrong_credentials_fail_even_on_public_reads() {
    let app = App::new().await;
    let key = app.key("editor").to_owned();
    let grouped = format!("{} {} {}", &key[..4], &key[4..10], &key[10..]);
    let request = || app.request("", "GET", "/events");
    for (request, status) in [
        (request().header("X-API-Key", "0".repeat(32)), 401),
        (request().header("X-API-Key", "short"), 401),
        (request().bearer_auth("0".repeat(32)), 401),
        (request().header("Authorization", "Digest x"), 401),
        (request().header("Authorization", "Basic !!!"), 401),
        (request().basic_auth("author", Some(&key)), 401),
        (request().basic_auth("editor", Some(&key)), 200),
        (request().basic_auth("editor", Some(&grouped)), 200),
        (request().bearer_auth(&key), 200),
        (request().bearer_auth(key.to_uppercase()), 200),
        (request().header("X-API-Key", &key), 200),
    ] {
        let answer = send(request).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        if status == 401 {
            assert_eq!(answer.code(), "rest_invalid_credentials");
        }
    }
}

#[actix_web::test]
async fn reads_and_writes_have_separate_rate_limits() {
    let app = App::with(&["--rate-read-rpm=3", "--rate-write-rpm=1"]).await;
    for _ in 0..3 {
        app.get("/events").await.expect(200);
    }
    let refused = app.get("/events").await.expect(429);
    assert_eq!((refused.code(), refused.header("retry-after")), ("rest_too_many_requests", "20"));
    app.get_as("editor", "/events").await.expect(200);
    app.post("/tags", &json!({"name": "a"})).await.expect(201);
    app.post("/tags", &json!({"name": "b"})).await.expect(429);
    app.clock.advance(20);
    app.get("/events").await.expect(200);
}

#[actix_web::test]
async fn storage_failure_gets_500_without_details() {
    let app = App::new().await;
    let event = app.event(json!({})).await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let tag = app.make("/tags", json!({"name": "Live"})).await;
    let spoil = |db: &mut Db| {
        for table in ["event_venues", "event_terms", "event_organizers"] {
            let text = format!("alter table {table} rename to lost_{table}");
            calendar::Sql::new(db, &text).execute(db)?;
        }
        Ok::<_, DatabaseError>(())
    };
    app.state.pools.write_blocking(spoil).unwrap();
    for (path, code) in [
        (format!("/events/{event}"), "could-not-delete-event"),
        (format!("/venues/{venue}"), "could-not-delete-venue"),
        (format!("/tags/{tag}"), "could-not-delete-tag"),
    ] {
        let answer = app.delete(&path).await.expect(500);
        assert_eq!(answer.code(), code);
        assert!(!answer.text.contains("event_"), "{}", answer.text);
    }
    let answer = app.get(&format!("/events/{event}")).await.expect(500);
    assert_eq!(answer.code(), "rest_internal_error");
}

#[actix_web::test]
async fn overlong_url_gets_414() {
    let app = App::new().await;
    let answer = app.get(&format!("/events?search={}", "a".repeat(60_000))).await.expect(414);
    assert_eq!(answer.code(), "rest_unreadable_request");
    assert_eq!(answer.json["data"]["status"], 414);
    assert_eq!(answer.json["message"], "The request could not be processed: URI Too Long.");
}

/// Sends a request without its body, as a client that waits for `100 Continue`. Returns the status
/// line of the response, even though the body was not sent.
fn status_before_body(
    address: SocketAddr,
    (path, kind, key): (&str, &str, &str),
    length: usize,
) -> String {
    let head = format!(
        "POST /calendar/events/v1{path} HTTP/1.1\r\nhost: a\r\n{key}content-type: {kind}\r\n\
         content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let (mut line, mut byte) = (Vec::new(), [0]);
    while !line.ends_with(b"\r\n") {
        stream.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    String::from_utf8(line).unwrap()
}

#[actix_web::test]
async fn body_is_requested_only_from_callers_who_may_write_and_if_it_is_short() {
    let app = App::new().await;
    let address = app.server.running().http;
    let key = format!("x-api-key: {}\r\n", app.key("administrator"));
    for (path, kind) in [
        ("/events", "application/json"),
        ("/events/1", "application/json"),
        ("/images", "image/png"),
        ("/import/ical", "text/calendar"),
    ] {
        for (key, length, expected) in [
            ("", 12, "401 Unauthorized"),
            (key.as_str(), 12, "100 Continue"),
            (key.as_str(), 999_999_999, "413 Payload Too Large"),
        ] {
            let key = key.to_owned();
            let sent = move || status_before_body(address, (path, kind, &key), length);
            let line = actix_web::web::block(sent).await.unwrap();
            assert_eq!(line, format!("HTTP/1.1 {expected}\r\n"), "{path}");
        }
    }
}
