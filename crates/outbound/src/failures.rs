//! What the log says of failed attempts: a line for each destination now and then, not one for each
//! message.

use std::collections::BTreeMap;
use std::mem;
use std::time::{Duration, Instant};

use log::Level;

/// Time between two lines of a destination, at least.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Where the message goes, as the log may name it.
    pub(crate) destination: String,
    /// The number of the attempt, from 1.
    pub(crate) attempt: u32,
    /// Whether no further one follows.
    pub(crate) is_given_up: bool,
    /// The reason.
    pub(crate) why: String,
}

/// Failed attempts that the log has not told of yet.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// By destination, and whether the messages are given up: how many, and the last one of them.
    untold: BTreeMap<(String, bool), (u64, u32, String)>,
    told: Option<Instant>,
}

impl Failures {
    /// Counts an attempt.
    pub(crate) fn note(&mut self, failed: Failed) {
        let Failed { destination, attempt, is_given_up, why } = failed;
        let same = self.untold.entry((destination, is_given_up)).or_default();
        *same = (same.0 + 1, attempt, why);
    }

    /// Tells of all that was noted.
    pub(crate) fn tell(&mut self) {
        for (level, line) in self.take_lines() {
            log::log!(level, "{line}");
        }
    }

    /// Tells of all that was noted, unless it has done so a short while ago.
    pub(crate) fn tell_if_due(&mut self) {
        let is_due = self.told.is_none_or(|at| at.elapsed() >= TELL_EVERY);
        if is_due && !self.untold.is_empty() {
            self.told = Some(Instant::now());
            self.tell();
        }
    }

    fn take_lines(&mut self) -> Vec<(Level, String)> {
        let mut lines = Vec::new();
        for ((destination, is_given_up), (count, attempt, why)) in mem::take(&mut self.untold) {
            let (level, fate) = match is_given_up {
                true => (Level::Warn, "given up"),
                false => (Level::Info, "failed, to be tried again"),
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

    fn failed(destination: &str, attempt: u32, is_given_up: bool) -> Failed {
        let why = format!("reason {attempt}");
        Failed { destination: destination.to_owned(), attempt, is_given_up, why }
    }

    #[test]
    fn a_destination_has_one_line_for_what_waits_and_one_for_what_is_given_up() {
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
                "deliveries to the mail server: 1 failed, to be tried again; the last one, attempt 1: reason 1",
            ),
            line(
                Level::Info,
                "deliveries to webhook 7: 3 failed, to be tried again; the last one, attempt 3: reason 3",
            ),
            line(
                Level::Warn,
                "deliveries to webhook 7: 1 given up; the last one, attempt 6: reason 6",
            ),
        ];
        assert_eq!(failures.take_lines(), expected);
        assert!(failures.take_lines().is_empty(), "nothing is told twice");
    }

    #[test]
    fn the_first_failure_is_told_at_once_and_the_next_ones_together() {
        let mut failures = Failures::default();
        failures.note(failed("webhook 7", 1, false));
        failures.tell_if_due();
        assert!(failures.untold.is_empty());
        failures.note(failed("webhook 7", 1, false));
        failures.tell_if_due();
        assert_eq!(failures.untold.len(), 1, "a minute has not passed");
    }
}
