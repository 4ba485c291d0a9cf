//! Kills the program during loads, rebuilds from sources and removals on the cluster engine.
//!
//! Like `crash.rs` for the embedded engine, but with fewer rounds: `CLUSTER_CRASH_ROUNDS` (3).

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer, until};

use super::{fresh_number, raw_at, tables_beginning};
use crate::program::{Program, text};
use crate::public_bucket::{Behaviour, PublicBucket};

const FILES: usize = 3_000;

/// The program with its own cluster database, which is dropped at the end.
struct OnCluster {
    program: Program,
    servers: Vec<String>,
    database: String,
}

impl OnCluster {
    /// Returns `None` if there is no server.
    fn new() -> Option<Self> {
        let url = std::env::var("TEST_CLICKHOUSE_URL").ok()?;
        let name = std::env::var("TEST_CLICKHOUSE_CLUSTER").ok();
        let second = name.as_ref().map(|_| url.replace("127.0.0.1", "127.0.0.2"));
        let servers: Vec<String> = [url.clone()].into_iter().chain(second).collect();
        let database = format!("crash_{}", fresh_number());
        for server in &servers {
            raw_at(server, &format!("CREATE DATABASE {database}"));
        }
        let url = format!("{url}?database={database}");
        let program = Program::on_cluster(&url, name.as_deref());
        Some(Self { program, servers, database })
    }

    /// Returns the number of rows on all servers whose path contains a string. Includes dead rows.
    fn rows_with(&self, part: &str) -> u64 {
        let generation = self.program.status()["generation"].as_u64().unwrap();
        let files = format!("{}.buckets_files_{generation}", self.database);
        let count = format!("SELECT count() FROM {files} WHERE position(path, '{part}') > 0");
        self.servers
            .iter()
            .map(|server| raw_at(server, &count).trim().parse::<u64>().unwrap())
            .sum()
    }

    fn tables(&self) -> Vec<String> {
        tables_beginning(&self.servers[0], &self.database, "")
    }
}

impl Drop for OnCluster {
    fn drop(&mut self) {
        for server in &self.servers {
            raw_at(server, &format!("DROP DATABASE IF EXISTS {}", self.database));
        }
    }
}

fn rounds() -> u32 {
    let named = std::env::var("CLUSTER_CRASH_ROUNDS").ok();
    named.and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
}

/// Returns times spread over the duration of a command. They are the same in all runs.
fn moments(whole: Duration) -> impl Iterator<Item = (usize, Duration)> {
    (1..=rounds()).map(move |round| (round as usize, whole * (2 * round - 1) / (2 * rounds())))
}

fn timed(program: &Program, arguments: &[&str]) -> Duration {
    let begin = Instant::now();
    program.done(arguments);
    // Timing: the kills fall within the duration of a command.
    begin.elapsed()
}

#[test]
fn killed_loads_are_atomic_and_resumable() {
    let Some(on) = OnCluster::new() else { return };
    let program = &on.program;
    let whole = timed(program, &["load", text(&program.source(0, FILES))]);
    let mut last = 0;
    for (round, moment) in moments(whole) {
        let source = program.source(round, FILES);
        program.killed(&["load", text(&source)], moment);
        if let Some(run) = program.status()["open_run"].as_u64() {
            assert_eq!(program.published(), (Some(last), FILES));
            program.done(&["load", "--resume", &run.to_string()]);
            assert_eq!(program.published(), (Some(round), FILES));
        }
        let (mark, files) = program.published();
        assert!([last, round].contains(&mark.unwrap()), "round {round}: {mark:?}");
        assert_eq!(files, FILES);
        last = mark.unwrap();
    }
}

#[test]
fn files_named_by_bad_lines_are_kept() {
    let Some(on) = OnCluster::new() else { return };
    let source = on.program.folder().join("list.csv");
    let load = ["load", "--bucket", "a.s3.amazonaws.com", "--max-errors", "9", text(&source)];
    for (rows, expected) in [
        ("a,1\nb,1\nc,1\n", "a 1, b 1, c 1"),
        ("b,large\na,2\n", "a 2, b 1"),
        ("a,2\n<p>503</p>\nd,1\n", "a 2, b 1, d 1"),
        ("a,3\na,large\nb,large\nc,1\n", "a 3, b 1, c 1"),
    ] {
        std::fs::write(&source, format!("key,size\n{rows}")).unwrap();
        on.program.done(&load);
        let exported = on.program.done(&["export"]);
        let files = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut files: Vec<String> = files
            .map(|file| format!("{} {}", file["fullPath"].as_str().unwrap(), file["size"]))
            .collect();
        files.sort_unstable();
        assert_eq!(files.join(", "), expected);
    }
}

#[test]
fn crawls_and_alerts_use_the_cluster() {
    let Some(on) = OnCluster::new() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(crawl_with_alert(&on.program));
}

async fn crawl_with_alert(program: &Program) {
    let keys: Vec<String> = (0..150).map(|number| format!("{number:03} backup.sql")).collect();
    let bucket = PublicBucket::start(Behaviour { keys: keys.into(), ..Behaviour::default() });
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    // The test polls with this key.
    program.done(&["plans", "set", "free", "--per-minute", "10000000", "--burst", "100000"]);
    let issued = program.json(&["keys", "issue", "tester", "--plan", "free"]);
    let key = issued["key"].as_str().unwrap();
    let serving = program.served(&["--webhook-allow-private", "on"]);
    let webhook = format!("http://{}/hook", peer.address());
    let alert = json!({"name": "ours", "query": "keywords=backup", "webhook": webhook});
    let saved = serving.request(Method::POST, "/api/v2/alerts").bearer_auth(key).json(&alert);
    assert_eq!(saved.send().await.unwrap().status(), 201);
    let url = format!("{}/s3/", bucket.address);
    program.done(&[
        "crawl",
        "add",
        &url,
        "--format",
        "s3",
        "--bucket",
        "a.s3.amazonaws.com",
        "--type",
        "aws",
    ]);
    let rates = ["--crawl-rate", "1000", "--crawl-provider-rate", "1000"];
    let ran = program.json(&[&["crawl", "run", "--allow-private"], &rates[..]].concat());
    assert_eq!((&ran[0]["complete"], &ran[0]["new"]), (&json!(true), &json!(150)));
    until("the message arrives", async || !peer.requests().is_empty()).await;
    let event: Value = serde_json::from_str(&peer.requests()[0].body).unwrap();
    assert_eq!((&event["count"], event["files"].as_array().unwrap().len()), (&json!(150), 100));
    let link = event["link"].as_str().unwrap();
    let new = async |path: &str| -> Value {
        serving.get(path).bearer_auth(key).send().await.unwrap().json().await.unwrap()
    };
    let count = |answer: &Value| answer["files"].as_array().map(Vec::len);
    // The server's port differs from its setting.
    let path = &link[link.find("/api/").unwrap()..];
    assert_eq!(count(&new(&format!("{path}&limit=1000")).await), Some(150));
    program.done(&["rebuild"]);
    let after_rebuild = async || new(path).await["code"] == "after_expired";
    until("the server sees the rebuild", after_rebuild).await;
    let all = "/api/v2/alerts/1/files?limit=1000";
    assert_eq!(count(&new(all).await), Some(150), "the new ids are those of the old order");
}

#[test]
fn killed_rebuilds_from_sources_leave_the_old_generation_or_the_new_one() {
    let Some(on) = OnCluster::new() else { return };
    let program = &on.program;
    program.done(&["load", text(&program.source(0, FILES))]);
    let whole = timed(program, &["rebuild", text(&program.source(1, FILES - 1))]);
    let mut last = (Some(1), FILES - 1);
    assert_eq!(program.published(), last);
    for (round, moment) in moments(whole) {
        let new = (Some(round + 1), FILES - round - 1);
        let source = program.source(round + 1, FILES - round - 1);
        program.killed(&["rebuild", text(&source)], moment);
        let now = program.published();
        assert!(now == last || now == new, "round {round}: {now:?}");
        last = now;
    }
    // The next rebuild drops unfinished generations. A slow server may still be executing
    // statements of a killed rebuild, whose results are dropped by the rebuild after that.
    let mut left = Vec::new();
    for _ in 0..3 {
        program.done(&["rebuild"]);
        assert_eq!(program.published(), last);
        let generation = program.status()["generation"].to_string();
        left = on.tables().into_iter().filter(|name| !name.contains(&generation)).collect();
        if left.is_empty() {
            return;
        }
    }
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn killed_removals_are_completed_by_next_writer() {
    let Some(on) = OnCluster::new() else { return };
    let program = &on.program;
    program.done(&["load", text(&program.source(5, FILES))]);
    let address = |number: usize| format!("b{number}.s3.amazonaws.com");
    let whole = timed(program, &["remove", &address(6)]);
    let share = |number: usize| (0..FILES).filter(|file| file % 7 == number).count();
    let mut left = FILES - share(6);
    for (round, moment) in moments(whole) {
        let number = round - 1;
        program.killed(&["remove", &address(number)], moment);
        let now = program.published().1;
        assert!(now == left || now == left - share(number), "round {round}: {now}");
        // Either a load or the same command completes the removal.
        if program.status()["removals_waiting"] == 1 && round % 2 == 0 {
            let other = program.folder().write("other.ndjson", "");
            assert_eq!(program.run(&["load", text(&other)]).code, Some(1));
        } else {
            program.done(&["remove", &address(number)]);
        }
        left -= share(number);
        assert_eq!(program.status()["removals_waiting"], 0);
        assert_eq!(program.published().1, left);
        assert_eq!(on.rows_with(&format!("dir/{number} mark")), 0);
    }
}

#[test]
fn audits_publish_to_the_cluster() {
    let Some(on) = OnCluster::new() else { return };
    crate::audit::check_command(&on.program);
}

#[test]
fn search_follows_rebuild_without_refresh() {
    let Some(on) = OnCluster::new() else { return };
    let program = &on.program;
    program.done(&["load", text(&program.source(1, 30))]);
    let key = program.done(&["keys", "issue", "tester", "--plan", "enterprise"]);
    let serving = program.served(&["--reload-ms", "3600000"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let search = || {
        runtime.block_on(async {
            let request = serving.get("/api/v2/files?keywords=mark&limit=5");
            let answer = request.bearer_auth(key.trim()).send().await.unwrap();
            let status = answer.status().as_u16();
            (status, answer.json::<Value>().await.unwrap())
        })
    };
    assert_eq!(search().1["meta"]["results"], 30);
    program.done(&["rebuild", text(&program.source(2, 20))]);
    assert!(!on.tables().iter().any(|name| name.starts_with("buckets_files_1")));
    let (status, answer) = search();
    assert_eq!((status, &answer["meta"]["results"]), (200, &20.into()), "{answer}");
}
