//! Public buckets that are listed regularly.

use std::sync::atomic::Ordering;

use buckets::Settings;
use buckets::engine::RemovalLimit;
use buckets::jobs::{
    CheckpointPolicy, Crawl, CrawlOptions, CrawlOutcome, CrawlRequest, JobError, KeyLimits,
    LoadOptions, RemoteOptions, add_crawls, crawl_next, export, list_crawls, pause_crawl,
    remove_crawl, resume, run_crawls, status,
};
use buckets::model::CrawlLists;
use buckets::store::crawl_pages;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer};

use crate::app::{Fixture, line};
use crate::program::Program;
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const BOX: &str = "box.s3.amazonaws.com";

pub fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:05}.txt")).collect()
}

pub fn request(bucket: &PublicBucket, interface: &str, address: &str) -> CrawlRequest {
    CrawlRequest {
        url: format!("{}/{interface}/", bucket.address),
        format: Some("s3".to_owned()),
        bucket: Some(address.to_owned()),
        kind: Some("aws".to_owned()),
        every_seconds: 3_600,
        ..CrawlRequest::default()
    }
}

pub fn options() -> CrawlOptions {
    let remote =
        RemoteOptions { rate: 1_000.0, first_pause: 0, attempts: 2, ..RemoteOptions::default() };
    let removal_limit = Some(RemovalLimit { files: 5, percent: 50 });
    let (lists, of_keys) = (CrawlLists::default(), KeyLimits::default());
    let (listing_bytes, turn) = (CrawlOptions::LISTING_BYTES, None);
    CrawlOptions { remote, removal_limit, lease_seconds: 30, lists, listing_bytes, turn, of_keys }
}

impl Fixture {
    pub fn crawl(&self, id: Option<i64>) -> Result<Vec<CrawlOutcome>, JobError> {
        let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
        // Listing a bucket blocks, which is not allowed on an async test's thread.
        std::thread::scope(|scope| {
            let crawling = scope.spawn(|| run_crawls(&self.context, id, &options(), checkpoints));
            crawling.join().unwrap()
        })
    }

    pub fn crawls(&self) -> Vec<Crawl> {
        list_crawls(&self.context).unwrap()
    }

    pub fn stored_files(&self) -> usize {
        let mut out = Vec::new();
        export(&self.context, None, &mut out).unwrap();
        out.iter().filter(|byte| **byte == b'\n').count()
    }
}

#[test]
fn crawl_runs_when_it_is_due() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(8).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    assert_eq!(add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap(), [1]);
    let [first] = &fixture.crawl(None).unwrap()[..] else { panic!("it is due immediately") };
    assert_eq!((first.new, first.complete, first.bucket.as_str()), (8, true, BOX));
    assert!(fixture.crawl(None).unwrap().is_empty(), "it is not due yet");
    assert_eq!(fixture.crawl(Some(1)).unwrap()[0].outcome, "0 new, 0 changed, 0 gone");

    fixture.clock.advance(3_600);
    bucket.behaviour.keys.lock().push("00008.txt".to_owned());
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "1 new, 0 changed, 0 gone");
    let [crawl] = &fixture.crawls()[..] else { panic!() };
    assert_eq!(crawl.outcome, "1 new, 0 changed, 0 gone");
    assert_eq!(crawl.due_at, crawl.last_at.unwrap() + 3_600);
    assert!(matches!(fixture.crawl(Some(9)), Err(JobError::Invalid(_))));
}

#[test]
fn paused_and_ended_crawls_are_not_due() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(1).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let ends_at = Some(fixture.context.clock.unix() + 10);
    let ending = CrawlRequest { ends_at, ..request(&bucket, "s3", "end.s3.amazonaws.com") };
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX), ending]).unwrap();
    pause_crawl(&fixture.context, 1, true).unwrap();
    let ran = |outcomes: Vec<CrawlOutcome>| -> Vec<i64> {
        outcomes.iter().map(|outcome| outcome.crawl).collect()
    };
    assert_eq!(ran(fixture.crawl(None).unwrap()), [2]);
    fixture.clock.advance(3_600);
    assert_eq!(ran(fixture.crawl(None).unwrap()), [0; 0], "one is paused, one has ended");
    pause_crawl(&fixture.context, 1, false).unwrap();
    assert_eq!(ran(fixture.crawl(None).unwrap()), [1]);
}

#[test]
fn stopped_crawl_keeps_its_pages_during_other_loads() {
    let fixture = Fixture::new();
    let other = PublicBucket::start(Behaviour { keys: keys(2).into(), ..Behaviour::default() });
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(5 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(4, Ordering::Relaxed);
    let requests =
        vec![request(&other, "s3", "other.s3.amazonaws.com"), request(&bucket, "s3", BOX)];
    add_crawls(&fixture.context, requests).unwrap();
    let outcomes = fixture.crawl(None).unwrap();
    assert_eq!((outcomes[0].new, outcomes[1].complete), (2, false));
    assert!(outcomes[1].outcome.starts_with("failed: "), "{outcomes:?}");
    assert_eq!(fixture.crawls()[1].pages, 3);
    assert_eq!(fixture.stored_files(), 2, "nothing is published before the listing has ended");
    fixture.load_lines(&[&line("loaded.s3.amazonaws.com", "a.txt", 1, 1)]);

    assert!(fixture.crawl(None).unwrap().is_empty(), "a failed crawl is not retried immediately");
    fixture.clock.advance(3_600);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let before = bucket.requests();
    let outcomes = fixture.crawl(None).unwrap();
    assert_eq!((outcomes[0].crawl, outcomes[1].crawl), (2, 1));
    assert_eq!((outcomes[0].new, bucket.requests() - before), (5 * PAGE as u64, 2));
    assert_eq!((fixture.stored_files(), fixture.crawls()[1].pages), (5 * PAGE + 3, 0));
}

#[test]
fn old_pages_are_listed_again() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    assert!(!fixture.crawl(None).unwrap()[0].complete);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    bucket.behaviour.keys.lock().remove(0);
    fixture.clock.advance(2 * 86_400);
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "199 new, 0 changed, 0 gone");
}

#[test]
fn old_pages_of_a_paused_crawl_are_deleted() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    fixture.crawl(None).unwrap();
    pause_crawl(&fixture.context, 1, true).unwrap();
    for (seconds, is_kept) in [(86_400, true), (1, false)] {
        fixture.clock.advance(seconds);
        assert!(fixture.crawl(None).unwrap().is_empty());
        let bytes = fixture.context.pools.read_blocking(|db| crawl_pages::bytes(db, 1)).unwrap();
        assert_eq!((bytes > 0, fixture.crawls()[0].pages > 0), (is_kept, is_kept));
    }
}

#[test]
fn crawlers_share_the_work() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    let crawls = 6;
    let address = |number: usize| format!("box{number}.s3.amazonaws.com");
    let requests = (0..crawls).map(|number| request(&bucket, "s3", &address(number))).collect();
    add_crawls(&fixture.context, requests).unwrap();
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let ran: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let crawler = || {
            let mut ran = Vec::new();
            while let Some(done) =
                crawl_next(&fixture.context, &[], &options(), checkpoints).unwrap()
            {
                assert!(done.complete, "{done:?}");
                ran.push(done.crawl);
            }
            ran
        };
        let crawlers: Vec<_> = (0..3).map(|_| scope.spawn(crawler)).collect();
        crawlers.into_iter().map(|crawler| crawler.join().unwrap()).collect()
    });
    let mut all = ran.concat();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4, 5, 6], "each crawl is listed by one process");
    assert_eq!(bucket.requests(), crawls * 2, "no page is listed twice");
    assert_eq!(fixture.stored_files(), crawls * 2 * PAGE);
}

#[test]
fn removed_crawl_publishes_nothing() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(30 * PAGE).into(), ..Behaviour::default() });
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    let mut slow = options();
    slow.remote.rate = 2.0;
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let outcomes = std::thread::scope(|scope| {
        let crawling =
            scope.spawn(|| run_crawls(&fixture.context, None, &slow, checkpoints).unwrap());
        testkit::until_blocking("the first page is listed", || bucket.requests() > 0);
        remove_crawl(&fixture.context, 1).unwrap();
        crawling.join().unwrap()
    });
    assert_eq!(
        outcomes[0].outcome,
        "failed: another process is listing crawl 1, or the crawl was removed"
    );
    assert_eq!((fixture.stored_files(), fixture.crawls().len()), (0, 0));
}

#[test]
fn stopped_load_of_an_operator_is_not_aborted() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(3 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    let load = LoadOptions {
        format: Some("s3".to_owned()),
        bucket: Some("loaded.s3.amazonaws.com".to_owned()),
        ..Fixture::options(&[format!("{}/s3/", bucket.address).into()])
    };
    assert!(fixture.run(&load).is_err());
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    let [waiting] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert!(waiting.outcome.contains(&format!("is waiting for run {run}")), "{waiting:?}");
    assert_eq!(status(&fixture.context).unwrap()["open_run"], run);

    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    resume(&fixture.context, run, checkpoints).unwrap();
    let before = bucket.requests();
    fixture.clock.advance(60);
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "300 new, 0 changed, 0 gone");
    assert_eq!(bucket.requests(), before, "its pages were stored");
}

#[actix_web::test]
async fn bucket_that_is_refused_for_days_is_hidden_until_it_answers() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let request = CrawlRequest { gone_after_days: Some(2), ..request(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![request]).unwrap();
    let app = fixture.serve("free").await;
    let crawl = |seconds: u64| {
        fixture.clock.advance(seconds as i64);
        let outcome = fixture.crawl(None).unwrap()[0].outcome.clone();
        app.refresh();
        outcome
    };
    assert_eq!(crawl(0), "3 new, 0 changed, 0 gone");
    bucket.behaviour.closed.store(true, Ordering::Relaxed);
    assert_eq!(crawl(3_600), "failed: 403: the bucket is not public");
    assert_eq!(app.results("").await, 3);
    bucket.behaviour.broken_from.store(1, Ordering::Relaxed);
    assert!(crawl(86_400).contains("503"), "a busy server neither rejects nor responds");
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    assert_eq!(
        crawl(86_400),
        "failed: 403: the bucket is not public; hidden, because it was refused for 2 days"
    );
    assert_eq!(app.results("").await, 0);
    assert_eq!(app.get("/api/v2/buckets").await.1["meta"]["results"], 0);
    assert_eq!(status(&fixture.context).unwrap()["hidden_buckets"], 1);

    bucket.behaviour.closed.store(false, Ordering::Relaxed);
    assert_eq!(crawl(3_600), "0 new, 0 changed, 0 gone");
    assert_eq!(app.results("").await, 3);
    assert_eq!(fixture.crawls()[0].gone_since, None);
    assert_eq!(status(&fixture.context).unwrap()["hidden_buckets"], 0);

    bucket.behaviour.closed.store(true, Ordering::Relaxed);
    crawl(3_600);
    assert!(crawl(2 * 86_400).contains("hidden"));
    assert_eq!(app.results("").await, 0);
    remove_crawl(&fixture.context, 1).unwrap();
    app.refresh();
    assert_eq!(app.results("").await, 3, "no other crawl would show it again");
}

#[test]
fn listing_that_began_before_another_load_is_not_published() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    assert!(!fixture.crawl(None).unwrap()[0].complete);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    fixture.clock.advance(60);
    fixture.load_lines(&[&line(BOX, "newer.txt", 1, 1)]);
    let [stale] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert!(stale.outcome.contains("another run has loaded the bucket"), "{stale:?}");
    assert_eq!((fixture.stored_files(), fixture.crawls()[0].pages), (1, 0));
    fixture.clock.advance(3_600);
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "200 new, 0 changed, 1 gone");
}

#[test]
fn old_listing_that_waits_for_its_publish_is_listed_again() {
    let fixture = Fixture::new();
    let bucket = PublicBucket::start(Behaviour { keys: keys(PAGE).into(), ..Behaviour::default() });
    let other =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    other.behaviour.broken_from.store(2, Ordering::Relaxed);
    let load = LoadOptions {
        format: Some("s3".to_owned()),
        bucket: Some("loaded.s3.amazonaws.com".to_owned()),
        ..Fixture::options(&[format!("{}/s3/", other.address).into()])
    };
    assert!(fixture.run(&load).is_err());
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    assert!(fixture.crawl(None).unwrap()[0].outcome.contains("is waiting for run"));
    assert!(fixture.crawls()[0].is_listed);
    fixture.clock.advance(2 * 86_400);
    other.behaviour.broken_from.store(0, Ordering::Relaxed);
    resume(&fixture.context, run, CheckpointPolicy::of(&Settings::for_tests())).unwrap();
    bucket.behaviour.keys.lock().remove(0);
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "99 new, 0 changed, 0 gone");
}

#[test]
fn crawl_below_a_prefix_removes_no_file() {
    let all = ["a/1.txt", "a/2.txt", "b.txt"].map(str::to_owned).to_vec();
    let bucket = PublicBucket::start(Behaviour { keys: all.into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "old.txt", 1, 1), &line(BOX, "a/old.txt", 1, 1)]);
    let below = CrawlRequest { prefix: "a/".to_owned(), ..request(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![below]).unwrap();
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "2 new, 0 changed, 0 gone");
    assert_eq!(fixture.stored_files(), 4);
    assert!(bucket.behaviour.requests.lock()[0].contains("prefix=a%2F"));
}

#[test]
fn failed_crawls_do_not_stop_others() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(10).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let requests =
        vec![request(&bucket, "closed", "closed.s3.amazonaws.com"), request(&bucket, "s3", BOX)];
    add_crawls(&fixture.context, requests).unwrap();
    let outcomes = fixture.crawl(None).unwrap();
    assert!(outcomes[0].outcome.contains("403: the bucket is not public"), "{outcomes:?}");
    assert_eq!((outcomes[0].complete, outcomes[1].new), (false, 10));
    assert!(fixture.crawl(None).unwrap().is_empty(), "a private bucket waits for its next time");

    bucket.behaviour.keys.lock().truncate(1);
    let held = fixture.crawl(Some(2)).unwrap();
    assert!(held[0].outcome.starts_with("failed: would lose 9 of 10 files"), "{held:?}");
    assert_eq!(status(&fixture.context).unwrap()["open_run"], Value::Null);
    assert_eq!(fixture.stored_files(), 10);
}

#[test]
fn nul_in_a_page_does_not_stop_other_crawls() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(1).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let requests =
        vec![request(&bucket, "nul", "nul.s3.amazonaws.com"), request(&bucket, "s3", BOX)];
    add_crawls(&fixture.context, requests).unwrap();
    let outcomes = fixture.crawl(None).unwrap();
    assert!(!outcomes[0].complete && outcomes[0].outcome.starts_with("failed: "), "{outcomes:?}");
    assert_eq!(outcomes[1].new, 1);
    let stored = &fixture.crawls()[0].outcome;
    assert!(stored.starts_with("failed: ") && !stored.contains('\0'), "{stored:?}");
}

#[test]
fn unlistable_and_known_buckets_are_not_added() {
    let fixture = Fixture::new();
    let public = |url: &str| CrawlRequest {
        url: url.to_owned(),
        every_seconds: 60,
        ..CrawlRequest::default()
    };
    let error = |requests: Vec<CrawlRequest>| {
        add_crawls(&fixture.context, requests).unwrap_err().to_string()
    };
    let unknown = error(vec![public("s3://photos"), public("https://files.example.org")]);
    assert!(unknown.contains("an unknown host requires"), "{unknown}");
    assert!(fixture.crawls().is_empty(), "none of them is added");
    add_crawls(&fixture.context, vec![public("s3://photos")]).unwrap();
    let known = error(vec![public("gs://photos"), public("https://photos.s3.amazonaws.com/")]);
    assert!(known.contains("crawl 1 already lists this bucket"), "{known}");
    assert_eq!(fixture.crawls().len(), 1);
    let below = CrawlRequest { prefix: "a/".to_owned(), ..public("s3://photos") };
    assert!(add_crawls(&fixture.context, vec![below]).is_ok(), "another prefix is another crawl");
}

#[test]
fn killed_crawl_loses_one_page() {
    let program = Program::new();
    let pages = 6;
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(pages * PAGE).into(), ..Behaviour::default() });
    let url = format!("{}/s3/", bucket.address);
    let added = program.json(&[
        "crawl", "add", &url, "--format", "s3", "--bucket", BOX, "--type", "aws", "--every", "7d",
    ]);
    assert_eq!(added, json!([1]));
    let slowly = ["crawl", "run", "--allow-private", "--crawl-rate", "4", "--crawl-lease", "2"];
    assert!(program.killed_when(&slowly, || bucket.requests() >= 4));
    let before = bucket.requests();
    let rates = ["--crawl-rate", "1000", "--crawl-provider-rate", "1000"];
    let other = [&["crawler", "--allow-private", "--crawl-lease", "2"], &rates[..]].concat();
    let has_run = || program.json(&["crawl", "list"])[0]["last_at"].is_number();
    assert!(program.killed_when(&other, has_run), "the other process takes over");
    assert!(bucket.requests() <= pages + 1, "{before} requests before the kill");

    let list = program.done(&["crawl", "list"]);
    assert!(list.starts_with(&format!("1 {url}, every 604800 s, due ")), "{list}");
    assert!(list.ends_with(&format!(": {} new, 0 changed, 0 gone\n", pages * PAGE)), "{list}");
    program.done(&["crawl", "pause", "1"]);
    assert_eq!(program.json(&["crawl", "list"])[0]["paused"], true);
    program.done(&["crawl", "resume", "1"]);
    let closed = program.run(&["crawl", "run", "1"]);
    assert_eq!(closed.code, Some(1), "private addresses need a flag: {}", closed.out);
    assert!(closed.out.contains("the address is private"), "{}", closed.out);
    program.done(&["crawl", "remove", "1"]);
    assert_eq!(program.json(&["crawl", "list"]), json!([]));
    let gone = program.run(&["crawl", "remove", "1"]);
    assert_eq!(gone.code, Some(1));
    assert!(gone.errors.contains("crawl 1 does not exist"), "{}", gone.errors);
}

#[test]
fn excluded_buckets_are_neither_added_nor_requested() {
    let program = Program::new();
    let bucket = PublicBucket::start(Behaviour { keys: keys(2).into(), ..Behaviour::default() });
    let url = format!("{}/s3/", bucket.address);
    let add =
        ["crawl", "add", &url, "--format", "s3", "--bucket", BOX, "--type", "aws", "--crawl-deny"];
    let refused = program.run(&[&add[..], &["gcp.example,*.amazonaws.com"]].concat());
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("CRAWL_DENY excludes the bucket"), "{}", refused.errors);
    program.done(&[&add[..], &["*.example.org"]].concat());
    let run = ["crawl", "run", "1", "--allow-private"];
    for list in [["--crawl-deny", "127.0.0.1"], ["--crawl-allow", "photos.s3.amazonaws.com"]] {
        let ran = program.run(&[&run[..], &list].concat());
        assert_eq!(ran.code, Some(1));
        assert!(ran.out.contains("excludes the bucket"), "{}", ran.out);
        assert_eq!(bucket.requests(), 0);
    }
    program.done(&[&run[..], &["--crawl-allow", BOX]].concat());
    assert_eq!(bucket.requests(), 1);
    let usage = program.run(&[&run[..], &["--crawl-allow", "https://a.example"]].concat());
    assert_eq!(usage.code, Some(2));
}

#[test]
fn bucket_has_its_rate_and_provider_has_another() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(4 * PAGE).into(), ..Behaviour::default() });
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    let mut slow = options();
    (slow.remote.rate, slow.remote.provider_rate) = (1_000.0, Some(20.0));
    let began = std::time::Instant::now();
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    run_crawls(&fixture.context, None, &slow, checkpoints).unwrap();
    // Timing: a lower bound, which a slow machine cannot miss.
    assert!(began.elapsed().as_millis() >= 150, "four requests, 20 a second");
    assert_eq!(bucket.requests(), 4);
}

/// Crawls that may not reach private addresses ignore the environment's proxy, which could.
#[test]
fn proxy_of_environment_is_only_for_private_crawls() {
    let program = Program::new();
    let proxy = HttpPeer::start(|_| PeerAnswer::Body(404, String::new()));
    let url = "http://files.example.invalid/a";
    program.done(&[
        "crawl",
        "add",
        url,
        "--format",
        "s3",
        "--bucket",
        "files.example.invalid/a",
        "--type",
        "aws",
    ]);
    let run = |flags: &[&str]| {
        let mut command =
            program.command(&[&["crawl", "run", "1", "--attempts", "1"], flags].concat());
        command.env("HTTP_PROXY", format!("http://{}", proxy.address()));
        program.run_command(command).out
    };
    assert!(run(&[]).contains("failed: "));
    assert_eq!(proxy.requests().len(), 0);
    assert!(run(&["--allow-private"]).contains("404"));
    assert_eq!(proxy.requests().len(), 1);
}
