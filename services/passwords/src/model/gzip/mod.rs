//! A gzip encoder that is specialized for this service's responses.
//!
//! The text consists mostly of uniformly random hex digits, so there are no matches to find, and a
//! single fixed code is close to optimal. The code uses 4 bits for `0` to `9`, `A` and `B`, and 5
//! bits for the other four digits, colon, CR, LF and the end of the block. A response is one
//! deflate block with a constant header. Each byte of a digest is encoded with the joint code of
//! its two digits.

mod bits;
mod code;
#[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
mod eights;
mod lines;
mod simd;
mod tables;
mod trailer;

use self::bits::{Bits, WINDOW};
use self::tables::{TABLES, Tables};
use super::bucket::{Bucket, BucketError};

pub use self::trailer::Trailer;

/// Minimum length of text to compress, in bytes. The block header alone takes about 40.
pub const SHORTEST: usize = 512;

/// CR and LF after every line but the last, 5 bits each.
const SEPARATOR_BITS: u32 = 10;

/// Returns the buffer size needed for text of this length.
///
/// Allows 5 bits per character, plus the headers, the trailer and slack for the last window.
pub fn room(text_length: usize) -> usize {
    text_length * 5 / 8 + TABLES.head.len() + WINDOW + 8
}

/// Compresses a bucket's text and its padding.
///
/// `trailer` is the trailer for the rendered text, which has no separator after the last line.
/// `padding` contains the random bytes for the padding lines. `out` must have the size returned by
/// [`room`]. Writes the response to the start of `out` and returns its length.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub fn encode(
    bucket: &Bucket<'_>,
    padding: &[u8],
    trailer: Trailer,
    out: &mut [u8],
) -> Result<usize, BucketError> {
    let tables: &Tables = &TABLES;
    out[..tables.head.len()].copy_from_slice(&tables.head);
    let mut bits = Bits { out, at: tables.head.len(), held: tables.head_rest };
    simd::encode_lines(bucket, padding, &mut bits)?;
    if trailer.length() > 0 {
        bits.take_back(SEPARATOR_BITS);
    }
    bits.push(tables.end);
    let end = bits.at + usize::from(bits.held.length > 0);
    out[end..end + 8].copy_from_slice(&trailer.to_bytes());
    Ok(end + 8)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::model::bucket::{self, tests::some_entries};
    use crate::model::{Entry, Kind, render};
    use proptest::prelude::*;

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(packed);
        decoder.read_to_end(&mut text).unwrap();
        text
    }

    fn assert_unpacks(kind: Kind, entries: &[Entry], padding_lines: usize) {
        let mut bytes = Vec::new();
        assert!(bucket::encode(kind, entries, &mut bytes));
        let parsed = Bucket::parse(kind, &bytes).unwrap();
        let padding: Vec<u8> = (0..padding_lines * (kind.tail_bytes() + 1))
            .map(|at| ((at * 7919) >> 3) as u8)
            .collect();
        let mut text = vec![0; render::room(&parsed, padding_lines)];
        let mut length = render::bucket(&parsed, &mut text).unwrap();
        length += render::padding(kind, &padding, &mut text[length..]);
        let text = &text[..render::without_last_separator(length)];
        let mut packed = vec![0xEE; room(text.len())];
        let length = encode(&parsed, &padding, Trailer::of(text), &mut packed).unwrap();
        assert_eq!(unpacked(&packed[..length]), text);
    }

    proptest! {
        #[test]
        fn random_buckets_unpack_to_their_text(
            sha1 in some_entries(Kind::Sha1, 200),
            ntlm in some_entries(Kind::Ntlm, 200),
            padding in 0..3usize,
        ) {
            assert_unpacks(Kind::Sha1, &sha1, padding);
            assert_unpacks(Kind::Ntlm, &ntlm, padding);
        }
    }

    #[test]
    fn empty_small_huge_and_padded_answers_unpack() {
        let full: Vec<Entry> = (0..65_535u32)
            .map(|at| {
                let mut hash = [0xCD; 20];
                hash[2..4].copy_from_slice(&(at as u16).to_be_bytes());
                hash[4..6].copy_from_slice(&(at.wrapping_mul(40_503) as u16).to_be_bytes());
                hash[2] &= 0x0F;
                hash[16..].fill(0);
                Entry { hash, count: 1 + at * 32_768 }
            })
            .collect();
        let mut full = full;
        crate::model::entry::sort_and_add_up(&mut full);
        for kind in Kind::ALL {
            for (entries, padding) in
                [(&full[..0], 0), (&full[..0], 900), (&full[..1], 0), (&full[..], 0), (&full, 200)]
            {
                assert_unpacks(kind, entries, padding);
            }
        }
    }
}
