//! The context of a job.

use database::{Db, Pools, Retries, WriterQueue};
use domain::SharedClock;

use super::error::JobError;
use super::retry::is_retryable;
use crate::config::Settings;

/// The context of a job.
#[derive(Clone)]
pub struct JobContext {
    /// Connections to the database.
    pub pools: Pools,
    /// The clock.
    pub clock: SharedClock,
    /// Memory, temporary folder, test domain.
    pub settings: Settings,
}

impl JobContext {
    /// Runs a short transaction, retrying while others hold the lock.
    pub fn write<T>(
        &self,
        work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        WriterQueue::new(&self.pools, Retries::default(), is_retryable).write(work)
    }
}
