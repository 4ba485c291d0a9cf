//! Finds free slugs, and keeps track of former ones.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::former_slugs;
use super::sql::Sql;
use crate::model::slug;

/// Returns a slug that isn't used by any other row in the table.
///
/// The suffix comes after the collision number, and can be removed again.
pub fn free(
    db: &mut Db,
    table: &'static str,
    base: &str,
    suffix: &str,
    except: i64,
) -> Result<String, DatabaseError> {
    let free = slug::free(base, |candidate| {
        let mut sql = Sql::prepared(db, "select count(*) as n from ");
        sql.push(table).push(" where slug = ").bind(slug::with_suffix(candidate, suffix));
        sql.push(" and id <> ").value(except);
        Ok::<bool, DatabaseError>(sql.number(db)? > 0)
    })?;
    Ok(slug::with_suffix(&free, suffix))
}

/// Records a slug that a row just stopped using.
pub fn note_former(
    db: &mut Db,
    collection: &str,
    slug: &str,
    id: i64,
) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "insert into former_slugs (collection, slug, item_id) values (");
    sql.bind(collection.to_owned()).push(", ").bind(slug.to_owned()).push(", ").value(id);
    sql.push(") on conflict (collection, slug) do update set item_id = excluded.item_id");
    sql.execute(db).map(drop)
}

/// Removes the redirect for a slug because a row is using it again.
pub fn forget_former(db: &mut Db, collection: &str, slug: &str) -> Result<(), DatabaseError> {
    diesel::delete(former_slugs::table.find((collection, slug))).execute(db)?;
    Ok(())
}

/// Removes all redirects to a row.
pub fn forget_all(db: &mut Db, collection: &str, id: i64) -> Result<(), DatabaseError> {
    let own = former_slugs::table
        .filter(former_slugs::collection.eq(collection).and(former_slugs::item_id.eq(id)));
    diesel::delete(own).execute(db)?;
    Ok(())
}

/// Returns the id of the row that most recently used this slug, if any.
pub fn owner_of_former(
    db: &mut Db,
    collection: &str,
    slug: &str,
) -> Result<Option<i64>, DatabaseError> {
    let found = former_slugs::table.find((collection, slug)).select(former_slugs::item_id);
    Ok(found.first(db).optional()?)
}
