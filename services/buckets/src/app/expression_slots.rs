//! A few regular expressions run at once, some wait, the others are turned away.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::SemaphorePermit;

use crate::error::Error;
use crate::metrics;
use crate::state::State;

/// The right to run one expression, until it is dropped.
pub struct ExpressionSlot<'a> {
    _permit: SemaphorePermit<'a>,
}

/// Waits for the right to run an expression, unless too many wait already.
pub async fn acquire_slot(state: &State) -> Result<ExpressionSlot<'_>, Error> {
    let slots = state.slots();
    if let Ok(permit) = slots.running.try_acquire() {
        return Ok(ExpressionSlot::new(permit));
    }
    let _waiting = Waiting::enter(&slots.waiting, state.settings().regexp_waiting)?;
    let timeout = Duration::from_secs(state.settings().search_timeout);
    match tokio::time::timeout(timeout, slots.running.acquire()).await {
        Ok(Ok(permit)) => Ok(ExpressionSlot::new(permit)),
        Ok(Err(_)) | Err(_) => Err(Error::Timeout),
    }
}

impl<'a> ExpressionSlot<'a> {
    fn new(permit: SemaphorePermit<'a>) -> Self {
        metrics::REGEXP_RUNNING.inc();
        Self { _permit: permit }
    }
}

impl Drop for ExpressionSlot<'_> {
    fn drop(&mut self) {
        metrics::REGEXP_RUNNING.dec();
    }
}

/// A position in the queue, left however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize, most: usize) -> Result<Self, Error> {
        if count.fetch_add(1, Ordering::SeqCst) >= most {
            count.fetch_sub(1, Ordering::SeqCst);
            return Err(Error::Busy);
        }
        metrics::REGEXP_WAITING.inc();
        Ok(Self(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        metrics::REGEXP_WAITING.dec();
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
