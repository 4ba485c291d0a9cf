//! Writes eight encoded lines one after another.
//!
//! We need `unsafe` for unaligned stores of fixed-size arrays.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm256_storeu_si256, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_castsi512_si256, _mm512_cmpge_epu64_mask, _mm512_cmplt_epu64_mask,
    _mm512_extracti64x4_epi64, _mm512_mask_blend_epi64, _mm512_or_si512, _mm512_permutex2var_epi64,
    _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shldv_epi64,
    _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_sub_epi64, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi64,
};

use super::lanes::{LINES, words};

/// Buffer size for eight lines. A line has up to 229 bits, and each store writes 32 bytes.
pub const ROOM: usize = 256 + 32;

/// Eight lines of up to 229 bits. All first words come first, then all second words, and so on.
pub struct Eight {
    pub words: [__m512i; 4],
    pub lengths: __m512i,
}

impl Eight {
    /// Writes the lines after the `held` bits of an incomplete byte in lane 7 of `carried`. Returns
    /// the new incomplete byte in the same lane, and the number of bits including `held`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    pub fn write(self, room: &mut [u8; ROOM], carried: __m512i, held: u32) -> (__m512i, usize) {
        let Self { words: [a, b, c, d], lengths } = self;
        let zero = _mm512_setzero_si512();
        let ends = _mm512_add_epi64(lengths, _mm512_alignr_epi64::<7>(lengths, zero));
        let ends = _mm512_add_epi64(ends, _mm512_alignr_epi64::<6>(ends, zero));
        let ends = _mm512_add_epi64(ends, _mm512_alignr_epi64::<4>(ends, zero));
        let ends = _mm512_add_epi64(ends, _mm512_set1_epi64(i64::from(held)));
        let begins = _mm512_sub_epi64(ends, lengths);
        let shifts = _mm512_and_si512(begins, _mm512_set1_epi64(7));
        let d = _mm512_shldv_epi64(d, c, shifts);
        let c = _mm512_shldv_epi64(c, b, shifts);
        let b = _mm512_shldv_epi64(b, a, shifts);
        let a = _mm512_sllv_epi64(a, shifts);

        // The next line starts in each line's last, partial byte.
        let used = _mm512_add_epi64(lengths, shifts);
        let in_second = _mm512_cmplt_epu64_mask(used, _mm512_set1_epi64(128));
        let in_fourth = _mm512_cmpge_epu64_mask(used, _mm512_set1_epi64(192));
        let last = _mm512_mask_blend_epi64(in_second, c, b);
        let last = _mm512_mask_blend_epi64(in_fourth, last, d);
        let rest = _mm512_srlv_epi64(last, _mm512_and_si512(used, _mm512_set1_epi64(56)));
        let a = _mm512_or_si512(a, _mm512_alignr_epi64::<7>(rest, carried));

        let (even_ab, even_cd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
        let (odd_ab, odd_cd) = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
        let front = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
        let back = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
        let lines_0_2 = _mm512_permutex2var_epi64(even_ab, front, even_cd);
        let lines_1_3 = _mm512_permutex2var_epi64(odd_ab, front, odd_cd);
        let lines_4_6 = _mm512_permutex2var_epi64(even_ab, back, even_cd);
        let lines_5_7 = _mm512_permutex2var_epi64(odd_ab, back, odd_cd);
        let rows = [
            _mm512_castsi512_si256(lines_0_2),
            _mm512_castsi512_si256(lines_1_3),
            _mm512_extracti64x4_epi64::<1>(lines_0_2),
            _mm512_extracti64x4_epi64::<1>(lines_1_3),
            _mm512_castsi512_si256(lines_4_6),
            _mm512_castsi512_si256(lines_5_7),
            _mm512_extracti64x4_epi64::<1>(lines_4_6),
            _mm512_extracti64x4_epi64::<1>(lines_5_7),
        ];
        for (row, begin) in rows.into_iter().zip(words(begins)) {
            let at = begin as usize / 8 % 256;
            if let Some(place) = room[at..].first_chunk_mut::<32>() {
                // SAFETY: the array has the 32 bytes that are written, and the store doesn't need
                // alignment.
                unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), row) };
            }
        }
        (rest, words(ends)[LINES - 1] as usize)
    }
}
