//! The constant Huffman code, and the start of every response.

use std::sync::LazyLock;

use super::bits::Bits;
use super::code::{Code, canonical};

const END_OF_BLOCK: usize = 256;
const SHORT_COUNTS: u32 = 1000;
/// Maximum length of a small count's ending in bits. It has a colon, three digits, CR and LF.
pub const COUNT_BITS: u32 = 27;

pub static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

/// The constant tables.
pub struct Tables {
    /// The gzip header and block header, up to the last complete byte.
    pub head: Vec<u8>,
    /// The bits in the incomplete last byte.
    pub head_rest: Code,
    /// The end-of-block code.
    pub end: Code,
    /// The codes for hex digits.
    pub digits: [Code; 16],
    /// The joint code for the two digits of each byte, with the bits in the lower half and the
    /// length in the upper half.
    bytes: [u32; 256],
    /// Endings (colon, count, CR and LF) for small counts. The length is stored above the lowest
    /// [`COUNT_BITS`] bits.
    pub endings: Vec<u32>,
    /// CR and LF.
    separator: Code,
    colon: Code,
}

fn symbol_lengths() -> [u8; END_OF_BLOCK + 1] {
    let mut lengths = [0; END_OF_BLOCK + 1];
    for symbol in *b"0123456789AB" {
        lengths[usize::from(symbol)] = 4;
    }
    for symbol in *b"CDEF:\r\n" {
        lengths[usize::from(symbol)] = 5;
    }
    lengths[END_OF_BLOCK] = 5;
    lengths
}

impl Tables {
    fn new() -> Self {
        let lengths = symbol_lengths();
        let codes = canonical(&lengths);
        let code_of = |symbol: u8| codes[usize::from(symbol)];
        let digits: [Code; 16] = std::array::from_fn(|digit| code_of(b"0123456789ABCDEF"[digit]));
        let bytes = std::array::from_fn(|byte| {
            let joint = digits[byte >> 4].then(digits[byte & 15]);
            joint.bits as u32 | joint.length << 16
        });
        let (head, head_rest) = head(&lengths);
        let separator = code_of(b'\r').then(code_of(b'\n'));
        let (end, colon, endings) = (codes[END_OF_BLOCK], code_of(b':'), Vec::new());
        let mut tables = Self { head, head_rest, end, digits, bytes, endings, separator, colon };
        let packed = |code: Code| code.bits as u32 | code.length << COUNT_BITS;
        tables.endings = (0..SHORT_COUNTS).map(|count| packed(tables.long_ending(count))).collect();
        tables
    }

    /// Returns the joint code for a byte's two digits.
    #[inline(always)]
    pub fn byte(&self, byte: u8) -> Code {
        let joint = self.bytes[usize::from(byte)];
        Code { bits: u64::from(joint & 0xFFFF), length: joint >> 16 }
    }

    #[inline(always)]
    pub fn ending(&self, count: u32) -> Code {
        match self.endings.get(count as usize) {
            Some(packed) => Code {
                bits: u64::from(packed & ((1 << COUNT_BITS) - 1)),
                length: packed >> COUNT_BITS,
            },
            None => self.long_ending(count),
        }
    }

    /// Encodes a colon, up to ten digits of 4 bits, CR and LF. This takes up to 55 bits.
    #[cold]
    fn long_ending(&self, count: u32) -> Code {
        let mut code = self.separator;
        let mut rest = count;
        loop {
            code = self.digits[(rest % 10) as usize].then(code);
            rest /= 10;
            if rest == 0 {
                return self.colon.then(code);
            }
        }
    }
}

/// Encodes the gzip header and the deflate block header.
fn head(lengths: &[u8]) -> (Vec<u8>, Code) {
    let mut room = vec![0; 256];
    room[..10].copy_from_slice(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]);
    let mut bits = Bits { out: &mut room, at: 10, held: Code::default() };
    // Last block, dynamic codes, 257 symbols, 1 distance code, and 19 lengths for the code length
    // code.
    for (value, length) in [(1, 1), (2, 2), (0, 5), (0, 5), (15, 4)] {
        bits.push(Code { bits: value, length });
    }
    // The code length code uses 3 bits for each of eight symbols, which makes it complete. Symbol 2
    // is never sent.
    let mut of_lengths = [0u8; 19];
    for symbol in [0, 1, 2, 4, 5, 16, 17, 18] {
        of_lengths[symbol] = 3;
    }
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
        bits.push(Code { bits: u64::from(of_lengths[symbol]), length: 3 });
    }
    let codes = canonical(&of_lengths);
    // Add one unused 1-bit distance code, because some decoders reject a block without distance
    // codes.
    let all: Vec<u8> = lengths.iter().copied().chain([1]).collect();
    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|length| *length == first).count();
        let taken = match (*first, run) {
            (0, 11..) => bits.run(codes[18], run.min(138), 11, 7),
            (0, 3..=10) => bits.run(codes[17], run, 3, 3),
            (length, _) => {
                bits.push(codes[usize::from(length)]);
                1
            }
        };
        rest = &rest[taken..];
    }
    let (at, held) = (bits.at, bits.held);
    room.truncate(at);
    (room, held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lengths_form_a_complete_prefix_code() {
        let sum: u32 = symbol_lengths().iter().filter(|l| **l > 0).map(|l| 32u32 >> l).sum();
        assert_eq!(sum, 32);
    }
}
