//! Listings that take long, while other runs publish files of the same bucket.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use buckets::engine::Mode;
use buckets::jobs::{LoadOptions, add_crawls, export, rebuild};
use serde_json::Value;

use crate::app::{Fixture, line};
use crate::crawls::{keys, request};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const BOX: &str = "box.s3.amazonaws.com";

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

    fn append(&self, lines: &[&str]) {
        let path = self.folder.write("newer.ndjson", lines.join("\n"));
        self.run(&LoadOptions { mode: Mode::Append, ..Self::options(&[path]) }).unwrap();
    }
}

/// Returns a fixture with two old files, and a crawl of which the first of two pages is stored. Since then,
/// another run has listed one of the old files unchanged, and other attributes of a file of that page.
fn overlapped_listing() -> (Fixture, PublicBucket) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "confirmed.txt", 1, 1), &line(BOX, "deleted.txt", 1, 1)]);
    fixture.clock.advance(10);
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(2 * PAGE).into(), ..Behaviour::default() });
    add_crawls(&fixture.context, vec![request(&bucket, "s3", BOX)]).unwrap();
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    assert!(!fixture.crawl(None).unwrap()[0].complete);
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
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
fn listing_changes_no_file_after_a_rebuild() {
    let (fixture, _bucket) = overlapped_listing();
    rebuild(&fixture.context).unwrap();
    let [long] = &fixture.crawl(None).unwrap()[..] else { panic!() };
    assert!(long.outcome.starts_with("199 new, 0 changed, 0 gone; incomplete"), "{long:?}");
    let sizes = fixture.sizes();
    assert_eq!((sizes["00001.txt"], sizes["confirmed.txt"], sizes["deleted.txt"]), (999, 1, 1));
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
