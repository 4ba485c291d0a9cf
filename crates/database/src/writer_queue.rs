//! Runs the transactions of long-running commands, leaving gaps for other writers and retrying
//! while the database is busy.

use std::thread;
use std::time::{Duration, Instant};

use crate::{Backend, DatabaseError, Db, Pools, WRITERS_GAP};

/// How long a command can keep writing before it yields to other SQLite writers. These wait for up
/// to five seconds and get the lock in no particular order.
const SLICE: Duration = Duration::from_millis(400);

const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// How long a job can wait for a long write before a warning is logged.
const WARN_AFTER: Duration = Duration::from_secs(5);
/// Minimum time between log lines.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Keeps track of attempts for which the database was busy or unreachable.
#[derive(Clone, Debug, Default)]
pub struct Retries {
    limit: Option<Duration>,
    /// When the first attempt was made, and when the last line was logged.
    began: Option<(Instant, Option<Instant>)>,
}

impl Retries {
    /// Retries for up to `limit`, unlike [`default`](Self::default), which retries forever.
    pub fn up_to(limit: Duration) -> Self {
        Self { limit: Some(limit), began: None }
    }

    /// Pauses before the next attempt, or returns false once the limit has been reached. Logs a
    /// warning after five seconds and from then on once a minute.
    pub fn pause(&mut self) -> bool {
        self.pause_with(&thread::sleep)
    }

    fn pause_with(&mut self, pause: &dyn Fn(Duration)) -> bool {
        let now = Instant::now();
        let (first, logged) = self.began.unwrap_or((now, None));
        let is_due = match logged {
            Some(logged) => now - logged >= LOG_EVERY,
            None => now - first >= WARN_AFTER,
        };
        self.began = Some((first, if is_due { Some(now) } else { logged }));
        if is_due {
            log::warn!("the database is busy or unreachable: retrying");
        }
        if self.limit.is_some_and(|limit| now - first >= limit) {
            return false;
        }
        pause(RETRY_PAUSE);
        true
    }
}

/// Runs a series of transactions between which other programs can write.
///
/// ```
/// use std::time::Duration;
///
/// use database::{DatabaseError, Retries, WriterQueue};
///
/// # let folder = tempfile::tempdir()?;
/// # let pools = database::DatabaseSettings::default().open(folder.path(), "notes", &[])?;
/// let is_busy = |error: &DatabaseError| matches!(error, DatabaseError::Busy);
/// let mut queue = WriterQueue::new(&pools, Retries::up_to(Duration::from_secs(60)), is_busy);
/// for batch in [1, 2] {
///     assert_eq!(queue.write(|_| Ok(batch))?, batch);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WriterQueue<'p, E> {
    pools: &'p Pools,
    retries: Retries,
    is_busy: fn(&E) -> bool,
    begin: Instant,
    slice: Duration,
    /// The function that pauses. Tests replace it to record the pauses.
    pause: &'p dyn Fn(Duration),
}

impl<'p, E: From<DatabaseError>> WriterQueue<'p, E> {
    /// Creates a queue that retries a transaction if `is_busy` returns true for its error.
    pub fn new(pools: &'p Pools, retries: Retries, is_busy: fn(&E) -> bool) -> Self {
        let begin = Instant::now();
        Self { pools, retries, is_busy, begin, slice: SLICE, pause: &thread::sleep }
    }

    /// Runs a transaction.
    ///
    /// If a commit wasn't acknowledged, the transaction runs again, so `work` must be idempotent.
    ///
    /// # Errors
    /// Returns the error from `work`, or [`DatabaseError::Busy`] if the database was busy for too
    /// long.
    pub fn write<T>(&mut self, mut work: impl FnMut(&mut Db) -> Result<T, E>) -> Result<T, E> {
        let mut retries = self.retries.clone();
        let done = loop {
            match self.pools.write_blocking(&mut work) {
                Err(error) if (self.is_busy)(&error) => {
                    if !retries.pause_with(self.pause) {
                        return Err(error);
                    }
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
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::DatabaseSettings;

    fn is_busy(error: &DatabaseError) -> bool {
        matches!(error, DatabaseError::Busy)
    }

    fn nothing(_: &mut Db) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn open(folder: &tempfile::TempDir) -> Pools {
        DatabaseSettings::default().open(folder.path(), "test", &[]).unwrap()
    }

    fn queue(pools: &Pools) -> WriterQueue<'_, DatabaseError> {
        WriterQueue::new(pools, Retries::default(), is_busy)
    }

    #[test]
    fn another_program_can_write_in_the_gap_after_each_slice() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (open(&folder), open(&folder));
        let gaps = RefCell::new(Vec::new());
        let pause = |time| {
            other.write_blocking(nothing).unwrap();
            gaps.borrow_mut().push(time);
        };
        let mut short = WriterQueue { slice: Duration::ZERO, pause: &pause, ..queue(&own) };
        for _ in 0..3 {
            short.write(nothing).unwrap();
        }
        assert_eq!(gaps.take(), [WRITERS_GAP; 3]);
        let mut long = WriterQueue { slice: Duration::MAX, pause: &pause, ..queue(&own) };
        for _ in 0..3 {
            long.write(nothing).unwrap();
        }
        assert!(gaps.take().is_empty());
    }

    #[test]
    fn busy_transaction_is_retried_until_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let pools = open(&folder);
        let pauses = RefCell::new(Vec::new());
        let pause = |time| pauses.borrow_mut().push(time);
        let unlimited = || WriterQueue { slice: Duration::MAX, pause: &pause, ..queue(&pools) };
        let mut attempts = 0;
        let done = unlimited().write(|_| {
            attempts += 1;
            if attempts < 3 { Err(DatabaseError::Busy) } else { Ok(attempts) }
        });
        assert_eq!((done.unwrap(), pauses.take()), (3, vec![RETRY_PAUSE; 2]));
        let mut limited = WriterQueue { retries: Retries::up_to(Duration::ZERO), ..unlimited() };
        assert!(is_busy(&limited.write(|_| Err::<(), _>(DatabaseError::Busy)).unwrap_err()));
        assert!(pauses.take().is_empty());
    }

    #[test]
    fn permanent_failure_is_not_retried() {
        let folder = tempfile::tempdir().unwrap();
        let mut attempts = 0;
        let failed = queue(&open(&folder)).write(|_| {
            attempts += 1;
            Err::<(), _>(DatabaseError::NotFound)
        });
        assert!(failed.is_err());
        assert_eq!(attempts, 1);
    }
}
