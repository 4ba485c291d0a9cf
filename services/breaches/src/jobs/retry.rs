//! Retries while the database is busy, since other writers shouldn't cause a load to fail after
//! hours.

use database::{Backend, DatabaseError, Db, Pools, Retries, transaction};

use super::error::JobError;
use crate::store::{Layout, cluster, load_connections, versions};

/// Returns whether it's worth trying again.
pub fn is_retryable(error: &JobError) -> bool {
    matches!(error, JobError::Database(DatabaseError::Busy))
}

/// A job's connection, which is replaced if it's lost.
pub struct RetryingConnection {
    pools: Pools,
    connect: fn(&Pools) -> Result<Db, DatabaseError>,
    db: Db,
}

impl RetryingConnection {
    /// Opens a connection; see [`load_connections::connect`]. Retries while PostgreSQL is
    /// unreachable, because a load opens its connection only after it has read all of its input.
    pub fn open(pools: &Pools) -> Result<Self, JobError> {
        Self::open_with(pools, load_connections::connect)
    }

    /// Opens a connection for reads of whole tables, without the settings for loads.
    pub fn for_checks(pools: &Pools) -> Result<Self, JobError> {
        Self::open_with(pools, Pools::connect)
    }

    fn open_with(
        pools: &Pools,
        connect: fn(&Pools) -> Result<Db, DatabaseError>,
    ) -> Result<Self, JobError> {
        let db = connect_to(pools.backend(), || connect(pools))?;
        Ok(Self { pools: pools.clone(), connect, db })
    }

    /// Returns the connection, for settings and for reads that are not repeated.
    pub fn db(&mut self) -> &mut Db {
        &mut self.db
    }

    /// Runs reads outside of a transaction until they succeed or fail for good.
    pub fn read<T>(
        &mut self,
        mut work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        self.repeat(|db, _| work(db))
    }

    /// Runs a transaction until it's committed or fails for good.
    ///
    /// If it's unknown whether a commit succeeded, the transaction is run again, so `work` must be
    /// idempotent. If the coordinator of a distributed database failed after it had committed, the
    /// rows of the first run become visible before the next one. Otherwise their links would be
    /// counted again.
    pub fn transaction<T>(
        &mut self,
        mut work: impl FnMut(&mut Db) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        self.repeat(|db, is_repeated| {
            transaction(db, |db| -> Result<T, JobError> {
                if is_repeated && Layout::of(db)?.is_distributed() {
                    versions::lock_accounts(db)?;
                    cluster::complete_commits(db)?;
                }
                work(db)
            })
        })
    }

    /// Makes attempts until one succeeds or fails for good. Passes `true` to all but the first.
    fn repeat<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Db, bool) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        let mut retries = Retries::default();
        let mut is_repeated = false;
        loop {
            match attempt(&mut self.db, is_repeated) {
                Err(error) if is_retryable(&error) => retries.pause(),
                done => return done,
            };
            is_repeated = true;
            // SQLite's lock will be released eventually, but a lost connection to a server has to
            // be replaced.
            if self.db.backend() == Backend::Postgres
                && let Ok(new) = (self.connect)(&self.pools)
            {
                self.db = new;
            }
        }
    }
}

/// Connects. Retries while a PostgreSQL server is unreachable.
fn connect_to(
    backend: Backend,
    mut connect: impl FnMut() -> Result<Db, DatabaseError>,
) -> Result<Db, DatabaseError> {
    let mut retries = Retries::default();
    loop {
        match connect() {
            Err(DatabaseError::Setup(_) | DatabaseError::Busy) if backend == Backend::Postgres => {
                retries.pause();
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transaction_is_retried_while_the_database_is_busy() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let mut connection = RetryingConnection::open(&pools).unwrap();
        let mut attempts = 0;
        let done = connection.transaction(|db| {
            attempts += 1;
            let is_first = versions::set_once(db, "attempt", attempts)?;
            if attempts < 3 { Err(DatabaseError::Busy.into()) } else { Ok(is_first) }
        });
        assert!(done.unwrap(), "failed attempts are rolled back");
        assert_eq!(attempts, 3);
        let failed = connection.transaction(|_| Err::<(), _>(DatabaseError::NotFound.into()));
        assert!(failed.is_err());
    }

    #[test]
    fn read_is_retried_while_the_database_is_busy() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let mut connection = RetryingConnection::open(&pools).unwrap();
        let mut attempts = 0;
        let read = connection.read(|db| {
            attempts += 1;
            if attempts < 3 { Err(DatabaseError::Busy.into()) } else { Ok(versions::current(db)?) }
        });
        assert_eq!(read.unwrap().opt_out, 0);
        assert_eq!(attempts, 3);
    }

    #[test]
    fn connection_is_retried_only_for_a_server() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        for (backend, is_connected) in [(Backend::Postgres, true), (Backend::Sqlite, false)] {
            let mut attempts = 0;
            let connected = connect_to(backend, || {
                attempts += 1;
                let refused = DatabaseError::Setup("Connection refused".to_owned());
                if attempts < 3 { Err(refused) } else { load_connections::connect(&pools) }
            });
            assert_eq!(connected.is_ok(), is_connected);
        }
    }
}
