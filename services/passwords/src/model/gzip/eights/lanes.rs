//! 512-bit registers as eight 64-bit lanes.
//!
//! We need `unsafe` for unaligned loads and stores of fixed-size arrays.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_add_epi64, _mm512_broadcast_i32x4, _mm512_loadu_si512,
    _mm512_or_si512, _mm512_setzero_si512, _mm512_sllv_epi64, _mm512_storeu_si512,
};

/// How many lines we encode at once, one per lane.
pub const LINES: usize = 8;

/// The codes in the lanes, with their lengths.
#[derive(Clone, Copy)]
pub struct Lanes {
    pub bits: __m512i,
    pub lengths: __m512i,
}

impl Lanes {
    /// Appends the codes in `next`. A lane must not exceed 64 bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    pub fn then(self, next: Self) -> Self {
        Self {
            bits: _mm512_or_si512(self.bits, _mm512_sllv_epi64(next.bits, self.lengths)),
            lengths: _mm512_add_epi64(self.lengths, next.lengths),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn four_times(table: [u8; 16]) -> __m512i {
    // SAFETY: the array has the 16 bytes that are read, and the load doesn't need alignment.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

/// Loads the first 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn load_front(bytes: &[u8]) -> __m512i {
    bytes.first_chunk().map_or(_mm512_setzero_si512(), |bytes| load(bytes))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read, and the load doesn't need alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn load_words(words: &[u64; LINES]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read, and the load doesn't need alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub fn words(value: __m512i) -> [u64; LINES] {
    let mut words = [0; LINES];
    // SAFETY: the array has the 64 bytes that are written, and the store doesn't need alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) };
    words
}
