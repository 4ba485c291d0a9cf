//! Limits the memory used for pages of results. A page has to wait until earlier pages have
//! released enough memory.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How often a waiting thread calls `check`.
const CHECK: Duration = Duration::from_millis(50);

/// The memory that all of a server's pages can use at the same time. Clones share it.
#[derive(Clone, Debug)]
pub struct PagePermits {
    bytes: u32,
    free: Arc<Semaphore>,
}

/// Memory that is reserved for a page, and released when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct PagePermit {
    /// Always `Some`, because the semaphore is never closed.
    _memory: Option<Arc<OwnedSemaphorePermit>>,
}

impl PagePermits {
    /// Creates permits for `bytes` bytes of memory. A page that needs more than that gets all of
    /// it.
    pub fn new(bytes: u32) -> Self {
        Self { bytes, free: Arc::new(Semaphore::new(bytes as usize)) }
    }

    /// Waits for the memory that a page needs. Pages are served in order of arrival.
    pub async fn acquire(&self, bytes: usize) -> PagePermit {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.bytes);
        let memory = Arc::clone(&self.free).acquire_many_owned(bytes).await;
        PagePermit { _memory: memory.ok().map(Arc::new) }
    }

    /// Like [`acquire`](Self::acquire), but blocks the thread and calls `check` periodically.
    ///
    /// # Errors
    /// Returns any error from `check`.
    pub fn acquire_blocking<E>(
        &self,
        bytes: usize,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<PagePermit, E> {
        let mut acquired = pin!(self.acquire(bytes));
        let waker = Arc::new(Unpark(thread::current())).into();
        loop {
            if let Poll::Ready(permit) = acquired.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(permit);
            }
            check()?;
            thread::park_timeout(CHECK);
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acquires a permit, or returns `None` if that would mean waiting.
    fn at_once(permits: &PagePermits, bytes: usize) -> Option<PagePermit> {
        permits.acquire_blocking(bytes, || Err(())).ok()
    }

    #[test]
    fn page_waits_until_memory_is_free() {
        let permits = PagePermits::new(1_000);
        let mut first = at_once(&permits, 600);
        assert!(at_once(&permits, 600).is_none());
        let mut checks = 0;
        let second = permits.acquire_blocking(600, || {
            checks += 1;
            first.take();
            Ok::<_, ()>(())
        });
        assert!(second.is_ok() && checks == 1, "{checks} checks");
        assert!(at_once(&permits, 600).is_none());
        drop(second);
        assert!(at_once(&permits, 1_000).is_some());
    }

    #[test]
    fn clones_share_the_memory_of_a_page() {
        let permits = PagePermits::new(1_000);
        let first = at_once(&permits, 600).unwrap();
        let second = first.clone();
        drop(first);
        assert!(at_once(&permits, 600).is_none());
        drop(second);
        assert!(at_once(&permits, 600).is_some());
    }

    #[test]
    fn page_longer_than_the_memory_waits_to_be_alone() {
        let permits = PagePermits::new(1_000);
        let short = at_once(&permits, 1);
        assert!(at_once(&permits, 5_000).is_none());
        drop(short);
        let long = at_once(&permits, 5_000);
        assert!(long.is_some() && at_once(&permits, 1).is_none());
    }

    #[tokio::test]
    async fn memory_wakes_a_waiting_task() {
        let permits = PagePermits::new(1_000);
        let first = permits.acquire(1_000).await;
        let waiting = permits.acquire(1);
        let (_, ()) = tokio::join!(waiting, async { drop(first) });
    }
}
