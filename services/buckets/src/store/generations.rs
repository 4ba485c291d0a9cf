//! The current generation of the index, and the version of the SQL rows.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::index_state;
use crate::model::identity::Identity;

/// The table's only row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// The current generation.
    pub generation: u32,
    /// Incremented with every change that searches can see.
    pub version: i64,
}

/// Reads the current state.
pub fn read(db: &mut Db) -> Result<IndexState, DatabaseError> {
    let (generation, version): (i64, i64) =
        index_state::table.select((index_state::generation, index_state::version)).first(db)?;
    Ok(IndexState { generation: u32::try_from(generation).unwrap_or(u32::MAX), version })
}

/// Reads the identity of the index that this database belongs to.
pub fn identity(db: &mut Db) -> Result<Identity, DatabaseError> {
    let (index, publishes): (String, i64) =
        index_state::table.select((index_state::index_id, index_state::publishes)).first(db)?;
    Ok(Identity { index, publishes: publishes as u64 })
}

/// Names the index, unless it already has a name. Returns the actual name.
pub fn name_index(db: &mut Db, name: &str) -> Result<String, DatabaseError> {
    diesel::update(index_state::table.filter(index_state::index_id.eq("")))
        .set(index_state::index_id.eq(name))
        .execute(db)?;
    Ok(identity(db)?.index)
}

/// Records a publish or removal.
pub fn published(db: &mut Db, identity: &Identity) -> Result<(), DatabaseError> {
    diesel::update(index_state::table)
        .set(index_state::publishes.eq(identity.publishes as i64))
        .execute(db)?;
    touch(db)
}

/// Records a removal that is already in the index, unless a later change has been recorded. Servers
/// are only notified when the removal is completed.
pub fn catch_up(db: &mut Db, identity: &Identity) -> Result<(), DatabaseError> {
    let number = identity.publishes as i64;
    diesel::update(index_state::table.filter(index_state::publishes.eq(number - 1)))
        .set(index_state::publishes.eq(number))
        .execute(db)?;
    Ok(())
}

/// Notifies servers of a change.
pub fn touch(db: &mut Db) -> Result<(), DatabaseError> {
    diesel::update(index_state::table)
        .set(index_state::version.eq(index_state::version + 1))
        .execute(db)?;
    Ok(())
}

/// Switches to a new generation.
///
/// # Errors
/// Returns [`DatabaseError::Conflict`] if another command has switched in the meantime.
pub fn switch(db: &mut Db, from: u32, to: u32, identity: &Identity) -> Result<(), DatabaseError> {
    let searched = index_state::table.filter(index_state::generation.eq(i64::from(from)));
    let switched =
        diesel::update(searched).set(index_state::generation.eq(i64::from(to))).execute(db)?;
    if switched == 0 {
        return Err(DatabaseError::Conflict);
    }
    published(db, identity)
}
