//! Ranges of numbers and timestamps in columns.

use super::column::{Column, DIGITS, LARGEST_INTEGER, Stored};

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
}
