//! The two traits that every engine implements.

use std::sync::Arc;

use super::error::EngineError;
use super::journal::{IndexSummary, Journal, Mode, NamedBucket, PublishCounts};
use super::limits::Limits;
use crate::model::Attributes;
use crate::model::file_query::{FileQuery, FileRow, Found, Position, SortKey};
use crate::model::identity::Identity;

/// A file to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Bucket that holds it.
    pub bucket: u64,
    /// Code of the bucket's type.
    pub kind: u64,
    /// Path inside the bucket, as listed.
    pub path: String,
    /// Its attributes, none of them negative.
    pub attributes: Attributes,
}

impl NewFile {
    /// A file of an index, to be added to another one.
    pub fn of_row(row: FileRow, kind: u64) -> Self {
        let FileRow { id: _, bucket, path, attributes } = row;
        Self { bucket, kind, path, attributes }
    }
}

/// An index that can be searched.
pub trait FileIndex: Send + Sync {
    /// Answers a search on one published state.
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError>;

    /// The state that searches see now.
    fn summary(&self) -> Arc<IndexSummary>;

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

    /// Rows of replaced and removed files that are kept until a rebuild; an engine that drops them
    /// itself has none.
    fn dead_rows(&self) -> Result<u64, EngineError> {
        Ok(0)
    }

    /// Sets the identity that the next commit records.
    fn identify(&mut self, identity: Identity);

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
    /// files that were visible, also when a process was killed on the way and this one ends it. What was added since the last checkpoint becomes durable with the
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
        position: Position::After(SortKey { value: 0, id: 0 }),
        limit: 20_000,
        ..FileQuery::default()
    };
    loop {
        let found = index.search(&query, limits)?;
        for row in found.rows {
            each(row)?;
        }
        let Some(next) = found.next else { return Ok(()) };
        query.position = Position::After(next);
    }
}
