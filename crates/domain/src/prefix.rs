//! The prefix of a digest that a range query reveals.

use std::fmt;

/// The reason that a string isn't a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// The string isn't exactly 5 bytes long.
    #[error("the prefix must be exactly 5 characters long")]
    Length,
    /// The string is 5 bytes long, but they aren't all hex digits.
    #[error("the prefix must be hexadecimal")]
    NotHexadecimal,
}

/// The first 20 bits of a digest, written as 5 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashPrefix(u32);

impl HashPrefix {
    /// The number of prefixes.
    pub const COUNT: u32 = 1 << 20;

    /// Parses 5 hex digits in either case.
    ///
    /// ```
    /// use domain::{HashPrefix, PrefixError};
    ///
    /// assert_eq!(HashPrefix::parse("5baa6")?.to_string(), "5BAA6");
    /// assert_eq!(HashPrefix::parse("5BAA"), Err(PrefixError::Length));
    /// assert_eq!(HashPrefix::parse("5BAAx"), Err(PrefixError::NotHexadecimal));
    /// # Ok::<(), PrefixError>(())
    /// ```
    ///
    /// # Errors
    /// See [`PrefixError`].
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, PrefixError> {
        let text = text.as_ref();
        if text.len() != 5 {
            return Err(PrefixError::Length);
        }
        let mut value = 0;
        for byte in text {
            let digit = char::from(*byte).to_digit(16).ok_or(PrefixError::NotHexadecimal)?;
            value = value << 4 | digit;
        }
        Ok(Self(value))
    }

    /// Returns the prefix with this value, or `None` if `value` is 2^20 or more.
    pub fn from_value(value: u32) -> Option<Self> {
        (value < Self::COUNT).then_some(Self(value))
    }

    /// Returns the prefix as a number below 2^20.
    pub fn value(self) -> u32 {
        self.0
    }
}

impl fmt::Display for HashPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05X}", self.0)
    }
}
