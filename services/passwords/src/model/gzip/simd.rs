//! A line encoder for SSSE3 and BMI2. Also selects an encoder at run time.
//!
//! This encoder processes eight digits at a time. A shuffle looks up each digit's code and length
//! mask, and a parallel bit extract (`PEXT`) closes the gaps between the codes.
//!
//! We need `unsafe` to call functions that require a processor feature (which we always check
//! first), and for unaligned loads and stores of fixed-size arrays.
#![allow(unsafe_code)]

use super::bits::Bits;
#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
use super::eights;
use super::lines::{self, Lines};
use crate::model::bucket::{Bucket, BucketError};

/// Encodes the lines of a bucket and its padding with the fastest encoder that this processor
/// supports.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub fn encode_lines(
    bucket: &Bucket<'_>,
    padding: &[u8],
    bits: &mut Bits<'_>,
) -> Result<(), BucketError> {
    let lines = Lines::of(bucket, padding);
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    {
        let mut lines = lines;
        if eights::is_there() {
            // SAFETY: we have just checked for all features that the function requires.
            unsafe { eights::encode(&mut lines, bits) };
        }
        if x86::is_fast() {
            // SAFETY: we have just checked for all three features that the function requires.
            return unsafe { x86::encode_lines(lines, bits) };
        }
        lines::portable(lines, bits)
    }
    #[cfg(any(not(target_arch = "x86_64"), feature = "portable"))]
    lines::portable(lines, bits)
}

#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
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

    /// `PEXT` is slow microcode on AMD processors before family 19h (Zen 3).
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

    /// Returns the codes for 16 bytes, with eight digits per code.
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

    /// Packs the bits of `codes` selected by `masks`, without gaps.
    #[inline]
    #[target_feature(enable = "bmi2,popcnt")]
    fn pressed(codes: u64, masks: u64) -> Code {
        Code { bits: _pext_u64(codes, masks), length: masks.count_ones() }
    }

    #[inline]
    fn load(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: the array has the 16 bytes that are read, the load doesn't need alignment, and
        // every x86_64 processor has SSE2.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline]
    fn store(value: __m128i) -> [u64; 2] {
        let mut words = [0; 2];
        // SAFETY: the array has the 16 bytes that are written, and the store doesn't need
        // alignment.
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

    type Encoded = Result<(Vec<u8>, Code), BucketError>;

    fn encoded(encoder: Encoder, bucket: &Bucket<'_>, padding: &[u8], held: Code) -> Encoded {
        let mut out = vec![0; bucket.text_bound() + padding.len() * 3 + 128];
        let mut bits = Bits { out: &mut out, at: 0, held };
        encoder(Lines::of(bucket, padding), &mut bits)?;
        let (at, held) = (bits.at, bits.held);
        out.truncate(at);
        Ok((out, held))
    }

    #[cfg_attr(feature = "portable", allow(unused_mut))]
    fn in_eights(mut lines: Lines<'_>, bits: &mut Bits<'_>) -> Result<(), BucketError> {
        #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
        if eights::is_there() {
            // SAFETY: we have just checked for all features that the function requires.
            unsafe { eights::encode(&mut lines, bits) };
        }
        lines::portable(lines, bits)
    }

    /// Checks how many lines are encoded in groups of eight. The encoder reads 144 bytes at a time
    /// and leaves out the last lines.
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    fn assert_done(bucket: &Bucket<'_>) {
        if !eights::is_there() {
            eprintln!("not tested: this processor cannot encode eight lines at once");
            return;
        }
        let mut out = vec![0; bucket.text_bound() + 512];
        let mut bits = Bits { out: &mut out, at: 0, held: Code::default() };
        let mut lines = Lines::of(bucket, &[]);
        // SAFETY: we have just checked for all features that the function requires.
        unsafe { eights::encode(&mut lines, &mut bits) };
        let left = if bucket.kind() == Kind::Sha1 { 1 } else { 4 };
        let least = if bucket.kind() == Kind::Sha1 { 9 } else { 12 };
        let all = bucket.len();
        assert_eq!(lines.done, if all < least { 0 } else { (all - left) / 8 * 8 });
    }

    fn by_extract(lines: Lines<'_>, bits: &mut Bits<'_>) -> Result<(), BucketError> {
        #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
        if x86::is_fast() {
            // SAFETY: we have just checked for all three features that the function requires.
            return unsafe { x86::encode_lines(lines, bits) };
        }
        lines::portable(lines, bits)
    }

    fn assert_agree_with_portable(kind: Kind, entries: &[Entry], padding: &[u8]) {
        let mut bytes = Vec::new();
        assert!(encode(kind, entries, &mut bytes));
        let bucket = Bucket::parse(kind, &bytes).unwrap();
        for length in 0..8 {
            let held = Code { bits: 0x55 & ((1 << length) - 1), length };
            let portable = encoded(lines::portable, &bucket, padding, held);
            assert_eq!(encoded(in_eights, &bucket, padding, held), portable);
            assert_eq!(encoded(by_extract, &bucket, padding, held), portable);
        }
    }

    /// Returns entries whose digits all have 4-bit codes, or 5-bit codes if `long` is true.
    fn entries_of(kind: Kind, long: bool, firsts: &[u8], counts: &[u32], n: usize) -> Vec<Entry> {
        let (low, base) = if long { (0xC, 4) } else { (0, 10) };
        let mut entries: Vec<Entry> = (0..n)
            .map(|at| {
                let mut hash = [
                    0x5B,
                    0xAA,
                    0x60 | firsts[at * firsts.len() / n],
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                ];
                let mut rest = at;
                for place in (6..2 * kind.hash_bytes()).rev() {
                    hash[place / 2] |=
                        (low + rest % base) as u8 * if place % 2 == 0 { 16 } else { 1 };
                    rest /= base;
                }
                Entry { hash, count: counts[at % counts.len()] }
            })
            .collect();
        crate::model::entry::sort_and_add_up(&mut entries);
        entries
    }

    proptest! {
        #[test]
        fn random_buckets_encode_like_the_portable_encoder(
            sha1 in some_entries(Kind::Sha1, 200),
            ntlm in some_entries(Kind::Ntlm, 200),
            padding in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            assert_agree_with_portable(Kind::Sha1, &sha1, &padding);
            assert_agree_with_portable(Kind::Ntlm, &ntlm, &padding);
        }
    }

    #[test]
    fn extreme_buckets_encode_like_the_portable_encoder() {
        let full = as_many_as_fit();
        for entries in [&full[..0], &full[..1], &full[65_534..], &full] {
            for kind in Kind::ALL {
                assert_agree_with_portable(kind, entries, &[]);
                assert_agree_with_portable(kind, entries, &[0xFF; 180]);
            }
        }
    }

    /// Covers the shortest and longest lines, counts on either side of each limit, first digits
    /// that change within a group of eight lines, and first digits that don't have lines.
    #[test]
    fn lines_of_every_length_encode_like_the_portable_encoder() {
        let counts: [&[u32]; 7] = [
            &[1],
            &[9, 10, 99, 100],
            &[127, 128, 1],
            &[999, 1000, 7],
            &[16_383, 16_384, 3],
            &[999_999_999],
            &[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 1_000_000_000],
        ];
        let firsts: [&[u8]; 4] = [
            &[0],
            &[15],
            &[0, 3, 4, 11, 12],
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        ];
        for kind in Kind::ALL {
            for (counts, firsts) in
                counts.iter().flat_map(|counts| firsts.map(|firsts| (counts, firsts)))
            {
                for (long, n) in
                    [8, 9, 11, 12, 17, 20, 61].into_iter().flat_map(|n| [(false, n), (true, n)])
                {
                    let entries = entries_of(kind, long, firsts, counts, n);
                    assert_eq!(entries.len(), n);
                    assert_agree_with_portable(kind, &entries, &[]);
                    let mut bytes = Vec::new();
                    assert!(encode(kind, &entries, &mut bytes));
                    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
                    if counts.iter().all(|count| *count < 1_000_000_000) {
                        assert_done(&Bucket::parse(kind, &bytes).unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn invalid_count_is_found_at_any_position() {
        for kind in Kind::ALL {
            let entries = entries_of(kind, true, &[2, 9], &[300, 5], 40);
            let mut bytes = Vec::new();
            assert!(encode(kind, &entries, &mut bytes));
            let counts = bytes.len() - 60;
            for (at, wrong) in (0..20)
                .flat_map(|pair| [(3 * pair + 1, 0), (3 * pair + 2, 0), (3 * pair + 2, 0xFF)])
            {
                let mut bytes = bytes.clone();
                bytes[counts + at] = wrong;
                let bucket = Bucket::parse(kind, &bytes).unwrap();
                let portable = encoded(lines::portable, &bucket, &[], Code::default());
                // A byte above 127 joins two counts, so the last count is missing.
                assert_eq!(portable, Err(BucketError::Count));
                assert_eq!(encoded(in_eights, &bucket, &[], Code::default()), portable);
            }
        }
    }
}
