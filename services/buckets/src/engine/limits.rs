//! When a search has to stop or to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::error::EngineError;
use super::page_room::PagePlace;

/// Bytes of text between two checks at most: even quick expressions then hardly notice the check.
const MOST_BYTES: usize = 16 * 1_024;
/// Bytes of an expression times bytes of text that take less than 0.2 s at worst, where every part of
/// the expression is tried at every byte. Smaller pieces would slow usual expressions down.
const CHECK_WORK: usize = 1 << 29;

/// Bytes of text between two checks for an expression that has so many bytes when it is compiled.
pub(super) fn check_bytes(expression: usize) -> usize {
    (CHECK_WORK / expression.max(1)).min(MOST_BYTES)
}

/// The pause between two attempts to take a lock.
const LOOK: Duration = Duration::from_millis(5);

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

    /// Waits for a lock that another search may hold for seconds.
    pub(super) fn lock<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
    ) -> Result<MutexGuard<'a, T>, EngineError> {
        loop {
            if let Some(guard) = mutex.try_lock_for(LOOK) {
                return Ok(guard);
            }
            self.check()?;
        }
    }

    /// Waits for room for the rows of a page, whose paths have so many bytes.
    pub(super) fn wait_for_room(&self, rows: usize, paths: usize) -> Result<(), EngineError> {
        self.place.as_ref().map_or(Ok(()), |place| place.take(rows, paths, || self.check()))
    }
}

/// The way to the next check of the limits, in bytes of text that an expression was matched with: rows
/// alone do not tell, since one may take a hundred times as long as another.
#[derive(Debug)]
pub(super) struct Pace {
    counted: usize,
    /// Bytes between two checks.
    step: usize,
}

impl Pace {
    /// A way on which the limits are checked every [`check_bytes`].
    pub(super) fn of(expression: usize) -> Self {
        Self { counted: 0, step: check_bytes(expression) }
    }

    /// Counts bytes; fails once the search has to stop, which it sees at the next check.
    pub(super) fn count(&mut self, bytes: usize, limits: &Limits) -> Result<(), EngineError> {
        self.counted += bytes;
        if self.counted < self.step {
            return Ok(());
        }
        self.counted = 0;
        limits.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_waits_for_another_one_keeps_its_own_limit() {
        let held = Mutex::new(());
        let _other = held.lock();
        let limits = Limits::until(Instant::now(), 1);
        assert!(matches!(limits.lock(&held), Err(EngineError::Stopped)));
    }

    #[test]
    fn limits_are_checked_after_some_text() {
        let limits = Limits::until(Instant::now() + Duration::from_secs(3_600), 1);
        for (expression, bytes) in [(0, 16_384), (10_000, 16_384), (1 << 20, 512)] {
            let mut pace = Pace::of(expression);
            limits.cancel_handle().store(false, Ordering::Relaxed);
            assert!(pace.count(bytes, &limits).is_ok());
            limits.cancel_handle().store(true, Ordering::Relaxed);
            assert!(pace.count(bytes - 1, &limits).is_ok(), "{expression} bytes");
            assert!(pace.count(1, &limits).is_err(), "{expression} bytes");
        }
    }
}
