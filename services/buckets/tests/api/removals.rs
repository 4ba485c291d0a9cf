use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use buckets::Settings;
use buckets::jobs::{
    self, CheckpointPolicy, CrawlOptions, CrawlRequest, KeyLimits, RemoteOptions, add_crawls,
    list_crawls, run_crawls, verify,
};
use buckets::model::CrawlLists;
use buckets::store::crawl_pages;
use database::{DatabaseError, Db};
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use rstest::rstest;
use serde_json::json;
use testkit::Served;

use crate::app::{Fixture, line};
use crate::failing_index::FailingSearches;
use crate::program::{Program, holds, text};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

pub const A: &str = "secret-bucket.s3.amazonaws.com";
pub const B: &str = "b.s3.amazonaws.com";

fn remove(fixture: &Fixture, prefix: &str) -> i64 {
    jobs::remove(&fixture.context, A, prefix, "asked by the owner", "tester").unwrap().files
}

#[actix_web::test]
async fn removed_bucket_is_erased_and_not_reloaded() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "zyzzyvas/old.txt", 1, 1)]);
    fixture.load_lines(&[&line(A, "zyzzyvas/new.txt", 1, 1), &line(B, "other.txt", 1, 1)]);
    let app = fixture.serve("free").await;
    assert_eq!(app.results("").await, 2);
    assert!(
        holds(&fixture.folder.join("index"), b"zyzzyvas/old.txt"),
        "replaced rows stay until purged"
    );
    assert_eq!(remove(&fixture, ""), 1);
    app.refresh();
    assert_eq!(app.paths("").await, ["other.txt"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["meta"]["results"], 1);
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["filesCount"], 1);
    assert!(!holds(&fixture.folder.join("index"), b"zyzzyvas"), "no word and no path is left");
    let report =
        fixture.load_lines(&[&line(A, "zyzzyvas/new.txt", 1, 1), &line(B, "more.txt", 1, 1)]);
    assert_eq!((report.tally.skipped_removed, report.tally.bad), (1, 0));
    app.refresh();
    assert_eq!(app.paths("").await, ["more.txt"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["meta"]["results"], 1);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

#[test]
fn removal_covers_all_addresses_of_a_bucket() {
    let fixture = Fixture::new();
    let forms = [
        "never.s3.amazonaws.com",
        "never.s3.eu-west-1.amazonaws.com",
        "s3.dualstack.us-east-1.amazonaws.com/never",
    ];
    let lines: Vec<String> = forms.iter().map(|form| line(form, "a.txt", 1, 1)).collect();
    let other = line(B, "other.txt", 1, 1);
    fixture.load_lines(&[&lines[0], &lines[1], &other]);
    let removed = jobs::remove(&fixture.context, "s3://never", "", "law", "tester").unwrap();
    assert_eq!((removed.address.as_str(), removed.files), (forms[0], 2));
    let report = fixture.load_lines(&[&lines[0], &lines[1], &lines[2], &other]);
    assert_eq!((report.tally.skipped_removed, report.tally.files), (3, 1));
    assert_eq!(jobs::unremove(&fixture.context, forms[2], "", "tester").unwrap(), 2);
    let report = fixture.load_lines(&[&lines[0], &lines[1], &lines[2], &other]);
    assert_eq!((report.tally.skipped_removed, report.counts.added), (0, 3));
}

#[rstest]
#[case("acc.blob.core.windows.net/box", "acc-secondary.blob.core.windows.net/box")]
#[case("acc-secondary.blob.core.windows.net/box", "acc.dfs.core.windows.net/box")]
#[case("n.fra1.digitaloceanspaces.com", "n.fra1.cdn.digitaloceanspaces.com")]
#[case("n.fra1.cdn.digitaloceanspaces.com", "n.fra1.digitaloceanspaces.com")]
fn removal_covers_the_second_name_of_a_bucket(#[case] given: &str, #[case] other: &str) {
    let fixture = Fixture::new();
    let lines = [given, other].map(|form| line(form, "a.txt", 1, 1));
    fixture.load_lines(&[&lines[0], &lines[1]]);
    assert_eq!(jobs::remove(&fixture.context, given, "", "law", "tester").unwrap().files, 2);
    assert_eq!(fixture.stored_files(), 0);
}

/// Otherwise, a command that is killed in between would leave the other addresses visible.
#[test]
fn all_addresses_of_a_bucket_are_requested_at_once() {
    let fixture = Fixture::new();
    let forms = ["never.s3.amazonaws.com", "never.s3.eu-west-1.amazonaws.com"];
    let lines = forms.map(|form| line(form, "a.txt", 1, 1));
    fixture.load_lines(&[&lines[0], &lines[1]]);
    let refuse = match fixture.context.pools.file() {
        Some(_) => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON removal WHEN NEW.address = '{}' \
             BEGIN SELECT RAISE(ABORT, 'refused'); END",
            forms[1]
        ),
        None => format!(
            "CREATE FUNCTION refuse() RETURNS trigger AS \
             'BEGIN RAISE EXCEPTION ''refused''; END' LANGUAGE plpgsql; \
             CREATE TRIGGER refuse BEFORE INSERT ON removal FOR EACH ROW \
             WHEN (NEW.address = '{}') EXECUTE FUNCTION refuse()",
            forms[1]
        ),
    };
    execute(&fixture, &refuse);
    jobs::remove(&fixture.context, forms[0], "", "law", "tester").unwrap_err();
    let requested = "UPDATE removal SET reason = reason";
    let mut db = fixture.context.pools.connect().unwrap();
    assert_eq!(diesel::sql_query(requested).execute(&mut db).unwrap(), 0);
}

#[test]
fn bad_lines_of_a_removed_bucket_are_skipped() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    remove(&fixture, "");
    let long = line(A, &"secret".repeat(1_000), 1, 1);
    let without_size = line(A, "secret", -1, 1);
    let of_other_type = json!({ "bucket": "s3://secret-bucket", "type": "gcp", "key": "secret" });
    let lines = [long, without_size, of_other_type.to_string(), line(B, "more.txt", 1, 1)];
    let report = fixture.load_lines(&lines.each_ref().map(String::as_str));
    assert_eq!((report.tally.skipped_removed, report.tally.bad), (3, 0));
}

#[test]
fn removal_erases_bad_lines_from_the_database_file() {
    let program = Program::in_file();
    let bad = |n: usize| {
        format!(r#"{{"bucket":"{A}","fullPath":"customer-badline-zebra-{n}","size":-5}}"#)
    };
    let lines: Vec<String> = (0..30).map(bad).chain([line(A, "good.txt", 1, 1)]).collect();
    let source = program.folder().write("source.ndjson", lines.join("\n"));
    program.done(&["load", "--max-errors", "99%", text(&source)]);
    let data = program.folder().join("data");
    assert!(holds(&data, b"badline-zebra"));
    program.done(&["remove", A]);
    assert!(!holds(&data, b"badline-zebra"));
}

/// A backup may copy the rows of a removal after they were erased, and its documents before they were
/// deleted.
#[test]
fn removal_of_a_prefix_deletes_files_whose_paths_are_erased() {
    let fixture = Fixture::new();
    let name = "private/zyzzyvas.txt";
    fixture.load_lines(&[&line(A, name, 1, 1), &line(A, "public/1", 1, 1)]);
    let paths = fixture.folder.join("index/generation-1/column/paths");
    let mut bytes = std::fs::read(&paths).unwrap();
    let at = bytes.windows(name.len()).position(|part| part == name.as_bytes()).unwrap();
    bytes[at..at + name.len()].fill(0);
    std::fs::write(&paths, bytes).unwrap();
    // The copied checksum is marked as changing.
    let sums = paths.with_file_name("sums");
    let mut bytes = std::fs::read(&sums).unwrap();
    bytes[8..12].copy_from_slice(&1_u32.to_le_bytes());
    std::fs::write(&sums, bytes).unwrap();
    assert_ne!(verify(&fixture.context).unwrap(), Vec::<String>::new());
    assert_eq!(remove(&fixture, "private/"), 1);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
    assert_eq!(jobs::rebuild(&fixture.context).unwrap(), (2, 1));
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

/// On PostgreSQL, both lock the rows of the crawl and of the bucket.
#[test]
fn removal_and_crawl_that_hides_its_bucket_do_not_block_each_other() {
    let fixture = Fixture::new();
    if fixture.context.pools.file().is_some() {
        return;
    }
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    let of_bucket = CrawlRequest {
        url: "s3://secret-bucket".to_owned(),
        every_seconds: 60,
        ..CrawlRequest::default()
    };
    add_crawls(&fixture.context, vec![of_bucket]).unwrap();
    // Separate connections, because a process's writers take turns.
    let [mut crawler, mut watcher] = [(), ()].map(|()| fixture.context.pools.connect().unwrap());
    crawler.batch_execute("BEGIN; UPDATE crawl SET outcome = 'refused'").unwrap();
    let context = fixture.context.clone();
    let remove = move || jobs::remove(&context, A, "", "asked", "tester");
    let removing = std::thread::spawn(remove);
    testkit::until_blocking("the removal waits for the crawl", || {
        let waiting = "SELECT count(*) AS number FROM pg_stat_activity \
            WHERE wait_event_type = 'Lock' AND datname = current_database()";
        let found: Number = diesel::sql_query(waiting).get_result(&mut watcher).unwrap();
        found.number > 0
    });
    crawler.batch_execute("UPDATE bucket SET hidden_at = 1; COMMIT").unwrap();
    removing.join().unwrap().unwrap();
}

pub fn execute(fixture: &Fixture, sql: &str) {
    let execute = |db: &mut Db| -> Result<(), DatabaseError> { Ok(db.batch_execute(sql)?) };
    fixture.context.pools.write_blocking(execute).unwrap();
}

#[test]
fn removal_during_verify_is_not_a_fault() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    fixture.load_lines(&[&line(B, "1", 1, 1)]);
    let context = fixture.context.clone();
    let removing = move || drop(jobs::remove(&context, A, "", "asked", "tester").unwrap());
    let mut verified = fixture.context.clone();
    verified.generations =
        FailingSearches::after_verification(&fixture.context.generations, removing);
    assert_eq!(verify(&verified).unwrap(), Vec::<String>::new());
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

#[actix_web::test]
async fn prefix_removal_keeps_other_files() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "private/1", 1, 1), &line(A, "public/1", 1, 1)]);
    assert_eq!(remove(&fixture, "private/"), 1);
    let report = fixture.load_lines(&[&line(A, "private/2", 1, 1), &line(A, "public/2", 1, 1)]);
    assert_eq!(report.tally.skipped_removed, 1);
    let app = fixture.serve("free").await;
    assert_eq!(app.paths("").await, ["public/2"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["buckets"][0]["fileCount"], 1);
}

#[test]
fn list_of_removed_files_replaces_the_other_files_of_its_bucket() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "private/1", 1, 1), &line(A, "public/1", 1, 1)]);
    assert_eq!(remove(&fixture, "private/"), 1);
    let report = fixture.load_lines(&[&line(A, "private/1", 1, 1)]);
    assert_eq!((report.tally.skipped_removed, report.counts.removed), (1, 1));
}

#[actix_web::test]
async fn unremoved_bucket_returns_with_next_load() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    remove(&fixture, "");
    let lifted = jobs::unremove(&fixture.context, "s3://secret-bucket", "a mistake", "tester");
    assert_eq!(lifted.unwrap(), 1);
    let app = fixture.serve("free").await;
    assert_eq!(app.results("").await, 0);
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    app.refresh();
    assert_eq!(app.paths("").await, ["1"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["buckets"][0]["id"], 1);
}

#[test]
fn unknown_bucket_can_be_removed() {
    let fixture = Fixture::new();
    assert_eq!(remove(&fixture, ""), 0);
    let report = fixture.load_lines(&[&line(A, "1", 1, 1), &line(B, "1", 1, 1)]);
    assert_eq!((report.tally.skipped_removed, report.counts.added), (1, 1));
}

#[test]
fn repeated_removal_is_one_entry() {
    let program = Program::new();
    let source = program.folder().write("a.ndjson", line(A, "1", 1, 1));
    program.done(&["load", text(&source)]);
    let remove = |reason: &str| program.json(&["remove", A, "--reason", reason])["files"].clone();
    let listed = || program.json(&["removals"]).as_array().unwrap().len();
    assert_eq!((remove("asked"), remove("asked"), listed()), (json!(1), json!(0), 1));
    let again = program.done(&["remove", A, "--reason", "asked"]);
    assert!(again.starts_with(&format!("{A}: no file is indexed, so nothing was removed; ")));
    let other = program.done(&["remove", B, "--prefix", "dir/"]);
    let none = format!("{B}: no indexed file matches the prefix dir/, so nothing was removed; ");
    assert!(other.starts_with(&none), "{other}");
    assert_eq!((remove("asked again"), listed()), (json!(0), 3), "another reason is another entry");
    assert_eq!(program.json(&["unremove", A])["lifted"], 2);
    assert_eq!((remove("asked"), listed()), (json!(0), 4), "a lifted removal has ended");
}

#[test]
fn removals_are_reported_as_json() {
    let program = Program::new();
    program.done(&["migrate"]);
    let removed = program.json(&["remove", A, "--reason", "asked"]);
    assert_eq!((&removed["address"], &removed["files"]), (&json!(A), &json!(0)));
    assert_eq!(program.json(&["unremove", A]), json!({ "address": A, "lifted": 1 }));
    let sound = json!({ "faults": [], "paths_without_checksum": 0 });
    assert_eq!(program.json(&["verify"]), sound);
}

/// Issues a key without a rate limit.
fn unlimited_key(program: &Program) -> String {
    program.done(&["plans", "set", "enterprise", "--per-minute", "10000000", "--burst", "100000"]);
    program.done(&["keys", "issue", "tester", "--plan", "enterprise"]).trim().to_owned()
}

/// Returns the total of all files, and the number of files in a bucket, which is 0 if the bucket is
/// not listed.
async fn counted(server: &Served, key: &str, address: &str) -> (u64, u64) {
    let get = async |path: String| -> serde_json::Value {
        let answer = server.get(&path).bearer_auth(key).send().await.unwrap();
        answer.json().await.unwrap()
    };
    let all = get("/api/v2/files?limit=1".to_owned()).await["meta"]["results"].as_u64().unwrap();
    let buckets = get(format!("/api/v2/buckets?keywords={address}&exact=1")).await;
    (all, buckets["buckets"][0]["fileCount"].as_u64().unwrap_or(0))
}

/// Starts a load that has read a file of the bucket `b1` and is waiting for more of its source.
pub fn waiting_load(program: &Program) -> std::process::Child {
    let mut command = program.command(&["load", "--mode", "append", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut load = command.spawn().unwrap();
    let late = line("b1.s3.amazonaws.com", "dir/1 mark-1.late", 1, 1);
    let other = line("b2.s3.amazonaws.com", "dir/late mark-1.txt", 1, 1);
    load.stdin.as_mut().unwrap().write_all(format!("{late}\n{other}\n").as_bytes()).unwrap();
    testkit::until_blocking("the load begins", || !program.status()["open_run"].is_null());
    load
}

#[rstest]
#[case::bucket(&[], (60, 0), 61)]
#[case::prefix(&["--prefix", "dir/1 "], (69, 9), 70)]
#[actix_web::test]
async fn removal_takes_effect_while_load_waits_for_source(
    #[case] options: &[&str],
    #[case] hidden: (u64, u64),
    #[case] published: u64,
) {
    const B1: &str = "b1.s3.amazonaws.com";
    let program = Program::new();
    program.done(&["load", text(&program.source(1, 70))]);
    let key = unlimited_key(&program);
    let servers = [program.served(&[]), program.served(&[])];
    let mut load = waiting_load(&program);
    let mut removal = program.start(&[&["remove", B1], options].concat());
    for server in &servers {
        let is_hidden = async || counted(server, &key, B1).await == hidden;
        testkit::until("the files are hidden", is_hidden).await;
    }
    assert_eq!(program.done(&["export"]).lines().count() as u64, hidden.0);
    assert_eq!(removal.wait(), Some(0), "the load erases the files while it waits");
    assert_eq!(program.status()["removals_waiting"], 0);
    assert!(!holds(&program.index(), b"dir/1 mark-1"));
    drop(load.stdin.take());
    assert!(load.wait().unwrap().success());
    for server in &servers {
        let is_published = async || counted(server, &key, B1).await == (published, hidden.1);
        testkit::until("the load is published", is_published).await;
    }
    assert!(!holds(&program.index(), b"dir/1 mark-1"));
}

#[actix_web::test]
async fn killed_removal_is_completed_by_server() {
    const B1: &str = "b1.s3.amazonaws.com";
    let program = Program::new();
    program.done(&["load", text(&program.source(1, 70))]);
    let key = unlimited_key(&program);
    let mut load = waiting_load(&program);
    // Otherwise the load would erase the files.
    let stopped = Command::new("kill").args(["-STOP", &load.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let waits = || program.status()["removals_waiting"] == 1;
    assert!(program.killed_when(&["remove", B1], waits));
    let refused = program.run(&["unremove", B1]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("its files are not erased yet"), "{}", refused.errors);
    load.kill().unwrap();
    load.wait().unwrap();
    assert!(waits() && holds(&program.index(), b"dir/1 mark-1"));
    assert!(!program.done(&["export"]).contains(B1));
    let server = program.served(&[]);
    assert_eq!(counted(&server, &key, B1).await, (60, 0));
    testkit::until("the server erases the files", async || !waits()).await;
    assert!(!holds(&program.index(), b"dir/1 mark-1"));
    assert_eq!(counted(&server, &key, B1).await, (60, 0));
}

#[test]
fn removal_deletes_stored_pages_and_bad_lines() {
    let program = Program::new();
    let keys: Vec<String> = (0..3 * PAGE).map(|number| format!("{number:05}.txt")).collect();
    let bucket = PublicBucket::start(Behaviour { keys: keys.into(), ..Behaviour::default() });
    let url = format!("{}/s3/", bucket.address);
    let host = ["--format", "s3", "--bucket", A, "--type", "aws"];
    program.done(&[&["crawl", "add", url.as_str()], &host[..]].concat());
    let run = ["crawl", "run", "1", "--allow-private", "--attempts", "1", "--crawl-rate", "1000"];
    bucket.behaviour.broken_from.store(3, Ordering::Relaxed);
    assert_eq!(program.run(&run).code, Some(1));
    bucket.behaviour.broken_from.store(0, Ordering::Relaxed);
    let bad =
        format!("{{\"bucket\": \"{A}\", \"fullPath\": \"zyzzyvas\"\n{}\n", line(B, "1", 1, 1));
    let source = program.folder().write("bad.ndjson", bad);
    program.done(&["load", "--max-errors", "1", text(&source)]);
    let pages = || program.json(&["crawl", "list"])[0]["pages"].clone();
    let rejected = || program.status()["rejected"].as_array().unwrap().len();
    assert_eq!((pages(), rejected()), (json!(2), 1));

    program.done(&["remove", A]);
    assert_eq!((pages(), rejected()), (json!(0), 0));
    let requests = bucket.requests();
    let refused = program.run(&run);
    assert!(
        refused.out.ends_with(": failed: the bucket is on the removal list\n"),
        "{}",
        refused.out
    );
    assert_eq!((refused.code, bucket.requests()), (Some(1), requests));
    program.done(&["unremove", A]);
    assert!(program.done(&run).ends_with(": 300 new, 0 changed, 0 gone\n"));
    assert_eq!(bucket.requests(), requests + 3, "the listing started again");
}

#[rstest]
#[case::bucket("", "the bucket is on the removal list")]
#[case::prefix(
    "00000",
    "another process is listing crawl 1, or the crawl was removed, or a takedown dropped its pages"
)]
fn removal_during_a_listing_ends_it(#[case] prefix: &str, #[case] reason: &str) {
    let fixture = Fixture::new();
    let keys: Vec<String> = (0..20 * PAGE).map(|number| format!("{number:05}.txt")).collect();
    let bucket = PublicBucket::start(Behaviour { keys: keys.into(), ..Behaviour::default() });
    let request = CrawlRequest {
        url: format!("{}/s3/", bucket.address),
        format: Some("s3".to_owned()),
        bucket: Some(A.to_owned()),
        kind: Some("aws".to_owned()),
        every_seconds: 3_600,
        ..CrawlRequest::default()
    };
    add_crawls(&fixture.context, vec![request]).unwrap();
    let options = CrawlOptions {
        remote: RemoteOptions { rate: 2.0, ..RemoteOptions::default() },
        removal_limit: None,
        lease_seconds: 30,
        lists: CrawlLists::default(),
        listing_bytes: CrawlOptions::LISTING_BYTES,
        turn: None,
        of_keys: KeyLimits::default(),
    };
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let listed = || list_crawls(&fixture.context).unwrap()[0].pages;
    let outcomes = std::thread::scope(|scope| {
        let run = || run_crawls(&fixture.context, None, &options, checkpoints).unwrap();
        let crawling = scope.spawn(run);
        testkit::until_blocking("the first page is stored", || listed() > 0);
        assert_eq!(remove(&fixture, prefix), 0);
        crawling.join().unwrap()
    });
    assert_eq!(outcomes[0].outcome, format!("failed: {reason}"));
    let left = |db: &mut Db| crawl_pages::bytes(db, 1);
    assert_eq!((listed(), fixture.context.pools.read_blocking(left).unwrap()), (0, 0));
}
