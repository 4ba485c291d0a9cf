//! Memory for answers, used again once they are sent.

use std::cell::RefCell;
use std::mem;

/// How many buffers a thread keeps: answers that wait for a slow client hold theirs.
const MOST_KEPT: usize = 32;
/// Longer buffers are given back to the system, in bytes.
const LONGEST_KEPT: usize = 1 << 18;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Room for one answer. What an earlier one left in it is still there.
pub struct Buffer {
    bytes: Vec<u8>,
    length: usize,
}

impl Buffer {
    /// A buffer of at least `room` bytes.
    pub fn with_room(room: usize) -> Self {
        let mut bytes = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        if bytes.len() < room {
            bytes.resize(room, 0);
        }
        Self { bytes, length: 0 }
    }

    /// Where the answer is written.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Cuts the answer off after its first `length` bytes.
    pub fn truncated(mut self, length: usize) -> Self {
        self.length = length;
        self
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = mem::take(&mut self.bytes);
        // At the end of a thread no answer will need it.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if bytes.len() <= LONGEST_KEPT && spare.len() < MOST_KEPT {
                spare.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sent_answer_gives_its_memory_to_the_next() {
        let mut buffer = Buffer::with_room(100);
        buffer.room()[..5].copy_from_slice(b"first");
        let address = buffer.bytes.as_ptr();
        let body = buffer.truncated(5);
        let other = Buffer::with_room(100);
        assert_ne!(other.bytes.as_ptr(), address, "the first answer is not sent yet");
        drop(other);
        assert_eq!(body.as_ref(), b"first");
        drop(body);
        assert_eq!(Buffer::with_room(100).bytes.as_ptr(), address);
    }

    #[test]
    fn long_and_surplus_buffers_are_not_kept() {
        drop(Buffer::with_room(LONGEST_KEPT + 1));
        drop((0..2 * MOST_KEPT).map(|_| Buffer::with_room(8)).collect::<Vec<_>>());
        SPARE.with_borrow(|spare| {
            assert_eq!(spare.len(), MOST_KEPT);
            assert!(spare.iter().all(|bytes| bytes.len() <= LONGEST_KEPT));
        });
    }
}
