//! Version numbers that let replicas detect changes, along with other single values.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::schema::meta;

/// Incremented on every catalogue change.
pub const CATALOGUE_VERSION: &str = "catalogue_version";
/// When the catalogue last changed.
pub const CATALOGUE_CHANGED_AT: &str = "catalogue_changed_at";
/// Increased on every opt-out change.
pub const OPTOUT_VERSION: &str = "optout_version";
/// Increased when domains are deleted, so that loads look up their ids again.
pub const REMOVED_DOMAINS: &str = "removed_domains";
/// Increased by every paste load.
pub const PASTES_VERSION: &str = "pastes_version";
/// Highest breach id ever assigned.
pub const LAST_BREACH_ID: &str = "last_breach_id";
/// Set once a new database has received its plans and test data.
pub const SEEDED_AT: &str = "seeded_at";

/// Set if the accounts are spread over several servers.
pub const DISTRIBUTED: &str = "distributed";

/// Versions polled by the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    pub catalogue: i64,
    /// When the catalogue last changed, in Unix seconds. A failover that loses transactions can
    /// repeat a catalogue version, but not this time.
    pub catalogue_changed_at: i64,
    pub opt_out: i64,
}

impl Versions {
    /// Returns `true` if the catalogue is the same.
    pub fn has_same_catalogue(&self, other: &Self) -> bool {
        self.catalogue == other.catalogue && self.catalogue_changed_at == other.catalogue_changed_at
    }
}

/// Reads a value. Returns `None` if it was never set.
pub fn get(db: &mut Db, key: &str) -> Result<Option<i64>, DatabaseError> {
    Ok(meta::table.find(key).select(meta::value).first(db).optional()?)
}

/// Sets a value, replacing any previous one.
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

/// Removes a value.
pub fn unset(db: &mut Db, key: &str) -> Result<(), DatabaseError> {
    diesel::delete(meta::table.find(key)).execute(db)?;
    Ok(())
}

/// Sets a value unless it exists. Returns `true` if it was set.
pub fn set_once(db: &mut Db, key: &str, value: i64) -> Result<bool, DatabaseError> {
    let row = (meta::key.eq(key), meta::value.eq(value));
    let rows = on_backend!(db, conn => diesel::insert_into(meta::table)
        .values(row)
        .on_conflict_do_nothing()
        .execute(conn))?;
    Ok(rows == 1)
}

/// Reads the polled versions.
pub fn current(db: &mut Db) -> Result<Versions, DatabaseError> {
    Ok(Versions {
        catalogue: get(db, CATALOGUE_VERSION)?.unwrap_or(0),
        catalogue_changed_at: get(db, CATALOGUE_CHANGED_AT)?.unwrap_or(0),
        opt_out: get(db, OPTOUT_VERSION)?.unwrap_or(0),
    })
}

/// Increments a value. This happens in the database so that concurrent increments add up.
fn bump(db: &mut Db, key: &str) -> Result<(), DatabaseError> {
    on_backend!(db, conn => diesel::insert_into(meta::table)
        .values((meta::key.eq(key), meta::value.eq(1_i64)))
        .on_conflict(meta::key)
        .do_update()
        .set(meta::value.eq(meta::value + 1))
        .execute(conn))?;
    Ok(())
}

/// Announces a catalogue change. Its time must be later than any previous change, or clients that
/// send `If-Modified-Since` would miss it. `now` may be out of date if the caller had to wait for a
/// lock.
pub fn bump_catalogue(db: &mut Db, now: i64) -> Result<(), DatabaseError> {
    // This also blocks other catalogue changes until the transaction ends.
    bump(db, CATALOGUE_VERSION)?;
    let last = get(db, CATALOGUE_CHANGED_AT)?;
    set(db, CATALOGUE_CHANGED_AT, last.map_or(now, |last| now.max(last.saturating_add(1))))
}

/// Increases a value. On PostgreSQL, sets it to the time in microseconds, because a failover that
/// loses transactions would repeat a counter.
fn advance(db: &mut Db, key: &str) -> Result<(), DatabaseError> {
    bump(db, key)?;
    if let Db::Pg(conn) = db {
        let time = "UPDATE meta SET value = \
            greatest(value, extract(epoch FROM clock_timestamp()) * 1000000) WHERE key = $1";
        diesel::sql_query(time).bind::<Text, _>(key).execute(conn)?;
    }
    Ok(())
}

/// Announces an opt-out change.
pub fn bump_opt_out(db: &mut Db) -> Result<(), DatabaseError> {
    advance(db, OPTOUT_VERSION)
}

/// Announces that domains were deleted.
pub fn bump_removed_domains(db: &mut Db) -> Result<(), DatabaseError> {
    advance(db, REMOVED_DOMAINS)
}

/// Announces a paste load.
pub fn bump_pastes(db: &mut Db) -> Result<(), DatabaseError> {
    advance(db, PASTES_VERSION)
}

diesel::table! {
    __diesel_schema_migrations (version) {
        version -> Text,
    }
}

/// Returns the version of the last migration applied.
pub fn schema_version(db: &mut Db) -> Result<Option<String>, DatabaseError> {
    use __diesel_schema_migrations::dsl::{__diesel_schema_migrations as migrations, version};
    Ok(migrations.select(version).order(version.desc()).first(db).optional()?)
}

/// Locks out all other transactions that change accounts, the catalogue or opt-outs.
///
/// Packed lists are read, modified and written back, so concurrent loads would overwrite each
/// other's updates. SQLite has only one writer and doesn't need the lock.
pub fn lock_accounts(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        diesel::sql_query("SELECT pg_advisory_xact_lock(7203591)").execute(conn)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use database::Backend;

    use super::*;
    use crate::store::MIGRATIONS;

    #[test]
    fn versions_are_not_repeated_after_a_failover() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        // SQLite has no failover.
        if pools.backend() == Backend::Sqlite {
            return;
        }
        type Bump = fn(&mut Db) -> Result<(), DatabaseError>;
        let versions: [(&str, Bump); 3] = [
            (OPTOUT_VERSION, bump_opt_out),
            (PASTES_VERSION, bump_pastes),
            (REMOVED_DOMAINS, bump_removed_domains),
        ];
        for (key, bump) in versions {
            let changed = || {
                pools.write_blocking(|db| {
                    set(db, key, 7)?;
                    bump(db)?;
                    get(db, key)
                })
            };
            // The second change happens on a server that has lost the first one.
            let (lost, next) = (changed().unwrap(), changed().unwrap());
            assert!(lost < next, "{key}: {lost:?} {next:?}");
        }
    }
}
