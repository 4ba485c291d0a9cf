//! The host that a request is addressed to.

use std::net::Ipv6Addr;

use actix_web::dev::ServiceRequest;
use actix_web::http::Version;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::uri::Authority;

/// A host, with or without a port. It is safe to use in links, because it contains neither `@` nor
/// anything that would need escaping.
pub(crate) struct Host<'t> {
    /// The host, including any port.
    pub(crate) text: &'t str,
    /// The host without the port. IPv6 addresses keep their brackets.
    pub(crate) name: &'t str,
}

impl<'t> Host<'t> {
    pub(crate) const LOCAL: Host<'static> = Host { text: "localhost", name: "localhost" };

    fn parse(text: &'t str) -> Option<Self> {
        const LONGEST: usize = 255;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_~".contains(&byte);
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, _) = rest.split_once(']')?;
                address.parse::<Ipv6Addr>().ok()?;
                text.split_at(address.len() + 2)
            }
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let named = name.starts_with('[') || !name.is_empty() && name.bytes().all(plain);
        let port = match port.strip_prefix(':') {
            Some(port) => {
                port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
            }
            None => port.is_empty(),
        };
        (text.len() <= LONGEST && named && port).then_some(Self { text, name })
    }
}

/// Returns whether a request specifies its host as HTTP requires (RFC 9112, section 3.2, and RFC
/// 9113, section 8.3.1). HTTP/1.1 requests without `Host` are already rejected by the parser.
pub(crate) fn names_valid_host(request: &ServiceRequest) -> bool {
    let host = request.headers().get(header::HOST).map(HeaderValue::as_bytes);
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let is_missing = request.version() >= Version::HTTP_2
        && authority.or(host).is_none_or(|bytes| bytes.is_empty());
    !is_missing && [host, authority].into_iter().flatten().all(is_host)
}

/// Whether a byte may occur in a host name (RFC 3986, section 3.2.2). A table costs less than
/// comparisons, and every request is checked.
const NAMED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let (marks, mut mark) = (b"-._~%!$&'()*+,;=", 0);
    while mark < marks.len() {
        table[marks[mark] as usize] = true;
        mark += 1;
    }
    table
};

/// Returns whether `bytes` is empty or a host, with or without a port.
fn is_host(bytes: &[u8]) -> bool {
    let named = |byte: &u8| NAMED[usize::from(*byte)];
    let end = match bytes.first() {
        Some(b'[') => bytes.iter().position(|byte| *byte == b']').map_or(0, |last| last + 1),
        _ => bytes.iter().position(|byte| *byte == b':').unwrap_or(bytes.len()),
    };
    let (host, port) = bytes.split_at(end);
    let is_valid = match host {
        [b'[', address @ .., b']'] => address.iter().all(|byte| *byte == b':' || named(byte)),
        name => name.iter().all(named),
    };
    is_valid
        && match port {
            [] => true,
            [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
            _ => false,
        }
}

/// Returns a request's host, or `localhost` if none was sent. `None` means that the host is
/// invalid. As in HTTP/2, a host in the request target takes precedence over the `Host` header (RFC
/// 9112, section 3.2.2).
pub(crate) fn host_of<'r>(
    headers: &'r HeaderMap,
    authority: Option<&'r Authority>,
) -> Option<Host<'r>> {
    match (authority, headers.get(header::HOST)) {
        (Some(authority), _) => Host::parse(authority.as_str()),
        (None, Some(host)) => host.to_str().ok().and_then(Host::parse),
        (None, None) => Some(Host::LOCAL),
    }
}
