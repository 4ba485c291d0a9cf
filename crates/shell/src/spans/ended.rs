//! The contents of a span.

use std::time::Instant;

use actix_web::http::StatusCode;

use crate::{RequestId, TraceContext};

/// A request whose response has been sent, with the same fields as in the access log.
#[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "the exporter reads them"))]
pub(crate) struct Ended<'l> {
    pub(crate) trace: TraceContext,
    pub(crate) id: &'l RequestId,
    pub(crate) method: &'static str,
    /// The pattern of the route.
    pub(crate) route: &'l str,
    pub(crate) status: StatusCode,
    pub(crate) bytes: u64,
    /// The part of the client address that can be shown.
    pub(crate) client: Option<&'l str>,
    pub(crate) started: Instant,
}
