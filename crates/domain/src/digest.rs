//! Digests of email addresses and passwords.

use std::fmt;

use md4::Md4;
use sha1::{Digest, Sha1};

/// A 20-byte SHA-1 digest, displayed as 40 uppercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha1Digest(pub [u8; 20]);

impl Sha1Digest {
    /// Hashes `bytes`.
    ///
    /// ```
    /// let digest = domain::Sha1Digest::of(b"password");
    /// assert_eq!(digest.to_string(), "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8");
    /// ```
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha1::digest(bytes.as_ref()).into())
    }

    /// Hashes the concatenation of all `texts`.
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
}

/// An NTLM digest (MD4 of the password in UTF-16LE), displayed as 32 uppercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NtlmDigest(pub [u8; 16]);

impl NtlmDigest {
    /// Hashes a password.
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
