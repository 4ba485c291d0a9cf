//! Reads the results of a search in chunks.

use std::sync::Arc;

use super::page::{self, FoundIds};
use super::view::View;
use crate::engine::error::EngineError;
use crate::engine::index::FileList;
use crate::engine::limits::Limits;
use crate::model::file_query::{FileQuery, FileRow};

/// Ids of the files found by a search. The view keeps the index state readable even after later
/// publishes.
pub(super) struct EmbeddedList {
    view: Arc<View>,
    total: u64,
    ids: Vec<u64>,
    /// Number of files read so far.
    read: usize,
}

impl EmbeddedList {
    /// Runs a search.
    pub(super) fn of(
        view: Arc<View>,
        query: &FileQuery,
        limits: &Limits,
    ) -> Result<Self, EngineError> {
        let FoundIds { total, mut ids, .. } = page::find(&view, query, limits)?;
        ids.shrink_to_fit();
        Ok(Self { view, total, ids, read: 0 })
    }
}

impl FileList for EmbeddedList {
    fn total(&self) -> u64 {
        self.total
    }

    fn files(&self) -> u64 {
        self.ids.len() as u64
    }

    fn next(&mut self, count: usize, limits: &Limits) -> Result<Option<Vec<FileRow>>, EngineError> {
        limits.check()?;
        let rest = self.ids.get(self.read..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let part = &rest[..rest.len().min(count)];
        self.read += part.len();
        self.view.rows(part, limits).map(Some)
    }
}
