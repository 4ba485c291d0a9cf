//! Response bodies that are generated while they're being sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// Chunk size in bytes.
const CHUNK: usize = 64 << 10;
/// Memory to allocate for the first chunk. Most bodies are short, and the allocator takes far longer
/// for a whole chunk.
const USUAL: usize = 960;

/// Maximum time for generating the first chunk. If it takes longer, the body counts as long.
const FIRST: Duration = Duration::from_millis(200);
/// How long other requests on the same thread can be kept waiting.
const TURN: Duration = Duration::from_millis(25);

/// A body whose chunks are generated on demand.
///
/// Only one chunk is in memory at a time, regardless of the body's length. The thread is yielded to
/// other requests between chunks, and also during a chunk that takes long. Generation stops when
/// the client disconnects.
pub struct Chunks<F> {
    next: F,
    chunk: Vec<u8>,
    /// Set until the first chunk has been sent. Until then, no further chunks are generated.
    is_first: bool,
    /// Whether the body has yielded since the last chunk.
    has_paused: bool,
    ended: bool,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Chunks<F> {
    /// Creates a body from chunks that `next` appends. `next` returns false after the last one.
    pub fn new(next: F) -> Self {
        Self { next, chunk: Vec::new(), is_first: false, has_paused: false, ended: false }
    }

    /// Generates the first chunk. If that is already the whole body, it is sent with a
    /// `Content-Length` instead of being streamed.
    pub fn begin(mut self) -> Begun<F> {
        self.chunk.reserve(USUAL);
        self.generate(FIRST);
        if self.ended {
            return Begun::Whole(self.chunk.into());
        }
        self.is_first = !self.chunk.is_empty();
        Begun::More(self)
    }

    /// Returns true once the last chunk has been generated.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Adds to the current chunk for up to `longest`.
    fn generate(&mut self, longest: Duration) {
        let begun = Instant::now();
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
            if this.chunk.capacity() == 0 {
                this.chunk.reserve(CHUNK + (CHUNK >> 4));
            }
            this.generate(TURN);
        }
        let is_complete = this.ended || !this.chunk.is_empty();
        if !is_complete {
            // There is no output yet, e.g. because the file compresses so well.
            this.has_paused = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let chunk = std::mem::take(&mut this.chunk);
        Poll::Ready((!chunk.is_empty()).then(|| Ok(chunk.into())))
    }
}

/// A body whose first chunk has been generated.
pub enum Begun<F> {
    /// The complete body.
    Whole(Bytes),
    /// The first chunk, with more to come.
    More(Chunks<F>),
}

/// Returns the body of a `HEAD` response. Its length is unknown, because nothing is generated.
pub fn unmade() -> BoxBody {
    BoxBody::new(Chunks { ended: true, ..Chunks::new(|_: &mut Vec<u8>| false) })
}
