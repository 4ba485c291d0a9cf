//! Spans of requests, for an OpenTelemetry collector that supports OTLP over HTTP.
//!
//! Programs built without the cargo feature `otlp` do not send spans, and reject `OTLP_ENDPOINT`.

mod ended;
#[cfg(feature = "otlp")]
mod otlp;

use actix_web::http::header::HeaderMap;

pub(crate) use self::ended::Ended;
use crate::{ServiceInfo, TraceContext};

/// Starts to send spans to a collector. `ratio` is the share of requests without `traceparent` that
/// is sent.
///
/// # Errors
/// Returns an error if the client for the collector cannot be created.
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

/// Returns the trace context of a request: from its `traceparent`, or a new one if spans are sent.
pub(crate) fn trace_of(headers: &HeaderMap) -> Option<TraceContext> {
    let sent = TraceContext::of(headers);
    #[cfg(feature = "otlp")]
    let sent = sent.or_else(otlp::new_trace);
    sent
}

/// Queues the span of a request for the collector.
pub(crate) fn send(ended: &Ended<'_>) {
    #[cfg(feature = "otlp")]
    otlp::send(ended);
    let _ = ended;
}

/// Sends the queued spans. Takes at most a few seconds.
pub(crate) fn flush() {
    #[cfg(feature = "otlp")]
    otlp::flush();
}
