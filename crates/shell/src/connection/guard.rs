//! A socket that enforces deadlines.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::http::StatusCode;
use actix_web::web::{Buf, Bytes};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::account::{Connection, Held};
use super::entrance::Entrance;
use super::frames::Frames;
use super::limits::{
    KEEP_ALIVE, LINGER, LONGEST_REQUEST_LINE, Limits, MOST_IDLE_FRAMES, USUAL_HEAD,
};
use super::minimum_rate::MinimumRate;
use super::opening::Opened;
use super::parser_answer::{self, ParserFaults};
use super::peers::PeerPermit;
use super::pipeline::{Pipeline, Turn};
use super::progress::{PROGRESS, Progress};
use super::socket::{Protocol, Socket};

/// A socket that enforces its connection's deadlines. Request heads and parser errors are only
/// tracked for HTTP/1.1.
pub(super) struct Guard {
    socket: Socket,
    pub(super) connection: Rc<Connection>,
    protocol: Protocol,
    peer: Option<SocketAddr>,
    limits: Limits,
    faults: Arc<ParserFaults>,
    /// The time by which the next request must have reached the application. Only applies while no
    /// request is open.
    deadline: Instant,
    /// Wakes the connection at the deadline or earlier. We don't reset it for each request, because
    /// that would take longer than reading the request.
    alarm: Pin<Box<Sleep>>,
    alarm_is_set: bool,
    head_state: Head,
    /// When the last response was sent, until the deadline for the next request is set.
    answered: Option<Instant>,
    /// Memory used by a long head that is still incomplete.
    head: Option<Held>,
    /// Measures how fast that head arrives. `rate` can't be used, because each flush resets it.
    head_rate: MinimumRate,
    pipeline: Pipeline,
    /// Deadline for receiving the rest of a body after responding to its request.
    linger: Option<Instant>,
    /// Number of requests that had reached the application at the last update.
    served: u64,
    write: Progress,
    /// Number of bytes that the client had acknowledged when the current period of `write` began.
    acknowledged: u64,
    rate: MinimumRate,
    frames: Frames,
    /// Whether the client has stopped reading. Until it resumes, we don't read any requests from
    /// it.
    stuck: bool,
    /// Memory used by a response that an HTTP/1.1 client isn't reading.
    waiting: Option<Held>,
    /// The unsent part of the response that replaces the parser's response.
    reply: Bytes,
    closed: bool,
}

/// The state of an HTTP/1.1 connection with regard to the next request head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// A request is open, so its head is complete.
    Served,
    /// No bytes of the next head have arrived.
    Awaited,
    /// Some bytes have arrived. `line` is the number of bytes in the request line if it isn't
    /// complete yet.
    Begun { line: Option<usize>, length: usize },
}

impl Guard {
    /// Creates a guard once the protocol is known. Also returns the connection's permit.
    pub(super) fn new(
        opened: Opened,
        connection: Rc<Connection>,
        entrance: &Entrance,
    ) -> (Self, Option<PeerPermit>) {
        let Opened { socket, protocol, peer, permit, begun } = opened;
        let (limits, faults) = (entrance.limits, Arc::clone(&entrance.faults));
        let deadline = begun.unwrap_or_else(|| Instant::now() + KEEP_ALIVE) + limits.head;
        let guard = Self {
            socket,
            connection,
            protocol,
            peer,
            limits,
            faults,
            deadline,
            alarm: Box::pin(sleep_until(deadline.min(Instant::now() + limits.head))),
            alarm_is_set: false,
            head_state: begun.map_or(Head::Awaited, |_| Head::Begun { line: Some(0), length: 0 }),
            answered: None,
            head: None,
            head_rate: MinimumRate::default(),
            pipeline: Pipeline::new(),
            linger: None,
            served: 0,
            write: Progress::new(limits.write),
            acknowledged: 0,
            rate: MinimumRate::default(),
            frames: Frames::new(),
            stuck: false,
            waiting: None,
            reply: Bytes::new(),
            closed: false,
        };
        (guard, permit)
    }

    /// Updates the state if requests have reached the application. Some of them might already have
    /// been answered.
    fn note_served(&mut self) {
        let served = self.connection.served.get();
        if served != self.served {
            self.served = served;
            self.head_state = Head::Served;
            self.head = None;
            self.head_rate.reset();
            self.linger = None;
            self.pipeline.begin(self.connection.expected.get());
        }
    }

    /// Tracks the bytes of a request head. Returns a status if the head must be rejected.
    fn note_head(&mut self, bytes: &[u8]) -> Option<StatusCode> {
        if !self.connection.is_idle() {
            return None;
        }
        let (line, length) = match self.head_state {
            Head::Begun { line, length } => (line, length),
            Head::Served | Head::Awaited => {
                self.deadline = Instant::now() + self.limits.head;
                (Some(0), 0)
            }
        };
        let first = &bytes[..memchr(b'\n', bytes).unwrap_or(bytes.len())];
        // A request target can't contain a fragment (RFC 9112, section 3.2), but the parser would
        // drop it.
        if line.is_some() && memchr(b'#', first).is_some() {
            return Some(StatusCode::BAD_REQUEST);
        }
        let line = line.and_then(|length| match memchr(b'\n', bytes) {
            // The parser skips blank lines before the request line (RFC 9112, section 2.2).
            Some(end) if length + end <= 1 => Some(0),
            Some(end) if length + end <= LONGEST_REQUEST_LINE => None,
            Some(end) => Some(length + end),
            None => Some(length + bytes.len()),
        });
        let length = length + bytes.len();
        self.head_state = Head::Begun { line, length };
        if line.is_some_and(|length| length > LONGEST_REQUEST_LINE) {
            return Some(StatusCode::URI_TOO_LONG);
        }
        if length > USUAL_HEAD {
            self.connection.moved.update(|moved| moved + bytes.len() as u64);
            let head = self.head.get_or_insert_with(|| Held::new(&self.connection, 0));
            head.grow(length - head.bytes());
            return self.connection.is_full().then_some(StatusCode::SERVICE_UNAVAILABLE);
        }
        None
    }

    /// Returns whether the next request has missed its deadline. Called when there is nothing to
    /// read.
    fn head_is_late(&mut self, context: &mut Context<'_>) -> bool {
        self.note_served();
        if !self.connection.is_idle() {
            return false;
        }
        if self.head_state == Head::Served {
            self.head_state = Head::Awaited;
            // The dispatcher might not have read since then.
            let answered = self.answered.take().unwrap_or_else(Instant::now);
            self.deadline = answered + KEEP_ALIVE + self.limits.head;
        }
        if self.alarm_is_set && !self.alarm.is_elapsed() {
            return false;
        }
        while self.alarm.as_mut().poll(context).is_ready() {
            let now = Instant::now();
            if now >= self.deadline {
                return true;
            }
            // Deadlines set after this one are at least this far away.
            self.alarm.as_mut().reset(self.deadline.min(now + self.limits.head));
        }
        self.alarm_is_set = true;
        false
    }

    /// Returns whether a long head arrives too slowly, given how much memory its connection uses.
    /// Called when there is nothing to read.
    fn head_is_slow(&mut self, context: &mut Context<'_>) -> bool {
        self.head.is_some() && self.head_rate.is_missed(context, &self.connection)
    }

    /// Ends the connection with a response, and sends as much of it as the socket takes right away.
    fn end_with(&mut self, status: StatusCode, context: &mut Context<'_>) {
        self.closed = true;
        let since = self.deadline.checked_sub(self.limits.head).unwrap_or_else(Instant::now);
        let mut reply = self.faults.answer(status, self.peer, since.into_std());
        if let Poll::Ready(Ok(sent)) = self.socket.poll_write(context, &reply) {
            reply.advance(sent);
            let _ = self.socket.poll_flush(context);
        }
        self.reply = reply;
    }

    /// Sends the rest of the response that `end_with` started.
    fn poll_reply(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.reply.is_empty() {
            match self.socket.poll_write(context, &self.reply) {
                Poll::Ready(Ok(sent)) => self.reply.advance(sent),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return self.wait_for_client(context),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Returns whether the client has read too little since the period began.
    ///
    /// We can't rely on writes alone, because the system only accepts more bytes once a third of
    /// its buffer is free. This can be more than a megabyte, and a slow client might need longer
    /// than a period to read that much.
    ///
    /// Therefore, we go by TCP acknowledgments. A client whose receive buffer is full only
    /// acknowledges more once a sixteenth of the buffer is free. Until then, we can't tell it apart
    /// from a client that has stopped reading.
    fn is_write_late(&mut self, context: &mut Context<'_>) -> bool {
        if !self.write.is_armed() {
            self.acknowledged = self.socket.acknowledged();
        }
        while self.write.is_over(context) {
            let before = std::mem::replace(&mut self.acknowledged, self.socket.acknowledged());
            if self.acknowledged.saturating_sub(before) < PROGRESS as u64 {
                return true;
            }
            self.write.reset();
        }
        false
    }

    fn wait_for_client<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        self.connection.socket_is_full.set(true);
        if self.is_write_late(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if self.protocol == Protocol::Http1 {
            self.stuck = true;
            let sending = self.connection.sending.get();
            if self.waiting.as_ref().map_or(0, Held::bytes) != sending {
                self.waiting = None;
                self.waiting = Some(Held::new(&self.connection, sending));
            }
            let is_late = self.rate.is_missed(context, &self.connection);
            if is_late || self.connection.is_full_without(sending) {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
        }
        Poll::Pending
    }

    /// Records that the client is reading again.
    fn resume(&mut self, context: &mut Context<'_>) {
        self.connection.socket_is_full.set(false);
        if self.stuck {
            self.stuck = false;
            self.waiting = None;
            // While stuck, we returned from reads without registering a waker.
            context.waker().wake_by_ref();
        }
    }

    /// Returns whether to pass the bytes that were just read to the dispatcher.
    ///
    /// # Errors
    /// Returns an error if the connection must be closed at once.
    fn note_read(&mut self, bytes: &mut [u8], context: &mut Context<'_>) -> io::Result<bool> {
        match self.protocol {
            Protocol::Http2 => {
                let idle = self.connection.count_frames(self.frames.pass(bytes));
                if idle > MOST_IDLE_FRAMES {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Ok(true)
            }
            Protocol::Http1 if bytes.is_empty() => Ok(true),
            Protocol::Http1 if !self.pipeline.gave_head() => {
                if self.connection.is_idle() {
                    let now = Instant::now();
                    let late = now > *self.linger.get_or_insert(now + LINGER);
                    // If the dispatcher hasn't read the body in time, it waits for the connection
                    // to end.
                    self.closed = late || self.pipeline.body_is_over();
                }
                Ok(true)
            }
            Protocol::Http1 => {
                let Some(status) = self.note_head(bytes) else { return Ok(true) };
                self.end_with(status, context);
                Ok(false)
            }
        }
    }

    /// Reads the bytes that the dispatcher can parse next.
    fn poll_turn(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if self.protocol == Protocol::Http2 {
            return self.socket.poll_read(context, buffer);
        }
        self.note_served();
        let idle = self.connection.is_idle();
        if self.connection.body_is_read.get() {
            self.pipeline.end_body();
        }
        let turn = if self.pipeline.is_empty() {
            match self.socket.poll_read(context, buffer) {
                Poll::Ready(Ok(())) if buffer.filled().len() > before => {
                    self.pipeline.hold_back(buffer, before, idle)
                }
                other => {
                    self.pipeline.stop_reading();
                    return other;
                }
            }
        } else {
            self.pipeline.resume(buffer, idle)
        };
        match turn {
            Turn::Now(_) => return Poll::Ready(Ok(())),
            Turn::Next => context.waker().wake_by_ref(),
            // The task is woken when the response is flushed.
            Turn::Answered => {}
        }
        Poll::Pending
    }
}

impl AsyncRead for Guard {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.closed {
            return Poll::Ready(Ok(()));
        }
        if this.stuck {
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        match this.poll_turn(context, buffer) {
            Poll::Ready(Ok(())) => {
                if !this.note_read(&mut buffer.filled_mut()[before..], context)? {
                    buffer.set_filled(before);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Pending if this.protocol == Protocol::Http1 && this.pipeline.is_empty() => {
                let status = if this.head_is_late(context) {
                    StatusCode::REQUEST_TIMEOUT
                } else if this.head_is_slow(context) {
                    StatusCode::SERVICE_UNAVAILABLE
                } else {
                    return Poll::Pending;
                };
                let begun = matches!(this.head_state, Head::Begun { .. });
                if begun {
                    this.end_with(status, context);
                }
                this.closed = true;
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

impl AsyncWrite for Guard {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.poll_reply(context) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
        if this.protocol == Protocol::Http1
            && this.connection.is_idle()
            && !this.connection.unflushed.get()
            && let Some(status) = parser_answer::status(bytes)
        {
            if !this.closed {
                this.end_with(status, context);
            }
            return Poll::Ready(Ok(bytes.len()));
        }
        if this.protocol == Protocol::Http2 {
            this.connection.unflushed.set(true);
        }
        match this.socket.poll_write(context, bytes) {
            Poll::Ready(Ok(sent)) => {
                this.write.moved(sent);
                this.connection.moved.update(|moved| moved + sent as u64);
                this.resume(context);
                // Allow one frame per KiB sent, since clients open their windows by at least that
                // much.
                this.connection.count_useful(sent.div_ceil(1024));
                Poll::Ready(Ok(sent))
            }
            Poll::Pending => this.wait_for_client(context),
            other => other,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.poll_reply(context) {
            Poll::Ready(Ok(())) => {}
            other => return other,
        }
        match this.socket.poll_flush(context) {
            Poll::Ready(Ok(())) => {
                this.write.reset();
                this.rate.reset();
                this.resume(context);
                let idle = this.connection.is_idle();
                if idle && this.connection.unflushed.get() {
                    this.answered = Some(Instant::now());
                }
                this.connection.unflushed.set(!idle);
                if idle && !this.pipeline.is_empty() {
                    context.waker().wake_by_ref();
                }
                Poll::Ready(Ok(()))
            }
            Poll::Pending => this.wait_for_client(context),
            other => other,
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.poll_reply(context) {
            Poll::Ready(Ok(())) => this.socket.poll_shutdown(context),
            other => other,
        }
    }
}
