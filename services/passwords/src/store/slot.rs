//! The corpus in use of one kind, exchanged while requests go on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Holds one corpus; readers look at a number first and take the lock only when it has changed.
pub struct Slot<T> {
    generation: AtomicU64,
    corpus: Mutex<Option<Arc<T>>>,
}

/// A worker's own clone of what a slot holds.
pub struct Seen<T> {
    generation: u64,
    corpus: Option<Arc<T>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { generation: AtomicU64::new(0), corpus: Mutex::new(None) }
    }
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self { generation: 0, corpus: None }
    }
}

impl<T> Slot<T> {
    /// Puts another corpus in place. Requests under way finish with the old one.
    pub fn put(&self, corpus: T) {
        *self.corpus.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(corpus));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The corpus in use.
    pub fn get(&self) -> Option<Arc<T>> {
        self.corpus.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The corpus in use, by way of a worker's clone.
    #[inline]
    pub fn refresh<'a>(&self, seen: &'a mut Seen<T>) -> Option<&'a Arc<T>> {
        let generation = self.generation.load(Ordering::Acquire);
        if seen.generation != generation {
            *seen = Seen { generation, corpus: self.get() };
        }
        seen.corpus.as_ref()
    }
}
