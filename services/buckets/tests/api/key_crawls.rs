//! Crawls of several keys and the operator for the same service: turns, overlaps and what each may see.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use buckets::Settings;
use buckets::engine::Folders;
use buckets::jobs::{
    CheckpointPolicy, CrawlOptions, CrawlRequest, JobContext, KeyLimits, Session, add_crawls,
    crawl_next, list_crawls, pause_crawl, rebuild, remove_crawl, run_crawls,
};
use buckets::model::CrawlLists;
use buckets::store::crawl_pages;
use diesel::RunQueryDsl;
use reqwest::Method;
use rstest::rstest;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer, until_blocking};

use crate::app::{App, Fixture, NOW, line};
use crate::crawl_api::{crawl_of_key, pages, run_one};
use crate::crawls::{keys, request};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const BOX: &str = "box.s3.amazonaws.com";

/// Returns a fixture with a bucket's old file and the first of two listing pages. Since that
/// listing started, a prefix was loaded: one file that it has, and one that it misses.
fn overlapped_listing() -> (Fixture, PublicBucket) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old.txt", 1, 1)]);
    fixture.clock.advance(10);
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    let whole = request(&bucket, "s3", BOX);
    let below = CrawlRequest { prefix: "00001.txt".to_owned(), ..request(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![whole, below]).unwrap();
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    assert!(!fixture.crawl(Some(1)).unwrap()[0].complete);
    assert_eq!(fixture.crawls()[0].pages, 1);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    fixture.clock.advance(60);
    bucket.behaviour.keys.lock().insert(2, "00001.txt.new".to_owned());
    assert!(fixture.crawl(Some(2)).unwrap()[0].outcome.starts_with("2 new, 0 changed, 0 gone"));
    bucket.behaviour.keys.lock().remove(2);
    (fixture, bucket)
}

#[test]
fn listing_keeps_files_added_since_it_began_and_removes_deleted_ones() {
    let (fixture, bucket) = overlapped_listing();
    let before = bucket.requests();
    let [long] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!() };
    assert_eq!((long.outcome.as_str(), long.complete), ("199 new, 0 changed, 1 gone", true));
    assert_eq!((bucket.requests() - before, fixture.stored_files()), (1, 2 * PAGE + 1));
    fixture.clock.advance(3_600);
    assert_eq!(fixture.crawl(Some(1)).unwrap()[0].outcome, "0 new, 0 changed, 1 gone");
    assert_eq!(fixture.stored_files(), 2 * PAGE);
}

#[test]
fn overlapped_listing_removes_nothing_after_a_rebuild() {
    let (fixture, _bucket) = overlapped_listing();
    rebuild(&fixture.context).unwrap();
    let [long] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!() };
    let why = " 0 gone; incomplete: part of the bucket has been loaded since the listing started";
    assert!(long.outcome.starts_with("199 new, ") && long.outcome.ends_with(why), "{long:?}");
    assert_eq!(fixture.stored_files(), 2 * PAGE + 2);
    fixture.clock.advance(3_600);
    assert_eq!(fixture.crawl(Some(1)).unwrap()[0].outcome, "0 new, 0 changed, 2 gone");
}

#[actix_web::test]
async fn requested_run_is_an_hour_after_the_last_one() {
    let (fixture, bucket) = (Fixture::new(), pages(1));
    let app = fixture.serve("enterprise").await;
    let options = crawl_of_key(&app, &bucket).await;
    assert_eq!(run_one(&fixture, None, &options)[0].new, PAGE as u64);
    let request = async || {
        let path = "/api/v2/crawls/1/run";
        app.send(Method::POST, path, &app.key, Value::Null).await.1["dueAt"].clone()
    };
    fixture.clock.advance(10);
    assert_eq!(request().await, NOW + 3_600);
    fixture.clock.advance(3_600);
    assert_eq!(request().await, NOW + 3_610);
    assert_eq!(run_one(&fixture, None, &options).len(), 1);
}

#[actix_web::test]
async fn keys_and_the_operator_take_turns() {
    let (fixture, bucket) = (Fixture::new(), pages(1));
    let app = fixture.serve("enterprise").await;
    let url = format!("{}/s3/", bucket.address);
    let other = fixture.key("other", "enterprise");
    for (key, prefix) in [(&app.key, "1"), (&app.key, "2"), (&app.key, "3"), (&other, "4")] {
        let body = json!({"url": url, "format": "s3", "type": "aws", "prefix": prefix});
        assert_eq!(app.send(Method::POST, "/api/v2/crawls", key, body).await.0, 201);
    }
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    let options = crawl_of_key(&app, &bucket).await;
    let ran = run_one(&fixture, None, &options);
    let ran: Vec<i64> = ran.iter().map(|outcome| outcome.crawl).collect();
    assert_eq!(ran, [1, 4, 5, 2, 3, 6]);
}

#[actix_web::test]
async fn removing_a_running_crawl_and_adding_another_gives_a_key_no_further_turn() {
    let (fixture, bucket) = (Fixture::new(), pages(30));
    let app = fixture.serve("enterprise").await;
    let other = fixture.key("other", "enterprise");
    let url = format!("{}/s3/", bucket.address);
    let body = |prefix: &str| json!({"url": url, "format": "s3", "type": "aws", "prefix": prefix, "everySeconds": 3_600});
    let (status, _) = app.send(Method::POST, "/api/v2/crawls", &other, body("2")).await;
    assert_eq!(status, 201);
    let mut options = crawl_of_key(&app, &bucket).await;
    assert_eq!(run_one(&fixture, None, &options).len(), 2);
    fixture.clock.advance(3_600);
    let running = app.add(body("3")).await.1["id"].as_i64();
    options.remote.rate = 4.0;
    let before = bucket.requests();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
            run_crawls(&fixture.context, running, &options, checkpoints)
        });
        until_blocking("the first page is listed", || bucket.requests() > before);
        for id in [2, 3] {
            remove_crawl(&fixture.context, id).unwrap();
        }
        assert!(!run.join().unwrap().unwrap()[0].complete);
    });
    assert_eq!(app.add(body("4")).await.0, 201);
    options.remote.rate = 1_000.0;
    let ran = run_one(&fixture, None, &options);
    assert_eq!(ran.iter().map(|outcome| outcome.crawl).collect::<Vec<_>>(), [1, 4]);
}

#[actix_web::test]
async fn crawl_that_is_added_again_is_due_an_hour_after_its_last_run() {
    let (fixture, bucket) = (Fixture::new(), pages(1));
    let app = fixture.serve("enterprise").await;
    let options = crawl_of_key(&app, &bucket).await;
    assert_eq!(run_one(&fixture, None, &options).len(), 1);
    fixture.clock.advance(10);
    let removed = app.send(Method::DELETE, "/api/v2/crawls/1", &app.key, Value::Null).await;
    assert_eq!(removed.0, 204);
    let url = format!("{}/s3/", bucket.address);
    let same = json!({"url": url, "format": "s3", "type": "aws"});
    assert_eq!(app.add(same).await.1["dueAt"], NOW + 3_600);
    let requested = app.send(Method::POST, "/api/v2/crawls/2/run", &app.key, Value::Null).await;
    assert_eq!(requested.1["dueAt"], NOW + 3_600);
    assert!(run_one(&fixture, None, &options).is_empty());
    let other = json!({"url": url, "format": "s3", "type": "aws", "prefix": "1"});
    assert_eq!(app.add(other).await.1["dueAt"], NOW + 10);
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

#[actix_web::test]
async fn turns_of_a_key_end_after_a_day_or_with_the_key() {
    let (fixture, bucket) = (Fixture::new(), pages(1));
    let app = fixture.serve("enterprise").await;
    let options = crawl_of_key(&app, &bucket).await;
    run_one(&fixture, None, &options);
    let removed = app.send(Method::DELETE, "/api/v2/crawls/1", &app.key, Value::Null).await;
    assert_eq!(removed.0, 204);
    let other = fixture.key("other", "enterprise");
    let url = format!("{}/s3/", bucket.address);
    let body = json!({"url": url, "format": "s3", "type": "aws"});
    assert_eq!(app.send(Method::POST, "/api/v2/crawls", &other, body).await.0, 201);
    let mut db = fixture.context.pools.connect().unwrap();
    let mut turns = || {
        let turns = "SELECT count(*) AS number FROM crawl_turn";
        diesel::sql_query(turns).get_result::<Number>(&mut db).unwrap().number
    };
    run_one(&fixture, None, &options);
    assert_eq!(turns(), 2);
    fixture.clock.advance(86_400 + 1);
    run_one(&fixture, None, &options);
    assert_eq!(turns(), 1, "the turn of the first key is over");
    let removed = app.send(Method::DELETE, "/api/v2/crawls/2", &other, Value::Null).await;
    assert_eq!(removed.0, 204);
    let keys = "DELETE FROM api_key WHERE id IN (SELECT key_id FROM crawl_turn)";
    let mut writer = fixture.context.pools.connect().unwrap();
    assert_eq!(diesel::sql_query(keys).execute(&mut writer).unwrap(), 1);
    assert_eq!(turns(), 0);
}

#[test]
fn crawls_added_while_the_due_ones_run_wait_for_the_next_command() {
    let (fixture, bucket) = (Fixture::new(), pages(8));
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    let mut options = crate::crawls::options();
    options.remote.rate = 4.0;
    let outcomes = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
            run_crawls(&fixture.context, None, &options, checkpoints)
        });
        until_blocking("the first page is listed", || bucket.requests() > 0);
        fixture.clock.advance(1);
        let later = CrawlRequest { prefix: "1".to_owned(), ..request(&bucket, "s3", BOX) };
        add_crawls(&fixture.context, vec![later]).unwrap();
        run.join().unwrap().unwrap()
    });
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    assert_eq!(fixture.crawl(None).unwrap().len(), 1);
}

/// Crawl 1 has three pages, crawl 2 has one. After half a day, crawl 1 goes first again, because its
/// pages would otherwise become outdated.
#[rstest]
#[case::soon(60, [2, 1], 3)]
#[case::late(43_200, [1, 2], 2)]
fn long_crawl_of_an_operator_lets_others_run(
    #[case] seconds: i64,
    #[case] order: [i64; 2],
    #[case] requests: usize,
) {
    let (fixture, bucket, other) = (Fixture::new(), pages(3), pages(1));
    let crawls = vec![request(&bucket, "s3", BOX), request(&other, "s3", "b.s3.amazonaws.com")];
    add_crawls(&fixture.context, crawls).unwrap();
    let options = CrawlOptions { turn: Some(Duration::ZERO), ..crate::crawls::options() };
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let next = || crawl_next(&fixture.context, &[], &options, checkpoints).unwrap().unwrap();
    let first = next();
    let waits = "it will continue after other crawls have run";
    assert_eq!((first.crawl, first.outcome.as_str()), (1, waits));
    fixture.clock.advance(seconds);
    assert_eq!([next().crawl, next().crawl], order);
    assert_eq!(bucket.requests(), requests);
}

#[actix_web::test]
async fn failed_request_is_not_retried_after_the_turn_of_its_key() {
    let (fixture, bucket) = (Fixture::new(), pages(1));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    options.of_keys.turn = Duration::ZERO;
    bucket.behaviour.broken_from.store(1, Ordering::Relaxed);
    let [outcome] = &run_one(&fixture, None, &options)[..] else { panic!("it is due") };
    assert_eq!(outcome.outcome, "it will continue after other crawls have run");
    assert_eq!(bucket.requests(), 1);
}

async fn outcome_for_key(app: &App) -> Value {
    app.get("/api/v2/crawls/1").await.1["outcome"].clone()
}

#[actix_web::test]
async fn outcomes_for_keys_have_no_internal_causes() {
    let (fixture, bucket) = (Fixture::new(), pages(1));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    // An index folder that cannot exist.
    let file = fixture.folder.write("a-file", "");
    let generations = Arc::new(Folders::new(file.join("index")));
    let mut broken = fixture.clone();
    broken.context = JobContext { generations, ..fixture.context.clone() };
    let outcome = run_one(&broken, None, &options)[0].outcome.clone();
    assert!(outcome.contains("index: "), "the operator sees the cause: {outcome}");
    let public = "failed: the index or the database failed; it will be retried";
    assert_eq!(outcome_for_key(&app).await, public);

    let mut session = Session::open(&fixture.context, "a test").unwrap();
    session.writer.begin(7).unwrap();
    drop(session);
    let outcome = run_one(&fixture, Some(1), &options)[0].outcome.clone();
    assert!(outcome.contains("run 7"), "{outcome}");
    let public = "failed: another command is writing; it will be retried";
    assert_eq!(outcome_for_key(&app).await, public);

    options.remote.attempts = 1;
    options.of_keys.allows_private = false;
    let missing = json!({"url": "http://files.example.invalid/a", "format": "s3", "type": "aws"});
    assert_eq!(app.add(missing).await.0, 201);
    run_one(&fixture, Some(2), &options);
    let (_, crawl) = app.get("/api/v2/crawls/2").await;
    assert_eq!(crawl["outcome"], "failed: the host cannot be reached; it will be retried");
}

#[actix_web::test]
async fn control_characters_in_crawls_are_refused() {
    let app = Fixture::new().serve("enterprise").await;
    for (body, parameter, error) in [
        (
            json!({"url": "s3://photos", "prefix": "a\u{1b}[2J"}),
            "prefix",
            "prefix must not contain control characters",
        ),
        (
            json!({"url": "s3://photos\n"}),
            "url",
            "url must be the plain address of a public bucket",
        ),
    ] {
        let (status, answer) = app.add(body).await;
        let expected = json!({"error": error, "code": "invalid_parameter", "parameter": parameter});
        assert_eq!((status, answer), (400, expected));
    }
}

#[actix_web::test]
async fn hidden_bucket_is_shown_if_no_crawl_is_left_that_runs() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let hiding = CrawlRequest { gone_after_days: Some(2), ..request(&bucket, "s3", BOX) };
    let paused = CrawlRequest { prefix: "0".to_owned(), ..request(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![hiding, paused]).unwrap();
    pause_crawl(&fixture.context, 2, true).unwrap();
    let app = fixture.serve("free").await;
    fixture.crawl(Some(1)).unwrap();
    bucket.behaviour.closed.store(true, Ordering::Relaxed);
    fixture.clock.advance(3_600);
    fixture.crawl(Some(1)).unwrap();
    fixture.clock.advance(2 * 86_400);
    assert!(fixture.crawl(Some(1)).unwrap()[0].outcome.contains("hidden"));
    app.refresh();
    assert_eq!(app.results("").await, 0);
    remove_crawl(&fixture.context, 1).unwrap();
    app.refresh();
    assert_eq!(app.results("").await, 3, "the paused crawl would not show it again");
}

/// A bucket with three files that the operator's crawl 2 has hidden, and options that let the app's
/// key list it. The key has removed its crawl 1.
async fn hidden_bucket(fixture: &Fixture, app: &App) -> (PublicBucket, CrawlOptions) {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let options = crawl_of_key(app, &bucket).await;
    let address = app.get("/api/v2/crawls/1").await.1["bucket"].as_str().unwrap().to_owned();
    remove_crawl(&fixture.context, 1).unwrap();
    let hiding = CrawlRequest { gone_after_days: Some(2), ..request(&bucket, "s3", &address) };
    add_crawls(&fixture.context, vec![hiding]).unwrap();
    assert_eq!(fixture.crawl(Some(2)).unwrap()[0].new, 3);
    (bucket, options)
}

/// Closes the bucket until its crawl 2 has hidden it.
async fn hide(fixture: &Fixture, app: &App, bucket: &PublicBucket) {
    bucket.behaviour.closed.store(true, Ordering::Relaxed);
    fixture.clock.advance(3_600);
    fixture.crawl(Some(2)).unwrap();
    fixture.clock.advance(2 * 86_400);
    assert!(fixture.crawl(Some(2)).unwrap()[0].outcome.contains("hidden"));
    app.refresh();
    assert_eq!(app.results("").await, 0);
}

async fn add_same_crawl(app: &App, bucket: &PublicBucket) {
    let url = format!("{}/s3/", bucket.address);
    let same = json!({"url": url, "format": "s3", "type": "aws", "everySeconds": 3_600});
    assert_eq!(app.add(same).await.1["id"], 3);
}

#[actix_web::test]
async fn removing_a_crawl_of_a_key_does_not_show_a_hidden_bucket() {
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    let (bucket, options) = hidden_bucket(&fixture, &app).await;
    hide(&fixture, &app, &bucket).await;
    pause_crawl(&fixture.context, 2, true).unwrap();
    add_same_crawl(&app, &bucket).await;
    let added = app.get("/api/v2/crawls/3").await.1;
    assert_eq!(added["hiddenSince"], NOW + 3_600 + 2 * 86_400);
    // The key's crawl was refused, too.
    assert!(run_one(&fixture, Some(3), &options)[0].outcome.contains("403"));
    let removed = app.send(Method::DELETE, "/api/v2/crawls/3", &app.key, Value::Null).await;
    assert_eq!(removed.0, 204);
    app.refresh();
    assert_eq!(app.results("").await, 0);
    remove_crawl(&fixture.context, 2).unwrap();
    app.refresh();
    assert_eq!(app.results("").await, 3, "the crawl that has hidden it is removed");
}

#[actix_web::test]
async fn failure_before_a_bucket_is_requested_does_not_show_it() {
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    let (bucket, options) = hidden_bucket(&fixture, &app).await;
    add_same_crawl(&app, &bucket).await;
    assert!(run_one(&fixture, Some(3), &options)[0].complete);
    hide(&fixture, &app, &bucket).await;
    bucket.behaviour.closed.store(false, Ordering::Relaxed);
    let lists = CrawlLists { deny: vec!["127.0.0.1".parse().unwrap()], ..CrawlLists::default() };
    let excluded = CrawlOptions { lists, ..options.clone() };
    let outcome = run_one(&fixture, Some(3), &excluded)[0].outcome.clone();
    assert!(outcome.contains("excludes the bucket"), "{outcome}");
    app.refresh();
    assert_eq!(app.results("").await, 0);
    assert!(run_one(&fixture, Some(3), &options)[0].complete);
    app.refresh();
    assert_eq!(app.results("").await, 3, "it has responded");
}

#[test]
fn pages_of_a_bucket_with_a_takedown_do_not_wait_for_their_publish() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    buckets::jobs::remove(&fixture.context, BOX, "00001", "asked", "tester").unwrap();
    let mut session = Session::open(&fixture.context, "a test").unwrap();
    session.writer.begin(7).unwrap();
    drop(session);
    let outcome = fixture.crawl(None).unwrap()[0].outcome.clone();
    assert!(outcome.contains("is waiting for run 7"), "{outcome}");
    let crawl = &list_crawls(&fixture.context).unwrap()[0];
    assert_eq!((crawl.pages, crawl.is_listed), (0, false));
    let bytes = fixture.context.pools.read_blocking(|db| crawl_pages::bytes(db, 1)).unwrap();
    assert_eq!(bytes, 0);
    assert!(crawl.due_at > fixture.context.clock.unix());
}

/// A compressed response of a few kilobytes can have a million entries.
#[rstest]
#[case::most("<Contents><Key>a</Key><Size>1</Size></Contents>", 10_000, "1 new, 0 changed, 0 gone")]
#[case::files("<Contents><Key>a</Key><Size>1</Size></Contents>", 10_001, MANY)]
#[case::bad_entries("<Contents><Key>a</Key></Contents>", 10_001, MANY)]
#[case::prefixes("<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>", 10_001, MANY)]
#[actix_web::test]
async fn pages_of_a_key_have_a_limited_number_of_entries(
    #[case] entry: &'static str,
    #[case] entries: usize,
    #[case] outcome: &str,
) {
    let server = HttpPeer::start(move |_| {
        let entries = entry.repeat(entries);
        let end = "<IsTruncated>false</IsTruncated>";
        PeerAnswer::Body(200, format!("<ListBucketResult>{entries}{end}</ListBucketResult>"))
    });
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    let body = json!({"url": server.url("/box/"), "format": "s3", "type": "aws"});
    assert_eq!(app.send(Method::POST, "/api/v2/crawls", &app.key, body).await.0, 201);
    let of_keys = KeyLimits { allows_private: true, ..KeyLimits::default() };
    let options = CrawlOptions { of_keys, ..crate::crawls::options() };
    assert_eq!(run_one(&fixture, None, &options)[0].outcome, outcome);
    assert_eq!(fixture.crawls()[0].pages, 0);
}

const MANY: &str = "failed: a page of the listing has more than 10000 entries";
