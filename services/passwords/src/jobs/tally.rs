//! Totals of the lines read.

use std::fmt;

use serde::Serialize;

use crate::model::lines::Parsed;

/// Totals of the lines read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The number of lines, including empty ones.
    pub lines: u64,
    /// The number of lines with count 0, which are padding that was saved with a response.
    pub dropped: u64,
    /// The number of invalid lines that were skipped because of `--lenient`.
    pub skipped: u64,
    /// The number of passwords that are invalid in the encoding.
    pub not_text: u64,
    /// The number of empty passwords.
    pub empty: u64,
}

impl Tally {
    /// Adds the totals of another part of the input.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.dropped += other.dropped;
        self.skipped += other.skipped;
        self.not_text += other.not_text;
        self.empty += other.empty;
    }

    /// Returns the totals of a parsed block of a hash list.
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
