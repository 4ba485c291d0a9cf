//! Stopped runs, removals in the meantime, and loads that cannot start.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use buckets::jobs::{
    self, AuditState, CheckpointPolicy, CrawlRequest, JobError, LoadOptions, MaxErrors, Session,
    add_crawls, audit, resume, status, verify,
};
use buckets::store::{load_runs, rejected_lines};
use diesel::connection::SimpleConnection;
use rstest::rstest;

use crate::app::{Fixture, line};
use crate::audit::options as audit_options;
use crate::crawls::request as request_of;
use crate::program::{Program, holds, text};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};
use crate::removals::waiting_load;

const A: &str = "a.s3.amazonaws.com";
const BOX: &str = "box.s3.amazonaws.com";
const OFTEN: CheckpointPolicy = CheckpointPolicy { files: 1, every: Duration::from_secs(60) };

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:05}.txt")).collect()
}

fn listing(bucket: &PublicBucket) -> PathBuf {
    PathBuf::from(format!("{}/s3/", bucket.address))
}

fn options(paths: &[PathBuf]) -> LoadOptions {
    LoadOptions {
        bucket: Some(BOX.to_owned()),
        format: Some("s3".to_owned()),
        ..Fixture::options(paths)
    }
}

/// Stops a run after three of five pages. Returns its bucket and its id.
fn stopped(fixture: &Fixture) -> (PublicBucket, u64) {
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(5 * PAGE).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(4, Ordering::Relaxed);
    let ended = jobs::load(&fixture.context, &options(&[listing(&bucket)]), OFTEN);
    assert!(matches!(ended, Err(JobError::Source { .. })), "{ended:?}");
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    (bucket, run)
}

/// Requests the removal of a bucket without carrying it out.
fn request(fixture: &Fixture, address: &str) {
    let sql = format!(
        "INSERT INTO removal (address, prefix, reason, operator, requested_at) \
         VALUES ('{address}', '', 'asked', 'tester', 1)"
    );
    let pools = &fixture.context.pools;
    pools
        .write_blocking(|db| -> Result<(), database::DatabaseError> { Ok(db.batch_execute(&sql)?) })
        .unwrap();
}

#[test]
fn run_that_was_killed_at_its_start_is_loaded_again() {
    let fixture = Fixture::new();
    let begun = |db: &mut database::Db| load_runs::begin(db, 0, "replace", "{}", 1);
    let run = fixture.context.pools.write_blocking(begun).unwrap();
    let refused = resume(&fixture.context, run, OFTEN).unwrap_err().to_string();
    let why = "it failed (stopped before its first checkpoint), so load its sources again";
    assert_eq!(refused, format!("run {run} cannot be resumed: {why}"));
}

#[derive(Clone, Copy)]
enum Takedown {
    CarriedOut,
    Waiting,
    Lifted,
}

#[rstest]
#[case(Takedown::CarriedOut, 0, 0)]
#[case(Takedown::Waiting, 0, 0)]
#[case(Takedown::Lifted, 1, 2 * PAGE as u64)]
fn removed_bucket_is_not_listed_by_a_resumed_run(
    #[case] takedown: Takedown,
    #[case] buckets: u64,
    #[case] files: u64,
) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "before", 1, 1)]);
    let (_bucket, run) = stopped(&fixture);
    match takedown {
        Takedown::CarriedOut | Takedown::Lifted => {
            jobs::remove(&fixture.context, BOX, "", "asked", "tester").unwrap();
        }
        Takedown::Waiting => request(&fixture, BOX),
    }
    if matches!(takedown, Takedown::Lifted) {
        jobs::unremove(&fixture.context, BOX, "a mistake", "tester").unwrap();
    }
    let report = resume(&fixture.context, run, OFTEN).unwrap();
    assert_eq!(report.counts.added, files);
    let now = status(&fixture.context).unwrap();
    assert_eq!((&now["buckets"], &now["files"]), (&buckets.into(), &files.into()));
    assert_eq!(now["removals_waiting"], 0);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

/// Runs that begin before a removal of the prefix is lifted don't have all of its files.
#[rstest]
#[case::removed_before_the_run(true, Takedown::Lifted, 0)]
#[case::removed_during_the_run(false, Takedown::Lifted, 0)]
#[case::in_force(false, Takedown::CarriedOut, 1)]
fn run_covers_part_of_a_bucket_if_a_removal_in_it_is_lifted_meanwhile(
    #[case] is_removed_before: bool,
    #[case] takedown: Takedown,
    #[case] removed: u64,
) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "before", 1, 1)]);
    let remove = || jobs::remove(&fixture.context, BOX, "0000", "asked", "tester").unwrap();
    if is_removed_before {
        remove();
    }
    let (_bucket, run) = stopped(&fixture);
    if !is_removed_before {
        remove();
    }
    let is_lifted = matches!(takedown, Takedown::Lifted);
    if is_lifted {
        assert_eq!(jobs::unremove(&fixture.context, BOX, "a mistake", "tester").unwrap(), 1);
    }
    let report = resume(&fixture.context, run, OFTEN).unwrap();
    assert_eq!((report.counts.added, report.counts.removed), (5 * PAGE as u64 - 10, removed));
    assert_eq!(report.tally.partial.len(), usize::from(is_lifted), "{report}");
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

#[rstest]
#[case::bucket("")]
#[case::prefix("002")]
fn removal_erases_the_last_name_of_a_stopped_listing(#[case] prefix: &str) {
    let fixture = Fixture::new();
    let (_bucket, run) = stopped(&fixture);
    let index = fixture.folder.join("index");
    assert!(holds(&index, b"00299.txt"));
    jobs::remove(&fixture.context, BOX, prefix, "asked", "tester").unwrap();
    assert!(!holds(&index, b"00299.txt"));
    resume(&fixture.context, run, OFTEN).unwrap();
}

#[test]
fn stopped_listing_does_not_store_the_last_name_if_it_is_removed() {
    let fixture = Fixture::new();
    jobs::remove(&fixture.context, BOX, "00299", "asked", "tester").unwrap();
    let (_bucket, run) = stopped(&fixture);
    assert!(!holds(&fixture.folder.join("index"), b"00299.txt"));
    let report = resume(&fixture.context, run, OFTEN).unwrap();
    assert_eq!((report.counts.added, report.tally.skipped_removed), (5 * PAGE as u64 - 1, 1));
}

/// A page with these keys, as in a file.
fn page(is_truncated: bool, keys: &[&str]) -> String {
    let entry = |key: &&str| format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>");
    let entries: String = keys.iter().map(entry).collect();
    format!(
        "<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>{entries}\
         </ListBucketResult>"
    )
}

#[test]
fn checkpoint_does_not_have_the_last_name_of_a_page_if_it_is_removed() {
    let fixture = Fixture::new();
    jobs::remove(&fixture.context, BOX, "secret", "asked", "tester").unwrap();
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(1, Ordering::Relaxed);
    let first = fixture.folder.write("first.xml", page(true, &["a.txt", "secret-1"]));
    let second = fixture.folder.write("second.xml", page(false, &["secret-2", "z.txt"]));
    let ended = jobs::load(&fixture.context, &options(&[first.clone(), listing(&bucket)]), OFTEN);
    assert!(matches!(ended, Err(JobError::Source { .. })), "{ended:?}");
    let index = fixture.folder.join("index");
    assert!(holds(&index, b"a.txt") && !holds(&index, b"secret-1"));
    let report = jobs::load(&fixture.context, &options(&[first, second]), OFTEN).unwrap();
    assert_eq!((report.counts.added, report.tally.skipped_removed), (2, 2));
    assert_eq!(report.tally.partial, [""; 0], "the second page continues the first");
}

#[rstest]
#[case::elsewhere("003", 5)]
#[case::below("00123", 0)]
#[case::above("0", 0)]
#[case::of_no_listed_file("001x", 5)]
fn crawl_that_has_to_wait_drops_only_pages_with_removed_names(
    #[case] removed: &str,
    #[case] pages: i64,
) {
    let fixture = Fixture::new();
    let (bucket, _run) = stopped(&fixture);
    jobs::remove(&fixture.context, BOX, removed, "asked", "tester").unwrap();
    let prefix = "001".to_owned();
    let below = CrawlRequest { prefix, ..request_of(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![below]).unwrap();
    let outcome = fixture.crawl(Some(1)).unwrap()[0].outcome.clone();
    assert!(outcome.starts_with("failed: "), "{outcome}");
    assert_eq!(fixture.crawls()[0].pages, pages, "{outcome}");
}

#[test]
fn crawl_that_waits_again_does_not_search_its_pages_again() {
    let fixture = Fixture::new();
    let (bucket, _run) = stopped(&fixture);
    jobs::remove(&fixture.context, BOX, "no such file", "asked", "tester").unwrap();
    add_crawls(&fixture.context, vec![request_of(&bucket, "s3", BOX)]).unwrap();
    let wait = || {
        fixture.clock.advance(60);
        let outcome = fixture.crawl(Some(1)).unwrap()[0].outcome.clone();
        assert!(outcome.contains("is waiting for run"), "{outcome}");
    };
    (0..2).for_each(|_| wait());
    let erase = "DELETE FROM crawl_page";
    let pools = &fixture.context.pools;
    pools
        .write_blocking(|db| -> Result<(), database::DatabaseError> {
            Ok(db.batch_execute(erase)?)
        })
        .unwrap();
    wait();
    assert_eq!(fixture.crawls()[0].pages, 5, "a search would find that they are gone");
}

#[rstest]
#[case::elsewhere("003", 1)]
#[case::below("00123", 0)]
#[case::above("0", 0)]
fn removal_drops_pages_of_crawls_that_can_list_its_files(
    #[case] removed: &str,
    #[case] pages: i64,
) {
    let fixture = Fixture::new();
    let bucket =
        PublicBucket::start(Behaviour { keys: keys(5 * PAGE).into(), ..Behaviour::default() });
    let prefix = "001".to_owned();
    let below = CrawlRequest { prefix, ..request_of(&bucket, "s3", BOX) };
    add_crawls(&fixture.context, vec![below]).unwrap();
    bucket.behaviour.broken_from.store(2, Ordering::Relaxed);
    let outcome = fixture.crawl(Some(1)).unwrap()[0].outcome.clone();
    assert_eq!(fixture.crawls()[0].pages, 1, "{outcome}");
    jobs::remove(&fixture.context, BOX, removed, "asked", "tester").unwrap();
    assert_eq!(fixture.crawls()[0].pages, pages);
}

#[test]
fn failed_start_keeps_stopped_run() {
    let fixture = Fixture::new();
    let (_bucket, run) = stopped(&fixture);
    let list = fixture.folder.write("list.ndjson", line(A, "1", 1, 1));
    let changed = fixture.folder.write("changed.ndjson", line(A, "1", 1, 1));
    let good = Fixture::options(std::slice::from_ref(&list));
    let late = Fixture::options(std::slice::from_ref(&changed));
    std::fs::write(&changed, line(A, "12", 1, 1)).unwrap();
    let missing = Some(fixture.folder.join("no/such/folder/bad"));
    for options in [
        LoadOptions { reject: missing.clone(), ..good.clone() },
        LoadOptions { reject: Some(list), ..good.clone() },
        late,
    ] {
        assert!(jobs::load(&fixture.context, &options, OFTEN).is_err());
        let now = status(&fixture.context).unwrap();
        assert_eq!((&now["open_run"], &now["runs"][0]["id"]), (&run.into(), &run.into()));
    }
    let report = resume(&fixture.context, run, OFTEN).unwrap();
    assert_eq!(report.counts.added, 5 * PAGE as u64);
    let options = LoadOptions { reject: missing, ..good };
    let rebuilt = jobs::rebuild_from(&fixture.context, &options, OFTEN);
    assert!(rebuilt.is_err());
    let now = status(&fixture.context).unwrap();
    assert_eq!((&now["runs"][0]["state"], &now["files"]), (&"published".into(), &500.into()));
}

#[test]
fn audit_does_not_abandon_a_stopped_run() {
    let fixture = Fixture::new();
    let (bucket, run) = stopped(&fixture);
    let audited =
        |lines: &str| audit(&fixture.context, &audit_options(&bucket.address, lines), OFTEN);
    let resume = format!("run {run} was stopped and can be resumed: buckets load --resume {run};");
    let refused = audited("s3").unwrap_err().to_string();
    assert!(refused.starts_with(&resume), "{refused}");
    let report = audited("ok?x\ns3").unwrap();
    let second = &report.buckets[1];
    assert_eq!(second.state, AuditState::Unreachable, "{report:?}");
    assert!(second.reason.as_ref().is_some_and(|reason| reason.starts_with(&resume)), "{report:?}");
    assert_eq!(status(&fixture.context).unwrap()["open_run"], run);

    // The run of a killed audit does not prevent the next audit.
    let own = "UPDATE load_run SET options = \
               replace(options, '\"is_audit\":false', '\"is_audit\":true')";
    let pools = &fixture.context.pools;
    pools
        .write_blocking(|db| -> Result<(), database::DatabaseError> { Ok(db.batch_execute(own)?) })
        .unwrap();
    let report = audited("s3").unwrap();
    let listed = &report.buckets[0];
    assert_eq!((listed.state, listed.new), (AuditState::Listed, 5 * PAGE as u64), "{report:?}");
    assert_eq!(status(&fixture.context).unwrap()["open_run"], serde_json::Value::Null);
}

#[test]
fn run_that_stopped_before_a_checkpoint_writes_each_bad_line_once() {
    let fixture = Fixture::new();
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    bucket.behaviour.broken_from.store(1, Ordering::Relaxed);
    let entry = |key: &str| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>\
             <Size>1</Size></Contents>"
        )
    };
    let list = format!(
        "<ListBucketResult><IsTruncated>false</IsTruncated>{}{}</ListBucketResult>",
        entry("a.txt"),
        entry("")
    );
    let list = fixture.folder.write("list.xml", list);
    let reject = fixture.folder.join("bad");
    let both = LoadOptions {
        reject: Some(reject.clone()),
        max_errors: MaxErrors::Percent(100.0),
        ..options(&[list, listing(&bucket)])
    };
    let seldom = CheckpointPolicy { files: 1_000_000, every: Duration::from_secs(3_600) };
    let ended = jobs::load(&fixture.context, &both, seldom);
    assert!(matches!(ended, Err(JobError::Source { .. })), "{ended:?}");
    let before = std::fs::read_to_string(&reject).unwrap();
    assert_eq!(before.lines().count(), 2, "{before}");
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    assert_eq!(resume(&fixture.context, run, seldom).unwrap().tally.bad, 1);
    assert_eq!(std::fs::read_to_string(&reject).unwrap(), before);
    let rows = fixture.context.pools.read_blocking(|db| rejected_lines::of_run(db, run, 10));
    assert_eq!(rows.unwrap().len(), 1);
}

#[test]
fn refetched_page_is_read_from_start() {
    let fixture = Fixture::new();
    let first =
        PublicBucket::start(Behaviour { keys: keys(PAGE + 5).into(), ..Behaviour::default() });
    let second = PublicBucket::start(Behaviour::default());
    second.behaviour.broken_from.store(1, Ordering::Relaxed);
    let both = options(&[listing(&first), listing(&second)]);
    assert!(jobs::load(&fixture.context, &both, OFTEN).is_err());
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    let asked = first.requests();
    second.behaviour.broken_from.store(0, Ordering::Relaxed);
    let report = resume(&fixture.context, run, OFTEN).unwrap();
    assert_eq!((report.counts.added, report.counts.duplicates), (PAGE as u64 + 5, 0));
    assert_eq!(first.requests(), asked, "the first listing was complete");
}

#[test]
fn reject_file_cannot_be_source() {
    let program = Program::new();
    let folder = program.folder();
    let list = folder.write("list.ndjson", "{}\n".repeat(20));
    let other = folder.write("other.ndjson.reasons", "{}\n");
    std::fs::hard_link(&list, folder.join("hard")).unwrap();
    symlink(&list, folder.join("soft")).unwrap();
    for reject in
        [list.clone(), folder.join("hard"), folder.join("soft"), folder.join("other.ndjson")]
    {
        for command in [&["load"][..], &["load", "--dry-run"], &["rebuild"]] {
            let mut arguments = command.to_vec();
            arguments.extend([text(&list), text(&other), "--max-errors", "100"]);
            arguments.extend(["--reject", text(&reject)]);
            let ran = program.run(&arguments);
            assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.out);
            assert!(ran.errors.contains("cannot be both input and output"), "{}", ran.errors);
        }
    }
    let mut command = program.command(&["load", "-", "--reject", text(&folder.join("hard"))]);
    command.stdin(std::fs::File::open(&list).unwrap());
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    assert_eq!(std::fs::metadata(&list).unwrap().len(), 60);
    assert_eq!(std::fs::metadata(&other).unwrap().len(), 3);
    assert_eq!(program.status()["runs"], serde_json::json!([]));
}

#[test]
fn killed_removal_reports_hidden_files() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 1, 1), &line(BOX, "1", 1, 1)]);
    request(&fixture, A);
    // Does the same to the index as `remove`, for this database's first removal.
    for _killed in 0..3 {
        let mut session = Session::open(&fixture.context, "a test").unwrap();
        assert_eq!(session.writer.remove(1, 1, None, None).unwrap(), 2);
        drop(session);
        assert_eq!(status(&fixture.context).unwrap()["removals_waiting"], 1);
    }
    let removal = jobs::remove(&fixture.context, A, "", "asked", "tester").unwrap();
    assert_eq!((removal.id, removal.files), (1, 2));
    assert_eq!(jobs::remove(&fixture.context, BOX, "", "asked", "tester").unwrap().files, 1);
}

#[test]
fn waiting_for_lock_is_logged() {
    let program = Program::new();
    program.done(&["load", text(&program.source(1, 3))]);
    let lock = program.index().join("generation-1/readers.lock");
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let said = program.folder().write("said", "");
    let mut command = program.command(&["status"]);
    command.stdout(std::process::Stdio::null()).stderr(std::fs::File::create(&said).unwrap());
    let mut waiting = command.spawn().unwrap();
    let line = format!("waiting for the lock {}", text(&lock));
    testkit::until_blocking("the line", || std::fs::read_to_string(&said).unwrap().contains(&line));
    drop(held);
    assert!(waiting.wait().unwrap().success());
}

#[test]
fn old_database_does_not_drop_newer_generation() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 1, 1)]);
    for generation in [2, 3] {
        assert_eq!(jobs::rebuild(&fixture.context).unwrap().0, generation);
    }
    let put_back = |generation: u32| {
        let sql = format!("UPDATE index_state SET generation = {generation}");
        let pools = &fixture.context.pools;
        pools
            .write_blocking(|db| -> Result<(), database::DatabaseError> {
                Ok(db.batch_execute(&sql)?)
            })
            .unwrap();
    };
    for generation in [1, 2] {
        put_back(generation);
        let refused = jobs::rebuild(&fixture.context).unwrap_err().to_string();
        assert!(refused.contains("the index has generation 3"), "{refused}");
    }
    put_back(3);
    assert_eq!(status(&fixture.context).unwrap()["files"], 2);
    assert_eq!(jobs::rebuild(&fixture.context).unwrap(), (4, 2));
}

#[test]
fn killed_load_of_standard_input_does_not_stop_crawls() {
    let program = Program::new();
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let url = format!("{}/s3/", bucket.address);
    let host = ["--format", "s3", "--bucket", BOX, "--type", "aws"];
    program.done(&[&["crawl", "add", url.as_str()], &host[..]].concat());
    let mut load = waiting_load(&program);
    load.kill().unwrap();
    load.wait().unwrap();
    let run = program.status()["open_run"].to_string();
    let resumed = program.run(&["load", "--resume", &run]);
    assert_eq!(resumed.code, Some(1));
    assert!(resumed.errors.contains("it read standard input"), "{}", resumed.errors);
    let crawled = program.done(&["crawl", "run", "--allow-private"]);
    assert!(crawled.ends_with(": 3 new, 0 changed, 0 gone\n"), "{crawled}");
    assert_eq!(program.done(&["export"]).lines().count(), 3);
    assert_eq!(program.status()["open_run"], serde_json::Value::Null);
}
