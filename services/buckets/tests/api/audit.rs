//! Audits of public buckets.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use buckets::Settings;
use buckets::engine::RemovalLimit;
use buckets::jobs::{
    AuditOptions, AuditReport, AuditState, BucketAudit, CheckpointPolicy, Endpoint, RemoteOptions,
    addresses_of, audit, remove, status,
};
use diesel::connection::SimpleConnection;
use rstest::rstest;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer};

use crate::app::Fixture;
use crate::program::{Program, text};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

/// Builds options for addresses at an endpoint on loopback.
pub fn options(endpoint: &str, lines: &str) -> AuditOptions {
    let endpoint = Endpoint::parse(endpoint).unwrap();
    AuditOptions {
        addresses: addresses_of(lines, Some(&endpoint)).unwrap(),
        remote: RemoteOptions {
            rate: 1_000.0,
            first_pause: 0,
            attempts: 2,
            ..RemoteOptions::default()
        },
        removal_limit: Some(RemovalLimit::default()),
        shown: 2,
    }
}

impl Fixture {
    fn audit(&self, options: &AuditOptions) -> AuditReport {
        audit(&self.context, options, CheckpointPolicy::of(&Settings::for_tests())).unwrap()
    }

    /// Publishes a file whose bucket address is on loopback.
    fn has(&self, bucket: &str, path: &str) {
        let line = json!({"bucket": bucket, "type": "aws", "fullPath": path, "size": 1});
        self.load_lines(&[&line.to_string()]);
    }
}

fn counts(bucket: &BucketAudit) -> (u64, u64, u64, u64) {
    (bucket.new, bucket.changed, bucket.gone, bucket.unchanged)
}

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:05}.txt")).collect()
}

#[test]
fn audit_reports_changes_by_bucket() {
    let many = 2 * PAGE + 7;
    let bucket = PublicBucket::start(Behaviour { keys: keys(many).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let options = options(&bucket.address, "s3\ns3\n# twice\n");
    let report = fixture.audit(&options);
    let [first] = &report.buckets[..] else { panic!("{report:?}") };
    assert_eq!(first.bucket, format!("{}/s3", bucket.address.trim_start_matches("http://")));
    assert_eq!((first.state, first.new_bucket, first.indexed), (AuditState::Listed, true, 207));
    assert_eq!((counts(first), first.files.len()), ((many as u64, 0, 0, 0), 2));
    assert_eq!((report.has_new(), bucket.requests()), (true, 3));

    let report = fixture.audit(&options);
    assert_eq!(counts(&report.buckets[0]), (0, 0, 0, many as u64));
    assert!(!report.has_new() && report.buckets[0].files.is_empty(), "{report:?}");

    // The size of a file is the index of its key, so this changes the sizes of the last two files.
    bucket.behaviour.keys.lock().insert(many - 2, "00204-secret.sql".to_owned());
    let report = fixture.audit(&options);
    assert_eq!(counts(&report.buckets[0]), (1, 2, 0, many as u64 - 2));
    assert_eq!(report.buckets[0].files, ["00204-secret.sql", "00205.txt"]);
    assert!(report.has_new() && !report.buckets[0].new_bucket);

    bucket.behaviour.keys.lock().truncate(many - 2);
    let report = fixture.audit(&options);
    assert_eq!(counts(&report.buckets[0]), (0, 0, 3, many as u64 - 2));
    assert_eq!((report.has_new(), report.buckets[0].indexed), (false, many as u64 - 2));
}

#[test]
fn command_that_is_writing_does_not_end_an_audit() {
    let fixture = Fixture::new();
    let writing = fixture.context.generations.lock("a test").unwrap();
    let report = fixture.audit(&options("http://127.0.0.1:9", "one\ntwo"));
    let states: Vec<AuditState> = report.buckets.iter().map(|bucket| bucket.state).collect();
    assert_eq!(states, [AuditState::Unreachable; 2]);
    let reason = report.buckets[0].reason.as_deref().unwrap_or_default();
    assert!(reason.starts_with("the index is being written: "), "{reason}");
    drop(writing);
}

#[test]
fn hidden_bucket_that_was_opened_again_counts_as_new() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let options = options(&bucket.address, "s3");
    fixture.audit(&options);
    let hide = |db: &mut database::Db| -> Result<(), database::DatabaseError> {
        Ok(db.batch_execute("UPDATE bucket SET hidden_at = 1")?)
    };
    fixture.context.pools.write_blocking(hide).unwrap();
    let report = fixture.audit(&options);
    assert_eq!(counts(&report.buckets[0]), (0, 0, 0, 3));
    assert!(report.buckets[0].new_bucket && report.has_new(), "{report:?}");
    assert!(!fixture.audit(&options).has_new(), "the previous audit made it visible again");
}

#[test]
fn unreachable_buckets_keep_their_files_and_do_not_stop_others() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    fixture.has(&format!("{}/closed", bucket.address), "old.txt");
    let options = options(&bucket.address, "closed\nnothing\ncircle\ns3\nmoved");
    let report = fixture.audit(&options);
    let state = |at: usize| (report.buckets[at].state, report.buckets[at].indexed);
    assert_eq!(state(0), (AuditState::Closed, 1));
    assert_eq!(report.buckets[0].reason.as_deref(), Some("403: the bucket is not public"));
    assert_eq!(state(1), (AuditState::Missing, 0));
    assert_eq!(state(2), (AuditState::Incomplete, 0));
    let circular = report.buckets[2].reason.as_deref().unwrap();
    assert!(circular.contains("the listing is circular"), "{circular}");
    assert_eq!(state(3), (AuditState::Listed, 3));
    assert_eq!(state(4), (AuditState::Unreachable, 0));
    assert_eq!(status(&fixture.context).unwrap()["open_run"], Value::Null);
}

#[test]
fn invalid_lines_do_not_stop_others() {
    let program = Program::new();
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let file = program.folder().write("addresses.txt", "ok?x\ns3\n../etc\nnul\0/\n");
    let fast = ["--rate", "1000", "--allow-private", "--endpoint", bucket.address.as_str()];
    let arguments = [&["audit", text(&file), "--json"], &fast[..]].concat();
    let ran = program.run(&arguments);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.errors);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let bucket = |at: usize| &report["buckets"][at];
    assert_eq!((&bucket(0)["state"], &bucket(0)["bucket"]), (&json!("invalid"), &json!("ok?x")));
    let reason = "line 1: only public buckets can be listed: use the plain address";
    assert_eq!(bucket(0)["reason"], reason);
    assert_eq!((&bucket(1)["state"], &bucket(1)["indexed"]), (&json!("listed"), &json!(3)));
    assert_eq!((&bucket(2)["state"], &bucket(2)["bucket"]), (&json!("invalid"), &json!("../etc")));
    assert_eq!(bucket(3)["state"], "invalid");
    assert_eq!(program.run(&arguments).code, Some(1), "nothing is new, and lines are invalid");
}

/// Starts a server with the S3 API. Its listing of `box` never ends, and it never responds for
/// `slow`.
fn odd_server() -> HttpPeer {
    HttpPeer::start(|request| match request.target.split(['/', '?']).nth(1) {
        Some("slow") => PeerAnswer::Silence,
        _ => {
            let page = "<ListBucketResult><Name>box</Name><Contents><Key>a.txt</Key><Size>1</Size>\
                 </Contents><IsTruncated>true</IsTruncated>\
                 <NextContinuationToken>again</NextContinuationToken></ListBucketResult>";
            PeerAnswer::Body(200, page.to_owned())
        }
    })
}

#[test]
fn incomplete_listing_removes_no_file() {
    let server = odd_server();
    let fixture = Fixture::new();
    fixture.has(&format!("{}/box", server.address()), "old.txt");
    let report = fixture.audit(&options(&server.url(""), "box"));
    let bucket = &report.buckets[0];
    assert_eq!((bucket.state, bucket.indexed), (AuditState::Incomplete, 2), "{report:?}");
    assert_eq!(counts(bucket), (1, 0, 0, 0));
    assert!(report.has_new(), "the file that was read is new");
}

#[test]
fn server_cannot_forge_lines_of_the_report() {
    let server = HttpPeer::start(|_| {
        let page = "<ListBucketResult><Name>&#27;[2J&#10;box: 0 new</Name>\
                    <IsTruncated>false</IsTruncated></ListBucketResult>";
        PeerAnswer::Body(200, page.to_owned())
    });
    let text = Fixture::new().audit(&options(&server.url(""), "box")).to_string();
    assert!(text.contains(r"another bucket: \u{1b}[2J\nbox: 0 new"), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[rstest]
#[case::prefix(200, "<Prefix>p/</Prefix>", AuditState::Incomplete)]
#[case::delimiter(200, "<Delimiter>/</Delimiter>", AuditState::Incomplete)]
#[case::groups(200, "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>", AuditState::Incomplete)]
#[case::missing(200, "<KeyCount>2</KeyCount>", AuditState::Incomplete)]
#[case::whole(200, "", AuditState::Listed)]
#[case::range(206, "", AuditState::Unreachable)]
fn part_of_a_listing_is_not_complete(
    #[case] status: u16,
    #[case] part: &'static str,
    #[case] state: AuditState,
) {
    let server = HttpPeer::start(move |_| {
        let page = format!(
            "<ListBucketResult><Name>box</Name>{part}<Contents><Key>p/a.txt</Key><Size>1</Size>\
             </Contents><IsTruncated>false</IsTruncated></ListBucketResult>"
        );
        PeerAnswer::Body(status, page)
    });
    let fixture = Fixture::new();
    let report = fixture.audit(&options(&server.url(""), "box"));
    assert_eq!(report.buckets[0].state, state, "{report:?}");
    assert_eq!(report.buckets[0].reason.is_none(), state == AuditState::Listed);
}

#[test]
fn silent_and_broken_hosts_are_unreachable() {
    let server = odd_server();
    let fixture = Fixture::new();
    let mut slow = options(&server.url(""), "slow\nbox");
    (slow.remote.timeout, slow.remote.attempts) = (5, 1);
    let report = fixture.audit(&slow);
    assert_eq!(report.buckets[0].state, AuditState::Unreachable, "{report:?}");
    assert_eq!(report.buckets[1].new, 1);

    let bucket =
        PublicBucket::start(Behaviour { keys: keys(3 * PAGE).into(), ..Behaviour::default() });
    fixture.audit(&options(&bucket.address, "s3"));
    let before = bucket.requests();
    bucket.behaviour.keys.lock().clear();
    bucket.behaviour.keys.lock().extend(keys(3 * PAGE - 1));
    bucket.behaviour.broken_from.store(before + 2, Ordering::Relaxed);
    let report = fixture.audit(&options(&bucket.address, "s3"));
    assert_eq!(report.buckets[0].state, AuditState::Unreachable, "{report:?}");
    assert_eq!(report.buckets[0].indexed, 3 * PAGE as u64, "the second page failed");
    assert_eq!(bucket.requests() - before, 3, "two attempts");
    assert_eq!(status(&fixture.context).unwrap()["open_run"], Value::Null);
}

#[test]
fn private_addresses_are_not_requested() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let mut public = options(&bucket.address, "s3");
    public.remote.allows_private = false;
    let report = fixture.audit(&public);
    assert_eq!(report.buckets[0].state, AuditState::Unreachable);
    assert_eq!(report.buckets[0].reason.as_deref(), Some("the address is private"));
    let port = bucket.address.rsplit(':').next().unwrap();
    let mut named = options(&format!("http://localhost:{port}"), "s3");
    named.remote.allows_private = false;
    let report = fixture.audit(&named);
    let reason = report.buckets[0].reason.as_deref().unwrap();
    assert!(reason.contains("the name has no public address"), "{reason}");
    assert_eq!(bucket.requests(), 0);
    named.remote.allows_private = true;
    assert_eq!(fixture.audit(&named).buckets[0].new, 3);
}

#[test]
fn removed_buckets_are_not_requested() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(3).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let options = options(&bucket.address, "s3");
    fixture.audit(&options);
    let before = bucket.requests();
    remove(&fixture.context, &format!("{}/s3", bucket.address), "", "", "test").unwrap();
    let report = fixture.audit(&options);
    assert_eq!((report.buckets[0].state, report.buckets[0].indexed), (AuditState::Removed, 0));
    assert_eq!((bucket.requests(), report.has_new()), (before, false));
}

#[test]
fn bucket_that_is_removed_during_an_audit_is_not_requested() {
    let fixture = Fixture::new();
    let context = fixture.context.clone();
    let server = HttpPeer::start(move |request| {
        if request.target.starts_with("/first") {
            let removal = format!(
                "INSERT INTO removal (address, prefix, reason, operator, requested_at) \
                 VALUES ('{}/second', '', 'asked', 'tester', 1)",
                request.header("host")
            );
            let add = |db: &mut database::Db| -> Result<(), database::DatabaseError> {
                Ok(db.batch_execute(&removal)?)
            };
            context.pools.write_blocking(add).unwrap();
        }
        let page = "<ListBucketResult><Contents><Key>a.txt</Key><Size>1</Size></Contents>\
                    <IsTruncated>false</IsTruncated></ListBucketResult>";
        PeerAnswer::Body(200, page.to_owned())
    });
    let report = fixture.audit(&options(&server.url(""), "first\nsecond"));
    let states: Vec<AuditState> = report.buckets.iter().map(|bucket| bucket.state).collect();
    assert_eq!(states, [AuditState::Listed, AuditState::Removed], "{report:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn bucket_that_would_lose_most_files_is_held() {
    let bucket = PublicBucket::start(Behaviour { keys: keys(10).into(), ..Behaviour::default() });
    let fixture = Fixture::new();
    let mut options = options(&bucket.address, "s3");
    options.removal_limit = Some(RemovalLimit { files: 5, percent: 50 });
    fixture.audit(&options);
    bucket.behaviour.keys.lock().truncate(2);
    let report = fixture.audit(&options);
    assert_eq!((report.buckets[0].state, report.buckets[0].indexed), (AuditState::Held, 10));
    let reason = report.buckets[0].reason.as_deref();
    assert_eq!(reason, Some("would lose 8 of 10 files: nothing was published"));
    assert_eq!(status(&fixture.context).unwrap()["open_run"], Value::Null);
    options.removal_limit = None;
    assert_eq!(counts(&fixture.audit(&options).buckets[0]), (0, 0, 8, 2));
}

/// Runs the audit command twice, and checks its exit statuses and output.
pub fn check_command(program: &Program) {
    let bucket = PublicBucket::start(Behaviour { keys: keys(2).into(), ..Behaviour::default() });
    let file: PathBuf = program.folder().write("addresses.txt", "# ours\ns3\nclosed\n");
    let fast = ["--rate", "1000", "--allow-private", "--endpoint", bucket.address.as_str()];
    let arguments = [&["audit", text(&file)], &fast[..]].concat();
    let ran = program.run(&arguments);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.errors);
    let host = bucket.address.trim_start_matches("http://");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[..4],
        [
            format!("{host}/s3 (new bucket): 2 new, 0 changed, 0 gone").as_str(),
            "  00000.txt",
            "  00001.txt",
            format!("closed: {host}/closed, 403: the bucket is not public (0 files in the index)")
                .as_str(),
        ]
    );
    assert!(lines[4].starts_with("2 addresses in ") && lines[4].ends_with("0 of them unchanged"));

    let report = program.json(&arguments);
    assert_eq!(report["buckets"][0]["state"], "listed");
    assert_eq!(report["buckets"][0]["unchanged"], 2);
    assert_eq!(report["buckets"][1]["state"], "closed");
    bucket.behaviour.broken_from.store(1, Ordering::Relaxed);
    let once = [&arguments[..], &["--attempts", "1"]].concat();
    assert_eq!(program.run(&once).code, Some(1), "the host is broken");
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    bucket.behaviour.keys.lock().clear();
    let strict = [&arguments[..], &["--protected-files", "0"]].concat();
    assert_eq!(program.run(&strict).code, Some(4), "it would lose all files");
    let accepted = [&strict[..], &["--accept-removals"]].concat();
    assert!(program.done(&accepted).contains("/s3: 0 new, 0 changed, 2 gone\n"));
}

#[test]
fn command_has_exit_statuses_for_cron() {
    let program = Program::new();
    check_command(&program);
    let file = program.folder().write("unknown.txt", "files.example.org");
    let ran = program.run(&["audit", text(&file)]);
    assert_eq!(ran.code, Some(1));
    let invalid = "invalid: files.example.org, line 1: an unknown host requires --endpoint";
    assert!(ran.out.starts_with(invalid), "{}{}", ran.out, ran.errors);
    let empty = program.folder().write("empty.txt", "# none\n");
    assert_eq!(program.run(&["audit", text(&empty)]).code, Some(1));
    assert_eq!(program.run(&["audit", text(&file), "--endpoint", "x"]).code, Some(2));
}
