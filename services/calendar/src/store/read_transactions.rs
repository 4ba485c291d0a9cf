//! Read transactions on a consistent snapshot of the database.

use database::{DatabaseError, Db};
use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::result::Error;

type Manager = <Db as diesel::Connection>::TransactionManager;

/// Runs `work` in a transaction, so that all statements see the same snapshot.
///
/// This keeps counts, lists and rows consistent despite concurrent writes. If a transaction is
/// already running, `work` joins it.
pub fn read_transaction<T, E>(
    db: &mut Db,
    work: impl FnOnce(&mut Db) -> Result<T, E>,
) -> Result<T, E>
where
    E: From<DatabaseError>,
{
    let begun = match db {
        Db::Sqlite(conn) => AnsiTransactionManager::begin_transaction_sql(conn, "BEGIN"),
        Db::Pg(conn) => AnsiTransactionManager::begin_transaction_sql(
            conn,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        ),
    };
    match begun {
        Ok(()) => {}
        Err(Error::AlreadyInTransaction) => return work(db),
        Err(error) => return Err(DatabaseError::from(error).into()),
    }
    let outcome = work(db);
    // If a connection can't end its transaction, the pool discards it as broken.
    let ended = match outcome {
        Ok(_) => Manager::commit_transaction(db),
        Err(_) => Manager::rollback_transaction(db),
    };
    if let Err(error) = ended {
        log::warn!("cannot end a read transaction: {error}");
    }
    outcome
}
