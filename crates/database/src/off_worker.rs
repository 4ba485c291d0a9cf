//! Blocking work beside the worker threads.

use crate::DatabaseError;

/// Runs blocking work on a thread for such; a panic in it goes on in the caller.
///
/// # Errors
/// [`DatabaseError::Busy`] when the program is stopping.
pub async fn off_worker<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DatabaseError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(DatabaseError::Busy),
        },
    }
}
