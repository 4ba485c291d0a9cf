//! The two digests that a corpus can hold.

use std::fmt;
use std::str::FromStr;

/// Which digest of a password a corpus lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// SHA-1 over the bytes of the password.
    Sha1,
    /// MD4 over the UTF-16LE form of the password.
    Ntlm,
}

impl Kind {
    /// Both kinds, in the order in which they are listed everywhere.
    pub const ALL: [Self; 2] = [Self::Sha1, Self::Ntlm];

    /// The number that stands for the kind in a corpus header.
    pub const fn code(self) -> u32 {
        match self {
            Self::Sha1 => 1,
            Self::Ntlm => 2,
        }
    }

    /// The kind with this number.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The position of the kind in [`Self::ALL`].
    pub const fn position(self) -> usize {
        match self {
            Self::Sha1 => 0,
            Self::Ntlm => 1,
        }
    }

    /// Bytes of a whole digest.
    pub const fn hash_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Ntlm => 16,
        }
    }

    /// Bytes of a digest after the first three.
    pub const fn tail_bytes(self) -> usize {
        self.hash_bytes() - 3
    }

    /// Hexadecimal characters of a digest after the prefix.
    pub const fn suffix_len(self) -> usize {
        self.hash_bytes() * 2 - 5
    }

    /// The name of the kind in folders, settings and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Ntlm => "ntlm",
        }
    }

    /// The name of the kind in messages.
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

/// Text that names no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kind must be sha1 or ntlm")]
pub struct KindError;

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(KindError)
    }
}
