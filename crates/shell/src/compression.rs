//! Compresses long responses.
//!
//! This isn't a middleware, because most responses are short and another layer would cost more than
//! it saves.

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
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::packing;

/// Minimum length in bytes of responses to compress.
const SHORTEST: u64 = 1024;
/// Responses longer than this many bytes are compressed on a blocking thread.
const LONG: usize = 64 << 10;

/// Permits for compressing long responses on blocking threads. Without a limit, responses could
/// pile up in memory.
static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| {
    Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
});

/// Returns the coding that the client prefers, or `None` if the response shouldn't be compressed.
///
/// We leave alone short bodies, media types that are already compressed, and responses that already
/// have a coding. A handler can opt out with `Content-Encoding: identity`, which is removed before
/// the response is sent.
pub(crate) fn coding_for(response: &mut ServiceResponse) -> Option<ContentEncoding> {
    let is_long = match response.response().body().size() {
        BodySize::None => false,
        BodySize::Sized(bytes) => bytes >= SHORTEST,
        BodySize::Stream => true,
    };
    if let Some(coding) = response.headers().get(CONTENT_ENCODING) {
        if coding == "identity" {
            response.headers_mut().remove(CONTENT_ENCODING);
        }
        return None;
    }
    if !is_long || is_dense(response.headers()) {
        return None;
    }
    preferred(response.request())
}

/// Compresses a response. A body that is already in memory is compressed all at once, so that a
/// slow client only keeps the compressed form in memory.
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

/// Returns the compressed body and true, or the plain body and false if it can't be compressed.
async fn pack(plain: Bytes, coding: ContentEncoding) -> (Bytes, bool) {
    let permit = if plain.len() > LONG { PERMITS.try_acquire().ok() } else { None };
    let packed = match permit {
        None => packing::quickly(coding, &plain),
        Some(permit) => {
            let plain = plain.clone();
            apart(permit, move || packing::quickly(coding, &plain)).await
        }
    };
    packed.map_or((plain, false), |packed| (packed, true))
}

/// Runs work on a blocking thread. The permit is held until the work is done, even if the client
/// disconnects before that.
async fn apart<T: Send + 'static>(
    permit: SemaphorePermit<'static>,
    work: impl FnOnce() -> Option<T> + Send + 'static,
) -> Option<T> {
    let done = web::block(move || {
        let _permit = permit;
        work()
    });
    done.await.ok().flatten()
}

fn mark(headers: &mut HeaderMap, coding: ContentEncoding) {
    weaken_tag(headers);
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.as_str()));
    // Handlers set it themselves on responses that shared caches can store, both plain and
    // compressed.
    let coding = HeaderValue::from_static("accept-encoding");
    if !headers.get_all(VARY).any(|value| *value == coding) {
        headers.append(VARY, coding);
    }
}

/// Makes the entity tag weak, since a strong one would identify the exact bytes, which depend on
/// the coding.
fn weaken_tag(headers: &mut HeaderMap) {
    let strong = headers.get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""));
    let weak = strong.map(|tag| [b"W/", tag.as_bytes()].concat());
    if let Some(Ok(weak)) = weak.map(|bytes| HeaderValue::from_bytes(&bytes)) {
        headers.insert(ETAG, weak);
    }
}

/// Returns whether the content's media type is already compressed.
fn is_dense(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    kind.starts_with(b"video/")
        || (kind.starts_with(b"image/") && !kind.starts_with(b"image/svg+xml"))
}

/// Returns the coding that the client prefers, or `None` if it prefers an uncompressed body or
/// doesn't accept any coding that we support.
fn preferred(request: &HttpRequest) -> Option<ContentEncoding> {
    let supported =
        [Encoding::identity(), Encoding::brotli(), Encoding::gzip(), Encoding::deflate()];
    let accepted = AcceptEncoding::parse(request).ok()?;
    match accepted.negotiate(supported.iter())? {
        Encoding::Known(ContentEncoding::Identity) | Encoding::Unknown(_) => None,
        Encoding::Known(coding) => Some(coding),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    #[actix_web::test]
    async fn permit_is_held_until_the_work_is_done_even_if_the_client_disconnects() {
        static ONE: Semaphore = Semaphore::const_new(1);
        let (begun, has_begun) = oneshot::channel();
        let (end, ends) = mpsc::channel::<()>();
        let work = move || {
            let _ = begun.send(());
            ends.recv().ok()
        };
        let response = actix_web::rt::spawn(apart(ONE.try_acquire().unwrap(), work));
        has_begun.await.unwrap();
        response.abort();
        assert!(response.await.is_err());
        assert!(ONE.try_acquire().is_err(), "the work is not done");
        end.send(()).unwrap();
        drop(ONE.acquire().await.unwrap());
    }
}
