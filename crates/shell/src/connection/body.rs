//! Request bodies with a progress deadline and memory accounting.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use futures_util::Stream;

use super::account::{Connection, Held};
use super::minimum_rate::MinimumRate;
use super::progress::Progress;

/// A body that fails if less than 1 KiB arrives per period, if its connection uses too much memory,
/// or if it arrives too slowly while memory is scarce.
pub(super) struct Timed<S> {
    body: S,
    progress: Progress,
    rate: MinimumRate,
    /// Whether the last poll had nothing to read.
    waits: bool,
    connection: Option<Rc<Connection>>,
    held: Option<Rc<Held>>,
}

impl<S> Timed<S> {
    /// `held` counts the bytes read. It lives as long as the request, since the handler might keep
    /// all of these bytes.
    pub(super) fn new(
        body: S,
        period: Duration,
        connection: Option<Rc<Connection>>,
        held: Option<Rc<Held>>,
    ) -> Self {
        let (progress, rate) = (Progress::new(period), MinimumRate::default());
        Self { body, progress, rate, waits: false, connection, held }
    }

    /// Counts the memory of a chunk of `bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if the connection uses too much memory.
    fn count(&mut self, bytes: usize) -> io::Result<()> {
        self.progress.moved(bytes);
        self.waits = false;
        let (Some(connection), Some(held)) = (&self.connection, &self.held) else { return Ok(()) };
        held.grow(bytes);
        connection.moved.update(|moved| moved + bytes as u64);
        connection.count_useful(usize::from(bytes > 0));
        if connection.is_full() { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(()) }
    }

    /// Returns whether the body arrives too slowly, given how much memory its connection uses.
    fn is_missed(&mut self, context: &mut Context<'_>) -> bool {
        let Some(connection) = &self.connection else { return false };
        self.rate.is_missed(context, connection)
    }

    /// Waits for more data. Returns an error if the body is overdue.
    fn wait(&mut self, context: &mut Context<'_>) -> Option<io::ErrorKind> {
        if !self.waits {
            self.waits = true;
            self.rate.begin_wait();
        }
        if self.progress.is_over(context) {
            return Some(io::ErrorKind::TimedOut);
        }
        self.is_missed(context).then_some(io::ErrorKind::OutOfMemory)
    }
}

impl<S: Stream<Item = Result<Bytes, PayloadError>> + Unpin> Stream for Timed<S> {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let failed = |kind: io::ErrorKind| Poll::Ready(Some(Err(PayloadError::Io(kind.into()))));
        // Check this first. Otherwise a client could keep postponing the check by sending one byte
        // at a time.
        if this.waits && this.is_missed(context) {
            return failed(io::ErrorKind::OutOfMemory);
        }
        match Pin::new(&mut this.body).poll_next(context) {
            Poll::Ready(Some(Ok(chunk))) => {
                let counted = this.count(chunk.len()).map_err(PayloadError::Io);
                Poll::Ready(Some(counted.map(|()| chunk)))
            }
            Poll::Pending => this.wait(context).map_or(Poll::Pending, failed),
            Poll::Ready(None) => {
                if let Some(connection) = &this.connection {
                    connection.body_is_read.set(true);
                }
                Poll::Ready(None)
            }
            other => other,
        }
    }
}

/// An HTTP/2 request body. Reading a chunk makes room in the flow-control window for the next one.
pub(super) struct Received(pub(super) h2::RecvStream);

impl Stream for Received {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = &mut self.get_mut().0;
        match stream.poll_data(context) {
            Poll::Ready(Some(Ok(chunk))) => {
                let released = stream.flow_control().release_capacity(chunk.len());
                Poll::Ready(Some(released.map(|()| chunk).map_err(PayloadError::Http2Payload)))
            }
            Poll::Ready(Some(Err(error))) => {
                Poll::Ready(Some(Err(PayloadError::Http2Payload(error))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
