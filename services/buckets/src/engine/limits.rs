//! When a search has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::error::EngineError;

/// When a search has to give up.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) deadline: Instant,
    cancelled: Arc<AtomicBool>,
    /// Threads that one expression may use.
    pub threads: usize,
}

impl Limits {
    /// Stops at `deadline`.
    pub fn until(deadline: Instant, threads: usize) -> Self {
        Self { deadline, cancelled: Arc::default(), threads: threads.max(1) }
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
}
