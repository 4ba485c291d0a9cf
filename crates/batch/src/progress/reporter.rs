//! Shows how far a phase of a command is.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::{Mutex, MutexGuard};

use super::measure::{Progress, Unit};

/// Time between two looks of a terminal.
const ON_TERMINAL: Duration = Duration::from_secs(1);
/// Time between two lines elsewhere, unless a service says another.
const ELSEWHERE: Duration = Duration::from_secs(10);

/// Reports one phase of a command on standard error.
///
/// On a terminal that is a bar that is drawn anew each second. Elsewhere it is a line of the log
/// each ten seconds, or as often as [`Self::every`] says. A phase that ends before its first
/// report stays silent. Threads share a reporter by reference; most calls look at a clock only.
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
    /// When the next report is due, in milliseconds since the start.
    due: AtomicU64,
    /// What else the reports say; see [`Self::set_with`].
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
    /// Begins a phase, named in the present participle, over `total` units if that is known.
    ///
    /// ```
    /// use batch::{ProgressReporter, Unit};
    ///
    /// let progress = ProgressReporter::new("purging", Unit::Items("accounts"), None);
    /// progress.add(5_000);
    /// ```
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

    /// Sets the time between two lines where there is no terminal.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use batch::{ProgressReporter, Unit};
    ///
    /// let progress = ProgressReporter::new("loading", Unit::Items("accounts"), Some(2_000_000))
    ///     .every(Duration::from_secs(2));
    /// progress.set(4_096);
    /// ```
    #[must_use]
    pub fn every(self, time: Duration) -> Self {
        match self.display {
            Display::Terminal(_) => self,
            _ => self.with_interval(time),
        }
    }

    /// Begins with what an earlier run had done, which counts as done and not for the rate.
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

    /// Adds what was done since the last call, and reports if that is due.
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

    /// Sets what is done in all, and reports if that is due.
    ///
    /// ```
    /// # let progress = batch::ProgressReporter::new("reading", batch::Unit::Bytes, None);
    /// progress.set(10);
    /// progress.set(20);
    /// assert_eq!(progress.progress().done, 20);
    /// ```
    pub fn set(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        if self.becomes_due() {
            self.show();
        }
    }

    /// As [`Self::set`], with further words for the report, which are made only when it is due and
    /// stay until others are set.
    ///
    /// ```
    /// # let progress = batch::ProgressReporter::new("reading", batch::Unit::Bytes, None);
    /// let (accepted, skipped) = (1_000, 3);
    /// progress.set_with(65_536, || format!("{accepted} accepted, {skipped} skipped"));
    /// ```
    pub fn set_with(&self, done: u64, details: impl FnOnce() -> String) {
        self.done.store(done, Ordering::Relaxed);
        if self.becomes_due() {
            self.set_details(details());
            self.show();
        }
    }

    /// Sets the further words of reports without making one: for the last line.
    ///
    /// ```
    /// # let progress = batch::ProgressReporter::new("reading", batch::Unit::Bytes, None);
    /// progress.set_details("1,000 accepted, 3 skipped");
    /// progress.finish();
    /// ```
    pub fn set_details(&self, details: impl Into<String>) {
        *self.details() = details.into();
    }

    /// How far the phase is now.
    ///
    /// ```
    /// # let progress = batch::ProgressReporter::new("reading", batch::Unit::Bytes, Some(10));
    /// progress.add(5);
    /// assert_eq!(progress.progress().percent(), Some(50));
    /// ```
    pub fn progress(&self) -> Progress {
        Progress {
            done: self.done.load(Ordering::Relaxed),
            resumed_from: self.resumed_from,
            total: self.total,
            elapsed: self.started.elapsed(),
        }
    }

    /// Ends the phase: a last line says how long it took, if any was reported before. A reporter
    /// that is dropped instead, because of an error, says nothing.
    ///
    /// ```
    /// # let progress = batch::ProgressReporter::new("reading", batch::Unit::Bytes, None);
    /// progress.add(5);
    /// progress.finish();
    /// ```
    pub fn finish(self) {
        if self.due.load(Ordering::Relaxed) <= milliseconds(self.every) {
            return;
        }
        let line = self.line(self.progress().finished(self.unit));
        match &self.display {
            Display::Terminal(bar) => {
                bar.finish_and_clear();
                // A terminal that has gone away does not end the work.
                let _ = writeln!(io::stderr(), "{line}");
            }
            Display::Log => log::info!("{line}"),
            #[cfg(test)]
            Display::Kept(lines) => lines.lock().push(line),
        }
    }

    /// Whether a report is due; then the next one is due after the interval. Only one of several
    /// threads is told so.
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

    /// Lets the reporter have begun `time` ago.
    fn after(mut progress: ProgressReporter, time: Duration) -> ProgressReporter {
        progress.started = Instant::now().checked_sub(time).unwrap();
        progress
    }

    #[test]
    fn nothing_is_reported_before_its_time() {
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
    fn one_of_several_threads_reports() {
        let progress = after(kept(Duration::from_secs(50)), Duration::from_secs(60));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| progress.add(1)));
            }
        });
        assert_eq!((lines(&progress).len(), progress.progress().done), (1, 400));
    }

    #[test]
    fn a_report_without_pause_is_made_each_time() {
        let progress = kept(Duration::ZERO);
        progress.add(1);
        let progress = after(progress, Duration::from_secs(60));
        progress.add(1);
        assert_eq!(lines(&progress).len(), 2);
    }

    #[test]
    fn a_resumed_phase_counts_its_rate_from_its_own_start() {
        let progress = after(kept(Duration::from_secs(1)), Duration::from_secs(10));
        let progress = progress.resumed_from(1_000);
        progress.add(100);
        assert_eq!(lines(&progress), ["loading: 1,100 accounts, 10/s"]);
    }
}
