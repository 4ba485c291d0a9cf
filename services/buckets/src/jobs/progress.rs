//! How far a load is: on the terminal, in the log, and in SQL for `status`.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use database::Pools;
use domain::SharedClock;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::LoadError;
use super::report::Tally;
use crate::store::run::{self, Run};

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Sources read to their end.
    pub sources_done: u64,
    /// All sources.
    pub sources: u64,
    /// Bytes read.
    pub bytes_done: u64,
    /// Bytes of all sources; 0 when standard input is among them.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Bad lines.
    pub bad: u64,
    /// Files per second since the start of this process.
    pub files_per_second: f64,
    /// Seconds until all bytes are read, as far as known.
    pub seconds_left: Option<f64>,
    /// When this was noted, in Unix seconds.
    #[serde(default)]
    pub at: i64,
}

/// Seconds after which nobody believes a note any more: the process may be gone.
const STALE: i64 = 10;

impl Progress {
    /// Files per second that a run loads now; 0 without a fresh note.
    pub fn rate(run: Option<&Run>, now: i64) -> f64 {
        let noted = run.and_then(|run| serde_json::from_str::<Self>(&run.progress).ok());
        noted.filter(|noted| now - noted.at <= STALE).map_or(0.0, |noted| noted.files_per_second)
    }
}

/// Tells how far a run is, now and then.
pub struct Teller {
    pools: Pools,
    clock: SharedClock,
    run: u64,
    bar: ProgressBar,
    started: Instant,
    told: Instant,
    logged: Instant,
    files_before: u64,
    /// Bytes read, counted by the sources.
    pub bytes_done: Arc<AtomicU64>,
    progress: Progress,
}

/// Time between two notes in SQL and on a terminal.
const OFTEN: Duration = Duration::from_secs(1);
/// Time between two lines where nobody watches.
const RARELY: Duration = Duration::from_secs(30);

impl Teller {
    /// Begins to tell about a run.
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
            told: now,
            logged: now,
            files_before,
            bytes_done,
            progress,
        }
    }

    /// Whether it is time to tell.
    pub fn is_due(&self) -> bool {
        self.told.elapsed() >= OFTEN
    }

    /// Tells, if it is time; gives whether it was.
    pub fn tell(&mut self, tally: &Tally, sources_done: u64) -> Result<bool, LoadError> {
        if !self.is_due() {
            return Ok(false);
        }
        self.told = Instant::now();
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
        self.pools.write_blocking(|db| run::set_progress(db, self.run, &text))?;
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

impl Drop for Teller {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
