//! UTC calendar months, numbered from January of year 0.

use super::instant;

/// A calendar month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(i64);

impl Month {
    /// Restores a month from its stored number.
    pub fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number stored in the database.
    pub fn number(self) -> i64 {
        self.0
    }

    /// Returns the month that contains a Unix time.
    pub fn of(seconds: i64) -> Self {
        let (year, month) = instant::year_and_month(seconds);
        Self(i64::from(year) * 12 + i64::from(month) - 1)
    }

    /// Returns the last full month before a Unix time.
    pub fn last_before(seconds: i64) -> Self {
        Self::of(seconds).previous()
    }

    /// Returns the previous month.
    pub fn previous(self) -> Self {
        Self(self.0 - 1)
    }

    /// Returns the next month.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Returns the first second of the month.
    pub fn start(self) -> i64 {
        let (year, month) = (self.0.div_euclid(12), self.0.rem_euclid(12) + 1);
        instant::start_of_month(year, month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_at_midnight_of_their_first_day() {
        for (text, start, before) in [
            ("2026-03-01T00:00:00Z", "2026-03-01", "2026-02-01"),
            ("2026-03-31T23:59:59Z", "2026-03-01", "2026-02-01"),
            ("2026-01-15T12:00:00Z", "2026-01-01", "2025-12-01"),
            ("1969-12-31T23:59:59Z", "1969-12-01", "1969-11-01"),
            ("2028-02-29T23:59:59Z", "2028-02-01", "2028-01-01"),
            ("2028-03-01T00:00:00Z", "2028-03-01", "2028-02-01"),
            // Still March in UTC, though summer time begins in Europe.
            ("2026-04-01T00:30:00+02:00", "2026-03-01", "2026-02-01"),
        ] {
            let month = Month::of(instant::parse(text).unwrap());
            assert_eq!(instant::date(month.start()), start, "{text}");
            assert_eq!(instant::date(month.previous().start()), before, "{text}");
            assert_eq!(month.previous().next(), month);
            assert_eq!(Month::from_number(month.number()), month);
            assert_eq!(Month::last_before(month.start()), month.previous());
        }
    }
}
