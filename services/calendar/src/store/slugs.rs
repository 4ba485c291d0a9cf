//! Finds free slugs, and keeps track of old ones.

use std::collections::HashSet;

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::former_slugs;
use super::sql::{Sql, TEXTS, TextRow};
use crate::model::slug;

/// Returns a slug that isn't used by any other row in the table.
///
/// The suffix follows the collision number, so it can be stripped again.
pub fn free(
    db: &mut Db,
    table: &'static str,
    base: &str,
    suffix: &str,
    except: i64,
) -> Result<String, DatabaseError> {
    let free = slug::free(base, |candidate| {
        is_taken(db, table, &slug::with_suffix(candidate, suffix), except)
    })?;
    Ok(slug::with_suffix(&free, suffix))
}

/// Returns whether a row other than `except` uses this slug.
pub fn is_taken(
    db: &mut Db,
    table: &'static str,
    slug: &str,
    except: i64,
) -> Result<bool, DatabaseError> {
    let mut sql = Sql::prepared(db, "select count(*) as n from ");
    sql.push(table).push(" where slug = ").bind(slug).push(" and id <> ").value(except);
    Ok(sql.number(db)? > 0)
}

/// Returns which of the slugs are already used in the table.
pub fn taken(
    db: &mut Db,
    table: &'static str,
    slugs: &[&str],
) -> Result<HashSet<String>, DatabaseError> {
    let mut taken = HashSet::new();
    for slugs in slugs.chunks(TEXTS) {
        let mut sql = Sql::new(db, "select id, slug as text from ");
        sql.push(table).push(" where slug in ").texts(slugs.iter().copied());
        let rows: Vec<TextRow> = sql.load(db)?;
        taken.extend(rows.into_iter().map(|row| row.text));
    }
    Ok(taken)
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

/// Removes the redirects for several slugs because rows are using them again.
pub fn forget_former_ones(
    db: &mut Db,
    collection: &str,
    slugs: &[&str],
) -> Result<(), DatabaseError> {
    for slugs in slugs.chunks(TEXTS) {
        let mut sql = Sql::new(db, "delete from former_slugs where collection = ");
        sql.bind(collection).push(" and slug in ").texts(slugs.iter().copied());
        sql.execute(db)?;
    }
    Ok(())
}

/// Removes all redirects to a row.
pub fn forget_all(db: &mut Db, collection: &str, id: i64) -> Result<(), DatabaseError> {
    forget_statement(db, collection, id).execute(db).map(drop)
}

/// Deletes a row's old slugs.
pub fn forget_statement(db: &Db, collection: &str, id: i64) -> Sql {
    let mut sql = Sql::new(db, "delete from former_slugs where item_id = ");
    sql.value(id).push(" and collection = ").bind(collection);
    sql
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
