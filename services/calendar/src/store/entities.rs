//! The id space that events, venues, organizers and images share.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::entities;

/// The number of events in the shared id space.
pub const EVENT: i32 = 1;
/// The number of images in the shared id space.
pub const IMAGE: i32 = 4;

/// Takes the next id for a kind.
pub fn allocate(db: &mut Db, kind: i32) -> Result<i64, DatabaseError> {
    let id = diesel::insert_into(entities::table)
        .values(entities::kind.eq(kind))
        .returning(entities::id)
        .get_result(db)?;
    Ok(id)
}

/// Tells what an id belongs to.
pub fn kind_of(db: &mut Db, id: i64) -> Result<Option<i32>, DatabaseError> {
    Ok(entities::table.find(id).select(entities::kind).first(db).optional()?)
}
