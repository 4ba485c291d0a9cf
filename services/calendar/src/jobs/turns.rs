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
