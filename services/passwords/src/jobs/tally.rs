//! What was read from lists.

use std::fmt;

use serde::Serialize;

use crate::model::lines::Parsed;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Lines, empty ones included.
    pub lines: u64,
    /// Lines with count 0: padding that someone saved.
    pub dropped: u64,
    /// Lines that are no entry, skipped because `--lenient` was given.
    pub skipped: u64,
    /// Passwords whose bytes are no text in the encoding.
    pub not_text: u64,
    /// Empty passwords.
    pub empty: u64,
}

impl Tally {
    /// Adds what another piece of input held.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.dropped += other.dropped;
        self.skipped += other.skipped;
        self.not_text += other.not_text;
        self.empty += other.empty;
    }

    /// What a parsed piece of a hash list held.
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
