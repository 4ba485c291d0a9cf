//! Files and messages of changed alerts, and cursors from other servers and earlier times.

use buckets::Settings;
use buckets::jobs::{CheckpointPolicy, JobContext, load, rebuild, remove};
use database::{DatabaseError, Pools};
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use reqwest::Method;
use serde_json::json;
use testkit::{HttpPeer, PeerAnswer, until};

use crate::alerts::{body_of, private_webhooks};
use crate::app::{Fixture, line};
use crate::failing_index::FailingSearches;

const BOX: &str = "box.s3.amazonaws.com";

#[actix_web::test]
async fn mark_before_an_alert_returns_only_new_files() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1), &line(BOX, "older backup", 1, 1)]);
    let app = fixture.serve("free").await;
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    let (_, place) = app.news("").await;
    let (generation, _) = place.split_once('-').unwrap();
    let from_start = format!("after={generation}-0&limit=1000");
    assert_eq!(app.news(&from_start).await.0, [""; 0]);
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "new backup", 1, 1)]);
    app.refresh();
    assert_eq!(app.news(&from_start).await.0, ["new backup"]);
    assert_eq!(app.news(&format!("after={place}")).await.0, ["new backup"]);
}

/// Settings of a server that only looks for a newer index when a test refreshes it.
fn without_refreshes() -> Settings {
    Settings { reload_ms: 3_600_000, ..Settings::for_tests() }
}

#[actix_web::test]
async fn files_in_buckets_that_the_server_does_not_know_yet_are_not_skipped() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1)]);
    let app = fixture.serve_with("free", without_refreshes()).await;
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "new backup", 1, 1)]);
    // A refresh reads the index before it reads the buckets.
    assert!(app.state.snapshot().index.refresh().unwrap());
    let (files, place) = app.news("").await;
    assert_eq!(files, ["new backup"]);
    app.refresh();
    assert_eq!(app.news(&format!("after={place}")).await.0, [""; 0]);
}

#[actix_web::test]
async fn cursor_of_a_newer_server_returns_each_file_once() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1)]);
    let app = fixture.serve("free").await;
    let mut behind = fixture.serve_with("free", without_refreshes()).await;
    behind.key.clone_from(&app.key);
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "new backup", 1, 1)]);
    app.refresh();
    let (files, place) = app.news("").await;
    assert_eq!(files, ["new backup"]);
    let after = format!("after={place}");
    assert_eq!(behind.news(&after).await, (Vec::new(), place));
    assert_eq!(behind.news("").await.0, ["new backup"], "the server has looked for the publish");

    rebuild(&fixture.context).unwrap();
    app.refresh();
    let (_, place) = app.news("").await;
    let after = format!("after={place}");
    assert_eq!(behind.news(&after).await, (Vec::new(), place), "the generation has not expired");
}

#[actix_web::test]
async fn cursor_beyond_the_index_has_expired() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1)]);
    let app = fixture.serve("free").await;
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    for after in ["1-2", "1-999999999"] {
        let (code, body) = app.get(&format!("/api/v2/alerts/1/files?after={after}")).await;
        assert_eq!((code, &body["code"]), (400, &json!("after_expired")), "{after}");
    }
    assert_eq!(app.news("after=1-1").await, (Vec::new(), "1-1".to_owned()));
}

#[actix_web::test]
async fn changed_alert_sends_no_files_of_its_old_search() {
    let failing = HttpPeer::start(|_| PeerAnswer::Body(500, String::new()));
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let hook = |peer: &HttpPeer| format!("http://{}/hook", peer.address());
    let fixture = Fixture::new();
    let app = fixture.serve_with("free", private_webhooks()).await;
    let old = json!({"name": "ours", "query": "keywords=secret", "webhook": hook(&failing)});
    assert_eq!(app.save(old).await.0, 201);
    fixture.load_lines(&[&line(BOX, "secret", 1, 1)]);
    until("the message fails", async || !failing.requests().is_empty()).await;
    let new = json!({"name": "theirs", "query": "keywords=public", "webhook": hook(&peer)});
    let put = app.send(Method::PUT, "/api/v2/alerts/1", &app.key, new).await;
    assert_eq!(put.0, 200, "{put:?}");
    // A waiting message would be due now.
    fixture.clock.advance(86_400);
    for number in 1..=2 {
        let bucket = format!("new{number}.s3.amazonaws.com");
        fixture.load_lines(&[&line(&bucket, &format!("public {number}"), 1, 1)]);
        until("the message arrives", async || peer.requests().len() >= number).await;
    }
    let sent: Vec<_> = peer.requests().iter().map(body_of).collect();
    let paths: Vec<_> = sent.iter().map(|event| event["files"][0]["fullPath"].clone()).collect();
    assert_eq!(paths, ["public 1", "public 2"]);
}

/// Changes the only alert, like a PUT request, but without dropping its messages.
fn change_search(pools: &Pools) {
    let sql = "UPDATE alert SET query = 'keywords=public', version = version + 1";
    let change =
        |db: &mut database::Db| -> Result<(), DatabaseError> { Ok(db.batch_execute(sql)?) };
    pools.write_blocking(change).unwrap();
}

#[actix_web::test]
async fn comparison_with_an_old_search_adds_no_message() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    let app = fixture.serve_with("free", private_webhooks()).await;
    let webhook = format!("http://{}/hook", peer.address());
    let alert = json!({"name": "a", "query": "keywords=secret", "webhook": webhook});
    assert_eq!(app.save(alert).await.0, 201);
    let pools = fixture.context.pools.clone();
    let changing =
        FailingSearches::during(&fixture.context.generations, 1, move || change_search(&pools));
    let context = JobContext { generations: changing, ..fixture.context.clone() };
    let path = fixture.folder.write("lines.ndjson", line(BOX, "secret", 1, 1));
    let policy = CheckpointPolicy::of(&Settings::for_tests());
    load(&context, &Fixture::options(&[path]), policy).unwrap();
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "public", 1, 1)]);
    until("the message arrives", async || !peer.requests().is_empty()).await;
    let sent: Vec<_> = peer.requests().iter().map(body_of).collect();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["files"][0]["fullPath"], "public");
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

/// Counts the messages that are neither delivered nor abandoned.
fn waiting(fixture: &Fixture) -> i64 {
    let sql = "SELECT count(*) AS number FROM alert_message WHERE over_at IS NULL";
    let mut db = fixture.context.pools.connect().unwrap();
    diesel::sql_query(sql).get_result::<Number>(&mut db).unwrap().number
}

#[actix_web::test]
async fn message_counts_only_files_that_are_left() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let fixture = Fixture::new();
    let app = fixture.serve_with("free", private_webhooks()).await;
    let webhook = format!("http://{}/hook", peer.address());
    let body = json!({"name": "a", "query": "keywords=backup", "webhook": webhook});
    assert_eq!(app.save(body).await.0, 201);
    app.server.stop().await;
    let files: Vec<String> =
        (0..150).map(|number| line(BOX, &format!("{number:03} backup"), 1, 1)).collect();
    let lines: Vec<&str> = files.iter().map(String::as_str).collect();
    fixture.load_lines(&lines);
    // The message names the first 100 files.
    for prefix in ["00", "12"] {
        remove(&fixture.context, BOX, prefix, "law", "test").unwrap();
    }
    // Files of later runs do not belong to it.
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "another backup", 1, 1)]);
    // Nothing is left of another message.
    const GONE: &str = "gone.s3.amazonaws.com";
    let files: Vec<String> =
        (0..150).map(|number| line(GONE, &format!("{number:03} backup"), 1, 1)).collect();
    fixture.load_lines(&files.iter().map(String::as_str).collect::<Vec<_>>());
    remove(&fixture.context, GONE, "", "law", "test").unwrap();
    let _app = fixture.serve_with("free", private_webhooks()).await;
    until("no message is waiting", async || waiting(&fixture) == 0).await;
    let events: Vec<_> = peer.requests().iter().map(body_of).collect();
    assert_eq!(events.len(), 2);
    let event = events.iter().find(|event| event["count"] != 1).unwrap();
    let named = event["files"].as_array().unwrap();
    assert_eq!((&event["count"], named.len()), (&json!(130), 100));
    assert_eq!(named[0]["fullPath"], "010 backup");
}
