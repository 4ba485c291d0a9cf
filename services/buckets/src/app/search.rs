//! Runs a query on the index within its time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use batch::PagePermit;
use database::off_worker;

use super::expression_slots::acquire_slot;
use crate::engine::{EngineError, Limits};
use crate::error::Error;
use crate::metrics;
use crate::model::file_query::{FileQuery, Found, Matching};
use crate::state::{Snapshot, State};

/// Runs a search off the worker threads. The search stops at its time limit or when the client
/// disconnects. The permit holds the memory of the page until it is dropped.
pub async fn search(
    state: &State,
    snapshot: &Snapshot,
    account: &str,
    query: FileQuery,
) -> Result<(Found, Option<PagePermit>), Error> {
    let engine = state.settings().engine.as_str();
    metrics::began(engine, &query.matching);
    let slot = match query.matching {
        Matching::Expression(_) => Some(acquire_slot(state, account).await?),
        Matching::All | Matching::Words(_) => None,
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let timeout = Duration::from_secs(state.settings().search_timeout);
    let limits = Limits::until(Instant::now() + timeout, threads).with_pages(state.pages().clone());
    let _guard = CancelOnDrop(limits.cancel_handle());
    let index = Arc::clone(&snapshot.index);
    let searching = off_worker(move || {
        // Holds the slot until the search ends, which may be shortly after the client disconnects.
        let _slot = slot;
        let found = index.search(&query, &limits)?;
        if limits.knew_total() {
            metrics::knew_total(engine);
        }
        Ok((found, limits.take_permit()))
    });
    searching.await.map_err(|error| Error::Internal(error.to_string()))?
}

struct CancelOnDrop(Arc<AtomicBool>);

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
