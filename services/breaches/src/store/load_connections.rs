//! Connections of loads, with settings that suit long runs of writes.

use database::{DatabaseError, Db, Pools};
use diesel::connection::SimpleConnection;

/// Pages in the write-ahead log of SQLite before they are copied into the file: a page that several
/// transactions change is copied once.
const LOG_PAGES: usize = 32_768;

/// Opens a connection for a load.
///
/// All its statements find their rows by an index. PostgreSQL would scan tables that were empty when
/// it first planned a statement, and go on so while the load fills them.
pub fn connect(pools: &Pools) -> Result<Db, DatabaseError> {
    let mut db = pools.connect()?;
    if let Db::Pg(conn) = &mut db {
        conn.batch_execute("SET enable_seqscan = off")?;
    }
    Ok(db)
}

/// Gives the page cache of SQLite `cache_kib` KiB, in place of a memory map of the file, whose
/// resident size could not be bounded. PostgreSQL needs nothing.
///
/// The pages that a sorted load changes are spread over the whole index by domain.
pub fn set_cache(db: &mut Db, cache_kib: usize) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    conn.batch_execute(&format!(
        "PRAGMA mmap_size = 0; PRAGMA cache_size = -{cache_kib}; \
         PRAGMA wal_autocheckpoint = {LOG_PAGES}"
    ))?;
    Ok(())
}

/// Milliseconds that a note waits for the lock of SQLite.
const NOTE_WAIT_MS: u32 = 500;

/// Opens a connection for a note that may as well be left out.
pub fn connect_for_notes(pools: &Pools) -> Result<Db, DatabaseError> {
    let mut db = pools.connect()?;
    match &mut db {
        Db::Sqlite(conn) => conn.batch_execute(&format!("PRAGMA busy_timeout = {NOTE_WAIT_MS}"))?,
        Db::Pg(conn) => conn.batch_execute(&format!("SET lock_timeout = {NOTE_WAIT_MS}"))?,
    }
    Ok(db)
}
