//! Response bodies that are generated while they are sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// Size of a chunk in bytes.
const CHUNK: usize = 64 << 10;

/// A body whose chunks are generated on demand.
///
/// Memory use is one chunk, regardless of the length. Generation stops when the client disconnects.
pub struct Chunks<F> {
    next: F,
    first: Option<Bytes>,
    ended: bool,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Chunks<F> {
    /// A body of the chunks that `next` appends until it returns false.
    pub fn new(next: F) -> Self {
        Self { next, first: None, ended: false }
    }

    /// Generates the first chunk. A short body gets a length and is not streamed.
    pub fn begin(mut self) -> Begun<F> {
        let first = self.chunk();
        if self.ended {
            return Begun::Whole(first);
        }
        self.first = Some(first);
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

    fn chunk(&mut self) -> Bytes {
        let mut chunk = Vec::with_capacity(CHUNK + (CHUNK >> 4));
        while !self.ended && chunk.len() < CHUNK {
            self.ended = !(self.next)(&mut chunk);
        }
        chunk.into()
    }
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> MessageBody for Chunks<F> {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let this = self.get_mut();
        Poll::Ready(match this.first.take() {
            Some(first) => Some(Ok(first)),
            None if this.ended => None,
            None => Some(Ok(this.chunk())),
        })
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
    BoxBody::new(Chunks { next: |_: &mut Vec<u8>| false, first: None, ended: true })
}
