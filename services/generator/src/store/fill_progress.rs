//! The progress of a command that writes rows into a database of the user.
//!
//! It is stored in the table `generator_progress` of that database, so that rows and progress are
//! committed together. The table is removed after the last row.

use database::{DatabaseError, Db, transaction};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection};

/// The progress of one table.
#[derive(Clone, Debug, QueryableByName)]
pub struct Progress {
    /// The name of the table.
    #[diesel(sql_type = Text)]
    pub table_name: String,
    /// The digest of everything that determines the rows.
    #[diesel(sql_type = Text)]
    pub digest: String,
    /// The seed of the rows.
    #[diesel(sql_type = Text)]
    pub seed: String,
    /// The reference day for dates.
    #[diesel(sql_type = Text)]
    pub ref_date: String,
    /// The number of rows that have been committed.
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
/// Returns an error if the scheme is unknown, the file is missing, or the server cannot be reached.
/// The text of the error does not contain the password.
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
    Err(setup("must begin with sqlite:// or postgres://".to_owned()))
}

/// Returns the progress of an earlier run that did not complete. Empty if there is none.
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

/// Returns whether a table has rows. Names have no quotes, which schemas ensure.
fn has_rows(db: &mut Db, table: &str) -> Result<bool, DatabaseError> {
    let sql = format!("SELECT COUNT(*) AS found FROM (SELECT 1 FROM \"{table}\" LIMIT 1) AS t");
    Ok(diesel::sql_query(sql).get_result::<Found>(db)?.found > 0)
}

/// Returns whether a table has as many rows as an earlier run has written, in one state of the
/// database.
///
/// # Errors
/// Returns an error if a query fails.
pub fn has_written_rows(db: &mut Db, table: &str) -> Result<bool, DatabaseError> {
    let sql = format!(
        "SELECT (SELECT next_row FROM generator_progress WHERE table_name = {}) - \
         (SELECT COUNT(*) FROM \"{table}\") AS found",
        quoted(table)
    );
    Ok(diesel::sql_query(sql).get_result::<Found>(db)?.found == 0)
}

/// The reasons for which a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// A table does not exist, or cannot be read.
    #[error("the table {0} cannot be read. Create it first: it must exist and be empty")]
    Unreadable(String, #[source] DatabaseError),
    /// A table has rows.
    #[error("the table {0} is not empty: empty it first")]
    NotEmpty(String),
    /// Another run has begun, or the database cannot be written.
    #[error("cannot create the table generator_progress, which another run has, too")]
    Database(#[from] DatabaseError),
}

/// Begins the progress of tables, which must be empty.
///
/// Of two runs at once, one creates `generator_progress`. The other waits for the end of this transaction, and
/// fails. If the first run has ended by then, the other finds its rows, because tables are read afterwards.
///
/// # Errors
/// [`BeginError`]; nothing is changed.
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

/// Writes rows and advances the progress of their table in one transaction. Returns false and
/// writes nothing if another run has advanced it.
///
/// # Errors
/// Returns an error if the database rejects a row or cannot be written.
pub fn write(
    db: &mut Db,
    table: &str,
    (from, to): (u64, u64),
    rows: &str,
) -> Result<bool, DatabaseError> {
    let table = quoted(table);
    let step = format!(
        "UPDATE generator_progress SET next_row = {to} WHERE table_name = {table} AND next_row = {from}"
    );
    transaction(db, |db| {
        if diesel::sql_query(step).execute(db)? != 1 {
            return Ok(false);
        }
        db.batch_execute(rows)?;
        Ok(true)
    })
}

/// Removes the progress of all tables.
///
/// # Errors
/// Returns an error if the database cannot be written.
pub fn end(db: &mut Db) -> Result<(), DatabaseError> {
    transaction(db, |db| Ok(db.batch_execute("DROP TABLE generator_progress")?))
}

fn quoted(text: impl AsRef<str>) -> String {
    format!("'{}'", text.as_ref().replace('\'', "''"))
}
