//! Turns on PostgreSQL: whoever counts and then adds does so alone, as on SQLite, which has one writer.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::Sha1Digest;

/// Makes this transaction the only one that decides about the domains of a subscriber, until it ends.
pub fn take_subscriber(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    take(db, &[&Sha1Digest::of(format!("subscriber {subscriber}")).0])
}

/// Makes this transaction the only one that counts for some parties, until it ends; each is named by a
/// digest.
///
/// Their turns are taken in one order, so that no two transactions wait for each other.
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
