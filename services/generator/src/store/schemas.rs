//! Schemas saved by callers.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

diesel::table! {
    record_schema (key_id, name) {
        key_id -> BigInt,
        name -> Text,
        body -> Text,
        changed_at -> BigInt,
    }
}

/// Returns the name and last modification time of each schema saved with the key, sorted by name.
///
/// # Errors
/// Returns an error if a query fails.
pub fn list(db: &mut Db, key_id: i64) -> Result<Vec<(String, i64)>, DatabaseError> {
    let own = record_schema::table.filter(record_schema::key_id.eq(key_id));
    let columns = (record_schema::name, record_schema::changed_at);
    Ok(own.select(columns).order(record_schema::name).load(db)?)
}

/// Returns the schema called `name` that was saved with the key, if any.
///
/// # Errors
/// Returns an error if a query fails.
pub fn get(db: &mut Db, key_id: i64, name: &str) -> Result<Option<String>, DatabaseError> {
    let row = record_schema::table.find((key_id, name)).select(record_schema::body);
    Ok(row.first(db).optional()?)
}

/// Saves a schema, replacing any existing one of the same name. If the schema is new and the key
/// already has `most` schemas, returns false without saving anything.
///
/// # Errors
/// Returns an error if writing to the database fails.
pub fn put(
    db: &mut Db,
    key_id: i64,
    (name, body): (&str, &str),
    now: i64,
    most: i64,
) -> Result<bool, DatabaseError> {
    let others = record_schema::table
        .filter(record_schema::key_id.eq(key_id))
        .filter(record_schema::name.ne(name));
    if others.count().get_result::<i64>(db)? >= most {
        return Ok(false);
    }
    let row = (
        record_schema::key_id.eq(key_id),
        record_schema::name.eq(name),
        record_schema::body.eq(body),
        record_schema::changed_at.eq(now),
    );
    on_backend!(db, conn => diesel::insert_into(record_schema::table)
        .values(row)
        .on_conflict((record_schema::key_id, record_schema::name))
        .do_update()
        .set((record_schema::body.eq(body), record_schema::changed_at.eq(now)))
        .execute(conn))?;
    Ok(true)
}

/// Deletes a schema that was saved with the key. Returns false if there is no such schema.
///
/// # Errors
/// Returns an error if writing to the database fails.
pub fn remove(db: &mut Db, key_id: i64, name: &str) -> Result<bool, DatabaseError> {
    let row = record_schema::table.find((key_id, name));
    Ok(diesel::delete(row).execute(db)? > 0)
}
