//! A bit writer.

use super::code::Code;

/// At least twice the length of the longest line, which has 17 bytes of digest and a 55-bit ending.
pub const WINDOW: usize = 64;

/// A byte buffer that is filled bit by bit. Up to 7 bits of an incomplete byte are held back.
pub struct Bits<'a> {
    pub out: &'a mut [u8],
    pub at: usize,
    pub held: Code,
}

impl Bits<'_> {
    /// Appends up to 56 bits. Bits that don't fit in `out` are dropped.
    #[inline(always)]
    pub fn push(&mut self, code: Code) {
        if let Some(mut window) = self.window() {
            window.push(code);
            (self.at, self.held) = window.end();
        }
    }

    /// Returns space for the next line. Writing continues where the line ends.
    #[inline(always)]
    pub fn window(&mut self) -> Option<Window<'_>> {
        let room = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut)?;
        Some(Window { room, begin: self.at, at: 0, held: self.held })
    }

    pub fn run(&mut self, code: Code, run: usize, least: usize, length: u32) -> usize {
        self.push(code);
        self.push(Code { bits: (run - least) as u64, length });
        run
    }

    /// Removes the last `bits` bits.
    pub fn take_back(&mut self, bits: u32) {
        let position = self.at * 8 + self.held.length as usize - bits as usize;
        self.at = position / 8;
        let length = (position % 8) as u32;
        let byte = self.out.get(self.at).copied().unwrap_or_default();
        self.held = Code { bits: u64::from(byte) & ((1 << length) - 1), length };
    }
}

/// Space for one line, large enough that its parts can be written without bounds checks.
pub struct Window<'a> {
    room: &'a mut [u8; WINDOW],
    begin: usize,
    at: usize,
    held: Code,
}

impl Window<'_> {
    /// Appends up to 56 bits.
    #[inline(always)]
    pub fn push(&mut self, code: Code) {
        let all = self.held.then(code);
        let at = self.at % (WINDOW / 2);
        self.room[at..at + 8].copy_from_slice(&all.bits.to_le_bytes());
        self.at += (all.length >> 3) as usize;
        self.held = Code { bits: all.bits >> (all.length & 56), length: all.length & 7 };
    }

    #[inline(always)]
    pub fn end(self) -> (usize, Code) {
        (self.begin + self.at, self.held)
    }
}
