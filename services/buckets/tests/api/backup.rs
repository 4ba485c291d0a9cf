//! Backups, and what can be restored from them.

use std::path::PathBuf;

use testkit::{Exchange, Fixture, Folder, until_blocking};

use crate::program::{Program, text};

const FILES: usize = 2_000;

/// A folder for a backup, and a program that restores it.
struct Copy {
    folder: Folder,
    other: Program,
}

impl Copy {
    fn new() -> Self {
        Self { folder: Folder::new(), other: Program::in_file() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("copy")
    }

    /// Backs up a program and restores the backup. Returns the export of the restored index.
    fn restored(&self, program: &Program) -> String {
        program.done(&["backup", text(&self.path())]);
        self.other.done(&["restore", text(&self.path())]);
        assert_eq!(self.other.done(&["verify"]), "the index is sound\n");
        self.other.done(&["export"])
    }
}

#[test]
fn restored_index_has_the_same_files_and_takes_further_loads() {
    let program = Program::in_file();
    for mark in 1..=3 {
        program.done(&["load", text(&program.source(mark, FILES))]);
    }
    program.done(&["remove", "b1.s3.amazonaws.com"]);
    let copy = Copy::new();
    assert_eq!(copy.restored(&program), program.done(&["export"]));
    for own in [&program, &copy.other] {
        own.done(&["load", text(&program.source(4, FILES))]);
    }
    assert_eq!(copy.other.done(&["export"]), program.done(&["export"]));
    assert_eq!(copy.other.done(&["verify"]), "the index is sound\n");
}

#[test]
fn backup_during_loads_has_one_state() {
    let program = Program::in_file();
    program.done(&["load", text(&program.source(1, FILES))]);
    let before = program.done(&["export"]).lines().count();
    let sources: Vec<PathBuf> = (2..=9).map(|mark| program.source(mark, FILES)).collect();
    std::thread::scope(|scope| {
        let loads = scope.spawn(|| {
            for source in &sources {
                program.done(&["load", text(source)]);
            }
        });
        let mut rounds = 0;
        until_blocking("the loads have ended", || {
            let copy = Copy::new();
            let exported = copy.restored(&program).lines().count();
            assert!(exported >= before, "{exported} files after {rounds} rounds");
            rounds += 1;
            loads.is_finished()
        });
        loads.join().unwrap();
    });
}

#[test]
fn interrupted_load_resumes_after_a_restore() {
    let program = Program::in_file();
    program.done(&["load", text(&program.source(1, FILES))]);
    let source = program.source(2, FILES);
    let has_checkpoint = || program.status()["runs"].to_string().contains("running");
    if !program.killed_when(&["load", text(&source)], has_checkpoint) {
        return;
    }
    let copy = Copy::new();
    copy.restored(&program);
    copy.other.done(&["load", text(&source)]);
    program.done(&["load", text(&source)]);
    assert_eq!(copy.other.done(&["export"]), program.done(&["export"]));
    assert_eq!(copy.other.done(&["verify"]), "the index is sound\n");
}

#[test]
fn index_without_its_files_is_refused() {
    let program = Program::in_file();
    program.done(&["load", text(&program.source(1, FILES))]);
    let copy = Copy::new();
    program.done(&["backup", text(&copy.path())]);
    std::fs::remove_file(copy.path().join("index/generation-1/column/paths")).unwrap();
    let refused = copy.other.run(&["restore", text(&copy.path())]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("but the backup was complete with"), "{}", refused.errors);
    assert!(!copy.other.folder().join("data/buckets.db").exists());
}

async fn serves_the_samples(program: testkit::Program) {
    // Version 0.1.0 wrote no checksums of paths.
    let verified = program.done(&["verify"]);
    assert!(verified.starts_with("the index is sound"), "{verified}");
    let unchecked = program.json(&["verify"])["paths_without_checksum"].as_u64().unwrap();
    assert_eq!(verified.contains("checksums are absent for"), unchecked > 0, "{verified}");
    let url = "http://127.0.0.1:9/s3/";
    let bucket = "crawled.s3.amazonaws.com";
    let add =
        ["crawl", "add", url, "--format", "s3", "--bucket", bucket, "--type", "aws", "--json"];
    let ids: Vec<i64> = serde_json::from_str(&program.done(&add)).unwrap();
    program.done(&["crawl", "remove", &ids[0].to_string()]);
    let key = program.done(&["keys", "issue", "fixture", "--plan", "premium"]);
    let server = program.serve(&[]);
    let found = server.get("/api/v2/files?keywords=backup").bearer_auth(key.trim());
    let found = found.answer().await.expect(200).json();
    assert_eq!(found["meta"]["results"], 2, "{found}");
}

#[actix_web::test]
async fn data_of_every_version_are_served() {
    let program = || testkit::Program::new(env!("CARGO_BIN_EXE_buckets"));
    for fixture in Fixture::all("buckets") {
        serves_the_samples(fixture.restored(program())).await;
        if let Some(program) = fixture.on_server(program()) {
            serves_the_samples(program).await;
        }
    }
}
