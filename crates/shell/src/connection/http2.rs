//! The HTTP/2 dispatcher.
//!
//! actix's own dispatcher doesn't announce a stream limit, builds whole responses before the client
//! has read any of them, and never sends GOAWAY. This one passes requests to the same application
//! within the limits described in the parent module.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use actix_http::{BoxedPayloadStream, Payload, Request, ResponseHead};
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage};
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use tokio::time::{Instant, sleep};

use super::account::{Connection, Held};
use super::body::Received;
use super::entrance::Entrance;
use super::guard::Guard;
use super::limits::{KEEP_ALIVE, LAST_REQUESTS, Limits, USUAL_HEAD};
use super::minimum_rate::MinimumRate;
use super::progress::Progress;
use super::tracked::{STREAM_SIZE, Tracked, Watched};

/// How many bytes of a request body a client can send before the application starts reading it.
const REQUEST_WINDOW: u32 = 64 << 10;
/// The same limit, summed over all request bodies on a connection.
const CONNECTION_WINDOW: u32 = 256 << 10;
/// Size in bytes of the response chunks that we hand to h2.
const CHUNK: usize = 16 << 10;
/// Maximum number of response bytes that h2 queues for a connection.
const SEND_BUFFER: usize = 64 << 10;
/// Maximum size of a request's header list as defined by HTTP/2.
const LARGEST_HEAD: u32 = 64 << 10;
/// Number of frames to allow per request in addition to its body, such as headers, priority and end
/// of stream.
const FRAMES_OF_A_REQUEST: usize = 8;
/// Response chunks shorter than this don't count as memory in use.
const COUNTED: usize = 4 << 10;

/// Serves a connection until it ends.
pub(super) async fn serve<A>(
    io: Guard,
    app: Tracked<A>,
    peer: Option<SocketAddr>,
    entrance: &Entrance,
) where
    A: Service<Request, Response = ServiceResponse, Error = Error> + 'static,
    A::Future: 'static,
{
    let (connection, limits) = (Rc::clone(&io.connection), entrance.limits);
    let opened = std::time::Instant::now();
    let broken = |error: &h2::Error| {
        log::debug!("an HTTP/2 connection ended: {error}");
        if error.is_library() {
            entrance.faults.report(StatusCode::BAD_REQUEST, peer, opened);
        }
    };
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(limits.streams)
        .initial_window_size(REQUEST_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(LARGEST_HEAD)
        .max_send_buffer_size(SEND_BUFFER);
    let mut server = match entrance.limit(builder.handshake::<_, Bytes>(io)).await {
        Some(Ok(server)) => server,
        Some(Err(error)) => return broken(&error),
        None => return log::debug!("HTTP/2 did not start in time"),
    };
    let mut drain = entrance.drain.clone();
    let mut stopped = pin!(entrance.stopped());
    let (mut draining, mut stopping, mut closing) = (false, false, false);
    let mut served = 0;
    let mut look = pin!(sleep(KEEP_ALIVE + limits.head));
    loop {
        tokio::select! {
            accepted = server.accept() => {
                let (request, mut respond) = match accepted {
                    Some(Ok(accepted)) => accepted,
                    Some(Err(error)) => return broken(&error),
                    None => return,
                };
                connection.count_useful(FRAMES_OF_A_REQUEST);
                if has_wrong_length(&request) {
                    respond.send_reset(Reason::PROTOCOL_ERROR);
                    continue;
                }
                // Count handlers rather than streams, because the handlers of reset streams might
                // still be running.
                let crowded = connection.open() >= 2 * limits.streams as usize;
                let head = counted_head(&request, &connection);
                if crowded || connection.is_full() {
                    respond.send_reset(Reason::REFUSED_STREAM);
                    continue;
                }
                let request = Incoming { request, connection: Rc::clone(&connection), peer };
                actix_web::rt::spawn(answer(request, head, respond, app.clone(), limits));
            }
            () = drain.begun(), if !draining => {
                draining = true;
                server.graceful_shutdown();
                look.as_mut().reset(Instant::now() + KEEP_ALIVE);
            }
            () = stopped.as_mut(), if !stopping => {
                stopping = true;
                look.as_mut().reset(Instant::now());
            }
            () = look.as_mut() => {
                if closing {
                    return;
                }
                let (before, rests) = (served, connection.is_at_rest());
                served = connection.served.get();
                let is_unused = rests && served == before;
                if rests && stopping || is_unused && (draining || served == 0) {
                    // There is no need to wait for an acknowledgment. GOAWAY names the last request
                    // that we accepted, so the client can retry all later ones.
                    closing = true;
                    server.abrupt_shutdown(Reason::NO_ERROR);
                } else if is_unused {
                    draining = true;
                    server.graceful_shutdown();
                }
                let pause = if stopping { LAST_REQUESTS } else { KEEP_ALIVE };
                look.as_mut().reset(Instant::now() + pause);
            }
        }
    }
}

/// Returns whether `Content-Length` values contradict each other, or announce a body for a request
/// that doesn't have one (RFC 9113, section 8.1.1). h2 itself only compares the first value to the
/// length of the DATA frames.
fn has_wrong_length(request: &http::Request<RecvStream>) -> bool {
    let mut lengths = request.headers().get_all(header::CONTENT_LENGTH).iter();
    let Some(first) = lengths.next() else { return false };
    let is_zero = first.as_bytes().iter().all(|digit| *digit == b'0');
    lengths.any(|other| other != first) || request.body().is_end_stream() && !is_zero
}

/// Counts a long head as memory in use.
fn counted_head(request: &http::Request<RecvStream>, connection: &Connection) -> Option<Held> {
    let fields = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let length = target + fields.sum::<usize>();
    (length > USUAL_HEAD).then(|| Held::new(connection, length))
}

struct Incoming {
    request: http::Request<RecvStream>,
    connection: Rc<Connection>,
    peer: Option<SocketAddr>,
}

impl Incoming {
    fn into_request(self) -> Request {
        let (parts, body) = self.request.into_parts();
        let payload: Payload<BoxedPayloadStream> = match body.is_end_stream() {
            true => Payload::None,
            false => Payload::Stream { payload: Box::pin(Received(body)) },
        };
        let mut request = Request::with_payload(payload);
        let head = request.head_mut();
        head.uri = parts.uri;
        head.method = parts.method;
        head.version = parts.version;
        head.headers = parts.headers.into();
        head.peer_addr = self.peer;
        request.extensions_mut().insert(self.connection);
        request
    }
}

/// Handles a request. `head` counts the memory of its head until the response begins.
async fn answer<A>(
    incoming: Incoming,
    head: Option<Held>,
    mut respond: SendResponse<Bytes>,
    app: Tracked<A>,
    limits: Limits,
) where
    A: Service<Request, Response = ServiceResponse, Error = Error> + 'static,
    A::Future: 'static,
{
    let connection = Rc::clone(&incoming.connection);
    let head_only = incoming.request.method() == Method::HEAD;
    let response = app.call(incoming.into_request());
    let response = if limits.stop_when_client_leaves {
        tokio::select! {
            biased;
            response = response => response,
            _ = poll_fn(|context| respond.poll_reset(context)) => return,
        }
    } else {
        response.await
    };
    drop(head);
    let Ok(response) = response else { return };
    let size = response.body().size();
    let head = head_of(response.head(), size);
    let body = response.into_body();
    let ends = head_only || matches!(size, BodySize::None | BodySize::Sized(0));
    let Ok(stream) = respond.send_response(head, ends) else { return };
    if !ends {
        let (rate, write) = (MinimumRate::default(), None);
        Sending { stream, limits, connection, rate, write }.run(body, size).await;
    }
}

/// A response that is being sent.
struct Sending {
    stream: SendStream<Bytes>,
    limits: Limits,
    connection: Rc<Connection>,
    rate: MinimumRate,
    /// `None` until we have to wait for the client.
    write: Option<Progress>,
}

impl Sending {
    async fn run(mut self, body: Watched, size: BodySize) {
        if let Err(reason) = self.send(body, size).await {
            self.stream.send_reset(reason);
        }
    }

    async fn send(&mut self, body: Watched, size: BodySize) -> Result<(), Reason> {
        let known = match size {
            BodySize::Sized(bytes) => usize::try_from(bytes).ok(),
            _ => None,
        };
        let length = known.unwrap_or(STREAM_SIZE);
        let mut whole = Some(Held::new(&self.connection, length));
        if self.connection.is_full_without(length) {
            return Err(Reason::ENHANCE_YOUR_CALM);
        }
        let mut body = pin!(body);
        let (mut chunk, mut sent) = (Bytes::new(), 0);
        loop {
            // Don't produce the next chunk until the window has room for it.
            let wanted = known.map_or(CHUNK, |known| (known - sent).min(CHUNK));
            let room = self.room(wanted, length).await?;
            while chunk.is_empty() {
                match poll_fn(|context| body.as_mut().poll_next(context)).await {
                    Some(Ok(next)) if known == Some(next.len()) => {
                        chunk = self.counted(next, whole.take());
                    }
                    Some(Ok(next)) => chunk = self.counted(next, None),
                    Some(Err(_)) => return Err(Reason::INTERNAL_ERROR),
                    None => return self.give(Bytes::new(), true),
                }
            }
            let part = chunk.split_to(room.min(chunk.len()));
            sent += part.len();
            if let Some(write) = &mut self.write {
                write.moved(part.len());
            }
            let last = known.is_some_and(|known| sent >= known);
            self.give(part, last)?;
            if last {
                return Ok(());
            }
        }
    }

    /// Counts a response chunk as memory in use until the connection has written it.
    fn counted(&self, part: Bytes, held: Option<Held>) -> Bytes {
        match held {
            _ if part.len() < COUNTED => part,
            Some(held) => held.around(part),
            None => Held::new(&self.connection, part.len()).around(part),
        }
    }

    fn give(&mut self, part: Bytes, last: bool) -> Result<(), Reason> {
        self.stream.send_data(part, last).map_err(|_| Reason::INTERNAL_ERROR)
    }

    /// Waits until the window has room, and returns the number of bytes that can be sent.
    ///
    /// # Errors
    /// Returns the reason for resetting the stream if the client isn't reading, reads too slowly,
    /// or has disconnected.
    async fn room(&mut self, wanted: usize, length: usize) -> Result<usize, Reason> {
        self.stream.reserve_capacity(wanted.max(1));
        if self.stream.capacity() > 0 {
            return Ok(self.stream.capacity());
        }
        let Self { stream, limits, connection, rate, write } = self;
        let write = write.get_or_insert_with(|| Progress::new(limits.write));
        rate.begin_wait();
        write.begin_wait();
        poll_fn(|context| {
            // Do these checks first. Otherwise a client could keep postponing them by repeatedly
            // opening its window a few bytes at a time.
            while write.is_over(context) {
                // While the socket is full, the guard measures how fast the client reads.
                if !connection.socket_is_full.get() {
                    return Poll::Ready(Err(Reason::CANCEL));
                }
                write.reset();
            }
            if rate.is_missed(context, connection) {
                return Poll::Ready(Err(Reason::ENHANCE_YOUR_CALM));
            }
            loop {
                return match stream.poll_capacity(context) {
                    // Poll again to register the waker.
                    Poll::Ready(Some(Ok(0))) => continue,
                    Poll::Pending if connection.is_full_without(length) => {
                        Poll::Ready(Err(Reason::ENHANCE_YOUR_CALM))
                    }
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(Some(Ok(room))) => Poll::Ready(Ok(room)),
                    Poll::Ready(Some(Err(_)) | None) => Poll::Ready(Err(Reason::CANCEL)),
                };
            }
        })
        .await
    }
}

/// Header fields that HTTP/2 forbids.
const CONNECTION_FIELDS: [HeaderName; 5] = [
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

fn head_of(head: &ResponseHead, size: BodySize) -> http::Response<()> {
    let mut response = http::Response::new(());
    *response.status_mut() = head.status;
    *response.version_mut() = http::Version::HTTP_2;
    let fields = response.headers_mut();
    for (name, value) in head.headers() {
        if !CONNECTION_FIELDS.contains(name) && name != header::CONTENT_LENGTH {
            fields.append(name.clone(), value.clone());
        }
    }
    let bodiless = head.status.is_informational() || head.status == StatusCode::NO_CONTENT;
    match size {
        BodySize::Sized(bytes) if !bodiless => {
            fields.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
        }
        _ => {}
    }
    if !fields.contains_key(header::DATE) {
        let now = httpdate::fmt_http_date(std::time::SystemTime::now());
        if let Ok(now) = HeaderValue::from_str(&now) {
            fields.insert(header::DATE, now);
        }
    }
    response
}
