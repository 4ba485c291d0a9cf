//! Encodes lines, generic over the conversion of digits to codes.

use super::bits::Bits;
use super::code::Code;
use super::tables::{TABLES, Tables};
use crate::model::bucket::{Bucket, BucketError, Counts};
use crate::model::kind::Kind;
use crate::model::prefetch;

/// The lines and the padding of a bucket that have yet to be encoded.
pub struct Lines<'a> {
    pub bucket: &'a Bucket<'a>,
    pub padding: &'a [u8],
    /// Number of the bucket's lines that have been encoded.
    pub done: usize,
    /// The counts of the remaining lines.
    pub counts: Counts<'a>,
}

impl<'a> Lines<'a> {
    /// Starts with a whole bucket and its padding.
    pub fn of(bucket: &'a Bucket<'a>, padding: &'a [u8]) -> Self {
        Self { bucket, padding, done: 0, counts: bucket.counts() }
    }
}

/// The portable encoder, which serves as the reference for the others.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub fn portable(lines: Lines<'_>, bits: &mut Bits<'_>) -> Result<(), BucketError> {
    let tables: &Tables = &TABLES;
    by_kind(lines, bits, |bytes| {
        std::array::from_fn(|word| {
            let code = |at: usize| tables.byte(bytes[4 * word + at]);
            code(0).then(code(1)).then(code(2).then(code(3)))
        })
    })
}

/// Encodes lines, using a function that converts 16 bytes to four codes for eight digits each.
#[inline(always)]
pub fn by_kind(
    lines: Lines<'_>,
    bits: &mut Bits<'_>,
    words: impl Fn(&[u8; 16]) -> [Code; 4] + Copy,
) -> Result<(), BucketError> {
    match lines.bucket.kind() {
        Kind::Sha1 => encode::<17>(lines, bits, words),
        Kind::Ntlm => encode::<13>(lines, bits, words),
    }
}

#[inline(always)]
fn encode<const TAIL: usize>(
    lines: Lines<'_>,
    bits: &mut Bits<'_>,
    words: impl Fn(&[u8; 16]) -> [Code; 4] + Copy,
) -> Result<(), BucketError> {
    let tables: &Tables = &TABLES;
    let Lines { bucket, padding, mut done, mut counts } = lines;
    for (digit, group) in bucket.groups().enumerate() {
        let tails = group.as_chunks::<TAIL>().0;
        let (before, tails) = tails.split_at(done.min(tails.len()));
        done -= before.len();
        for tail in tails {
            prefetch::behind(tail);
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

/// Encodes a line, which consists of a first digit, several four-byte words, one byte, and the
/// ending.
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
