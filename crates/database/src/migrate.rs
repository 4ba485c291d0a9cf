//! Applies the migrations compiled into the binary.

use diesel::backend::Backend;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::{DatabaseError, Db, transaction};

/// A set of migrations, with the same versions for both databases. Create the fields with
/// `diesel_migrations::embed_migrations!`.
pub struct Migrations {
    /// The migrations for SQLite.
    pub sqlite: EmbeddedMigrations,
    /// The migrations for PostgreSQL.
    pub postgres: EmbeddedMigrations,
    /// Tables on both databases that requests need. A server without one of them isn't ready.
    pub tables: &'static [&'static str],
}

/// The table in which diesel records the applied migrations.
pub(crate) const VERSIONS: &str = "__diesel_schema_migrations";

/// The advisory lock that prevents concurrent migrations on PostgreSQL.
const LOCK: i64 = 0x5175_696e_7465_7401;

/// Applies all pending migrations, one source after another, and returns their versions.
///
/// If several processes call this at once, one of them migrates and the others wait until there is
/// nothing left to do. SQLite commits all migrations together, PostgreSQL one by one.
///
/// # Errors
/// Returns [`DatabaseError::Setup`] with the version of the migration that failed and the cause.
pub(crate) fn migrate(db: &mut Db, sources: &[&Migrations]) -> Result<Vec<String>, DatabaseError> {
    match db {
        Db::Sqlite(_) => migrate_file(db, sources),
        Db::Pg(conn) => alone(conn, |conn| {
            let pending = pending_of(conn, sources.iter().map(|s| &s.postgres))?;
            apply_all(conn, pending)
        }),
    }
}

/// Returns the pending versions in the order in which they would be applied, without changing the
/// database. diesel creates its version table even for reading, so we look for the table first on
/// SQLite, and roll this back on PostgreSQL.
pub(crate) fn pending(db: &mut Db, sources: &[&Migrations]) -> Result<Vec<String>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => {
            let sources = sources.iter().map(|s| &s.sqlite);
            let pending = match has_versions(conn)? {
                true => pending_of(conn, sources)?,
                false => not_applied::<diesel::sqlite::Sqlite>(&[], sources)?,
            };
            Ok(names(&pending))
        }
        Db::Pg(conn) => alone(conn, |conn| {
            without_changes(conn, |conn| {
                Ok(names(&pending_of(conn, sources.iter().map(|s| &s.postgres))?))
            })
        }),
    }
}

/// Returns whether a SQLite database has diesel's version table.
fn has_versions(conn: &mut SqliteConnection) -> Result<bool, DatabaseError> {
    let exists = format!("EXISTS (SELECT 1 FROM sqlite_master WHERE name = '{VERSIONS}')");
    Ok(diesel::select(diesel::dsl::sql::<Bool>(&exists)).get_result(conn)?)
}

/// Runs `work` in a transaction and rolls it back.
fn without_changes<T>(
    conn: &mut PgConnection,
    work: impl FnOnce(&mut PgConnection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    let mut done = None;
    let rolled_back = conn.transaction(|conn| {
        done = Some(work(conn));
        Err::<(), _>(diesel::result::Error::RollbackTransaction)
    });
    match (done, rolled_back) {
        (Some(done), _) => done,
        (None, Err(error)) => Err(error.into()),
        (None, Ok(())) => Err(DatabaseError::broken("the transaction did not run")),
    }
}

/// Runs `work` while holding the lock. Even listing pending migrations requires the lock, because
/// it creates the version table, which fails if two processes try at once.
fn alone<T>(
    conn: &mut PgConnection,
    work: impl FnOnce(&mut PgConnection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    conn.batch_execute(&format!("SELECT pg_advisory_lock({LOCK})"))?;
    let done = work(conn);
    let unlocked = conn.batch_execute(&format!("SELECT pg_advisory_unlock({LOCK})"));
    // If both failed, report the first error, since it caused the second.
    let done = done?;
    unlocked?;
    Ok(done)
}

/// Migrates SQLite. To alter a table, SQLite has to rebuild it, which foreign keys would prevent.
/// We therefore turn them off and check them before the commit.
fn migrate_file(db: &mut Db, sources: &[&Migrations]) -> Result<Vec<String>, DatabaseError> {
    if pending(db, sources)?.is_empty() {
        return Ok(Vec::new());
    }
    db.batch_execute("PRAGMA foreign_keys = OFF")?;
    let applied = transaction(db, |db| {
        let Db::Sqlite(conn) = db else { return Ok(Vec::new()) };
        let pending = pending_of(conn, sources.iter().map(|source| &source.sqlite))?;
        let applied = apply_all(conn, pending)?;
        check_references(conn)?;
        Ok(applied)
    });
    db.batch_execute("PRAGMA foreign_keys = ON")?;
    applied
}

fn check_references(conn: &mut SqliteConnection) -> Result<(), DatabaseError> {
    let violations: i64 = diesel::select(diesel::dsl::sql::<BigInt>(
        "(SELECT count(*) FROM pragma_foreign_key_check)",
    ))
    .get_result(conn)?;
    if violations > 0 {
        let text = format!("the migration leaves {violations} rows without the row they refer to");
        return Err(DatabaseError::Setup(text));
    }
    Ok(())
}

/// Borrows a migration source, since diesel's harness would take ownership of it.
struct Embedded<'a>(&'a EmbeddedMigrations);

impl<DB: Backend> MigrationSource<DB> for Embedded<'_> {
    fn migrations(&self) -> diesel::migration::Result<Vec<Box<dyn Migration<DB>>>> {
        self.0.migrations()
    }
}

fn apply_all<C, DB>(
    conn: &mut C,
    migrations: Vec<Box<dyn Migration<DB>>>,
) -> Result<Vec<String>, DatabaseError>
where
    C: MigrationHarness<DB>,
    DB: Backend,
{
    let mut applied = Vec::with_capacity(migrations.len());
    for migration in migrations {
        let name = migration.name().to_string();
        conn.run_migration(&migration)
            .map_err(|cause| DatabaseError::Setup(format!("migration {name} failed: {cause}")))?;
        log::info!("migration {name} applied");
        applied.push(name);
    }
    Ok(applied)
}

fn pending_of<'a, DB: Backend>(
    conn: &mut impl MigrationHarness<DB>,
    sources: impl Iterator<Item = &'a EmbeddedMigrations>,
) -> Result<Vec<Box<dyn Migration<DB>>>, DatabaseError> {
    not_applied(&conn.applied_migrations().map_err(DatabaseError::Broken)?, sources)
}

/// Returns the migrations that are not in `applied`.
///
/// # Errors
/// Returns [`DatabaseError::Setup`] if `applied` contains migrations of another service or version.
fn not_applied<'a, DB: Backend>(
    applied: &[MigrationVersion<'static>],
    sources: impl Iterator<Item = &'a EmbeddedMigrations>,
) -> Result<Vec<Box<dyn Migration<DB>>>, DatabaseError> {
    let (mut pending, mut known) = (Vec::new(), 0);
    for source in sources {
        let mut migrations = Embedded(source).migrations().map_err(DatabaseError::Broken)?;
        migrations.sort_by(|a, b| a.name().version().cmp(&b.name().version()));
        for migration in migrations {
            if applied.contains(&migration.name().version()) {
                known += 1;
            } else {
                pending.push(migration);
            }
        }
    }
    if known < applied.len() {
        let text = match pending.is_empty() {
            true => {
                "the database has migrations that this program does not know: it belongs to a newer version, \
                 or to another service; nothing was changed"
            }
            false => {
                "the database belongs to another service: each service requires its own \
                 DATABASE_URL"
            }
        };
        return Err(DatabaseError::Setup(text.into()));
    }
    Ok(pending)
}

fn names<DB: Backend>(migrations: &[Box<dyn Migration<DB>>]) -> Vec<String> {
    migrations.iter().map(|migration| migration.name().to_string()).collect()
}
