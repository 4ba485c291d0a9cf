//! Request spans for an OpenTelemetry collector that supports OTLP over HTTP.
//!
//! Programs built without the `otlp` cargo feature don't send spans and reject `OTLP_ENDPOINT`.

mod ended;
#[cfg(feature = "otlp")]
mod otlp;

use actix_web::http::header::HeaderMap;

pub(crate) use self::ended::Ended;
use crate::{ServiceInfo, TraceContext};

/// Starts sending spans to a collector. Of the requests without a `traceparent`, only the fraction
/// `ratio` is sent.
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

/// Returns the trace context of a request. It comes from the `traceparent` header. Requests without
/// one get a new context if we send spans.
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
