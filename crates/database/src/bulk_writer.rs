//! Large transactions on a SQLite file that no server uses.

use std::fs::File;

use diesel::connection::SimpleConnection;

use crate::{DatabaseError, Db, Pools, transaction};

/// The size of the page cache in KiB. It is large enough for the indexes of a million rows, whose
/// pages a load changes in random order.
const CACHE_KIB: u32 = 256 << 10;

/// Once the WAL has this number of pages, a commit copies them to the database file.
const WAL_PAGES: u32 = 256 << 10;

/// A writer for transactions that hold the write lock for many seconds.
///
/// SQLite writes each page that a transaction changes twice, to the WAL and to the file. A load
/// changes index pages in random order, so small transactions write the same pages again and again.
/// A server that starts while the writer exists logs a warning.
pub struct BulkWriter {
    db: Db,
    _server_lock: File,
}

impl BulkWriter {
    /// Opens a writer, unless a server uses the file or the database is PostgreSQL, whose transactions
    /// are cheap at any size.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn open(pools: &Pools) -> Result<Option<Self>, DatabaseError> {
        let Some(server_lock) = pools.lock_out_servers() else { return Ok(None) };
        let mut db = pools.connect()?;
        if let Db::Sqlite(conn) = &mut db {
            conn.batch_execute(&format!(
                "PRAGMA cache_size = -{CACHE_KIB}; PRAGMA wal_autocheckpoint = {WAL_PAGES};"
            ))?;
        }
        Ok(Some(Self { db, _server_lock: server_lock }))
    }

    /// Runs a transaction.
    ///
    /// # Errors
    /// Returns the error of `work` after a rollback, or [`DatabaseError::Busy`] if another command
    /// holds the write lock for a minute.
    pub fn write<T, E>(&mut self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        transaction(&mut self.db, work)
    }
}

impl Drop for BulkWriter {
    /// Copies the WAL to the database file and truncates it, so that the next reader does not have
    /// to.
    fn drop(&mut self) {
        if let Db::Sqlite(conn) = &mut self.db
            && let Err(error) =
                conn.batch_execute("PRAGMA busy_timeout = 1000; PRAGMA wal_checkpoint(TRUNCATE);")
        {
            log::debug!("the WAL stays until the next checkpoint: {error}");
        }
    }
}
