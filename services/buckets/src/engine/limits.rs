//! When a search has to stop or to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::error::EngineError;
use super::page_room::PagePlace;

/// Bytes of text between two checks: the slowest expressions take microseconds a byte, and the quickest
/// ones still hardly notice the check.
pub(super) const CHECK_BYTES: usize = 16 * 1_024;

/// When a search has to give up, and where its page has room.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) deadline: Instant,
    cancelled: Arc<AtomicBool>,
    /// Threads that one expression may use.
    pub threads: usize,
    /// The room that its page takes; none where nobody else's page is in memory.
    place: Option<Arc<PagePlace>>,
}

impl Limits {
    /// Stops at `deadline`.
    pub fn until(deadline: Instant, threads: usize) -> Self {
        Self { deadline, cancelled: Arc::default(), threads: threads.max(1), place: None }
    }

    /// Lets the page wait until it has room.
    pub fn in_place(self, place: Arc<PagePlace>) -> Self {
        Self { place: Some(place), ..self }
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

    /// Waits for room for the rows of a page, whose paths have so many bytes.
    pub(super) fn wait_for_room(&self, rows: usize, paths: usize) -> Result<(), EngineError> {
        self.place.as_ref().map_or(Ok(()), |place| place.take(rows, paths, || self.check()))
    }
}

/// The way to the next check of the limits, in bytes of text that an expression was matched with: rows
/// alone do not tell, since one may take a hundred times as long as another.
#[derive(Debug, Default)]
pub(super) struct Pace(usize);

impl Pace {
    /// Counts bytes; fails once the search has to stop, which it sees every [`CHECK_BYTES`].
    pub(super) fn count(&mut self, bytes: usize, limits: &Limits) -> Result<(), EngineError> {
        self.0 += bytes;
        if self.0 < CHECK_BYTES {
            return Ok(());
        }
        self.0 = 0;
        limits.check()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn limits_are_checked_after_some_text() {
        let limits = Limits::until(Instant::now() + Duration::from_secs(3_600), 1);
        let mut pace = Pace::default();
        assert!(pace.count(CHECK_BYTES, &limits).is_ok());
        limits.cancel_handle().store(true, Ordering::Relaxed);
        assert!(pace.count(CHECK_BYTES - 1, &limits).is_ok());
        assert!(pace.count(1, &limits).is_err());
    }
}
