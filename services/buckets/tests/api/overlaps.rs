//! Listings that take long, while other runs publish files of the same bucket.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use buckets::Settings;
use buckets::engine::Mode;
use buckets::jobs::{
    CheckpointPolicy, CrawlRequest, JobContext, LoadOptions, add_crawls, export, rebuild,
    rebuild_from, remove, run_crawls, unremove,
};
use diesel::RunQueryDsl;
use serde_json::Value;
use testkit::{HttpPeer, PeerAnswer};

use crate::app::{Fixture, line};
use crate::crawls::{keys, options, request};
use crate::failing_index::FailingSearches;
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const BOX: &str = "box.s3.amazonaws.com";
const INCOMPLETE: &str = "incomplete: part of the bucket has been loaded since the listing started";

impl Fixture {
    /// Returns the sizes of all files.
    fn sizes(&self) -> BTreeMap<String, i64> {
        let mut out = Vec::new();
        export(&self.context, None, &mut out).unwrap();
        let files = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let files = files.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        files
            .map(|file| (file["fullPath"].as_str().unwrap().into(), file["size"].as_i64().unwrap()))
            .collect()
    }

    /// Runs a statement and returns the number of rows that it changes.
    fn changed_rows(&self, statement: &str) -> usize {
        let mut db = self.context.pools.connect().unwrap();
        diesel::sql_query(statement).execute(&mut db).unwrap()
    }

    /// Returns the number of crawls for which unchanged files are recorded.
    fn confirmations(&self) -> usize {
        self.changed_rows("UPDATE crawl_confirmation SET files = files")
    }

    fn append(&self, lines: &[&str]) {
        let path = self.folder.write("newer.ndjson", lines.join("\n"));
        self.run(&LoadOptions { mode: Mode::Append, ..Self::options(&[path]) }).unwrap();
    }
}

/// Returns a fixture with two old files, and a crawl of which the first of two pages is stored. Since then,
/// another run has listed one of the old files unchanged, and other attributes of a file of that page.
fn overlapped_listing() -> (Fixture, PublicBucket) {
    overlapped_listing_without(&["deleted.txt"])
}

/// Adds a crawl and stores the first of its two pages.
fn begun_listing(fixture: &Fixture) -> PublicBucket {
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    assert!(!fixture.crawl(None).unwrap()[0].complete);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    bucket
}

/// Like [`overlapped_listing`], but the listing lacks these old files.
fn overlapped_listing_without(deleted: &[&str]) -> (Fixture, PublicBucket) {
    let fixture = Fixture::new();
    let paths = [&["confirmed.txt"][..], deleted].concat();
    let old: Vec<String> = paths.iter().map(|path| line(BOX, path, 1, 1)).collect();
    fixture.load_lines(&old.iter().map(String::as_str).collect::<Vec<_>>());
    fixture.clock.advance(10);
    let bucket = begun_listing(&fixture);
    fixture.clock.advance(60);
    fixture.append(&[&line(BOX, "00001.txt", 999, 999), &line(BOX, "confirmed.txt", 1, 1)]);
    (fixture, bucket)
}

#[test]
fn listing_changes_no_file_that_a_newer_run_has_listed() {
    let (fixture, _bucket) = overlapped_listing();
    let [long] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert_eq!((long.outcome.as_str(), long.complete), ("199 new, 0 changed, 1 gone", true));
    let sizes = fixture.sizes();
    assert_eq!((sizes["00001.txt"], sizes["00002.txt"], sizes["confirmed.txt"]), (999, 2, 1));
    assert!(!sizes.contains_key("deleted.txt"));
    // The next listing is the newest.
    fixture.clock.advance(3_600);
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "0 new, 1 changed, 1 gone");
    assert_eq!((fixture.sizes()["00001.txt"], fixture.stored_files()), (1, 2 * PAGE));
}

#[test]
fn listing_keeps_files_added_in_the_second_in_which_it_began() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "deleted.txt", 1, 1)]);
    let _bucket = begun_listing(&fixture);
    fixture.append(&[&line(BOX, "newer.txt", 1, 1)]);
    let [long] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!() };
    assert_eq!((long.outcome.as_str(), long.complete), ("200 new, 0 changed, 1 gone", true));
    assert!(fixture.sizes().contains_key("newer.txt"));
}

/// Runs a crawl, then runs it again as if it had been killed after publishing but before recording.
#[track_caller]
fn run_killed_before_record(report: &str) {
    let fixture = Fixture::new();
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    assert!(fixture.crawl(None).unwrap()[0].complete);
    let crawl = "UPDATE crawl SET pages = 1, is_listed = TRUE, due_at = 0, begun_at = begun_at - 5";
    assert_eq!(fixture.changed_rows(crawl), 1);
    assert_eq!(fixture.changed_rows(&format!("UPDATE load_run SET {report}")), 1);
    let before = bucket.requests();
    let [again] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert_eq!((again.outcome.as_str(), again.complete), ("3 new, 0 changed, 0 gone", true));
    assert_eq!((bucket.requests(), fixture.crawls()[0].pages), (before, 0));
    assert_eq!(fixture.changed_rows("UPDATE load_run SET mode = mode"), 1, "a second run");
}

#[test]
fn crawl_killed_after_its_publish_is_recorded_as_done() {
    run_killed_before_record("mode = mode");
}

#[test]
fn crawl_killed_between_the_commits_of_its_publish_is_recorded_as_done() {
    run_killed_before_record("state = 'running', report = '{}', ended_at = NULL");
}

#[test]
fn listing_changes_no_file_after_a_rebuild() {
    let (fixture, _bucket) = overlapped_listing();
    rebuild(&fixture.context).unwrap();
    let [long] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert!(long.outcome.starts_with("199 new, 0 changed, 0 gone; incomplete"), "{long:?}");
    let sizes = fixture.sizes();
    assert_eq!((sizes["00001.txt"], sizes["confirmed.txt"], sizes["deleted.txt"]), (999, 1, 1));
}

/// Adds a crawl of two pages. The returned function stores the first page, ten seconds after the
/// last event and before the next one.
fn later_listing(fixture: &Fixture) -> (PublicBucket, Box<dyn Fn() + Send + Sync>) {
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    let (context, clock) = (fixture.context.clone(), fixture.clock.clone());
    let behaviour = Arc::clone(&bucket.behaviour);
    let begin = move || {
        clock.advance(10);
        behaviour.broken_from.store(2, Ordering::Relaxed);
        let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
        assert!(!run_crawls(&context, Some(1), &options(), checkpoints).unwrap()[0].complete);
        behaviour.broken_from.store(0, Ordering::Relaxed);
        clock.advance(10);
    };
    (bucket, Box::new(begin))
}

#[test]
fn listing_that_begins_during_the_verification_of_a_rebuild_is_newer() {
    let fixture = Fixture::new();
    let file = line(BOX, "00001.txt", 1, 1);
    fixture.load_lines(&[&file]);
    let source = fixture.folder.write("source.ndjson", &file);
    let (_bucket, begin) = later_listing(&fixture);
    let generations = FailingSearches::after_verification(&fixture.context.generations, begin);
    let context = JobContext { generations, ..fixture.context.clone() };
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    rebuild_from(&context, &Fixture::options(&[source]), checkpoints).unwrap();
    assert_eq!(fixture.crawls()[0].pages, 1);
    let [long] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!() };
    assert_eq!((long.outcome.as_str(), long.complete), ("199 new, 1 changed, 0 gone", true));
}

#[test]
fn rebuild_without_files_of_a_lifted_removal_is_not_a_complete_listing() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "kept.txt", 1, 1), &line(BOX, "00001.txt", 1, 1)]);
    remove(&fixture.context, BOX, "0", "asked", "tester").unwrap();
    let (_bucket, begin) = later_listing(&fixture);
    let context = fixture.context.clone();
    let peer = HttpPeer::start(move |_| {
        assert_eq!(unremove(&context, BOX, "a mistake", "tester").unwrap(), 1);
        begin();
        let file = |key: &str| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified>\
                 <Size>1</Size></Contents>"
            )
        };
        let files = file("00001.txt") + &file("kept.txt");
        let end = "<IsTruncated>false</IsTruncated>";
        let page = format!("<ListBucketResult>{files}{end}</ListBucketResult>");
        PeerAnswer::Body(200, page)
    });
    let listed = LoadOptions {
        bucket: Some(BOX.to_owned()),
        format: Some("s3".to_owned()),
        ..Fixture::options(&[PathBuf::from(peer.url("/s3/"))])
    };
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let (_, report) = rebuild_from(&fixture.context, &listed, checkpoints).unwrap();
    assert_eq!((report.counts.added, report.tally.partial.len()), (1, 1));
    let [long] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!() };
    assert_eq!(long.outcome, format!("200 new, 0 changed, 0 gone; {INCOMPLETE}"));
    assert!(fixture.sizes().contains_key("00001.txt"), "the removal is lifted");
}

#[test]
fn listing_that_begins_later_removes_files_that_were_confirmed_before() {
    let (fixture, bucket) = overlapped_listing();
    // The stored page is too old, so the crawl begins again.
    fixture.clock.advance(2 * 86_400);
    bucket.behaviour.broken_from.store(bucket.requests() + 2, Ordering::Relaxed);
    assert!(!fixture.crawl(None).unwrap()[0].complete);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    fixture.clock.advance(60);
    fixture.append(&[&line(BOX, "newest.txt", 1, 1)]);
    assert_eq!(fixture.crawl(None).unwrap()[0].outcome, "199 new, 1 changed, 2 gone");
    assert!(fixture.sizes().contains_key("newest.txt"));
}

#[test]
fn listing_replaces_all_but_added_files_if_it_is_unknown_which_were_confirmed() {
    let (fixture, _bucket) = overlapped_listing();
    assert_eq!(fixture.changed_rows("UPDATE crawl_confirmation SET files = 'null'"), 1);
    let [long] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert_eq!(long.outcome, format!("199 new, 0 changed, 2 gone; {INCOMPLETE}"));
    assert!(!long.complete);
    assert_eq!((fixture.sizes()["00001.txt"], fixture.stored_files()), (999, 2 * PAGE));
}

#[test]
fn files_are_not_confirmed_for_listings_that_are_too_old_to_be_published() {
    let (fixture, _bucket) = overlapped_listing();
    assert_eq!(fixture.confirmations(), 1);
    assert_eq!(fixture.changed_rows("DELETE FROM crawl_confirmation"), 1);
    fixture.clock.advance(86_400);
    fixture.append(&[&line(BOX, "confirmed.txt", 1, 1)]);
    assert_eq!(fixture.confirmations(), 0);
}

#[test]
fn files_are_not_confirmed_for_listings_that_began_later() {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    let whole = request(&bucket, "s3", BOX);
    let below = CrawlRequest { prefix: "0".to_owned(), ..request(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![whole, below]).unwrap();
    assert!(fixture.crawl(Some(2)).unwrap()[0].outcome.starts_with("200 new"));
    fixture.clock.advance(3_600);
    for crawl in [2, 1] {
        bucket.behaviour.broken_from.store(bucket.requests() + 2, Ordering::Relaxed);
        assert!(!fixture.crawl(Some(crawl)).unwrap()[0].complete);
        assert_eq!(fixture.crawls()[crawl as usize - 1].pages, 1);
        fixture.clock.advance(60);
    }
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    assert!(fixture.crawl(Some(2)).unwrap()[0].outcome.starts_with("0 new, 0 changed, 0 gone"));
    assert_eq!(fixture.confirmations(), 0);
    // The listing of the whole bucket cannot correct what the older one of its prefix has added.
    let [long] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!() };
    assert_eq!(long.outcome, format!("0 new, 0 changed, 0 gone; {INCOMPLETE}"));
    fixture.clock.advance(3_600);
    assert!(fixture.crawl(Some(1)).unwrap()[0].complete);
}

#[test]
fn published_run_keeps_no_list_of_newer_files() {
    let (fixture, _bucket) = overlapped_listing();
    assert!(fixture.crawl(None).unwrap()[0].complete);
    let listed = "UPDATE load_run SET mode = mode WHERE options LIKE '%\"newer\"%'";
    assert_eq!(fixture.changed_rows(listed), 0);
    assert_eq!(fixture.changed_rows("UPDATE load_run SET mode = mode"), 3);
}

#[test]
fn run_that_is_abandoned_keeps_no_list_of_newer_files() {
    let deleted: Vec<String> = (0..20).map(|number| format!("deleted{number}.txt")).collect();
    let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
    let (fixture, _bucket) = overlapped_listing_without(&deleted);
    let [long] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert!(long.outcome.contains("crawl run 1 --accept-removals"), "{long:?}");
    let abandoned = "UPDATE load_run SET mode = mode WHERE state = 'failed' AND id = 3";
    assert_eq!(fixture.changed_rows(abandoned), 1);
    assert_eq!(fixture.changed_rows(&format!("{abandoned} AND options LIKE '%\"newer\"%'")), 0);
}
