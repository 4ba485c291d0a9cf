//! Reasons for skipping rows.

use batch::LineError;
use serde::Serialize as _;

/// The reason for skipping a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The text is not a valid address.
    Address,
    /// The line exceeds the maximum length.
    TooLong,
    /// A quote is not closed within the maximum length of a line.
    UnclosedQuote,
    /// Text follows the closing quote of a cell.
    TextAfterQuote,
    /// The text is not valid UTF-8.
    Encoding,
    /// The column is missing.
    Column,
    /// The text is not a website domain.
    Website,
    /// The address is part of a longer word, so its beginning is unclear.
    Fragment,
    /// The line is not the expected JSON.
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
