//! The OpenTelemetry exporter, enabled by the `otlp` cargo feature.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor,
};

use super::ended::Ended;
use crate::{ServiceInfo, TraceContext};

/// The path for traces on a collector.
const PATH: &str = "/v1/traces";
/// How long an exiting process waits for the collector.
const LAST_SPANS: Duration = Duration::from_secs(5);

static EXPORTER: OnceLock<Exporter> = OnceLock::new();

struct Exporter {
    /// Queues up to 2,048 spans and sends them from its own thread. Any that don't fit are dropped.
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
    /// New traces are sampled if the lower 64 bits of their ID are below this number.
    threshold: f64,
}

/// Starts the thread that sends spans. Calling this again does nothing.
///
/// # Errors
/// Returns an error if the client cannot be created.
pub(super) fn start(endpoint: &str, ratio: f64, service: &ServiceInfo) -> anyhow::Result<()> {
    if EXPORTER.get().is_some() {
        return Ok(());
    }
    let exporter = SpanExporter::builder().with_http().with_endpoint(format!("{endpoint}{PATH}"));
    let exporter = exporter.build().context("OTLP_ENDPOINT")?;
    let mut processor = BatchSpanProcessor::builder(exporter).build();
    let version = KeyValue::new("service.version", service.version);
    let resource = Resource::builder().with_service_name(service.name).with_attribute(version);
    processor.set_resource(&resource.build());
    let scope = InstrumentationScope::builder("quintet").build();
    let threshold = ratio * 2_f64.powi(64);
    let _ = EXPORTER.set(Exporter { processor, scope, threshold });
    Ok(())
}

/// Returns the context for a request without a `traceparent`, or `None` if spans aren't sent.
pub(super) fn new_trace() -> Option<TraceContext> {
    EXPORTER
        .get()
        .map(|exporter| TraceContext::root(|trace| ((trace as u64) as f64) < exporter.threshold))
}

/// Queues the span of a request.
pub(super) fn send(ended: &Ended<'_>) {
    let Some(exporter) = EXPORTER.get().filter(|_| ended.trace.is_sampled()) else { return };
    let end_time = SystemTime::now();
    let start_time = end_time.checked_sub(ended.started.elapsed()).unwrap_or(end_time);
    let (trace, parent) = (ended.trace, ended.trace.parent());
    let mut attributes = vec![
        KeyValue::new("http.request.method", ended.method),
        KeyValue::new("http.route", ended.route.to_owned()),
        KeyValue::new("http.response.status_code", i64::from(ended.status.as_u16())),
        KeyValue::new("http.response.body.size", i64::try_from(ended.bytes).unwrap_or(i64::MAX)),
        KeyValue::new("quintet.request_id", ended.id.to_string()),
    ];
    let client = ended.client.map(|client| KeyValue::new("client.address", client.to_owned()));
    attributes.extend(client);
    let status = if ended.status.is_server_error() { Status::error("") } else { Status::Unset };
    exporter.processor.on_end(SpanData {
        span_context: SpanContext::new(
            TraceId::from_bytes(trace.trace().to_be_bytes()),
            SpanId::from_bytes(trace.span().to_be_bytes()),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        ),
        parent_span_id: SpanId::from_bytes(parent.unwrap_or(0).to_be_bytes()),
        parent_span_is_remote: parent.is_some(),
        span_kind: SpanKind::Server,
        name: format!("{} {}", ended.method, ended.route).into(),
        start_time,
        end_time,
        attributes,
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status,
        instrumentation_scope: exporter.scope.clone(),
    });
}

/// Sends the queued spans.
pub(super) fn flush() {
    if let Some(exporter) = EXPORTER.get()
        && let Err(error) = exporter.processor.shutdown_with_timeout(LAST_SPANS)
    {
        log::warn!("the last spans were not sent: {error}");
    }
}
