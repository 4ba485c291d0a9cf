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
    /// Not a source of pastes.
    Source,
    /// Not an id of a paste.
    Id,
    /// The title isn't a string, or contains NUL.
    Title,
    /// Not a date.
    Date,
    /// Not a count of addresses.
    EmailCount,
    /// The row doesn't have an address. Unlike the other reasons, this one doesn't mean that the
    /// row was rejected.
    Empty,
}

/// Returns the text of a field, provided that it isn't empty. Exports write `NULL` or `\N` for an
/// empty field.
///
/// # Errors
/// Fails with [`SkipReason::Empty`].
pub fn present(text: &str) -> Result<&str, SkipReason> {
    let name = text.trim();
    let is_null = name.eq_ignore_ascii_case("null") || name == "\\N" || name == "(null)";
    if name.is_empty() || is_null { Err(SkipReason::Empty) } else { Ok(text) }
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
