//! The traits that every engine implements.

use std::collections::HashSet;
use std::sync::Arc;

use super::bitmap::Bitmap;
use super::error::EngineError;
use super::journal::{IndexSummary, Journal, Mode, NamedBucket, PublishCounts};
use super::limits::Limits;
use super::newer_files::NewerFiles;
use super::removal_limit::RemovalLimit;
use crate::model::Attributes;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, FileRow, Found, Position, SortKey};
use crate::model::identity::Identity;

/// A file to add to the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Bucket id.
    pub bucket: u64,
    /// Bucket type code.
    pub kind: u64,
    /// Path within the bucket, exactly as listed.
    pub path: String,
    pub attributes: Attributes,
    /// Whether the file replaces an existing file even if all attributes are equal.
    pub is_changed: bool,
}

impl NewFile {
    /// Converts a row from one index to a file that can be added to another.
    pub fn of_row(row: FileRow, kind: u64) -> Self {
        let FileRow { id: _, bucket, path, attributes } = row;
        Self { bucket, kind, path, attributes, is_changed: false }
    }
}

/// An index that can be searched.
pub trait FileIndex: Send + Sync {
    /// Runs a search on a single published state.
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError>;

    /// Runs a search whose results can be read in chunks, all from the same published state.
    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError>;

    /// Counts search results by bucket and by extension, in a single published state. Ignores the
    /// query's order, position and limit.
    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError>;

    /// Describes the state that searches currently see.
    fn summary(&self) -> Arc<IndexSummary>;

    /// Checks for a newer state. Returns `true` if there was one.
    fn refresh(&self) -> Result<bool, EngineError>;

    /// Checks the consistency of the index and describes each problem.
    ///
    /// # Errors
    /// Returns [`EngineError::Locked`] if other processes delete rows during each attempt.
    fn verify(&self) -> Result<Vec<String>, EngineError>;

    /// Opens the index for writing. There can only be one writer at a time.
    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError>;
}

/// Results of a search, in order and from a single published state.
pub trait FileList: Send {
    /// Total number of results, including results that aren't in the list.
    fn total(&self) -> u64;

    /// Number of files in the list.
    fn files(&self) -> u64;

    /// Reads up to `count` more files. Returns `None` at the end. Files erased since the search are
    /// skipped, so the result can be empty even before the end.
    ///
    /// # Errors
    /// Returns [`EngineError::Stopped`] if the state is no longer complete.
    fn next(&mut self, count: usize, limits: &Limits) -> Result<Option<Vec<FileRow>>, EngineError>;
}

/// An empty list.
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

/// Restricts what a writer's publishes can change. By default, there are no restrictions.
#[derive(Clone, Debug, Default)]
pub struct PublishRules {
    /// Limits the number of files that a publish is allowed to remove.
    pub removal_limit: Option<RemovalLimit>,
    /// Files that publishes neither remove nor replace. They count as unchanged if the run contains
    /// their paths. There are two exceptions: the run's files replace kept files, and a file that
    /// the run marks as changed replaces a confirmed file with equal attributes, because the other
    /// run might have missed the change.
    pub newer: Option<NewerFiles>,
    /// Buckets whose unchanged files are recorded in the journal by a publish.
    pub noted: HashSet<u64>,
    /// Unix time at which the run's listing began, for the journal.
    pub begun_at: i64,
}

/// An index that can be written to.
pub trait FileWriter: Send {
    /// The journal of the last commit.
    fn journal(&self) -> &Journal;

    /// Number of rows left over from replaced and removed files. These rows take up space until a
    /// rebuild. Engines that delete them return 0.
    fn dead_rows(&self) -> Result<u64, EngineError> {
        Ok(0)
    }

    /// Sets the identity to store with the next commit.
    fn identify(&mut self, identity: Identity);

    /// Returns this writer's publish rules. Callers can change them.
    fn rules(&mut self) -> &mut PublishRules;

    /// Starts a run. Its files stay hidden until it is published.
    fn begin(&mut self, run: u64) -> Result<(), EngineError>;

    /// Adds files to the run.
    fn add(&mut self, files: &[NewFile]) -> Result<(), EngineError>;

    /// Commits the files added so far, along with the loader's progress.
    fn checkpoint(&mut self, progress: String) -> Result<(), EngineError>;

    /// Publishes the run atomically and drops the files it replaces.
    ///
    /// # Errors
    /// Returns [`EngineError::TooManyRemoved`] if the limit is exceeded. The run stays open in this
    /// case.
    fn publish(
        &mut self,
        mode: Mode,
        buckets: Vec<NamedBucket>,
        at: i64,
    ) -> Result<PublishCounts, EngineError>;

    /// Returns the buckets in which this writer's last publish added, replaced or removed files.
    fn changed_buckets(&self) -> &Bitmap;

    /// Drops the files of the run.
    fn abort(&mut self) -> Result<(), EngineError>;

    /// Removes a bucket, or its files below a prefix, and erases their data. Returns the number of
    /// files that were visible before, including files hidden by an earlier attempt that was
    /// killed. If a run is open, this also commits the files added so far, along with `progress`.
    fn remove(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
        progress: Option<String>,
    ) -> Result<u64, EngineError>;
}

/// Calls `each` for every visible file in ascending id order, or only for the files of one bucket.
pub fn each_row<E: From<EngineError>>(
    index: &dyn FileIndex,
    bucket: Option<u64>,
    limits: &Limits,
    each: impl FnMut(FileRow) -> Result<(), E>,
) -> Result<(), E> {
    each_row_after(index, (bucket, 0), limits, each)
}

/// Like [`each_row`], but only for files whose id is higher than `after`.
pub fn each_row_after<E: From<EngineError>>(
    index: &dyn FileIndex,
    (bucket, after): (Option<u64>, u64),
    limits: &Limits,
    mut each: impl FnMut(FileRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut query = FileQuery {
        buckets: bucket.map(|bucket| vec![bucket]),
        position: Position::After(SortKey { value: 0, id: after }),
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
