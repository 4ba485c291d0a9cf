//! Stores files that other runs have found unchanged since a crawl's current listing began, because
//! publishing that older listing must not change them.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::crawl_confirmation;
use crate::model::id_ranges::IdRanges;

/// Returns the confirmed files for a crawl's current listing.
pub fn find(db: &mut Db, crawl: i64) -> Result<IdRanges, DatabaseError> {
    let text: Option<String> = crawl_confirmation::table
        .find(crawl)
        .select(crawl_confirmation::files)
        .first(db)
        .optional()?;
    match text {
        None => Ok(IdRanges::default()),
        Some(text) => serde_json::from_str(&text).map_err(DatabaseError::broken),
    }
}

/// Adds confirmed files.
pub fn add(db: &mut Db, crawl: i64, files: &IdRanges) -> Result<(), DatabaseError> {
    let known = find(db, crawl)?;
    let files = known.clone().union(files);
    if files == known {
        return Ok(());
    }
    let text = serde_json::to_string(&files).map_err(DatabaseError::broken)?;
    let row = (crawl_confirmation::crawl_id.eq(crawl), crawl_confirmation::files.eq(&text));
    on_backend!(db, conn => diesel::insert_into(crawl_confirmation::table)
        .values(row)
        .on_conflict(crawl_confirmation::crawl_id)
        .do_update()
        .set(crawl_confirmation::files.eq(&text))
        .execute(conn))?;
    Ok(())
}

/// Deletes the confirmed files, e.g. when a new listing begins.
pub fn clear(db: &mut Db, crawl: i64) -> Result<(), DatabaseError> {
    diesel::delete(crawl_confirmation::table.find(crawl)).execute(db)?;
    Ok(())
}
