//! Scroll ids, which encode the complete state of a scroll.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::file_query::SortKey;

const VERSION: u8 = 1;
const BODY: usize = 1 + 4 + 8 + 8 + 8 + 8;
const CHECK: usize = 8;

/// A scroll's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scroll {
    /// The index generation that the file ids belong to.
    pub generation: u32,
    /// [`fingerprint`] of the search and its owner.
    pub fingerprint: u64,
    /// Total number of results when the scroll started.
    pub total: u64,
    /// The last file on the previous page.
    pub last: SortKey,
}

/// Error for invalid scroll ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("scroll-id is not valid")]
pub struct InvalidScroll;

impl Scroll {
    /// Encodes the scroll as an opaque string.
    ///
    /// ```
    /// use buckets::model::SortKey;
    /// use buckets::model::Scroll;
    ///
    /// let last = SortKey { value: -3, id: 9 };
    /// let scroll = Scroll { generation: 1, fingerprint: 2, total: 3, last };
    /// assert_eq!(Scroll::decode(&scroll.encode()), Ok(scroll));
    /// ```
    pub fn encode(&self) -> String {
        let mut bytes = Vec::with_capacity(BODY + CHECK);
        bytes.push(VERSION);
        bytes.extend(self.generation.to_be_bytes());
        bytes.extend(self.fingerprint.to_be_bytes());
        bytes.extend(self.total.to_be_bytes());
        bytes.extend(self.last.value.to_be_bytes());
        bytes.extend(self.last.id.to_be_bytes());
        bytes.extend(checksum(&bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes a scroll id.
    pub fn decode(text: &str) -> Result<Self, InvalidScroll> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidScroll)?;
        let (body, check) = bytes.split_at_checked(BODY).ok_or(InvalidScroll)?;
        if body[0] != VERSION || check != checksum(body) {
            return Err(InvalidScroll);
        }
        let word = |at: usize| -> [u8; 8] {
            let mut word = [0; 8];
            word.copy_from_slice(&body[at..at + 8]);
            word
        };
        let generation = [body[1], body[2], body[3], body[4]];
        Ok(Self {
            generation: u32::from_be_bytes(generation),
            fingerprint: u64::from_be_bytes(word(5)),
            total: u64::from_be_bytes(word(13)),
            last: SortKey { value: i64::from_be_bytes(word(21)), id: u64::from_be_bytes(word(29)) },
        })
    }
}

/// Hashes the parts of a search. Each part is prefixed with its length, so that splitting the same
/// text differently gives a different hash.
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_be_bytes(first)
}

/// A checksum to detect typos and truncation. It doesn't provide any security.
fn checksum(body: &[u8]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    check.copy_from_slice(&Sha256::digest(body)[..CHECK]);
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_ids_are_rejected() {
        let last = SortKey { value: 5, id: 7 };
        let text = Scroll { generation: 1, fingerprint: 2, total: 3, last }.encode();
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        for at in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            let damaged = String::from_utf8(damaged).unwrap();
            assert_eq!(Scroll::decode(&damaged), Err(InvalidScroll), "character {at}");
        }
        assert_eq!(Scroll::decode(&text[..20]), Err(InvalidScroll));
        assert_eq!(Scroll::decode(""), Err(InvalidScroll));
        assert_eq!(Scroll::decode("ä"), Err(InvalidScroll));
    }

    #[test]
    fn fingerprint_separates_parts() {
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
    }
}
