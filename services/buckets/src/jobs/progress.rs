//! Shows the progress of a load in the terminal or log, and records it in SQL for `status`.

use std::time::{Duration, Instant};

use batch::{ByteCounter, ProgressReporter, Unit};
use database::Pools;
use domain::SharedClock;

use super::error::JobError;
use super::report::Tally;
use crate::model::progress::Progress;
use crate::store::load_runs;

/// How often to update SQL.
const RECORDED: Duration = Duration::from_secs(1);
/// How often to log.
const LOGGED: Duration = Duration::from_secs(30);

/// Periodically reports and records progress.
pub(super) struct LoadProgress {
    pools: Pools,
    clock: SharedClock,
    run: u64,
    reporter: ProgressReporter,
    started: Instant,
    recorded: Instant,
    files_before: u64,
    bytes_done: ByteCounter,
    progress: Progress,
}

impl LoadProgress {
    /// Starts reporting. `bytes` is 0 if the total size is unknown.
    pub(super) fn new(
        (pools, clock): (Pools, SharedClock),
        run: u64,
        (sources, bytes): (u64, u64),
        files_before: u64,
    ) -> Self {
        let total = (bytes > 0).then_some(bytes);
        let reporter =
            ProgressReporter::new(format!("run {run}"), Unit::Bytes, total).every(LOGGED);
        let now = Instant::now();
        Self {
            pools,
            clock,
            run,
            reporter,
            started: now,
            recorded: now,
            files_before,
            bytes_done: ByteCounter::default(),
            progress: Progress { sources, bytes, ..Progress::default() },
        }
    }

    /// Returns the counter for bytes read from sources.
    pub(super) fn bytes_done(&self) -> ByteCounter {
        self.bytes_done.clone()
    }

    /// Returns `true` if it's time for an update.
    pub(super) fn is_due(&self) -> bool {
        self.recorded.elapsed() >= RECORDED
    }

    /// Reports and records progress if a report is due. Returns `true` if it did.
    pub(super) fn update(&mut self, tally: &Tally, sources_done: u64) -> Result<bool, JobError> {
        if !self.is_due() {
            return Ok(false);
        }
        self.recorded = Instant::now();
        let seconds = self.started.elapsed().as_secs_f64();
        let bytes_done = self.bytes_done.get();
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
        self.pools.write_blocking(|db| load_runs::set_progress(db, self.run, &text))?;
        self.reporter.set_with(bytes_done, || details(&self.progress));
        Ok(true)
    }
}

fn details(progress: &Progress) -> String {
    let Progress { sources_done, sources, files, bad, files_per_second, .. } = progress;
    format!(
        "{sources_done}/{sources} sources, {files} files, {bad} bad, {files_per_second:.0} files/s"
    )
}
