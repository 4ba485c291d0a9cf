//! The writer queue used by commands.

use std::time::Duration;

use database::{DatabaseError, Pools, Retries, WriterQueue};

use crate::error::Error;

/// Maximum time to retry a transaction while the database is busy or unreachable.
const RETRY_TIME: Duration = Duration::from_secs(60);

/// Creates the queue for a command's transactions.
pub fn writer_queue(pools: &Pools) -> WriterQueue<'_, Error> {
    let is_busy = |error: &Error| matches!(error, Error::Store(DatabaseError::Busy));
    WriterQueue::new(pools, Retries::up_to(RETRY_TIME), is_busy)
}
