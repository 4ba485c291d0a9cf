//! Runs index queries with a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use batch::PagePermit;
use database::off_worker;

use super::expression_slots::acquire_slot;
use crate::engine::{EngineError, FileIndex, FileList, Limits};
use crate::error::Error;
use crate::metrics;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, Found, Matching};
use crate::state::{Snapshot, State};

/// Runs a search. Keep the returned memory permit until the page is dropped.
pub async fn search(
    state: &State,
    snapshot: &Snapshot,
    account: &str,
    query: FileQuery,
) -> Result<(Found, Option<PagePermit>), Error> {
    let find = |index: &dyn FileIndex, query: &FileQuery, limits: &Limits| {
        let found = index.search(query, limits)?;
        Ok((found, limits.take_permit()))
    };
    run(state, snapshot, account, query, find).await
}

/// Runs a search whose files are then read in chunks.
pub async fn list(
    state: &State,
    snapshot: &Snapshot,
    account: &str,
    query: FileQuery,
) -> Result<Box<dyn FileList>, Error> {
    let find =
        |index: &dyn FileIndex, query: &FileQuery, limits: &Limits| index.list(query, limits);
    run(state, snapshot, account, query, find).await
}

/// Counts search results by bucket and by extension. Keep the returned memory permit until the
/// counts are dropped.
pub async fn count_facets(
    state: &State,
    snapshot: &Snapshot,
    account: &str,
    query: FileQuery,
) -> Result<(Facets, Option<PagePermit>), Error> {
    let count = |index: &dyn FileIndex, query: &FileQuery, limits: &Limits| {
        let counts = index.facets(query, limits)?;
        Ok((counts, limits.take_permit()))
    };
    run(state, snapshot, account, query, count).await
}

/// Runs a search on the blocking thread pool. The search is cancelled when it times out or the
/// client disconnects.
async fn run<T: Send + 'static>(
    state: &State,
    snapshot: &Snapshot,
    account: &str,
    query: FileQuery,
    find: impl FnOnce(&dyn FileIndex, &FileQuery, &Limits) -> Result<T, EngineError> + Send + 'static,
) -> Result<T, Error> {
    let engine = state.settings().engine.as_str();
    metrics::began(engine, &query.matching);
    let slot = match query.matching {
        Matching::Expression(_) => Some(acquire_slot(state, account).await?),
        Matching::All | Matching::Words(_) => None,
    };
    let (limits, _guard) = limits(state);
    let index = Arc::clone(&snapshot.index);
    let searching = off_worker(move || {
        // A search can keep running for a moment after the client disconnects. Keep its slot until
        // the search ends.
        let _slot = slot;
        let found = find(&*index, &query, &limits)?;
        if limits.knew_total() {
            metrics::knew_total(engine);
        }
        Ok(found)
    });
    searching.await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Returns the limits for a search that starts now. The search is cancelled when the guard is
/// dropped.
pub(super) fn limits(state: &State) -> (Limits, CancelOnDrop) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let timeout = Duration::from_secs(state.settings().search_timeout);
    let limits = Limits::until(Instant::now() + timeout, threads);
    let limits = limits.with_pages(state.pages().clone()).with_keys(state.keys().clone());
    let guard = CancelOnDrop::of(&limits);
    (limits, guard)
}

/// Cancels a search when it is dropped.
pub struct CancelOnDrop(Arc<AtomicBool>);

impl CancelOnDrop {
    /// Creates a guard for a search with these limits.
    pub fn of(limits: &Limits) -> Self {
        Self(limits.cancel_handle())
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Stopped => Self::Timeout,
            EngineError::Missing(_) | EngineError::Mismatch(_) => Self::NotReady,
            EngineError::Unsupported(reason) => Self::Regexp(reason),
            other => Self::Internal(other.to_string()),
        }
    }
}
