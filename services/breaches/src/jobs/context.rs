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
    /// Reads, retrying while the database is busy or unreachable.
    pub fn read<T>(
        &self,
        mut work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        let mut retries = Retries::default();
        loop {
            match self.pools.read_blocking(&mut work) {
                Err(error) if is_retryable(&error) => retries.pause(),
                done => return done,
            };
        }
    }

    /// Runs a short transaction, retrying while other writers hold the lock.
    pub fn write<T>(
        &self,
        work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        WriterQueue::new(&self.pools, Retries::default(), is_retryable).write(work)
    }
}

#[cfg(test)]
mod tests {
    use database::DatabaseError;

    use super::*;

    #[test]
    fn read_is_retried_while_the_database_is_busy() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let clock = testkit::clock("2026-03-01T12:00:00Z").shared();
        let context = JobContext { pools, clock, settings: Settings::for_tests() };
        let mut attempts = 0;
        let read = context.read(|_| {
            attempts += 1;
            if attempts < 3 { Err(DatabaseError::Busy.into()) } else { Ok(attempts) }
        });
        assert_eq!(read.unwrap(), 3);
        let failed = context.read(|_| Err::<(), _>(DatabaseError::NotFound.into()));
        assert!(failed.is_err());
    }
}
