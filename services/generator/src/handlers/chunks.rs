//! Bodies that are made while they are sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// How much is made at a time, in bytes.
const CHUNK: usize = 64 << 10;

/// A body whose pieces are made when the connection takes them.
///
/// Memory is that of one chunk, whatever the length; nothing is made for a client that is gone.
pub struct Chunks<F> {
    next: F,
    first: Option<Bytes>,
    ended: bool,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Chunks<F> {
    /// A body of the pieces that `next` appends until it gives false.
    pub fn new(next: F) -> Self {
        Self { next, first: None, ended: false }
    }

    /// Makes the first chunk at once: what is short gets a length, and is not a stream.
    pub fn begin(mut self) -> Begun<F> {
        let first = self.chunk();
        if self.ended {
            return Begun::Whole(first);
        }
        self.first = Some(first);
        Begun::More(self)
    }

    /// The body, whether it is short or not.
    pub fn boxed(self) -> BoxBody {
        match self.begin() {
            Begun::Whole(whole) => BoxBody::new(whole),
            Begun::More(chunks) => BoxBody::new(chunks),
        }
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

/// A body whose first chunk is made.
pub enum Begun<F> {
    /// That is all.
    Whole(Bytes),
    /// More follows.
    More(Chunks<F>),
}

/// The body of an answer to `HEAD`: of unknown length, since nothing is made to learn it.
pub fn unmade() -> BoxBody {
    BoxBody::new(Chunks { next: |_: &mut Vec<u8>| false, first: None, ended: true })
}
