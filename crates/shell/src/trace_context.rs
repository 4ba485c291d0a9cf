//! W3C trace contexts, which link the log lines of several services.

use std::fmt;
use std::future::Future;

use actix_web::http::header::{HeaderMap, HeaderName};

use crate::RequestId;

const HEADER: HeaderName = HeaderName::from_static("traceparent");
/// Length of a version 00 `traceparent`, `00-TRACE-PARENT-FLAGS`.
const LENGTH: usize = 55;
/// The "sampled" flag, the only one defined in version 00.
const SAMPLED: u8 = 1;

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// The trace that a request belongs to, along with the request's own span.
///
/// `Display` formats it as the `traceparent` for requests that we send while handling this request.
/// See <https://www.w3.org/TR/trace-context/>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace: u128,
    /// The caller's span, if the caller sent one.
    parent: Option<u64>,
    span: u64,
    flags: u8,
}

impl TraceContext {
    /// Reads the context from the headers of a request and gives it a new span. Returns `None` if
    /// `traceparent` is missing, invalid or repeated.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut sent = headers.get_all(HEADER);
        let only = sent.next().filter(|_| sent.next().is_none())?;
        let (trace, parent, flags) = parse(only.as_bytes())?;
        Some(Self { trace, parent: Some(parent), span: next_span(), flags: flags & SAMPLED })
    }

    /// Creates the context for a request that starts a new trace.
    #[cfg(feature = "otlp")]
    pub(crate) fn root(is_sampled: impl Fn(u128) -> bool) -> Self {
        // A trace ID must not be zero.
        let trace = RequestId::next().value().max(1);
        Self { trace, parent: None, span: next_span(), flags: is_sampled(trace).into() }
    }

    /// Returns the context of the request that this task is handling. `None` if the request has no
    /// context, or on any other thread.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|context| *context).ok()
    }

    /// Handles a request within this context.
    pub async fn within<T>(self, handle: impl Future<Output = T>) -> T {
        CURRENT.scope(self, handle).await
    }

    #[cfg(feature = "otlp")]
    pub(crate) fn trace(self) -> u128 {
        self.trace
    }

    #[cfg(feature = "otlp")]
    pub(crate) fn parent(self) -> Option<u64> {
        self.parent
    }

    #[cfg(feature = "otlp")]
    pub(crate) fn span(self) -> u64 {
        self.span
    }

    /// Returns whether the request's span should be sent to a collector.
    #[cfg(feature = "otlp")]
    pub(crate) fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the trace ID as 32 hex digits.
    pub(crate) fn trace_id(self) -> String {
        format!("{:032x}", self.trace)
    }

    /// Returns the span ID as 16 hex digits.
    pub(crate) fn span_id(self) -> String {
        format!("{:016x}", self.span)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// Returns a new span ID. Never zero, because that would be invalid.
fn next_span() -> u64 {
    (RequestId::next().value() as u64).max(1)
}

/// Parses a `traceparent` into trace ID, parent ID and flags. Later versions can append more
/// fields.
fn parse(text: &[u8]) -> Option<(u128, u64, u8)> {
    let (known, more) = text.split_at_checked(LENGTH)?;
    let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    let known = std::str::from_utf8(known).ok().filter(|_| known.iter().all(lower))?;
    let mut parts = known.split('-');
    let mut part = |length: usize| parts.next().filter(|part| part.len() == length);
    let (version, trace, parent, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    let more_fits = if version == "00" { more.is_empty() } else { matches!(more, [] | [b'-', ..]) };
    let trace = u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?;
    let parent = u64::from_str_radix(parent, 16).ok().filter(|parent| *parent != 0)?;
    let flags = u8::from_str_radix(flags, 16).ok()?;
    (version != "ff" && more_fits).then_some((trace, parent, flags))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn context(values: &[&str]) -> Option<TraceContext> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_str(value).unwrap());
        }
        TraceContext::of(&headers)
    }

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn trace_and_sampling_are_kept_and_the_span_is_new() {
        let (first, second) = (context(&[VALID]).unwrap(), context(&[VALID]).unwrap());
        assert_eq!(first.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_ne!(first.span_id(), "00f067aa0ba902b7");
        assert_ne!(first.span_id(), second.span_id());
        let passed_on = format!("00-{}-{}-01", first.trace_id(), first.span_id());
        assert_eq!(first.to_string(), passed_on);
        let unsampled = context(&[&VALID.replace("-01", "-fe")]).unwrap();
        assert!(unsampled.to_string().ends_with("-00"));
    }

    #[test]
    fn later_versions_may_have_more_parts() {
        for text in [VALID.replacen("00", "cc", 1), format!("cc{}-more", &VALID[2..])] {
            assert!(context(&[&text]).is_some(), "{text}");
        }
    }

    #[test]
    fn invalid_contexts_are_ignored() {
        for text in [
            "",
            "00",
            &VALID.to_uppercase(),
            &VALID[..54],
            &format!("{VALID}-more"),
            &format!("ff{}", &VALID[2..]),
            &format!("cc{}.more", &VALID[2..]),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        ] {
            assert_eq!(context(&[text]), None, "{text}");
        }
        assert_eq!(context(&[VALID, VALID]), None);
        assert_eq!(context(&[]), None);
    }
}
