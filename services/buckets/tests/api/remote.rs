//! Listings of public buckets.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use buckets::jobs::{CheckpointPolicy, JobError, LoadOptions, dry_run, export, resume, status};
use rstest::rstest;

use crate::app::{Fixture, line};
use crate::program::{Program, text};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const BOX: &str = "box.s3.amazonaws.com";

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("a & b+c/\u{e9} {number:05}.txt")).collect()
}

fn options(bucket: &PublicBucket, interface: &str) -> LoadOptions {
    let format = if interface == "closed" { "s3" } else { interface };
    LoadOptions {
        bucket: Some(BOX.to_owned()),
        format: Some(format.to_owned()),
        ..Fixture::options(&[PathBuf::from(format!("{}/{interface}/", bucket.address))])
    }
}

fn paths(fixture: &Fixture) -> Vec<String> {
    let mut out = Vec::new();
    export(&fixture.context, Some(BOX), &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let path = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["fullPath"].as_str().unwrap().to_owned()
    };
    lines.lines().map(path).collect()
}

#[rstest]
#[case("s3", false)]
#[case("s3", true)]
#[case("azure", false)]
#[case("gcs", false)]
fn all_pages_of_listing_are_loaded(#[case] interface: &str, #[case] old: bool) {
    let keys = keys(2 * PAGE + 7);
    let bucket =
        PublicBucket::start(Behaviour { keys: keys.clone().into(), old, ..Behaviour::default() });
    bucket.behaviour.busy.store(2, Ordering::Relaxed);
    let fixture = Fixture::new();
    let report = fixture.run(&options(&bucket, interface)).unwrap();
    assert_eq!((report.counts.added, report.tally.bad), (keys.len() as u64, 0));
    assert!(report.truncated.is_empty() && report.tally.incomplete.is_empty());
    assert_eq!(paths(&fixture), keys);
    assert_eq!(bucket.requests(), 3 + 2, "three pages, and two responses that it is busy");
}

#[test]
fn page_whose_response_breaks_off_is_requested_again() {
    let keys = keys(2 * PAGE);
    let bucket =
        PublicBucket::start(Behaviour { keys: keys.clone().into(), ..Behaviour::default() });
    bucket.behaviour.cut.store(2, Ordering::Relaxed);
    let fixture = Fixture::new();
    let report = fixture.run(&options(&bucket, "s3")).unwrap();
    assert_eq!(report.tally.incomplete, Vec::<String>::new());
    assert_eq!(paths(&fixture), keys);
    assert_eq!(bucket.requests(), 2 + 2, "two pages, and two responses that broke off");
}

#[test]
fn stopped_listing_resumes_at_page() {
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(5 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(4, Ordering::Relaxed);
    let fixture = Fixture::new();
    let often = CheckpointPolicy { files: 1, every: std::time::Duration::from_secs(60) };
    let stopped = buckets::jobs::load(&fixture.context, &options(&bucket, "s3"), often);
    assert!(matches!(stopped, Err(JobError::Source { .. })), "{stopped:?}");
    assert_eq!(paths(&fixture), Vec::<String>::new(), "nothing is published");
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();

    let before = bucket.requests();
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let report = resume(&fixture.context, run, often).unwrap();
    assert_eq!(bucket.requests() - before, 2, "the pages that were missing");
    assert_eq!((report.counts.added, report.counts.duplicates), (5 * PAGE as u64, 0));
    assert_eq!(paths(&fixture), keys(5 * PAGE));
}

/// The server's tokens count entries, so they are not valid after the bucket has changed.
#[rstest]
#[case::fewer_before("s3", -3)]
#[case::more_before("s3", 3)]
#[case::fewer_before("gcs", -3)]
#[case::more_before("gcs", 3)]
#[case::more_before("azure", 3)]
fn resumed_listing_continues_after_last_key(#[case] interface: &str, #[case] change: isize) {
    let before = keys(3 * PAGE);
    let bucket =
        PublicBucket::start(Behaviour { keys: before.clone().into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(3, Ordering::Relaxed);
    let fixture = Fixture::new();
    let often = CheckpointPolicy { files: 1, every: std::time::Duration::from_secs(60) };
    let options = options(&bucket, interface);
    buckets::jobs::load(&fixture.context, &options, often).unwrap_err();
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();

    let new: Vec<String> = (0..change.max(0)).map(|n| format!("a & a{n}")).collect();
    let gone = change.min(0).unsigned_abs();
    *bucket.behaviour.keys.lock() = [new, before[gone..].to_vec()].concat();
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let report = resume(&fixture.context, run, often).unwrap();
    assert_eq!((report.tally.files, report.counts.duplicates), (3 * PAGE as u64, 0));
    assert_eq!(paths(&fixture), before);
}

/// Errors are stored with the run, and a removal does not erase them.
#[test]
fn error_does_not_contain_the_name_after_which_a_page_continues() {
    let behaviour = Behaviour { keys: keys(2 * PAGE).into(), old: true, ..Behaviour::default() };
    let bucket = PublicBucket::start(behaviour);
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    let error = Fixture::new().run(&options(&bucket, "s3")).unwrap_err().to_string();
    assert!(bucket.behaviour.requests.lock()[1].contains("00099.txt"));
    assert!(error.contains("/s3/: 503") && !error.contains("00099.txt"), "{error}");
}

#[test]
fn log_does_not_contain_the_name_after_which_a_page_continues() {
    let behaviour = Behaviour { keys: keys(2 * PAGE).into(), old: true, ..Behaviour::default() };
    let bucket = PublicBucket::start(behaviour);
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    let program = Program::new();
    let file = program.folder().write("addresses.txt", "s3");
    let fast = ["--rate", "1000", "--attempts", "2", "--allow-private"];
    let arguments = ["audit", text(&file), "--endpoint", bucket.address.as_str()];
    let ran = program.run(&[&arguments[..], &fast[..]].concat());
    assert!(bucket.behaviour.requests.lock()[2].contains("00099.txt"));
    let log = ran.errors;
    assert!(log.contains("/s3: 503") && log.contains("; retrying"), "{log}");
    assert!(!log.contains("00099.txt"), "{log}");
}

#[test]
fn private_bucket_is_reported_and_unchanged() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    fixture.run(&options(&bucket, "s3")).unwrap();
    let error = fixture.run(&options(&bucket, "closed")).unwrap_err().to_string();
    assert!(error.contains("403: the bucket is not public"), "{error}");
    assert_eq!(paths(&fixture).len(), 3);
}

#[test]
fn object_without_kind_is_not_a_listing() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    fixture.run(&options(&bucket, "gcs")).unwrap();
    let none = LoadOptions { format: Some("gcs".to_owned()), ..options(&bucket, "no-kind") };
    let error = fixture.run(&none).unwrap_err().to_string();
    assert!(error.contains("the source is not a listing"), "{error}");
    assert_eq!(paths(&fixture).len(), 3);
}

#[test]
fn redirects_to_other_buckets_are_not_followed() {
    let inner = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let outer = PublicBucket::start(Behaviour::default());
    let listing = LoadOptions { format: Some("s3".to_owned()), ..options(&outer, "moved") };
    let fixture = Fixture::new();
    *outer.behaviour.location.lock() = Some(format!("{}/s3/?encoding-type=url", inner.address));
    let error = fixture.run(&listing).unwrap_err().to_string();
    assert!(error.contains("302: the bucket has moved"), "{error}");
    assert_eq!(inner.requests(), 0);
    *outer.behaviour.keys.lock() = keys(2);
    *outer.behaviour.location.lock() = Some("/s3/?encoding-type=url".to_owned());
    let error = fixture.run(&listing).unwrap_err().to_string();
    assert!(error.contains("302: the bucket has moved"), "it is another bucket: {error}");
    *outer.behaviour.location.lock() = Some("/moved/?moved&encoding-type=url".to_owned());
    assert_eq!(fixture.run(&listing).unwrap().counts.added, 2);
}

#[test]
fn unreachable_host_does_not_stop_other_sources() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fixture = Fixture::new();
    let urls = [
        PathBuf::from(format!("http://{gone}/s3/")),
        PathBuf::from("http://no-such-host.invalid/s3/"),
        PathBuf::from(format!("{}/s3/", bucket.address)),
    ];
    let options =
        LoadOptions { sources: Fixture::options(&urls).sources, ..options(&bucket, "s3") };
    let report = fixture.run(&options).unwrap();
    assert_eq!(report.counts.added, 3);
    let [first, second] = &report.tally.incomplete[..] else { panic!("{:?}", report.tally) };
    assert!(first.contains(&gone.to_string()) && second.contains("no-such-host"), "{second}");
    assert_eq!(paths(&fixture), keys(3));

    let report = dry_run(&fixture.context, &options).unwrap();
    assert_eq!(
        (report.tally.files, report.tally.incomplete),
        (3, vec![first.clone(), second.clone()])
    );
    let unreachable =
        LoadOptions { sources: Fixture::options(&urls[..2]).sources, ..options.clone() };
    for result in [fixture.run(&unreachable), dry_run(&fixture.context, &unreachable)] {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("no source could be read: ") && error.contains("; "), "{error}");
    }

    let options = LoadOptions { sources: Fixture::options(&urls[..1]).sources, ..options };
    assert!(matches!(dry_run(&fixture.context, &options), Err(JobError::Unreachable { .. })));
    assert!(matches!(fixture.run(&options), Err(JobError::Unreachable { .. })));
    assert_eq!(paths(&fixture), keys(3));
}

/// Publishes a file that is no longer listed, and stops a run that has abandoned a listing.
fn stopped_after_lost_host(fixture: &Fixture, often: CheckpointPolicy) -> ([PublicBucket; 2], u64) {
    let old = line(BOX, "gone", 1, 1);
    fixture.load_lines(&[&old]);
    let keys = keys(3 * PAGE).into();
    let bucket = PublicBucket::start(Behaviour { keys, ..Behaviour::default() });
    bucket.behaviour.gone_after.store(2, Ordering::Relaxed);
    let busy = PublicBucket::start(Behaviour { broken_from: 1.into(), ..Behaviour::default() });
    let urls = [&bucket, &busy].map(|one| PathBuf::from(format!("{}/s3/", one.address)));
    let options =
        LoadOptions { sources: Fixture::options(&urls).sources, ..options(&bucket, "s3") };
    let stopped = buckets::jobs::load(&fixture.context, &options, often);
    assert!(matches!(stopped, Err(JobError::Source { .. })), "{stopped:?}");
    // From here on, the second listing is empty and complete.
    busy.behaviour.broken_from.store(0, Ordering::Relaxed);
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    ([bucket, busy], run)
}

#[test]
fn resumed_run_continues_listing_of_lost_host() {
    let fixture = Fixture::new();
    let always = CheckpointPolicy { files: 0, every: std::time::Duration::from_secs(60) };
    let ([bucket, _busy], run) = stopped_after_lost_host(&fixture, always);
    bucket.restart();
    let before = bucket.requests();
    // The run is stopped again in the middle of the listing.
    bucket.behaviour.broken_from.store(before + 1, Ordering::Relaxed);
    let stopped = resume(&fixture.context, run, always);
    assert!(matches!(stopped, Err(JobError::Source { .. })), "{stopped:?}");
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let before = bucket.requests();
    let report = resume(&fixture.context, run, always).unwrap();
    assert_eq!(bucket.requests() - before, 1, "the page that was missing");
    assert_eq!((report.counts.added, report.counts.removed), (3 * PAGE as u64, 1));
    assert_eq!(report.tally.incomplete, Vec::<String>::new());
    assert_eq!(paths(&fixture), keys(3 * PAGE));
}

#[test]
fn listing_of_host_that_stays_lost_removes_nothing() {
    let fixture = Fixture::new();
    let always = CheckpointPolicy { files: 0, every: std::time::Duration::from_secs(60) };
    let (_buckets, run) = stopped_after_lost_host(&fixture, always);
    let report = resume(&fixture.context, run, always).unwrap();
    assert_eq!((report.counts.added, report.counts.removed), (2 * PAGE as u64, 0));
    assert_eq!(report.tally.incomplete.len(), 1);
    assert_eq!(paths(&fixture), [vec!["gone".to_owned()], keys(2 * PAGE)].concat());
}

#[test]
fn bucket_is_incomplete_until_all_its_lost_hosts_have_been_listed() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "gone", 1, 1)]);
    let lost = [(); 2].map(|()| {
        let keys = keys(3 * PAGE).into();
        PublicBucket::start(Behaviour { keys, gone_after: 2.into(), ..Behaviour::default() })
    });
    let busy = PublicBucket::start(Behaviour { broken_from: 1.into(), ..Behaviour::default() });
    let urls = [&lost[0], &lost[1], &busy];
    let urls = urls.map(|one| PathBuf::from(format!("{}/s3/", one.address)));
    let options = LoadOptions { sources: Fixture::options(&urls).sources, ..options(&busy, "s3") };
    let always = CheckpointPolicy { files: 0, every: std::time::Duration::from_secs(60) };
    let stopped = buckets::jobs::load(&fixture.context, &options, always);
    assert!(matches!(stopped, Err(JobError::Source { .. })), "{stopped:?}");
    busy.behaviour.broken_from.store(0, Ordering::Relaxed);
    lost[0].restart();
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    let report = resume(&fixture.context, run, always).unwrap();
    assert_eq!((report.counts.added, report.counts.removed), (3 * PAGE as u64, 0));
    assert_eq!(report.tally.incomplete.len(), 1);
}

#[test]
fn empty_public_bucket_is_listed() {
    let bucket = PublicBucket::start(Behaviour::default());
    for interface in ["s3", "azure", "gcs"] {
        let fixture = Fixture::new();
        let report = fixture.run(&options(&bucket, interface)).unwrap();
        assert_eq!((report.counts.added, report.buckets_new), (0, 1), "{interface}");
    }
}

#[test]
fn dry_run_reads_listings() {
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(PAGE + 1).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let report = dry_run(&fixture.context, &options(&bucket, "s3")).unwrap();
    assert_eq!((report.tally.files, bucket.requests()), (PAGE as u64 + 1, 2));
}
