//! The renderer for processors with SSSE3, chosen at run time.
//!
//! Unsafe code is for calls of functions that need a
//! processor feature, each behind the test for that feature, and unaligned loads and stores of
//! arrays whose length is part of their type.
#![allow(unsafe_code)]

use super::lines;
use crate::model::bucket::{Bucket, BucketError};

/// Writes the lines of a bucket in the fastest way that this processor has.
///
/// # Errors
/// [`BucketError::Count`].
pub fn bucket(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("ssse3") {
        // SAFETY: the processor has SSSE3, which is all that the function asks for.
        return unsafe { x86::bucket(bucket, out) };
    }
    lines::portable(bucket, out)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8, _mm_srli_epi16,
        _mm_storeu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8,
    };

    use super::{Bucket, BucketError, lines};

    #[target_feature(enable = "ssse3")]
    pub fn bucket(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
        lines::by_kind(bucket, out, |bytes, digits| hex(bytes, digits))
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn hex(bytes: &[u8; 16], digits: &mut [u8; 32]) {
        let alphabet = load(b"0123456789ABCDEF");
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
        // SAFETY: the array has the 16 bytes that are read; the load needs no alignment, and
        // SSE2 is part of every x86_64 processor.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline]
    fn store(half: &mut [u8], value: __m128i) {
        if let Some(half) = half.first_chunk_mut::<16>() {
            // SAFETY: the array has the 16 bytes that are written; the store needs no alignment.
            unsafe { _mm_storeu_si128(half.as_mut_ptr().cast(), value) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bucket::{
        encode,
        tests::{as_many_as_fit, some_entries},
    };
    use crate::model::render::room;
    use crate::model::{Entry, Kind};
    use proptest::prelude::*;

    fn assert_agrees_with_portable(kind: Kind, entries: &[Entry]) {
        let mut bytes = Vec::new();
        assert!(encode(kind, entries, &mut bytes));
        let parsed = Bucket::parse(kind, &bytes).unwrap();
        let room = room(&parsed, 0);
        let (mut fast, mut portable) = (vec![0; room], vec![0; room]);
        let lengths =
            (bucket(&parsed, &mut fast).unwrap(), lines::portable(&parsed, &mut portable).unwrap());
        assert_eq!(lengths.0, lengths.1);
        assert_eq!(fast[..lengths.0], portable[..lengths.1]);
    }

    proptest! {
        #[test]
        fn random_buckets_render_alike(
            sha1 in some_entries(Kind::Sha1, 200),
            ntlm in some_entries(Kind::Ntlm, 200),
        ) {
            assert_agrees_with_portable(Kind::Sha1, &sha1);
            assert_agrees_with_portable(Kind::Ntlm, &ntlm);
        }
    }

    #[test]
    fn extreme_buckets_render_alike() {
        let full = as_many_as_fit();
        for entries in [&full[..0], &full[..1], &full[65_534..], &full] {
            assert_agrees_with_portable(Kind::Sha1, entries);
            assert_agrees_with_portable(Kind::Ntlm, entries);
        }
    }
}
