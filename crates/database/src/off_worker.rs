//! Runs blocking work off the worker threads.

use crate::DatabaseError;

/// Runs `work` on a blocking thread. Panics propagate to the caller.
///
/// # Errors
/// Returns [`DatabaseError::Busy`] if the program is shutting down.
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
