//! Writes codes bit by bit.

use super::code::Code;

/// Twice the room that the longest line takes: 17 bytes of digest and 55 bits of ending.
pub const WINDOW: usize = 64;

/// A row of bytes filled bit by bit; up to 7 bits wait for the rest of their byte.
pub struct Bits<'a> {
    pub out: &'a mut [u8],
    pub at: usize,
    pub held: Code,
}

impl Bits<'_> {
    /// Adds up to 56 bits; what does not fit into `out` is lost.
    #[inline(always)]
    pub fn push(&mut self, code: Code) {
        if let Some(mut window) = self.window() {
            window.push(code);
            (self.at, self.held) = window.end();
        }
    }

    /// Room for the next line; its end is where these bits go on.
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

    /// Takes the last `bits` bits back.
    pub fn take_back(&mut self, bits: u32) {
        let position = self.at * 8 + self.held.length as usize - bits as usize;
        self.at = position / 8;
        let length = (position % 8) as u32;
        let byte = self.out.get(self.at).copied().unwrap_or_default();
        self.held = Code { bits: u64::from(byte) & ((1 << length) - 1), length };
    }
}

/// Room for one line, so that its pieces need no check of their own.
pub struct Window<'a> {
    room: &'a mut [u8; WINDOW],
    begin: usize,
    at: usize,
    held: Code,
}

impl Window<'_> {
    /// Adds up to 56 bits.
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
