//! Logs failed attempts per destination and at intervals, instead of once per message.

use std::collections::BTreeMap;
use std::mem;
use std::time::{Duration, Instant};

use log::Level;

/// Minimum time between two log lines about a destination.
const LOG_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Failed {
    /// The destination, in a form that is safe to log.
    pub(crate) destination: String,
    /// The number of the attempt, counted from 1.
    pub(crate) attempt: u32,
    /// Whether this was the last attempt.
    pub(crate) is_abandoned: bool,
    /// The reason for the failure.
    pub(crate) why: String,
}

/// Failed attempts that haven't been logged yet.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// The number of failed attempts and the details of the last one. The key is the destination
    /// and whether the messages were abandoned.
    unlogged: BTreeMap<(String, bool), (u64, u32, String)>,
    logged: Option<Instant>,
}

impl Failures {
    pub(crate) fn note(&mut self, failed: Failed) {
        let Failed { destination, attempt, is_abandoned, why } = failed;
        let same = self.unlogged.entry((destination, is_abandoned)).or_default();
        *same = (same.0 + 1, attempt, why);
    }

    pub(crate) fn log(&mut self) {
        for (level, line) in self.take_lines() {
            log::log!(level, "{line}");
        }
    }

    /// Logs all failures, unless some were logged recently.
    pub(crate) fn log_if_due(&mut self) {
        let is_due = self.logged.is_none_or(|at| at.elapsed() >= LOG_EVERY);
        if is_due && !self.unlogged.is_empty() {
            self.logged = Some(Instant::now());
            self.log();
        }
    }

    fn take_lines(&mut self) -> Vec<(Level, String)> {
        let mut lines = Vec::new();
        for ((destination, is_abandoned), (count, attempt, why)) in mem::take(&mut self.unlogged) {
            let (level, fate) = match is_abandoned {
                true => (Level::Warn, "abandoned"),
                false => (Level::Info, "failed, will be retried"),
            };
            let last = format!("the last one, attempt {attempt}: {why}");
            lines.push((level, format!("deliveries to {destination}: {count} {fate}; {last}")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(destination: &str, attempt: u32, is_abandoned: bool) -> Failed {
        let why = format!("reason {attempt}");
        Failed { destination: destination.to_owned(), attempt, is_abandoned, why }
    }

    #[test]
    fn destination_has_one_line_for_retries_and_one_for_abandoned_messages() {
        let mut failures = Failures::default();
        for attempt in 1..=3 {
            failures.note(failed("webhook 7", attempt, false));
        }
        failures.note(failed("webhook 7", 6, true));
        failures.note(failed("the mail server", 1, false));
        let line = |level, text: &str| (level, text.to_owned());
        let expected = [
            line(
                Level::Info,
                "deliveries to the mail server: 1 failed, will be retried; the last one, attempt 1: reason 1",
            ),
            line(
                Level::Info,
                "deliveries to webhook 7: 3 failed, will be retried; the last one, attempt 3: reason 3",
            ),
            line(
                Level::Warn,
                "deliveries to webhook 7: 1 abandoned; the last one, attempt 6: reason 6",
            ),
        ];
        assert_eq!(failures.take_lines(), expected);
        assert!(failures.take_lines().is_empty(), "nothing is logged twice");
    }

    #[test]
    fn the_first_failure_is_logged_at_once_and_later_ones_together() {
        let mut failures = Failures::default();
        failures.note(failed("webhook 7", 1, false));
        failures.log_if_due();
        assert!(failures.unlogged.is_empty());
        failures.note(failed("webhook 7", 1, false));
        failures.log_if_due();
        assert_eq!(failures.unlogged.len(), 1, "a minute has not passed");
    }
}
