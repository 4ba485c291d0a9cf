//! The settings of a listener.

use std::future::Future;
use std::sync::Arc;

use actix_server::GracefulShutdownSignal;
use rustls::ServerConfig;
use tokio::time::{sleep, timeout};

use super::drain::Drain;
use super::limits::{LAST_REQUESTS, Limits};
use super::parser_answer::ParserFaults;
use super::peers::Peers;

/// What the sockets of one listener have in common.
#[derive(Clone)]
pub(crate) struct Entrance {
    pub(crate) limits: Limits,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) peers: Peers,
    /// Whether connections of trusted peers begin with a PROXY protocol header.
    pub(crate) proxy_protocol: bool,
    pub(crate) faults: Arc<ParserFaults>,
    pub(crate) drain: Drain,
    pub(crate) half_closed: bool,
    pub(crate) stopping: GracefulShutdownSignal,
}

impl Entrance {
    /// Runs a step that precedes the first request of a connection, such as the TLS handshake.
    ///
    /// Returns `None` when the step takes longer than `HEAD_TIMEOUT`, or when the server stops first.
    pub(super) async fn limit<T>(&self, step: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            result = timeout(self.limits.head, step) => result.ok(),
            () = self.stopped() => None,
        }
    }

    /// Waits until the server stops and connections have had their time for a last request.
    pub(super) async fn stopped(&self) {
        self.stopping.notified().await;
        sleep(LAST_REQUESTS).await;
    }
}
