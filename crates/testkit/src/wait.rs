//! Waiting for what another process or task is about to do.

use std::time::{Duration, Instant};

/// What has not happened by then will not.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two looks, so that those waited for get the processor.
const PAUSE: Duration = Duration::from_millis(2);

/// Waits until a condition holds.
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
/// When it does not hold within a minute.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    let mut pauses = tokio::time::interval(PAUSE);
    while !holds().await {
        assert!(begin.elapsed() < PATIENCE, "in vain: {what}");
        pauses.tick().await;
    }
}

/// Waits until a condition holds, on the calling thread.
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
/// When it does not hold within a minute.
pub fn until_blocking(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "in vain: {what}");
        std::thread::park_timeout(PAUSE);
    }
}
