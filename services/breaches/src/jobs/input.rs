//! The input of a load, and how far it was read.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use batch::{ByteCounter, Count, CountingReader, Input, Interval, ProgressReporter, Unit};
use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use crate::store::jobs::{self, Counts};

/// The limit of lines that hold one record of an address, in bytes.
pub const LONGEST_LINE: usize = 64 * 1024;

/// Time between two writes of the counts into the row of the job.
const WRITE_EVERY: Duration = Duration::from_secs(2);

/// Opens a file, or standard input for `-`.
///
/// # Errors
/// The file that cannot be opened, by name.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, JobError> {
    let opened = Input::at(path).and_then(|input| input.open());
    opened.map_err(JobError::file(path.display().to_string()))
}

/// Reports how far a load has read: on standard error, and in the row of its job.
pub struct JobInput<'c> {
    context: &'c JobContext,
    job: i64,
    bytes: ByteCounter,
    progress: ProgressReporter,
    counts: Counts,
    write: Interval,
}

impl<'c> JobInput<'c> {
    /// Opens an input of a job.
    ///
    /// # Errors
    /// The file that cannot be opened, by name.
    pub fn open(
        context: &'c JobContext,
        job: i64,
        path: &Path,
    ) -> Result<(impl Read + use<>, Self), JobError> {
        let length = Input::at(path).ok().and_then(|input| input.length());
        let bytes = ByteCounter::default();
        let input = CountingReader::new(open(path)?, bytes.clone());
        let progress = ProgressReporter::new("reading", Unit::Bytes, length);
        let (counts, write) = (Counts::default(), Interval::new(WRITE_EVERY));
        Ok((input, Self { context, job, bytes, progress, counts, write }))
    }

    /// Reports what was counted so far, if that is due.
    ///
    /// # Errors
    /// Those of the database.
    pub fn report(&mut self, counts: Counts) -> Result<(), DatabaseError> {
        self.counts = counts;
        self.progress.set_with(self.bytes.get(), || details(counts));
        if !self.write.is_due() {
            return Ok(());
        }
        let now = self.context.clock.unix();
        self.context.pools.write_blocking(|db| jobs::set_counts(db, self.job, counts, now))
    }

    /// The same, looked at after some thousand rows only.
    ///
    /// # Errors
    /// Those of the database.
    pub fn report_sometimes(&mut self, counts: Counts) -> Result<(), DatabaseError> {
        self.counts = counts;
        if counts.read & 0x3FFF == 0 { self.report(counts) } else { Ok(()) }
    }

    /// Ends the phase.
    pub fn finish(self) {
        self.progress.set(self.bytes.get());
        self.progress.set_details(details(self.counts));
        self.progress.finish();
    }
}

/// What a report says of the rows.
pub fn details(counts: Counts) -> String {
    let count = |rows: i64| Count(rows.unsigned_abs());
    format!("{} accepted, {} skipped", count(counts.accepted), count(counts.skipped))
}
