//! The cluster engine against real servers, where `TEST_CLICKHOUSE_URL` names one.

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use buckets::engine::cluster::{Cluster, ClusterIndex};
use buckets::engine::{EngineError, FileIndex, Limits, Mode, NamedBucket, NewFile, PublishCounts};
use buckets::model::expression::Expression;
use buckets::model::file_query::{FileQuery, Matching};
use buckets::model::keywords::Keywords;
use proptest::prelude::*;

use crate::conformance::{Pair, query, step};

/// A generation of its own in the servers of `scripts/lib/clickhouse.sh`.
#[derive(Clone)]
struct Throwaway {
    cluster: Cluster,
    generation: u32,
}

#[derive(Clone, Copy)]
enum Servers {
    One,
    Shards,
    Replicas,
}

impl Throwaway {
    /// `None` where there is no server.
    fn on(servers: Servers) -> Option<Self> {
        let url = std::env::var("TEST_CLICKHOUSE_URL").ok()?;
        let name = std::env::var("TEST_CLICKHOUSE_CLUSTER").unwrap();
        let name = match servers {
            Servers::One => None,
            Servers::Shards => Some(name),
            Servers::Replicas => Some(format!("{name}_replicas")),
        };
        let cluster = Cluster::connect(&url, name.as_deref()).unwrap();
        Some(Self { cluster, generation: fresh_number() })
    }

    fn open(&self) -> ClusterIndex {
        self.cluster.open_or_create(self.generation).unwrap()
    }

    fn remove(&self) {
        self.cluster.remove(self.generation).unwrap();
    }
}

/// A number that no other test uses, in this process or another one.
fn fresh_number() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    (RandomState::new().hash_one(SystemTime::now()) >> 33) as u32
}

#[test]
fn servers_are_named_or_their_absence_is_told() {
    match std::env::var("TEST_CLICKHOUSE_URL") {
        Ok(_) => assert!(Throwaway::on(Servers::Shards).is_some()),
        // Past the capture of the test's output, so that it is seen without a failure.
        Err(_) => writeln!(
            std::io::stderr().lock(),
            "WARNING: the tests of the cluster engine were left out: TEST_CLICKHOUSE_URL is not set."
        )
        .unwrap(),
    }
}

/// RE2 knows these only between ASCII letters, so the cluster refuses them.
fn is_known(query: &FileQuery) -> bool {
    match &query.matching {
        Matching::Expression(expression) => {
            !["\\b", "\\B"].iter().any(|boundary| expression.source().contains(boundary))
        }
        Matching::All | Matching::Words(_) => true,
    }
}

fn conforms(servers: Servers, cases: u32) {
    if Throwaway::on(servers).is_none() {
        return;
    }
    let config = ProptestConfig { cases, max_shrink_iters: 30, ..ProptestConfig::default() };
    let inputs = (prop::collection::vec(step(), 1..6), prop::collection::vec(query(), 40));
    proptest::test_runner::TestRunner::new(config)
        .run(&inputs, |(steps, mut queries)| {
            queries.retain(is_known);
            let throwaway = Throwaway::on(servers).unwrap();
            let opened = throwaway.clone();
            Pair::new(move || Box::new(opened.open())).check(&steps, &queries);
            throwaway.remove();
            Ok(())
        })
        .unwrap();
}

#[test]
fn two_shards_answer_like_the_model() {
    conforms(Servers::Shards, 8);
}

#[test]
fn one_server_answers_like_the_model() {
    conforms(Servers::One, 4);
}

#[test]
fn two_replicas_answer_like_the_model() {
    conforms(Servers::Replicas, 4);
}

/// The generation of a test; dropped with its tables at the end.
struct Table {
    throwaway: Throwaway,
    index: ClusterIndex,
}

impl Table {
    fn new() -> Option<Self> {
        let throwaway = Throwaway::on(Servers::Shards)?;
        Some(Self { index: throwaway.open(), throwaway })
    }

    fn publish(&self, run: u64, mode: Mode, files: &[(u64, &str)]) -> PublishCounts {
        let mut writer = self.index.writer(64).unwrap();
        writer.begin(run).unwrap();
        writer.add(&all_of(files)).unwrap();
        let counts = writer.publish(mode, named(files), 5).unwrap();
        self.index.refresh().unwrap();
        counts
    }

    fn paths(&self, query: &FileQuery) -> Vec<String> {
        let found = self.index.search(query, &seconds(30)).unwrap();
        assert_eq!(found.total, found.rows.len() as u64);
        found.rows.into_iter().map(|row| row.path).collect()
    }

    fn all(&self) -> Vec<String> {
        self.paths(&FileQuery::default())
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.throwaway.remove();
    }
}

fn seconds(seconds: u64) -> Limits {
    Limits::until(Instant::now() + Duration::from_secs(seconds), 1)
}

fn all_of(files: &[(u64, &str)]) -> Vec<NewFile> {
    let file = |&(bucket, path): &(u64, &str)| NewFile {
        bucket,
        kind: 1,
        path: path.to_owned(),
        size: 1,
        modified: 1,
    };
    files.iter().map(file).collect()
}

fn named(files: &[(u64, &str)]) -> Vec<NamedBucket> {
    let ids: std::collections::BTreeSet<u64> = files.iter().map(|file| file.0).collect();
    ids.into_iter().map(|id| NamedBucket { id, truncated: false }).collect()
}

fn words(text: &str) -> FileQuery {
    let matching = Matching::Words(Keywords::parse(text).unwrap());
    FileQuery { matching, full_path: true, ..FileQuery::default() }
}

/// Runs a statement on the first server, past the engine.
fn raw(statement: &str) -> String {
    let url = std::env::var("TEST_CLICKHOUSE_URL").unwrap();
    // Opening a cluster has chosen the provider that every client needs.
    Cluster::connect(&url, None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let request = reqwest::Client::new().post(&url).body(statement.to_owned());
        let answer = request.send().await.unwrap();
        let fine = answer.status().is_success();
        let text = answer.text().await.unwrap();
        assert!(fine, "{statement}: {text}");
        text
    })
}

#[test]
fn replacing_drops_the_old_files_of_named_buckets_only() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (2, "c")]);
    let counts = table.publish(2, Mode::Replace, &[(1, "b"), (1, "d"), (1, "d")]);
    let expected = PublishCounts { added: 1, replaced: 1, removed: 1, duplicates: 1 };
    assert_eq!(counts, expected);
    assert_eq!(table.all(), ["c", "b", "d"]);
    let counts = table.publish(3, Mode::Append, &[(2, "c"), (2, "e")]);
    assert_eq!(counts, PublishCounts { added: 1, replaced: 1, removed: 0, duplicates: 0 });
    assert_eq!(table.all(), ["b", "d", "c", "e"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn half_a_run_is_invisible_and_goes_on_from_its_checkpoint() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "old")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "kept"), (2, "kept too")])).unwrap();
    writer.checkpoint("noted".to_owned()).unwrap();
    // More than is sent at once, so that rows are stored behind the checkpoint.
    let long = "x".repeat(4_000);
    let lost: Vec<String> = (0..4_000).map(|number| format!("lost/{number}/{long}")).collect();
    let lost: Vec<(u64, &str)> = lost.iter().map(|path| (3, path.as_str())).collect();
    writer.add(&all_of(&lost)).unwrap();
    assert_eq!(table.all(), ["old"]);
    drop(writer);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["old"]);
    let mut writer = table.index.writer(64).unwrap();
    let open = writer.journal().open.clone().unwrap();
    assert_eq!((open.run, open.progress.as_str()), (2, "noted"));
    let files = format!("default.buckets_files_{}_all", table.throwaway.generation);
    assert_eq!(raw(&format!("SELECT count() FROM {files}")).trim(), "3");
    writer.add(&all_of(&[(1, "after")])).unwrap();
    writer.publish(Mode::Replace, named(&[(1, ""), (2, "")]), 6).unwrap();
    assert!(table.index.refresh().unwrap());
    assert_eq!(table.all(), ["kept", "kept too", "after"]);
}

#[test]
fn a_removal_leaves_no_byte_on_disk() {
    let Some(table) = Table::new() else { return };
    let (secret, other) = ("xqzjvkwpyfgmbhdc", "wdrtplhcnmvqzkxj");
    let gone = format!("it's/{secret}\\1.txt");
    table.publish(1, Mode::Replace, &[(1, &gone), (1, other), (2, &gone)]);
    let name = format!("buckets_files_{}", table.throwaway.generation);
    let path = raw(&format!("SELECT any(path) FROM system.parts WHERE table = '{name}'"));
    // Parts of all tables of a database lie beside each other.
    let folder = Path::new(path.trim()).parent().unwrap().parent().unwrap().to_owned();
    let number = table.throwaway.generation.to_string();
    let readable = std::fs::read_dir(&folder).is_ok();
    if readable {
        assert!(holds(&folder, &number, secret.as_bytes()));
    }
    let mut writer = table.index.writer(64).unwrap();
    assert_eq!(writer.remove(1, 1, Some("it's/"), None).unwrap(), 1);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), [other, gone.as_str()]);
    assert_eq!(writer.remove(2, 2, None, None).unwrap(), 1);
    assert_eq!(writer.journal().removal, Some(2));
    drop(writer);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), [other]);
    let words =
        format!("SELECT count() FROM {name}_all WHERE position(path_words, '{secret}') > 0");
    assert_eq!(raw(&words).trim(), "0");
    if readable {
        assert!(!holds(&folder, &number, secret.as_bytes()), "words or path are still on disk");
        assert!(!holds(&folder, &number, b"it's"), "the prefix is still on disk");
        assert!(holds(&folder, &number, other.as_bytes()));
    }
}

/// Whether a file of the generation's tables holds some bytes.
fn holds(folder: &Path, number: &str, bytes: &[u8]) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(number) {
                // Parts may be merged away meanwhile.
                let content = std::fs::read(&path).unwrap_or_default();
                if content.windows(bytes.len()).any(|window| window == bytes) {
                    return true;
                }
            }
        }
    }
    false
}

#[test]
fn a_search_sees_one_published_state() {
    let Some(table) = Table::new() else { return };
    let files = |run: u64| -> Vec<String> { (0..60).map(|n| format!("run{run}/{n}")).collect() };
    let publish = |run: u64| {
        let paths = files(run);
        let files: Vec<(u64, &str)> =
            (0..).zip(&paths).map(|(n, path)| (n % 7 + 1, path.as_str())).collect();
        table.publish(run, Mode::Replace, &files);
    };
    publish(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let paths = table.all();
                let run = paths[0].split('/').next().unwrap();
                assert!(paths.iter().all(|path| path.starts_with(run)), "{paths:?}");
                assert_eq!(paths.len(), 60);
            }
        });
        (1..6).for_each(publish);
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn one_writes_at_a_time() {
    let Some(table) = Table::new() else { return };
    let writer = table.index.writer(64).unwrap();
    assert!(matches!(table.throwaway.open().writer(64), Err(EngineError::Locked(_))));
    drop(writer);
    drop(table.index.writer(64).unwrap());
    // A holder that was silent for too long, on a machine of which nothing is known.
    let lease = format!("default.buckets_writer_{}", table.throwaway.generation);
    raw(&format!(
        "CREATE TABLE {lease} (token String, holder String, at DateTime) ENGINE = Memory"
    ));
    raw(&format!("INSERT INTO {lease} SELECT 'x', '1@elsewhere\\nrun 7', now() - 20"));
    match table.index.writer(64) {
        Err(EngineError::Locked(holder)) => assert_eq!(holder, "run 7"),
        other => panic!("{:?}", other.err()),
    }
    raw(&format!("DROP TABLE {lease}"));
    raw(&format!(
        "CREATE TABLE {lease} (token String, holder String, at DateTime) ENGINE = Memory"
    ));
    raw(&format!("INSERT INTO {lease} SELECT 'x', '1@elsewhere\\nrun 7', now() - 40"));
    let mut writer = table.index.writer(64).unwrap();
    // Another one did the same to this writer.
    raw(&format!("INSERT INTO {lease} SELECT 'y', '2@elsewhere\\nrun 8', now()"));
    assert!(matches!(writer.begin(8), Err(EngineError::Locked(_))));
    drop(writer);
    raw(&format!("DROP TABLE {lease}"));
}

#[test]
fn constructs_that_re2_lacks_are_refused() {
    let Some(table) = Table::new() else { return };
    let expression = Expression::parse(r".*\bword.*", false).unwrap();
    let matching = Matching::Expression(std::sync::Arc::new(expression));
    let query = FileQuery { matching, ..FileQuery::default() };
    match table.index.search(&query, &seconds(30)) {
        Err(EngineError::Unsupported(reason)) => assert!(reason.contains(r"\b"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let expression = Expression::parse("((1{90}){90}){9}", false);
    let Ok(expression) = expression else { return };
    let matching = Matching::Expression(std::sync::Arc::new(expression));
    let query = FileQuery { matching, ..FileQuery::default() };
    let refused = table.index.search(&query, &seconds(30));
    assert!(matches!(refused, Ok(_) | Err(EngineError::Unsupported(_))), "{refused:?}");
}

#[test]
fn odd_paths_come_back_unchanged() {
    let Some(table) = Table::new() else { return };
    let odd =
        ["it's", "back\\slash", "tab\there", "new\nline", "é/ü/漢", "'; DROP TABLE x --", "a//b//"];
    let files: Vec<(u64, &str)> = (0..).zip(odd).map(|(n, path)| (n % 3 + 1, path)).collect();
    table.publish(1, Mode::Append, &files);
    assert_eq!(table.all(), odd);
    assert_eq!(table.paths(&words("漢")), ["é/ü/漢"]);
    for path in odd {
        let literal = Expression::parse(&format!("\"{path}\""), false).unwrap();
        let matching = Matching::Expression(std::sync::Arc::new(literal));
        let query = FileQuery { matching, full_path: true, ..FileQuery::default() };
        assert_eq!(table.paths(&query), [path]);
    }
}

#[test]
fn a_server_that_is_away_is_an_error_and_no_wait() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = Cluster::connect(&format!("http://us:secret@{closed}/"), Some("any"));
    let text = refused.err().unwrap().to_string();
    assert!(text.contains("the cluster does not answer") && !text.contains("secret"), "{text}");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://us:secret@{}/", silent.local_addr().unwrap());
    assert!(Cluster::connect(&url, None).is_ok(), "one server is asked at the first use only");
    assert!(Cluster::connect("http://us:secret@", None).is_err());
}

#[test]
fn wrong_names_and_passwords_are_told_apart() {
    let Ok(url) = std::env::var("TEST_CLICKHOUSE_URL") else { return };
    let error = |url: &str, name: Option<&str>| {
        let failed = Cluster::connect(url, name).and_then(|cluster| cluster.open(1).map(drop));
        failed.unwrap_err()
    };
    let unknown = error(&url, Some("nothing")).to_string();
    assert!(unknown.contains("know no cluster nothing"), "{unknown}");
    assert!(matches!(error(&url, None), EngineError::Missing(_)));
    let wrong = error(&url.replace("throw-away", "secret"), None).to_string();
    assert!(wrong.contains("Wrong password") && !wrong.contains("secret"), "{wrong}");
}

#[test]
fn a_search_stops_at_its_limit_and_when_nobody_waits() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a")]);
    let over = Limits::until(Instant::now(), 1);
    let stopped = table.index.search(&FileQuery::default(), &over);
    assert!(matches!(stopped, Err(EngineError::Stopped)));
    let left = seconds(600);
    left.cancel_handle().store(true, Ordering::Relaxed);
    let stopped = table.index.search(&FileQuery::default(), &left);
    assert!(matches!(stopped, Err(EngineError::Stopped)));
}

#[test]
fn generations_are_listed_and_removed() {
    let Some(table) = Table::new() else { return };
    let (cluster, number) = (&table.throwaway.cluster, table.throwaway.generation);
    assert!(cluster.generations().unwrap().contains(&number));
    cluster.remove(number).unwrap();
    assert!(!cluster.generations().unwrap().contains(&number));
    assert!(matches!(cluster.open(number), Err(EngineError::Missing(_))));
    let gone = table.index.search(&words("a"), &seconds(30));
    assert!(matches!(gone, Err(EngineError::Missing(_))), "{gone:?}");
}
