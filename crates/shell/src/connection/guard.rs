//! A socket with deadlines.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::http::StatusCode;
use actix_web::web::{Buf, Bytes};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::server::TlsStream;

use super::account::{Connection, Held};
use super::frames::Frames;
use super::limits::{KEEP_ALIVE, LONGEST_REQUEST_LINE, Limits, MOST_IDLE_FRAMES};
use super::parser_answer::{self, ParserFaults};
use super::progress::Progress;

/// A socket of either kind.
pub(super) enum Socket {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS over TCP.
    Secure(Box<TlsStream<TcpStream>>),
}

/// Whether the socket carries HTTP/1.1, whose heads and parser faults are looked after here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// A socket with the deadlines of its connection.
pub(super) struct Guard {
    socket: Socket,
    pub(super) connection: Rc<Connection>,
    protocol: Protocol,
    limits: Limits,
    faults: Arc<ParserFaults>,
    /// Until when the next request must have reached the application, while none is open.
    deadline: Instant,
    /// Wakes the connection at the deadline or before; setting a timer for each request would cost
    /// more than reading one.
    alarm: Pin<Box<Sleep>>,
    alarm_is_set: bool,
    head_state: Head,
    /// Requests that the application had got when the state was last looked at.
    served: u64,
    write: Progress,
    frames: Frames,
    /// Whether the client takes nothing at the moment; no further requests are read until it does.
    stuck: bool,
    /// The answer that an HTTP/1.1 client does not take.
    waiting: Option<Held>,
    /// An answer in place of the parser's own.
    reply: Bytes,
    closed: bool,
}

/// Where an HTTP/1.1 connection stands between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// A request is open; its head is complete.
    Served,
    /// No byte of the next head has come.
    Awaited,
    /// Some bytes have come, this many of a request line without an end.
    Begun { line: Option<usize> },
}

/// Whether bytes that were read go to the dispatcher.
enum Taken {
    Yes,
    No,
}

impl Guard {
    pub(super) fn new(
        socket: Socket,
        connection: Rc<Connection>,
        protocol: Protocol,
        limits: Limits,
        faults: Arc<ParserFaults>,
    ) -> Self {
        Self {
            socket,
            connection,
            protocol,
            limits,
            faults,
            deadline: Instant::now() + KEEP_ALIVE + limits.head,
            alarm: Box::pin(sleep(limits.head)),
            alarm_is_set: false,
            head_state: Head::Awaited,
            served: 0,
            write: Progress::new(limits.write),
            frames: Frames::new(),
            stuck: false,
            waiting: None,
            reply: Bytes::new(),
            closed: false,
        }
    }

    /// Takes notice of requests that reached the application; some are answered between two looks.
    fn note_served(&mut self) {
        let served = self.connection.served.get();
        if served != self.served {
            self.served = served;
            self.head_state = Head::Served;
        }
    }

    /// Follows the bytes of a request head; true when its first line is too long.
    fn note_head(&mut self, bytes: &[u8]) -> bool {
        self.note_served();
        if !self.connection.is_idle() {
            return false;
        }
        let line = match self.head_state {
            Head::Begun { line } => line,
            Head::Served | Head::Awaited => {
                self.deadline = Instant::now() + self.limits.head;
                Some(0)
            }
        };
        let line = line.and_then(|length| match memchr(b'\n', bytes) {
            Some(end) if length + end <= LONGEST_REQUEST_LINE => None,
            Some(end) => Some(length + end),
            None => Some(length + bytes.len()),
        });
        self.head_state = Head::Begun { line };
        line.is_some_and(|length| length > LONGEST_REQUEST_LINE)
    }

    /// Whether the next request takes too long; asked while nothing can be read.
    fn head_is_late(&mut self, context: &mut Context<'_>) -> bool {
        self.note_served();
        if !self.connection.is_idle() {
            return false;
        }
        if self.head_state == Head::Served {
            self.head_state = Head::Awaited;
            self.deadline = Instant::now() + KEEP_ALIVE + self.limits.head;
        }
        if self.alarm_is_set && !self.alarm.is_elapsed() {
            return false;
        }
        while self.alarm.as_mut().poll(context).is_ready() {
            let now = Instant::now();
            if now >= self.deadline {
                return true;
            }
            // No deadline that is set from now on is earlier.
            self.alarm.as_mut().reset(self.deadline.min(now + self.limits.head));
        }
        self.alarm_is_set = true;
        false
    }

    /// Ends the connection with an answer of our own, as far as the socket takes it at once.
    fn end_with(&mut self, status: StatusCode, context: &mut Context<'_>) {
        self.closed = true;
        let mut reply = (self.faults)(status);
        if let Poll::Ready(Ok(sent)) = self.socket.poll_write(context, &reply) {
            reply.advance(sent);
            let _ = self.socket.poll_flush(context);
        }
        self.reply = reply;
    }

    /// Sends what is left of an answer of our own.
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

    fn wait_for_client<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.write.is_over(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if self.protocol == Protocol::Http1 {
            self.stuck = true;
            let sending = self.connection.sending.get();
            if self.waiting.as_ref().map_or(0, Held::bytes) != sending {
                self.waiting = None;
                self.waiting = Some(Held::new(&self.connection, sending));
            }
            if self.connection.is_full() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
        }
        Poll::Pending
    }

    /// The client took something.
    fn go_on(&mut self, context: &mut Context<'_>) {
        if self.stuck {
            self.stuck = false;
            self.waiting = None;
            // Reading was put off without anybody to take it up again.
            context.waker().wake_by_ref();
        }
    }

    /// Looks at bytes that were read; an error ends the connection.
    fn note_read(&mut self, bytes: &[u8], context: &mut Context<'_>) -> io::Result<Taken> {
        match self.protocol {
            Protocol::Http2 => {
                let idle = self.connection.count_frames(self.frames.count(bytes));
                if idle > MOST_IDLE_FRAMES {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Ok(Taken::Yes)
            }
            Protocol::Http1 if !bytes.is_empty() => {
                let too_long = self.note_head(bytes);
                if too_long {
                    self.end_with(StatusCode::URI_TOO_LONG, context);
                }
                Ok(if too_long { Taken::No } else { Taken::Yes })
            }
            _ => Ok(Taken::Yes),
        }
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
        match this.socket.poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                if let Taken::No = this.note_read(&buffer.filled()[before..], context)? {
                    buffer.set_filled(before);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Pending if this.protocol == Protocol::Http1 && this.head_is_late(context) => {
                let begun = matches!(this.head_state, Head::Begun { .. });
                if begun {
                    this.end_with(StatusCode::REQUEST_TIMEOUT, context);
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
        match this.socket.poll_write(context, bytes) {
            Poll::Ready(Ok(sent)) => {
                this.write.moved(sent);
                this.go_on(context);
                // Windows are opened at least as wide as that.
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
                this.write.rest();
                this.go_on(context);
                this.connection.unflushed.set(!this.connection.is_idle());
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

impl Socket {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_read(context, buffer),
            Self::Secure(io) => Pin::new(io).poll_read(context, buffer),
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_write(context, bytes),
            Self::Secure(io) => Pin::new(io).poll_write(context, bytes),
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_flush(context),
            Self::Secure(io) => Pin::new(io).poll_flush(context),
        }
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_shutdown(context),
            Self::Secure(io) => Pin::new(io).poll_shutdown(context),
        }
    }
}
