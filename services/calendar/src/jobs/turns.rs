//! Turns of other programs between the transactions of a long command.

use std::thread;
use std::time::{Duration, Instant};

use database::{Backend, DatabaseError, Db, Pools};

/// How long a command writes to SQLite before others have a turn; they wait five seconds at most, and of
/// several that wait any may be next.
const OWN: Duration = Duration::from_millis(400);
/// SQLite's waiting writers ask for their turn every tenth of a second.
const OTHERS: Duration = Duration::from_millis(120);

/// Writes transaction after transaction and lets others write in between.
pub struct Turns<'p> {
    pools: &'p Pools,
    begin: Instant,
}

impl<'p> Turns<'p> {
    pub fn new(pools: &'p Pools) -> Self {
        Self { pools, begin: Instant::now() }
    }

    /// Runs a transaction.
    ///
    /// # Errors
    /// Those of `work`, or the database is busy or not reachable.
    pub fn write<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = self.pools.write_blocking(work)?;
        if self.pools.backend() == Backend::Sqlite && self.begin.elapsed() > OWN {
            thread::sleep(OTHERS);
            self.begin = Instant::now();
        }
        Ok(done)
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
                    Ok::<_, DatabaseError>(())
                };
                turns.write(work).unwrap();
                count += 1;
            }
        });
        assert!(count < MOST, "nobody else could write beside {count} transactions");
    }
}
