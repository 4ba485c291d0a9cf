//! Database connections tuned for long series of writes during a load.

use database::{DatabaseError, Db, Pools};
use diesel::connection::SimpleConnection;

use super::layout::Layout;

/// Number of WAL pages before SQLite runs a checkpoint. If it's high, a page changed by several
/// transactions is copied only once.
const LOG_PAGES: usize = 32_768;

/// Opens a connection for a load.
///
/// PostgreSQL is forced to use indexes. Otherwise, statements planned while a table was empty would
/// keep doing sequential scans after the load has filled it. On a distributed database, this
/// affects only the coordinator, which looks up domains: a sequential scan of all domains for every
/// few hundred names would account for a third of a load's cost. Citus doesn't pass the setting on
/// to the workers, so joins there may still read whole shards.
pub fn connect(pools: &Pools) -> Result<Db, DatabaseError> {
    let mut db = pools.connect()?;
    if Layout::of(&mut db)?.is_distributed() {
        set_up_cluster_session(&mut db)?;
    }
    if let Db::Pg(conn) = &mut db {
        conn.batch_execute("SET enable_seqscan = off")?;
    }
    Ok(db)
}

/// Session settings for a distributed database.
///
/// With one connection per server, a transaction sees its own changes everywhere. Because of the
/// timeout, statements fail early enough for a 503 if a server is down.
pub const CLUSTER_SESSION: [(&str, &str); 3] = [
    ("citus.max_adaptive_executor_pool_size", "1"),
    ("citus.multi_shard_modify_mode", "sequential"),
    ("citus.node_connection_timeout", "5000"),
];

/// Applies [`CLUSTER_SESSION`] to a job's connection.
fn set_up_cluster_session(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Pg(conn) = db else { return Ok(()) };
    for (name, value) in CLUSTER_SESSION {
        conn.batch_execute(&format!("SET {name} = '{value}'"))?;
    }
    Ok(())
}

/// Sets SQLite's page cache to `cache_kib` KiB and turns off memory mapping, which would use an
/// unbounded amount of resident memory. Does nothing on PostgreSQL.
///
/// Even a sorted load changes random pages of the by-domain index.
pub fn set_cache(db: &mut Db, cache_kib: usize) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    conn.batch_execute(&format!(
        "PRAGMA mmap_size = 0; PRAGMA cache_size = -{cache_kib}; \
         PRAGMA wal_autocheckpoint = {LOG_PAGES}"
    ))?;
    Ok(())
}

/// How long a heartbeat waits for a lock, in milliseconds.
const NOTE_WAIT_MS: u32 = 500;

/// Opens a connection for heartbeats. It doesn't wait long for locks, since heartbeats may be
/// skipped.
pub fn connect_for_notes(pools: &Pools) -> Result<Db, DatabaseError> {
    let mut db = pools.connect()?;
    match &mut db {
        Db::Sqlite(conn) => conn.batch_execute(&format!("PRAGMA busy_timeout = {NOTE_WAIT_MS}"))?,
        Db::Pg(conn) => conn.batch_execute(&format!("SET lock_timeout = {NOTE_WAIT_MS}"))?,
    }
    Ok(db)
}
