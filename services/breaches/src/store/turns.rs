//! Locks for count-then-insert sequences on PostgreSQL. SQLite has a single writer and needs none.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::Sha1Digest;

/// Locks the domains of a subscriber until the transaction ends.
pub fn take_subscriber(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    take(db, &[&Sha1Digest::of(format!("subscriber {subscriber}")).0])
}

/// Locks the counts of some parties, each named by a digest, until the transaction ends.
///
/// Locks are taken in sorted order to avoid deadlocks.
pub fn take(db: &mut Db, parties: &[&[u8]]) -> Result<(), DatabaseError> {
    let Db::Pg(conn) = db else { return Ok(()) };
    let starts = parties.iter().filter_map(|party| party.first_chunk::<8>());
    let mut keys: Vec<i64> = starts.map(|start| i64::from_le_bytes(*start)).collect();
    keys.sort_unstable();
    for key in keys {
        diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
            .bind::<BigInt, _>(key)
            .execute(conn)?;
    }
    Ok(())
}
