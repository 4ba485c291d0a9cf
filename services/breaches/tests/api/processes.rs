//! Two servers on the same database, which operator commands change.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use domain::Sha1Digest;
use serde_json::json;
use testkit::{Database, Folder};

const ADDRESS: &str = "someone@example.com";
const OTHER: &str = "other@example.com";

/// A server process, killed at the end of the test.
pub struct Serving {
    child: Child,
    base: String,
}

impl Serving {
    /// Returns the peak memory since the last call, in MiB.
    pub fn peak_memory(&self) -> u64 {
        let process = PathBuf::from(format!("/proc/{}", self.child.id()));
        let status = std::fs::read_to_string(process.join("status")).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        // Resets the peak; see proc_pid_clear_refs(5).
        std::fs::write(process.join("clear_refs"), "5").unwrap();
        kilobytes / 1024
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Cluster {
    pub database: Database,
    folder: Folder,
    client: reqwest::Client,
}

impl Cluster {
    pub fn new() -> Self {
        Self { database: Database::new(), folder: Folder::new(), client: testkit::client() }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::commands::command(&self.database, &self.folder, arguments);
        command
            .env("CATALOGUE_POLL_MS", "100")
            // On a busy machine, searches may have to wait.
            .env("DB_WAIT_MS", "20000")
            // Mapped pages of the database file would count as memory.
            .env("SQLITE_MMAP", "0");
        command
    }

    /// Runs a command, which must succeed. Returns its standard output.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn serve(&self) -> Serving {
        let mut command = self.command(&["serve", "--tls-mode", "off"]);
        command.args(["--bind", "127.0.0.1:0", "--admin-bind", "127.0.0.1:0"]);
        command.env("RUST_LOG", "info").env("ACCESS_LOG", "off").stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let base = lines
            .find_map(|line| {
                Some(line.unwrap().split_once("breaches serves http://")?.1.to_owned())
            })
            .unwrap();
        // Later output must not block the server.
        std::thread::spawn(move || lines.for_each(drop));
        Serving { child, base: format!("http://{}", base.trim()) }
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        self.folder.write(name, content)
    }

    pub async fn ask(&self, server: &Serving, key: &str, path: &str) -> (u16, String) {
        let request = self.client.get(format!("{}/api/v3/{path}", server.base));
        let request = request.header("user-agent", "tests");
        let response = request.header("breach-api-key", key).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Returns whether operations 1 and 15 show `ADDRESS`, and whether 8 lists the breach. The
    /// limits of these operations are high enough for polling.
    async fn polled(&self, server: &Serving, key: &str) -> [bool; 3] {
        [
            self.shows(server, key, &format!("breachedaccount/{ADDRESS}"), "Alpha").await,
            self.shows(server, key, &format!("pasteaccount/{ADDRESS}"), "Slexy").await,
            self.shows(server, key, "breaches", "\"Alpha\"").await,
        ]
    }

    /// Returns whether the response for a path contains a string.
    async fn shows(&self, server: &Serving, key: &str, path: &str, text: &str) -> bool {
        let (status, body) = self.ask(server, key, path).await;
        match status {
            200 => body.contains(text),
            404 => false,
            other => panic!("{path}: {other} {body}"),
        }
    }

    /// Returns which of the operations 1, 2, 6, 12, 13, 14, 15 show `ADDRESS`, and whether 8 lists
    /// the breach.
    async fn seen(&self, server: &Serving, key: &str) -> [bool; 8] {
        let hash = Sha1Digest::of(ADDRESS).to_string();
        let mut seen = [false; 8];
        for (place, (path, sign)) in [
            (format!("breachedaccount/{ADDRESS}"), "Alpha"),
            (format!("breachedaccount/range/{}", &hash[..6]), &hash[6..]),
            ("breacheddomain/example.com".to_owned(), "\"someone\""),
            (format!("stealerlogsbyemail/{ADDRESS}"), "shop.example"),
            ("stealerlogsbywebsitedomain/shop.example".to_owned(), ADDRESS),
            ("stealerlogsbyemaildomain/example.com".to_owned(), "\"someone\""),
            (format!("pasteaccount/{ADDRESS}"), "Slexy"),
            ("breaches".to_owned(), "\"Alpha\""),
        ]
        .into_iter()
        .enumerate()
        {
            seen[place] = self.shows(server, key, &path, sign).await;
        }
        seen
    }
}

/// The result if all operations show the address, as before any change.
const EVERYWHERE: [bool; 8] = [true; 8];

#[actix_web::test]
async fn changes_by_commands_reach_two_running_servers() {
    let cluster = Cluster::new();
    cluster.run(&["migrate"]);
    let mut logs = crate::app::entry("Alpha");
    logs["IsStealerLog"] = json!(true);
    let catalogue = cluster.file("catalogue.json", &logs.to_string());
    cluster.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let pairs = [ADDRESS, OTHER].map(|address| format!("{address},https://shop.example/\n"));
    let pairs = cluster.file("pairs.csv", &format!("email,url\n{}", pairs.concat()));
    let load_pairs = ["stealer-logs", "load", "--breach", "Alpha", pairs.to_str().unwrap()];
    cluster.run(&load_pairs);
    let paste = json!({ "Source": "Slexy", "Id": "1", "Emails": [ADDRESS] }).to_string();
    let paste = cluster.file("pastes.ndjson", &paste);
    let load_pastes = ["pastes", "load", paste.to_str().unwrap()];
    cluster.run(&load_pastes);

    let servers = [cluster.serve(), cluster.serve()];
    let hidden = [false; 8];
    let listed = |mut seen: [bool; 8]| {
        seen[7] = true;
        seen
    };
    let only_paste = [false, false, false, false, false, false, true, false];
    let not_public = [false, false, true, true, true, true, false, true];
    let sensitive = [false, false, true, true, true, true, true, true];
    let reloaded = [&load_pairs[..], &load_pastes[..]];
    let steps: [(&[&[&str]], [bool; 8]); 11] = [
        (&[], EVERYWHERE),
        (&[&["breach", "set", "Alpha", "--sensitive", "true"]], sensitive),
        (&[&["breach", "set", "Alpha", "--sensitive", "false"]], EVERYWHERE),
        (&[&["breach", "deactivate", "Alpha"]], only_paste),
        (&[&["breach", "activate", "Alpha"]], EVERYWHERE),
        (&[&["address", "opt-out", ADDRESS, "--kind", "public"]], not_public),
        (&[&["address", "opt-in", ADDRESS]], EVERYWHERE),
        (&[&["address", "opt-out", ADDRESS, "--kind", "delete"]], listed(hidden)),
        (&reloaded, EVERYWHERE),
        (&[&["breach", "retire", "Alpha", "--yes"]], listed(only_paste)),
        (&[&["address", "opt-out", ADDRESS, "--kind", "breaches"]], listed(hidden)),
    ];
    for (step, (commands, expected)) in steps.into_iter().enumerate() {
        for command in commands {
            cluster.run(command);
        }
        // Each step has its own subscriber, because domain searches are limited.
        let owner = format!("owner{step}@example.org");
        cluster.run(&["subscriber", "add", &owner]);
        cluster.run(&crate::commands::subscription(&owner, "pro5"));
        for domain in ["example.com", "shop.example"] {
            cluster.run(&["domain", "verify", &owner, domain]);
        }
        let key = cluster.run(&["keys", "issue", &owner]);
        for server in &servers {
            let polled = [expected[0], expected[6], expected[7]];
            let has_reloaded = async || cluster.polled(server, &key).await == polled;
            testkit::until(&format!("a server sees {commands:?}"), has_reloaded).await;
            assert_eq!(cluster.seen(server, &key).await, expected, "{commands:?}");
        }
    }
}

#[actix_web::test]
async fn revoked_key_is_rejected_at_once_by_two_running_servers() {
    let cluster = Cluster::new();
    cluster.run(&["migrate"]);
    let servers = [cluster.serve(), cluster.serve()];
    cluster.run(&["subscriber", "add", "owner@example.org"]);
    cluster.run(&crate::commands::subscription("owner@example.org", "pro1"));
    let issue = ["keys", "issue", "owner@example.org"];
    let keys = [cluster.run(&issue), cluster.run(&issue)];
    for server in &servers {
        let path = format!("breachedaccount/{ADDRESS}");
        assert_eq!(cluster.ask(server, &keys[0], &path).await.0, 401);
        assert_eq!(cluster.ask(server, &keys[1], &path).await.0, 404);
    }
    cluster.run(&["keys", "revoke", "2"]);
    for server in &servers {
        for path in [format!("breachedaccount/{ADDRESS}"), "subscription/status".to_owned()] {
            assert_eq!(cluster.ask(server, &keys[1], &path).await.0, 401);
        }
    }
}

#[actix_web::test]
async fn server_answers_while_another_process_loads() {
    let cluster = Cluster::new();
    cluster.run(&["migrate"]);
    let catalogue = cluster.file("catalogue.json", &crate::app::entry("Alpha").to_string());
    cluster.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    cluster.run(&["subscriber", "add", "owner@example.org"]);
    cluster.run(&crate::commands::subscription("owner@example.org", "pro5"));
    cluster.run(&["domain", "verify", "owner@example.org", "example.com"]);
    let key = cluster.run(&["keys", "issue", "owner@example.org"]);
    let server = cluster.serve();
    let lines: String = (0..40_000).map(|n| format!("user{n}@example{}.com\n", n % 500)).collect();
    let mut load = cluster.command(&["accounts", "load", "--breach", "Alpha", "-"]);
    load.stdin(Stdio::piped()).stderr(Stdio::null()).stdout(Stdio::null());
    let mut child = load.spawn().unwrap();
    // The load cannot end before its input ends. A domain search also writes, because it stores the
    // counts of the domain.
    let mut input = child.stdin.take().unwrap();
    let text = lines + "first@example.com\n";
    input.write_all(text.as_bytes()).unwrap();
    let account = "breachedaccount/user1@example1.com";
    for path in [account, "breacheddomain/example.com", account] {
        let (status, body) = cluster.ask(&server, &key, path).await;
        assert!(matches!(status, 200 | 404), "{path}: {status} {body}");
    }
    drop(input);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let (status, body) = cluster.ask(&server, &key, account).await;
        assert!(matches!(status, 200 | 404), "{status} {body}");
    };
    assert!(status.success());
    assert_eq!(cluster.ask(&server, &key, account).await.0, 200);
}

#[actix_web::test]
async fn domain_search_needs_less_memory_than_its_answer() {
    const BREACHES: usize = 40;
    const ADDRESSES: usize = 12_500;
    let cluster = Cluster::new();
    cluster.run(&["migrate"]);
    let names: Vec<_> = (0..BREACHES).map(|n| format!("{n:A>63}")).collect();
    let entries: Vec<_> = names.iter().map(|name| crate::app::entry(name)).collect();
    let catalogue = cluster.file("catalogue.json", &json!(entries).to_string());
    cluster.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let lines: String = (0..ADDRESSES).map(|n| format!("user{n}@example.com\n")).collect();
    cluster.file("lines.txt", &lines);
    let manifest: String = names.iter().map(|name| format!("{name} lines.txt\n")).collect();
    let manifest = cluster.file("manifest.txt", &manifest);
    cluster.run(&["accounts", "load", "--manifest", manifest.to_str().unwrap()]);
    cluster.run(&["subscriber", "add", "owner@example.org"]);
    cluster.run(&crate::commands::subscription("owner@example.org", "pro5"));
    cluster.run(&["domain", "verify", "owner@example.org", "example.com"]);
    let key = cluster.run(&["keys", "issue", "owner@example.org"]);
    let server = cluster.serve();
    // A small search first, so that one-time setup is not measured.
    assert_eq!(cluster.ask(&server, &key, "breachedaccount/user1@example.com").await.0, 200);
    let before = server.peak_memory();
    let (status, body) = cluster.ask(&server, &key, "breacheddomain/example.com").await;
    let after = server.peak_memory();
    assert_eq!((status, body.matches("\":[\"").count()), (200, ADDRESSES));
    let answer = body.len() as u64 / 1024 / 1024;
    assert!(
        answer >= 30 && after.saturating_sub(before) < answer - 10,
        "{before} {after} {answer} MiB"
    );
}
