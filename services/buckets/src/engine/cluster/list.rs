//! Reads the results of a search in chunks.

use std::sync::Arc;

use super::generation::Generation;
use super::journal;
use super::search::{self, Key};
use crate::engine::error::EngineError;
use crate::engine::index::FileList;
use crate::engine::limits::Limits;
use crate::model::file_query::FileRow;

/// File id and bucket id of every file found.
pub(super) struct ClusterList {
    pub(super) generation: Arc<Generation>,
    /// Value of `purges` at the time of the search.
    pub(super) purges: u64,
    pub(super) total: u64,
    pub(super) keys: Vec<Key>,
    /// Number of files read so far.
    pub(super) read: usize,
}

impl FileList for ClusterList {
    fn total(&self) -> u64 {
        self.total
    }

    fn files(&self) -> u64 {
        self.keys.len() as u64
    }

    fn next(&mut self, count: usize, limits: &Limits) -> Result<Option<Vec<FileRow>>, EngineError> {
        limits.check()?;
        let rest = self.keys.get(self.read..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let part = &rest[..rest.len().min(count)];
        let rows = search::rows_of(&self.generation, part, limits)?;
        let Generation { client, tables, .. } = &*self.generation;
        // Rows might have been deleted since the search.
        if journal::mark(client, tables, Some(limits))?.1 != self.purges {
            return Err(EngineError::Stopped);
        }
        self.read += part.len();
        Ok(Some(rows))
    }
}
