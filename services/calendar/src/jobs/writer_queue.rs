//! Transactions of a long command: gaps for other programs, and retries while the database is busy.

use std::thread;
use std::time::{Duration, Instant};

use database::{Backend, DatabaseError, Db, Pools, WRITERS_GAP};

use crate::error::Error;

/// Time after which a command leaves SQLite to other writers. They wait up to five seconds, in no
/// particular order.
const SLICE: Duration = Duration::from_millis(400);

/// Time during which a transaction is retried while the database is busy or unreachable.
const RETRY_TIME: Duration = Duration::from_secs(60);
/// Time between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Runs transaction after transaction and lets other programs write in between.
pub struct WriterQueue<'p> {
    pools: &'p Pools,
    begin: Instant,
    slice: Duration,
    retry_time: Duration,
    /// Waits; a test records the waits instead.
    pause: &'p dyn Fn(Duration),
}

impl<'p> WriterQueue<'p> {
    pub fn new(pools: &'p Pools) -> Self {
        let (slice, retry_time) = (SLICE, RETRY_TIME);
        Self { pools, begin: Instant::now(), slice, retry_time, pause: &thread::sleep }
    }

    /// Runs a transaction.
    ///
    /// A transaction whose commit was not acknowledged is repeated, so `work` must be idempotent.
    ///
    /// # Errors
    /// The error of `work`, or the database was busy or unreachable for more than a minute.
    pub fn write<T>(
        &mut self,
        mut work: impl FnMut(&mut Db) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut waiting = None;
        let done = loop {
            match self.pools.write_blocking(&mut work) {
                Err(Error::Store(DatabaseError::Busy)) if self.retries(&mut waiting) => {
                    (self.pause)(RETRY_PAUSE);
                }
                outcome => break outcome?,
            }
        };
        if self.pools.backend() == Backend::Sqlite && self.begin.elapsed() >= self.slice {
            (self.pause)(WRITERS_GAP);
            self.begin = Instant::now();
        }
        Ok(done)
    }

    /// Returns whether to retry. Warns the operator before the first retry.
    fn retries(&self, since: &mut Option<Instant>) -> bool {
        let since = since.get_or_insert_with(|| {
            log::warn!("the database is busy or unreachable: retrying for {:?}", self.retry_time);
            Instant::now()
        });
        since.elapsed() < self.retry_time
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use testkit::Database;

    use super::*;

    fn nothing(_: &mut Db) -> Result<(), Error> {
        Ok(())
    }

    #[test]
    fn another_program_can_write_in_the_gap_after_each_slice() {
        let database = Database::in_file();
        let (own, other) = (database.open(&[]), database.open(&[]));
        let gaps = RefCell::new(Vec::new());
        let pause = |time| {
            other.write_blocking(nothing).unwrap();
            gaps.borrow_mut().push(time);
        };
        let mut short =
            WriterQueue { slice: Duration::ZERO, pause: &pause, ..WriterQueue::new(&own) };
        for _ in 0..3 {
            short.write(nothing).unwrap();
        }
        assert_eq!(gaps.take(), [WRITERS_GAP; 3]);
        let mut long =
            WriterQueue { slice: Duration::MAX, pause: &pause, ..WriterQueue::new(&own) };
        for _ in 0..3 {
            long.write(nothing).unwrap();
        }
        assert!(gaps.take().is_empty());
    }

    #[test]
    fn busy_transaction_is_retried_until_the_retry_time_ends() {
        let database = Database::new();
        let pools = database.open(&[]);
        let pauses = RefCell::new(Vec::new());
        let pause = |time| pauses.borrow_mut().push(time);
        let queue =
            || WriterQueue { slice: Duration::MAX, pause: &pause, ..WriterQueue::new(&pools) };
        let mut attempts = 0;
        let done = queue().write(|_| {
            attempts += 1;
            if attempts < 3 { Err(DatabaseError::Busy.into()) } else { Ok(attempts) }
        });
        assert_eq!((done.unwrap(), pauses.take()), (3, vec![RETRY_PAUSE; 2]));
        let mut queue_without_retries = WriterQueue { retry_time: Duration::ZERO, ..queue() };
        let busy = queue_without_retries.write(|_| Err::<(), _>(DatabaseError::Busy.into()));
        assert!(matches!(busy, Err(Error::Store(DatabaseError::Busy))));
        assert!(pauses.take().is_empty());
    }

    #[test]
    fn permanent_failure_is_not_retried() {
        let database = Database::new();
        let pools = database.open(&[]);
        let mut attempts = 0;
        let failed = WriterQueue::new(&pools).write(|_| {
            attempts += 1;
            Err::<(), _>(DatabaseError::NotFound.into())
        });
        assert!(failed.is_err());
        assert_eq!(attempts, 1);
    }
}
