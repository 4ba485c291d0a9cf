//! Renders lines through a fixed-size window, generic over the hex conversion.

use crate::model::bucket::{Bucket, BucketError};
use crate::model::kind::Kind;
use crate::model::prefetch;

/// Length of the window for one line, large enough to write the line without bounds checks.
pub(super) const WINDOW: usize = 64;
/// Counts below this number have precomputed endings.
const SHORT_COUNTS: usize = 1000;

/// The uppercase hex digits of each byte.
static HEX_PAIRS: [[u8; 2]; 256] = hex_pairs();
/// Line endings: colon, count, CR and LF in the lower bytes, and their length in the highest byte.
static SHORT_ENDINGS: [u64; SHORT_COUNTS] = short_endings();

const fn short_endings() -> [u64; SHORT_COUNTS] {
    let mut endings = [0; SHORT_COUNTS];
    let mut count = 0;
    while count < SHORT_COUNTS {
        let (mut text, mut length, mut rest) = (0x0A0D, 2, count);
        loop {
            text = text << 8 | (b'0' + (rest % 10) as u8) as u64;
            length += 1;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        endings[count] = text << 8 | b':' as u64 | (length + 1) << 56;
        count += 1;
    }
    endings
}

const fn hex_pairs() -> [[u8; 2]; 256] {
    let digits = b"0123456789ABCDEF";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
}

/// The portable renderer, which serves as the reference for the others.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub(super) fn portable(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
    by_kind(bucket, out, portable_hex)
}

/// Renders a bucket using a function that converts 16 bytes to 32 digits.
#[inline(always)]
pub(super) fn by_kind(
    bucket: &Bucket<'_>,
    out: &mut [u8],
    hex: impl Fn(&[u8; 16], &mut [u8; 32]) + Copy,
) -> Result<usize, BucketError> {
    match bucket.kind() {
        Kind::Sha1 => lines::<17>(bucket, out, hex),
        Kind::Ntlm => lines::<13>(bucket, out, hex),
    }
}

#[inline(always)]
fn lines<const TAIL: usize>(
    bucket: &Bucket<'_>,
    out: &mut [u8],
    hex: impl Fn(&[u8; 16], &mut [u8; 32]) + Copy,
) -> Result<usize, BucketError> {
    let mut counts = bucket.counts();
    let mut at = 0;
    for (digit, group) in bucket.groups().enumerate() {
        for tail in group.as_chunks::<TAIL>().0 {
            prefetch::behind(tail);
            let count = counts.next_count()?;
            let Some(window) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) else {
                return Ok(at);
            };
            at += write_line(digit as u8, tail, count, window, hex);
        }
    }
    Ok(at)
}

/// Renders padding using a function that converts 16 bytes to 32 digits.
#[inline(always)]
pub(super) fn padding_by_kind(
    kind: Kind,
    random: &[u8],
    out: &mut [u8],
    hex: impl Fn(&[u8; 16], &mut [u8; 32]) + Copy,
) -> usize {
    match kind {
        Kind::Sha1 => padding_lines::<17>(random, out, hex),
        Kind::Ntlm => padding_lines::<13>(random, out, hex),
    }
}

#[inline(always)]
fn padding_lines<const TAIL: usize>(
    random: &[u8],
    out: &mut [u8],
    hex: impl Fn(&[u8; 16], &mut [u8; 32]) + Copy,
) -> usize {
    let mut at = 0;
    for line in random.chunks_exact(TAIL + 1) {
        let Some((digit, tail)) = line.split_first() else { break };
        let (Some(tail), Some(window)) =
            (tail.first_chunk::<TAIL>(), out.get_mut(at..).and_then(<[u8]>::first_chunk_mut))
        else {
            break;
        };
        at += write_line(digit & 15, tail, 0, window, hex);
    }
    at
}

/// Writes a line to the start of the window and returns its length.
#[inline(always)]
pub(super) fn write_line<const TAIL: usize>(
    digit: u8,
    tail: &[u8; TAIL],
    count: u32,
    window: &mut [u8; WINDOW],
    hex: impl Fn(&[u8; 16], &mut [u8; 32]),
) -> usize {
    let mut sixteen = [0; 16];
    let fits = TAIL.min(16);
    sixteen[..fits].copy_from_slice(&tail[..fits]);
    let mut digits = [0; 32];
    hex(&sixteen, &mut digits);
    window[0] = HEX_PAIRS[usize::from(digit & 15)][1];
    window[1..33].copy_from_slice(&digits);
    if TAIL > 16 {
        window[33..35].copy_from_slice(&HEX_PAIRS[usize::from(tail[TAIL - 1])]);
    }
    let suffix = 1 + 2 * TAIL;
    match SHORT_ENDINGS.get(count as usize) {
        Some(ending) => {
            window[suffix..suffix + 8].copy_from_slice(&ending.to_le_bytes());
            suffix + (ending >> 56) as usize
        }
        None => suffix + write_long_ending(count, &mut window[suffix..]),
    }
}

/// Writes a colon, the count, CR and LF. Returns the length, at most 13.
#[cold]
fn write_long_ending(count: u32, out: &mut [u8]) -> usize {
    let digits = count.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut rest = count;
    out[0] = b':';
    for place in out[1..=digits].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out[digits + 1..digits + 3].copy_from_slice(b"\r\n");
    digits + 3
}

/// Converts 16 bytes to 32 uppercase digits, four bytes at a time in a 64-bit word.
#[inline(always)]
pub(super) fn portable_hex(bytes: &[u8; 16], digits: &mut [u8; 32]) {
    for (four, eight) in bytes.as_chunks::<4>().0.iter().zip(digits.as_chunks_mut::<8>().0) {
        *eight = spread(u32::from_le_bytes(*four)).to_le_bytes();
    }
}

/// Converts four bytes to eight digits, by spreading the nibbles to bytes and mapping these to
/// characters.
#[inline(always)]
fn spread(four: u32) -> u64 {
    let x = u64::from(four);
    let x = (x | x << 16) & 0x0000_FFFF_0000_FFFF;
    let x = (x | x << 8) & 0x00FF_00FF_00FF_00FF;
    let nibbles = (x >> 4 | x << 8) & 0x0F0F_0F0F_0F0F_0F0F;
    // Adding 6 carries into bit 4 if and only if the nibble is above 9.
    let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    nibbles + 0x3030_3030_3030_3030 + letters * 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_spread_to_eight_digits() {
        for four in [0u32, 0xFFFF_FFFF, 0x1234_5678, 0x9ABC_DEF0, 0xA09F_0FA9] {
            let expected: String = four.to_le_bytes().iter().map(|b| format!("{b:02X}")).collect();
            assert_eq!(spread(four).to_le_bytes(), expected.as_bytes());
        }
    }

    #[test]
    fn a_line_ends_with_the_count_and_the_separator() {
        for count in (0..2000).chain([1_234_567, i32::MAX as u32]) {
            let mut window = [0; WINDOW];
            let length = write_line(0xA, &[0xBC; 17], count, &mut window, portable_hex);
            let line = format!("A{}:{count}\r\n", "BC".repeat(17));
            assert_eq!(&window[..length], line.as_bytes());
        }
    }
}
