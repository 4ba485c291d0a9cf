//! The context of a job.

use database::{Db, Pools};
use domain::SharedClock;

use super::error::JobError;
use super::retry::{Retries, is_retryable};
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
        mut work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        let mut retries = Retries::default();
        loop {
            match self.pools.write_blocking(&mut work) {
                Err(error) if is_retryable(&error) => retries.pause(),
                done => return done,
            }
        }
    }
}
