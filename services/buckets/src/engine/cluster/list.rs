//! The files of one search, read in parts.

use std::sync::Arc;

use super::generation::Generation;
use super::journal;
use super::search::{self, Key};
use crate::engine::error::EngineError;
use crate::engine::index::FileList;
use crate::engine::limits::Limits;
use crate::model::file_query::FileRow;

/// The keys of the files that a search found.
pub(super) struct ClusterList {
    pub(super) generation: Arc<Generation>,
    /// The `purges` of the state in which the search ran.
    pub(super) purges: u64,
    pub(super) total: u64,
    pub(super) keys: Vec<Key>,
    /// Number of files that have been read.
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
        // Rows of this state may have been deleted in the meantime.
        if journal::mark(client, tables, Some(limits))?.1 != self.purges {
            return Err(EngineError::Stopped);
        }
        self.read += part.len();
        Ok(Some(rows))
    }
}
