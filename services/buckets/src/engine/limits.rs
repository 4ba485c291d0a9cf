//! When a search has to stop or to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use batch::{PagePermit, PagePermits};
use parking_lot::{Mutex, MutexGuard};

use super::error::EngineError;

/// Bytes of text between two checks at most: even quick expressions then hardly notice the check.
const MOST_BYTES: usize = 16 * 1_024;
/// Bytes of an expression times bytes of text that take less than 0.1 s at worst, where every part of
/// the expression is tried at every byte. Smaller pieces would slow usual expressions down.
const CHECK_WORK: usize = 1 << 28;

/// Bytes of text between two checks for an expression of this many bytes when compiled.
pub(super) fn check_bytes(expression: usize) -> usize {
    (CHECK_WORK / expression.max(1)).min(MOST_BYTES)
}

/// Returns whether one search of a text, which cannot be stopped, takes too long.
pub(super) fn is_long(expression: usize, text: usize) -> bool {
    expression.saturating_mul(text) > CHECK_WORK
}

/// Bytes that a row takes in addition to its path.
const ROW: usize = 128;
/// The pause between two attempts to take a lock.
const LOOK: Duration = Duration::from_millis(5);

/// When a search has to give up, and where its page has room.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) deadline: Instant,
    cancelled: Arc<AtomicBool>,
    /// Threads that one expression may use.
    pub threads: usize,
    /// The memory of all pages, if it is limited, and that of the page of this search.
    pages: Option<PagePermits>,
    permit: Arc<Mutex<Option<PagePermit>>>,
    /// Checks until the search stops.
    #[cfg(test)]
    checks: Option<Arc<std::sync::atomic::AtomicUsize>>,
}

impl Limits {
    /// Stops at `deadline`.
    pub fn until(deadline: Instant, threads: usize) -> Self {
        Self {
            deadline,
            cancelled: Arc::default(),
            threads: threads.max(1),
            pages: None,
            permit: Arc::default(),
            #[cfg(test)]
            checks: None,
        }
    }

    /// Limits of a job, which may run for a week.
    pub fn none() -> Self {
        Self::until(Instant::now() + Duration::from_secs(7 * 86_400), 1)
    }

    /// Stops at the check after this number of them.
    #[cfg(test)]
    pub(super) fn after_checks(checks: usize) -> Self {
        Self { checks: Some(Arc::new(checks.into())), ..Self::none() }
    }

    /// Lets the page wait until there is memory for it.
    pub fn with_pages(self, pages: PagePermits) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// Takes the memory of the page that was found, to be kept until the page is written.
    pub fn take_permit(&self) -> Option<PagePermit> {
        self.permit.lock().take()
    }

    /// A handle that stops the search when it is set.
    pub fn cancel_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Fails once the search has to stop.
    pub fn check(&self) -> Result<(), EngineError> {
        #[cfg(test)]
        if let Some(checks) = &self.checks {
            let fewer = |left: usize| left.checked_sub(1);
            checks
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer)
                .map_err(|_| EngineError::Stopped)?;
        }
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

    /// Waits for memory for the rows of a page, whose paths have this number of bytes; what the search had
    /// for a page before is free again.
    pub(super) fn wait_for_memory(&self, rows: usize, paths: usize) -> Result<(), EngineError> {
        let Some(pages) = &self.pages else { return Ok(()) };
        drop(self.take_permit());
        let permit = pages.acquire_blocking(rows * ROW + paths, || self.check())?;
        *self.permit.lock() = Some(permit);
        Ok(())
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
        for (expression, bytes) in [(0, 16_384), (10_000, 16_384), (1 << 20, 256)] {
            let mut pace = Pace::of(expression);
            limits.cancel_handle().store(false, Ordering::Relaxed);
            assert!(pace.count(bytes, &limits).is_ok());
            limits.cancel_handle().store(true, Ordering::Relaxed);
            assert!(pace.count(bytes - 1, &limits).is_ok(), "{expression} bytes");
            assert!(pace.count(1, &limits).is_err(), "{expression} bytes");
        }
    }
}
