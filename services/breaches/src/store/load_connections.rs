//! Connections of loads, with settings for long series of writes.

use database::{DatabaseError, Db, Pools};
use diesel::connection::SimpleConnection;

use super::layout::Layout;

/// Number of pages in SQLite's write-ahead log before a checkpoint. A page changed by several
/// transactions is then copied only once.
const LOG_PAGES: usize = 32_768;

/// Opens a connection for a load.
///
/// Its statements always use indexes. Otherwise PostgreSQL would keep scanning tables that were
/// empty when a statement was planned, even after the load has filled them.
pub fn connect(pools: &Pools) -> Result<Db, DatabaseError> {
    let mut db = pools.connect()?;
    if Layout::of(&mut db)?.is_distributed() {
        set_up_cluster_session(&mut db)?;
    } else if let Db::Pg(conn) = &mut db {
        conn.batch_execute("SET enable_seqscan = off")?;
    }
    Ok(db)
}

/// Settings of every session on a distributed database.
///
/// With a single connection to each server, a transaction sees its own changes on all servers. If a
/// server does not respond, a statement fails early enough to return a 503.
pub const CLUSTER_SESSION: [(&str, &str); 3] = [
    ("citus.max_adaptive_executor_pool_size", "1"),
    ("citus.multi_shard_modify_mode", "sequential"),
    ("citus.node_connection_timeout", "5000"),
];

/// Prepares a connection of a job on a distributed database.
fn set_up_cluster_session(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Pg(conn) = db else { return Ok(()) };
    for (name, value) in CLUSTER_SESSION {
        conn.batch_execute(&format!("SET {name} = '{value}'"))?;
    }
    Ok(())
}

/// Sets SQLite's page cache to `cache_kib` KiB and disables the memory map, whose resident size
/// would be unbounded. Does nothing on PostgreSQL.
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

/// Milliseconds for which a heartbeat waits for a lock.
const NOTE_WAIT_MS: u32 = 500;

/// Opens a connection for heartbeats, which may be skipped.
pub fn connect_for_notes(pools: &Pools) -> Result<Db, DatabaseError> {
    let mut db = pools.connect()?;
    match &mut db {
        Db::Sqlite(conn) => conn.batch_execute(&format!("PRAGMA busy_timeout = {NOTE_WAIT_MS}"))?,
        Db::Pg(conn) => conn.batch_execute(&format!("SET lock_timeout = {NOTE_WAIT_MS}"))?,
    }
    Ok(db)
}
