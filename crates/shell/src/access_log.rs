//! The access log, with one line per request.
//!
//! A line contains as much of the client address as `LOG_CLIENT` allows, the number of the API key,
//! the route pattern and the outcome. Actual paths, queries and parameters are never logged.

use std::borrow::Cow;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderValue, USER_AGENT};
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use ipnet::IpNet;
use log::kv::Value;
use log::{Level, Record};
use parking_lot::Mutex;

use crate::{LogClient, RequestId, TraceContext, spans};

const TARGET: &str = "access";
/// Maximum burst of lines for unreadable requests.
const BURST: u32 = 20;
/// Longer user agents are truncated to this many bytes.
const LONGEST_AGENT: usize = 200;

/// The number of the API key used for a request, for the access log.
///
/// The key itself is never logged, not even in part.
///
/// ```
/// use actix_web::test::TestRequest;
/// use shell::KeyNumber;
///
/// let request = TestRequest::default().to_http_request();
/// let number = KeyNumber::of(&request);
/// number.set(7);
/// assert_eq!(KeyNumber::of(&request).get(), Some(7));
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyNumber(Arc<OnceLock<i64>>);

impl KeyNumber {
    /// Returns the request's cell for the key number, which can also be set from another thread.
    pub fn of(request: &HttpRequest) -> Self {
        let mut extensions = request.extensions_mut();
        if let Some(number) = extensions.get::<Self>() {
            return number.clone();
        }
        let number = Self::default();
        extensions.insert(number.clone());
        number
    }

    /// Sets the number unless it has already been set.
    pub fn set(&self, number: i64) {
        let _ = self.0.set(number);
    }

    /// Returns the number, or `None` if it hasn't been set.
    pub fn get(&self) -> Option<i64> {
        self.0.get().copied()
    }
}

/// The client as it appears in the access log.
pub(crate) struct Client {
    address: Option<String>,
    agent: Option<HeaderValue>,
}

impl Client {
    pub(crate) fn of(headers: &HeaderMap, address: IpAddr, shown: LogClient) -> Self {
        Self { address: shown_part(address, shown), agent: headers.get(USER_AGENT).cloned() }
    }

    pub(crate) fn without_agent(address: Option<IpAddr>, shown: LogClient) -> Self {
        Self { address: address.and_then(|address| shown_part(address, shown)), agent: None }
    }
}

/// Returns the part of an address to log, or `None` if addresses aren't logged.
fn shown_part(address: IpAddr, shown: LogClient) -> Option<String> {
    let network = match (shown, address) {
        (LogClient::None, _) => return None,
        (LogClient::Full, _) => return Some(address.to_string()),
        (LogClient::Net, IpAddr::V4(_)) => IpNet::new(address, 24),
        (LogClient::Net, IpAddr::V6(_)) => IpNet::new(address, 48),
    };
    Some(network.ok()?.trunc().to_string())
}

/// Returns the start of a user agent, with control characters masked so that they can't mess up a
/// terminal.
fn cleaned(agent: &HeaderValue) -> String {
    let bytes = agent.as_bytes();
    let shown = &bytes[..bytes.len().min(LONGEST_AGENT)];
    let printable = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '?',
    };
    shown.iter().map(printable).collect()
}

/// The line for a request and its response.
pub(crate) struct Line {
    pub(crate) id: RequestId,
    pub(crate) trace: Option<TraceContext>,
    pub(crate) method: &'static str,
    pub(crate) path: Cow<'static, str>,
    pub(crate) status: StatusCode,
    pub(crate) client: Client,
    pub(crate) key: Option<i64>,
    pub(crate) note: &'static str,
    pub(crate) started: Instant,
    /// Number of lines that were suppressed since the previous line.
    pub(crate) suppressed: u64,
}

impl Line {
    /// Creates the line for a request whose method and path couldn't be read.
    pub(crate) fn unreadable(
        id: RequestId,
        status: StatusCode,
        client: Client,
        started: Instant,
    ) -> Self {
        let (method, path) = ("-", Cow::Borrowed("-"));
        let (trace, key, note, suppressed) = (None, None, "", 0);
        Self { id, trace, method, path, status, client, key, note, started, suppressed }
    }

    /// Writes the line unless there were too many like it recently. The next line then reports how
    /// many were suppressed. This limit exists because a client can cause such a line with just a
    /// few bytes.
    pub(crate) fn write_limited(mut self, bytes: usize) {
        static ALLOWANCE: Mutex<Option<Allowance>> = Mutex::new(None);
        let now = Instant::now();
        let taken = ALLOWANCE.lock().get_or_insert_with(|| Allowance::new(now)).take(now);
        if let Some(suppressed) = taken {
            self.suppressed = suppressed;
            self.write(bytes as u64);
        }
    }

    /// Writes the line immediately if the length of the body is known. Otherwise, returns a body
    /// that writes the line once it is done.
    pub(crate) fn write_with(self, body: BoxBody) -> BoxBody {
        match body.size() {
            _ if self.method == "HEAD" => self.write(0),
            BodySize::None => self.write(0),
            BodySize::Sized(bytes) => self.write(bytes),
            BodySize::Stream => {
                return BoxBody::new(Counted { body, bytes: 0, line: Some(self) });
            }
        }
        body
    }

    /// Writes the line for a response with a body of `bytes` bytes, and sends its span.
    pub(crate) fn write(&self, bytes: u64) {
        if let Some(trace) = self.trace {
            spans::send(&spans::Ended {
                trace,
                id: &self.id,
                method: self.method,
                route: &self.path,
                status: self.status,
                bytes,
                client: self.client.address.as_deref(),
                started: self.started,
            });
        }
        if !log::log_enabled!(target: TARGET, Level::Info) {
            return;
        }
        let (id, agent) = (self.id.to_string(), self.client.agent.as_ref().map(cleaned));
        let trace = self.trace.map(|trace| (trace.trace_id(), trace.span_id()));
        let mut members: Vec<(&str, Value<'_>)> = Vec::with_capacity(12);
        members.push(("request_id", Value::from(id.as_str())));
        if let Some((trace, span)) = &trace {
            members.push(("trace_id", Value::from(trace.as_str())));
            members.push(("span_id", Value::from(span.as_str())));
        }
        if let Some(client) = &self.client.address {
            members.push(("client", Value::from(client.as_str())));
        }
        if let Some(key) = self.key {
            members.push(("key", Value::from(key)));
        }
        members.push(("method", Value::from(self.method)));
        members.push(("path", Value::from(&*self.path)));
        members.push(("status", Value::from(self.status.as_u16())));
        members.push(("bytes", Value::from(bytes)));
        members.push(("seconds", Value::from(self.started.elapsed().as_secs_f64())));
        if let Some(agent) = &agent {
            members.push(("agent", Value::from(agent.as_str())));
        }
        if self.suppressed > 0 {
            members.push(("suppressed", Value::from(self.suppressed)));
        }
        log::logger().log(
            &Record::builder()
                .level(Level::Info)
                .target(TARGET)
                .args(format_args!("request{}", self.note))
                .key_values(&members.as_slice())
                .build(),
        );
    }
}

/// Rate limit for lines. Allows bursts of [`BURST`] lines, then one line per second.
struct Allowance {
    left: u32,
    refilled: Instant,
    suppressed: u64,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Self { left: BURST, refilled: now, suppressed: 0 }
    }

    /// Takes a permit for a line. Returns how many lines were suppressed since the last permit, or
    /// `None` if this line has to be suppressed, too.
    fn take(&mut self, now: Instant) -> Option<u64> {
        let seconds = now.saturating_duration_since(self.refilled).as_secs();
        self.refilled += Duration::from_secs(seconds);
        let earned = u32::try_from(seconds).unwrap_or(BURST);
        self.left = self.left.saturating_add(earned).min(BURST);
        let Some(left) = self.left.checked_sub(1) else {
            self.suppressed += 1;
            return None;
        };
        self.left = left;
        Some(std::mem::take(&mut self.suppressed))
    }
}

/// A body of unknown length. When it is dropped, its access log line is written.
struct Counted {
    body: BoxBody,
    bytes: u64,
    line: Option<Line>,
}

impl MessageBody for Counted {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let part = ready!(Pin::new(&mut self.body).poll_next(context));
        if let Some(Ok(bytes)) = &part {
            self.bytes += bytes.len() as u64;
        }
        Poll::Ready(part)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.write(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_client_chooses_the_part_of_an_address() {
        let shown = |address: &str, how| shown_part(address.parse().unwrap(), how);
        for (address, net) in [
            ("192.0.2.77", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
            ("::1", "::/48"),
        ] {
            assert_eq!(shown(address, LogClient::None), None);
            assert_eq!(shown(address, LogClient::Net).as_deref(), Some(net));
            assert_eq!(shown(address, LogClient::Full).as_deref(), Some(address));
        }
    }

    #[test]
    fn a_flood_of_unreadable_requests_gets_one_line_a_second() {
        let begin = Instant::now();
        let mut allowance = Allowance::new(begin);
        let mut written = |second: u64| {
            let now = begin + Duration::from_secs(second);
            (0..1000).filter_map(|_| allowance.take(now)).collect::<Vec<_>>()
        };
        assert_eq!(written(0), vec![0; 20]);
        assert_eq!(written(1), [980]);
        assert_eq!(written(3), [999, 0]);
        assert_eq!(written(1000).len(), 20);
    }

    #[test]
    fn a_user_agent_is_cut_and_loses_control_characters() {
        let cleaned = |bytes: &[u8]| cleaned(&HeaderValue::from_bytes(bytes).unwrap());
        assert_eq!(cleaned(b"curl/8 (\"x\")\t\x80\xff"), "curl/8 (\"x\")???");
        assert_eq!(cleaned(&[b'a'; 5_000]), "a".repeat(200));
        assert_eq!(cleaned(b""), "");
    }
}
