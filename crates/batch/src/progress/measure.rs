//! Rates and times, and the line that says them.

use std::time::Duration;

use indicatif::FormattedDuration;

use crate::sizes::{ByteSize, Count};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, printed as KiB, MiB and so on.
    Bytes,
    /// Anything else, by its name in the plural.
    Items(&'static str),
}

impl Unit {
    fn amount(self, number: u64) -> String {
        match self {
            Self::Bytes => ByteSize(number).to_string(),
            Self::Items(_) => Count(number).to_string(),
        }
    }

    /// The amount with its unit.
    fn with_name(self, number: u64) -> String {
        match self {
            Self::Bytes => self.amount(number),
            Self::Items(name) => format!("{} {name}", self.amount(number)),
        }
    }
}

/// How much of something is done after some time.
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
    /// What is done, work of an earlier run included.
    pub done: u64,
    /// What an earlier run had done already; rates leave it out.
    pub resumed_from: u64,
    /// All that is to be done, if that is known.
    pub total: Option<u64>,
    /// Time since the start of this run.
    pub elapsed: Duration,
}

impl Progress {
    /// What is done in a second on average; none as long as that cannot be said.
    ///
    /// ```
    /// # use batch::Progress;
    /// # use std::time::Duration;
    /// let begun = Progress { done: 0, resumed_from: 0, total: None, elapsed: Duration::ZERO };
    /// assert_eq!(begun.per_second(), None);
    /// ```
    pub fn per_second(self) -> Option<f64> {
        let done = self.done.saturating_sub(self.resumed_from);
        let known = done > 0 && !self.elapsed.is_zero();
        known.then(|| done as f64 / self.elapsed.as_secs_f64())
    }

    /// The time until all is done, in whole seconds and at this rate; none where that cannot be
    /// said.
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

    /// The part that is done, in whole percent and at most 100; none without a total.
    ///
    /// ```
    /// # use batch::Progress;
    /// # use std::time::Duration;
    /// let elapsed = Duration::from_secs(1);
    /// let grown = Progress { done: 20, resumed_from: 0, total: Some(9), elapsed };
    /// assert_eq!(grown.percent(), Some(100));
    /// ```
    pub fn percent(self) -> Option<u64> {
        let total = u128::from(self.known_total()?);
        u64::try_from((u128::from(self.done) * 100 / total).min(100)).ok()
    }

    /// A total of 0 says that nobody knows it.
    fn known_total(self) -> Option<u64> {
        self.total.filter(|total| *total > 0)
    }

    /// How much is done, how fast, and how long it will take.
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

    /// How much was done, how long it took, and how fast.
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
    fn a_line_tells_how_much_is_done_how_fast_and_how_long_it_will_take() {
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
            // A file that grew, and one whose size nobody knows.
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
    fn the_first_line_knows_no_rate() {
        let first = |total, done| {
            Progress { elapsed: Duration::ZERO, ..after_ten(total, done) }.running(ACCOUNTS)
        };
        assert_eq!(first(2_000, 0), "0 of 2,000 accounts (0 %)");
        assert_eq!(first(2_000, 1_000), "1,000 of 2,000 accounts (50 %)");
        assert_eq!(first(0, 0), "0 accounts");
    }

    #[test]
    fn the_last_line_tells_how_long_it_took() {
        let expected = "2,000,000 accounts in 00:00:10, 200,000/s";
        assert_eq!(after_ten(2_000_000, 2_000_000).finished(ACCOUNTS), expected);
    }
}
