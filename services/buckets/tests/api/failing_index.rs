//! An index in which one call fails or does other work first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use buckets::engine::{
    EngineError, FileIndex, FileList, FileWriter, Generations, HeldLock, IndexSummary, Limits,
    WriteLock,
};
use buckets::model::{Facets, FileQuery, Found};

/// Generations in which one call fails.
pub struct FailingSearches {
    inner: Arc<dyn Generations>,
    fault: Arc<Fault>,
}

/// The call that fails.
struct Fault {
    call: Call,
    /// Number of calls until the one that fails.
    left: AtomicUsize,
    /// Work to do in that call, which then succeeds.
    work: Option<Work>,
    /// Set if that call is a search that runs until it is stopped: `true` while it runs.
    endless: Option<Arc<AtomicBool>>,
}

type Work = Box<dyn Fn() + Send + Sync>;

/// A call to an index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Refresh,
    Search,
    Verify,
}

struct FailingIndex {
    inner: Arc<dyn FileIndex>,
    fault: Arc<Fault>,
}

impl FailingSearches {
    /// Makes a search fail, counted from 1.
    pub fn new(inner: &Arc<dyn Generations>, search: usize) -> Arc<Self> {
        Self::with(inner, Call::Search, search, None)
    }

    /// Makes a refresh fail, counted from 1.
    pub fn refresh(inner: &Arc<dyn Generations>, refresh: usize) -> Arc<Self> {
        Self::with(inner, Call::Refresh, refresh, None)
    }

    /// Does some work during a search, counted from 1. The search then reads the newest state, as
    /// on a cluster after files were deleted.
    pub fn during(
        inner: &Arc<dyn Generations>,
        search: usize,
        work: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::with(inner, Call::Search, search, Some(Box::new(work)))
    }

    /// Makes the given search, counted from 1, run until it is stopped.
    pub fn endless(
        inner: &Arc<dyn Generations>,
        search: usize,
        is_running: &Arc<AtomicBool>,
    ) -> Arc<Self> {
        let (left, endless) = (AtomicUsize::new(search), Some(Arc::clone(is_running)));
        let fault = Arc::new(Fault { call: Call::Search, left, work: None, endless });
        Arc::new(Self { inner: Arc::clone(inner), fault })
    }

    /// Does some work after the given refresh, counted from 1.
    pub fn after_refresh(
        inner: &Arc<dyn Generations>,
        refresh: usize,
        work: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::with(inner, Call::Refresh, refresh, Some(Box::new(work)))
    }

    /// Does some work after the first verification.
    pub fn after_verification(
        inner: &Arc<dyn Generations>,
        work: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::with(inner, Call::Verify, 1, Some(Box::new(work)))
    }

    fn with(
        inner: &Arc<dyn Generations>,
        call: Call,
        number: usize,
        work: Option<Work>,
    ) -> Arc<Self> {
        let left = AtomicUsize::new(number);
        let fault = Arc::new(Fault { call, left, work, endless: None });
        Arc::new(Self { inner: Arc::clone(inner), fault })
    }

    fn failing(&self, inner: Arc<dyn FileIndex>) -> Arc<dyn FileIndex> {
        Arc::new(FailingIndex { inner, fault: Arc::clone(&self.fault) })
    }
}

impl Fault {
    /// Fails or does the work if this is the call. Returns `true` if it did the work.
    fn reach(&self, call: Call) -> Result<bool, EngineError> {
        if call != self.call || self.left.fetch_sub(1, Ordering::Relaxed) != 1 {
            return Ok(false);
        }
        match &self.work {
            Some(work) => work(),
            None if self.endless.is_some() => {}
            None => return Err(EngineError::Broken("a fault".to_owned())),
        }
        Ok(true)
    }
}

/// Number of pauses of 5 ms in an endless search. Tests that wait for its end time out earlier.
const ENDLESS: usize = 18_000;

fn until_stopped(is_running: &AtomicBool, limits: &Limits) -> Result<Found, EngineError> {
    is_running.store(true, Ordering::Relaxed);
    let mut pauses = 0..ENDLESS;
    while limits.check().is_ok() && pauses.next().is_some() {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    is_running.store(false, Ordering::Relaxed);
    Err(EngineError::Stopped)
}

impl Generations for FailingSearches {
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        self.inner.lock(holder)
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(self.failing(self.inner.open(generation)?))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(self.failing(self.inner.open_or_create(generation)?))
    }

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        self.inner.discard(generation, lock)
    }

    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        self.inner.sweep(current)
    }
}

impl FileIndex for FailingIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        if self.fault.reach(Call::Search)? {
            if let Some(is_running) = &self.fault.endless {
                return until_stopped(is_running, limits);
            }
            self.inner.refresh()?;
        }
        self.inner.search(query, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        self.inner.list(query, limits)
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        self.inner.facets(query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.inner.summary()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        let refreshed = self.inner.refresh()?;
        self.fault.reach(Call::Refresh)?;
        Ok(refreshed)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        let faults = self.inner.verify()?;
        self.fault.reach(Call::Verify)?;
        Ok(faults)
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.inner.writer(memory_mb)
    }
}
