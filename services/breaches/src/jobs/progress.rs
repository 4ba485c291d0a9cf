//! How far a load is: a bar on a terminal, a line every two seconds elsewhere.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const EVERY: Duration = Duration::from_secs(2);

/// Reports one phase of a job on stderr.
pub struct Progress {
    what: &'static str,
    unit: &'static str,
    total: u64,
    bar: Option<ProgressBar>,
    started: Instant,
    told: Instant,
}

impl Progress {
    /// Begins a phase; `total` is 0 where nobody knows it.
    pub fn begin(what: &'static str, unit: &'static str, total: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total);
            let template =
                "{prefix} {wide_bar} {human_pos}/{human_len} {msg} {per_sec}, {eta} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_prefix(what);
            bar
        });
        Self { what, unit, total, bar, started: Instant::now(), told: Instant::now() }
    }

    /// Tells how far it is, if it is time to.
    pub fn tell(&mut self, position: u64, accepted: i64, skipped: i64) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_message(format!("{accepted} accepted, {skipped} skipped"));
            return;
        }
        if self.told.elapsed() < EVERY {
            return;
        }
        self.told = Instant::now();
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = position as f64 / seconds.max(0.001);
        let left = match self.total.checked_sub(position) {
            Some(left) if self.total > 0 => format!(", {:.0} s left", left as f64 / rate.max(1.0)),
            _ => String::new(),
        };
        eprintln!(
            "{}: {position} {}, {rate:.0} a second{left}, {accepted} accepted, {skipped} skipped",
            self.what, self.unit
        );
    }

    /// Ends the phase.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
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
