//! Waits for conditions.

use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between checks, during which other tasks can run.
const PAUSE: Duration = Duration::from_millis(2);

/// Waits until a condition is met.
///
/// ```no_run
/// use testkit::{Exchange, until};
///
/// # async fn test(server: testkit::TestServer) {
/// until("the new breach is served", async || {
///     server.get("/api/v3/breach/Alpha").answer().await.status == 200
/// })
/// .await;
/// # }
/// ```
///
/// # Panics
/// Panics if the condition isn't met within a minute.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    let mut pauses = tokio::time::interval(PAUSE);
    while !holds().await {
        assert!(begin.elapsed() < TIMEOUT, "timed out: {what}");
        pauses.tick().await;
    }
}

/// Waits until a condition is met, blocking the calling thread.
///
/// ```
/// let folder = testkit::Folder::new();
/// let file = folder.join("done");
/// std::thread::spawn({
///     let file = file.clone();
///     move || std::fs::write(file, "")
/// });
/// testkit::until_blocking("the file is written", || file.exists());
/// ```
///
/// # Panics
/// Panics if the condition isn't met within a minute.
pub fn until_blocking(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < TIMEOUT, "timed out: {what}");
        std::thread::park_timeout(PAUSE);
    }
}
