//! How far a load is: one line that is rewritten on a terminal, a line every two seconds elsewhere.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, HumanCount, ProgressBar, ProgressStyle};

const EVERY: Duration = Duration::from_secs(2);

/// Reports one phase of a job on stderr.
pub struct Progress {
    phase: Phase,
    bar: Option<ProgressBar>,
    started: Instant,
    told: Option<Instant>,
}

impl Progress {
    /// Begins a phase; `total` is 0 where nobody knows it.
    pub fn begin(what: &'static str, unit: &'static str, total: u64) -> Self {
        let phase = Phase { what, unit, total, done: 0, rows: None };
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            bar.set_message(phase.line(Duration::ZERO));
            bar
        });
        Self { phase, bar, started: Instant::now(), told: None }
    }

    /// Tells how much is done and what became of the rows of the input, if it is time to: otherwise it
    /// looks at a clock only.
    pub fn tell(&mut self, done: u64, accepted: i64, skipped: i64) {
        self.phase.rows = Some((accepted, skipped));
        self.tell_done(done);
    }

    /// Tells how much is done, where there is no input.
    pub fn tell_done(&mut self, done: u64) {
        self.phase.done = done;
        if self.told.unwrap_or(self.started).elapsed() < EVERY {
            return;
        }
        self.told = Some(Instant::now());
        let line = self.phase.line(self.started.elapsed());
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => eprintln!("{line}"),
        }
    }

    /// Ends the phase, with a last line if it had any.
    pub fn end(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.told.is_some() {
            eprintln!("{}", self.phase.last_line(self.started.elapsed()));
        }
    }
}

/// How far a phase is, apart from the time that it took.
struct Phase {
    what: &'static str,
    unit: &'static str,
    total: u64,
    done: u64,
    /// Accepted and skipped rows.
    rows: Option<(i64, i64)>,
}

impl Phase {
    /// What is told on the way.
    fn line(&self, elapsed: Duration) -> String {
        let Self { what, unit, total, done, .. } = *self;
        let mut line = format!("{what}: {}", HumanCount(done));
        if total > 0 {
            let percent = (u128::from(done) * 100 / u128::from(total)).min(100);
            line += &format!(" of {} {unit} ({percent} %)", HumanCount(total));
        } else {
            line += &format!(" {unit}");
        }
        let rate = self.rate(elapsed);
        line += &rate_text(rate);
        if let (Some(rate), Some(left)) = (rate, total.checked_sub(done)) {
            let left = Duration::from_secs((left as f64 / rate).ceil() as u64);
            line += &format!(", {} left", FormattedDuration(left));
        }
        line + &self.rows_text()
    }

    /// What is told at the end.
    fn last_line(&self, elapsed: Duration) -> String {
        let Self { what, unit, done, .. } = *self;
        let (done, took) = (HumanCount(done), FormattedDuration(elapsed));
        let rate = rate_text(self.rate(elapsed));
        format!("{what}: {done} {unit} in {took}{rate}{}", self.rows_text())
    }

    /// What is done in a second; none as long as nobody can say.
    fn rate(&self, elapsed: Duration) -> Option<f64> {
        let known = self.done > 0 && !elapsed.is_zero();
        known.then(|| self.done as f64 / elapsed.as_secs_f64())
    }

    fn rows_text(&self) -> String {
        let count = |rows: i64| HumanCount(rows.unsigned_abs());
        self.rows.map_or_else(String::new, |(accepted, skipped)| {
            format!(", {} accepted, {} skipped", count(accepted), count(skipped))
        })
    }
}

fn rate_text(rate: Option<f64>) -> String {
    rate.map_or_else(String::new, |rate| format!(", {} a second", HumanCount(rate.round() as u64)))
}

/// Counts the bytes that pass.
pub struct Counting<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R> Counting<R> {
    /// Adds what is read to `bytes`.
    pub fn new(inner: R, bytes: Arc<AtomicU64>) -> Self {
        Self { inner, bytes }
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Duration = Duration::from_secs(10);

    fn phase(total: u64, done: u64) -> Phase {
        Phase { what: "loading", unit: "accounts", total, done, rows: Some((2_000_000, 1_234)) }
    }

    #[test]
    fn a_line_tells_how_much_is_done_how_fast_and_how_long_it_will_take() {
        for (total, done, expected) in [
            (2_000_000, 0, "0 of 2,000,000 accounts (0 %)"),
            (
                2_000_000,
                500_000,
                "500,000 of 2,000,000 accounts (25 %), 50,000 a second, 00:00:30 left",
            ),
            (
                2_000_000,
                2_000_000,
                "2,000,000 of 2,000,000 accounts (100 %), 200,000 a second, 00:00:00 left",
            ),
            (
                2_000_000,
                1_999_999,
                "1,999,999 of 2,000,000 accounts (99 %), 200,000 a second, 00:00:01 left",
            ),
            // A file that grew, and one whose size nobody knows.
            (9, 20, "20 of 9 accounts (100 %), 2 a second"),
            (0, 12_345, "12,345 accounts, 1,235 a second"),
        ] {
            let line = phase(total, done).line(TEN);
            assert_eq!(line, format!("loading: {expected}, 2,000,000 accepted, 1,234 skipped"));
        }
    }

    #[test]
    fn the_first_line_knows_no_rate_and_no_rows() {
        let first = |total, done| Phase { rows: None, ..phase(total, done) }.line(Duration::ZERO);
        assert_eq!(first(2_000, 0), "loading: 0 of 2,000 accounts (0 %)");
        assert_eq!(first(2_000, 1_000), "loading: 1,000 of 2,000 accounts (50 %)");
        assert_eq!(first(0, 0), "loading: 0 accounts");
    }

    #[test]
    fn the_last_line_tells_how_long_it_took() {
        let expected = "loading: 2,000,000 accounts in 00:00:10, 200,000 a second, \
                        2,000,000 accepted, 1,234 skipped";
        assert_eq!(phase(2_000_000, 2_000_000).last_line(TEN), expected);
        let looked_at = Phase { unit: "accounts looked at", rows: None, ..phase(0, 5_000) };
        assert_eq!(
            looked_at.last_line(TEN),
            "loading: 5,000 accounts looked at in 00:00:10, 500 a second"
        );
    }

    #[test]
    fn nothing_is_told_before_its_time() {
        let mut progress = Progress::begin("loading", "accounts", 10);
        progress.tell(5, 5, 0);
        assert_eq!(progress.told, None);
        progress.started = Instant::now().checked_sub(EVERY).unwrap();
        progress.tell_done(6);
        let told = progress.told.unwrap();
        progress.tell_done(7);
        assert_eq!((progress.told, progress.phase.done), (Some(told), 7));
    }
}
