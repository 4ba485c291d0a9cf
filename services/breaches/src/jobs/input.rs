//! The input of a load, and how far it was read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use super::progress::{Counting, Progress};
use crate::store::jobs::{self, Counts};

/// An open input, its size, which is 0 where nobody knows it, and the bytes read so far.
pub type Input = (Box<dyn Read>, u64, Arc<AtomicU64>);

/// Opens a file, or standard input for `-`; tells its size and counts what is read.
pub fn open(path: &Path) -> Result<Input, JobError> {
    let bytes = Arc::new(AtomicU64::new(0));
    if path.as_os_str() == "-" {
        let input = Counting::new(io::stdin(), Arc::clone(&bytes));
        return Ok((Box::new(input), 0, bytes));
    }
    let file = File::open(path).map_err(JobError::file(path.display().to_string()))?;
    let size = file.metadata().map_or(0, |about| about.len());
    Ok((Box::new(Counting::new(file, Arc::clone(&bytes))), size, bytes))
}

/// Tells how far a load has read: on stderr, and every two seconds in the row of its job.
pub struct Reading<'c> {
    context: &'c JobContext,
    job: i64,
    bytes: Arc<AtomicU64>,
    progress: Progress,
    counts: Counts,
    noted: Instant,
}

/// Between two notes in the row of the job.
const NOTE_EVERY: Duration = Duration::from_secs(2);

impl<'c> Reading<'c> {
    /// Opens an input of a job.
    pub fn open(
        context: &'c JobContext,
        job: i64,
        path: &Path,
    ) -> Result<(Box<dyn Read>, Self), JobError> {
        let (input, size, bytes) = open(path)?;
        let progress = Progress::begin("reading", "bytes", size);
        let (counts, noted) = (Counts::default(), Instant::now());
        Ok((input, Self { context, job, bytes, progress, counts, noted }))
    }

    /// Tells what was counted so far, if it is time to.
    pub fn tell(&mut self, counts: Counts) -> Result<(), DatabaseError> {
        self.counts = counts;
        self.tell_progress();
        if self.noted.elapsed() < NOTE_EVERY {
            return Ok(());
        }
        self.noted = Instant::now();
        let now = self.context.clock.unix();
        self.context.pools.write_blocking(|db| jobs::set_counts(db, self.job, counts, now))
    }

    /// Tells what was counted after some thousand rows.
    pub fn tell_now_and_then(&mut self, counts: Counts) -> Result<(), DatabaseError> {
        self.counts = counts;
        if counts.read & 0x3FFF == 0 { self.tell(counts) } else { Ok(()) }
    }

    /// Ends the phase.
    pub fn end(mut self) {
        self.tell_progress();
        self.progress.end();
    }

    fn tell_progress(&mut self) {
        let Counts { accepted, skipped, .. } = self.counts;
        self.progress.tell(self.bytes.load(Ordering::Relaxed), accepted, skipped);
    }
}
