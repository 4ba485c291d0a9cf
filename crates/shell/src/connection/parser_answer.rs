//! Responds to requests that the HTTP parser rejects. We recognize the dispatcher's own responses,
//! and replace them with responses in the service's format.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::web::Bytes;

use crate::access_log::{Client, Line};
use crate::{ErrorFormat, Fault, LogClient, RequestId, RequestInfo, metrics};

/// Responds to and reports HTTP parser errors, which never reach the application.
pub(crate) struct ParserFaults {
    errors: Arc<dyn ErrorFormat>,
    /// How much of each client address to include in the access log. `None` if there is no access
    /// log.
    access_log: Option<LogClient>,
}

impl ParserFaults {
    pub(crate) fn new(errors: Arc<dyn ErrorFormat>, access_log: Option<LogClient>) -> Self {
        Self { errors, access_log }
    }

    /// Returns a complete response in the service's format, and reports the error.
    pub(super) fn answer(
        &self,
        status: StatusCode,
        peer: Option<SocketAddr>,
        since: Instant,
    ) -> Bytes {
        let info = RequestInfo { method: Method::GET, uri: Uri::default(), id: RequestId::next() };
        let fault = match status {
            // Other connections use so much memory that there isn't enough left to read this
            // request head.
            StatusCode::SERVICE_UNAVAILABLE => Fault::Unavailable {
                retry_after: 1,
                cause: "other connections use the memory for request heads".to_owned(),
            },
            _ => Fault::Unreadable(status),
        };
        let (answer, length) = written(status, self.errors.respond(&fault, &info), &info);
        self.count(status, peer, since, info.id, length);
        answer
    }

    /// Reports an error that closes the connection without a response.
    pub(super) fn report(&self, status: StatusCode, peer: Option<SocketAddr>, since: Instant) {
        self.count(status, peer, since, RequestId::next(), 0);
    }

    fn count(
        &self,
        status: StatusCode,
        peer: Option<SocketAddr>,
        since: Instant,
        id: RequestId,
        bytes: usize,
    ) {
        metrics::count_parser_fault(status);
        if let Some(shown) = self.access_log {
            let client = peer.map(|peer| peer.ip().to_canonical());
            let client = Client::without_agent(client, shown);
            Line::unreadable(id, status, client, since).write_limited(bytes);
        }
    }
}

/// Maximum length in bytes of the dispatcher's own responses (a status line, length, date and
/// `connection: close`).
const LONGEST: usize = 160;

/// Returns the status if `bytes` is one of the dispatcher's own responses.
///
/// No other response is this short, has an empty body and is written while no request is open.
pub(super) fn status(bytes: &[u8]) -> Option<StatusCode> {
    if bytes.len() > LONGEST || !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let digits = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(digits).ok()?;
    status.is_client_error().then_some(status)
}

/// Serializes the last response on a connection, and also returns its body length.
fn written(status: StatusCode, response: HttpResponse, info: &RequestInfo) -> (Bytes, usize) {
    let (response, body) = response.into_parts();
    let body = body.try_into_bytes().unwrap_or_default();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut text = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16());
    for (name, value) in response.headers() {
        let value = value.to_str().unwrap_or_default();
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let (length, date) = (body.len(), httpdate::fmt_http_date(SystemTime::now()));
    let _ = write!(text, "content-length: {length}\r\nconnection: close\r\ndate: {date}\r\n");
    let _ = write!(text, "x-request-id: {}\r\n\r\n", info.id);
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(&body);
    (bytes.into(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_client_errors_without_a_body_are_from_the_parser() {
        let recognised = |text: &str| status(text.as_bytes()).map(|status| status.as_u16());
        assert_eq!(recognised("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"), Some(400));
        assert_eq!(recognised("HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n"), Some(431));
        assert_eq!(recognised("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), None);
        assert_eq!(recognised("HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\nno"), None);
        assert_eq!(recognised("HTTP/1.1 100 Continue\r\n\r\n"), None);
    }
}
