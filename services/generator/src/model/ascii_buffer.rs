//! A short ASCII string on the stack, for building numbers.

use super::random::Random;

const CAPACITY: usize = 64;

/// A buffer for up to 64 ASCII characters. Anything beyond that is silently dropped.
#[derive(Clone)]
pub struct AsciiBuffer {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl AsciiBuffer {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self { bytes: [b'0'; CAPACITY], length: 0 }
    }

    /// Appends one ASCII character.
    pub fn push(&mut self, byte: u8) {
        if self.length < CAPACITY {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }

    /// Appends an ASCII string.
    pub fn push_str(&mut self, text: &str) {
        for byte in text.bytes() {
            self.push(byte);
        }
    }

    /// Appends a number, zero-padded to `width` digits.
    pub fn push_number(&mut self, mut value: u64, width: usize) {
        let end = (self.length + width).min(CAPACITY);
        for position in self.bytes[self.length..end].iter_mut().rev() {
            *position = b'0' + (value % 10) as u8;
            value /= 10;
        }
        self.length = end;
    }

    /// Appends `count` random digits, drawing up to 18 at a time.
    pub fn push_digits(&mut self, random: &mut Random, mut count: usize) {
        while count > 0 {
            let part = count.min(18);
            let value = random.below(10u64.pow(part as u32));
            self.push_number(value, part);
            count -= part;
        }
    }

    /// Appends `count` random characters from `alphabet`.
    pub fn push_any(&mut self, random: &mut Random, alphabet: &[u8], count: usize) {
        for _ in 0..count {
            let byte = *random.pick(alphabet);
            self.push(byte);
        }
    }

    /// Returns the characters.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the characters for in-place modification.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }

    /// Returns the characters as a `str`.
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

impl Default for AsciiBuffer {
    fn default() -> Self {
        Self::new()
    }
}
