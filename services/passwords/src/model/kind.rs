//! The two kinds of digest, SHA-1 and NTLM.

use std::fmt;
use std::str::FromStr;

/// The type of digest that a corpus contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// SHA-1 of the password's bytes.
    Sha1,
    /// MD4 of the password in UTF-16LE.
    Ntlm,
}

impl Kind {
    /// Both kinds, in the order used wherever kinds are listed.
    pub const ALL: [Self; 2] = [Self::Sha1, Self::Ntlm];

    /// Returns the kind's code in a corpus header.
    pub const fn code(self) -> u32 {
        match self {
            Self::Sha1 => 1,
            Self::Ntlm => 2,
        }
    }

    /// Returns the kind with this code, if any.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Returns the kind's position in [`Self::ALL`].
    pub const fn position(self) -> usize {
        match self {
            Self::Sha1 => 0,
            Self::Ntlm => 1,
        }
    }

    /// Returns the length of a digest in bytes.
    pub const fn hash_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Ntlm => 16,
        }
    }

    /// Returns the length in bytes of a digest without its first three bytes.
    pub const fn tail_bytes(self) -> usize {
        self.hash_bytes() - 3
    }

    /// Returns the length of a suffix in hex digits.
    pub const fn suffix_len(self) -> usize {
        self.hash_bytes() * 2 - 5
    }

    /// Returns the kind's name in folders, settings and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Ntlm => "ntlm",
        }
    }

    /// Returns the kind's name in messages.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Ntlm => "NTLM",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The string is not the name of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kind must be sha1 or ntlm")]
pub struct KindError;

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(KindError)
    }
}
