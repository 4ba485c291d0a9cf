//! Takedowns.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde::Serialize;

use super::schema::removal;

/// A takedown of a bucket, or of the files below a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Serialize)]
pub struct Removal {
    /// The id by which commands refer to the takedown.
    pub id: i64,
    /// Address of the bucket.
    pub address: String,
    /// Path prefix; empty for the whole bucket.
    pub prefix: String,
    pub reason: String,
    /// Person who requested it.
    pub operator: String,
    /// When the takedown was requested, in Unix seconds.
    pub requested_at: i64,
    /// When the takedown was completed. `None` while it is pending.
    pub applied_at: Option<i64>,
    /// Number of hidden files.
    pub files: i64,
    /// When the takedown was lifted. `None` if it was not.
    pub lifted_at: Option<i64>,
    /// The reason for lifting it, if it was lifted.
    pub lifted_reason: Option<String>,
    /// Person who lifted it.
    pub lifted_by: Option<String>,
}

/// Author, reason and time of a change to the removal list.
#[derive(Clone, Debug)]
pub struct AuditEntry<'a> {
    pub reason: &'a str,
    /// Name of the person who makes the change.
    pub operator: &'a str,
    /// Time of the change in Unix seconds.
    pub at: i64,
}

/// Requests a takedown. If the same request already exists, for example after a kill, it is reused.
pub fn request(
    db: &mut Db,
    address: &str,
    prefix: &str,
    act: &AuditEntry<'_>,
) -> Result<i64, DatabaseError> {
    let same = removal::table
        .filter(removal::address.eq(address))
        .filter(removal::prefix.eq(prefix))
        .filter(removal::reason.eq(act.reason))
        .filter(removal::operator.eq(act.operator))
        .filter(removal::lifted_at.is_null());
    let listed: Option<i64> =
        same.select(removal::id).order(removal::id.desc()).first(db).optional()?;
    if let Some(id) = listed {
        return Ok(id);
    }
    Ok(diesel::insert_into(removal::table)
        .values((
            removal::address.eq(address),
            removal::prefix.eq(prefix),
            removal::reason.eq(act.reason),
            removal::operator.eq(act.operator),
            removal::requested_at.eq(act.at),
        ))
        .returning(removal::id)
        .get_result(db)?)
}

/// Returns all takedowns, oldest first.
pub fn all(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.order(removal::id.asc()).load(db)?)
}

/// Returns the takedowns that have not been lifted, whether completed or pending.
pub fn in_force(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.filter(removal::lifted_at.is_null()).order(removal::id.asc()).load(db)?)
}

/// Returns true if a takedown of the whole bucket is pending or in force.
pub fn hides_bucket(db: &mut Db, address: &str) -> Result<bool, DatabaseError> {
    let listed = removal::table
        .filter(removal::address.eq(address))
        .filter(removal::prefix.eq(""))
        .filter(removal::lifted_at.is_null());
    let found: Option<i64> = listed.select(removal::id).first(db).optional()?;
    Ok(found.is_some())
}

/// Returns true if a takedown of the bucket or of a prefix is pending or in force.
pub fn names_bucket(db: &mut Db, address: &str) -> Result<bool, DatabaseError> {
    let listed =
        removal::table.filter(removal::address.eq(address)).filter(removal::lifted_at.is_null());
    let found: Option<i64> = listed.select(removal::id).first(db).optional()?;
    Ok(found.is_some())
}

/// Returns pending takedowns.
pub fn pending(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.filter(removal::applied_at.is_null()).order(removal::id.asc()).load(db)?)
}

/// Returns a takedown by its id.
pub fn find(db: &mut Db, id: i64) -> Result<Option<Removal>, DatabaseError> {
    Ok(removal::table.find(id).first(db).optional()?)
}

/// Returns true if a takedown is pending.
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

/// Lifts the takedowns of an address. Returns their number.
pub fn lift(db: &mut Db, address: &str, act: &AuditEntry<'_>) -> Result<usize, DatabaseError> {
    let listed = removal::table
        .filter(removal::address.eq(address))
        .filter(removal::applied_at.is_not_null())
        .filter(removal::lifted_at.is_null());
    Ok(diesel::update(listed)
        .set((
            removal::lifted_at.eq(act.at),
            removal::lifted_reason.eq(act.reason),
            removal::lifted_by.eq(act.operator),
        ))
        .execute(db)?)
}
