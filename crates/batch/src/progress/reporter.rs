//! Reports the progress of one phase of a command.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::{Mutex, MutexGuard};

use super::measure::{Progress, Unit};

const ON_TERMINAL: Duration = Duration::from_secs(1);
/// The default interval between log lines.
const ELSEWHERE: Duration = Duration::from_secs(10);

/// Reports the progress of one phase of a command on standard error.
///
/// On a terminal, it redraws a bar every second. Elsewhere, it logs a line every ten seconds, or at
/// the interval set with [`Self::every`]. A phase that finishes before the first report is due
/// doesn't print anything. Threads can share a reporter by reference. Most calls do no more than
/// read the clock.
///
/// ```
/// use batch::{ProgressReporter, Unit};
///
/// let chunks = [vec![0; 3], vec![0; 4]];
/// let progress = ProgressReporter::new("reading", Unit::Bytes, Some(7));
/// for chunk in &chunks {
///     progress.add(chunk.len() as u64);
/// }
/// assert_eq!(progress.progress().percent(), Some(100));
/// progress.finish();
/// ```
#[derive(Debug)]
pub struct ProgressReporter {
    phase: String,
    unit: Unit,
    total: Option<u64>,
    resumed_from: u64,
    done: AtomicU64,
    started: Instant,
    every: Duration,
    /// Time of the next report, in milliseconds since the start.
    due: AtomicU64,
    /// Additional text for the reports. See [`Self::set_with`].
    details: Mutex<String>,
    display: Display,
}

#[derive(Debug)]
enum Display {
    Terminal(ProgressBar),
    Log,
    #[cfg(test)]
    Kept(Mutex<Vec<String>>),
}

impl ProgressReporter {
    /// Starts a phase. Its name should be a present participle, e.g. "loading". `total` is the
    /// amount of work, if known.
    pub fn new(phase: impl Into<String>, unit: Unit, total: Option<u64>) -> Self {
        let phase = phase.into();
        let (display, every) = if io::stderr().is_terminal() {
            (Display::Terminal(bar(&phase, total)), ON_TERMINAL)
        } else {
            (Display::Log, ELSEWHERE)
        };
        Self::with_display(phase, unit, total, display).with_interval(every)
    }

    fn with_display(phase: String, unit: Unit, total: Option<u64>, display: Display) -> Self {
        Self {
            phase,
            unit,
            total,
            resumed_from: 0,
            done: AtomicU64::new(0),
            started: Instant::now(),
            every: Duration::ZERO,
            due: AtomicU64::new(0),
            details: Mutex::default(),
            display,
        }
    }

    fn with_interval(mut self, every: Duration) -> Self {
        self.every = every;
        self.due = AtomicU64::new(milliseconds(every));
        self
    }

    /// Sets the interval between log lines. This has no effect on a terminal.
    #[must_use]
    pub fn every(self, time: Duration) -> Self {
        match self.display {
            Display::Terminal(_) => self,
            _ => self.with_interval(time),
        }
    }

    /// Sets the amount of work done by an earlier run. It counts as done, but not towards the rate.
    ///
    /// ```
    /// use batch::{ProgressReporter, Unit};
    ///
    /// let progress = ProgressReporter::new("loading", Unit::Bytes, Some(100)).resumed_from(60);
    /// assert_eq!(progress.progress().percent(), Some(60));
    /// ```
    #[must_use]
    pub fn resumed_from(mut self, done: u64) -> Self {
        self.resumed_from = done;
        self.done = AtomicU64::new(done);
        self
    }

    /// Adds the amount done since the last call. Prints a report if one is due.
    ///
    /// ```
    /// # let progress = batch::ProgressReporter::new("reading", batch::Unit::Bytes, None);
    /// std::thread::scope(|scope| {
    ///     for _ in 0..2 {
    ///         scope.spawn(|| progress.add(1 << 20));
    ///     }
    /// });
    /// assert_eq!(progress.progress().done, 2 << 20);
    /// ```
    pub fn add(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
        if self.becomes_due() {
            self.show();
        }
    }

    /// Sets the total amount done. Prints a report if one is due.
    pub fn set(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        if self.becomes_due() {
            self.show();
        }
    }

    /// Like [`Self::set`], but also sets additional text for this and later reports. `details` is
    /// only called if a report is due.
    pub fn set_with(&self, done: u64, details: impl FnOnce() -> String) {
        self.done.store(done, Ordering::Relaxed);
        if self.becomes_due() {
            self.set_details(details());
            self.show();
        }
    }

    /// Sets the additional text without reporting, so that it appears in the last line.
    pub fn set_details(&self, details: impl Into<String>) {
        *self.details() = details.into();
    }

    /// Returns the current progress.
    pub fn progress(&self) -> Progress {
        Progress {
            done: self.done.load(Ordering::Relaxed),
            resumed_from: self.resumed_from,
            total: self.total,
            elapsed: self.started.elapsed(),
        }
    }

    /// Ends the phase. If there were any reports, prints how long it took. A reporter that is
    /// dropped because of an error doesn't print anything.
    pub fn finish(self) {
        if self.due.load(Ordering::Relaxed) <= milliseconds(self.every) {
            return;
        }
        let line = self.line(self.progress().finished(self.unit));
        match &self.display {
            Display::Terminal(bar) => {
                bar.finish_and_clear();
                // Keep working even if the terminal has been closed.
                let _ = writeln!(io::stderr(), "{line}");
            }
            Display::Log => log::info!("{line}"),
            #[cfg(test)]
            Display::Kept(lines) => lines.lock().push(line),
        }
    }

    /// Returns whether a report is due, and if so, schedules the next one. If several threads call
    /// this at once, only one of them gets `true`.
    fn becomes_due(&self) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        let elapsed = self.started.elapsed();
        if milliseconds(elapsed) < due {
            return false;
        }
        let next = milliseconds(elapsed.saturating_add(self.every)).max(due + 1);
        self.due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn show(&self) {
        let progress = self.progress();
        match &self.display {
            Display::Terminal(bar) => {
                bar.set_message(self.with_details(progress.running(self.unit)));
                bar.set_position(progress.done);
                bar.tick();
            }
            Display::Log => log::info!("{}", self.line(progress.running(self.unit))),
            #[cfg(test)]
            Display::Kept(lines) => {
                lines.lock().push(self.line(progress.running(self.unit)));
            }
        }
    }

    fn line(&self, text: String) -> String {
        format!("{}: {}", self.phase, self.with_details(text))
    }

    fn with_details(&self, text: String) -> String {
        let details = self.details();
        if details.is_empty() { text } else { format!("{text}, {details}") }
    }

    fn details(&self) -> MutexGuard<'_, String> {
        self.details.lock()
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        if let Display::Terminal(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

fn bar(phase: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{prefix} {bar:20} {wide_msg}"),
        None => (ProgressBar::no_length(), "{prefix} {spinner} {wide_msg}"),
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(phase.to_owned());
    bar.tick();
    bar
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(every: Duration) -> ProgressReporter {
        let display = Display::Kept(Mutex::default());
        let accounts = Unit::Items("accounts");
        ProgressReporter::with_display("loading".to_owned(), accounts, None, display)
            .with_interval(every)
    }

    fn lines(progress: &ProgressReporter) -> Vec<String> {
        let Display::Kept(lines) = &progress.display else { return Vec::new() };
        lines.lock().clone()
    }

    /// Moves a reporter's start time back by `time`.
    fn after(mut progress: ProgressReporter, time: Duration) -> ProgressReporter {
        progress.started = Instant::now().checked_sub(time).unwrap();
        progress
    }

    #[test]
    fn reports_wait_for_their_interval() {
        let progress = kept(Duration::from_secs(100));
        progress.set(5);
        assert_eq!(lines(&progress), [""; 0]);
        let progress = after(progress, Duration::from_secs(100));
        progress.set_with(6_000, || "3 skipped".to_owned());
        progress.set_with(7_000, || unreachable!("the next report is not due"));
        assert_eq!(lines(&progress), ["loading: 6,000 accounts, 60/s, 3 skipped"]);
        assert_eq!(progress.progress().done, 7_000);
    }

    #[test]
    fn only_one_of_several_threads_reports() {
        let progress = after(kept(Duration::from_secs(50)), Duration::from_secs(60));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| progress.add(1)));
            }
        });
        assert_eq!((lines(&progress).len(), progress.progress().done), (1, 400));
    }

    #[test]
    fn an_interval_of_zero_reports_each_call() {
        let progress = kept(Duration::ZERO);
        progress.add(1);
        let progress = after(progress, Duration::from_secs(60));
        progress.add(1);
        assert_eq!(lines(&progress).len(), 2);
    }

    #[test]
    fn the_rate_of_a_resumed_phase_counts_from_its_own_start() {
        let progress = after(kept(Duration::from_secs(1)), Duration::from_secs(10));
        let progress = progress.resumed_from(1_000);
        progress.add(100);
        assert_eq!(lines(&progress), ["loading: 1,100 accounts, 10/s"]);
    }
}
