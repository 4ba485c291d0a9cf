//! Converts the digits of eight lines to codes.

use std::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm512_add_epi64, _mm512_cvtepu8_epi64, _mm512_madd_epi16,
    _mm512_maddubs_epi16, _mm512_mask_permutexvar_epi8, _mm512_maskz_mov_epi16,
    _mm512_maskz_mov_epi32, _mm512_maskz_permutexvar_epi8, _mm512_multishift_epi64_epi8,
    _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_set1_epi16, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shldv_epi64,
    _mm512_slli_epi32, _mm512_sllv_epi16, _mm512_sllv_epi64, _mm512_srli_epi64, _mm512_sub_epi64,
};

use super::lanes::{Lanes, four_times, load, load_front};
use super::rows::Eight;
use crate::model::gzip::tables::Tables;

/// Number of tail bytes to read for eight lines.
pub const READ: usize = 4 * 4 + 2 * 64;

/// Tables for converting digits to codes.
pub struct Codes {
    /// The code of each digit, repeated four times because lookups use six bits.
    codes: __m512i,
    lengths: __m512i,
    /// 2 to the power of each code's length.
    factors: __m512i,
    /// Selects each tail's first four bytes.
    fours: __m512i,
    /// Selects the digits of four bytes, most significant first.
    digits: __m512i,
    /// Like `digits`, but with every other digit replaced by the digit before it.
    before: __m512i,
}

impl Codes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    pub fn new<const TAIL: usize>(tables: &Tables) -> Self {
        Self {
            codes: four_times(tables.digits.map(|code| code.bits as u8)),
            lengths: four_times(tables.digits.map(|code| code.length as u8)),
            factors: four_times(tables.digits.map(|code| 1 << code.length)),
            fours: load(&const { fours(TAIL) }),
            digits: _mm512_set1_epi64(i64::from_le_bytes([4, 0, 12, 8, 20, 16, 28, 24])),
            before: _mm512_set1_epi64(i64::from_le_bytes([0, 4, 0, 12, 0, 20, 0, 28])),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    pub fn eight<const TAIL: usize>(
        &self,
        tails: &[u8; READ],
        firsts: u64,
        endings: Lanes,
    ) -> Eight {
        let zero = _mm512_setzero_si512();
        let sixty_four = _mm512_set1_epi64(64);
        let ending = self.two_digits(self.four_bytes(tails, TAIL / 4)).then(endings);

        // 36 to 45 bits, then 32 to 40 more, some of which go into the second word.
        let Lanes { bits: a, lengths: at } =
            self.one_digit(firsts).then(self.eight_digits(self.four_bytes(tails, 0)));
        let next = self.eight_digits(self.four_bytes(tails, 1));
        let a = _mm512_or_si512(a, _mm512_sllv_epi64(next.bits, at));
        let b = _mm512_shldv_epi64(zero, next.bits, at);
        let at = _mm512_sub_epi64(_mm512_add_epi64(at, next.lengths), sixty_four);
        // 4 to 21 bits, then 36 to 61.
        let Lanes { bits: b, lengths: at } =
            Lanes { bits: b, lengths: at }.then(self.eight_digits(self.four_bytes(tails, 2)));
        if TAIL < 16 {
            let b = _mm512_or_si512(b, _mm512_sllv_epi64(ending.bits, at));
            let c = _mm512_shldv_epi64(zero, ending.bits, at);
            let lengths = _mm512_add_epi64(_mm512_add_epi64(at, ending.lengths), sixty_four);
            return Eight { words: [a, b, c, zero], lengths };
        }
        let next = self.eight_digits(self.four_bytes(tails, 3));
        let b = _mm512_or_si512(b, _mm512_sllv_epi64(next.bits, at));
        let c = _mm512_shldv_epi64(zero, next.bits, at);
        let at = _mm512_sub_epi64(_mm512_add_epi64(at, next.lengths), sixty_four);
        let c = _mm512_or_si512(c, _mm512_sllv_epi64(ending.bits, at));
        let d = _mm512_shldv_epi64(zero, ending.bits, at);
        let before = _mm512_add_epi64(at, _mm512_set1_epi64(128));
        Eight { words: [a, b, c, d], lengths: _mm512_add_epi64(before, ending.lengths) }
    }

    /// Returns four bytes of each tail in the lower half of its lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    fn four_bytes(&self, tails: &[u8; READ], word: usize) -> __m512i {
        let (front, back) = tails[4 * word..].split_at(64);
        _mm512_permutex2var_epi8(load_front(front), self.fours, load_front(back))
    }

    /// Returns the code for the digit in each lane's first byte.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    fn one_digit(&self, digits: u64) -> Lanes {
        let digits = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(digits as i64));
        let first = 0x0101_0101_0101_0101;
        Lanes {
            bits: _mm512_maskz_permutexvar_epi8(first, digits, self.codes),
            lengths: _mm512_maskz_permutexvar_epi8(first, digits, self.lengths),
        }
    }

    /// Returns the codes for each byte's two digits, in 16 bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    fn pairs(&self, bytes: __m512i) -> Lanes {
        let digits = _mm512_multishift_epi64_epi8(self.digits, bytes);
        let before = _mm512_multishift_epi64_epi8(self.before, bytes);
        let codes = _mm512_permutexvar_epi8(digits, self.codes);
        let lengths = _mm512_permutexvar_epi8(digits, self.lengths);
        let one = _mm512_set1_epi8(1);
        let second = 0xAAAA_AAAA_AAAA_AAAA;
        let factors = _mm512_mask_permutexvar_epi8(one, second, before, self.factors);
        Lanes {
            bits: _mm512_maddubs_epi16(codes, factors),
            lengths: _mm512_maddubs_epi16(lengths, one),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    fn two_digits(&self, bytes: __m512i) -> Lanes {
        let Lanes { bits, lengths } = self.pairs(bytes);
        let first = 0x1111_1111;
        Lanes {
            bits: _mm512_maskz_mov_epi16(first, bits),
            lengths: _mm512_maskz_mov_epi16(first, lengths),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    fn eight_digits(&self, bytes: __m512i) -> Lanes {
        let Lanes { bits, lengths } = self.pairs(bytes);
        let one = _mm512_set1_epi16(1);
        // The factor for every second pair is 2 to the power of the first pair's length.
        let factors = _mm512_sllv_epi16(one, _mm512_slli_epi32::<16>(lengths));
        let bits = _mm512_madd_epi16(bits, factors);
        let lengths = _mm512_madd_epi16(lengths, one);
        let first = 0x5555;
        let front = Lanes {
            bits: _mm512_maskz_mov_epi32(first, bits),
            lengths: _mm512_maskz_mov_epi32(first, lengths),
        };
        front.then(Lanes {
            bits: _mm512_srli_epi64::<32>(bits),
            lengths: _mm512_srli_epi64::<32>(lengths),
        })
    }
}

/// Returns the positions of each tail's first four bytes, repeated in the lane's upper half.
const fn fours(tail: usize) -> [u8; 64] {
    let mut places = [0; 64];
    let mut at = 0;
    while at < places.len() {
        places[at] = (at / 8 * tail + at % 4) as u8;
        at += 1;
    }
    places
}
