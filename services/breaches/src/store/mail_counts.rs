//! Email counts per requester and recipient, for rate limiting.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::mail_count;

/// Returns the times of a party's emails after `second`, oldest first.
pub fn since(db: &mut Db, party: &[u8], second: i64) -> Result<Vec<i64>, DatabaseError> {
    Ok(mail_count::table
        .filter(mail_count::party.eq(party))
        .filter(mail_count::at.gt(second))
        .order(mail_count::at)
        .select(mail_count::at)
        .load(db)?)
}

pub fn add(db: &mut Db, party: &[u8], now: i64) -> Result<(), DatabaseError> {
    diesel::insert_into(mail_count::table)
        .values((mail_count::party.eq(party), mail_count::at.eq(now)))
        .execute(db)?;
    Ok(())
}

/// Removes one of the emails counted for a party in the second `at`.
pub fn remove_one(db: &mut Db, party: &[u8], at: i64) -> Result<(), DatabaseError> {
    let counts =
        mail_count::table.filter(mail_count::party.eq(party)).filter(mail_count::at.eq(at));
    let id: Option<i64> = counts.select(mail_count::id).first(db).optional()?;
    if let Some(id) = id {
        diesel::delete(mail_count::table.find(id)).execute(db)?;
    }
    Ok(())
}

/// Deletes old counts.
pub fn prune(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    Ok(diesel::delete(mail_count::table.filter(mail_count::at.lt(before))).execute(db)?)
}
