//! The settings of a listener.

use std::sync::Arc;

use actix_server::GracefulShutdownSignal;
use rustls::ServerConfig;

use super::drain::Drain;
use super::limits::Limits;
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
