//! Retries work while the database is busy.

use std::time::{Duration, Instant};

/// How long to keep retrying a write.
pub(crate) const RETRY_LIMIT: Duration = Duration::from_secs(5);

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Retries for up to `limit` while the database is busy.
pub(crate) async fn retry_while_busy<T, E, F>(
    limit: Duration,
    is_busy: fn(&E) -> bool,
    attempt: impl Fn() -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let began = Instant::now();
    loop {
        match attempt().await {
            Err(error) if is_busy(&error) && began.elapsed() < limit => {
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

    /// Retries work whose first two attempts fail. Returns the outcome and the number of attempts.
    async fn tried(limit: Duration, failure: fn() -> DatabaseError) -> (bool, usize) {
        let made = Cell::new(0);
        let outcome = retry_while_busy(limit, DatabaseError::is_busy, || {
            made.set(made.get() + 1);
            std::future::ready(if made.get() > 2 { Ok(()) } else { Err(failure()) })
        });
        (outcome.await.is_ok(), made.get())
    }

    #[tokio::test]
    async fn busy_database_is_retried_until_the_limit() {
        assert_eq!(tried(RETRY_LIMIT, || DatabaseError::Busy).await, (true, 3));
        assert_eq!(tried(Duration::ZERO, || DatabaseError::Busy).await, (false, 1));
        assert_eq!(tried(RETRY_LIMIT, || DatabaseError::NotFound).await, (false, 1));
    }
}
