//! Blocking work of requests beside that of the database.

use crate::error::Error;

/// Runs blocking work on a thread for such; a panic in it goes on in the caller.
pub async fn off_worker<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The program is stopping.
            Err(_) => Err(Error::Unavailable(1)),
        },
    }
}
