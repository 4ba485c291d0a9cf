//! `/api/v2/alerts`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buckets::Settings;
use buckets::jobs::{CheckpointPolicy, JobContext, load, rebuild, rebuild_from, remove, status};
use outbound::WebhookSecret;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer, PeerRequest, until};

use crate::app::{App, BASE, Fixture, NOW, line, samples};
use crate::failing_index::FailingSearches;

const BOX: &str = "box.s3.amazonaws.com";

impl App {
    pub async fn save(&self, body: Value) -> (u16, Value) {
        self.send(Method::POST, "/api/v2/alerts", &self.key, body).await
    }

    /// Returns the paths of the new files of alert 1, and the mark after them.
    pub async fn news(&self, query: &str) -> (Vec<String>, String) {
        let (status, body) = self.get(&format!("/api/v2/alerts/1/files?{query}")).await;
        assert_eq!(status, 200, "{body}");
        let files = body["files"].as_array().unwrap().iter();
        let paths = files.map(|file| file["fullPath"].as_str().unwrap().to_owned()).collect();
        (paths, body["meta"]["next"].as_str().unwrap().to_owned())
    }
}

pub fn private_webhooks() -> Settings {
    Settings { webhook_allow_private: shell::Switch::On, ..Settings::for_tests() }
}

pub fn body_of(request: &PeerRequest) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

#[actix_web::test]
async fn alerts_are_saved_read_replaced_and_removed() {
    let app = Fixture::new().serve("premium").await;
    let body = json!({"name": "ours", "query": "keywords=backup&extensions=sql"});
    let (status, alert) = app.save(body).await;
    let expected = json!({
        "id": 1, "name": "ours", "query": "keywords=backup&extensions=sql", "webhook": null,
        "createdAt": NOW,
    });
    assert_eq!((status, &alert), (201, &expected));
    assert_eq!(app.get("/api/v2/alerts/1").await, (200, expected.clone()));
    let list = json!({"meta": {"results": 1, "limit": 100}, "alerts": [expected]});
    assert_eq!(app.get("/api/v2/alerts").await, (200, list));

    let path = "/api/v2/alerts/1";
    let put = async |body: Value| app.send(Method::PUT, path, &app.key, body).await;
    let with = json!({"name": "theirs", "query": "buckets=7", "webhook": "https://example.org/a"});
    let (status, first) = put(with.clone()).await;
    assert_eq!((status, &first["name"]), (200, &json!("theirs")));
    assert!(WebhookSecret::parse(first["secret"].as_str().unwrap()).is_some());
    assert_eq!(put(with).await.1["secret"], Value::Null, "the secret is shown once");
    assert_eq!(app.get(path).await.1["secret"], Value::Null);
    assert_eq!(app.send(Method::DELETE, path, &app.key, Value::Null).await, (204, Value::Null));
    assert_eq!(app.get(path).await.0, 404);
}

#[actix_web::test]
async fn alerts_belong_to_live_keys_and_are_bounded() {
    let fixture = Fixture::new();
    let app = fixture.serve("free").await;
    let alert = json!({"name": "a", "query": "keywords=backup"});
    for _ in 0..5 {
        assert_eq!(app.save(alert.clone()).await.0, 201);
    }
    let (status, full) = app.save(alert.clone()).await;
    assert_eq!((status, &full["error"]), (409, &json!("the key has 5 of 5 alerts")));
    let other = fixture.key("other", "enterprise");
    for (method, path) in [
        (Method::GET, "/api/v2/alerts"),
        (Method::POST, "/api/v2/alerts"),
        (Method::GET, "/api/v2/alerts/1"),
        (Method::PUT, "/api/v2/alerts/1"),
        (Method::DELETE, "/api/v2/alerts/1"),
        (Method::GET, "/api/v2/alerts/1/files"),
    ] {
        let has_body = method == Method::POST || method == Method::PUT;
        let body = if has_body { alert.clone() } else { Value::Null };
        let unknown = "00112233445566778899aabbccddeeff";
        let (status, answer) = app.send(method.clone(), path, unknown, body.clone()).await;
        assert_eq!((status, &answer["code"]), (401, &json!("unauthorized")), "{method} {path}");
        let (status, answer) = app.send(method.clone(), path, &other, body).await;
        match (path, has_body) {
            ("/api/v2/alerts", true) => assert_eq!(status, 201),
            ("/api/v2/alerts", false) => assert_eq!(answer["meta"]["results"], 0),
            _ => assert_eq!(status, 404, "{method} {path}: {answer}"),
        }
    }
    assert_eq!(app.get("/api/v2/alerts").await.1["meta"]["results"], 5);
}

#[actix_web::test]
async fn bad_alerts_are_refused() {
    let app = Fixture::new().serve("premium").await;
    let narrow = "query must have keywords, buckets or extensions";
    for (query, parameter, error) in [
        ("", "query", narrow),
        ("keywords=-old", "query", narrow),
        ("types=aws&size-from=5", "query", narrow),
        ("keywords=a&limit=0", "limit", "limit must be between 1 and 1000"),
        ("keywords=a&access_token=b", "query", "query must not contain access_token"),
        ("keywords=a&access%5ftoken=b", "query", "query must not contain access_token"),
    ] {
        let (status, answer) = app.save(json!({"name": "a", "query": query})).await;
        let expected = json!({"error": error, "code": "invalid_parameter", "parameter": parameter});
        assert_eq!((status, answer), (400, expected), "{query}");
    }
    let (status, answer) =
        app.save(json!({"name": "a", "query": "regexp=1&keywords=[0-9]{4}"})).await;
    assert_eq!((status, &answer["code"]), (400, &json!("invalid_regexp")));
    let large = "regexp=1&keywords=backup.*[^a]{400}";
    let (status, answer) = app.save(json!({"name": "a", "query": large})).await;
    assert_eq!((status, &answer["code"]), (400, &json!("invalid_regexp")));
    let (status, answer) = app.save(json!({"name": "", "query": "keywords=a"})).await;
    assert_eq!((status, &answer["parameter"]), (400, &json!("name")));
    let (status, answer) = app.save(json!({"name": 1, "query": "keywords=a"})).await;
    let error = json!("name is a number, not a string");
    assert_eq!((status, &answer["error"]), (400, &error));
    for webhook in [
        "ftp://example.org",
        "http://127.0.0.1/",
        "http://localhost/a",
        "https://example.org/\r\nX:1",
        "https://example.org/a\tb",
        " https://example.org/",
    ] {
        let body = json!({"name": "a", "query": "keywords=a", "webhook": webhook});
        let (status, answer) = app.save(body).await;
        assert_eq!((status, &answer["parameter"]), (400, &json!("webhook")), "{webhook}");
    }
    let (status, answer) = app.save(json!({"name": "a", "query": "?keywords=a"})).await;
    assert_eq!((status, &answer["query"]), (201, &json!("keywords=a")));
    let free = Fixture::new().serve("free").await;
    let (status, answer) =
        free.save(json!({"name": "a", "query": "regexp=1&keywords=passw"})).await;
    assert_eq!((status, &answer["code"]), (403, &json!("package_required")));
}

#[actix_web::test]
async fn new_files_are_read_from_a_cursor_on() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old backup.sql", 1, 1)]);
    let app = fixture.serve("enterprise").await;
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    assert_eq!(app.news("").await.0, [""; 0]);
    let old = line(BOX, "old backup.sql", 1, 1);
    let (one, two) = (line(BOX, "backup-1.sql", 1, 1), line(BOX, "backup-2.sql", 1, 1));
    fixture.load_lines(&[&old, &one, &two, &line(BOX, "other.txt", 1, 1)]);
    app.refresh();
    let (first, place) = app.news("limit=1").await;
    assert_eq!(first, ["backup-1.sql"]);
    let (second, place) = app.news(&format!("after={place}")).await;
    assert_eq!(second, ["backup-2.sql"]);
    assert_eq!(app.news(&format!("after={place}")).await.0, [""; 0]);

    fixture.load_lines(&[&old, &one, &line(BOX, "backup-2.sql", 9, 1)]);
    app.refresh();
    assert_eq!(app.news(&format!("after={place}")).await.0, ["backup-2.sql"], "it has changed");
    remove(&fixture.context, BOX, "backup-1", "law", "test").unwrap();
    app.refresh();
    assert_eq!(app.news("").await.0, ["backup-2.sql"]);
    for wrong in ["1", "a-1", "-", "1-", "1-99999999999999999999"] {
        let (status, body) = app.get(&format!("/api/v2/alerts/1/files?after={wrong}")).await;
        assert_eq!((status, &body["parameter"]), (400, &json!("after")), "{wrong}");
    }

    rebuild(&fixture.context).unwrap();
    app.refresh();
    let (status, body) = app.get(&format!("/api/v2/alerts/1/files?after={place}")).await;
    assert_eq!((status, &body["code"]), (400, &json!("after_expired")));
    assert_eq!(app.news("").await.0, ["backup-2.sql"], "all since the alert was saved");
    let other = fixture.folder.write("3", line("new.s3.amazonaws.com", "backup-3.sql", 9, 1));
    fixture.load(std::slice::from_ref(&other)).unwrap();
    app.refresh();
    assert_eq!(app.news("").await.0, ["backup-2.sql", "backup-3.sql"]);

    let (options, settings) = (Fixture::options(&[other]), Settings::for_tests());
    rebuild_from(&fixture.context, &options, CheckpointPolicy::of(&settings)).unwrap();
    app.refresh();
    assert_eq!(app.news("").await.0, [""; 0], "files with other ids, none of which is new");
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "backup-4.sql", 9, 1)]);
    app.refresh();
    assert_eq!(app.news("").await.0, ["backup-4.sql"]);
}

#[actix_web::test]
async fn each_publish_sends_one_signed_message() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    let app = fixture.serve_with("free", private_webhooks()).await;
    let replica = fixture.serve_with("free", private_webhooks()).await;
    let webhook = format!("http://{}/hook", peer.address());
    let body = json!({"name": "ours", "query": "keywords=backup", "webhook": webhook});
    let (status, alert) = app.save(body).await;
    assert_eq!(status, 201, "{alert}");
    let files: Vec<String> =
        (0..150).map(|number| line(BOX, &format!("backup {number}"), 1, 1)).collect();
    let mut lines: Vec<&str> = files.iter().map(String::as_str).collect();
    let other = line(BOX, "other", 1, 1);
    lines.push(&other);
    let report = fixture.load_lines(&lines);
    let arrived = async |count: usize| {
        until("the message arrives", async || peer.requests().len() >= count).await;
        peer.requests()
    };
    let requests = arrived(1).await;
    let request = &requests[0];
    let event = body_of(request);
    let named = event["files"].as_array().unwrap();
    assert_eq!((event["count"].as_i64(), named.len()), (Some(150), 100));
    assert_eq!(
        (&event["type"], &event["alert"], &event["name"], event["run"].as_u64()),
        (&json!("alert"), &json!(1), &json!("ours"), report.run)
    );
    assert_eq!(named[0]["fullPath"], "backup 0");
    let secret = WebhookSecret::parse(alert["secret"].as_str().unwrap()).unwrap();
    let (id, at) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    let signature = request.header("webhook-signature");
    assert!(secret.verifies(signature, id, at.parse().unwrap(), request.body.as_bytes()));
    let link = event["link"].as_str().unwrap().strip_prefix(BASE).expect("a full URL");
    app.refresh();
    let (status, rest) = app.get(&format!("{link}&limit=1000")).await;
    assert_eq!((status, rest["files"].as_array().unwrap().len()), (200, 150));

    // A load without new files does not send anything, and the next load sends only its own files.
    fixture.load_lines(&lines);
    let more = line(BOX, "another backup", 1, 1);
    lines.push(&more);
    fixture.load_lines(&lines);
    let requests = arrived(2).await;
    let ids: Vec<&str> = requests.iter().map(|request| request.header("webhook-id")).collect();
    // A restored database numbers its messages again, but not at an earlier time.
    let expected = [1, 2].map(|number| format!("msg_{number}_{NOW}"));
    assert_eq!(ids, expected, "two servers send each message once");
    assert_eq!(body_of(&requests[1])["count"], 1);
    drop(replica);
}

#[actix_web::test]
async fn removed_files_are_not_sent() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    let webhook = format!("http://{}/hook", peer.address());
    {
        let app = fixture.serve_with("free", private_webhooks()).await;
        for query in ["keywords=backup", "keywords=secret"] {
            let body = json!({"name": query, "query": query, "webhook": webhook});
            assert_eq!(app.save(body).await.0, 201);
        }
        app.server.stop().await;
    }
    fixture.load_lines(&[&line(BOX, "a/backup-1 secret", 1, 1), &line(BOX, "b/backup-2", 1, 1)]);
    remove(&fixture.context, BOX, "a/", "law", "test").unwrap();
    let _app = fixture.serve_with("free", private_webhooks()).await;
    until("the message arrives", async || !peer.requests().is_empty()).await;
    let requests = peer.requests();
    assert_eq!(requests.len(), 1, "no messages of the other alert remain");
    let event = body_of(&requests[0]);
    assert_eq!(event["files"].as_array().unwrap().len(), 1);
    assert_eq!(event["files"][0]["fullPath"], "b/backup-2");
    assert_eq!(event["count"], 1, "the removed file does not count");
}

#[actix_web::test]
async fn alerts_match_what_searches_find() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    let app = fixture.serve_with("enterprise", private_webhooks()).await;
    let queries = [
        "keywords=backup",
        "keywords=backup+-old",
        "keywords=%22website+backup%22",
        "keywords=report+2021&full-path=1",
        "keywords=backup&extensions=gz,sql",
        "extensions=pdf,jpg,png",
        "extensions=gz&stopextensions=tar.gz",
        "keywords=-backup&extensions=gz",
        "buckets=1,2,lighthouse-archive.s3.eu-north-1.amazonaws.com",
        "keywords=backup&excluded-buckets=1",
        "extensions=pdf&types=aws&size-from=1000",
        "extensions=pdf,csv&last-modified-from=1500000000",
        "regexp=1&keywords=backup",
        "regexp=1&keywords=.*%5C.(sql|gz|env)",
        "regexp=1&keywords=.*back.*&full-path=1",
        "regexp=1&keywords=%5B0-9%5D%2B.*&buckets=1",
        // Alerts with the same search are compared together.
        "keywords=backup",
    ];
    let webhook = format!("http://{}/hook", peer.address());
    for query in queries {
        let body = json!({"name": query, "query": query, "webhook": webhook});
        let (status, answer) = app.save(body).await;
        assert_eq!(status, 201, "{query}: {answer}");
    }
    fixture.load(&[samples()]).unwrap();
    app.refresh();
    let mut expected = Vec::new();
    for query in queries {
        let results = app.results(query).await;
        if results > 0 {
            expected.push((query.to_owned(), results));
        }
    }
    assert!(expected.len() > queries.len() / 2, "{expected:?}");
    until("all messages arrive", async || peer.requests().len() >= expected.len()).await;
    let mut sent: Vec<(String, u64)> = peer
        .requests()
        .iter()
        .map(body_of)
        .map(|event| (event["name"].as_str().unwrap().to_owned(), event["count"].as_u64().unwrap()))
        .collect();
    sent.sort();
    expected.sort();
    assert_eq!(sent, expected);
}

/// Saves an alert for backups, without a running server. Returns its key.
async fn watch_backups(fixture: &Fixture, webhook: &str) -> String {
    let app = fixture.serve_with("free", private_webhooks()).await;
    let body = json!({"name": "a", "query": "keywords=backup", "webhook": webhook});
    assert_eq!(app.save(body).await.0, 201);
    app.server.stop().await;
    app.key
}

/// Returns the number of rows that are not compared with alerts yet.
fn not_compared(fixture: &Fixture) -> u64 {
    status(&fixture.context).unwrap()["rows_not_compared"].as_u64().unwrap()
}

/// Loads a file in a process that fails at one of its searches.
fn load_failing(fixture: &Fixture, lines: &[String], search: usize) {
    let path = fixture.folder.write("lines.ndjson", lines.join("\n"));
    let failing = FailingSearches::new(&fixture.context.generations, search);
    let context = JobContext { generations: failing, ..fixture.context.clone() };
    let policy = CheckpointPolicy::of(&Settings::for_tests());
    load(&context, &Fixture::options(&[path]), policy).unwrap();
}

#[actix_web::test]
async fn comparison_continues_where_it_has_failed_and_sends_one_message() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    watch_backups(&fixture, &format!("http://{}/hook", peer.address())).await;
    let files: Vec<String> =
        (0..41_000).map(|number| line(BOX, &format!("backup {number}"), 1, 1)).collect();
    load_failing(&fixture, &files, 2);
    let app = fixture.serve_with("free", private_webhooks()).await;
    assert_eq!(not_compared(&fixture), 21_000, "the first step is recorded");
    assert!(peer.requests().is_empty(), "an incomplete message");
    fixture.clock.advance(121);
    until("a server compares the rest", async || not_compared(&fixture) == 0).await;
    until("the message arrives", async || !peer.requests().is_empty()).await;
    let more = line("new.s3.amazonaws.com", "another backup", 1, 1);
    fixture.load_lines(&[&more]);
    until("the next message arrives", async || peer.requests().len() > 1).await;
    let events: Vec<Value> = peer.requests().iter().map(body_of).collect();
    let counts: Vec<_> = events.iter().map(|event| event["count"].as_u64()).collect();
    assert_eq!(counts, [Some(41_000), Some(1)]);
    let named = events[0]["files"].as_array().unwrap();
    assert_eq!((named.len(), &named[99]["fullPath"]), (100, &json!("backup 99")));
    drop(app);
}

#[actix_web::test]
async fn search_for_the_files_of_a_message_ends_with_its_attempt() {
    let fixture = Fixture::new();
    watch_backups(&fixture, "http://127.0.0.1:9/hook").await;
    fixture.load_lines(&[&line(BOX, "backup", 1, 1)]);
    let is_searching = Arc::new(AtomicBool::new(false));
    let mut served = fixture.clone();
    served.context.generations =
        FailingSearches::endless(&fixture.context.generations, 1, &is_searching);
    let app = served.serve_with("free", private_webhooks()).await;
    until("the search begins", async || is_searching.load(Ordering::Relaxed)).await;
    app.server.stop().await;
    until("the search ends", async || !is_searching.load(Ordering::Relaxed)).await;
}

#[actix_web::test]
async fn rebuild_keeps_files_that_were_not_compared_yet() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    // Dead rows, so that a rebuild renumbers files.
    for size in 1..4 {
        fixture.load_lines(&[&line(BOX, "old backup", size, 1)]);
    }
    let key = watch_backups(&fixture, &format!("http://{}/hook", peer.address())).await;
    let other = "new.s3.amazonaws.com";
    load_failing(&fixture, &[line(other, "first backup", 1, 1)], 1);
    let failing = FailingSearches::new(&fixture.context.generations, 1);
    rebuild(&JobContext { generations: failing, ..fixture.context.clone() }).unwrap();
    assert_eq!(not_compared(&fixture), 1, "the new file, and not the old one");
    fixture.load_lines(&[&line(other, "first backup", 1, 1), &line(other, "a backup", 1, 1)]);
    // Messages that wait during a rebuild name their files after it.
    for size in 4..6 {
        fixture.load_lines(&[&line(BOX, "old backup", size, 1)]);
    }
    rebuild(&fixture.context).unwrap();
    let app = fixture.serve_with("free", private_webhooks()).await;
    until("the messages arrive", async || peer.requests().len() > 2).await;
    let mut sent = Vec::new();
    for event in peer.requests().iter().map(body_of) {
        let paths: Vec<String> = event["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["fullPath"].as_str().unwrap().to_owned())
            .collect();
        let link = event["link"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let (status, all) = app.send(Method::GET, link, &key, Value::Null).await;
        let is_first = all["files"][0]["fullPath"].as_str() == paths.first().map(String::as_str);
        sent.push((event["count"].as_u64().unwrap(), paths, status == 200 && is_first));
    }
    sent.sort();
    let expected = [
        (1, vec!["a backup".to_owned()], true),
        (1, vec!["first backup".to_owned()], true),
        (1, vec!["old backup".to_owned()], true),
    ];
    assert_eq!(sent, expected);
}
