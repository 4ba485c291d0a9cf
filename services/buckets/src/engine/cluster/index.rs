//! The index for one generation.

use std::sync::Arc;

use parking_lot::RwLock;

use super::error::ClusterError;
use super::generation::Generation;
use super::list::ClusterList;
use super::view::View;
use super::{facets, journal, search, verify, writer};
use crate::engine::error::EngineError;
use crate::engine::index::{FileIndex, FileList, FileWriter};
use crate::engine::journal::IndexSummary;
use crate::engine::limits::Limits;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, Found};

/// Maximum number of attempts if rows keep getting deleted during a search or a verification.
const ATTEMPTS: usize = 5;

/// A generation of the index on a cluster.
pub struct ClusterIndex {
    generation: Arc<Generation>,
    view: RwLock<Arc<View>>,
}

impl ClusterIndex {
    /// Creates an index from a state that was just read.
    pub(super) fn new(generation: Generation, view: View) -> Self {
        Self { generation: Arc::new(generation), view: RwLock::new(Arc::new(view)) }
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read())
    }

    /// Reads the newest state. Returns `false` if nothing visible changed.
    fn reload(&self) -> Result<bool, ClusterError> {
        let Generation { client, servers, tables, .. } = &*self.generation;
        let seen = self.view();
        let missing = || ClusterError::Invalid("the tables are gone".to_owned());
        if journal::mark(client, tables, None)?.0 == seen.record.version {
            return Ok(false);
        }
        let view = View::read(client, servers, tables)?.ok_or_else(missing)?;
        let changed = view.record.journal.sequence != seen.record.journal.sequence;
        *self.view.write() = Arc::new(view);
        Ok(changed)
    }

    /// Computes a result from a single state. The second argument of `answer` is `true` as long as
    /// there can't be a newer state.
    fn of_one_state<T>(
        &self,
        limits: &Limits,
        answer: impl Fn(&View, bool) -> Result<T, EngineError>,
    ) -> Result<(T, Arc<View>), EngineError> {
        let Generation { client, tables, .. } = &*self.generation;
        let mut newest = true;
        for _ in 0..ATTEMPTS {
            limits.check()?;
            let view = self.view();
            let found = answer(&view, newest)?;
            let (version, purges) = journal::mark(client, tables, Some(limits))?;
            if purges != view.record.purges {
                self.reload()?;
            } else if newest && version != view.record.version && view.record.journal.open.is_none()
            {
                // A new run might have started, so the result could include some of its rows.
                newest = false;
            } else {
                return Ok((found, view));
            }
        }
        Err(EngineError::Broken("files are deleted too frequently to complete a search".to_owned()))
    }
}

impl FileIndex for ClusterIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        let answer =
            |view: &View, newest| search::answer(&self.generation, view, query, limits, newest);
        self.of_one_state(limits, answer).map(|(found, _)| found)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        let answer =
            |view: &View, newest| search::keys(&self.generation, view, query, limits, newest);
        let ((total, keys), view) = self.of_one_state(limits, answer)?;
        let generation = Arc::clone(&self.generation);
        let purges = view.record.purges;
        Ok(Box::new(ClusterList { generation, purges, total, keys, read: 0 }))
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        let count =
            |view: &View, newest| facets::facets(&self.generation, view, query, limits, newest);
        self.of_one_state(limits, count).map(|(facets, _)| facets)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        Arc::clone(&self.view().summary)
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        Ok(self.reload()?)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        let Generation { client, tables, .. } = &*self.generation;
        for _ in 0..ATTEMPTS {
            self.reload()?;
            let view = self.view();
            let faults = verify::faults(&self.generation, &view)?;
            // A removal or publish might have deleted rows of this state in the meantime.
            if faults.is_empty() || journal::mark(client, tables, None)?.1 == view.record.purges {
                return Ok(faults);
            }
        }
        Err(EngineError::Locked("it changed during each check; run verify again".to_owned()))
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        Ok(Box::new(writer::ClusterWriter::open(&self.generation, memory_mb)?))
    }
}
