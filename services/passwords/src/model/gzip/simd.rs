//! Which encoder of lines a processor gets, and that for processors with SSSE3 and BMI2.
//!
//! It takes eight digits at once: a shuffle looks up the code of each digit and the mask of its length, a
//! parallel bit extract (`PEXT`) closes the gaps between the codes.
//!
//! Unsafe code is for calls of functions that need a processor feature, each behind the test for
//! that feature, and for unaligned loads and stores of arrays whose length is part of their type.
#![allow(unsafe_code)]

use super::bits::Bits;
#[cfg(target_arch = "x86_64")]
use super::eights;
use super::lines::{self, Lines};
use crate::model::bucket::{Bucket, BucketError};

/// Encodes the lines of a bucket and of padding in the fastest way that this processor has.
///
/// # Errors
/// [`BucketError::Count`].
pub fn encode_lines(
    bucket: &Bucket<'_>,
    padding: &[u8],
    bits: &mut Bits<'_>,
) -> Result<(), BucketError> {
    let lines = Lines::of(bucket, padding);
    #[cfg(target_arch = "x86_64")]
    {
        let mut lines = lines;
        if eights::is_there() {
            // SAFETY: the processor has the features that the function asks for.
            unsafe { eights::encode(&mut lines, bits) };
        }
        if x86::is_fast() {
            // SAFETY: the processor has the three features that the function asks for.
            return unsafe { x86::encode_lines(lines, bits) };
        }
        lines::portable(lines, bits)
    }
    #[cfg(not(target_arch = "x86_64"))]
    lines::portable(lines, bits)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __cpuid, __m128i, _mm_and_si128, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8,
        _mm_srli_epi16, _mm_storeu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _pext_u64,
    };
    use std::sync::LazyLock;

    use super::{Bits, BucketError, Lines};
    use crate::model::gzip::code::Code;
    use crate::model::gzip::lines;
    use crate::model::gzip::tables::TABLES;

    /// AMD's family 19h (Zen 3) is the first whose `PEXT` is not a slow micro-program.
    const FAST_AMD_FAMILY: u32 = 0x19;
    static FAST: LazyLock<bool> = LazyLock::new(|| {
        std::arch::is_x86_feature_detected!("ssse3")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("popcnt")
            && !has_slow_extract()
    });

    pub fn is_fast() -> bool {
        *FAST
    }

    fn has_slow_extract() -> bool {
        let vendor = __cpuid(0);
        // The last four characters of "AuthenticAMD" and "HygonGenuine".
        let is_amd = matches!(&vendor.ecx.to_le_bytes(), b"cAMD" | b"uine");
        let signature = __cpuid(1).eax;
        let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
        is_amd && family < FAST_AMD_FAMILY
    }

    #[target_feature(enable = "ssse3,bmi2,popcnt")]
    pub fn encode_lines(lines: Lines<'_>, bits: &mut Bits<'_>) -> Result<(), BucketError> {
        let digits = &TABLES.digits;
        let codes = load(&std::array::from_fn(|digit| digits[digit].bits as u8));
        let masks = load(&std::array::from_fn(|digit| (1u8 << digits[digit].length) - 1));
        lines::by_kind(lines, bits, |bytes| words(codes, masks, bytes))
    }

    /// The codes of 16 bytes, eight digits in each.
    #[inline]
    #[target_feature(enable = "ssse3,bmi2,popcnt")]
    fn words(codes: __m128i, masks: __m128i, bytes: &[u8; 16]) -> [Code; 4] {
        let low = _mm_set1_epi8(0x0F);
        let bytes = load(bytes);
        let first = _mm_and_si128(_mm_srli_epi16::<4>(bytes), low);
        let second = _mm_and_si128(bytes, low);
        let front = _mm_unpacklo_epi8(first, second);
        let back = _mm_unpackhi_epi8(first, second);
        let [a, b] = halves(codes, masks, front);
        let [c, d] = halves(codes, masks, back);
        [a, b, c, d]
    }

    #[inline]
    #[target_feature(enable = "ssse3,bmi2,popcnt")]
    fn halves(codes: __m128i, masks: __m128i, digits: __m128i) -> [Code; 2] {
        let codes = store(_mm_shuffle_epi8(codes, digits));
        let masks = store(_mm_shuffle_epi8(masks, digits));
        [pressed(codes[0], masks[0]), pressed(codes[1], masks[1])]
    }

    /// The bits of `codes` that `masks` names, without the gaps between them.
    #[inline]
    #[target_feature(enable = "bmi2,popcnt")]
    fn pressed(codes: u64, masks: u64) -> Code {
        Code { bits: _pext_u64(codes, masks), length: masks.count_ones() }
    }

    #[inline]
    fn load(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: the array has the 16 bytes that are read; the load needs no alignment, and
        // SSE2 is part of every x86_64 processor.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline]
    fn store(value: __m128i) -> [u64; 2] {
        let mut words = [0; 2];
        // SAFETY: the array has the 16 bytes that are written; the store needs no alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), value) };
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bucket::{
        encode,
        tests::{as_many_as_fit, some_entries},
    };
    use crate::model::gzip::code::Code;
    use crate::model::{Entry, Kind};
    use proptest::prelude::*;

    type Encoder = fn(Lines<'_>, &mut Bits<'_>) -> Result<(), BucketError>;

    fn encoded(encoder: Encoder, bucket: &Bucket<'_>, padding: &[u8]) -> (Vec<u8>, Code) {
        let mut out = vec![0; bucket.text_bound() + padding.len() * 3 + 128];
        let mut bits = Bits { out: &mut out, at: 0, held: Code { bits: 5, length: 3 } };
        encoder(Lines::of(bucket, padding), &mut bits).unwrap();
        let (at, held) = (bits.at, bits.held);
        out.truncate(at);
        (out, held)
    }

    fn in_eights(mut lines: Lines<'_>, bits: &mut Bits<'_>) -> Result<(), BucketError> {
        #[cfg(target_arch = "x86_64")]
        if eights::is_there() {
            let all = lines.bucket.len();
            // SAFETY: the processor has the features that the function asks for.
            unsafe { eights::encode(&mut lines, bits) };
            let counts = lines.bucket.counts().bytes().len();
            // One byte a count: then only the end is left.
            assert!(counts > all || lines.done + 24 >= all, "{} of {all}", lines.done);
        }
        lines::portable(lines, bits)
    }

    fn by_extract(lines: Lines<'_>, bits: &mut Bits<'_>) -> Result<(), BucketError> {
        #[cfg(target_arch = "x86_64")]
        if x86::is_fast() {
            // SAFETY: the processor has the three features that the function asks for.
            return unsafe { x86::encode_lines(lines, bits) };
        }
        lines::portable(lines, bits)
    }

    fn assert_agree_with_portable(kind: Kind, entries: &[Entry], padding: &[u8]) {
        let mut bytes = Vec::new();
        assert!(encode(kind, entries, &mut bytes));
        let bucket = Bucket::parse(kind, &bytes).unwrap();
        let portable = encoded(lines::portable, &bucket, padding);
        assert_eq!(encoded(in_eights, &bucket, padding), portable);
        assert_eq!(encoded(by_extract, &bucket, padding), portable);
    }

    proptest! {
        #[test]
        fn random_buckets_are_encoded_alike(
            sha1 in some_entries(Kind::Sha1, 200),
            ntlm in some_entries(Kind::Ntlm, 200),
            padding in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            assert_agree_with_portable(Kind::Sha1, &sha1, &padding);
            assert_agree_with_portable(Kind::Ntlm, &ntlm, &padding);
        }
    }

    #[test]
    fn extreme_buckets_are_encoded_alike() {
        let full = as_many_as_fit();
        for entries in [&full[..0], &full[..1], &full[65_534..], &full] {
            for kind in Kind::ALL {
                assert_agree_with_portable(kind, entries, &[]);
                assert_agree_with_portable(kind, entries, &[0xFF; 180]);
            }
        }
    }
}
