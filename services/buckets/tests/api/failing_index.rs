//! An index in which one search fails or waits for other work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use buckets::engine::{
    EngineError, FileIndex, FileList, FileWriter, Generations, HeldLock, IndexSummary, Limits,
    WriteLock,
};
use buckets::model::{Facets, FileQuery, Found};

/// Generations in which one search fails.
pub struct FailingSearches {
    inner: Arc<dyn Generations>,
    /// Searches until the one that fails.
    left: Arc<AtomicUsize>,
    /// Work to do before that search. It then succeeds.
    work: Option<Work>,
}

type Work = Arc<dyn Fn() + Send + Sync>;

struct FailingIndex {
    inner: Arc<dyn FileIndex>,
    left: Arc<AtomicUsize>,
    work: Option<Work>,
}

impl FailingSearches {
    /// Makes a search fail, counted from 1.
    pub fn new(inner: &Arc<dyn Generations>, search: usize) -> Arc<Self> {
        let left = Arc::new(AtomicUsize::new(search));
        Arc::new(Self { inner: Arc::clone(inner), left, work: None })
    }

    /// Does some work during a search, counted from 1.
    pub fn during(
        inner: &Arc<dyn Generations>,
        search: usize,
        work: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        let left = Arc::new(AtomicUsize::new(search));
        Arc::new(Self { inner: Arc::clone(inner), left, work: Some(Arc::new(work)) })
    }

    fn failing(&self, inner: Arc<dyn FileIndex>) -> Arc<dyn FileIndex> {
        Arc::new(FailingIndex { inner, left: Arc::clone(&self.left), work: self.work.clone() })
    }
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
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            match &self.work {
                Some(work) => work(),
                None => return Err(EngineError::Broken("a fault".to_owned())),
            }
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
        self.inner.refresh()
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.inner.verify()
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.inner.writer(memory_mb)
    }
}
