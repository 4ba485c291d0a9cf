//! Spans of requests, for a collector that speaks OTLP over HTTP.
//!
//! Programs that are built without the cargo feature `otlp` send none, and refuse `OTLP_ENDPOINT`.

mod ended;
#[cfg(feature = "otlp")]
mod otlp;

use actix_web::http::header::HeaderMap;

pub(crate) use self::ended::Ended;
use crate::{ServiceInfo, TraceContext};

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
