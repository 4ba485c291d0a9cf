//! Locks for check-then-insert logic on PostgreSQL. SQLite has only one writer, so it doesn't need
//! them.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::Sha1Digest;

/// Locks a subscriber's domains and notice records until the end of the transaction. If you also
/// need the lock of the accounts, take that one first.
pub fn take_subscriber(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    take(db, &[&Sha1Digest::of(format!("subscriber {subscriber}")).0])
}

/// Locks the notice state of domains until the end of the transaction. If you also need a
/// subscriber's lock, take that one first.
pub fn take_notices(db: &mut Db, domains: &[&str]) -> Result<(), DatabaseError> {
    let digest = |domain: &&str| Sha1Digest::of(format!("notices {domain}")).0;
    let digests: Vec<_> = domains.iter().map(digest).collect();
    let parties: Vec<&[u8]> = digests.iter().map(<[u8; 20]>::as_slice).collect();
    take(db, &parties)
}

/// Locks parties, identified by digests, until the end of the transaction.
///
/// The locks are taken in sorted order to avoid deadlocks.
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
