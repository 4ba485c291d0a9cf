//! Tests of the cluster engine on the server `TEST_CLICKHOUSE_URL` and, if set, the cluster
//! `TEST_CLICKHOUSE_CLUSTER`.

mod crash;
mod publish;
mod removal;
mod search;

use std::io::Write;
use std::time::{Duration, Instant, SystemTime};

use buckets::engine::{
    Cluster, ClusterIndex, FileIndex, Limits, Mode, NamedBucket, NewFile, PublishCounts,
};
use buckets::model::{Attribute, Attributes, FileQuery, Keywords, Matching};
use proptest::prelude::*;

use crate::conformance::{Pair, query, step};

/// A generation on the servers that `scripts/lib/clickhouse.sh` starts.
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
    /// Returns `None` if these servers are not running.
    fn on(servers: Servers) -> Option<Self> {
        let url = std::env::var("TEST_CLICKHOUSE_URL").ok()?;
        let named = || std::env::var("TEST_CLICKHOUSE_CLUSTER").ok();
        let name = match servers {
            Servers::One => None,
            Servers::Shards => Some(named()?),
            Servers::Replicas => Some(format!("{}_replicas", named()?)),
        };
        let cluster = Cluster::connect(&url, name.as_deref()).unwrap();
        Some(Self { cluster, generation: fresh_number() })
    }

    fn open(&self) -> ClusterIndex {
        self.cluster.open_or_create(self.generation).unwrap()
    }

    fn remove(&self) {
        self.cluster.remove(self.generation, &()).unwrap();
    }
}

/// Returns a number that is unique across tests and processes.
fn fresh_number() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    (RandomState::new().hash_one(SystemTime::now()) >> 33) as u32
}

#[test]
fn missing_servers_are_reported() {
    match std::env::var("TEST_CLICKHOUSE_URL") {
        Ok(_) => assert!(Throwaway::on(Servers::One).is_some()),
        // Bypasses the capturing of output, so that it is visible even if the test passes.
        Err(_) => writeln!(
            std::io::stderr().lock(),
            "WARNING: the tests of the cluster engine were left out: TEST_CLICKHOUSE_URL is not set."
        )
        .unwrap(),
    }
}

/// RE2 supports these constructs for ASCII only, so the cluster engine rejects them.
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
            Pair::new(false, move || Box::new(opened.open())).check(&steps, &queries);
            throwaway.remove();
            Ok(())
        })
        .unwrap();
}

#[test]
fn two_shards_match_model() {
    conforms(Servers::Shards, 8);
}

#[test]
fn single_server_matches_model() {
    conforms(Servers::One, 4);
}

#[test]
fn two_replicas_match_model() {
    conforms(Servers::Replicas, 4);
}

/// A generation whose tables are dropped at the end.
struct Table {
    throwaway: Throwaway,
    index: ClusterIndex,
}

impl Table {
    /// Uses two shards if available, otherwise a single server.
    fn new() -> Option<Self> {
        let throwaway = Throwaway::on(Servers::Shards).or_else(|| Throwaway::on(Servers::One))?;
        Some(Self { index: throwaway.open(), throwaway })
    }

    /// The table with the rows of all servers.
    fn all_files(&self) -> String {
        let own = format!("default.buckets_files_{}", self.throwaway.generation);
        let shared = std::env::var("TEST_CLICKHOUSE_CLUSTER").is_ok();
        if shared { format!("{own}_all") } else { own }
    }

    fn publish(&self, run: u64, mode: Mode, files: &[(u64, &str)]) -> PublishCounts {
        let mut writer = self.index.writer(64).unwrap();
        writer.begin(run).unwrap();
        let mut all = all_of(files);
        // Files of different runs must differ.
        all.iter_mut().for_each(|file| file.attributes[Attribute::Size] = 100 + run as i64);
        writer.add(&all).unwrap();
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
        attributes: Attributes::from_fn(|_| 1),
        is_changed: false,
    };
    files.iter().map(file).collect()
}

fn named(files: &[(u64, &str)]) -> Vec<NamedBucket> {
    let ids: std::collections::BTreeSet<u64> = files.iter().map(|file| file.0).collect();
    ids.into_iter().map(|id| NamedBucket { id, truncated: false, partial: false }).collect()
}

fn words(text: &str) -> FileQuery {
    let matching = Matching::Words(Keywords::parse(text).unwrap());
    FileQuery { matching, full_path: true, ..FileQuery::default() }
}

/// Runs a statement on the first server, bypassing the engine.
fn raw(statement: &str) -> String {
    raw_at(&first_server(), statement)
}

fn first_server() -> String {
    std::env::var("TEST_CLICKHOUSE_URL").unwrap()
}

/// Returns the names of the database's tables that begin with `begin`. ClickHouse 18.16 refuses the
/// statement with code 60 or 218 if any table is dropped during it, as other tests do.
fn tables_beginning(url: &str, database: &str, begin: &str) -> Vec<String> {
    let statement = format!(
        "SELECT name FROM system.tables WHERE database = '{database}' AND startsWith(name, '{begin}')"
    );
    let mut tries = 0;
    loop {
        tries += 1;
        match answer_at(url, &statement) {
            Ok(names) => return names.lines().map(str::to_owned).collect(),
            Err(error) => {
                let is_dropped = error.contains("Code: 60,") || error.contains("Code: 218,");
                assert!(is_dropped && tries < 50, "{error}");
            }
        }
    }
}

fn raw_at(url: &str, statement: &str) -> String {
    answer_at(url, statement).unwrap_or_else(|error| panic!("{statement}: {error}"))
}

fn answer_at(url: &str, statement: &str) -> Result<String, String> {
    // Connecting to a cluster installs the TLS provider that all clients need.
    Cluster::connect(url, None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let request = reqwest::Client::new().post(url).body(statement.to_owned());
        let answer = request.send().await.unwrap();
        let succeeded = answer.status().is_success();
        let text = answer.text().await.unwrap();
        if succeeded { Ok(text) } else { Err(text) }
    })
}
