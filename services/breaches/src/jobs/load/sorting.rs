//! Sorts the addresses of a load while they are read.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use batch::{Sorted, Sorter};
use domain::EmailAddress;

use super::input::JobInput;
use super::sanity_check::SanityCheck;
use super::skip_reason::SkipReason;
use super::tally::Tally;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job;
use crate::model::AccountKey;
use crate::store::jobs::Counts;

/// Sorts and counts rows, and stops the load if they look wrong.
pub struct Sorting<'a> {
    context: &'a JobContext,
    tally: &'a mut Tally,
    check: SanityCheck,
    sorter: Sorter,
    /// Whether the sorter failed to write its temporary file.
    no_room: bool,
    /// The counts before the current file.
    before: Counts,
}

impl<'a> Sorting<'a> {
    pub fn new(context: &'a JobContext, check: SanityCheck, tally: &'a mut Tally) -> Self {
        let (sorter, before) = (job::sorter(context), tally.counts);
        Self { context, tally, check, sorter, no_room: false, before }
    }

    /// Records that the next rows are from another file.
    pub fn begin_file(&mut self, path: &Path) {
        self.check.begin_file(path, self.tally);
    }

    /// Accepts a row. It's sorted by the key of `address`, with `text` attached.
    pub fn accept(&mut self, address: &EmailAddress, text: &str) -> io::Result<()> {
        let key = AccountKey::of(&address.sha1());
        self.sorter.push(key.0, text.as_bytes()).inspect_err(|_| self.no_room = true)?;
        self.check.see(address);
        self.tally.accept();
        Ok(())
    }

    /// Records the columns that a file's addresses were in.
    pub fn note_columns(&mut self, columns: BTreeSet<String>) {
        self.tally.columns.extend(columns);
    }

    pub fn skip(&mut self, line: u64, reason: SkipReason) {
        self.tally.skip(line, reason);
    }

    /// Reports the progress after a row, and stops the load if the rows so far look wrong.
    pub fn end_row(&mut self, input: &mut JobInput<'_>) -> io::Result<()> {
        input.report_sometimes(self.tally.counts);
        self.check.judge(self.tally).map_err(io::Error::other)
    }

    /// Ends a file. `read` is the result of reading it.
    pub fn end_file(
        &mut self,
        read: io::Result<()>,
        path: &Path,
        input: JobInput<'_>,
    ) -> Result<(), JobError> {
        read.map_err(|error| match self.no_room {
            true => job::sorting_error(self.context)(error),
            false => JobError::file(path.display().to_string())(error),
        })?;
        input.finish()?;
        self.check.judge_file(path, self.before, self.tally)?;
        self.before = self.tally.counts;
        Ok(())
    }

    /// Checks the remaining rows and returns all of them in order.
    pub fn finish(mut self) -> Result<Sorted, JobError> {
        self.check.judge_whole(self.tally)?;
        self.sorter.finish().map_err(job::sorting_error(self.context))
    }
}
