//! Gzip for the one text that this service serves.
//!
//! The text is hexadecimal from 16 equally likely digits, so a search for matches finds nothing
//! and one fixed code is near optimal: 4 bits for `0` to `9`, `A` and `B`, 5 bits for the other
//! four digits, colon, CR, LF and the end of the block. The whole answer is one deflate block;
//! its header never changes, and each byte of a digest becomes the joint code of its two digits.

use std::sync::LazyLock;

use super::bucket::BucketError;
use super::{Bucket, Kind, gzip_simd};

/// Shorter texts go out as they are: the block header alone is about 40 bytes.
pub const SHORTEST: usize = 512;

const END_OF_BLOCK: usize = 256;
const SHORT_COUNTS: u32 = 1000;
/// Twice the room that the longest line takes: 17 bytes of digest and 55 bits of ending.
const WINDOW: usize = 64;
/// CR and LF, 5 bits each, which follow every line but the last.
const SEPARATOR_BITS: u32 = 10;
pub(super) static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

/// Bits in the order in which they are sent, the first one lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) bits: u64,
    pub(super) length: u32,
}

impl Code {
    #[inline(always)]
    fn then(self, next: Self) -> Self {
        Self { bits: self.bits | next.bits << self.length, length: self.length + next.length }
    }
}

pub(super) struct Tables {
    /// Gzip header and block header, with the bits of the last, unfinished byte.
    head: Vec<u8>,
    head_rest: Code,
    end: Code,
    pub(super) digits: [Code; 16],
    /// The joint code of a byte's two digits: bits in the lower, length in the upper half.
    bytes: [u32; 256],
    /// Colon, count, CR and LF for small counts: 27 bits, and their number above them.
    endings: Vec<u32>,
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

/// Canonical codes for the given lengths, bit-reversed as deflate sends them.
fn canonical(lengths: &[u8]) -> Vec<Code> {
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

impl Tables {
    fn new() -> Self {
        let lengths = symbol_lengths();
        let codes = canonical(&lengths);
        let of = |symbol: u8| codes[usize::from(symbol)];
        let digits: [Code; 16] = std::array::from_fn(|digit| of(b"0123456789ABCDEF"[digit]));
        let bytes = std::array::from_fn(|byte| {
            let joint = digits[byte >> 4].then(digits[byte & 15]);
            joint.bits as u32 | joint.length << 16
        });
        let (head, head_rest) = head(&lengths);
        let separator = of(b'\r').then(of(b'\n'));
        let (end, colon, endings) = (codes[END_OF_BLOCK], of(b':'), Vec::new());
        let mut tables = Self { head, head_rest, end, digits, bytes, endings, separator, colon };
        let packed = |code: Code| code.bits as u32 | code.length << 27;
        tables.endings = (0..SHORT_COUNTS).map(|count| packed(tables.long_ending(count))).collect();
        tables
    }

    /// The joint code of a byte's two digits.
    #[inline(always)]
    fn byte(&self, byte: u8) -> Code {
        let joint = self.bytes[usize::from(byte)];
        Code { bits: u64::from(joint & 0xFFFF), length: joint >> 16 }
    }

    #[inline(always)]
    fn ending(&self, count: u32) -> Code {
        match self.endings.get(count as usize) {
            Some(packed) => Code { bits: u64::from(packed & 0x07FF_FFFF), length: packed >> 27 },
            None => self.long_ending(count),
        }
    }

    /// Colon, up to ten digits of 4 bits, CR and LF: 55 bits at most.
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

/// Gzip header and deflate block header.
fn head(lengths: &[u8]) -> (Vec<u8>, Code) {
    let mut room = vec![0; 256];
    room[..10].copy_from_slice(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]);
    let mut bits = Bits { out: &mut room, at: 10, held: Code::default() };
    // Last block, dynamic codes, 257 symbols, 1 distance code, 19 lengths of the length code.
    for (value, length) in [(1, 1), (2, 2), (0, 5), (0, 5), (15, 4)] {
        bits.push(Code { bits: value, length });
    }
    // The length code gives 3 bits to eight symbols, so that it is complete; 2 is never sent.
    let mut of_lengths = [0u8; 19];
    for symbol in [0, 1, 2, 4, 5, 16, 17, 18] {
        of_lengths[symbol] = 3;
    }
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
        bits.push(Code { bits: u64::from(of_lengths[symbol]), length: 3 });
    }
    let codes = canonical(&of_lengths);
    // One distance code of one bit, never used: some decoders refuse a block without any.
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

/// A row of bytes filled bit by bit; up to 7 bits wait for the rest of their byte.
pub(super) struct Bits<'a> {
    pub(super) out: &'a mut [u8],
    pub(super) at: usize,
    pub(super) held: Code,
}

impl Bits<'_> {
    /// Adds up to 56 bits; what does not fit into `out` is lost.
    #[inline(always)]
    fn push(&mut self, code: Code) {
        if let Some(mut window) = self.window() {
            window.push(code);
            (self.at, self.held) = window.end();
        }
    }

    /// Room for the next line; its end is where these bits go on.
    #[inline(always)]
    fn window(&mut self) -> Option<Window<'_>> {
        let room = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut)?;
        Some(Window { room, begin: self.at, at: 0, held: self.held })
    }

    fn run(&mut self, code: Code, run: usize, least: usize, length: u32) -> usize {
        self.push(code);
        self.push(Code { bits: (run - least) as u64, length });
        run
    }

    /// Takes the last `bits` bits back.
    fn take_back(&mut self, bits: u32) {
        let position = self.at * 8 + self.held.length as usize - bits as usize;
        self.at = position / 8;
        let length = (position % 8) as u32;
        let byte = self.out.get(self.at).copied().unwrap_or_default();
        self.held = Code { bits: u64::from(byte) & ((1 << length) - 1), length };
    }
}

/// Room that a text of this length needs.
///
/// Five bits a character at most, headers, trailer and the slack of the last window.
pub fn room(text_length: usize) -> usize {
    text_length * 5 / 8 + TABLES.head.len() + WINDOW + 8
}

/// Room for one line, so that its pieces need no check of their own.
struct Window<'a> {
    room: &'a mut [u8; WINDOW],
    begin: usize,
    at: usize,
    held: Code,
}

impl Window<'_> {
    /// Adds up to 56 bits.
    #[inline(always)]
    fn push(&mut self, code: Code) {
        let all = self.held.then(code);
        let at = self.at % (WINDOW / 2);
        self.room[at..at + 8].copy_from_slice(&all.bits.to_le_bytes());
        self.at += (all.length >> 3) as usize;
        self.held = Code { bits: all.bits >> (all.length & 56), length: all.length & 7 };
    }

    #[inline(always)]
    fn end(self) -> (usize, Code) {
        (self.begin + self.at, self.held)
    }
}

/// Compresses the text of a bucket and of the padding that follows it.
///
/// `text` is what both render to, without a separator after the last line; `padding` are the
/// random bytes of the padding lines. Returns the length of the answer at the front of `out`,
/// which must be as long as [`room`] says.
///
/// # Errors
/// [`BucketError::Count`].
pub fn encode(
    bucket: &Bucket<'_>,
    padding: &[u8],
    text: &[u8],
    out: &mut [u8],
) -> Result<usize, BucketError> {
    let tables: &Tables = &TABLES;
    out[..tables.head.len()].copy_from_slice(&tables.head);
    let mut bits = Bits { out, at: tables.head.len(), held: tables.head_rest };
    gzip_simd::lines(bucket, padding, &mut bits)?;
    if !text.is_empty() {
        bits.take_back(SEPARATOR_BITS);
    }
    bits.push(tables.end);
    let end = bits.at + usize::from(bits.held.length > 0);
    let mut trailer = [0; 8];
    trailer[..4].copy_from_slice(&crc32fast::hash(text).to_le_bytes());
    trailer[4..].copy_from_slice(&(text.len() as u32).to_le_bytes());
    out[end..end + 8].copy_from_slice(&trailer);
    Ok(end + 8)
}

/// The portable encoder of lines, and the twin that others are compared with.
///
/// # Errors
/// [`BucketError::Count`].
pub(super) fn portable(
    bucket: &Bucket<'_>,
    padding: &[u8],
    bits: &mut Bits<'_>,
) -> Result<(), BucketError> {
    let tables: &Tables = &TABLES;
    by_kind(bucket, padding, bits, |bytes| {
        std::array::from_fn(|word| {
            let code = |at: usize| tables.byte(bytes[4 * word + at]);
            code(0).then(code(1)).then(code(2).then(code(3)))
        })
    })
}

/// Encodes lines with the given way to turn 16 bytes into four codes of eight digits each.
#[inline(always)]
pub(super) fn by_kind(
    bucket: &Bucket<'_>,
    padding: &[u8],
    bits: &mut Bits<'_>,
    words: impl Fn(&[u8; 16]) -> [Code; 4] + Copy,
) -> Result<(), BucketError> {
    match bucket.kind() {
        Kind::Sha1 => lines::<17>(bucket, padding, bits, words),
        Kind::Ntlm => lines::<13>(bucket, padding, bits, words),
    }
}

#[inline(always)]
fn lines<const TAIL: usize>(
    bucket: &Bucket<'_>,
    padding: &[u8],
    bits: &mut Bits<'_>,
    words: impl Fn(&[u8; 16]) -> [Code; 4] + Copy,
) -> Result<(), BucketError> {
    let tables: &Tables = &TABLES;
    let mut counts = bucket.counts();
    for (digit, group) in bucket.groups().enumerate() {
        for tail in group.as_chunks::<TAIL>().0 {
            let ending = tables.ending(counts.next_count()?);
            line(tables, digit as u8, tail, ending, bits, words);
        }
    }
    for filler in padding.chunks_exact(TAIL + 1) {
        if let Some(tail) = filler[1..].first_chunk::<TAIL>() {
            line(tables, filler[0], tail, tables.ending(0), bits, words);
        }
    }
    Ok(())
}

/// A line is its first digit, words of four bytes, one byte, and the ending.
#[inline(always)]
fn line<const TAIL: usize>(
    tables: &Tables,
    digit: u8,
    tail: &[u8; TAIL],
    ending: Code,
    bits: &mut Bits<'_>,
    words: impl Fn(&[u8; 16]) -> [Code; 4],
) {
    let mut sixteen = [0; 16];
    let fits = TAIL.min(16);
    sixteen[..fits].copy_from_slice(&tail[..fits]);
    let words = words(&sixteen);
    let last = tables.byte(tail[TAIL - 1]);
    let Some(mut window) = bits.window() else { return };
    window.push(tables.digits[usize::from(digit & 15)].then(words[0]));
    for word in &words[1..TAIL / 4] {
        window.push(*word);
    }
    if last.length + ending.length <= 56 {
        window.push(last.then(ending));
    } else {
        window.push(last);
        window.push(ending);
    }
    (bits.at, bits.held) = window.end();
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::model::bucket::{self, tests::some_entries};
    use crate::model::{Entry, render};
    use proptest::prelude::*;

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(packed);
        decoder.read_to_end(&mut text).unwrap();
        text
    }

    fn assert_unpacks(kind: Kind, entries: &[Entry], padding_lines: usize) {
        let mut bytes = Vec::new();
        assert!(bucket::encode(kind, entries, &mut bytes));
        let parsed = Bucket::parse(kind, &bytes).unwrap();
        let padding: Vec<u8> = (0..padding_lines * (kind.tail_bytes() + 1))
            .map(|at| ((at * 7919) >> 3) as u8)
            .collect();
        let mut text = vec![0; render::room(&parsed, padding_lines)];
        let mut length = render::bucket(&parsed, &mut text).unwrap();
        length += render::padding(kind, &padding, &mut text[length..]);
        let text = &text[..render::without_last_separator(length)];
        let mut packed = vec![0xEE; room(text.len())];
        let length = encode(&parsed, &padding, text, &mut packed).unwrap();
        assert_eq!(unpacked(&packed[..length]), text);
    }

    proptest! {
        #[test]
        fn random_buckets_unpack_to_their_text(
            sha1 in some_entries(Kind::Sha1, 200),
            ntlm in some_entries(Kind::Ntlm, 200),
            padding in 0..3usize,
        ) {
            assert_unpacks(Kind::Sha1, &sha1, padding);
            assert_unpacks(Kind::Ntlm, &ntlm, padding);
        }
    }

    #[test]
    fn empty_small_huge_and_padded_answers_unpack() {
        let full: Vec<Entry> = (0..65_535u32)
            .map(|at| {
                let mut hash = [0xCD; 20];
                hash[2..4].copy_from_slice(&(at as u16).to_be_bytes());
                hash[4..6].copy_from_slice(&(at.wrapping_mul(40_503) as u16).to_be_bytes());
                hash[2] &= 0x0F;
                hash[16..].fill(0);
                Entry { hash, count: 1 + at * 32_768 }
            })
            .collect();
        let mut full = full;
        crate::model::entry::sort_and_add_up(&mut full);
        for kind in Kind::ALL {
            for (entries, padding) in
                [(&full[..0], 0), (&full[..0], 900), (&full[..1], 0), (&full[..], 0), (&full, 200)]
            {
                assert_unpacks(kind, entries, padding);
            }
        }
    }

    #[test]
    fn the_code_is_complete() {
        let sum: u32 = symbol_lengths().iter().filter(|l| **l > 0).map(|l| 32u32 >> l).sum();
        assert_eq!(sum, 32);
    }
}
