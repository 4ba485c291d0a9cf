//! Spans of requests, for a collector that speaks OTLP over HTTP.
//!
//! Programs that are built without the cargo feature `otlp` send none, and refuse `OTLP_ENDPOINT`.

#[cfg(feature = "otlp")]
mod otlp;

use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;

use crate::{RequestId, ServiceInfo, TraceContext};

/// A request whose response has ended. It has the members of its line in the access log.
#[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "the exporter reads them"))]
pub(crate) struct Ended<'l> {
    pub(crate) trace: TraceContext,
    pub(crate) id: &'l RequestId,
    pub(crate) method: &'static str,
    /// The pattern of the route.
    pub(crate) route: &'l str,
    pub(crate) status: StatusCode,
    pub(crate) bytes: u64,
    /// The part of the client's address that may be shown.
    pub(crate) client: Option<&'l str>,
    pub(crate) started: Instant,
}

/// Starts to send spans to a collector. `ratio` is the share of the requests without `traceparent`.
///
/// # Errors
/// The client for the collector cannot be made.
pub(crate) fn start(
    endpoint: Option<&str>,
    ratio: f64,
    service: &ServiceInfo,
) -> anyhow::Result<()> {
    #[cfg(feature = "otlp")]
    if let Some(endpoint) = endpoint {
        return otlp::start(endpoint, ratio, service);
    }
    let _ = (endpoint, ratio, service);
    Ok(())
}

/// Returns the trace of a request: that of its `traceparent`, or a new one if spans are sent.
pub(crate) fn trace_of(headers: &HeaderMap) -> Option<TraceContext> {
    let sent = TraceContext::of(headers);
    #[cfg(feature = "otlp")]
    let sent = sent.or_else(otlp::new_trace);
    sent
}

/// Sends the span of a request.
pub(crate) fn send(ended: &Ended<'_>) {
    #[cfg(feature = "otlp")]
    otlp::send(ended);
    let _ = ended;
}

/// Sends the spans that wait. Takes some seconds at most.
pub(crate) fn flush() {
    #[cfg(feature = "otlp")]
    otlp::flush();
}
