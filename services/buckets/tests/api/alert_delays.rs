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
    assert_eq!(files, ["first backup"]);
    let after = format!("after={place}");
    assert_eq!(app.news(&after).await, (Vec::new(), place));
    fixture.clock.advance(DELAY);
    let (files, place) = app.news(&after).await;
    assert_eq!(files, ["delayed backup", "later backup"]);
    assert_eq!(app.news(&format!("after={place}")).await.0, [""; 0]);
}

#[actix_web::test]
async fn message_about_a_delayed_bucket_is_sent_after_the_delay() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let (fixture, app) = delayed().await;
    let webhook = format!("http://{}/hook", peer.address());
    let body = json!({"name": "a", "query": "keywords=backup", "webhook": webhook});
    assert_eq!(app.save(body).await.0, 201);
    fixture.load_lines(&[&line(NEW, "delayed backup", 1, 1)]);
    let shown_at = NOW + 3 * DELAY;
    let postponed = format!("UPDATE alert_message SET tries = tries WHERE next_try = {shown_at}");
    let is_postponed = || {
        let mut db = fixture.context.pools.connect().unwrap();
        diesel::sql_query(&postponed).execute(&mut db).unwrap() == 1
    };
    until("the message is postponed", async || is_postponed()).await;
    // Messages about buckets that the package already shows do not wait.
    fixture.load_lines(&[&line(BOX, "old backup", 1, 1), &line(BOX, "new backup", 1, 1)]);
    until("the other message arrives", async || !peer.requests().is_empty()).await;
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
    let is_failed = || {
        let mut db = fixture.context.pools.connect().unwrap();
        let failed = "UPDATE alert_message SET tries = tries WHERE tries = 1";
        diesel::sql_query(failed).execute(&mut db).unwrap() == 1
    };
    until("the message fails", async || is_failed()).await;
    fixture.load_lines(&[&line(NEW, "another", 1, 1), &line(NEW, "delayed backup", 1, 1)]);
    app.refresh();
    fixture.clock.advance(60);
    until("the message is sent again", async || peer.requests().len() > 1).await;
    let events = peer.requests().iter().map(body_of).collect::<Vec<_>>();
    assert!(events.iter().all(|event| event["files"][0]["fullPath"] == "new backup"));
}
