//! Compression of the answers that are worth it.
//!
//! Not a middleware of its own: most answers are short, and passing them through one more layer would
//! cost more than writing them.

use actix_http::encoding::Encoder;
use actix_web::HttpRequest;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{
    AcceptEncoding, CONTENT_ENCODING, CONTENT_TYPE, ContentEncoding, ETAG, Encoding, Header,
    HeaderMap, HeaderValue,
};

/// Answers shorter than this are not worth compressing, in bytes.
const WORTH_IT: u64 = 1024;

/// Compresses an answer by the coding that its request likes best.
///
/// Left alone are short bodies, media that are compressed themselves, and what has a coding already;
/// `Content-Encoding: identity` is how a handler says so, and is not sent.
pub(crate) fn apply(mut response: ServiceResponse) -> ServiceResponse {
    let worth_it = match response.response().body().size() {
        BodySize::None => false,
        BodySize::Sized(bytes) => bytes >= WORTH_IT,
        BodySize::Stream => true,
    };
    if let Some(coding) = response.headers().get(CONTENT_ENCODING) {
        if coding == "identity" {
            response.headers_mut().remove(CONTENT_ENCODING);
        }
        return response;
    }
    if !worth_it || is_dense(response.headers()) {
        return response;
    }
    match preferred(response.request()) {
        Some(coding) => {
            weaken_tag(response.headers_mut());
            response.map_body(|head, body| Encoder::response(coding, head, body).boxed())
        }
        None => response,
    }
}

/// A strong entity tag names bytes, and those of each coding are others: behind a coding it is weak.
fn weaken_tag(headers: &mut HeaderMap) {
    let strong = headers.get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""));
    let weak = strong.map(|tag| [b"W/", tag.as_bytes()].concat());
    if let Some(Ok(weak)) = weak.map(|bytes| HeaderValue::from_bytes(&bytes)) {
        headers.insert(ETAG, weak);
    }
}

/// Whether the media type is one that is compressed in itself.
fn is_dense(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    kind.starts_with(b"video/")
        || (kind.starts_with(b"image/") && !kind.starts_with(b"image/svg+xml"))
}

/// The coding that a request likes best; none when that is the plain body, or it wants none of ours.
fn preferred(request: &HttpRequest) -> Option<ContentEncoding> {
    let ours = [Encoding::identity(), Encoding::brotli(), Encoding::gzip(), Encoding::deflate()];
    let accepted = AcceptEncoding::parse(request).ok()?;
    match accepted.negotiate(ours.iter())? {
        Encoding::Known(ContentEncoding::Identity) | Encoding::Unknown(_) => None,
        Encoding::Known(coding) => Some(coding),
    }
}
