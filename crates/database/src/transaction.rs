//! Write transactions and consistent reads.

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::{DatabaseErrorKind, Error, QueryResult};
use diesel::sqlite::Sqlite;
use diesel::{RunQueryDsl, SqliteConnection};

use crate::{DatabaseError, Db};

/// Runs `work` in a transaction that takes the write lock at the start. If `work` fails, the
/// transaction is rolled back.
///
/// With a plain `BEGIN`, SQLite only takes the lock at the first write, and fails without waiting
/// if another connection has written in the meantime. We therefore use `BEGIN IMMEDIATE`, which
/// waits. Inside another transaction, this function creates a savepoint.
///
/// On PostgreSQL, the isolation level is always READ COMMITTED, regardless of the server's default.
/// After waiting for an advisory lock, a transaction has to see what the previous holder committed.
///
/// ```
/// use diesel::prelude::*;
/// use database::{Db, DatabaseError, transaction};
///
/// fn clear(db: &mut Db) -> Result<usize, DatabaseError> {
///     transaction(db, |db| Ok(diesel::sql_query("DELETE FROM note").execute(db)?))
/// }
/// ```
///
/// # Errors
/// Returns the error from `work` after a rollback, or [`DatabaseError::Busy`] if the lock couldn't
/// be taken in time.
pub fn transaction<T, E>(db: &mut Db, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
where
    E: From<DatabaseError>,
{
    begin(db).map_err(DatabaseError::from)?;
    finish(db, work)
}

/// Begins a write transaction, or a savepoint if one is already open.
pub(crate) fn begin(db: &mut Db) -> Result<(), Error> {
    let begun = match db {
        Db::Sqlite(conn) => AnsiTransactionManager::begin_transaction_sql(conn, "BEGIN IMMEDIATE"),
        Db::Pg(conn) => AnsiTransactionManager::begin_transaction_sql(
            conn,
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        ),
    };
    match begun {
        Err(Error::AlreadyInTransaction) => <Db as TransactionManager<Db>>::begin_transaction(db),
        other => other,
    }
}

/// Runs `work` in the transaction that [`begin`] started, then commits or rolls back.
pub(crate) fn finish<T, E>(db: &mut Db, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
where
    E: From<DatabaseError>,
{
    match work(db) {
        Ok(value) => {
            <Db as TransactionManager<Db>>::commit_transaction(db).map_err(DatabaseError::from)?;
            Ok(value)
        }
        Err(error) => {
            roll_back(db);
            Err(error)
        }
    }
}

/// Runs `work` like [`transaction`], but always rolls back. This lets dry runs report exactly what
/// would happen.
///
/// # Errors
/// Returns the error from `work`, or [`DatabaseError::Busy`] if the lock couldn't be taken in time.
pub fn rehearse<T, E>(db: &mut Db, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
where
    E: From<DatabaseError>,
{
    begin(db).map_err(DatabaseError::from)?;
    let done = work(db);
    roll_back(db);
    done
}

fn roll_back(db: &mut Db) {
    if let Err(failed) = <Db as TransactionManager<Db>>::rollback_transaction(db) {
        // The lost connection has already been logged and will be dropped by the pool.
        let level = if is_loss(&failed) { log::Level::Debug } else { log::Level::Warn };
        log::log!(level, "a transaction could not be rolled back: {failed}");
    }
}

/// Returns whether a rollback failed because the connection had been lost.
fn is_loss(failed: &Error) -> bool {
    use DatabaseErrorKind::{ClosedConnection, UnableToSendCommand};
    matches!(
        failed,
        Error::BrokenTransactionManager
            | Error::DatabaseError(ClosedConnection | UnableToSendCommand, _)
    )
}

/// Begins consistent reads, which last until [`end_reading`]. Don't start a transaction in between.
///
/// Outside of a transaction, SQLite locks its file for every statement, so running many short reads
/// in one transaction takes far fewer system calls. Does nothing on PostgreSQL.
///
/// # Errors
/// Returns any database error.
pub fn begin_reading(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Sqlite(conn) = db {
        Fixed::<BEGIN>.execute(conn)?;
    }
    Ok(())
}

/// Ends consistent reads. If this fails, the connection must be dropped.
///
/// # Errors
/// Returns any database error.
pub fn end_reading(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Sqlite(conn) = db {
        Fixed::<COMMIT>.execute(conn)?;
    }
    Ok(())
}

const BEGIN: usize = 0;
const COMMIT: usize = 1;

/// A statement without parameters, prepared once per connection.
struct Fixed<const STATEMENT: usize>;

impl<const STATEMENT: usize> QueryId for Fixed<STATEMENT> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<const STATEMENT: usize> QueryFragment<Sqlite> for Fixed<STATEMENT> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(["BEGIN", "COMMIT"][STATEMENT]);
        Ok(())
    }
}

impl<const STATEMENT: usize> RunQueryDsl<SqliteConnection> for Fixed<STATEMENT> {}
