//! Everything a job needs to run: database connections, a clock and settings.

use database::{Db, Pools, Retries, WriterQueue};
use domain::SharedClock;

use super::error::JobError;
use super::retry::is_retryable;
use crate::config::Settings;

#[derive(Clone)]
pub struct JobContext {
    /// Database connections.
    pub pools: Pools,
    pub clock: SharedClock,
    /// Settings such as memory, temporary folder and test domain.
    pub settings: Settings,
}

impl JobContext {
    /// Runs a short transaction, retrying while other writers hold the lock.
    pub fn write<T>(
        &self,
        work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        WriterQueue::new(&self.pools, Retries::default(), is_retryable).write(work)
    }
}
