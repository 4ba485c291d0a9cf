//! Renderers for processors with SSSE3 and AVX2, selected at run time.
//!
//! We need `unsafe` to call functions that require a processor feature (which we always check
//! first), and for unaligned loads and stores of fixed-size arrays.
//!
//! There is no AVX-512 renderer. We tried one on Zen 5, and it wasn't faster than AVX2 (see
//! docs/decisions/0300).
#![allow(unsafe_code)]

use super::lines;
use crate::model::bucket::{Bucket, BucketError};
use crate::model::kind::Kind;

/// Writes the lines of a bucket with the fastest renderer that this processor supports.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub fn bucket(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: we have just checked for AVX2, the only feature that the function requires.
            return unsafe { x86::bucket_avx2(bucket, out) };
        }
        if std::arch::is_x86_feature_detected!("ssse3") {
            // SAFETY: we have just checked for SSSE3, the only feature that the function requires.
            return unsafe { x86::bucket_ssse3(bucket, out) };
        }
    }
    lines::portable(bucket, out)
}

/// Writes padding lines with the fastest renderer that this processor supports.
pub fn padding(kind: Kind, random: &[u8], out: &mut [u8]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: we have just checked for AVX2, the only feature that the function requires.
        return unsafe { x86::padding_avx2(kind, random, out) };
    }
    lines::padding_by_kind(kind, random, out, lines::portable_hex)
}

#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_and_si128, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8,
        _mm_srli_epi16, _mm_storeu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_cvtepu8_epi16, _mm256_or_si256, _mm256_set1_epi8,
        _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_storeu_si256,
    };

    use super::{Bucket, BucketError, Kind, lines};

    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

    #[target_feature(enable = "avx2")]
    pub fn bucket_avx2(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
        lines::by_kind(bucket, out, |bytes, digits| hex_avx2(bytes, digits))
    }

    #[target_feature(enable = "avx2")]
    pub fn padding_avx2(kind: Kind, random: &[u8], out: &mut [u8]) -> usize {
        lines::padding_by_kind(kind, random, out, |bytes, digits| hex_avx2(bytes, digits))
    }

    #[target_feature(enable = "ssse3")]
    pub fn bucket_ssse3(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
        lines::by_kind(bucket, out, |bytes, digits| hex_ssse3(bytes, digits))
    }

    /// Expands each byte to a 16-bit word, upper nibble first, so that all 32 digits are in order.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn hex_avx2(bytes: &[u8; 16], digits: &mut [u8; 32]) {
        let alphabet = _mm256_broadcastsi128_si256(load(DIGITS));
        let words = _mm256_cvtepu8_epi16(load(bytes));
        let both = _mm256_or_si256(_mm256_slli_epi16::<8>(words), _mm256_srli_epi16::<4>(words));
        let nibbles = _mm256_and_si256(both, _mm256_set1_epi8(0x0F));
        store_32(digits, _mm256_shuffle_epi8(alphabet, nibbles));
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn hex_ssse3(bytes: &[u8; 16], digits: &mut [u8; 32]) {
        let alphabet = load(DIGITS);
        let low = _mm_set1_epi8(0x0F);
        let bytes = load(bytes);
        let first = _mm_shuffle_epi8(alphabet, _mm_and_si128(_mm_srli_epi16::<4>(bytes), low));
        let second = _mm_shuffle_epi8(alphabet, _mm_and_si128(bytes, low));
        let (front, back) = digits.split_at_mut(16);
        store(front, _mm_unpacklo_epi8(first, second));
        store(back, _mm_unpackhi_epi8(first, second));
    }

    #[inline]
    fn load(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: the array has the 16 bytes that are read, the load doesn't need alignment, and
        // every x86_64 processor has SSE2.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline]
    fn store(half: &mut [u8], value: __m128i) {
        if let Some(half) = half.first_chunk_mut::<16>() {
            // SAFETY: the array has the 16 bytes that are written, and the store doesn't need
            // alignment.
            unsafe { _mm_storeu_si128(half.as_mut_ptr().cast(), value) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store_32(digits: &mut [u8; 32], value: __m256i) {
        // SAFETY: the array has the 32 bytes that are written, and the store doesn't need
        // alignment.
        unsafe { _mm256_storeu_si256(digits.as_mut_ptr().cast(), value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Entry;
    use crate::model::bucket::{
        encode,
        tests::{as_many_as_fit, some_entries},
    };
    use crate::model::render::room;
    use proptest::prelude::*;

    fn assert_agrees_with_portable(kind: Kind, entries: &[Entry]) {
        let mut bytes = Vec::new();
        assert!(encode(kind, entries, &mut bytes));
        let parsed = Bucket::parse(kind, &bytes).unwrap();
        let room = room(&parsed, 0);
        let mut portable = vec![0; room];
        let length = lines::portable(&parsed, &mut portable).unwrap();
        for renderer in renderers() {
            let mut fast = vec![0; room];
            assert_eq!(renderer(&parsed, &mut fast), Ok(length));
            assert_eq!(fast[..length], portable[..length]);
        }
    }

    type Renderer = fn(&Bucket<'_>, &mut [u8]) -> Result<usize, BucketError>;

    /// Returns the selected renderer and all renderers that this processor supports.
    fn renderers() -> Vec<Renderer> {
        #[cfg_attr(feature = "portable", allow(unused_mut))]
        let mut all: Vec<Renderer> = vec![bucket];
        #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
        if std::arch::is_x86_feature_detected!("ssse3") {
            // SAFETY: we have just checked for SSSE3, the only feature that the function requires.
            all.push(|bucket, out| unsafe { x86::bucket_ssse3(bucket, out) });
        }
        all
    }

    proptest! {
        #[test]
        fn random_buckets_render_like_the_portable_renderer(
            sha1 in some_entries(Kind::Sha1, 200),
            ntlm in some_entries(Kind::Ntlm, 200),
        ) {
            assert_agrees_with_portable(Kind::Sha1, &sha1);
            assert_agrees_with_portable(Kind::Ntlm, &ntlm);
        }
    }

    #[test]
    fn padding_renders_like_the_portable_renderer() {
        let random: Vec<u8> = (0..18 * 40).map(|at| ((at * 37) >> 2) as u8).collect();
        for kind in Kind::ALL {
            let (mut fast, mut portable) = (vec![0; 4000], vec![0; 4000]);
            let length = padding(kind, &random, &mut fast);
            let expected =
                lines::padding_by_kind(kind, &random, &mut portable, lines::portable_hex);
            assert_eq!((length, &fast), (expected, &portable));
        }
    }

    #[test]
    fn extreme_buckets_render_like_the_portable_renderer() {
        let full = as_many_as_fit();
        for entries in [&full[..0], &full[..1], &full[65_534..], &full] {
            assert_agrees_with_portable(Kind::Sha1, entries);
            assert_agrees_with_portable(Kind::Ntlm, entries);
        }
    }
}
