//! The wish to stop, as connections see it.

use tokio::sync::watch;

/// Tells connections that the server is about to stop.
#[derive(Clone, Debug)]
pub(crate) struct Drain(watch::Receiver<bool>);

impl Drain {
    pub(crate) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Waits until draining begins.
    pub(super) async fn begun(&mut self) {
        if self.0.wait_for(|draining| *draining).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
