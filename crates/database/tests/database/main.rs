//! Tests of the crate's public interface, on SQLite or the server in `TEST_DATABASE_URL`.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod displaced;
mod hanging;
mod migrating;
mod number_reader;
mod opening;
mod pools;
mod queries;
mod storage;
mod structure;
mod worker_reader;

use database::{DatabaseError, Db, Migrations};
use diesel::prelude::*;

diesel::table! { note (id) { id -> BigInt, text -> Text, due -> Nullable<BigInt>, } }
diesel::table! { remark (id) { id -> BigInt, note_id -> BigInt, } }
diesel::table! { counter (name) { name -> Text, value -> BigInt, } }
diesel::allow_tables_to_appear_in_same_query!(note, remark);

static NOTES: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("tests/database/migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("tests/database/migrations/postgres"),
    tables: &["note", "counter"],
};
static REMARKS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("tests/database/migrations/more_sqlite"),
    postgres: diesel_migrations::embed_migrations!("tests/database/migrations/more_postgres"),
    tables: &["remark"],
};

fn add(db: &mut Db, text: &str, due: Option<i64>) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(note::table)
        .values((note::text.eq(text), note::due.eq(due)))
        .returning(note::id)
        .get_result(db)?)
}

fn hits(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(counter::table.find("hits").select(counter::value).first(db)?)
}

fn set_hits(db: &mut Db, value: i64) -> Result<(), DatabaseError> {
    diesel::update(counter::table.find("hits")).set(counter::value.eq(value)).execute(db)?;
    Ok(())
}
