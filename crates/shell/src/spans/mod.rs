//! Request spans for an OpenTelemetry collector that supports OTLP over HTTP.
//!
//! Programs built without the `otlp` cargo feature don't send spans and reject `OTLP_ENDPOINT`.

mod ended;
#[cfg(feature = "otlp")]
mod otlp;

use actix_web::http::header::HeaderMap;

pub(crate) use self::ended::Ended;
use crate::{ServiceInfo, TraceContext};

/// Starts sending spans to a collector. For requests without a `traceparent`, only sends the
/// fraction `ratio`.
///
/// # Errors
/// Returns an error if the client for the collector can't be created.
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

/// Returns a request's trace context from its `traceparent` header. Requests without this header
/// get a new context if we send spans.
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

/// Sends the queued spans. This takes a few seconds at most.
pub(crate) fn flush() {
    #[cfg(feature = "otlp")]
    otlp::flush();
}
