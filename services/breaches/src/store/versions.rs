//! Version numbers with which replicas detect changes, and other single values.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::meta;

/// Incremented with every change of the catalogue.
pub const CATALOGUE_VERSION: &str = "catalogue_version";
/// When the catalogue last changed.
pub const CATALOGUE_CHANGED_AT: &str = "catalogue_changed_at";
/// Incremented with every change of the opt-outs.
pub const OPTOUT_VERSION: &str = "optout_version";
/// Incremented when names of domains are removed, so that loads look up their ids again.
pub const REMOVED_DOMAINS: &str = "removed_domains";
/// Incremented with every load of pastes.
pub const PASTES_VERSION: &str = "pastes_version";
/// The highest breach id ever assigned.
pub const LAST_BREACH_ID: &str = "last_breach_id";
/// Set once a new database has its plans and test data.
pub const SEEDED_AT: &str = "seeded_at";

/// Set if the accounts are distributed over several servers.
pub const DISTRIBUTED: &str = "distributed";

/// The versions that the server polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    pub catalogue: i64,
    pub opt_out: i64,
}

/// Reads a number, or `None` if it was never written.
pub fn get(db: &mut Db, key: &str) -> Result<Option<i64>, DatabaseError> {
    Ok(meta::table.find(key).select(meta::value).first(db).optional()?)
}

/// Writes the number of a key, replacing an earlier one.
pub fn set(db: &mut Db, key: &str, value: i64) -> Result<(), DatabaseError> {
    let row = (meta::key.eq(key), meta::value.eq(value));
    on_backend!(db, conn => diesel::insert_into(meta::table)
        .values(row)
        .on_conflict(meta::key)
        .do_update()
        .set(meta::value.eq(value))
        .execute(conn))?;
    Ok(())
}

/// Writes a number unless it exists. Returns whether it was written.
pub fn set_once(db: &mut Db, key: &str, value: i64) -> Result<bool, DatabaseError> {
    let row = (meta::key.eq(key), meta::value.eq(value));
    let rows = on_backend!(db, conn => diesel::insert_into(meta::table)
        .values(row)
        .on_conflict_do_nothing()
        .execute(conn))?;
    Ok(rows == 1)
}

/// Returns both polled versions.
pub fn current(db: &mut Db) -> Result<Versions, DatabaseError> {
    Ok(Versions {
        catalogue: get(db, CATALOGUE_VERSION)?.unwrap_or(0),
        opt_out: get(db, OPTOUT_VERSION)?.unwrap_or(0),
    })
}

/// Increments a number in the database, so that concurrent increments add up.
fn bump(db: &mut Db, key: &str) -> Result<(), DatabaseError> {
    on_backend!(db, conn => diesel::insert_into(meta::table)
        .values((meta::key.eq(key), meta::value.eq(1_i64)))
        .on_conflict(meta::key)
        .do_update()
        .set(meta::value.eq(meta::value + 1))
        .execute(conn))?;
    Ok(())
}

/// Publishes a change of the catalogue.
pub fn bump_catalogue(db: &mut Db, now: i64) -> Result<(), DatabaseError> {
    bump(db, CATALOGUE_VERSION)?;
    set(db, CATALOGUE_CHANGED_AT, now)
}

/// Publishes a change of the opt-outs.
pub fn bump_opt_out(db: &mut Db) -> Result<(), DatabaseError> {
    bump(db, OPTOUT_VERSION)
}

/// Publishes a removal of names of domains.
pub fn bump_removed_domains(db: &mut Db) -> Result<(), DatabaseError> {
    bump(db, REMOVED_DOMAINS)
}

/// Publishes a load of pastes.
pub fn bump_pastes(db: &mut Db) -> Result<(), DatabaseError> {
    bump(db, PASTES_VERSION)
}

diesel::table! {
    __diesel_schema_migrations (version) {
        version -> Text,
    }
}

/// Returns the version of the last applied migration.
pub fn schema_version(db: &mut Db) -> Result<Option<String>, DatabaseError> {
    use __diesel_schema_migrations::dsl::{__diesel_schema_migrations as migrations, version};
    Ok(migrations.select(version).order(version.desc()).first(db).optional()?)
}

/// Makes this transaction the only one that can change accounts, catalogue or opt-outs.
///
/// Packed lists are read, changed and written back, so ids would be lost if loads ran concurrently.
/// SQLite has a single writer and does not need a lock.
pub fn lock_accounts(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        diesel::sql_query("SELECT pg_advisory_xact_lock(7203591)").execute(conn)?;
    }
    Ok(())
}
