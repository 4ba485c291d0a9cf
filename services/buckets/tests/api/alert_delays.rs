//! Alerts of packages that show new buckets only after some days.

use buckets::store::packages;
use database::{DatabaseError, Db};
use diesel::RunQueryDsl;
use serde_json::json;
use testkit::{HttpPeer, PeerAnswer, until};

use crate::alerts::{body_of, private_webhooks};
use crate::app::{App, Fixture, NOW, line};

const BOX: &str = "box.s3.amazonaws.com";
const NEW: &str = "new.s3.amazonaws.com";
const DELAY: i64 = 30 * 86_400;

/// Starts a server whose free package shows new buckets after 30 days. The bucket `BOX` has one
/// file and is old enough to be shown.
async fn delayed() -> (Fixture, App) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1)]);
    fixture.clock.advance(2 * DELAY);
    let app = fixture.serve_with("free", private_webhooks()).await;
    let delay = |db: &mut Db| -> Result<(), DatabaseError> {
        let mut free = packages::of_plan(db, "free")?;
        free.delay_days = 30;
        packages::put(db, &free)
    };
    fixture.context.pools.write_blocking(delay).unwrap();
    app.refresh();
    (fixture, app)
}

/// SQL condition: a message waits until the package shows buckets indexed just after `delayed`.
fn postponed() -> String {
    format!("next_try = {}", NOW + 3 * DELAY)
}

/// Returns `true` if exactly one message in the outbox meets a condition.
fn has_message(fixture: &Fixture, condition: &str) -> bool {
    let mut db = fixture.context.pools.connect().unwrap();
    let matching = format!("UPDATE alert_message SET tries = tries WHERE {condition}");
    diesel::sql_query(matching).execute(&mut db).unwrap() == 1
}

#[actix_web::test]
async fn files_of_delayed_buckets_are_returned_once_after_the_delay() {
    let (fixture, app) = delayed().await;
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    let (old, first) = (line(BOX, "old backup", 1, 1), line(BOX, "first backup", 1, 1));
    fixture.load_lines(&[&old, &first]);
    fixture.load_lines(&[&line(NEW, "another", 1, 1), &line(NEW, "delayed backup", 1, 1)]);
    fixture.load_lines(&[&old, &first, &line(BOX, "later backup", 1, 1)]);
    app.refresh();
    let (files, place) = app.news("").await;
    assert_eq!(files, ["first backup", "later backup"]);
    let after = format!("after={place}");
    assert_eq!(app.news(&after).await, (Vec::new(), place));
    fixture.clock.advance(DELAY);
    let (files, place) = app.news(&after).await;
    assert_eq!(files, ["delayed backup"]);
    assert_eq!(app.news(&format!("after={place}")).await.0, [""; 0]);
}

#[actix_web::test]
async fn delayed_files_are_read_in_pages() {
    let (fixture, app) = delayed().await;
    assert_eq!(app.save(json!({"name": "a", "query": "keywords=backup"})).await.0, 201);
    let new = |name: &str| line(NEW, name, 1, 1);
    fixture.load_lines(&[&new("backup 1"), &new("backup 2")]);
    fixture.clock.advance(DELAY / 2);
    // Its delay ends later, while a client reads the files of the first bucket.
    fixture.load_lines(&[&line("newer.s3.amazonaws.com", "backup 3", 1, 1)]);
    fixture.load_lines(&[&new("backup 1"), &new("backup 2"), &new("backup 4")]);
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1), &line(BOX, "backup 5", 1, 1)]);
    app.refresh();
    let (files, mut place) = app.news("").await;
    assert_eq!(files, ["backup 5"]);
    fixture.clock.advance(DELAY / 2);
    let mut read = Vec::new();
    for page in 0..8 {
        if page == 2 {
            fixture.clock.advance(DELAY / 2);
        }
        let (files, next) = app.news(&format!("limit=1&after={place}")).await;
        read.extend(files);
        place = next;
    }
    assert_eq!(read, ["backup 1", "backup 2", "backup 4", "backup 3"]);
    assert_eq!(place.split('-').count(), 2, "nothing is pending");
}

#[actix_web::test]
async fn message_about_a_delayed_bucket_is_sent_after_the_delay() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let (fixture, app) = delayed().await;
    let webhook = format!("http://{}/hook", peer.address());
    let body = json!({"name": "a", "query": "keywords=backup", "webhook": webhook});
    assert_eq!(app.save(body).await.0, 201);
    fixture.load_lines(&[&line(NEW, "delayed backup", 1, 1)]);
    until("the message is postponed", async || has_message(&fixture, &postponed())).await;
    // Messages about buckets that the package already shows do not wait.
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1), &line(BOX, "new backup", 1, 1)]);
    until("the other message is sent", async || has_message(&fixture, "over_at > 0")).await;
    fixture.clock.advance(DELAY);
    until("the message arrives", async || peer.requests().len() > 1).await;
    let events = peer.requests().iter().map(body_of).collect::<Vec<_>>();
    let sent: Vec<_> = events.iter().map(|event| &event["files"][0]["fullPath"]).collect();
    assert_eq!(sent, ["new backup", "delayed backup"]);
    assert!(events.iter().all(|event| event["count"] == 1));
}

#[actix_web::test]
async fn failed_message_does_not_wait_for_files_that_later_runs_add_to_a_delayed_bucket() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(500, String::new()));
    let (fixture, app) = delayed().await;
    fixture.load_lines(&[&line(NEW, "another", 1, 1)]);
    app.refresh();
    let webhook = format!("http://{}/hook", peer.address());
    let body = json!({"name": "a", "query": "keywords=backup", "webhook": webhook});
    assert_eq!(app.save(body).await.0, 201);
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1), &line(BOX, "new backup", 1, 1)]);
    until("the message fails", async || has_message(&fixture, "tries = 1")).await;
    fixture.load_lines(&[&line(NEW, "another", 1, 1), &line(NEW, "delayed backup", 1, 1)]);
    app.refresh();
    fixture.clock.advance(60);
    until("the message is sent again", async || peer.requests().len() > 1).await;
    let events = peer.requests().iter().map(body_of).collect::<Vec<_>>();
    assert!(events.iter().all(|event| event["files"][0]["fullPath"] == "new backup"));
}

#[actix_web::test]
async fn files_of_a_run_do_not_wait_for_those_in_delayed_buckets() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let (fixture, app) = delayed().await;
    let webhook = format!("http://{}/hook", peer.address());
    let body = json!({"name": "a", "query": "keywords=backup", "webhook": webhook});
    assert_eq!(app.save(body).await.0, 201);
    let mut lines = vec![line(BOX, "old backup", 1, 1)];
    lines.extend((0..110).map(|number| line(NEW, &format!("delayed backup {number}"), 1, 1)));
    lines.extend((0..120).map(|number| line(BOX, &format!("new backup {number}"), 1, 1)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    fixture.load_lines(&lines);
    // The clock may only advance once both attempts are recorded.
    until("the first message is sent", async || has_message(&fixture, "over_at > 0")).await;
    until("the other message is postponed", async || has_message(&fixture, &postponed())).await;
    fixture.clock.advance(DELAY);
    until("the other message arrives", async || peer.requests().len() > 1).await;
    let requests = peer.requests();
    let ids: Vec<&str> = requests.iter().map(|request| request.header("webhook-id")).collect();
    assert_ne!(ids[0], ids[1]);
    let sent = requests.iter().map(body_of).map(|event| {
        let files = event["files"].as_array().unwrap().clone();
        let first = files[0]["fullPath"].as_str().unwrap().to_owned();
        (event["count"].as_i64().unwrap(), files.len(), first)
    });
    let expected =
        [(120, 100, "new backup 0".to_owned()), (110, 100, "delayed backup 0".to_owned())];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
}
