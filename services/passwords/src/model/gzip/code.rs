//! Huffman codes of one or more symbols.

/// A code's bits in transmission order, with the first bit lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    pub bits: u64,
    pub length: u32,
}

impl Code {
    #[inline(always)]
    pub fn then(self, next: Self) -> Self {
        Self { bits: self.bits | next.bits << self.length, length: self.length + next.length }
    }
}

/// Returns the canonical codes for `lengths`, bit-reversed because deflate sends codes that way.
pub fn canonical(lengths: &[u8]) -> Vec<Code> {
    let mut codes = vec![Code::default(); lengths.len()];
    let mut next = 0u64;
    for length in 1..=15u32 {
        next <<= 1;
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, l)| u32::from(**l) == length) {
            codes[symbol] = Code { bits: next.reverse_bits() >> (64 - length), length };
            next += 1;
        }
    }
    codes
}
