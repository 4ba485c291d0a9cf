//! Digests that identify addresses and passwords.

use std::fmt;

use md4::Md4;
use sha1::{Digest, Sha1};

/// Text that is no digest of the wanted length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} hexadecimal characters")]
pub struct DigestError {
    expected: usize,
}

/// A SHA-1 digest: 20 bytes, written as 40 upper-case hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha1Digest(pub [u8; 20]);

impl Sha1Digest {
    /// Digests `bytes`.
    ///
    /// ```
    /// let digest = domain::Sha1Digest::of(b"password");
    /// assert_eq!(digest.to_string(), "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8");
    /// ```
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha1::digest(bytes.as_ref()).into())
    }

    /// Digests texts as if they were one.
    ///
    /// ```
    /// use domain::Sha1Digest;
    ///
    /// assert_eq!(Sha1Digest::of_joined(&["pass", "", "word"]), Sha1Digest::of("password"));
    /// ```
    pub fn of_joined(texts: &[&str]) -> Self {
        let mut hasher = Sha1::new();
        texts.iter().for_each(|text| hasher.update(text));
        Self(hasher.finalize().into())
    }

    /// Reads 40 hexadecimal characters of either case.
    ///
    /// # Errors
    /// Any other text.
    pub fn from_hex(text: &str) -> Result<Self, DigestError> {
        read_hex(text).map(Self)
    }
}

/// An NTLM digest: MD4 over UTF-16LE, 16 bytes, written as 32 upper-case hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NtlmDigest(pub [u8; 16]);

impl NtlmDigest {
    /// Digests a password.
    ///
    /// ```
    /// let digest = domain::NtlmDigest::of("password");
    /// assert_eq!(digest.to_string(), "8846F7EAEE8FB117AD06BDD830B7586C");
    /// ```
    pub fn of(password: &str) -> Self {
        let mut hasher = Md4::new();
        for unit in password.encode_utf16() {
            hasher.update(unit.to_le_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// Reads 32 hexadecimal characters of either case.
    ///
    /// # Errors
    /// Any other text.
    pub fn from_hex(text: &str) -> Result<Self, DigestError> {
        read_hex(text).map(Self)
    }
}

fn read_hex<const N: usize>(text: &str) -> Result<[u8; N], DigestError> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| DigestError { expected: 2 * N })?;
    Ok(bytes)
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
}

impl fmt::Display for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Display for NtlmDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for NtlmDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_in_either_case() {
        let digest = Sha1Digest::of(b"x");
        assert_eq!(Sha1Digest::from_hex(&digest.to_string().to_lowercase()), Ok(digest));
        let digest = NtlmDigest::of("ü");
        assert_eq!(NtlmDigest::from_hex(&digest.to_string()), Ok(digest));
    }

    #[test]
    fn other_lengths_and_letters_are_refused() {
        for text in ["", "5BAA6", &"G".repeat(40), &"A".repeat(41)] {
            assert!(Sha1Digest::from_hex(text).is_err(), "{text}");
        }
        assert_eq!(
            NtlmDigest::from_hex("x").map_err(|error| error.to_string()),
            Err("expected 32 hexadecimal characters".to_owned())
        );
    }
}
