//! Human-readable sizes and counts.

use std::fmt;
use std::str::FromStr;

use indicatif::{HumanBytes, HumanCount};

/// A size in bytes.
///
/// Settings and flags accept plain bytes, or a `K`, `M` or `G` suffix in either case (powers of
/// 1024). When displayed, a suitable unit is chosen.
///
/// ```
/// use batch::ByteSize;
///
/// let memory: ByteSize = "1G".parse()?;
/// assert_eq!(memory, ByteSize::mib(1024));
/// assert_eq!(ByteSize(5_500_000).to_string(), "5.25 MiB");
/// # Ok::<(), batch::SizeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(
    /// The size in bytes.
    pub u64,
);

impl ByteSize {
    /// Converts from MiB, the unit of settings named `…_MB`. Saturates on overflow.
    pub const fn mib(mebibytes: u64) -> Self {
        Self(mebibytes.saturating_mul(1 << 20))
    }

    /// Converts to `usize`. Saturates on overflow.
    pub fn in_memory(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HumanBytes(self.0).fmt(f)
    }
}

/// The reason that a string isn't a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// The string doesn't consist of digits followed by at most one letter.
    #[error("expected a number of bytes, optionally followed by K, M or G")]
    Malformed,
    /// The number of bytes doesn't fit in a `u64`.
    #[error("the number is too large")]
    TooLarge,
}

impl FromStr for ByteSize {
    type Err = SizeError;

    /// Parses digits with an optional `K`, `M` or `G` suffix.
    ///
    /// # Errors
    /// Returns an error if the string is malformed or the number doesn't fit in 64 bits.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        let (digits, shift) = match text.as_bytes() {
            [.., b'K' | b'k'] => (&text[..text.len() - 1], 10),
            [.., b'M' | b'm'] => (&text[..text.len() - 1], 20),
            [.., b'G' | b'g'] => (&text[..text.len() - 1], 30),
            _ => (text, 0),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(SizeError::Malformed);
        }
        let number: u64 = digits.parse().map_err(|_| SizeError::TooLarge)?;
        number.checked_mul(1 << shift).map(Self).ok_or(SizeError::TooLarge)
    }
}

/// A count, displayed with commas as thousands separators.
///
/// ```
/// assert_eq!(batch::Count(1_234_567).to_string(), "1,234,567");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(
    /// The count.
    pub u64,
);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HumanCount(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in
            [("1G", 1 << 30), ("16m", 16 << 20), ("3K", 3072), ("1048576", 1 << 20), ("0", 0)]
        {
            assert_eq!(text.parse(), Ok(ByteSize(expected)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in ["", "G", "1T", "-1G", "+1", "1 G", "1GB", "0x1", "1é"] {
            assert_eq!(wrong.parse::<ByteSize>(), Err(SizeError::Malformed), "{wrong}");
        }
        for large in ["99999999999G", "18446744073709551616"] {
            assert_eq!(large.parse::<ByteSize>(), Err(SizeError::TooLarge), "{large}");
        }
    }

    #[test]
    fn numbers_are_printed_for_people() {
        assert_eq!(ByteSize(0).to_string(), "0 B");
        assert_eq!(ByteSize(1023).to_string(), "1023 B");
        assert_eq!(ByteSize::mib(1536).to_string(), "1.50 GiB");
        assert_eq!(ByteSize::mib(u64::MAX), ByteSize(u64::MAX));
        assert_eq!(Count(999).to_string(), "999");
        assert_eq!(Count(1_000_000).to_string(), "1,000,000");
    }
}
