//! Why rows of an input are not taken.

use batch::LineError;
use serde::Serialize as _;

/// Why a row is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// No valid address.
    Address,
    /// Longer than a line may be.
    TooLong,
    /// A quote that is not closed within the length of a line.
    UnclosedQuote,
    /// Not UTF-8.
    Encoding,
    /// The column is missing.
    Column,
    /// No website domain.
    Website,
    /// Not the JSON that was expected.
    Json,
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

impl From<LineError> for SkipReason {
    fn from(error: LineError) -> Self {
        match error {
            LineError::TooLong => Self::TooLong,
            LineError::NotUtf8 => Self::Encoding,
        }
    }
}
