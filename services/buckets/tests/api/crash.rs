//! The program is killed at random moments; nothing published is lost, nothing half is seen.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use testkit::{Database, Folder};

const FILES: usize = 4_000;

/// The program on a database and an index of its own.
struct Program {
    database: Database,
    folder: Folder,
}

impl Program {
    fn new() -> Self {
        Self { database: Database::new(), folder: Folder::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
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

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs and expects success; gives what was printed.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {text}{errors}");
        text
    }

    /// Starts and kills it after a while; true when it had ended by itself.
    fn killed(&self, arguments: &[&str], after: Duration) -> bool {
        let mut command = self.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(after);
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        ended
    }

    /// Writes a source whose files all carry a mark.
    fn source(&self, mark: usize) -> PathBuf {
        let mut text = Vec::new();
        for file in 0..FILES {
            writeln!(
                text,
                r#"{{"bucket":"b{}.s3.amazonaws.com","fullPath":"dir/{file} mark-{mark}.txt","size":{mark}}}"#,
                file % 7
            )
            .unwrap();
        }
        self.folder.write(format!("source-{mark}.ndjson"), text)
    }

    /// What is published: the one mark of all files and their number.
    fn published(&self) -> (Option<String>, usize) {
        assert_eq!(self.done(&["verify"]), "the index is sound\n");
        let export = self.done(&["export"]);
        let mark = |line: &str| line.split("mark-").nth(1).map(|rest| rest.to_owned());
        let marks: Vec<String> = export
            .lines()
            .filter_map(|line| Some(mark(line)?.split('.').next()?.to_owned()))
            .collect();
        let first = marks.first().cloned();
        assert!(marks.iter().all(|mark| Some(mark) == first.as_ref()), "two publishes mixed");
        (first, marks.len())
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Moments spread over the whole run; no randomness, so that a failure comes back.
fn moments(round: usize) -> Duration {
    Duration::from_millis(15 + (round as u64 * 61) % 400)
}

#[test]
fn killed_loads_publish_all_or_nothing() {
    let program = Program::new();
    let first = program.source(0);
    program.done(&["load", text(&first)]);
    let mut last = (Some("0".to_owned()), FILES);
    for round in 1..=10 {
        let source = program.source(round);
        program.killed(&["load", text(&source)], moments(round));
        let now = program.published();
        let whole = (Some(round.to_string()), FILES);
        assert!(now == last || now == whole, "round {round}: {now:?} after {last:?}");
        last = now;
    }
    let source = program.source(99);
    program.done(&["load", text(&source)]);
    assert_eq!(program.published(), (Some("99".to_owned()), FILES));
}

#[test]
fn a_killed_load_is_resumed_from_its_last_checkpoint() {
    let program = Program::new();
    let mut resumed = 0;
    for round in 1..=8 {
        let source = program.source(round);
        program.killed(&["load", text(&source)], moments(round * 3));
        let status: serde_json::Value =
            serde_json::from_str(&program.done(&["status", "--json"])).unwrap();
        if let Some(run) = status["open_run"].as_u64() {
            resumed += 1;
            program.done(&["load", "--resume", &run.to_string()]);
            assert_eq!(program.published(), (Some(round.to_string()), FILES), "round {round}");
        }
    }
    assert!(resumed > 0, "no run was stopped while it was open");
}

#[test]
fn a_changed_source_ends_a_resume() {
    let program = Program::new();
    let source = program.source(1);
    let mut run = None;
    for wait in (20..2_000).step_by(40) {
        program.killed(&["load", text(&source)], Duration::from_millis(wait));
        let status = program.done(&["status", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        run = status["open_run"].as_u64();
        if run.is_some() {
            break;
        }
    }
    let run = run.expect("a run that was stopped").to_string();
    let mut file = std::fs::OpenOptions::new().append(true).open(&source).unwrap();
    file.write_all(b"\n").unwrap();
    let output = program.run(&["load", "--resume", &run]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("changed since the run began"));
    assert_eq!(program.published().1, 0);
}

#[test]
fn killed_removals_and_rebuilds_leave_a_sound_index() {
    let program = Program::new();
    let source = program.source(5);
    program.done(&["load", text(&source)]);
    let mut left = FILES;
    for round in 0..6 {
        let address = format!("b{round}.s3.amazonaws.com");
        program.killed(&["remove", &address], moments(round * 2));
        program.killed(&["rebuild"], moments(round * 3 + 1));
        let (_, now) = program.published();
        assert!(now <= left, "round {round}");
        program.done(&["remove", &address]);
        let (_, now) = program.published();
        let share = (0..FILES).filter(|file| file % 7 > round).count();
        assert_eq!(now, share, "round {round}");
        left = now;
    }
    program.done(&["rebuild"]);
    assert_eq!(program.published().1, left);
}

#[test]
fn exit_codes_and_sentences() {
    let program = Program::new();
    let bad = program.folder.write("bad.ndjson", "{}\n".repeat(1_200));
    let output = program.run(&["load", text(&bad)]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing was published"));
    assert_eq!(program.run(&["load"]).status.code(), Some(2));
    let missing = program.run(&["load", "missing.ndjson"]);
    assert_eq!(missing.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&missing.stderr).lines().count(), 1);
    assert_eq!(program.run(&["load", "--resume", "77"]).status.code(), Some(1));
    assert_eq!(program.run(&["unremove", "a.s3.amazonaws.com"]).status.code(), Some(1));
}
