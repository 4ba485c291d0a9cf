//! Limits of a search: time, cancellation and memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use batch::{PagePermit, PagePermits};
use parking_lot::{Mutex, MutexGuard};

use super::error::EngineError;

/// Number of bytes of text between two checks. It is large enough that the cost of a check does not
/// matter.
const MOST_BYTES: usize = 16 * 1_024;
/// Maximum product of the size of an expression and of the text that it searches between two
/// checks. This takes at most 0.1 s, even if every part of the expression is tried at every byte. A
/// smaller value would slow down ordinary expressions.
const CHECK_WORK: usize = 1 << 28;

/// Returns the number of bytes of text between two checks, given the size of a compiled expression.
pub(super) fn check_bytes(expression: usize) -> usize {
    (CHECK_WORK / expression.max(1)).min(MOST_BYTES)
}

/// Returns true if a single search of a string would take too long. Such a search cannot be
/// interrupted.
pub(super) fn is_long(expression: usize, text: usize) -> bool {
    expression.saturating_mul(text) > CHECK_WORK
}

/// Memory of a row in bytes, in addition to its path.
const ROW: usize = 128;
/// Interval between two attempts to take a lock.
const LOOK: Duration = Duration::from_millis(5);

/// The limits of one search.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) deadline: Instant,
    cancelled: Arc<AtomicBool>,
    /// Maximum number of threads for one expression.
    pub threads: usize,
    /// The memory that all pages share (if limited), and the permit for the page of this search.
    pages: Option<PagePermits>,
    permit: Arc<Mutex<Option<PagePermit>>>,
    /// Whether the total was known without counting.
    knew_total: Arc<AtomicBool>,
    /// Number of remaining checks until the search is stopped.
    #[cfg(test)]
    checks: Option<Arc<std::sync::atomic::AtomicUsize>>,
}

impl Limits {
    /// Creates limits that stop a search at a deadline.
    pub fn until(deadline: Instant, threads: usize) -> Self {
        Self {
            deadline,
            cancelled: Arc::default(),
            threads: threads.max(1),
            pages: None,
            permit: Arc::default(),
            knew_total: Arc::default(),
            #[cfg(test)]
            checks: None,
        }
    }

    /// Returns the limits of jobs, which may run for a week.
    pub fn none() -> Self {
        Self::until(Instant::now() + Duration::from_secs(7 * 86_400), 1)
    }

    /// Returns limits that stop a search after this number of checks.
    #[cfg(test)]
    pub(super) fn after_checks(checks: usize) -> Self {
        Self { checks: Some(Arc::new(checks.into())), ..Self::none() }
    }

    /// Makes the search wait for memory for its page.
    pub fn with_pages(self, pages: PagePermits) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// Takes the memory permit of the page. It must be held until the page has been written.
    pub fn take_permit(&self) -> Option<PagePermit> {
        self.permit.lock().take()
    }

    /// Records that the total was known without counting.
    pub(super) fn note_known_total(&self) {
        self.knew_total.store(true, Ordering::Relaxed);
    }

    /// Returns true if the search knew its total without counting.
    pub fn knew_total(&self) -> bool {
        self.knew_total.load(Ordering::Relaxed)
    }

    /// Returns a flag that cancels the search.
    pub fn cancel_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Fails if the search must stop.
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

    /// Waits for a lock that another search may hold for several seconds.
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

    /// Waits for memory for a page with this number of rows and of bytes in paths. Releases the
    /// memory of an earlier page of the same search.
    pub(super) fn wait_for_memory(&self, rows: usize, paths: usize) -> Result<(), EngineError> {
        let Some(pages) = &self.pages else { return Ok(()) };
        drop(self.take_permit());
        let permit = pages.acquire_blocking(rows * ROW + paths, || self.check())?;
        *self.permit.lock() = Some(permit);
        Ok(())
    }
}

/// Counts the bytes of matched text between two checks. Counting rows would not do, because their
/// costs differ by a factor of 100.
#[derive(Debug)]
pub(super) struct Pace {
    counted: usize,
    /// Bytes between two checks.
    step: usize,
}

impl Pace {
    /// Creates a pace that checks the limits every [`check_bytes`] bytes.
    pub(super) fn of(expression: usize) -> Self {
        Self { counted: 0, step: check_bytes(expression) }
    }

    /// Counts bytes and checks the limits when due.
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
    fn waiting_for_lock_stops_at_own_limit() {
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
