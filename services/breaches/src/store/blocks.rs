//! The operator's block list.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::block;

/// A block list entry, either a network or a user agent substring.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, serde::Serialize)]
pub struct Block {
    /// Id for removing the entry.
    pub id: i64,
    /// Blocked network.
    pub cidr: Option<String>,
    /// Blocked user agents contain this lowercase string.
    pub user_agent: Option<String>,
    /// Expiry time in Unix seconds.
    pub until: Option<i64>,
    /// Creation time in Unix seconds.
    pub created_at: i64,
}

impl Block {
    /// Returns the blocked network or user agent.
    pub fn client(&self) -> &str {
        self.cidr.as_ref().or(self.user_agent.as_ref()).map_or("", String::as_str)
    }
}

/// Lists all entries, oldest first.
pub fn all(db: &mut Db) -> Result<Vec<Block>, DatabaseError> {
    Ok(block::table.order(block::id).load(db)?)
}

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

/// Removes an entry and returns it. Fails with [`DatabaseError::NotFound`] if it doesn't exist.
pub fn remove(db: &mut Db, id: i64) -> Result<Block, DatabaseError> {
    let removed = block::table.find(id).first(db)?;
    match diesel::delete(block::table.find(id)).execute(db)? {
        0 => Err(DatabaseError::NotFound),
        _ => Ok(removed),
    }
}
