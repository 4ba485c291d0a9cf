//! Stores takedowns, i.e. the removal list.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde::Serialize;

use super::schema::removal;
use crate::model::address::bucket_key_of;

/// Takedown of a bucket, or of its files below a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Serialize)]
pub struct Removal {
    /// Takedown id, as used by commands.
    pub id: i64,
    /// Bucket address.
    pub address: String,
    /// Path prefix. Empty for the whole bucket.
    pub prefix: String,
    pub reason: String,
    /// The person who requested it.
    pub operator: String,
    /// Unix time of the request.
    pub requested_at: i64,
    /// Unix time at which the takedown was completed. `None` while it is pending.
    pub applied_at: Option<i64>,
    /// Number of files that were hidden.
    pub files: i64,
    /// Unix time at which the takedown was lifted, if it was.
    pub lifted_at: Option<i64>,
    /// Reason for lifting it.
    pub lifted_reason: Option<String>,
    /// The person who lifted it.
    pub lifted_by: Option<String>,
}

/// The person, reason and time of a change to the removal list.
#[derive(Clone, Debug)]
pub struct AuditEntry<'a> {
    pub reason: &'a str,
    /// The person who makes the change.
    pub operator: &'a str,
    /// Unix time of the change.
    pub at: i64,
}

/// Requests a takedown. If there is already an identical request, e.g. because the command was
/// killed, returns the existing request. Also returns whether that takedown is already completed.
pub fn request(
    db: &mut Db,
    address: &str,
    prefix: &str,
    act: &AuditEntry<'_>,
) -> Result<(i64, bool), DatabaseError> {
    let same = removal::table
        .filter(removal::address.eq(address))
        .filter(removal::prefix.eq(prefix))
        .filter(removal::reason.eq(act.reason))
        .filter(removal::operator.eq(act.operator))
        .filter(removal::lifted_at.is_null());
    let listed: Option<(i64, Option<i64>)> = same
        .select((removal::id, removal::applied_at))
        .order(removal::id.desc())
        .first(db)
        .optional()?;
    if let Some((id, applied_at)) = listed {
        return Ok((id, applied_at.is_some()));
    }
    let id = diesel::insert_into(removal::table)
        .values((
            removal::address.eq(address),
            removal::prefix.eq(prefix),
            removal::reason.eq(act.reason),
            removal::operator.eq(act.operator),
            removal::requested_at.eq(act.at),
        ))
        .returning(removal::id)
        .get_result(db)?;
    Ok((id, false))
}

/// Returns all takedowns, oldest first.
pub fn all(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.order(removal::id.asc()).load(db)?)
}

/// Returns all takedowns that haven't been lifted, whether or not they are completed.
pub fn in_force(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.filter(removal::lifted_at.is_null()).order(removal::id.asc()).load(db)?)
}

/// Returns `true` if there's a takedown of the whole bucket, under any of its addresses, that
/// hasn't been lifted.
pub fn hides_bucket(db: &mut Db, address: &str) -> Result<bool, DatabaseError> {
    Ok(of_bucket(db, address)?.iter().any(|removal| removal.prefix.is_empty()))
}

/// Returns the bucket's takedowns that cover paths below a prefix and haven't been lifted.
pub fn below(db: &mut Db, address: &str, prefix: &str) -> Result<Vec<Removal>, DatabaseError> {
    let mut found = of_bucket(db, address)?;
    found.retain(|removal| overlap(&removal.prefix, prefix));
    Ok(found)
}

/// Returns `true` if a path can have both prefixes.
pub fn overlap(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Returns the takedowns of a bucket, under any of its addresses, that haven't been lifted.
pub fn of_bucket(db: &mut Db, address: &str) -> Result<Vec<Removal>, DatabaseError> {
    let key = bucket_key_of(address);
    let mut listed = in_force(db)?;
    listed.retain(|removal| bucket_key_of(&removal.address) == key);
    Ok(listed)
}

/// Returns pending takedowns.
pub fn pending(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.filter(removal::applied_at.is_null()).order(removal::id.asc()).load(db)?)
}

/// Looks up a takedown by id.
pub fn find(db: &mut Db, id: i64) -> Result<Option<Removal>, DatabaseError> {
    Ok(removal::table.find(id).first(db).optional()?)
}

/// Returns `true` if the takedown is pending.
pub fn is_pending(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(find(db, id)?.is_some_and(|removal| removal.applied_at.is_none()))
}

/// Marks a takedown as completed.
pub fn applied(db: &mut Db, id: i64, files: u64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(removal::table.find(id).filter(removal::applied_at.is_null()))
        .set((removal::applied_at.eq(now), removal::files.eq(files as i64)))
        .execute(db)?;
    Ok(())
}

/// Lifts all completed takedowns of a bucket, under any of its addresses, and returns their number.
pub fn lift(db: &mut Db, address: &str, act: &AuditEntry<'_>) -> Result<usize, DatabaseError> {
    let mut lifted = 0;
    for listed in of_bucket(db, address)? {
        let applied = removal::table.find(listed.id).filter(removal::applied_at.is_not_null());
        lifted += diesel::update(applied)
            .set((
                removal::lifted_at.eq(act.at),
                removal::lifted_reason.eq(act.reason),
                removal::lifted_by.eq(act.operator),
            ))
            .execute(db)?;
    }
    Ok(lifted)
}
