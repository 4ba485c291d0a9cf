//! The header of a corpus file, in its first 4096 bytes.

use sha1::{Digest, Sha1};

use super::kind::Kind;
use super::layout::HEADER_BYTES;

/// Maximum length of the source note in bytes.
pub const NOTE_LIMIT: usize = 1024;

const MAGIC: &[u8; 8] = b"PWRANGE\0";
const VERSION: u32 = 1;
const PREFIX_BITS: u32 = 20;
const NOTE_AT: usize = 100;
const SEAL_AT: usize = 4076;

/// A corpus's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of digest.
    pub kind: Kind,
    /// The number of digests.
    pub entries: u64,
    /// Length of the file in bytes.
    pub file_length: u64,
    /// When the corpus was built, in Unix seconds.
    pub built_at: i64,
    /// Entries in the smallest of the 2^20 buckets.
    pub smallest_bucket: u32,
    /// Entries in the largest bucket.
    pub largest_bucket: u32,
    /// The SHA-1 of the index region.
    pub index_digest: [u8; 20],
    /// Identifies the content, regardless of the build time.
    pub corpus_id: [u8; 20],
    /// The source of the data, as specified for the build.
    pub note: String,
}

/// Why a header is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The file doesn't start with the magic number.
    #[error("this is not a corpus file")]
    Magic,
    /// The header's checksum doesn't match.
    #[error("the header is damaged")]
    Seal,
    /// This format version isn't supported.
    #[error("the corpus has format version {0}; this program reads version 1")]
    Version(u32),
    /// A field has a value that this program never writes.
    #[error("invalid header field {0}")]
    Field(&'static str),
}

impl Header {
    /// Encodes the header.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(MAGIC);
        for value in [VERSION, self.kind.code(), PREFIX_BITS, self.kind.tail_bytes() as u32] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&self.entries.to_le_bytes());
        bytes.extend_from_slice(&self.file_length.to_le_bytes());
        bytes.extend_from_slice(&self.built_at.to_le_bytes());
        bytes.extend_from_slice(&self.smallest_bucket.to_le_bytes());
        bytes.extend_from_slice(&self.largest_bucket.to_le_bytes());
        bytes.extend_from_slice(&self.index_digest);
        bytes.extend_from_slice(&self.corpus_id);
        let note = truncated(&self.note);
        bytes.extend_from_slice(&(note.len() as u32).to_le_bytes());
        bytes.extend_from_slice(note.as_bytes());
        bytes.resize(SEAL_AT, 0);
        let seal = Sha1::digest(&bytes);
        bytes.extend_from_slice(&seal);
        bytes
    }

    /// Decodes a header and performs all checks that don't need the rest of the file.
    ///
    /// # Errors
    /// See [`HeaderError`].
    pub fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Result<Self, HeaderError> {
        if &bytes[..8] != MAGIC {
            return Err(HeaderError::Magic);
        }
        if Sha1::digest(&bytes[..SEAL_AT])[..] != bytes[SEAL_AT..] {
            return Err(HeaderError::Seal);
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let kind = Kind::from_code(u32_at(bytes, 12)).ok_or(HeaderError::Field("kind"))?;
        if u32_at(bytes, 16) != PREFIX_BITS {
            return Err(HeaderError::Field("prefix bits"));
        }
        if u32_at(bytes, 20) as usize != kind.tail_bytes() {
            return Err(HeaderError::Field("tail bytes"));
        }
        Ok(Self {
            kind,
            entries: u64_at(bytes, 24),
            file_length: u64_at(bytes, 32),
            built_at: i64::from_le_bytes(array_at(bytes, 40)),
            smallest_bucket: u32_at(bytes, 48),
            largest_bucket: u32_at(bytes, 52),
            index_digest: array_at(bytes, 56),
            corpus_id: array_at(bytes, 76),
            note: note_of(bytes)?,
        })
    }
}

fn note_of(bytes: &[u8; HEADER_BYTES]) -> Result<String, HeaderError> {
    let length = u32_at(bytes, 96) as usize;
    if length > NOTE_LIMIT {
        return Err(HeaderError::Field("note"));
    }
    let end = NOTE_AT + length;
    if bytes[end..SEAL_AT].iter().any(|byte| *byte != 0) {
        return Err(HeaderError::Field("reserved bytes"));
    }
    match std::str::from_utf8(&bytes[NOTE_AT..end]) {
        Ok(note) => Ok(note.to_owned()),
        Err(_) => Err(HeaderError::Field("note")),
    }
}

/// Truncates a note to [`NOTE_LIMIT`] bytes at a character boundary.
fn truncated(note: &str) -> &str {
    &note[..note.floor_char_boundary(NOTE_LIMIT)]
}

fn array_at<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

fn u32_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

/// Formats bytes as lowercase hex digits.
pub fn lower_hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect()
}

fn hex_digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::layout::DATA_START;

    fn sample() -> Header {
        Header {
            kind: Kind::Ntlm,
            entries: 3,
            file_length: DATA_START + 100,
            built_at: 1_700_000_000,
            smallest_bucket: 0,
            largest_bucket: 2,
            index_digest: [7; 20],
            corpus_id: [9; 20],
            note: "from a list".to_owned(),
        }
    }

    fn bytes_of(header: &Header) -> [u8; HEADER_BYTES] {
        header.to_bytes().try_into().unwrap()
    }

    #[test]
    fn a_header_survives_the_round_trip() {
        assert_eq!(Header::from_bytes(&bytes_of(&sample())), Ok(sample()));
    }

    #[test]
    fn header_fields_have_the_documented_offsets() {
        let bytes = bytes_of(&sample());
        assert_eq!(&bytes[..8], b"PWRANGE\0");
        assert_eq!(bytes[8..24], [1, 0, 0, 0, 2, 0, 0, 0, 20, 0, 0, 0, 13, 0, 0, 0]);
        assert_eq!(bytes[24..32], 3u64.to_le_bytes());
        assert_eq!(bytes[56..96], [[7; 20], [9; 20]].concat());
        assert_eq!(&bytes[96..111], b"\x0b\0\0\0from a list");
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let good = bytes_of(&sample());
        for at in 0..HEADER_BYTES {
            let mut bytes = good;
            bytes[at] ^= 1;
            assert!(Header::from_bytes(&bytes).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_long_note_is_cut_at_a_character() {
        let header = Header { note: "ü".repeat(600), ..sample() };
        let read = Header::from_bytes(&bytes_of(&header)).unwrap();
        assert_eq!(read.note, "ü".repeat(512));
    }

    #[test]
    fn header_of_another_version_has_its_own_error() {
        let mut bytes = bytes_of(&sample());
        bytes[8] = 2;
        let seal: [u8; 20] = Sha1::digest(&bytes[..SEAL_AT]).into();
        bytes[SEAL_AT..].copy_from_slice(&seal);
        assert_eq!(Header::from_bytes(&bytes), Err(HeaderError::Version(2)));
    }
}
