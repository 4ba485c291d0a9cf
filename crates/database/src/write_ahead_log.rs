//! Clears SQLite's write-ahead log.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Integer;

use crate::{DatabaseError, Db};

/// How long [`clear_log`] waits for readers, in milliseconds. During this time, no other connection
/// can write.
const CLEAR_MS: u32 = 200;

#[derive(QueryableByName)]
struct Timeout {
    #[diesel(sql_type = Integer)]
    timeout: i32,
}

#[derive(QueryableByName)]
struct Checkpoint {
    #[diesel(sql_type = Integer)]
    busy: i32,
}

/// Copies SQLite's write-ahead log to the database file and empties it, so that the log no longer
/// contains deleted content. Does nothing on PostgreSQL.
///
/// # Errors
/// Returns [`DatabaseError::Busy`] if another connection keeps reading or writing for too long, or
/// any other database error.
pub fn clear_log(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    let before: Timeout = diesel::sql_query("PRAGMA busy_timeout").get_result(conn)?;
    // The first checkpoint copies most of the log without blocking any writers.
    conn.batch_execute(&format!(
        "PRAGMA wal_checkpoint(PASSIVE); PRAGMA busy_timeout = {CLEAR_MS}"
    ))?;
    let done = diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)").get_result::<Checkpoint>(conn);
    conn.batch_execute(&format!("PRAGMA busy_timeout = {}", before.timeout))?;
    // SQLite reports that the log is busy in the result row rather than as an error.
    if done?.busy == 0 { Ok(()) } else { Err(DatabaseError::Busy) }
}
