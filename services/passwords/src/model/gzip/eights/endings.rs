//! Encodes the endings (colon, count, CR and LF) of eight lines.
//!
//! We need `unsafe` for an unaligned load of a fixed-size array, and for a gather from a table
//! after checking the indices against its length.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm_loadu_si128, _mm_maskz_compress_epi8, _mm_movepi8_mask, _mm_slli_si128, _mm256_and_si256,
    _mm256_cmpge_epu32_mask, _mm256_cvtepu8_epi32, _mm256_i32gather_epi32, _mm256_mask_or_epi32,
    _mm256_set1_epi32, _mm256_slli_epi32, _mm256_test_epi32_mask, _mm256_testn_epi32_mask,
    _mm512_and_si512, _mm512_cvtepu32_epi64, _mm512_set1_epi64, _mm512_srli_epi64, _pdep_u32,
};

use super::lanes::{LINES, Lanes, load_words};
use crate::model::bucket::Counts;
use crate::model::gzip::tables::{COUNT_BITS, Tables};

/// Maximum length of an ending in bits. A longer one would exceed 64 bits together with the two
/// preceding digits.
const LONGEST: u32 = 54;

/// Returns the endings of the next eight lines, or `None` if a count is invalid or an ending is too
/// long.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn endings(tables: &Tables, counts: &mut Counts<'_>) -> Option<Lanes> {
    short_endings(tables, counts).or_else(|| long_endings(tables, counts))
}

/// Returns the endings if all counts are one or two bytes long and in the table.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
fn short_endings(tables: &Tables, counts: &mut Counts<'_>) -> Option<Lanes> {
    let bytes = counts.bytes().first_chunk::<16>()?;
    // SAFETY: the array has the 16 bytes that are read, and the load doesn't need alignment.
    let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    // After a byte above 127, the count continues in the next byte.
    let followed = u32::from(_mm_movepi8_mask(bytes));
    let last = !followed & 0xFFFF;
    let eighth = _pdep_u32(1 << (LINES - 1), last);
    let taken = eighth ^ eighth.wrapping_sub(1);
    if eighth == 0 || followed & followed << 1 & taken != 0 {
        return None;
    }
    let before = _mm_maskz_compress_epi8(last as u16, _mm_slli_si128::<1>(bytes));
    let before = _mm256_cvtepu8_epi32(before);
    let last = _mm256_cvtepu8_epi32(_mm_maskz_compress_epi8(last as u16, bytes));
    let of_two = _mm256_test_epi32_mask(before, _mm256_set1_epi32(0x80));
    let low = _mm256_and_si256(before, _mm256_set1_epi32(0x7F));
    let count = _mm256_mask_or_epi32(last, of_two, low, _mm256_slli_epi32::<7>(last));
    let above = _mm256_cmpge_epu32_mask(count, _mm256_set1_epi32(tables.endings.len() as i32));
    // A valid count doesn't end with a 0 byte.
    if above | _mm256_testn_epi32_mask(last, last) != 0 {
        return None;
    }
    counts.skip(taken.count_ones() as usize);
    // SAFETY: we have just checked that all indices are below the table's length.
    let packed = unsafe { _mm256_i32gather_epi32::<4>(tables.endings.as_ptr().cast(), count) };
    let packed = _mm512_cvtepu32_epi64(packed);
    Some(Lanes {
        bits: _mm512_and_si512(packed, _mm512_set1_epi64((1 << COUNT_BITS) - 1)),
        lengths: _mm512_srli_epi64::<COUNT_BITS>(packed),
    })
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
fn long_endings(tables: &Tables, counts: &mut Counts<'_>) -> Option<Lanes> {
    let mut ahead = *counts;
    let (mut bits, mut lengths) = ([0; LINES], [0; LINES]);
    for (bits, length) in bits.iter_mut().zip(&mut lengths) {
        let ending = tables.ending(ahead.next_count().ok()?);
        if ending.length > LONGEST {
            return None;
        }
        (*bits, *length) = (ending.bits, u64::from(ending.length));
    }
    *counts = ahead;
    Some(Lanes { bits: load_words(&bits), lengths: load_words(&lengths) })
}
