//! Locks for count-then-insert sequences on PostgreSQL. SQLite has a single writer and does not
//! need them.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::Sha1Digest;

/// Locks the domains of a subscriber until the transaction ends.
pub fn take_subscriber(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    take(db, &[&Sha1Digest::of(format!("subscriber {subscriber}")).0])
}

/// Locks the notice state of domains until the transaction ends. A transaction that also locks a
/// subscriber must lock the subscriber first.
pub fn take_notices(db: &mut Db, domains: &[&str]) -> Result<(), DatabaseError> {
    let digest = |domain: &&str| Sha1Digest::of(format!("notices {domain}")).0;
    let digests: Vec<_> = domains.iter().map(digest).collect();
    let parties: Vec<&[u8]> = digests.iter().map(<[u8; 20]>::as_slice).collect();
    take(db, &parties)
}

/// Locks the counts of some parties, each identified by a digest, until the transaction ends.
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
