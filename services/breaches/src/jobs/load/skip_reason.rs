//! Reasons for skipping rows.

use batch::LineError;
use serde::Serialize as _;

/// The reason a row was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Not a valid address.
    Address,
    /// The line is too long.
    TooLong,
    /// The closing quote is missing or too far away.
    UnclosedQuote,
    /// There is text after a closing quote.
    TextAfterQuote,
    /// Invalid UTF-8.
    Encoding,
    /// The row doesn't have the column, or its cells may have been shifted.
    Column,
    /// The rows of a SQL statement aren't literal values.
    Statement,
    /// Not a website's domain.
    Website,
    /// The address is part of a longer word, so it's unclear where it starts.
    Fragment,
    /// JSON that isn't in the expected format.
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
