//! Turns of other programs between the transactions of a long command, and patience with a database that
//! is busy or away.

use std::thread;
use std::time::{Duration, Instant};

use database::{Backend, DatabaseError, Db, Pools, WRITERS_GAP};

use crate::error::Error;

/// How long a command writes to SQLite before others have a turn; they wait five seconds at most, and of
/// several that wait any may be next.
const OWN: Duration = Duration::from_millis(400);

/// How long a transaction is begun anew while the database is busy or away.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Writes transaction after transaction and lets others write in between.
pub struct Turns<'p> {
    pools: &'p Pools,
    begin: Instant,
    patience: Duration,
}

impl<'p> Turns<'p> {
    pub fn new(pools: &'p Pools) -> Self {
        Self { pools, begin: Instant::now(), patience: PATIENCE }
    }

    /// Runs a transaction.
    ///
    /// One whose commit was not acknowledged is run again: `work` must be one that does no harm when
    /// it was done already.
    ///
    /// # Errors
    /// Those of `work`, or the database is busy or not reachable for more than a minute.
    pub fn write<T>(
        &mut self,
        mut work: impl FnMut(&mut Db) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut waiting = None;
        let done = loop {
            match self.pools.write_blocking(&mut work) {
                Err(Error::Store(DatabaseError::Busy)) if self.waits_on(&mut waiting) => {
                    thread::sleep(PAUSE);
                }
                outcome => break outcome?,
            }
        };
        if self.pools.backend() == Backend::Sqlite && self.begin.elapsed() > OWN {
            thread::sleep(WRITERS_GAP);
            self.begin = Instant::now();
        }
        Ok(done)
    }

    /// Returns whether another attempt is made, and the operator that the command waits.
    fn waits_on(&self, since: &mut Option<Instant>) -> bool {
        let since = since.get_or_insert_with(|| {
            log::warn!("the database is busy or not reachable: the command waits");
            Instant::now()
        });
        since.elapsed() < self.patience
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use testkit::Database;

    use super::*;

    /// Transactions that the command writes at most.
    const MOST: usize = 20;

    /// Each transaction takes as long as a turn, and without a pause hardly any time lies between two of
    /// them: who looks every tenth of a second, as SQLite does, never finds the file free. With pauses
    /// one of them is enough, of as many as there are transactions.
    #[test]
    fn another_program_writes_before_the_command_is_through() {
        let database = Database::in_file();
        let (own, other) = (database.open(&[]), database.open(&[]));
        let nothing = |_: &mut Db| Ok::<_, DatabaseError>(());
        // Connections are there before anybody counts.
        own.write_blocking(nothing).unwrap();
        other.write_blocking(nothing).unwrap();
        let has_written = AtomicBool::new(false);
        let mut count = 0;
        thread::scope(|scope| {
            let (other, has_written) = (&other, &has_written);
            let mut turns = Turns::new(&own);
            while !has_written.load(Ordering::Relaxed) && count < MOST {
                let work = |_: &mut Db| {
                    if count == 0 {
                        // It begins to wait while the file is locked. On a slow machine it may miss
                        // pauses for the five seconds that SQLite waits, and waits again.
                        scope.spawn(move || {
                            while matches!(other.write_blocking(nothing), Err(DatabaseError::Busy))
                            {
                            }
                            has_written.store(true, Ordering::Relaxed);
                        });
                    }
                    thread::sleep(OWN);
                    Ok(())
                };
                turns.write(work).unwrap();
                count += 1;
            }
        });
        assert!(count < MOST, "nobody else could write beside {count} transactions");
    }

    #[test]
    fn a_transaction_that_finds_the_database_busy_is_run_again() {
        let database = Database::new();
        let pools = database.open(&[]);
        let mut attempts = 0;
        let done = Turns::new(&pools).write(|_| {
            attempts += 1;
            if attempts < 3 { Err(DatabaseError::Busy.into()) } else { Ok(attempts) }
        });
        assert_eq!(done.unwrap(), 3);
        let mut impatient = Turns { patience: Duration::ZERO, ..Turns::new(&pools) };
        let busy = impatient.write(|_| Err::<(), _>(DatabaseError::Busy.into()));
        assert!(matches!(busy, Err(Error::Store(DatabaseError::Busy))));
        let mut attempts = 0;
        let failed = Turns::new(&pools).write(|_| {
            attempts += 1;
            Err::<(), _>(DatabaseError::NotFound.into())
        });
        assert!(failed.is_err() && attempts == 1, "what is no fault of the moment is not repeated");
    }
}
