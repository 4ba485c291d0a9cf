//! Items imported from remote sites.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::site_items;
use super::sql::Sql;

/// Stored in place of our id if the item was erased here.
const REMOVED: i64 = 0;

/// An item imported from a remote site.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct SiteItem {
    /// Our id for the item, or 0 if it was erased here.
    pub our_id: i64,
    /// A digest of the item's fields on the remote site. If it is empty, the next run writes the
    /// item again.
    pub digest: String,
}

/// Finds an item from a site's list by its id on that site. Returns `None` if it was never
/// imported.
pub fn find(db: &mut Db, source: &str, their_id: i64) -> Result<Option<SiteItem>, DatabaseError> {
    let found = site_items::table.find((source, their_id));
    let found = found.select((site_items::our_id, site_items::digest));
    Ok(found.first(db).optional()?)
}

/// Records that an item was written.
pub fn note(
    db: &mut Db,
    source: &str,
    their_id: i64,
    (our_id, digest): (i64, &str),
) -> Result<(), DatabaseError> {
    let mut sql =
        Sql::new(db, "insert into site_items (source, their_id, our_id, digest) values (");
    sql.bind(source.to_owned()).push(", ").value(their_id).push(", ").value(our_id).push(", ");
    sql.bind(digest.to_owned()).push(") on conflict (source, their_id) do update set ");
    sql.push("our_id = excluded.our_id, digest = excluded.digest");
    sql.execute(db).map(drop)
}

/// Marks an erased row's item as removed. Otherwise, it might be mistaken for another row that
/// reuses the id.
pub fn forget(db: &mut Db, collection: &str, our_id: i64) -> Result<(), DatabaseError> {
    forget_statement(db, collection, our_id).execute(db).map(drop)
}

/// Marks a row's items as removed because the row is being erased.
pub fn forget_statement(db: &Db, collection: &str, our_id: i64) -> Sql {
    let mut sql = Sql::new(db, "update site_items set our_id = ");
    sql.value(REMOVED).push(" where our_id = ").value(our_id).push(" and source like ");
    sql.bind(format!("% {collection}"));
    sql
}
