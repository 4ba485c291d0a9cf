//! The program as a process of its own, which can be killed and measured.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use testkit::{Database, Folder};

/// A process that runs longer than that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program on a database and an index of its own.
pub struct Program {
    database: Database,
    pub folder: Folder,
}

/// How a process ended, and what it took.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub errors: String,
    pub peak_mib: u64,
}

impl Program {
    pub fn new() -> Self {
        Self { database: Database::new(), folder: Folder::new() }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buckets"));
        command
            .args(arguments)
            .env("DATABASE_URL", self.database.url())
            .env("AUTO_MIGRATE", "true")
            .env("DATA_DIR", self.folder.join("data"))
            .env("CHECKPOINT_FILES", "700")
            .env("LOAD_MEMORY_MB", "64")
            .env("RUST_LOG", "warn");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs and expects success; gives what was printed.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {text}{errors}");
        text
    }

    pub fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.done(&["status", "--json"])).unwrap()
    }

    /// Starts it and lets it run.
    pub fn started(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts it and kills it after a while; true when it had ended by itself.
    pub fn killed(&self, arguments: &[&str], after: Duration) -> bool {
        let mut child = self.started(arguments);
        std::thread::sleep(after);
        end(&mut child)
    }

    /// Starts it and kills it as soon as `now` says so; false when it ended before.
    pub fn killed_when(&self, arguments: &[&str], now: impl Fn() -> bool) -> bool {
        let mut child = self.started(arguments);
        while child.try_wait().unwrap().is_none() {
            if now() {
                return !end(&mut child);
            }
        }
        false
    }

    /// Runs it to its end and notes the most memory that it had.
    pub fn measured(&self, arguments: &[&str]) -> Ran {
        let (out, errors) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let mut command = self.command(arguments);
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let (begin, mut peak) = (Instant::now(), 0);
        let status = loop {
            peak = peak_mib(child.id()).unwrap_or(0).max(peak);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let text =
            |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        Ran { code: status.code(), out: text(&out), errors: text(&errors), peak_mib: peak }
    }

    /// Writes a source whose files all carry a mark.
    pub fn source(&self, mark: usize, files: usize) -> PathBuf {
        let mut text = Vec::new();
        for file in 0..files {
            writeln!(
                text,
                r#"{{"bucket":"b{}.s3.amazonaws.com","fullPath":"dir/{file} mark-{mark}.txt","size":{mark}}}"#,
                file % 7
            )
            .unwrap();
        }
        self.folder.write(format!("source-{mark}.ndjson"), text)
    }

    /// What is published, after the index was verified: the one mark of all files and their number.
    pub fn published(&self) -> (Option<usize>, usize) {
        assert_eq!(self.done(&["verify"]), "the index is sound\n");
        let export = self.done(&["export"]);
        let mark = |line: &str| line.split("mark-").nth(1)?.split('.').next()?.parse().ok();
        let marks: Vec<Option<usize>> = export.lines().map(mark).collect();
        let first = marks.first().copied().flatten();
        assert!(marks.iter().all(|mark| mark.is_some() && *mark == first), "two publishes mixed");
        (first, marks.len())
    }

    /// The folder of the index.
    pub fn index(&self) -> PathBuf {
        self.folder.join("data/index")
    }

    /// The journal of a generation, as its last commit has it.
    pub fn journal(&self, generation: u32) -> Option<serde_json::Value> {
        let meta = self.index().join(format!("generation-{generation}/words/meta.json"));
        let meta: serde_json::Value = serde_json::from_slice(&std::fs::read(meta).ok()?).ok()?;
        serde_json::from_str(meta["payload"].as_str()?).ok()
    }
}

/// A server of its own; stopped when it is dropped.
pub struct Serving {
    child: Child,
    http: String,
    admin: String,
}

impl Serving {
    pub fn start(program: &Program, settings: &[(&str, &str)]) -> Self {
        // Whoever comes second finds it installed.
        rustls::crypto::ring::default_provider().install_default().unwrap_or_default();
        let mut command = program.command(&["serve"]);
        command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0");
        command.env("RUST_LOG", "info").env("RELOAD_MS", "50");
        command.envs(settings.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut find = |mark: &str| {
            lines.find_map(|line| Some(line.unwrap().split_once(mark)?.1.trim().to_owned()))
        };
        let http = find("buckets serves ").expect("the server says where it is");
        let admin = find("health and metrics on ").expect("the server says where it is");
        // Whatever it says later must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, http, admin }
    }

    /// A GET request.
    pub fn get(&self, target: &str) -> reqwest::RequestBuilder {
        reqwest::Client::new().get(format!("{}{target}", self.http))
    }

    pub async fn metric(&self, name: &str) -> f64 {
        let text = reqwest::get(format!("{}/metrics", self.admin)).await.unwrap().text().await;
        let text = text.unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        value.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
    }

    /// The most memory that it had so far.
    pub fn peak_mib(&self) -> u64 {
        peak_mib(self.child.id()).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Kills a process; true when it had ended by itself.
fn end(child: &mut Child) -> bool {
    let ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    ended
}

/// The most memory that a process had so far.
fn peak_mib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib >> 10)
}

/// Whether any file of a folder holds these bytes.
pub fn holds(folder: &Path, bytes: &[u8]) -> bool {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.flatten().any(|entry| {
        if entry.path().is_dir() {
            return holds(&entry.path(), bytes);
        }
        let content = std::fs::read(entry.path()).unwrap();
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
