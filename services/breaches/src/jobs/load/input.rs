//! The input of a load and its progress.

use std::io::Read;
use std::path::Path;

use batch::{ByteCounter, Count, CountingReader, Input, ProgressReporter, Unit};

use super::decoding::{self, TextEncoding};
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::store::jobs::Counts;

/// Maximum length of a line with one address record, in bytes.
pub const MAX_LINE: usize = 64 * 1024;

/// Opens a file, or standard input for `-`.
///
/// # Errors
/// Returns the name of a file that cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, JobError> {
    let opened = Input::at(path).and_then(|input| input.open());
    opened.map_err(JobError::file(path.display().to_string()))
}

/// Reports the progress of reading on standard error and, for a job, in its row.
pub struct JobInput<'c> {
    heartbeat: Option<&'c Heartbeat>,
    bytes: ByteCounter,
    progress: ProgressReporter,
    counts: Counts,
}

impl<'c> JobInput<'c> {
    /// Opens an input as decompressed UTF-8 text.
    ///
    /// # Errors
    /// Returns the name of a file that cannot be opened.
    pub fn open(
        heartbeat: Option<&'c Heartbeat>,
        path: &Path,
        encoding: TextEncoding,
    ) -> Result<(Box<dyn Read>, Self), JobError> {
        let length = Input::at(path).ok().and_then(|input| input.length());
        let bytes = ByteCounter::default();
        let input = CountingReader::new(open(path)?, bytes.clone());
        let text = decoding::text(input, encoding);
        let text = text.map_err(JobError::file(path.display().to_string()))?;
        let progress = ProgressReporter::new("reading", Unit::Bytes, length);
        Ok((text, Self { heartbeat, bytes, progress, counts: Counts::default() }))
    }

    /// Reports the current counts.
    pub fn report(&mut self, counts: Counts) {
        self.counts = counts;
        self.progress.set_with(self.bytes.get(), || details(counts));
        if let Some(heartbeat) = self.heartbeat {
            heartbeat.set(counts);
        }
    }

    /// Reports the current counts every few thousand rows.
    pub fn report_sometimes(&mut self, counts: Counts) {
        self.counts = counts;
        if counts.read & 0x3FFF == 0 {
            self.report(counts);
        }
    }

    /// Ends the phase.
    pub fn finish(mut self) {
        self.report(self.counts);
        self.progress.finish();
    }
}

/// The details of a progress report.
pub fn details(counts: Counts) -> String {
    let count = |rows: i64| Count(rows.unsigned_abs());
    format!("{} accepted, {} skipped", count(counts.accepted), count(counts.skipped))
}
