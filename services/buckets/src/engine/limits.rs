//! Time, cancellation and memory limits for searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use batch::{PagePermit, PagePermits};
use parking_lot::{Mutex, MutexGuard};

use super::error::EngineError;

/// Maximum number of bytes to search between limit checks. This is enough to make the cost of a
/// check negligible.
const MOST_BYTES: usize = 16 * 1_024;
/// Maximum product of an expression's size and the number of bytes searched between limit checks.
/// The search then takes at most 0.1 s between checks, even if every part of the expression is
/// tried at every byte. A lower limit would slow down ordinary expressions.
const CHECK_WORK: usize = 1 << 28;

/// Returns the number of bytes to search between limit checks, given the size of the compiled
/// expression.
pub(super) fn check_bytes(expression: usize) -> usize {
    (CHECK_WORK / expression.max(1)).min(MOST_BYTES)
}

/// Returns `true` if searching a string in one go would take too long, since the regex engine can't
/// be interrupted.
pub(super) fn is_long(expression: usize, text: usize) -> bool {
    expression.saturating_mul(text) > CHECK_WORK
}

/// Memory per row, in bytes, on top of its path.
const ROW: usize = 128;
/// Memory per sort key, in bytes. A search collects up to twice as many as it keeps.
const KEY: usize = 32;
/// Number of sort keys that a search can keep without waiting for memory.
const FEW_KEYS: usize = 4_096;
/// How long to wait for a lock before checking the limits.
const LOOK: Duration = Duration::from_millis(5);

/// Limits for a single search.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) deadline: Instant,
    cancelled: Arc<AtomicBool>,
    /// Maximum number of threads per expression.
    pub threads: usize,
    /// Memory shared by all pages, if limited, and this search's permit for its page.
    pages: Option<PagePermits>,
    permit: Arc<Mutex<Option<PagePermit>>>,
    /// Memory shared by the sort keys of deep pages, if it is limited.
    keys: Option<PagePermits>,
    /// Set if the total was known without counting the results.
    knew_total: Arc<AtomicBool>,
    /// Number of checks after which the search stops.
    #[cfg(test)]
    checks: Option<Arc<std::sync::atomic::AtomicUsize>>,
}

impl Limits {
    /// Stops the search at a deadline.
    pub fn until(deadline: Instant, threads: usize) -> Self {
        Self {
            deadline,
            cancelled: Arc::default(),
            threads: threads.max(1),
            pages: None,
            permit: Arc::default(),
            keys: None,
            knew_total: Arc::default(),
            #[cfg(test)]
            checks: None,
        }
    }

    /// Limits for jobs. Technically, these still time out after a week.
    pub fn none() -> Self {
        Self::until(Instant::now() + Duration::from_secs(7 * 86_400), 1)
    }

    /// Stops the search after this number of checks.
    #[cfg(test)]
    pub(super) fn after_checks(checks: usize) -> Self {
        Self { checks: Some(Arc::new(checks.into())), ..Self::none() }
    }

    /// Makes the search wait until there's enough memory for its page.
    pub fn with_pages(self, pages: PagePermits) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// Makes the search of a deep page wait until there's enough memory for its sort keys.
    pub fn with_keys(self, keys: PagePermits) -> Self {
        Self { keys: Some(keys), ..self }
    }

    /// Takes the page's memory permit. Keep it until the page has been written.
    pub fn take_permit(&self) -> Option<PagePermit> {
        self.permit.lock().take()
    }

    /// Records that there was no need to count the results.
    pub(super) fn note_known_total(&self) {
        self.knew_total.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if there was no need to count the results.
    pub fn knew_total(&self) -> bool {
        self.knew_total.load(Ordering::Relaxed)
    }

    /// Returns a flag that cancels the search when set.
    pub fn cancel_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Returns an error if the search should stop.
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

    /// Waits for a lock that another search might keep for several seconds.
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

    /// Waits until there's memory for a page of `rows` rows whose paths total `paths` bytes.
    /// Releases the memory of an earlier page in the same search.
    pub(super) fn wait_for_memory(&self, rows: usize, paths: usize) -> Result<(), EngineError> {
        let Some(pages) = &self.pages else { return Ok(()) };
        drop(self.take_permit());
        let permit = pages.acquire_blocking(rows * ROW + paths, || self.check())?;
        *self.permit.lock() = Some(permit);
        Ok(())
    }

    /// Waits until there's memory for this number of sort keys. Keep the permit until the keys are
    /// dropped. A small number of keys doesn't need a permit, so that ordinary pages never wait for
    /// deep pages.
    pub(super) fn wait_for_keys(&self, keys: usize) -> Result<Option<PagePermit>, EngineError> {
        let memory = self.keys.as_ref().filter(|_| keys > FEW_KEYS);
        let bytes = keys.saturating_mul(KEY);
        memory.map(|memory| memory.acquire_blocking(bytes, || self.check())).transpose()
    }
}

/// Decides when to check the limits, based on the amount of text matched. Counting rows wouldn't
/// work, because some rows take 100 times longer than others.
#[derive(Debug)]
pub(super) struct Pace {
    counted: usize,
    /// Number of bytes between checks.
    step: usize,
}

impl Pace {
    /// Checks the limits every [`check_bytes`] bytes.
    pub(super) fn of(expression: usize) -> Self {
        Self { counted: 0, step: check_bytes(expression) }
    }

    /// Adds to the byte count, and checks the limits if a check is due.
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
