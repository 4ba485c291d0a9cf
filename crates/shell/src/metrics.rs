//! Prometheus metrics, served only on the admin port.
//!
//! Labels are route patterns, methods and status codes, never paths, keys or parameters.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use actix_web::HttpMessage;
use actix_web::dev::ServiceResponse;
use actix_web::http::StatusCode;
use prometheus::core::Collector;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::{Operation, operations, process_metrics};

/// The route label for responses that a service's own middleware sends before routing. The
/// middleware inserts it into the request extensions.
#[derive(Clone, Debug)]
pub struct RouteLabel(pub Cow<'static, str>);

struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    certificate_end: IntGauge,
    lost_lines: IntCounter,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| {
    let registry = Registry::new();
    let buckets = vec![
        0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
        0.5, 1.0, 2.5, 5.0, 10.0,
    ];
    Metrics {
        requests: registered(
            &registry,
            IntCounterVec::new(
                Opts::new("http_requests_total", "HTTP requests handled"),
                &["method", "route", "status"],
            ),
        ),
        seconds: registered(
            &registry,
            HistogramVec::new(
                HistogramOpts::new(
                    "http_request_duration_seconds",
                    "Time until the response head was sent",
                )
                .buckets(buckets),
                &["method", "route"],
            ),
        ),
        certificate_end: registered(
            &registry,
            IntGauge::new(
                "tls_certificate_not_after_timestamp_seconds",
                "Unix time when the server certificate expires, or 0 without a certificate",
            ),
        ),
        lost_lines: registered(
            &registry,
            IntCounter::new(
                "log_lines_lost_total",
                "Log lines lost because stderr was blocked or failed",
            ),
        ),
        registry,
    }
});

/// Registers a collector that is built from constants, and returns it.
///
/// ```
/// use std::sync::LazyLock;
///
/// use prometheus::IntCounter;
/// use shell::metrics::register;
///
/// static ROWS: LazyLock<IntCounter> =
///     LazyLock::new(|| register(IntCounter::new("doc_rows_total", "Rows read")));
///
/// ROWS.inc();
/// assert_eq!(ROWS.get(), 1);
/// ```
///
/// # Panics
/// Panics if a name or label is invalid, or if another collector has the same name. Since these are
/// constants, the first test to use the collector would reveal the mistake.
pub fn register<C: Collector + Clone + 'static>(collector: prometheus::Result<C>) -> C {
    registered(&METRICS.registry, collector)
}

#[expect(clippy::expect_used, reason = "names and labels are constants that tests exercise")]
fn registered<C: Collector + Clone + 'static>(
    registry: &Registry,
    collector: prometheus::Result<C>,
) -> C {
    let collector = collector.expect("metric options are valid");
    registry.register(Box::new(collector.clone())).expect("metric names are unique");
    collector
}

/// Returns this process's registry, for a service's own metrics.
pub fn registry() -> &'static Registry {
    &METRICS.registry
}

/// The two metrics for a route, method and status.
struct Handles {
    method: &'static str,
    status: u16,
    requests: IntCounter,
    seconds: Histogram,
}

thread_local! {
    /// Metrics by route, since looking one up by its labels takes longer than counting.
    static HANDLES: RefCell<HashMap<Box<str>, Vec<Handles>>> = RefCell::default();
}

pub(crate) fn count(response: &ServiceResponse, method: &'static str, elapsed: Duration) {
    let request = response.request();
    let label = request.extensions().get::<RouteLabel>().cloned();
    let add = |known: &mut Vec<Handles>, route: &str| {
        let handles = handles_of(known, route, method, response.status());
        handles.requests.inc();
        handles.seconds.observe(elapsed.as_secs_f64());
    };
    HANDLES.with_borrow_mut(|routes| {
        let template = match &label {
            Some(RouteLabel(route)) => Some(&**route),
            None => operations(request).find(request.path()).map(Operation::template),
        };
        let own = template.unwrap_or(request.path());
        if let Some(known) = routes.get_mut(own) {
            return add(known, own);
        }
        // The router also knows routes that aren't operations, such as files. A path without
        // parameters is its own pattern, so it is found above from the second request on.
        let pattern = if template.is_some() { None } else { request.match_pattern() };
        let route = template.or(pattern.as_deref()).unwrap_or("unmatched");
        match routes.get_mut(route) {
            Some(known) => add(known, route),
            None => add(routes.entry(route.into()).or_default(), route),
        }
    });
}

fn handles_of<'a>(
    known: &'a mut Vec<Handles>,
    route: &str,
    method: &'static str,
    status: StatusCode,
) -> &'a Handles {
    let number = status.as_u16();
    let at = known.iter().position(|handles| handles.status == number && handles.method == method);
    let at = at.unwrap_or_else(|| {
        known.push(Handles {
            method,
            status: number,
            requests: METRICS.requests.with_label_values(&[method, route, status.as_str()]),
            seconds: METRICS.seconds.with_label_values(&[method, route]),
        });
        known.len() - 1
    });
    &known[at]
}

/// Counts a request whose handler panicked.
pub(crate) fn count_panic(method: &'static str, route: Option<&str>, elapsed: Duration) {
    let route = route.unwrap_or("unmatched");
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    METRICS.requests.with_label_values(&[method, route, status.as_str()]).inc();
    METRICS.seconds.with_label_values(&[method, route]).observe(elapsed.as_secs_f64());
}

/// Counts a request that the HTTP parser couldn't read.
pub(crate) fn count_parser_fault(status: StatusCode) {
    METRICS.requests.with_label_values(&["other", "unreadable", status.as_str()]).inc();
}

pub(crate) fn set_build(service: &str, version: &str) {
    static BUILD: LazyLock<IntGaugeVec> = LazyLock::new(|| {
        let options =
            Opts::new("quintet_build_info", "Service name and version. The value is always 1");
        register(IntGaugeVec::new(options, &["service", "version"]))
    });
    BUILD.with_label_values(&[service, version]).set(1);
}

/// Sets the metric for certificate expiry, in Unix seconds.
pub(crate) fn set_certificate_end(instant: i64) {
    METRICS.certificate_end.set(instant);
}

/// Returns the counter for log lines that couldn't be written to stderr.
pub(crate) fn lost_lines() -> &'static IntCounter {
    &METRICS.lost_lines
}

/// Returns all metrics in the Prometheus text format.
pub(crate) fn render() -> Vec<u8> {
    let mut text = Vec::new();
    let mut families = METRICS.registry.gather();
    // Metrics of other crates are in the default registry.
    families.extend(prometheus::gather());
    if let Err(error) = TextEncoder::new().encode(&families, &mut text) {
        log::error!("metrics cannot be written: {error}");
    }
    text.extend(process_metrics::render().into_bytes());
    text
}

/// Returns the label for a method. Unknown methods share one, so that clients can't create new
/// labels.
pub(crate) fn method_label(method: &actix_web::http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
