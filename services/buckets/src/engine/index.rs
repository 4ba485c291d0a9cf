//! The traits that every engine implements.

use std::sync::Arc;

use super::bitmap::Bitmap;
use super::error::EngineError;
use super::journal::{IndexSummary, Journal, Mode, NamedBucket, PublishCounts};
use super::limits::Limits;
use super::removal_limit::RemovalLimit;
use crate::model::Attributes;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, FileRow, Found, Position, SortKey};
use crate::model::identity::Identity;

/// A file to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Bucket of the file.
    pub bucket: u64,
    /// Code of the type of its bucket.
    pub kind: u64,
    /// Path inside the bucket, as in the listing.
    pub path: String,
    pub attributes: Attributes,
}

impl NewFile {
    /// Converts a row of one index to a file to add to another index.
    pub fn of_row(row: FileRow, kind: u64) -> Self {
        let FileRow { id: _, bucket, path, attributes } = row;
        Self { bucket, kind, path, attributes }
    }
}

/// A searchable index.
pub trait FileIndex: Send + Sync {
    /// Answers a search from a single published state.
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError>;

    /// Finds the files of a search once, so that they can be read in parts from the same published
    /// state.
    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError>;

    /// Counts the files of a search by bucket and by extension, in a single published state. The
    /// order, the position and the limit of the query are ignored.
    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError>;

    /// Returns the state that searches use.
    fn summary(&self) -> Arc<IndexSummary>;

    /// Looks for a newer state. Returns true if there was one.
    fn refresh(&self) -> Result<bool, EngineError>;

    /// Checks the index for consistency. Returns a description of each fault.
    fn verify(&self) -> Result<Vec<String>, EngineError>;

    /// Opens the index for writing. There can be only one writer.
    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError>;
}

/// The files of one search, in order, from a single published state.
pub trait FileList: Send {
    /// Returns the exact number of matching files, including those that the list does not contain.
    fn total(&self) -> u64;

    /// Returns the number of files in the list.
    fn files(&self) -> u64;

    /// Reads the next files, at most `count`. Returns `None` at the end. Rows erased since the
    /// search are left out, so a part may be empty.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] if the state is no longer complete.
    fn next(&mut self, count: usize, limits: &Limits) -> Result<Option<Vec<FileRow>>, EngineError>;
}

/// A list without files.
pub(super) struct NoFiles;

impl FileList for NoFiles {
    fn total(&self) -> u64 {
        0
    }

    fn files(&self) -> u64 {
        0
    }

    fn next(&mut self, _: usize, _: &Limits) -> Result<Option<Vec<FileRow>>, EngineError> {
        Ok(None)
    }
}

/// A writable index.
pub trait FileWriter: Send {
    /// Returns the journal of the last commit.
    fn journal(&self) -> &Journal;

    /// Returns the number of rows of replaced and removed files that remain until a rebuild.
    /// Engines that delete such rows return 0.
    fn dead_rows(&self) -> Result<u64, EngineError> {
        Ok(0)
    }

    /// Sets the identity to be written with the next commit.
    fn identify(&mut self, identity: Identity);

    /// Sets the limit on the number of files that later publishes may remove; `None` for no limit.
    fn limit_removals(&mut self, limit: Option<RemovalLimit>);

    /// Begins a run. Its files are hidden until they are published.
    fn begin(&mut self, run: u64) -> Result<(), EngineError>;

    /// Adds files to the run.
    fn add(&mut self, files: &[NewFile]) -> Result<(), EngineError>;

    /// Commits the files added so far, together with the loader's notes.
    fn checkpoint(&mut self, progress: String) -> Result<(), EngineError>;

    /// Atomically publishes the files of the run and drops the files that they replace.
    ///
    /// # Errors
    /// [`EngineError::TooManyRemoved`] if the limit is exceeded. The run then stays open.
    fn publish(
        &mut self,
        mode: Mode,
        buckets: Vec<NamedBucket>,
        at: i64,
    ) -> Result<PublishCounts, EngineError>;

    /// Returns the ids of the buckets in which this writer's last publish added, replaced or
    /// removed files.
    fn changed_buckets(&self) -> &Bitmap;

    /// Drops the files of the run.
    fn abort(&mut self) -> Result<(), EngineError>;

    /// Removes a bucket, or its files below a prefix, and erases their data. Returns the number of
    /// files that were visible, including those that an earlier, killed attempt hid. Also commits
    /// the files added so far, with the given notes.
    fn remove(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
        progress: Option<String>,
    ) -> Result<u64, EngineError>;
}

/// Calls `each` with every visible file, or with those of one bucket, in ascending order of id.
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
