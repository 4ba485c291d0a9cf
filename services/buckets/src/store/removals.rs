//! Takedowns.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde::Serialize;

use super::schema::removal;

/// A takedown.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Serialize)]
pub struct Removal {
    /// Identifier.
    pub id: i64,
    /// Address of the bucket.
    pub address: String,
    /// Only files below; empty: the whole bucket.
    pub prefix: String,
    /// Why.
    pub reason: String,
    /// Who.
    pub operator: String,
    /// Unix seconds.
    pub requested_at: i64,
    /// When it was carried out; none: it is still to be done.
    pub applied_at: Option<i64>,
    /// Files that it hid.
    pub files: i64,
    /// When it was taken off the list.
    pub lifted_at: Option<i64>,
    /// Why it was.
    pub lifted_reason: Option<String>,
    /// Who did.
    pub lifted_by: Option<String>,
}

/// Who changes the removal list, when and why.
#[derive(Clone, Debug)]
pub struct AuditEntry<'a> {
    /// Why.
    pub reason: &'a str,
    /// Who.
    pub operator: &'a str,
    /// Unix seconds.
    pub at: i64,
}

/// Puts a takedown on the list, to be carried out; the same one again, such as after a kill, is the
/// one that is on the list.
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

/// All takedowns, oldest first.
pub fn all(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.order(removal::id.asc()).load(db)?)
}

/// Takedowns in force: not lifted, carried out or not.
pub fn in_force(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.filter(removal::lifted_at.is_null()).order(removal::id.asc()).load(db)?)
}

/// Takedowns to be carried out.
pub fn pending(db: &mut Db) -> Result<Vec<Removal>, DatabaseError> {
    Ok(removal::table.filter(removal::applied_at.is_null()).order(removal::id.asc()).load(db)?)
}

/// A takedown by its id.
pub fn find(db: &mut Db, id: i64) -> Result<Option<Removal>, DatabaseError> {
    Ok(removal::table.find(id).first(db).optional()?)
}

/// Notes that a takedown was carried out.
pub fn applied(db: &mut Db, id: i64, files: u64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(removal::table.find(id).filter(removal::applied_at.is_null()))
        .set((removal::applied_at.eq(now), removal::files.eq(files as i64)))
        .execute(db)?;
    Ok(())
}

/// Takes an address off the list and returns how many takedowns that lifted.
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
