//! Totals for the lines read.

use std::fmt;

use serde::Serialize;

use crate::model::lines::Parsed;

/// Totals for the lines read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Lines, including empty ones.
    pub lines: u64,
    /// Lines with a count of 0, i.e. padding that was saved along with a response.
    pub dropped: u64,
    /// Invalid lines that `--lenient` skipped.
    pub skipped: u64,
    /// Passwords that are invalid in the encoding.
    pub not_text: u64,
    /// Empty passwords.
    pub empty: u64,
}

impl Tally {
    /// Adds the totals for another part of the input.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.dropped += other.dropped;
        self.skipped += other.skipped;
        self.not_text += other.not_text;
        self.empty += other.empty;
    }

    /// Returns the totals for a parsed block of lines.
    pub fn of(parsed: &Parsed) -> Self {
        Self {
            lines: parsed.lines,
            dropped: parsed.dropped,
            skipped: parsed.skipped,
            ..Self::default()
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, dropped, skipped, not_text, empty } = self;
        write!(
            f,
            "{lines} lines ({dropped} with count 0, {skipped} skipped, {not_text} not in the \
             encoding, {empty} empty)"
        )
    }
}
