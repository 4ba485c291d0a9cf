//! Compression of the answers that are worth it.
//!
//! Not a middleware of its own: most answers are short, and passing them through one more layer would
//! cost more than writing them.

use std::sync::LazyLock;

use actix_http::encoding::Encoder;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{
    AcceptEncoding, CONTENT_ENCODING, CONTENT_TYPE, ContentEncoding, ETAG, Encoding, Header,
    HeaderMap, HeaderValue, VARY,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, web};
use tokio::sync::Semaphore;

use crate::packing;

/// Answers shorter than this are not worth compressing, in bytes.
const WORTH_IT: u64 = 1024;
/// Answers longer than this are compressed beside the worker, in bytes.
const LONG: usize = 64 << 10;

/// Long answers that are compressed beside the workers at a time: more would wait in memory.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
});

/// The coding that an answer is worth and its request likes best.
///
/// Left alone are short bodies, media that are compressed themselves, and what has a coding already;
/// `Content-Encoding: identity` is how a handler says so, and is not sent.
pub(crate) fn coding_for(response: &mut ServiceResponse) -> Option<ContentEncoding> {
    let worth_it = match response.response().body().size() {
        BodySize::None => false,
        BodySize::Sized(bytes) => bytes >= WORTH_IT,
        BodySize::Stream => true,
    };
    if let Some(coding) = response.headers().get(CONTENT_ENCODING) {
        if coding == "identity" {
            response.headers_mut().remove(CONTENT_ENCODING);
        }
        return None;
    }
    if !worth_it || is_dense(response.headers()) {
        return None;
    }
    preferred(response.request())
}

/// Compresses an answer. A body that is in memory is compressed at once, so that what waits for a
/// slow client is short.
pub(crate) async fn apply(response: ServiceResponse, coding: ContentEncoding) -> ServiceResponse {
    let (request, response) = response.into_parts();
    let (mut response, body) = response.into_parts();
    let response = match body.try_into_bytes() {
        Ok(plain) => {
            let (body, packed) = pack(plain, coding).await;
            if packed {
                mark(response.headers_mut(), coding);
            }
            response.set_body(body).map_into_boxed_body()
        }
        Err(stream) => {
            weaken_tag(response.headers_mut());
            let response = response.set_body(stream);
            response.map_body(|head, body| Encoder::response(coding, head, body).boxed())
        }
    };
    ServiceResponse::new(request, response)
}

/// The compressed form and true, or the plain one and false.
async fn pack(plain: Bytes, coding: ContentEncoding) -> (Bytes, bool) {
    let turn = if plain.len() > LONG { TURNS.try_acquire().ok() } else { None };
    let packed = match turn {
        None => packing::quickly(coding, &plain),
        Some(_turn) => {
            let plain = plain.clone();
            web::block(move || packing::quickly(coding, &plain)).await.ok().flatten()
        }
    };
    packed.map_or((plain, false), |packed| (packed, true))
}

fn mark(headers: &mut HeaderMap, coding: ContentEncoding) {
    weaken_tag(headers);
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.as_str()));
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
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
