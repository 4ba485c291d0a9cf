//! Indexes that do not exist yet, and indexes that are missing.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use buckets::Settings;
use buckets::engine::{EngineError, FileIndex, Folders, Generations, HeldLock, WriteLock};
use buckets::jobs::{
    CheckpointPolicy, JobContext, export, load, rebuild, rebuild_from, status, verify,
};
use database::DatabaseError;
use diesel::connection::SimpleConnection;
use parking_lot::Mutex;

use crate::app::{App, Fixture, line};

const A: &str = "a.s3.amazonaws.com";

/// Starts a server that refreshes only on request.
async fn serve(fixture: &Fixture) -> App {
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    fixture.serve_with("enterprise", settings).await
}

#[actix_web::test]
async fn reading_creates_no_index() {
    let fixture = Fixture::new();
    assert_eq!(status(&fixture.context).unwrap()["files"], 0);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
    let mut written = Vec::new();
    assert_eq!(export(&fixture.context, None, &mut written).unwrap(), 0);
    let app = serve(&fixture).await;
    assert_eq!(app.results("keywords=a&regexp=1").await, 0);
    assert!(!fixture.folder.join("index/generation-1").exists());

    fixture.load_lines(&[&line(A, "a.txt", 1, 1)]);
    assert_eq!(app.results("").await, 0, "it has not read the index yet");
    app.refresh();
    assert_eq!(app.paths("").await, ["a.txt"]);
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["filesCount"], 1);
}

#[test]
fn changed_byte_of_a_path_is_reported_and_not_copied() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "report-a.txt", 1, 1), &line(A, "report-b.txt", 1, 1)]);
    let paths = fixture.folder.join("index/generation-1/column/paths");
    let mut bytes = std::fs::read(&paths).unwrap();
    bytes[7] = b'x';
    std::fs::write(&paths, bytes).unwrap();
    let faults = verify(&fixture.context).unwrap();
    assert_eq!(faults, ["path column: rows 0 to 1 are damaged"]);
    let error = rebuild(&fixture.context).unwrap_err().to_string();
    assert!(error.ends_with("restore the index, or rebuild it: buckets rebuild PATH"), "{error}");
}

#[test]
fn damage_is_reported_before_the_index_is_read() {
    for (part, ending) in [("column", "ends"), ("words", ".fast"), ("words", ".idx")] {
        let fixture = Fixture::new();
        let lines: Vec<String> = (0..1_000).map(|n| line(A, &format!("{n}.txt"), n, n)).collect();
        fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let folder = fixture.folder.join("index/generation-1").join(part);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().ends_with(ending) {
                let file = File::options().read(true).write(true).open(path).unwrap();
                // The start of a number in `ends`.
                let at = file.metadata().unwrap().len() / 16 * 8;
                let mut bytes = [0; 2];
                file.read_exact_at(&mut bytes, at).unwrap();
                file.write_all_at(&[bytes[0] ^ 0x55, bytes[1] ^ 0x33], at).unwrap();
            }
        }
        let faults = verify(&fixture.context).unwrap();
        let is_named = |fault: &String| fault.contains("damaged") || fault.contains("invalid end");
        assert!(!faults.is_empty() && faults.iter().all(is_named), "{ending}: {faults:?}");
        let error = export(&fixture.context, None, &mut Vec::new()).unwrap_err().to_string();
        assert!(
            error.ends_with("restore the index, or rebuild it: buckets rebuild PATH"),
            "{error}"
        );
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// Folders that call functions before and after a reader opens the index for the first time.
struct Observed {
    folders: Folders,
    before: Mutex<Option<Work>>,
    after: Mutex<Option<Work>>,
}

fn done(work: &Mutex<Option<Work>>) {
    let work = work.lock().take();
    work.into_iter().for_each(|work| work());
}

impl Generations for Observed {
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        self.folders.lock(holder)
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        done(&self.before);
        let opened = self.folders.open(generation);
        done(&self.after);
        opened
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        self.folders.open_or_create(generation)
    }

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        self.folders.discard(generation, lock)
    }

    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        self.folders.sweep(current)
    }
}

/// Creates a reader with these callbacks.
fn reader(fixture: &Fixture, before: Option<Work>, after: Option<Work>) -> JobContext {
    let folders = Folders::new(fixture.folder.join("index"));
    let (before, after) = (Mutex::new(before), Mutex::new(after));
    let generations = Arc::new(Observed { folders, before, after });
    JobContext { generations, ..fixture.context.clone() }
}

#[test]
fn reader_during_first_load_keeps_its_files() {
    let fixture = Fixture::new();
    let source: String = (0..500).map(|n| line(A, &format!("{n}.txt"), 1, 1) + "\n").collect();
    let options = Fixture::options(&[fixture.folder.write("source.ndjson", source)]);
    let context = fixture.context.clone();
    let load = move || {
        let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
        load(&context, &options, checkpoints).unwrap();
    };
    let index = reader(&fixture, None, Some(Box::new(load))).open_index().unwrap();
    assert_eq!(index.summary().counts.len(), 0, "it read the index before the load");
    assert!(index.refresh().unwrap());
    assert_eq!(index.summary().counts.values().sum::<u64>(), 500);
    let mut written = Vec::new();
    assert_eq!(export(&fixture.context, None, &mut written).unwrap(), 500);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

#[test]
fn reader_during_rebuild_follows_switch() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "a.txt", 1, 1)]);
    let context = fixture.context.clone();
    let rebuild = move || assert_eq!(rebuild(&context).unwrap(), (2, 1));
    let reader = reader(&fixture, Some(Box::new(rebuild)), None);
    let mut written = Vec::new();
    assert_eq!(export(&reader, None, &mut written).unwrap(), 1);
    assert!(!fixture.folder.join("index/generation-1").exists(), "it is not created again");
}

#[actix_web::test]
async fn missing_index_is_not_treated_as_empty() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "a.txt", 1, 1)]);
    let (index, away) = (fixture.folder.join("index"), fixture.folder.join("away"));
    std::fs::rename(&index, &away).unwrap();
    let error = export(&fixture.context, None, &mut Vec::new()).unwrap_err().to_string();
    let expected = format!(
        "there is no index at {}/generation-1, although a load was published: restore it, or rebuild \
         it: buckets rebuild PATH",
        index.display()
    );
    assert_eq!(error, expected);
    assert_eq!(verify(&fixture.context).unwrap_err().to_string(), expected);
    assert_eq!(status(&fixture.context).unwrap_err().to_string(), expected);
    let app = serve(&fixture).await;
    let (code, body) = app.get("/api/v2/files").await;
    assert_eq!((code, &body["code"]), (503, &"index_not_ready".into()));
    assert!(buckets::refresh(&app.state).is_err());
    assert_eq!(app.get("/api/v2/files").await.0, 503);
    assert!(!index.exists());

    std::fs::rename(&away, &index).unwrap();
    app.refresh();
    assert_eq!(app.paths("").await, ["a.txt"]);
}

/// Folders of a process that is killed before its first switch. While the process builds the second
/// generation, a removal is requested.
struct Killed {
    folders: Folders,
    request: Mutex<Option<Work>>,
    is_locked: Mutex<bool>,
}

struct KilledLock(#[expect(dead_code, reason = "held until the drop")] WriteLock);

impl HeldLock for KilledLock {
    fn check(&self) -> Result<(), EngineError> {
        Err(EngineError::Locked("killed".to_owned()))
    }
}

impl Generations for Killed {
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        if std::mem::replace(&mut *self.is_locked.lock(), true) {
            return Err(EngineError::Locked("killed".to_owned()));
        }
        Ok(Box::new(KilledLock(self.folders.lock(holder)?)))
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        self.folders.open(generation)
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        if generation == 2 {
            done(&self.request);
        }
        self.folders.open_or_create(generation)
    }

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        self.folders.discard(generation, lock)
    }

    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        self.folders.sweep(current)
    }
}

#[test]
fn killed_rebuild_of_missing_index_can_be_repeated() {
    const B: &str = "b.s3.amazonaws.com";
    let fixture = Fixture::new();
    let lines = [line(A, "a.txt", 1, 1), line(B, "b.txt", 1, 1)].join("\n");
    let options = Fixture::options(&[fixture.folder.write("source.ndjson", lines)]);
    fixture.run(&options).unwrap();
    std::fs::rename(fixture.folder.join("index"), fixture.folder.join("away")).unwrap();
    let pools = fixture.context.pools.clone();
    let request: Work = Box::new(move || {
        let sql = format!(
            "INSERT INTO removal (address, prefix, reason, operator, requested_at) \
             VALUES ('{A}', '', 'asked', 'tester', 1)"
        );
        pools
            .write_blocking(|db| -> Result<(), DatabaseError> { Ok(db.batch_execute(&sql)?) })
            .unwrap();
    });
    let generations = Arc::new(Killed {
        folders: Folders::new(fixture.folder.join("index")),
        request: Mutex::new(Some(request)),
        is_locked: Mutex::new(false),
    });
    let killed = JobContext { generations, ..fixture.context.clone() };
    let often = CheckpointPolicy { files: 1, every: std::time::Duration::from_secs(60) };
    let error = rebuild_from(&killed, &options, often).unwrap_err().to_string();
    assert!(error.contains("killed"), "{error}");
    assert!(fixture.folder.join("index/generation-2/words/meta.json").exists());

    assert!(rebuild(&fixture.context).is_err(), "there is nothing to copy");
    let (generation, report) = rebuild_from(&fixture.context, &options, often).unwrap();
    assert_eq!((generation, report.counts.added), (2, 1));
    let mut written = Vec::new();
    assert_eq!(export(&fixture.context, None, &mut written).unwrap(), 1);
    assert!(String::from_utf8(written).unwrap().contains(B));
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
    fixture.run(&options).unwrap();
}
