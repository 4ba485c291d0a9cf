//! The id space that events, venues, organizers and images share.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::entities;

/// The kind number of events.
pub const EVENT: i32 = 1;
/// The kind number of images.
pub const IMAGE: i32 = 4;

/// Allocates the next id for a kind.
pub fn allocate(db: &mut Db, kind: i32) -> Result<i64, DatabaseError> {
    let id = diesel::insert_into(entities::table)
        .values(entities::kind.eq(kind))
        .returning(entities::id)
        .get_result(db)?;
    Ok(id)
}

/// Returns the kind of an id.
pub fn kind_of(db: &mut Db, id: i64) -> Result<Option<i32>, DatabaseError> {
    Ok(entities::table.find(id).select(entities::kind).first(db).optional()?)
}
