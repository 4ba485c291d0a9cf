//! Encodes eight lines at once on processors with AVX-512.
//!
//! Each of a register's eight 64-bit lanes processes a line. We convert the digits to codes, pack
//! those into up to 256 bits across four registers, and shift them to the line's starting bit
//! offset. We then transpose columns to rows and write each line with a single store. Bytes written
//! past a line's end are overwritten by the next line.

mod codes;
mod endings;
mod lanes;
mod rows;

use std::arch::x86_64::_mm512_set1_epi64;
use std::sync::LazyLock;

use self::codes::{Codes, READ};
use self::endings::endings;
use self::lanes::{LINES, words};
use self::rows::ROOM;
use super::bits::Bits;
use super::lines::Lines;
use super::tables::{TABLES, Tables};
use crate::model::kind::Kind;
use crate::model::prefetch;

static IS_THERE: LazyLock<bool> = LazyLock::new(|| {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512vbmi")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
        && std::arch::is_x86_feature_detected!("bmi2")
});

/// Returns whether this processor supports everything that [`encode`] needs.
pub fn is_there() -> bool {
    *IS_THERE
}

/// Encodes lines in groups of eight. Stops before the last few lines, or earlier at a group in
/// which a count is invalid or exceeds 999,999,999.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn encode(lines: &mut Lines<'_>, bits: &mut Bits<'_>) {
    match lines.bucket.kind() {
        Kind::Sha1 => encode_tails::<17>(lines, bits),
        Kind::Ntlm => encode_tails::<13>(lines, bits),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
fn encode_tails<const TAIL: usize>(lines: &mut Lines<'_>, bits: &mut Bits<'_>) {
    let tables: &Tables = &TABLES;
    let codes = Codes::new::<TAIL>(tables);
    let mut digit = 0;
    // The bits of the last, incomplete byte are in the last lane.
    let mut carried = _mm512_set1_epi64(bits.held.bits as i64);
    while let Some(rest) = lines.bucket.tails().get(lines.done * TAIL..)
        && let Some(tails) = rest.first_chunk::<READ>()
        && let Some(room) = bits.out.get_mut(bits.at..).and_then(<[u8]>::first_chunk_mut::<ROOM>)
        && let Some(endings) = endings(tables, &mut lines.counts)
    {
        for ahead in [0, 64, 128] {
            prefetch::behind(&tails[ahead..]);
        }
        let firsts = first_digits(lines.bucket.ends(), lines.done, &mut digit);
        let eight = codes.eight::<TAIL>(tails, firsts, endings);
        let end;
        (carried, end) = eight.write(room, carried, bits.held.length);
        bits.at += end / 8;
        bits.held.length = end as u32 % 8;
        lines.done += LINES;
    }
    bits.held.bits = words(carried)[LINES - 1];
}

/// Returns the first digits of eight lines, one per byte. A bucket doesn't store them with the
/// tails, so they are derived from `ends`. `digit` is the first digit of some earlier line.
#[inline(always)]
fn first_digits(ends: &[u16; 16], line: usize, digit: &mut usize) -> u64 {
    let end = |digit: usize| usize::from(ends[digit % 16]);
    while *digit < 15 && end(*digit) <= line {
        *digit += 1;
    }
    if end(*digit) >= line + LINES {
        return *digit as u64 * 0x0101_0101_0101_0101;
    }
    let mut at = *digit;
    let digits = std::array::from_fn(|lane| {
        while at < 15 && end(at) <= line + lane {
            at += 1;
        }
        at as u8
    });
    u64::from_le_bytes(digits)
}
