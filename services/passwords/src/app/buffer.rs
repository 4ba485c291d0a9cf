//! A pool of response buffers.

use std::cell::RefCell;
use std::mem;

/// Maximum number of spare buffers per thread. Buffers of responses that are still being sent to
/// slow clients don't count.
const MOST_KEPT: usize = 32;
/// Longest buffer worth keeping, in bytes. Longer ones are freed.
const LONGEST_KEPT: usize = 1 << 18;
/// Smallest step between buffer lengths, in bytes.
const SHORTEST_STEP: usize = 1 << 10;

thread_local! {
    /// Spare buffers, most recently used last.
    static SPARE: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// A reusable response buffer. It may still contain bytes of an earlier response.
///
/// Allocated only slightly longer than requested, because the whole allocation counts towards the
/// memory limit while the response waits for a slow client.
pub struct Buffer {
    bytes: Box<[u8]>,
    length: usize,
}

impl Buffer {
    /// Returns a buffer of at least `room` bytes.
    pub fn with_room(room: usize) -> Self {
        let length = length_for(room);
        let used = SPARE.with_borrow_mut(|spare| {
            let at = spare.iter().rposition(|bytes| bytes.len() == length)?;
            Some(spare.remove(at))
        });
        let bytes = used.unwrap_or_else(|| vec![0; length].into_boxed_slice());
        Self { bytes, length: 0 }
    }

    /// Returns the bytes to write the response to.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Truncates the response to `length` bytes.
    pub fn truncated(mut self, length: usize) -> Self {
        self.length = length;
        self
    }

    /// Returns the size of the allocation in bytes.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.bytes.len()
    }
}

/// Rounds `room` up by at most an eighth, so that responses of similar length share a few buffers,
/// which stay in the CPU cache.
fn length_for(room: usize) -> usize {
    room.next_multiple_of((room.next_power_of_two() / 16).max(SHORTEST_STEP))
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = mem::take(&mut self.bytes);
        if bytes.len() > LONGEST_KEPT {
            return;
        }
        // Fails only while the thread exits, when spare buffers are no longer needed.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() >= MOST_KEPT {
                // Drop the oldest buffer, because its length might never be needed again.
                drop(spare.remove(0));
            }
            spare.push(bytes);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_of_a_sent_answer_is_reused() {
        let mut buffer = Buffer::with_room(100);
        buffer.room()[..5].copy_from_slice(b"first");
        let address = buffer.bytes.as_ptr();
        let body = buffer.truncated(5);
        let other = Buffer::with_room(100);
        assert_ne!(other.bytes.as_ptr(), address, "the first response is not sent yet");
        drop(other);
        assert_eq!(body.as_ref(), b"first");
        drop(body);
        assert_eq!(Buffer::with_room(100).bytes.as_ptr(), address);
    }

    #[test]
    fn short_answer_does_not_keep_a_long_buffer() {
        let long = Buffer::with_room(40_000);
        let address = long.bytes.as_ptr();
        drop(long);
        for room in [64, 10_000, 20_000, 34_000] {
            assert!(Buffer::with_room(room).held() <= length_for(room), "{room}");
        }
        assert_eq!(Buffer::with_room(39_000).bytes.as_ptr(), address);
    }

    #[test]
    fn long_and_surplus_buffers_are_not_kept() {
        drop(Buffer::with_room(LONGEST_KEPT + 1));
        drop((0..2 * MOST_KEPT).map(|_| Buffer::with_room(8)).collect::<Vec<_>>());
        drop(Buffer::with_room(9000));
        SPARE.with_borrow(|spare| {
            assert_eq!(spare.len(), MOST_KEPT);
            assert!(spare.iter().all(|bytes| bytes.len() <= LONGEST_KEPT));
            assert!(spare.last().is_some_and(|bytes| bytes.len() >= 9000), "the newest is kept");
        });
    }
}
