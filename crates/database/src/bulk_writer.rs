//! Writes large transactions to a SQLite file while no server is using it.

use std::fs::File;

use diesel::connection::SimpleConnection;

use crate::{DatabaseError, Db, Pools, transaction};

/// Page cache size in KiB. Since a load changes index pages in random order, this is enough for the
/// indexes of a million rows.
const CACHE_KIB: u32 = 256 << 10;

/// Maximum number of pages in the WAL before a commit copies them to the database file.
const WAL_PAGES: u32 = 256 << 10;

/// A writer for transactions that can hold the write lock for many seconds.
///
/// In each transaction, SQLite writes every changed page twice: once to the WAL, and once to the
/// file. Since a load changes index pages in random order, small transactions would write the same
/// pages over and over. A server that is started while the writer exists logs a warning.
pub struct BulkWriter {
    db: Db,
    _server_lock: File,
}

impl BulkWriter {
    /// Opens a writer. Returns `None` if a server is using the file, and also for PostgreSQL, where
    /// transactions of any size are cheap.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator.
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

    /// Runs `work` in a transaction.
    ///
    /// # Errors
    /// Returns the error from `work` after a rollback, or [`DatabaseError::Busy`] if another
    /// command has held the write lock for a minute.
    pub fn write<T, E>(&mut self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        transaction(&mut self.db, work)
    }
}

impl Drop for BulkWriter {
    /// Copies the WAL to the database file and truncates it, so that the next reader doesn't have
    /// to.
    fn drop(&mut self) {
        if let Db::Sqlite(conn) = &mut self.db
            && let Err(error) =
                conn.batch_execute("PRAGMA busy_timeout = 1000; PRAGMA wal_checkpoint(TRUNCATE);")
        {
            log::debug!("the WAL is kept until the next checkpoint: {error}");
        }
    }
}
