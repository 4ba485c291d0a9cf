//! Retries work while the database is busy.

use std::time::{Duration, Instant};

/// How long a job may wait for a long write before we log a warning.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Retries while the database is busy, for up to `patience`.
pub(crate) async fn patiently<T, E, F>(
    patience: Duration,
    is_busy: fn(&E) -> bool,
    attempt: impl Fn() -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let began = Instant::now();
    loop {
        match attempt().await {
            Err(error) if is_busy(&error) && began.elapsed() < patience => {
                tokio::time::sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::DatabaseError;

    /// Makes attempts, the first two of which fail. Returns the outcome and the number of attempts.
    async fn tried(patience: Duration, failure: fn() -> DatabaseError) -> (bool, usize) {
        let made = Cell::new(0);
        let outcome = patiently(patience, DatabaseError::is_busy, || {
            made.set(made.get() + 1);
            std::future::ready(if made.get() > 2 { Ok(()) } else { Err(failure()) })
        });
        (outcome.await.is_ok(), made.get())
    }

    #[tokio::test]
    async fn busy_database_is_retried_until_the_limit() {
        assert_eq!(tried(PATIENCE, || DatabaseError::Busy).await, (true, 3));
        assert_eq!(tried(Duration::ZERO, || DatabaseError::Busy).await, (false, 1));
        assert_eq!(tried(PATIENCE, || DatabaseError::NotFound).await, (false, 1));
    }
}
