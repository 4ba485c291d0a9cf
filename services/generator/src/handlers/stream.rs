//! Streams responses of unknown length in chunks.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, HeaderValue};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use auth::Caller;
use shell::{Fault, client_ip, is_head};

use super::chunks::{self, Begun, Chunks};
use super::reply;
use crate::metrics::{self, OpenStream};
use crate::model::{Holder, Slot};
use crate::state::State;

/// `Retry-After` in seconds, sent when all of the caller's slots are taken.
const RETRY_AFTER: u64 = 10;

/// Responds with JSON that `next` appends in pieces, until it returns false.
///
/// A short response is sent immediately, while a longer one takes up one of the caller's slots.
/// Responses are never compressed.
///
/// # Errors
/// Returns an error if all of the caller's slots are taken.
pub fn answer(
    request: &HttpRequest,
    caller: &Caller,
    state: &State,
    next: impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static,
) -> Result<HttpResponse, Fault> {
    let body = body(request, caller, state, (!is_head(request)).then_some(next))?;
    let mut response = reply::of_body(StatusCode::OK, body);
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("identity"));
    Ok(response)
}

/// Returns a body that `next` appends in pieces. If `next` is `None`, returns the body of a `HEAD`
/// response. A long body takes up one of the caller's slots.
///
/// # Errors
/// Returns an error if all of the caller's slots are taken.
pub fn body(
    request: &HttpRequest,
    caller: &Caller,
    state: &State,
    next: Option<impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static>,
) -> Result<BoxBody, Fault> {
    let Some(next) = next else { return Ok(chunks::unmade()) };
    Ok(match Chunks::new(next).begin() {
        Begun::Whole(whole) => BoxBody::new(whole),
        Begun::More(chunks) => {
            let slot = slot(request, caller, state)?;
            BoxBody::new(Stream::new(chunks, slot, state.streams().longest))
        }
    })
}

/// Runs long-running work on a blocking thread, while holding one of the caller's slots.
///
/// # Errors
/// Returns the error from `work`, or an error if all of the caller's slots are taken.
pub async fn apart<T: Send + 'static>(
    request: &HttpRequest,
    caller: &Caller,
    state: &State,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let slot = slot(request, caller, state)?;
    let done = web::block(move || {
        // Keep the slot if the client disconnects before the work is done.
        let _slot = slot;
        work()
    });
    done.await.unwrap_or_else(|cause| Err(Fault::Internal(cause.to_string())))
}

/// Takes one of the caller's slots.
///
/// # Errors
/// Returns an error if all of the caller's slots are taken.
fn slot(request: &HttpRequest, caller: &Caller, state: &State) -> Result<Slot, Fault> {
    let (holder, limit) = match &caller.key {
        Some(key) => (Holder::Key(key.id), state.streams().of_key),
        None => (Holder::of_address(client_ip(request)), state.streams().of_address),
    };
    state.slots().take(holder, limit).ok_or_else(|| {
        metrics::refused();
        Fault::TooManyRequests { retry_after: RETRY_AFTER }
    })
}

/// A body that holds one of the caller's slots until it ends or the client disconnects.
struct Stream<F> {
    chunks: Chunks<F>,
    _slot: Slot,
    open: OpenStream,
    ends: Option<Instant>,
}

impl<F> Stream<F> {
    fn new(chunks: Chunks<F>, slot: Slot, longest: Option<Duration>) -> Self {
        let ends = longest.and_then(|longest| Instant::now().checked_add(longest));
        Self { chunks, _slot: slot, open: OpenStream::begin(), ends }
    }
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> MessageBody for Stream<F> {
    type Error = io::Error;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    /// Returns the next chunk. On timeout, returns an error, which aborts the connection;
    /// otherwise, a truncated response could be mistaken for a complete one.
    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, io::Error>>> {
        let this = self.get_mut();
        if this.ends.is_some_and(|ends| Instant::now() >= ends) {
            this.open.time_out();
            return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
        }
        let chunk = Pin::new(&mut this.chunks).poll_next(context);
        if this.chunks.has_ended() {
            this.open.complete();
        }
        chunk.map_err(|never| match never {})
    }
}
