//! Counts the frames an HTTP/2 connection receives.

/// Length of the preface that starts a connection, in bytes.
const PREFACE: usize = 24;
/// Length of a frame header in bytes. The first three are the payload length.
const HEAD: usize = 9;

/// Counts frames in a byte stream that arrives in arbitrary chunks.
pub(super) struct Frames {
    /// Bytes until the next frame header.
    skip: usize,
    /// The number of header bytes that have arrived, and the payload length they contain.
    head: usize,
    length: usize,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self { skip: PREFACE, head: 0, length: 0 }
    }

    /// Returns the number of frame headers that these bytes complete.
    pub(super) fn count(&mut self, mut bytes: &[u8]) -> usize {
        let mut frames = 0;
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            let Some((byte, rest)) = bytes.split_first() else { return frames };
            bytes = rest;
            if self.head < 3 {
                self.length = self.length << 8 | usize::from(*byte);
            }
            self.head += 1;
            if self.head == HEAD {
                *self = Self { skip: self.length, head: 0, length: 0 };
                frames += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_in_chunks_of_any_size() {
        let mut bytes = vec![0; PREFACE];
        for length in [0_usize, 5, 0, 300] {
            bytes.extend([0, (length >> 8) as u8, length as u8, 0, 0, 0, 0, 0, 1]);
            bytes.extend(vec![7; length]);
        }
        for size in [1, 2, 7, 9, 10, 100, 1000] {
            let mut frames = Frames::new();
            let counted: usize = bytes.chunks(size).map(|part| frames.count(part)).sum();
            assert_eq!(counted, 4, "in portions of {size}");
        }
    }
}
