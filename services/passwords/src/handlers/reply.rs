//! Responses to range requests.

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::web::Bytes;
use shell::EntityTag;

use super::worker::Current;
use crate::app::{Body, Padding};
use crate::error::add_shared_headers;

const PLAIN_TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// Returns the response for a range.
pub fn ok(
    body: Body,
    padding: Padding,
    tag: &EntityTag,
    current: &Current,
    cache_control: &HeaderValue,
) -> HttpResponse {
    let mut response =
        HttpResponse::with_body(StatusCode::OK, BoxBody::new(Bytes::from_owner(body.bytes)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PLAIN_TEXT);
    if body.compressed {
        headers.insert(header::CONTENT_ENCODING, GZIP);
    }
    describe(headers, padding, tag, body.compressed, current, cache_control);
    response
}

/// Returns a 304 response.
///
/// As with a 200, a client that accepts gzip gets the weak tag. Caches that have stored the weak
/// tag may ignore a 304 with a strong one (RFC 9111, section 4.3.4).
pub fn not_modified(
    padding: Padding,
    tag: &EntityTag,
    wants_gzip: bool,
    current: &Current,
    cache_control: &HeaderValue,
) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::NOT_MODIFIED, BoxBody::new(()));
    describe(response.headers_mut(), padding, tag, wants_gzip, current, cache_control);
    response
}

fn describe(
    headers: &mut HeaderMap,
    padding: Padding,
    tag: &EntityTag,
    compressed: bool,
    current: &Current,
    cache_control: &HeaderValue,
) {
    let caching = if padding == Padding::NotMentioned { cache_control.clone() } else { NO_STORE };
    headers.insert(header::CACHE_CONTROL, caching);
    if padding != Padding::Wanted {
        let tag = if compressed { tag.weak_header() } else { tag.strong_header() };
        headers.insert(header::ETAG, tag);
        headers.insert(header::LAST_MODIFIED, current.last_modified.clone());
    }
    add_shared_headers(headers);
}

/// Returns the response to `OPTIONS`.
pub fn preflight() -> HttpResponse {
    let mut response = HttpResponse::new(StatusCode::OK);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Add-Padding"),
        (header::ACCESS_CONTROL_MAX_AGE, "1728000"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    add_shared_headers(headers);
    response
}
