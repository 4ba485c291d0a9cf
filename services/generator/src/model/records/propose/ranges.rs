//! Ranges of numbers and timestamps in columns.

use sqlparser::ast::BinaryOperator as Op;

use super::column::{Column, DIGITS, LARGEST_INTEGER, Stored};
use super::days::moved;

/// Length of a date such as `2024-12-31`.
const DAY: usize = 10;

impl Column {
    /// Returns whether to generate timestamps from a pattern. Truncating regular timestamps to
    /// remove the offset would lose the guarantee that they are unique.
    pub fn is_local_pattern(&self) -> bool {
        self.is_local && self.is_ordered() && self.days == (None, None)
    }

    /// Returns whether we have to generate timestamps with an offset that the database rejects.
    pub fn has_wrong_offset(&self) -> bool {
        self.stored == Stored::Timestamp
            && self.is_local
            && self.is_combined
            && self.days != (None, None)
    }

    /// Returns whether a key's numbers are consecutive, which requires that the key can be
    /// positive.
    pub fn is_counted(&self) -> bool {
        let most = self.most.into_iter().chain(self.limit).fold(LARGEST_INTEGER, f64::min);
        self.is_key && self.first() as f64 <= most
    }

    /// Returns the first of a key's consecutive numbers.
    pub fn first(&self) -> i64 {
        self.least.map_or(1, |least| least.clamp(1.0, LARGEST_INTEGER).ceil() as i64)
    }

    /// Makes the column one that only the database writes, with the given first number and step.
    pub fn number_by_database(&mut self, numbering: (i64, i64)) {
        (self.identity, self.required, self.unique) = (Some(numbering), true, true);
    }

    /// Returns whether a bound excludes all numbers that can be generated exactly.
    pub fn is_beyond(&self) -> bool {
        let largest = match self.stored {
            Stored::Integer => LARGEST_INTEGER,
            Stored::Decimal(decimals) => 10_f64.powi(DIGITS - decimals.cast_signed()),
            _ => return false,
        };
        self.least.is_some_and(|least| least > largest)
            || self.most.is_some_and(|most| most < -largest)
    }

    /// Limits the days by a comparison with a date or timestamp. Returns false if the text is
    /// neither.
    pub fn limit_days(&mut self, op: &Op, text: &str) -> bool {
        let Some((day, time)) = text.split_at_checked(DAY) else { return false };
        let late = days_until_midnight(time);
        // Timestamps end at midnight, the start of the last day, early enough in all zones.
        let (limit, days): (fn(&mut Self, String), i64) = match op {
            Op::Gt => (Self::begin_at, late.max(1)),
            Op::GtEq => (Self::begin_at, late),
            Op::LtEq => (Self::end_by, -late.min(1)),
            Op::Lt => (Self::end_by, -1),
            _ => return false,
        };
        let Some(day) = moved(day, days) else { return false };
        limit(self, day);
        true
    }

    /// Raises the first allowed day, unless another check already requires a later one.
    fn begin_at(&mut self, day: String) {
        // Dates sort in the same order as their strings, and `None` comes before any of them.
        self.days.0 = self.days.0.take().max(Some(day));
    }

    /// Lowers the last allowed day, unless another check already requires an earlier one.
    pub fn end_by(&mut self, day: String) {
        self.days.1 = self.days.1.take().into_iter().chain([day]).min();
    }
}

/// Returns how many days to add to a timestamp's day so that midnight in UTC isn't before the
/// timestamp. `time` is its time of day with an optional offset.
pub fn days_until_midnight(time: &str) -> i64 {
    let is_nonzero = |text: &str| text.contains(|letter: char| matches!(letter, '1'..='9'));
    let (clock, offset) = time.split_at(time.find(['+', '-']).unwrap_or(time.len()));
    // West of UTC, even the next midnight can be too early.
    let is_west = offset.starts_with('-') && is_nonzero(offset);
    i64::from(is_nonzero(time)) + i64::from(is_west && is_nonzero(clock))
}
