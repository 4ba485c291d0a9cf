//! What all loads share: jobs that resume after a crash.

use std::path::PathBuf;

use batch::{ByteSize, Sorted};

use super::context::JobContext;
use super::error::JobError;
use super::fingerprint;
use super::heartbeat::Heartbeat;
use super::tally::Tally;
use crate::store::jobs;

/// The part of `LOAD_MEMORY_MB` that sorting takes; the rest is for domains and the database.
const SORTING: (u64, u64) = (7, 10);

/// Memory for sorting, in bytes.
pub fn sorting_budget(context: &JobContext) -> ByteSize {
    ByteSize((context.settings.load_memory_mb as u64 * (1 << 20)) / SORTING.1 * SORTING.0)
}

/// A job that runs.
pub struct Running {
    /// Its number.
    pub id: i64,
    /// The last key, or line, that an earlier run committed.
    pub after: Option<i64>,
}

/// Begins a job, or resumes an unfinished one with the same input and options.
pub fn begin(
    context: &JobContext,
    kind: &str,
    files: &[PathBuf],
    params: &str,
) -> Result<Running, JobError> {
    let now = context.clock.unix();
    let fingerprint = fingerprint::of_all(files, now)?;
    context.write(|db| {
        if let Some(job) = jobs::unfinished(db, kind, &fingerprint, params)? {
            jobs::restart(db, job.id, now)?;
            let cursor = job.cursor.and_then(|bytes| bytes.try_into().ok());
            return Ok(Running { id: job.id, after: cursor.map(i64::from_le_bytes) });
        }
        let id = jobs::begin(db, kind, &fingerprint, params, now)?;
        Ok(Running { id, after: None })
    })
}

/// Runs the body of a job, notes in its row that it is alive, and in the end how it failed; a
/// cancelled job stays cancelled.
pub fn noted<T>(
    context: &JobContext,
    id: i64,
    body: impl FnOnce(&Heartbeat) -> Result<T, JobError>,
) -> Result<T, JobError> {
    let heartbeat = Heartbeat::start(context, id);
    let result = body(&heartbeat);
    drop(heartbeat);
    if let Err(error) = &result
        && !matches!(error, JobError::Cancelled)
    {
        let (text, now) = (error.for_record(), context.clock.unix());
        let noted = context.write(|db| Ok(jobs::finish(db, id, "failed", Some(&text), now)?));
        if let Err(failed) = noted {
            log::warn!("the failure of job {id} could not be noted: {failed}");
        }
    }
    result
}

/// Reads and sorts the input of a job and notes in its row what was read.
pub fn sorted(
    context: &JobContext,
    id: i64,
    sort: impl FnOnce(&mut Tally) -> Result<Sorted, JobError>,
) -> Result<(Sorted, Tally), JobError> {
    let mut tally = Tally::default();
    let merge = sort(&mut tally)?;
    let (counts, skips) = (tally.counts, tally.skips());
    context.write(|db| Ok(jobs::set_input(db, id, counts, &skips)?))?;
    Ok((merge, tally))
}
