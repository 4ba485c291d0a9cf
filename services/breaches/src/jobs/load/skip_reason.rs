//! Reasons for skipping rows.

use batch::LineError;
use serde::Serialize as _;

/// Why a row was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Not a valid address.
    Address,
    /// Longer than the limit of a line.
    TooLong,
    /// A quote is not closed within the limit of a line.
    UnclosedQuote,
    /// Text follows the closing quote of a cell.
    TextAfterQuote,
    /// Not UTF-8.
    Encoding,
    /// The column is missing.
    Column,
    /// Not a website domain.
    Website,
    /// Part of a longer word, so the address is not clear.
    Fragment,
    /// Not the expected JSON.
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
