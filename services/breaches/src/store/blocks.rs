//! The operator's block list.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::block;

/// An entry of the block list: a network or a user-agent substring.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, serde::Serialize)]
pub struct Block {
    /// The id by which the operator removes the entry.
    pub id: i64,
    /// Network of refused clients.
    pub cidr: Option<String>,
    /// Substring of blocked user agents, in lower case.
    pub user_agent: Option<String>,
    /// When the block ends, in Unix seconds.
    pub until: Option<i64>,
    /// When the entry was created, in Unix seconds.
    pub created_at: i64,
}

/// Returns all entries, in the order in which they were added.
pub fn all(db: &mut Db) -> Result<Vec<Block>, DatabaseError> {
    Ok(block::table.order(block::id).load(db)?)
}

/// Adds an entry and returns its id.
pub fn add(
    db: &mut Db,
    cidr: Option<&str>,
    user_agent: Option<&str>,
    until: Option<i64>,
    now: i64,
) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(block::table)
        .values((
            block::cidr.eq(cidr),
            block::user_agent.eq(user_agent),
            block::until.eq(until),
            block::created_at.eq(now),
        ))
        .returning(block::id)
        .get_result(db)?)
}

/// Removes an entry. Returns [`DatabaseError::NotFound`] if it does not exist.
pub fn remove(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    match diesel::delete(block::table.find(id)).execute(db)? {
        0 => Err(DatabaseError::NotFound),
        _ => Ok(()),
    }
}
