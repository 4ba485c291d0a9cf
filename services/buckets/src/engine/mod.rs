//! The file index: one trait, and the engines behind it.
//!
//! An engine holds file rows and nothing else. Words, extensions, addresses, packages and their
//! limits are settled before a query reaches it; it only compares. Every engine passes the same
//! conformance suite, which asks it and a naive model the same random questions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::model::file_query::{FileQuery, FileRow, Found, Place, Position};

pub mod bitmap;
pub mod cluster;
pub mod embedded;
pub mod generations;

/// Why an engine did not answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The time limit passed, or nobody waits for the answer any more.
    #[error("the search was stopped at its time limit")]
    Stopped,
    /// Another process writes.
    #[error("the index is being written: {0}")]
    Locked(String),
    /// The index does not exist yet.
    #[error("there is no index at {0}")]
    Missing(String),
    /// The expression uses a construct that this engine does not have.
    #[error("{0}")]
    Unsupported(String),
    /// Files are damaged or unreadable.
    #[error("index: {0}")]
    Broken(String),
    /// The search library failed.
    #[error("index: {0}")]
    Tantivy(#[from] tantivy::TantivyError),
    /// The disk failed.
    #[error("index: {0}")]
    Io(#[from] std::io::Error),
}

/// When a search has to give up.
#[derive(Clone, Debug)]
pub struct Limits {
    deadline: Instant,
    cancelled: Arc<AtomicBool>,
    /// Threads that one expression may use.
    pub threads: usize,
}

impl Limits {
    /// Stops at `deadline`.
    pub fn until(deadline: Instant, threads: usize) -> Self {
        Self { deadline, cancelled: Arc::default(), threads: threads.max(1) }
    }

    /// A handle that stops the search when it is set.
    pub fn cancel_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Fails once the search has to stop.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            Err(EngineError::Stopped)
        } else {
            Ok(())
        }
    }
}

/// A file to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Bucket that holds it.
    pub bucket: u64,
    /// Code of the bucket's type.
    pub kind: u64,
    /// Path inside the bucket, as listed.
    pub path: String,
    /// Size in bytes, not negative.
    pub size: i64,
    /// Unix seconds; 0: unknown.
    pub modified: i64,
}

/// What publishing a run does to the buckets that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They have exactly the files of the run.
    Replace,
    /// Files are added; an equal path replaces.
    Append,
}

/// A bucket that a run names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBucket {
    /// Its id.
    pub id: u64,
    /// Whether its listing says that more files follow.
    pub truncated: bool,
}

/// What a publish did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishCounts {
    /// Files whose path was new in their bucket.
    pub added: u64,
    /// Files whose path was there before.
    pub replaced: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that the run named again later.
    pub duplicates: u64,
}

/// A run that is under way, as far as its last checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRun {
    /// Id of the run.
    pub run: u64,
    /// Rows of the path column before the run.
    pub first_row: u64,
    /// Bytes of the path column before the run.
    pub first_byte: u64,
    /// The loader's own notes.
    pub progress: String,
}

/// The last publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publish {
    /// Id of the run.
    pub run: u64,
    /// Unix seconds.
    pub at: i64,
    /// The buckets that it named.
    pub buckets: Vec<NamedBucket>,
    /// What it did.
    pub counts: PublishCounts,
}

/// What an index says about itself; stored in the very commit that it describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Counts every change that a search can see.
    pub sequence: u64,
    /// Rows that were ever given out and are committed.
    pub rows: u64,
    /// Bytes of paths that are committed.
    pub bytes: u64,
    /// The run that is under way; its rows are hidden.
    pub open: Option<OpenRun>,
    /// The last publish.
    pub published: Option<Publish>,
    /// The last removal that is in force.
    pub removal: Option<i64>,
}

/// One published state, as far as a reader needs it without searching.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The journal of the state.
    pub journal: Journal,
    /// Visible files per bucket; a bucket without files is absent.
    pub counts: Arc<BTreeMap<u64, u64>>,
    /// Bytes of the index on disk.
    pub disk_bytes: u64,
}

/// An index that can be searched.
pub trait FileIndex: Send + Sync {
    /// Answers a search on one published state.
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError>;

    /// The state that searches see now.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Looks for a newer state; true when there was one.
    fn refresh(&self) -> Result<bool, EngineError>;

    /// Checks the index against itself; each text names one fault.
    fn verify(&self) -> Result<Vec<String>, EngineError>;

    /// Opens the index for writing; one writer at a time.
    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError>;
}

/// An index that is open for writing.
pub trait FileWriter: Send {
    /// The journal of the last commit.
    fn journal(&self) -> &Journal;

    /// Begins a run; its files stay hidden until its publish.
    fn begin(&mut self, run: u64) -> Result<(), EngineError>;

    /// Adds files to the run.
    fn add(&mut self, files: &[NewFile]) -> Result<(), EngineError>;

    /// Makes what was added so far durable, with the loader's own notes.
    fn checkpoint(&mut self, progress: String) -> Result<(), EngineError>;

    /// Shows the run's files and drops what they replace, in one step.
    fn publish(
        &mut self,
        mode: Mode,
        buckets: Vec<NamedBucket>,
        at: i64,
    ) -> Result<PublishCounts, EngineError>;

    /// Drops the files of the run.
    fn abort(&mut self) -> Result<(), EngineError>;

    /// Removes a bucket, or its files below a prefix, and purges their bytes; gives the number of
    /// files that were visible. What was added since the last checkpoint becomes durable with the
    /// given notes.
    fn remove(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
        progress: Option<String>,
    ) -> Result<u64, EngineError>;
}

/// Calls `each` with every visible file, by ascending id; of one bucket where one is given.
pub fn each_row<E: From<EngineError>>(
    index: &dyn FileIndex,
    bucket: Option<u64>,
    limits: &Limits,
    mut each: impl FnMut(FileRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut query = FileQuery {
        buckets: bucket.map(|bucket| vec![bucket]),
        position: Position::After(Place { value: 0, id: 0 }),
        limit: 20_000,
        ..FileQuery::default()
    };
    loop {
        let found = index.search(&query, limits)?;
        let last = found.rows.last().map(|row| row.id);
        for row in found.rows {
            each(row)?;
        }
        match last {
            Some(id) if found.more => query.position = Position::After(Place { value: 0, id }),
            _ => return Ok(()),
        }
    }
}
