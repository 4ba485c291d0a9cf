use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use buckets::Settings;
use buckets::engine::{
    EngineError, FileIndex, FileList, FileWriter, Folders, Generations, HeldLock, IndexSummary,
    Limits, Mode, WriteLock,
};
use buckets::jobs::{
    self, CheckpointPolicy, JobContext, JobError, LoadOptions, Report, Session, export, load,
    rebuild, remove, status, verify,
};
use buckets::model::{Facets, FileQuery, Found};
use testkit::Folder;

use crate::app::{Fixture, line, samples};
use crate::failing_index::FailingSearches;
use crate::program::{Program, holds, text};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

fn rebuild_from(fixture: &Fixture, options: &LoadOptions) -> Result<(u32, Report), JobError> {
    jobs::rebuild_from(&fixture.context, options, CheckpointPolicy::of(&Settings::for_tests()))
}

fn from_paths(fixture: &Fixture, paths: &[PathBuf]) -> (u32, Report) {
    rebuild_from(fixture, &Fixture::options(paths)).unwrap()
}

fn exported(fixture: &Fixture) -> String {
    let mut out = Vec::new();
    export(&fixture.context, None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn sound(fixture: &Fixture) {
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

fn folders(index: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(index).unwrap().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[actix_web::test]
async fn rebuild_drops_dead_rows_and_renumbers_files() {
    let fixture = Fixture::new();
    let bucket = "a.s3.amazonaws.com";
    for size in 1..=3 {
        fixture.load_lines(&[&line(bucket, "1", size, 1), &line(bucket, "2", size, 1)]);
    }
    // The server refreshes only on request.
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let app = fixture.serve_with("free", settings).await;
    let dead_rows = || status(&fixture.context).unwrap()["dead_rows"].clone();
    assert_eq!(dead_rows(), 4);
    let before = app.get("/api/v2/stats").await;
    assert_eq!(app.get("/api/v2/files").await.1["files"][0]["id"], "5");
    let old = fixture.folder.join("index/generation-1");
    assert_eq!(rebuild(&fixture.context).unwrap(), (2, 2));
    assert_eq!(dead_rows(), 0);
    assert!(old.exists(), "the old generation is kept while it is read");
    assert_eq!(app.get("/api/v2/files").await.1["files"][0]["id"], "5");
    app.refresh();
    assert_eq!(app.get("/api/v2/files").await.1["files"][0]["id"], "1");
    assert_eq!(app.get("/api/v2/stats").await, before);
    while old.exists() {
        app.refresh();
    }
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
    fixture.load_lines(&[&line(bucket, "3", 1, 1)]);
    app.refresh();
    assert_eq!(app.paths("").await, ["3"]);
}

#[actix_web::test]
async fn rebuild_from_sources_has_only_their_files() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "old", 1, 1), &line(A, "both", 1, 1), &line(B, "gone", 1, 1)]);
    let app = fixture.serve("enterprise").await;
    assert_eq!(app.results("").await, 3);
    let scroll = "/api/v2/files?paging-mode=scrolling&limit=1";
    let (_, page) = app.get(scroll).await;
    let id = page["meta"]["nextScrollId"].as_str().unwrap().to_owned();
    let c = "c.s3.amazonaws.com";
    let first =
        fixture.folder.write("in/1.ndjson", [line(c, "1", 7, 9), line(A, "both", 1, 1)].join("\n"));
    let second = fixture.folder.write("in/2.csv", format!("bucket,key,size\n{A},both,5\n"));
    let (generation, report) = from_paths(&fixture, &[first, second]);
    assert_eq!(generation, 2);
    assert_eq!((report.counts.added, report.counts.duplicates), (2, 1));
    assert_eq!((report.buckets_new, report.buckets_changed), (1, 1));
    app.refresh();
    let (_, files) = app.get("/api/v2/files").await;
    let rows: Vec<_> = files["files"].as_array().unwrap().iter().collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["bucket"], &rows[0]["size"]), (&c.into(), &7.into()));
    assert_eq!((&rows[1]["fullPath"], &rows[1]["size"]), (&"both".into(), &5.into()));
    let (_, buckets) = app.get("/api/v2/buckets").await;
    let names: Vec<_> =
        buckets["buckets"].as_array().unwrap().iter().map(|b| (&b["id"], &b["bucket"])).collect();
    assert_eq!(
        names,
        [(&1.into(), &A.into()), (&3.into(), &c.into())],
        "known ones keep their ids"
    );
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["awsCount"], 2);
    let (code, body) = app.get(&format!("{scroll}&scroll-id={id}")).await;
    assert_eq!((code, &body["code"]), (400, &"scroll_expired".into()));
    sound(&fixture);
    // A bucket that is loaded again keeps its id.
    fixture.load_lines(&[&line(B, "back", 1, 1)]);
    app.refresh();
    assert_eq!(app.get(&format!("/api/v2/buckets?keywords={B}")).await.1["buckets"][0]["id"], 2);
}

#[test]
fn rebuild_from_export_gives_equal_index() {
    let fixture = Fixture::with_samples();
    let before = exported(&fixture);
    let path = fixture.folder.write("export.ndjson", &before);
    let (_, report) = from_paths(&fixture, &[path]);
    assert_eq!(report.counts.added, before.lines().count() as u64);
    assert_eq!(exported(&fixture), before);
    sound(&fixture);
    let (generation, _) = from_paths(&fixture, &[samples()]);
    assert_eq!((generation, exported(&fixture)), (3, before));
    assert_eq!(folders(&fixture.folder.join("index")), ["generation-3"]);
    let status = status(&fixture.context).unwrap();
    assert_eq!(status["runs"][0]["mode"], "rebuild");
    assert_eq!(status["runs"][0]["state"], "published");
    assert_eq!(status["runs"][0]["report"]["added"], report.counts.added);
}

#[test]
fn empty_index_is_rebuilt_from_sources() {
    let fixture = Fixture::new();
    let (generation, report) = from_paths(&fixture, &[samples()]);
    assert_eq!((generation, report.counts.added), (2, 105));
    sound(&fixture);
}

#[test]
fn rebuild_skips_removed_buckets() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "zyzzyvas/1", 1, 1), &line(B, "1", 1, 1)]);
    let kept = fixture.folder.write("kept.ndjson", exported(&fixture));
    remove(&fixture.context, A, "", "asked", "tester").unwrap();
    let (_, report) = from_paths(&fixture, &[kept]);
    assert_eq!((report.tally.skipped_removed, report.counts.added), (1, 1));
    assert!(!exported(&fixture).contains(A));
    assert!(!holds(&fixture.folder.join("index"), b"zyzzyvas"));
    sound(&fixture);
}

#[test]
fn rebuild_during_verify_is_not_a_fault() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    fixture.load_lines(&[&line(B, "1", 1, 1)]);
    let kept = Fixture::options(&[fixture.folder.write("kept.ndjson", line(B, "1", 1, 1))]);
    let context = fixture.context.clone();
    let rebuilding = move || {
        let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
        assert_eq!(jobs::rebuild_from(&context, &kept, checkpoints).unwrap().0, 2);
    };
    let generations = FailingSearches::after_verification(&fixture.context.generations, rebuilding);
    let verified = JobContext { generations, ..fixture.context.clone() };
    assert_eq!(verify(&verified).unwrap(), Vec::<String>::new());
}

#[test]
fn failed_rebuild_changes_nothing() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1)]);
    let before = exported(&fixture);
    let lines: Vec<String> = (0..2_000).map(|n| line(B, &n.to_string(), 1, 1)).collect();
    let bad = fixture.folder.write("bad.ndjson", lines.join("\n") + &"\n{".repeat(30));
    match rebuild_from(&fixture, &Fixture::options(&[bad])) {
        Err(JobError::TooManyBad { bad: 21, .. }) => {}
        other => panic!("{other:?}"),
    }
    let garbage = fixture.folder.write("garbage", "what is this");
    assert!(matches!(
        rebuild_from(&fixture, &Fixture::options(&[garbage])),
        Err(JobError::Invalid(_))
    ));
    assert_eq!(exported(&fixture), before);
    sound(&fixture);
    let status = status(&fixture.context).unwrap();
    assert_eq!((&status["generation"], &status["runs"][0]["state"]), (&1.into(), &"failed".into()));
    assert_eq!(status["buckets"], 1, "a bucket that was only read is not listed");
    assert_eq!(folders(&fixture.folder.join("index")), ["generation-1"]);
}

#[test]
fn rebuild_requires_settled_runs() {
    let fixture = Fixture::new();
    let mut session = Session::open(&fixture.context, "a test").unwrap();
    session.writer.begin(7).unwrap();
    drop(session);
    let refused = rebuild_from(&fixture, &Fixture::options(&[samples()])).unwrap_err();
    assert!(refused.to_string().contains("run 7 was stopped"), "{refused}");
    assert!(rebuild(&fixture.context).is_err());
    load(
        &fixture.context,
        &Fixture::options(&[samples()]),
        CheckpointPolicy::of(&Settings::for_tests()),
    )
    .unwrap();
    assert_eq!(from_paths(&fixture, &[samples()]).0, 2);
}

/// Generations that always fail verification.
struct Unsound(Folders);

struct UnsoundIndex(Arc<dyn FileIndex>);

impl Generations for Unsound {
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        self.0.lock(holder)
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(UnsoundIndex(self.0.open(generation)?)))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(UnsoundIndex(self.0.open_or_create(generation)?)))
    }

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        self.0.discard(generation, lock)
    }

    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        self.0.sweep(current)
    }
}

impl FileIndex for UnsoundIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        self.0.search(query, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        self.0.list(query, limits)
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        self.0.facets(query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.0.summary()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        self.0.refresh()
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        Ok(vec!["a fault".to_owned()])
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.0.writer(memory_mb)
    }
}

#[test]
fn failed_copy_is_deleted() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1)]);
    let index = fixture.folder.join("index");
    let generations = Arc::new(Unsound(Folders::new(index.clone())));
    let refused = rebuild(&JobContext { generations, ..fixture.context.clone() }).unwrap_err();
    assert!(refused.to_string().ends_with(": a fault"), "{refused}");
    assert_eq!(folders(&index), ["generation-1"]);
    assert_eq!(rebuild(&fixture.context).unwrap(), (2, 1));
}

#[test]
fn server_discards_unfinished_generation() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1)]);
    let index = fixture.folder.join("index");
    let left_by_a_start = || {
        let JobContext { pools, clock, generations, .. } = fixture.context.clone();
        drop(buckets::open(pools, clock, generations, Settings::for_tests()).unwrap());
        folders(&index)
    };
    let generations = &fixture.context.generations;
    let half = generations.open_or_create(2).unwrap();
    half.writer(64).unwrap().begin(7).unwrap();
    drop(half);
    let lock = generations.lock("a rebuild").unwrap();
    assert_eq!(left_by_a_start(), ["generation-1", "generation-2"], "another process writes");
    drop(lock);
    assert_eq!(left_by_a_start(), ["generation-1"]);
    fixture.folder.write("index/generation-2/column/paths", "");
    assert_eq!(left_by_a_start(), ["generation-1"], "killed before the first commit");
    let whole = generations.open_or_create(2).unwrap();
    let mut writer = whole.writer(64).unwrap();
    writer.begin(7).unwrap();
    writer.publish(Mode::Replace, Vec::new(), 1).unwrap();
    drop((writer, whole));
    assert_eq!(left_by_a_start(), ["generation-1", "generation-2"], "it may be in use");
}

#[test]
fn several_servers_drop_an_old_generation_at_once() {
    const SERVERS: usize = 4;
    let folder = Folder::new();
    let index = folder.join("index");
    let start = Barrier::new(SERVERS);
    for _ in 0..200 {
        for name in ["readers.lock", "column/paths", "words/meta.json"] {
            folder.write(format!("index/generation-1/{name}"), "");
        }
        std::thread::scope(|scope| {
            let sweep = || {
                start.wait();
                let generations = Folders::new(index.clone());
                while !generations.sweep(2).unwrap() {}
            };
            for _ in 0..SERVERS {
                scope.spawn(sweep);
            }
        });
        assert!(!index.join("generation-1").exists());
    }
}

#[test]
fn load_warns_if_most_rows_are_dead() {
    let program = Program::new();
    let told = |mark: usize| {
        let ran = program.run(&["load", text(&program.source(mark, 10))]);
        ran.errors.contains("20 of 30 rows in the index belong to replaced or removed files")
    };
    assert_eq!([told(1), told(2), told(3)], [false, false, true]);
    assert_eq!(program.status()["dead_rows"], 20);
    program.done(&["rebuild"]);
    assert_eq!(program.status()["dead_rows"], 0);
}
