//! How far a command is: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

const LINE_EVERY: Duration = Duration::from_secs(10);

/// Counts bytes of one step of a command on standard error.
pub struct Progress {
    bar: ProgressBar,
    step: &'static str,
    last_line: Option<Mutex<Instant>>,
}

impl Progress {
    /// Begins a step over `total` bytes, if their number is known.
    pub fn new(step: &'static str, total: Option<u64>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(style(
                "{prefix:>12} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            )),
            None => ProgressBar::no_length()
                .with_style(style("{prefix:>12} {spinner} {bytes}, {bytes_per_sec}")),
        };
        if !terminal {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        bar.set_prefix(step);
        let last_line = (!terminal).then(|| Mutex::new(Instant::now()));
        Self { bar, step, last_line }
    }

    /// Adds bytes that are done.
    pub fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        let Some(last) = &self.last_line else { return };
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= LINE_EVERY {
            *last = Instant::now();
            log::info!("{}", self.line());
        }
    }

    fn line(&self) -> String {
        let done = HumanBytes(self.bar.position());
        let rate = HumanBytes(self.bar.per_sec() as u64);
        match self.bar.length() {
            Some(total) => format!(
                "{}: {done} of {}, {rate}/s, {} left",
                self.step,
                HumanBytes(total),
                indicatif::HumanDuration(self.bar.eta())
            ),
            None => format!("{}: {done}, {rate}/s", self.step),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
