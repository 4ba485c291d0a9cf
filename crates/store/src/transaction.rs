//! Transactions that write.

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::result::Error;

use crate::{Db, StoreError};

/// Runs `work` in a transaction that takes the write lock at once; an error rolls it back.
///
/// SQLite's own `BEGIN` takes the lock only at the first write and then fails when another
/// connection wrote in between, however long it would have waited; `BEGIN IMMEDIATE` waits.
/// Inside a running transaction this becomes a savepoint.
///
/// ```
/// use diesel::prelude::*;
/// use store::{Db, StoreError, transaction};
///
/// fn clear(db: &mut Db) -> Result<usize, StoreError> {
///     transaction(db, |db| Ok(diesel::sql_query("DELETE FROM note").execute(db)?))
/// }
/// ```
pub fn transaction<T, E>(db: &mut Db, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
where
    E: From<StoreError>,
{
    begin(db).map_err(StoreError::from)?;
    finish(db, work)
}

/// Begins a writing transaction, or a savepoint inside one.
pub(crate) fn begin(db: &mut Db) -> Result<(), Error> {
    let begun = match db {
        Db::Sqlite(conn) => AnsiTransactionManager::begin_transaction_sql(conn, "BEGIN IMMEDIATE"),
        Db::Pg(conn) => AnsiTransactionManager::begin_transaction_sql(conn, "BEGIN READ WRITE"),
    };
    match begun {
        Err(Error::AlreadyInTransaction) => <Db as TransactionManager<Db>>::begin_transaction(db),
        other => other,
    }
}

/// Runs `work` in the transaction that [`begin`] began, then commits or rolls back.
pub(crate) fn finish<T, E>(db: &mut Db, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
where
    E: From<StoreError>,
{
    match work(db) {
        Ok(value) => {
            <Db as TransactionManager<Db>>::commit_transaction(db).map_err(StoreError::from)?;
            Ok(value)
        }
        Err(error) => {
            if let Err(failed) = <Db as TransactionManager<Db>>::rollback_transaction(db) {
                log::warn!("a transaction could not be rolled back: {failed}");
            }
            Err(error)
        }
    }
}
