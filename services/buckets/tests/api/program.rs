//! The program as a process of its own, which can be killed and measured.

use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::Served;

/// The program on a database and an index of its own.
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

    /// The program on a SQLite database in its data folder.
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

    /// The program on a database of its own and the files of a cluster.
    pub fn on_cluster(url: &str, name: Option<&str>) -> Self {
        let program = Self::new().0.setting("ENGINE", "cluster").setting("CLUSTER_URL", url);
        Self(match name {
            Some(name) => program.setting("CLUSTER_NAME", name),
            None => program,
        })
    }

    pub fn status(&self) -> serde_json::Value {
        self.json(&["status"])
    }

    /// Starts it and kills it after a while.
    pub fn killed(&self, arguments: &[&str], after: Duration) {
        let mut process = self.start(arguments);
        std::thread::sleep(after);
        process.kill();
    }

    /// Starts it and kills it as soon as `now` says so; false when it ended before.
    pub fn killed_when(&self, arguments: &[&str], now: impl Fn() -> bool) -> bool {
        self.start(arguments).kill_when(now)
    }

    /// A server of it, which soon sees what is published.
    pub fn served(&self, arguments: &[&str]) -> Served {
        let mut command = self.command(&["serve"]);
        command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0");
        command.env("RUST_LOG", "info").env("RELOAD_MS", "50").args(arguments);
        Served::start(command)
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
        self.folder().write(format!("source-{mark}.ndjson"), text)
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
        self.folder().join("data/index")
    }

    /// The journal of a generation, as its last commit has it.
    pub fn journal(&self, generation: u32) -> Option<serde_json::Value> {
        let meta = self.index().join(format!("generation-{generation}/words/meta.json"));
        let meta: serde_json::Value = serde_json::from_slice(&std::fs::read(meta).ok()?).ok()?;
        serde_json::from_str(meta["payload"].as_str()?).ok()
    }
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
