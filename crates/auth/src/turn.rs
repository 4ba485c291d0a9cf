//! Serializes read-then-write transactions on PostgreSQL. SQLite only has one writer anyway.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use sha2::{Digest, Sha256};

/// Makes all other transactions with the same `what` wait until this transaction ends.
pub(crate) fn take_turn(db: &mut Db, what: &str) -> Result<(), DatabaseError> {
    let Db::Pg(conn) = db else { return Ok(()) };
    let digest: [u8; 32] = Sha256::digest(format!("auth {what}")).into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
        .bind::<BigInt, _>(i64::from_le_bytes([a, b, c, d, e, f, g, h]))
        .execute(conn)?;
    Ok(())
}
