//! The program as a process that tests can kill and measure.

use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::Served;

/// The program with its own database and index.
pub struct Program(testkit::Program);

impl Deref for Program {
    type Target = testkit::Program;

    fn deref(&self) -> &testkit::Program {
        &self.0
    }
}

impl Program {
    pub fn new() -> Self {
        Self::with(testkit::Program::new(env!("CARGO_BIN_EXE_buckets")).with_database())
    }

    /// Creates a program whose SQLite database is in its data folder.
    pub fn in_file() -> Self {
        Self::with(testkit::Program::new(env!("CARGO_BIN_EXE_buckets")))
    }

    fn with(program: testkit::Program) -> Self {
        let data = program.folder().join("data");
        let program = program
            .setting("DATA_DIR", data)
            .setting("CHECKPOINT_FILES", "700")
            .setting("LOAD_MEMORY_MB", "64")
            .setting("RUST_LOG", "warn");
        Self(program)
    }

    /// Creates a program with its own database and an index in a cluster.
    pub fn on_cluster(url: &str, name: Option<&str>) -> Self {
        let program = Self::new().0.setting("ENGINE", "cluster").setting("CLUSTER_URL", url);
        Self(match name {
            Some(name) => program.setting("CLUSTER_NAME", name),
            None => program,
        })
    }

    /// Returns the status, also if the first command was killed before it created its tables.
    pub fn status(&self) -> serde_json::Value {
        self.done(&["migrate"]);
        self.json(&["status"])
    }

    /// Starts a command and kills it after a delay.
    pub fn killed(&self, arguments: &[&str], after: Duration) {
        let mut process = self.start(arguments);
        // Timing: the test chooses the time of the kill.
        std::thread::sleep(after);
        process.kill();
    }

    /// Starts a command and kills it when `now` returns true. Returns false if it ended earlier.
    pub fn killed_when(&self, arguments: &[&str], now: impl Fn() -> bool) -> bool {
        self.start(arguments).kill_when(now)
    }

    /// Starts a server that refreshes often.
    pub fn served(&self, arguments: &[&str]) -> Served {
        let mut command = self.command(&["serve"]);
        command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0");
        command.env("RUST_LOG", "info").env("RELOAD_MS", "50").args(arguments);
        Served::start(command)
    }

    /// Writes a source whose files carry a mark.
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
        self.folder().write(format!("source-{mark}.ndjson"), text)
    }

    /// Verifies the index. Returns the mark that all published files carry, and their number.
    pub fn published(&self) -> (Option<usize>, usize) {
        assert_eq!(self.done(&["verify"]), "the index is sound\n");
        let export = self.done(&["export"]);
        let mark = |line: &str| line.split("mark-").nth(1)?.split('.').next()?.parse().ok();
        let marks: Vec<Option<usize>> = export.lines().map(mark).collect();
        let first = marks.first().copied().flatten();
        assert!(marks.iter().all(|mark| mark.is_some() && *mark == first), "two publishes mixed");
        (first, marks.len())
    }

    /// Returns the folder of the index.
    pub fn index(&self) -> PathBuf {
        self.folder().join("data/index")
    }

    /// Returns the journal in the last commit of a generation.
    pub fn journal(&self, generation: u32) -> Option<serde_json::Value> {
        let meta = self.index().join(format!("generation-{generation}/words/meta.json"));
        let meta: serde_json::Value = serde_json::from_slice(&std::fs::read(meta).ok()?).ok()?;
        serde_json::from_str(meta["payload"].as_str()?).ok()
    }
}

/// Returns true if any file in a folder contains these bytes.
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
