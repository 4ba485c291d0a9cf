//! Counts the frames received on an HTTP/2 connection, and replaces two values in them before h2
//! sees the frames.
//!
//! | Value | Without the replacement |
//! |---|---|
//! | the last stream in GOAWAY becomes 2^31 - 1 | h2 drops all open requests. The value refers to streams opened by the server, but h2 compares it with the client's streams. |
//! | `SETTINGS_HEADER_TABLE_SIZE` becomes at most 4096 | h2 fills a table of any size that the client allows, and searches it for each response. |

use std::cmp::Ordering;

/// Length of the preface that starts a connection, in bytes.
const PREFACE: usize = 24;
/// Length of a frame header in bytes. The first three bytes are the payload length.
const HEAD: usize = 9;
/// Offset of the frame type in the header.
const KIND: usize = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
/// Length of one setting: a 16-bit identifier and a 32-bit value.
const SETTING: usize = 6;
const HEADER_TABLE_SIZE: [u8; 2] = [0, 1];
/// Maximum size in bytes of the table for compressing response headers. This is HTTP/2's default.
const LARGEST_TABLE: [u8; 4] = 4096_u32.to_be_bytes();
const HIGHEST_STREAM: [u8; 4] = (u32::MAX >> 1).to_be_bytes();

/// Parses frames from a byte stream that arrives in arbitrary chunks.
pub(super) struct Frames {
    /// Number of bytes before the next frame header.
    left: usize,
    /// The last frame header. The first `begun` bytes already belong to the next header.
    head: [u8; HEAD],
    begun: usize,
    /// Offset of the next payload byte, for payloads that can be changed.
    position: usize,
    /// The identifier of the setting whose value is arriving.
    identifier: [u8; 2],
    /// How the bytes of the value received so far compare to the limit.
    compared: Ordering,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            left: PREFACE,
            head: [0; HEAD],
            begun: 0,
            position: 0,
            identifier: [0; 2],
            compared: Ordering::Equal,
        }
    }

    /// Replaces values in `bytes`, and returns the number of frame headers completed by `bytes`.
    pub(super) fn pass(&mut self, bytes: &mut [u8]) -> usize {
        let (mut frames, mut at) = (0, 0);
        loop {
            let payload = at..at + self.left.min(bytes.len() - at);
            at = payload.end;
            self.left -= payload.len();
            if matches!(self.head[KIND], SETTINGS | GOAWAY) {
                bytes[payload].iter_mut().for_each(|byte| *byte = self.replaced(*byte));
            }
            let Some(byte) = bytes.get(at) else { return frames };
            self.head[self.begun] = *byte;
            self.begun += 1;
            at += 1;
            if self.begun == HEAD {
                let [high, middle, low, ..] = self.head;
                self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
                (self.begun, self.position) = (0, 0);
                frames += 1;
            }
        }
    }

    /// Returns the byte to use in place of `byte`, the next payload byte of a GOAWAY or SETTINGS
    /// frame.
    fn replaced(&mut self, byte: u8) -> u8 {
        let position = self.position;
        self.position += 1;
        if self.head[KIND] == GOAWAY {
            return HIGHEST_STREAM.get(position).copied().unwrap_or(byte);
        }
        let within = position % SETTING;
        if let Some(part) = self.identifier.get_mut(within) {
            *part = byte;
            self.compared = Ordering::Equal;
            return byte;
        }
        if self.identifier != HEADER_TABLE_SIZE {
            return byte;
        }
        let limit = LARGEST_TABLE[within - self.identifier.len()];
        self.compared = self.compared.then(byte.cmp(&limit));
        if self.compared == Ordering::Greater { limit } else { byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0, 0, 0, 0, 1], payload].concat()
    }

    /// Returns the bytes that are passed on after the preface, and the number of frames.
    fn passed(frames: &[u8], size: usize) -> (Vec<u8>, usize) {
        let mut bytes = [&[0; PREFACE][..], frames].concat();
        let mut reader = Frames::new();
        let counted = bytes.chunks_mut(size).map(|part| reader.pass(part)).sum();
        (bytes.split_off(PREFACE), counted)
    }

    const SIZES: [usize; 8] = [1, 2, 3, 7, 9, 10, 100, 1000];

    #[test]
    fn frames_are_counted_in_chunks_of_any_size() {
        let frames = [0, 5, 0, 300].map(|length| frame(1, &vec![7; length])).concat();
        for size in SIZES {
            assert_eq!(passed(&frames, size), (frames.clone(), 4), "in portions of {size}");
        }
    }

    #[test]
    fn the_last_stream_of_goaway_is_replaced() {
        let given = [frame(GOAWAY, b"\0\0\0\0\0\0\0\x02why"), frame(0, b"\0\0\0\0")].concat();
        let wanted =
            [frame(GOAWAY, b"\x7F\xFF\xFF\xFF\0\0\0\x02why"), frame(0, b"\0\0\0\0")].concat();
        for size in SIZES {
            assert_eq!(passed(&given, size), (wanted.clone(), 2), "in portions of {size}");
        }
    }

    #[test]
    fn only_larger_header_tables_are_replaced() {
        let settings = |values: &[(u16, u32)]| {
            let setting = |(identifier, value): &(u16, u32)| {
                [&identifier.to_be_bytes()[..], &value.to_be_bytes()].concat()
            };
            frame(SETTINGS, &values.iter().flat_map(setting).collect::<Vec<_>>())
        };
        for (given, passed_on) in [
            (0, 0),
            (4095, 4095),
            (4096, 4096),
            (4097, 4096),
            (4351, 4096),
            (65_536, 4096),
            (0x0100_0000, 4096),
            (u32::MAX, 4096),
        ] {
            let list = [(4, u32::MAX >> 1), (1, given), (0x0100, given), (1, 7)];
            let mut wanted = list;
            wanted[1].1 = passed_on;
            for size in SIZES {
                let (bytes, _) = passed(&settings(&list), size);
                assert_eq!(bytes, settings(&wanted), "{given} in portions of {size}");
            }
        }
    }
}
