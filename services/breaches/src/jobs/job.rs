//! What all loads share: jobs that resume after a crash.

use std::path::PathBuf;

use batch::{ByteSize, Sorted};
use database::{DatabaseError, Db};
use serde::Serialize;

use super::context::JobContext;
use super::error::JobError;
use super::fingerprint;
use super::heartbeat::Heartbeat;
use super::load::tally::Tally;
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

/// The options of a job as they are kept with it.
#[derive(Debug)]
pub struct Params {
    own: String,
    /// The same with the other choice of notices, where there is one.
    other: Option<String>,
}

impl Params {
    /// Options without a choice of notices.
    pub fn only(text: &str) -> Self {
        Self { own: text.to_owned(), other: None }
    }

    /// Options of a load, and the same with the other choice of notices.
    pub fn of_load<O: Serialize>(options: &O, other: &O) -> Result<Self, DatabaseError> {
        let text = |options| serde_json::to_string(options).map_err(DatabaseError::broken);
        Ok(Self { own: text(options)?, other: Some(text(other)?) })
    }
}

/// Begins a job, or resumes an unfinished one with the same input and options. One that has stored
/// something with the other choice of notices is not left half done.
pub fn begin(
    context: &JobContext,
    kind: &str,
    files: &[PathBuf],
    params: &Params,
) -> Result<Running, JobError> {
    let now = context.clock.unix();
    let fingerprint = fingerprint::of_all(files, now)?;
    let Params { own: params, other } = params;
    context.write(|db| {
        if let Some(other) = other
            && let Some(job) = jobs::unfinished(db, kind, &fingerprint, other)?
            && job.cursor.is_some()
        {
            return Err(begun_otherwise(job.id));
        }
        if let Some(job) = jobs::unfinished(db, kind, &fingerprint, params)? {
            jobs::restart(db, job.id, now)?;
            let cursor = job.cursor.and_then(|bytes| bytes.try_into().ok());
            return Ok(Running { id: job.id, after: cursor.map(i64::from_le_bytes) });
        }
        let id = jobs::begin(db, kind, &fingerprint, params, now)?;
        Ok(Running { id, after: None })
    })
}

fn begun_otherwise(job: i64) -> JobError {
    JobError::Rejected(format!(
        "job {job} has begun to load this with the other choice of notices: `breaches job resume {job}` \
         goes on as it began, `breaches job cancel {job}` gives it up"
    ))
}

/// Ends this run of a job unless it was `moved` on, in the transaction that tried to.
///
/// # Errors
/// [`JobError::Cancelled`], or [`JobError::DoneElsewhere`] where a process with the same input was
/// first.
pub fn expect_open(db: &mut Db, id: i64, moved: bool) -> Result<(), JobError> {
    if moved {
        return Ok(());
    }
    match jobs::get(db, id)?.state.as_str() {
        "done" => Err(JobError::DoneElsewhere),
        _ => Err(JobError::Cancelled),
    }
}

/// How many links a load added; where another process that loads the same was first, the job has
/// those of both.
pub fn added_by_any(
    context: &JobContext,
    id: i64,
    ended: Result<i64, JobError>,
) -> Result<i64, JobError> {
    match ended {
        Err(JobError::DoneElsewhere) => {
            log::info!("job {id} was done meanwhile by another process that loads the same");
            context.write(|db| Ok(jobs::get(db, id)?.added))
        }
        ended => ended,
    }
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
        && !matches!(error, JobError::Cancelled | JobError::DoneElsewhere)
    {
        let (text, now) = (error.for_record(), context.clock.unix());
        let noted = context.write(|db| Ok(jobs::fail(db, id, &text, now)?));
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
