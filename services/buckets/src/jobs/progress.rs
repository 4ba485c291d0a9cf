//! How far a load is: on the terminal, in the log, and in SQL for `status`.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use database::Pools;
use domain::SharedClock;
use indicatif::{ProgressBar, ProgressStyle};

use super::error::LoadError;
use super::report::Tally;
use crate::model::progress::Progress;
use crate::store::runs;

/// Reports how far a run is, at intervals.
pub struct ProgressReporter {
    pools: Pools,
    clock: SharedClock,
    run: u64,
    bar: ProgressBar,
    started: Instant,
    reported: Instant,
    logged: Instant,
    files_before: u64,
    /// Bytes read, counted by the sources.
    pub bytes_done: Arc<AtomicU64>,
    progress: Progress,
}

/// Time between two records in SQL, and between two updates of a terminal.
const OFTEN: Duration = Duration::from_secs(1);
/// Time between two lines in the log.
const RARELY: Duration = Duration::from_secs(30);

impl ProgressReporter {
    /// A reporter of a run that begins now.
    pub fn new(
        pools: Pools,
        clock: SharedClock,
        run: u64,
        sources: u64,
        bytes: u64,
        files_before: u64,
    ) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new_spinner().with_style(ProgressStyle::default_spinner())
        } else {
            ProgressBar::hidden()
        };
        let now = Instant::now();
        let progress = Progress { sources, bytes, ..Progress::default() };
        let bytes_done = Arc::default();
        Self {
            pools,
            clock,
            run,
            bar,
            started: now,
            reported: now,
            logged: now,
            files_before,
            bytes_done,
            progress,
        }
    }

    /// Whether a report is due.
    pub fn is_due(&self) -> bool {
        self.reported.elapsed() >= OFTEN
    }

    /// Reports if that is due, and returns whether it was.
    pub fn report(&mut self, tally: &Tally, sources_done: u64) -> Result<bool, LoadError> {
        if !self.is_due() {
            return Ok(false);
        }
        self.reported = Instant::now();
        let seconds = self.started.elapsed().as_secs_f64();
        let bytes_done = self.bytes_done.load(Ordering::Relaxed);
        let bytes = self.progress.bytes;
        let left = bytes.saturating_sub(bytes_done) as f64;
        self.progress = Progress {
            sources_done,
            bytes_done,
            files: tally.files,
            bad: tally.bad,
            files_per_second: (tally.files - self.files_before) as f64 / seconds,
            seconds_left: (bytes > 0 && bytes_done > 0).then(|| left * seconds / bytes_done as f64),
            at: self.clock.unix(),
            ..self.progress.clone()
        };
        let text = serde_json::to_string(&self.progress).unwrap_or_default();
        self.pools.write_blocking(|db| runs::set_progress(db, self.run, &text))?;
        let line = self.line();
        if self.bar.is_hidden() && self.logged.elapsed() >= RARELY {
            self.logged = Instant::now();
            log::info!("{line}");
        }
        self.bar.set_message(line);
        self.bar.tick();
        Ok(true)
    }

    fn line(&self) -> String {
        let Progress { sources_done, sources, bytes_done, bytes, files, bad, .. } = self.progress;
        let left = self.progress.seconds_left.map_or(String::new(), |s| format!(", {s:.0} s left"));
        format!(
            "run {}: {sources_done}/{sources} sources, {}/{} MiB, {files} files, {bad} bad, {:.0} \
             files/s{left}",
            self.run,
            bytes_done >> 20,
            bytes >> 20,
            self.progress.files_per_second
        )
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
