//! Answers to what the HTTP parser cannot read: those of the dispatcher are recognised and replaced by
//! answers in the format of the service.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::web::Bytes;

use crate::{ErrorFormat, Fault, RequestId, RequestInfo, metrics};

/// Answers a fault of the HTTP parser, which no application sees: the whole answer as bytes.
pub(crate) type ParserFaults = dyn Fn(StatusCode) -> Bytes + Send + Sync;

/// Longest such answer: a status line, length, date and the end of the connection.
const LONGEST: usize = 160;

/// The status of an answer of the dispatcher itself; none for other bytes.
///
/// They are the only short answers without a body that are written while no request is open.
pub(super) fn status(bytes: &[u8]) -> Option<StatusCode> {
    if bytes.len() > LONGEST || !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let digits = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(digits).ok()?;
    status.is_client_error().then_some(status)
}

/// Answers to faults of the HTTP parser, in the format of the service.
pub(crate) fn parser_faults(errors: Arc<dyn ErrorFormat>) -> Arc<ParserFaults> {
    Arc::new(move |status| {
        metrics::count_parser_fault(status);
        let info = RequestInfo { method: Method::GET, uri: Uri::default(), id: RequestId::next() };
        let fault = match status {
            // Its head has no place while others hold so much.
            StatusCode::SERVICE_UNAVAILABLE => Fault::Unavailable { retry_after: 1 },
            _ => Fault::Unreadable(status),
        };
        let response = errors.respond(&fault, &info);
        written(status, response, &info)
    })
}

/// An answer as bytes on a connection that ends with it.
fn written(status: StatusCode, response: HttpResponse, info: &RequestInfo) -> Bytes {
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
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_client_errors_without_a_body_are_the_parsers() {
        let of = |text: &str| status(text.as_bytes()).map(|status| status.as_u16());
        assert_eq!(of("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"), Some(400));
        assert_eq!(of("HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n"), Some(431));
        assert_eq!(of("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), None);
        assert_eq!(of("HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\nno"), None);
        assert_eq!(of("HTTP/1.1 100 Continue\r\n\r\n"), None);
    }
}
