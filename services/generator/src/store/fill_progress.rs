//! Tracks the progress of `records --into`, which writes rows to the user's database.
//!
//! The progress is stored in the same database, in the table `generator_progress`, so that it is
//! committed together with the rows. The table is dropped once all rows have been written.

use database::{DatabaseError, Db, transaction};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection};

use crate::model::records::sql_name;

/// The progress of a single table.
#[derive(Clone, Debug, QueryableByName)]
pub struct Progress {
    #[diesel(sql_type = Text)]
    pub table_name: String,
    /// Digest of everything that determines the rows.
    #[diesel(sql_type = Text)]
    pub digest: String,
    /// The seed for the rows.
    #[diesel(sql_type = Text)]
    pub seed: String,
    /// The reference day for dates.
    #[diesel(sql_type = Text)]
    pub ref_date: String,
    /// Number of committed rows.
    #[diesel(sql_type = BigInt)]
    pub next_row: i64,
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = BigInt)]
    found: i64,
}

/// Opens an existing database.
///
/// # Errors
/// Returns an error if the scheme is unknown, the file is missing or the server can't be reached.
/// The message never contains the password.
pub fn open(url: &str) -> Result<Db, DatabaseError> {
    let setup = |what: String| DatabaseError::Setup(what);
    if let Some(path) = url.strip_prefix("sqlite://") {
        if !std::path::Path::new(path).is_file() {
            return Err(setup(format!("{path} does not exist: create it and its tables first")));
        }
        let opened = SqliteConnection::establish(path);
        let mut db = opened.map_err(|error| setup(format!("cannot open {path}: {error}")))?;
        db.batch_execute("PRAGMA busy_timeout = 60000; PRAGMA foreign_keys = ON;")?;
        return Ok(Db::Sqlite(db));
    }
    if ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        let opened = PgConnection::establish(url);
        let opened = opened.map_err(|error| setup(format!("cannot reach the server: {error}")))?;
        return Ok(Db::Pg(opened));
    }
    Err(setup("must start with sqlite:// or postgres://".to_owned()))
}

/// Returns the progress of an earlier unfinished run, or nothing if there was none.
///
/// # Errors
/// Returns an error if a query fails.
pub fn read(db: &mut Db) -> Result<Vec<Progress>, DatabaseError> {
    let exists = match db {
        Db::Sqlite(_) => {
            "SELECT COUNT(*) AS found FROM sqlite_master WHERE name = 'generator_progress'"
        }
        Db::Pg(_) => {
            "SELECT COUNT(*) AS found FROM (SELECT to_regclass('generator_progress') AS name) AS t \
             WHERE name IS NOT NULL"
        }
    };
    if diesel::sql_query(exists).get_result::<Found>(db)?.found == 0 {
        return Ok(Vec::new());
    }
    let all = "SELECT table_name, digest, seed, ref_date, next_row FROM generator_progress";
    Ok(diesel::sql_query(all).load(db)?)
}

/// Returns whether a table has any rows.
fn has_rows(db: &mut Db, table: &str) -> Result<bool, DatabaseError> {
    let name = sql_name(table);
    let sql = format!("SELECT COUNT(*) AS found FROM (SELECT 1 FROM {name} LIMIT 1) AS t");
    Ok(diesel::sql_query(sql).get_result::<Found>(db)?.found > 0)
}

/// Returns whether the table still has exactly as many rows as an earlier run wrote. This is a
/// single query, so that both numbers come from the same snapshot.
///
/// # Errors
/// Returns an error if a query fails.
pub fn has_written_rows(db: &mut Db, table: &str) -> Result<bool, DatabaseError> {
    let sql = format!(
        "SELECT (SELECT next_row FROM generator_progress WHERE table_name = {}) - \
         (SELECT COUNT(*) FROM {}) AS found",
        quoted(table),
        sql_name(table)
    );
    Ok(diesel::sql_query(sql).get_result::<Found>(db)?.found == 0)
}

/// An error while starting a run.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// A table doesn't exist or can't be read.
    #[error("the table {0} cannot be read. Create it first: it must exist and be empty")]
    Unreadable(String, #[source] DatabaseError),
    /// A table isn't empty.
    #[error("the table {0} is not empty: empty it first")]
    NotEmpty(String),
    /// Another run has already started, or writing to the database failed.
    #[error("cannot create the table generator_progress, which another run is using")]
    Database(#[from] DatabaseError),
}

/// Starts tracking the given tables, which must be empty.
///
/// If two runs race, only one of them creates `generator_progress`. The other waits for that
/// transaction and then fails. Even if the first run has already finished and dropped its progress,
/// the second run sees the rows, since it only checks the tables afterwards.
///
/// # Errors
/// Returns a [`BeginError`], in which case nothing was changed.
pub fn begin(db: &mut Db, tables: &[Progress]) -> Result<(), BeginError> {
    let mut sql =
        "CREATE TABLE generator_progress (table_name TEXT PRIMARY KEY, digest TEXT NOT NULL, \
         seed TEXT NOT NULL, ref_date TEXT NOT NULL, next_row BIGINT NOT NULL);\n"
            .to_owned();
    for Progress { table_name, digest, seed, ref_date, next_row } in tables {
        let [table_name, digest, seed, ref_date] = [table_name, digest, seed, ref_date].map(quoted);
        sql += &format!(
            "INSERT INTO generator_progress VALUES ({table_name}, {digest}, {seed}, {ref_date}, {next_row});\n"
        );
    }
    transaction(db, |db| {
        db.batch_execute(&sql).map_err(DatabaseError::from)?;
        for Progress { table_name, .. } in tables {
            let name = || table_name.clone();
            match has_rows(db, table_name) {
                Ok(false) => {}
                Ok(true) => return Err(BeginError::NotEmpty(name())),
                Err(cause) => return Err(BeginError::Unreadable(name(), cause)),
            }
        }
        Ok(())
    })
}

/// Writes rows and updates the progress of their table in one transaction. Returns false without
/// writing anything if another run got there first.
///
/// `identities` are columns that only the database can write, each with its value in the first row.
///
/// # Errors
/// Returns an error if the database rejects a row or can't be written.
pub fn write(
    db: &mut Db,
    table: &str,
    (from, to): (u64, u64),
    rows: &str,
    identities: &[(&str, i64)],
) -> Result<bool, DatabaseError> {
    let name = quoted(table);
    let step = format!(
        "UPDATE generator_progress SET next_row = {to} WHERE table_name = {name} AND next_row = {from}"
    );
    transaction(db, |db| {
        if diesel::sql_query(step).execute(db)? != 1 {
            return Ok(false);
        }
        for (column, number) in identities {
            restart_identity(db, table, column, *number)?;
        }
        db.batch_execute(rows)?;
        Ok(true)
    })
}

/// Sets the next value of a PostgreSQL identity column. Otherwise, a run that was killed would
/// leave a gap, because a rollback doesn't return values that were already used. Does nothing for
/// other columns.
fn restart_identity(
    db: &mut Db,
    table: &str,
    column: &str,
    number: i64,
) -> Result<(), DatabaseError> {
    if matches!(db, Db::Sqlite(_)) {
        return Ok(());
    }
    let (name, column) = (quoted(sql_name(table)), quoted(column));
    let sql = format!(
        "SELECT COUNT(setval(pg_get_serial_sequence({name}, attname), {number}, false)) AS found \
         FROM pg_attribute WHERE attrelid = to_regclass({name}) AND attname = {column} \
         AND attidentity <> ''"
    );
    diesel::sql_query(sql).get_result::<Found>(db)?;
    Ok(())
}

/// Drops the progress of all tables.
///
/// # Errors
/// Returns an error if writing to the database fails.
pub fn end(db: &mut Db) -> Result<(), DatabaseError> {
    transaction(db, |db| Ok(db.batch_execute("DROP TABLE generator_progress")?))
}

fn quoted(text: impl AsRef<str>) -> String {
    format!("'{}'", text.as_ref().replace('\'', "''"))
}
