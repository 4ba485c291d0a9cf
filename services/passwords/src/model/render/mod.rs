//! Renders buckets and padding as response text, with `SUFFIX:COUNT` lines separated by CR LF.

mod lines;
mod simd;

use self::lines::WINDOW;
use super::bucket::{Bucket, BucketError};
use super::kind::Kind;

/// Length of the separator between lines, in bytes.
const SEPARATOR: usize = 2;

/// Returns the buffer size needed for a bucket and `padding_lines` padding lines, including slack
/// for the last window.
pub fn room(bucket: &Bucket<'_>, padding_lines: usize) -> usize {
    bucket.text_bound() + padding_lines * (bucket.kind().suffix_len() + 4) + WINDOW
}

/// Returns `length` without the separator after the last line.
pub fn without_last_separator(length: usize) -> usize {
    length.saturating_sub(SEPARATOR)
}

/// Writes all of a bucket's lines, each followed by a separator, and returns their length.
///
/// `out` should have the size returned by [`room`]. Lines that don't fit are dropped.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub fn bucket(bucket: &Bucket<'_>, out: &mut [u8]) -> Result<usize, BucketError> {
    simd::bucket(bucket, out)
}

/// Writes padding lines, each followed by a separator, and returns their length.
///
/// `random` contains a byte for the first digit and a tail for each line.
pub fn padding(kind: Kind, random: &[u8], out: &mut [u8]) -> usize {
    simd::padding(kind, random, out)
}

/// Returns a bucket's text.
///
/// # Errors
/// Returns [`BucketError::Count`] if a count is invalid.
pub fn text(source: &Bucket<'_>) -> Result<Vec<u8>, BucketError> {
    let mut text = vec![0; room(source, 0)];
    let length = bucket(source, &mut text)?;
    text.truncate(without_last_separator(length));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::bucket::{encode, tests::some_entries};
    use crate::model::entry::{Entry, MAX_COUNT};

    /// Formats entries independently of the code under test.
    fn plain_text(kind: Kind, entries: &[Entry]) -> Vec<u8> {
        let lines: Vec<String> = entries
            .iter()
            .map(|entry| {
                let hash = &entry.hash[..kind.hash_bytes()];
                let hex: String = hash.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("{}:{}", &hex[5..], entry.count)
            })
            .collect();
        lines.join("\r\n").into_bytes()
    }

    proptest! {
        #[test]
        fn bucket_renders_as_its_lines(
            sha1 in some_entries(Kind::Sha1, 300),
            ntlm in some_entries(Kind::Ntlm, 300),
        ) {
            for (kind, entries) in [(Kind::Sha1, sha1), (Kind::Ntlm, ntlm)] {
                let mut bytes = Vec::new();
                prop_assert!(encode(kind, &entries, &mut bytes));
                let bucket = Bucket::parse(kind, &bytes).unwrap();
                prop_assert_eq!(text(&bucket).unwrap(), plain_text(kind, &entries));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for kind in Kind::ALL {
                let _ = Bucket::parse(kind, &bytes).and_then(|bucket| text(&bucket));
            }
        }
    }

    #[test]
    fn largest_count_is_rendered_in_full() {
        let mut bytes = Vec::new();
        encode(Kind::Sha1, &[Entry { hash: [1; 20], count: MAX_COUNT }], &mut bytes);
        let bucket = Bucket::parse(Kind::Sha1, &bytes).unwrap();
        assert!(text(&bucket).unwrap().ends_with(b":2147483647"));
    }

    #[test]
    fn padding_lines_have_count_zero() {
        for kind in Kind::ALL {
            let random = vec![0xAB; (kind.tail_bytes() + 1) * 2];
            let mut out = vec![0; 400];
            let length = padding(kind, &random, &mut out);
            let line = format!("B{}:0\r\n", "AB".repeat(kind.tail_bytes()));
            assert_eq!(String::from_utf8_lossy(&out[..length]), line.repeat(2));
        }
    }
}
