//! Computes rates and remaining times, and formats progress lines.

use std::time::Duration;

use indicatif::FormattedDuration;

use crate::sizes::{ByteSize, Count};

/// The unit in which progress is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, printed in KiB, MiB and so on.
    Bytes,
    /// Anything else, given as a plural.
    Items(&'static str),
}

impl Unit {
    fn amount(self, number: u64) -> String {
        match self {
            Self::Bytes => ByteSize(number).to_string(),
            Self::Items(_) => Count(number).to_string(),
        }
    }

    /// Formats an amount with its unit.
    fn with_name(self, number: u64) -> String {
        match self {
            Self::Bytes => self.amount(number),
            Self::Items(name) => format!("{} {name}", self.amount(number)),
        }
    }
}

/// A snapshot of a job's progress.
///
/// ```
/// use std::time::Duration;
///
/// use batch::Progress;
///
/// let progress = Progress { done: 500, resumed_from: 0, total: Some(2_000), elapsed: Duration::from_secs(10) };
/// assert_eq!(progress.per_second(), Some(50.0));
/// assert_eq!(progress.time_left(), Some(Duration::from_secs(30)));
/// assert_eq!(progress.percent(), Some(25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Work done so far, including work done by an earlier run.
    pub done: u64,
    /// Work done by an earlier run, which doesn't count towards the rate.
    pub resumed_from: u64,
    /// The total amount of work, if known.
    pub total: Option<u64>,
    /// Time since the start of this run.
    pub elapsed: Duration,
}

impl Progress {
    /// Returns the average rate, or `None` if nothing has been done yet.
    pub fn per_second(self) -> Option<f64> {
        let done = self.done.saturating_sub(self.resumed_from);
        let known = done > 0 && !self.elapsed.is_zero();
        known.then(|| done as f64 / self.elapsed.as_secs_f64())
    }

    /// Estimates the remaining time in whole seconds. Returns `None` if the rate or the total is
    /// unknown.
    ///
    /// ```
    /// # use batch::Progress;
    /// # use std::time::Duration;
    /// let elapsed = Duration::from_secs(4);
    /// let resumed = Progress { done: 90, resumed_from: 50, total: Some(100), elapsed };
    /// assert_eq!(resumed.time_left(), Some(Duration::from_secs(1)));
    /// ```
    pub fn time_left(self) -> Option<Duration> {
        let left = self.known_total()?.checked_sub(self.done)?;
        let seconds = left as f64 / self.per_second()?;
        Some(Duration::from_secs(seconds.ceil() as u64))
    }

    /// Returns the percentage done, at most 100. `None` if the total is unknown.
    pub fn percent(self) -> Option<u64> {
        let total = u128::from(self.known_total()?);
        u64::try_from((u128::from(self.done) * 100 / total).min(100)).ok()
    }

    /// Returns the total, or `None` if it is unknown or 0.
    fn known_total(self) -> Option<u64> {
        self.total.filter(|total| *total > 0)
    }

    /// Formats the amount done, the rate and the remaining time.
    pub(super) fn running(self, unit: Unit) -> String {
        let mut text = match (self.known_total(), self.percent()) {
            (Some(total), Some(percent)) => {
                format!("{} of {} ({percent} %)", unit.amount(self.done), unit.with_name(total))
            }
            _ => unit.with_name(self.done),
        };
        text += &self.rate(unit);
        if let Some(left) = self.time_left() {
            text += &format!(", {} left", FormattedDuration(left));
        }
        text
    }

    /// Formats the amount done, the elapsed time and the rate.
    pub(super) fn finished(self, unit: Unit) -> String {
        let took = FormattedDuration(self.elapsed);
        format!("{} in {took}{}", unit.with_name(self.done), self.rate(unit))
    }

    fn rate(self, unit: Unit) -> String {
        self.per_second()
            .map_or_else(String::new, |rate| format!(", {}/s", unit.amount(rate.round() as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Duration = Duration::from_secs(10);
    const ACCOUNTS: Unit = Unit::Items("accounts");

    fn after_ten(total: u64, done: u64) -> Progress {
        Progress { done, resumed_from: 0, total: Some(total), elapsed: TEN }
    }

    #[test]
    fn a_running_line_has_amount_rate_and_remaining_time() {
        for (total, done, expected) in [
            (2_000_000, 0, "0 of 2,000,000 accounts (0 %)"),
            (2_000_000, 500_000, "500,000 of 2,000,000 accounts (25 %), 50,000/s, 00:00:30 left"),
            (
                2_000_000,
                2_000_000,
                "2,000,000 of 2,000,000 accounts (100 %), 200,000/s, 00:00:00 left",
            ),
            (
                2_000_000,
                1_999_999,
                "1,999,999 of 2,000,000 accounts (99 %), 200,000/s, 00:00:01 left",
            ),
            // A file that has grown, and one of unknown size.
            (9, 20, "20 of 9 accounts (100 %), 2/s"),
            (0, 12_345, "12,345 accounts, 1,235/s"),
        ] {
            assert_eq!(after_ten(total, done).running(ACCOUNTS), expected);
        }
    }

    #[test]
    fn bytes_have_units() {
        let line = after_ten(200 << 20, 50 << 20).running(Unit::Bytes);
        assert_eq!(line, "50.00 MiB of 200.00 MiB (25 %), 5.00 MiB/s, 00:00:30 left");
    }

    #[test]
    fn the_first_line_has_no_rate() {
        let first = |total, done| {
            Progress { elapsed: Duration::ZERO, ..after_ten(total, done) }.running(ACCOUNTS)
        };
        assert_eq!(first(2_000, 0), "0 of 2,000 accounts (0 %)");
        assert_eq!(first(2_000, 1_000), "1,000 of 2,000 accounts (50 %)");
        assert_eq!(first(0, 0), "0 accounts");
    }

    #[test]
    fn the_last_line_has_the_elapsed_time() {
        let expected = "2,000,000 accounts in 00:00:10, 200,000/s";
        assert_eq!(after_ten(2_000_000, 2_000_000).finished(ACCOUNTS), expected);
    }
}
