//! Dry runs.

use std::convert::Infallible;

use database::{DatabaseError, Db, Pools};

/// Carries the result of a dry run out of the transaction, which is rolled back.
enum Stop<T, E> {
    Done(T),
    Failed(E),
}

impl<T, E: From<DatabaseError>> From<DatabaseError> for Stop<T, E> {
    fn from(error: DatabaseError) -> Self {
        Stop::Failed(error.into())
    }
}

/// Runs `work` in a transaction, rolls it back, and returns the result.
///
/// # Errors
/// Returns the error from `work`, or an error if the database is busy or unreachable.
pub fn dry_run<T, E: From<DatabaseError>>(
    pools: &Pools,
    work: impl FnOnce(&mut Db) -> Result<T, E>,
) -> Result<T, E> {
    let Err(stop) = pools.write_blocking(|db| match work(db) {
        Ok(done) => Err::<Infallible, _>(Stop::Done(done)),
        Err(error) => Err(Stop::Failed(error)),
    });
    match stop {
        Stop::Done(done) => Ok(done),
        Stop::Failed(error) => Err(error),
    }
}
