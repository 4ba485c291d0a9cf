//! Parses the lines of password lists.

use domain::{NtlmDigest, Sha1Digest};

use super::entry::Entry;
use super::kind::Kind;
use super::lines::read_count;

/// A password list's character encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8. Invalid lines are skipped.
    Utf8,
    /// ISO 8859-1. Every line is valid.
    Latin1,
}

/// A password list's format.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The character encoding.
    pub encoding: Encoding,
    /// Whether each line starts with a count and a space.
    pub with_counts: bool,
}

/// The contents of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A password with its count.
    Password {
        /// The bytes of the password.
        bytes: Vec<u8>,
        /// The characters of the password.
        text: String,
        /// The number of times it was seen, or 0 for padding that was saved along with a response.
        count: u32,
    },
    /// An empty password.
    Empty,
    /// Bytes that aren't valid UTF-8. If the line has the form `$HEX[…]`, these are the decoded
    /// bytes.
    NotText(Vec<u8>),
    /// The line doesn't start with a count, although the format requires one.
    NoCount,
}

/// Parses a line without its line feed.
///
/// Strips a single trailing CR and decodes `$HEX[…]`. Everything else, including spaces, is part of
/// the password.
pub fn line(line: &[u8], dialect: Dialect) -> Line {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (count, password) = if dialect.with_counts && !line.is_empty() {
        let Some(at) = memchr::memchr(b' ', line) else { return Line::NoCount };
        let Ok(count) = read_count(&line[..at]) else { return Line::NoCount };
        (count, &line[at + 1..])
    } else {
        (1, line)
    };
    if password.is_empty() {
        return Line::Empty;
    }
    let bytes = unhex(password).unwrap_or_else(|| password.to_vec());
    if bytes.is_empty() {
        return Line::Empty;
    }
    match dialect.encoding {
        Encoding::Latin1 => {
            let text = bytes.iter().map(|byte| char::from(*byte)).collect();
            Line::Password { bytes, text, count }
        }
        Encoding::Utf8 => match String::from_utf8(bytes.clone()) {
            Ok(text) => Line::Password { bytes, text, count },
            Err(_) => Line::NotText(bytes),
        },
    }
}

/// Decodes a password of the form `$HEX[…]`.
fn unhex(password: &[u8]) -> Option<Vec<u8>> {
    let digits = password.strip_prefix(b"$HEX[")?.strip_suffix(b"]")?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[a, b]| Some((digit(*a)? << 4 | digit(*b)?) as u8)).collect()
}

/// Creates the corpus entry for a password.
pub fn entry(kind: Kind, bytes: &[u8], text: &str, count: u32) -> Entry {
    let mut hash = [0; 20];
    match kind {
        Kind::Sha1 => hash = Sha1Digest::of(bytes).0,
        Kind::Ntlm => hash[..16].copy_from_slice(&NtlmDigest::of(text).0),
    }
    Entry { hash, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF8: Dialect = Dialect { encoding: Encoding::Utf8, with_counts: false };

    fn password(bytes: &[u8], text: &str, count: u32) -> Line {
        Line::Password { bytes: bytes.to_vec(), text: text.to_owned(), count }
    }

    #[test]
    fn only_the_line_end_is_stripped() {
        assert_eq!(line(b" pass word \r", UTF8), password(b" pass word ", " pass word ", 1));
        assert_eq!(line(b"x\r\r", UTF8), password(b"x\r", "x\r", 1));
        assert_eq!(line(b"", UTF8), Line::Empty);
        assert_eq!(line(b"\r", UTF8), Line::Empty);
    }

    #[test]
    fn hex_notation_is_decoded() {
        assert_eq!(line(b"$HEX[70c3bc]", UTF8), password("pü".as_bytes(), "pü", 1));
        assert_eq!(line(b"$HEX[]", UTF8), Line::Empty);
        for odd in [&b"$HEX[7]"[..], b"$HEX[zz]", b"$HEX[70", b"$hex[70]"] {
            let text = std::str::from_utf8(odd).unwrap();
            assert_eq!(line(odd, UTF8), password(odd, text, 1));
        }
    }

    #[test]
    fn bytes_other_than_utf8_need_an_encoding() {
        assert_eq!(line(b"p\xFC\r", UTF8), Line::NotText(b"p\xFC".to_vec()));
        assert_eq!(line(b"$HEX[FC]", UTF8), Line::NotText(b"\xFC".to_vec()));
        let latin1 = Dialect { encoding: Encoding::Latin1, ..UTF8 };
        assert_eq!(line(b"p\xFC", latin1), password(b"p\xFC", "pü", 1));
    }

    #[test]
    fn count_ends_at_the_first_space() {
        let counted = Dialect { with_counts: true, ..UTF8 };
        assert_eq!(line(b"12 a b", counted), password(b"a b", "a b", 12));
        assert_eq!(line(b"12  a", counted), password(b" a", " a", 12));
        assert_eq!(line(b"0 a", counted), password(b"a", "a", 0));
        assert_eq!(line(b"12 ", counted), Line::Empty);
        assert_eq!(line(b"", counted), Line::Empty);
        for wrong in [&b"12"[..], b"a b", b" 12 a", b"-1 a"] {
            assert_eq!(line(wrong, counted), Line::NoCount);
        }
    }

    #[test]
    fn entries_match_known_hashes() {
        let sha1 = entry(Kind::Sha1, b"password", "password", 3);
        assert_eq!((sha1.prefix(), sha1.first_digit(), sha1.count), (0x5BAA6, 1, 3));
        let ntlm = entry(Kind::Ntlm, b"password", "password", 1);
        assert_eq!(
            (ntlm.prefix(), &ntlm.hash[13..]),
            (0x8846F, &[0xB7, 0x58, 0x6C, 0, 0, 0, 0][..])
        );
    }
}
