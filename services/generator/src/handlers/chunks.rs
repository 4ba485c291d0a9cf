//! Response bodies that are generated while they are sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// Size of a chunk in bytes.
const CHUNK: usize = 64 << 10;

/// Longest time for the first chunk. A body that takes longer is not a short one.
const FIRST: Duration = Duration::from_millis(200);
/// Longest time without a pause for other requests of the thread.
const TURN: Duration = Duration::from_millis(25);

/// A body whose chunks are generated on demand.
///
/// Memory use is one chunk, regardless of the length. Between chunks, and while a chunk takes long, other requests
/// of the thread have their turn. Generation stops when the client disconnects.
pub struct Chunks<F> {
    next: F,
    chunk: Vec<u8>,
    /// Whether the chunk is to be sent before more is generated.
    is_first: bool,
    /// Whether others have had their turn since the last chunk.
    has_paused: bool,
    ended: bool,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Chunks<F> {
    /// A body of the chunks that `next` appends until it returns false.
    pub fn new(next: F) -> Self {
        Self { next, chunk: Vec::new(), is_first: false, has_paused: false, ended: false }
    }

    /// Generates the first chunk. A short body gets a length and is not streamed.
    pub fn begin(mut self) -> Begun<F> {
        self.generate(FIRST);
        if self.ended {
            return Begun::Whole(self.chunk.into());
        }
        self.is_first = !self.chunk.is_empty();
        Begun::More(self)
    }

    /// Boxes the body, short or streamed.
    pub fn boxed(self) -> BoxBody {
        match self.begin() {
            Begun::Whole(whole) => BoxBody::new(whole),
            Begun::More(chunks) => BoxBody::new(chunks),
        }
    }

    /// Returns true if the last chunk was generated.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Generates a part of the chunk, for this time.
    fn generate(&mut self, longest: Duration) {
        let begun = Instant::now();
        if self.chunk.capacity() == 0 {
            self.chunk.reserve(CHUNK + (CHUNK >> 4));
        }
        while !self.ended && self.chunk.len() < CHUNK && begun.elapsed() < longest {
            self.ended = !(self.next)(&mut self.chunk);
        }
    }
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> MessageBody for Chunks<F> {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let this = self.get_mut();
        if !std::mem::take(&mut this.is_first) {
            if !this.ended && !std::mem::replace(&mut this.has_paused, true) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.has_paused = false;
            this.generate(TURN);
        }
        let is_complete = this.ended || !this.chunk.is_empty();
        if !is_complete {
            // Nothing yet, as of a file that compresses well.
            this.has_paused = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let chunk = std::mem::take(&mut this.chunk);
        Poll::Ready((!chunk.is_empty()).then(|| Ok(chunk.into())))
    }
}

/// A body with its first chunk.
pub enum Begun<F> {
    /// The complete body.
    Whole(Bytes),
    /// More chunks follow.
    More(Chunks<F>),
}

/// The body of a response to `HEAD`. Its length is unknown, because nothing is generated.
pub fn unmade() -> BoxBody {
    BoxBody::new(Chunks { ended: true, ..Chunks::new(|_: &mut Vec<u8>| false) })
}
