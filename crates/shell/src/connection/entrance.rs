//! Settings shared by a listener's sockets.

use std::future::Future;
use std::sync::Arc;

use actix_server::GracefulShutdownSignal;
use rustls::ServerConfig;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::limits::{LAST_REQUESTS, Limits};
use super::parser_answer::ParserFaults;
use super::peers::Peers;

/// Notifies connections that the server is about to stop.
#[derive(Clone, Debug)]
pub(crate) struct Drain(watch::Receiver<bool>);

impl Drain {
    pub(crate) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Waits until the server starts draining.
    pub(super) async fn begun(&mut self) {
        if self.0.wait_for(|draining| *draining).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Settings shared by all of a listener's sockets.
#[derive(Clone)]
pub(crate) struct Entrance {
    pub(crate) limits: Limits,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) peers: Peers,
    /// Whether connections from trusted peers start with a PROXY protocol header.
    pub(crate) proxy_protocol: bool,
    pub(crate) faults: Arc<ParserFaults>,
    pub(crate) drain: Drain,
    pub(crate) half_closed: bool,
    pub(crate) stopping: GracefulShutdownSignal,
}

impl Entrance {
    /// Runs a step that precedes a connection's first request, such as the TLS handshake.
    ///
    /// Returns `None` if the step takes longer than `HEAD_TIMEOUT` or the server stops first.
    pub(super) async fn limit<T>(&self, step: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            result = timeout(self.limits.head, step) => result.ok(),
            () = self.stopped() => None,
        }
    }

    /// Waits until the server is stopping and every connection has had time for one last request.
    pub(super) async fn stopped(&self) {
        self.stopping.notified().await;
        sleep(LAST_REQUESTS).await;
    }
}
