//! Crawls of buckets whose files change without a new size or date.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buckets::Settings;
use buckets::engine::Mode;
use buckets::jobs::{
    CheckpointPolicy, CrawlRequest, LoadOptions, add_crawls, rebuild, remove, remove_crawl,
    run_crawls,
};
use buckets::store::crawl_pages;
use diesel::RunQueryDsl;
use parking_lot::Mutex;
use testkit::{HttpPeer, PeerAnswer};

use crate::app::{Fixture, line};
use crate::crawls::{keys, options, request};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const BOX: &str = "box.s3.amazonaws.com";
/// The date of all files in the bucket.
const DATE: i64 = 1_666_666_666;

impl PublicBucket {
    /// Overwrites a file without changing its size and date.
    fn overwrite(&self, key: &str, etag: &str) {
        self.behaviour.etags.lock().insert(key.to_owned(), etag.to_owned());
    }
}

/// Adds a crawl of a bucket whose files have ETags.
fn crawled(fixture: &Fixture, files: usize) -> PublicBucket {
    let keys = keys(files);
    let etags: BTreeMap<String, String> =
        keys.iter().map(|key| (key.clone(), "first".to_owned())).collect();
    let behaviour = Behaviour { keys: keys.into(), etags: etags.into(), ..Behaviour::default() };
    let bucket = PublicBucket::start(behaviour);
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    bucket
}

/// Runs a crawl an hour later. Returns its outcome.
fn next(fixture: &Fixture, id: i64) -> String {
    fixture.clock.advance(3_600);
    fixture.crawl(Some(id)).unwrap()[0].outcome.clone()
}

/// Stores the first page of the next listing.
fn begin_listing(fixture: &Fixture, bucket: &PublicBucket) {
    bucket.behaviour.broken_from.store(bucket.requests() + 2, Ordering::Relaxed);
    assert!(next(fixture, 1).starts_with("failed: "));
    assert_eq!(fixture.crawls()[0].pages, 1);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
}

/// Runs a statement and returns the number of rows that it changes.
fn execute(fixture: &Fixture, statement: &str) -> usize {
    let mut db = fixture.context.pools.connect().unwrap();
    diesel::sql_query(statement).execute(&mut db).unwrap()
}

/// Returns the number of pages whose ETags are stored.
fn pages_with_etags(fixture: &Fixture) -> usize {
    execute(fixture, "UPDATE crawl_etag SET number = number")
}

#[actix_web::test]
async fn file_overwritten_with_the_same_size_and_date_is_changed() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 3);
    let app = fixture.serve("free").await;
    let paths = async || {
        app.refresh();
        app.paths("").await
    };
    assert_eq!(next(&fixture, 1), "3 new, 0 changed, 0 gone");
    assert_eq!(paths().await, ["00000.txt", "00001.txt", "00002.txt"]);
    bucket.overwrite("00001.txt", "second");
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
    assert_eq!(paths().await, ["00000.txt", "00002.txt", "00001.txt"], "it has a new id");
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
    bucket.overwrite("00001.txt", "first");
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
    assert_eq!(pages_with_etags(&fixture), 1, "only the last listing is kept");
}

#[test]
fn first_etags_of_stored_files_are_not_changes() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "00000.txt", 0, DATE), &line(BOX, "00001.txt", 1, DATE)]);
    let bucket = crawled(&fixture, 2);
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
    bucket.behaviour.etags.lock().clear();
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
    bucket.overwrite("00000.txt", "second");
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone", "the last listing had no ETags");
    bucket.overwrite("00000.txt", "third");
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
}

#[test]
fn etags_of_a_stopped_listing_are_compared() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 3 * PAGE);
    assert_eq!(next(&fixture, 1), "300 new, 0 changed, 0 gone");
    bucket.overwrite("00000.txt", "second");
    begin_listing(&fixture, &bucket);
    assert_eq!(pages_with_etags(&fixture), 3 + 1);
    bucket.overwrite("00250.txt", "second");
    assert_eq!(next(&fixture, 1), "0 new, 2 changed, 0 gone");
    assert_eq!(pages_with_etags(&fixture), 3);
}

#[test]
fn listing_that_is_not_published_does_not_hide_a_change() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 10);
    assert_eq!(next(&fixture, 1), "10 new, 0 changed, 0 gone");
    bucket.overwrite("00000.txt", "second");
    bucket.behaviour.keys.lock().truncate(1);
    assert!(next(&fixture, 1).starts_with("failed: would lose 9 of 10 files"));
    *bucket.behaviour.keys.lock() = keys(10);
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
}

#[test]
fn incomplete_listing_does_not_hide_a_change() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 2 * PAGE);
    assert_eq!(next(&fixture, 1), "200 new, 0 changed, 0 gone");
    bucket.overwrite("00000.txt", "second");
    begin_listing(&fixture, &bucket);
    fixture.clock.advance(60);
    append(&fixture, "other.txt", 1);
    rebuild(&fixture.context).unwrap();
    assert!(next(&fixture, 1).starts_with("0 new, 0 changed, 0 gone; incomplete"));
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 1 gone");
}

/// Starts a bucket with two files. The first one has the given ETag. If the bucket is cut, it refuses
/// the second page of its listing.
fn cut_bucket(etag: &Arc<Mutex<&'static str>>, is_cut: &Arc<AtomicBool>) -> HttpPeer {
    let (etag, is_cut) = (Arc::clone(etag), Arc::clone(is_cut));
    HttpPeer::start(move |request| {
        if request.target.contains("continuation-token") {
            let refused = "<Error><Code>AccessDenied</Code></Error>";
            return PeerAnswer::Body(403, refused.to_owned());
        }
        let file = |key: &str, etag: &str| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified>\
                 <ETag>&quot;{etag}&quot;</ETag><Size>1</Size></Contents>"
            )
        };
        let end = match is_cut.load(Ordering::Relaxed) {
            true => {
                "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
            }
            false => "<IsTruncated>false</IsTruncated>",
        };
        let files = file("a.txt", *etag.lock()) + &file("b.txt", "other");
        let page = format!("<ListBucketResult>{files}{end}</ListBucketResult>");
        PeerAnswer::Body(200, page)
    })
}

#[test]
fn incomplete_listings_report_a_change_once() {
    let fixture = Fixture::new();
    let (etag, is_cut) = (Arc::new(Mutex::new("first")), Arc::new(AtomicBool::new(false)));
    let bucket = cut_bucket(&etag, &is_cut);
    let crawl = CrawlRequest {
        url: bucket.url("/s3/"),
        format: Some("s3".to_owned()),
        bucket: Some(BOX.to_owned()),
        kind: Some("aws".to_owned()),
        every_seconds: 3_600,
        ..CrawlRequest::default()
    };
    add_crawls(&fixture.context, vec![crawl]).unwrap();
    assert_eq!(next(&fixture, 1), "2 new, 0 changed, 0 gone");
    is_cut.store(true, Ordering::Relaxed);
    for overwritten in ["second", "third", "first"] {
        *etag.lock() = overwritten;
        for changed in [1, 0, 0] {
            let outcome = next(&fixture, 1);
            let expected = format!("0 new, {changed} changed, 0 gone; incomplete: ");
            assert!(outcome.starts_with(&expected), "{overwritten}: {outcome}");
        }
    }
    is_cut.store(false, Ordering::Relaxed);
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
    *etag.lock() = "second";
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
    assert_eq!(pages_with_etags(&fixture), 1);
}

/// Loads a file of the bucket as another command would.
fn append(fixture: &Fixture, path: &str, size: i64) {
    let lines = fixture.folder.write("more.ndjson", line(BOX, path, size, DATE));
    let load = LoadOptions { mode: Mode::Append, ..Fixture::options(&[lines]) };
    fixture.run(&load).unwrap();
}

#[test]
fn changed_file_is_replaced_although_another_run_has_confirmed_its_size_and_date() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 2 * PAGE);
    assert_eq!(next(&fixture, 1), "200 new, 0 changed, 0 gone");
    bucket.overwrite("00001.txt", "second");
    begin_listing(&fixture, &bucket);
    fixture.clock.advance(60);
    append(&fixture, "00001.txt", 1);
    assert_eq!(execute(&fixture, "UPDATE crawl_confirmation SET files = files"), 1);
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
}

/// Stores the first page of the next listing. Since then, another run has confirmed a file, but it
/// isn't known which one.
fn begin_overlapped_listing(fixture: &Fixture, bucket: &PublicBucket) {
    begin_listing(fixture, bucket);
    fixture.clock.advance(60);
    append(fixture, "00002.txt", 2);
    assert_eq!(execute(fixture, "UPDATE crawl_confirmation SET files = 'null'"), 1);
}

#[test]
fn listings_that_other_runs_overlap_report_a_change_once() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 2 * PAGE);
    assert_eq!(next(&fixture, 1), "200 new, 0 changed, 0 gone");
    bucket.overwrite("00001.txt", "second");
    for changed in [1, 0] {
        begin_overlapped_listing(&fixture, &bucket);
        let outcome = next(&fixture, 1);
        let expected = format!("0 new, {changed} changed, 0 gone; incomplete: ");
        assert!(outcome.starts_with(&expected), "{outcome}");
    }
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
}

#[test]
fn change_of_a_file_that_an_overlapping_run_has_added_is_reported_later() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 2 * PAGE);
    assert_eq!(next(&fixture, 1), "200 new, 0 changed, 0 gone");
    bucket.overwrite("00001.txt", "second");
    begin_overlapped_listing(&fixture, &bucket);
    append(&fixture, "00001.txt", 7);
    append(&fixture, "00001.txt", 1);
    let outcome = next(&fixture, 1);
    assert!(outcome.starts_with("0 new, 0 changed, 0 gone; incomplete: "), "{outcome}");
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
}

#[test]
fn crawl_killed_before_it_recorded_its_publish_loses_no_change() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 3);
    assert_eq!(next(&fixture, 1), "3 new, 0 changed, 0 gone");
    execute(&fixture, "CREATE TABLE etags_before AS SELECT * FROM crawl_etag");
    bucket.overwrite("00001.txt", "second");
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
    // The state before the outcome was recorded.
    let crawl = "UPDATE crawl SET pages = 1, is_listed = TRUE, begun_at = begun_at - 5, \
                 etags_listing = listing - 1";
    assert_eq!(execute(&fixture, crawl), 1);
    execute(&fixture, "INSERT INTO crawl_etag SELECT * FROM etags_before");
    let before = bucket.requests();
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone");
    assert_eq!(bucket.requests(), before, "the outcome of the killed process");
    assert_eq!(next(&fixture, 1), "0 new, 1 changed, 0 gone", "its run may have been resumed");
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone");
}

#[test]
fn etags_are_deleted_with_their_crawl_and_at_a_takedown() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 3);
    assert_eq!(next(&fixture, 1), "3 new, 0 changed, 0 gone");
    assert_eq!(pages_with_etags(&fixture), 1);
    remove(&fixture.context, BOX, "00001", "asked", "tester").unwrap();
    assert_eq!(pages_with_etags(&fixture), 0);
    bucket.overwrite("00000.txt", "second");
    assert_eq!(next(&fixture, 1), "0 new, 0 changed, 0 gone", "nothing to compare with");
    assert_eq!(pages_with_etags(&fixture), 1);
    remove_crawl(&fixture.context, 1).unwrap();
    assert_eq!(pages_with_etags(&fixture), 0);
}

#[test]
fn crawl_below_a_prefix_compares_its_own_etags() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 3);
    let prefix = "00001".to_owned();
    let below = CrawlRequest { prefix, ..request(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![below]).unwrap();
    assert_eq!(next(&fixture, 1), "3 new, 0 changed, 0 gone");
    assert_eq!(next(&fixture, 2), "0 new, 0 changed, 0 gone");
    bucket.overwrite("00000.txt", "second");
    assert_eq!(next(&fixture, 2), "0 new, 0 changed, 0 gone");
    bucket.overwrite("00001.txt", "second");
    assert_eq!(next(&fixture, 2), "0 new, 1 changed, 0 gone");
}

#[test]
fn etags_count_towards_the_size_of_a_listing() {
    let fixture = Fixture::new();
    let bucket = crawled(&fixture, 2 * PAGE);
    begin_listing(&fixture, &bucket);
    let bytes = fixture.context.pools.read_blocking(|db| crawl_pages::bytes(db, 1)).unwrap();
    remove_crawl(&fixture.context, 1).unwrap();
    let again = request(&bucket, "s3", BOX);
    let id = add_crawls(&fixture.context, vec![again]).unwrap()[0];
    let mut small = options();
    // Enough for the first page, but not for the 12 bytes that each of its ETags needs.
    small.listing_bytes = bytes + 12 * PAGE as i64 - 1;
    let (before, checkpoints) = (bucket.requests(), CheckpointPolicy::of(&Settings::for_tests()));
    let outcomes = run_crawls(&fixture.context, Some(id), &small, checkpoints).unwrap();
    assert_eq!(outcomes[0].outcome, "failed: the listing's pages are too large");
    assert_eq!(bucket.requests() - before, 1, "the first page is too large");
    assert_eq!(pages_with_etags(&fixture), 0);
}
