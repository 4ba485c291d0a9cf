//! Jobs that can resume after a crash.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use batch::{ByteSize, Input, Sorted, Sorter};
use database::{DatabaseError, Db};
use domain::Sha1Digest;
use serde::Serialize;

use super::context::JobContext;
use super::error::JobError;
use super::heartbeat::Heartbeat;
use super::load::tally::Tally;
use crate::store::jobs;

/// Share of `LOAD_MEMORY_MB` to use for sorting. The rest is for domain ids and the database.
const SORTING: (u64, u64) = (7, 10);

/// Returns how much memory to use for sorting.
pub fn sorting_budget(context: &JobContext) -> ByteSize {
    ByteSize((context.settings.load_memory_mb as u64 * (1 << 20)) / SORTING.1 * SORTING.0)
}

/// Creates a sorter with that much memory.
pub fn sorter(context: &JobContext) -> Sorter {
    Sorter::new(context.settings.temporary_folder(), sorting_budget(context))
}

/// Wraps an I/O error of a sorter. Meant for `map_err`.
pub fn sorting_error(context: &JobContext) -> impl FnOnce(io::Error) -> JobError {
    let folder = context.settings.temporary_folder();
    JobError::file(format!("a temporary file in {}", folder.display()))
}

/// A running job.
pub struct Running {
    /// Job id.
    pub id: i64,
    /// Last key or line committed by an earlier run.
    pub after: Option<i64>,
}

impl Running {
    /// Continues after the last commit of an earlier run.
    fn resuming(job: jobs::Job) -> Self {
        let cursor = job.cursor.and_then(|bytes| bytes.try_into().ok());
        Self { id: job.id, after: cursor.map(i64::from_le_bytes) }
    }
}

/// A job's options as stored in the database.
#[derive(Debug)]
pub struct Params {
    own: String,
    /// The same options with `no_notify` flipped. `None` for jobs without that option.
    other: Option<String>,
    /// The job to resume, if requested.
    resumed: Option<i64>,
}

impl Params {
    /// Creates the options of a job that can't suppress notices.
    pub fn only(text: &str) -> Self {
        Self { own: text.to_owned(), other: None, resumed: None }
    }

    /// Creates the options of a load. `other` has the same options with `no_notify` flipped.
    pub fn of_load<O: Serialize>(options: &O, other: &O) -> Result<Self, DatabaseError> {
        let text = |options| serde_json::to_string(options).map_err(DatabaseError::broken);
        Ok(Self { own: text(options)?, other: Some(text(other)?), resumed: None })
    }

    /// Requests that `job` be resumed, if given. Otherwise, an unfinished job with these options is
    /// looked for.
    #[must_use]
    pub fn resuming(self, job: Option<i64>) -> Self {
        Self { resumed: job, ..self }
    }
}

/// Starts a job, or resumes an unfinished one with the same input and options. Fails if an
/// unfinished job differs only in `no_notify` and has already committed batches.
///
/// If a particular job was requested, its input must be unchanged, and a new job is never started.
pub fn begin(
    context: &JobContext,
    kind: &str,
    files: &[PathBuf],
    params: &Params,
) -> Result<Running, JobError> {
    let now = context.clock.unix();
    let fingerprint = fingerprint(files)?;
    let Params { own: params, other, resumed } = params;
    context.write(|db| {
        if let Some(id) = *resumed {
            let job = jobs::get(db, id)?;
            expect_open(db, id, matches!(job.state.as_str(), "running" | "failed"))?;
            if job.fingerprint != fingerprint {
                return Err(changed_input(&job));
            }
            let is_open = jobs::restart(db, id, now)?;
            expect_open(db, id, is_open)?;
            return Ok(Running::resuming(job));
        }
        if let Some(other) = other
            && let Some(job) = jobs::unfinished(db, kind, &fingerprint, other)?
            && job.cursor.is_some()
        {
            return Err(begun_otherwise(job.id));
        }
        if let Some(job) = jobs::unfinished(db, kind, &fingerprint, params)?
            && jobs::restart(db, job.id, now)?
        {
            return Ok(Running::resuming(job));
        }
        let id = jobs::begin(db, kind, &fingerprint, params, now)?;
        Ok(Running { id, after: None })
    })
}

fn changed_input(job: &jobs::Job) -> JobError {
    let id = job.id;
    let found = match job.fingerprint.split("; ").any(|part| part.starts_with(STREAM)) {
        true => format!("job {id} read a stream, which cannot be read again"),
        false => format!("the input of job {id} has changed"),
    };
    JobError::Rejected(format!(
        "{found}; nothing was loaded. `breaches job cancel {id}` cancels the job, and a new load \
         reads the current input"
    ))
}

fn begun_otherwise(job: i64) -> JobError {
    JobError::Rejected(format!(
        "job {job} started to load this with the opposite notice setting: `breaches job resume \
         {job}` resumes it, `breaches job cancel {job}` cancels it"
    ))
}

/// Stops this run of a job if its checkpoint couldn't be moved. Call this in the transaction that
/// tried to do so.
///
/// # Errors
/// [`JobError::Cancelled`], or [`JobError::DoneElsewhere`] if another process finished the job.
pub fn expect_open(db: &mut Db, id: i64, moved: bool) -> Result<(), JobError> {
    if moved {
        return Ok(());
    }
    match jobs::get(db, id)?.state.as_str() {
        "done" => Err(JobError::DoneElsewhere),
        _ => Err(JobError::Cancelled),
    }
}

/// Stops this run of a job if the job was cancelled or finished. Call this at the start of a
/// transaction. If a server of a distributed database is down, the rest of the transaction fails
/// and is repeated, so a job that checked its state only at the end could not be cancelled.
///
/// # Errors
/// The same as [`expect_open`].
pub fn expect_unfinished(db: &mut Db, id: i64) -> Result<(), JobError> {
    let is_open = jobs::is_open(db, id)?;
    expect_open(db, id, is_open)
}

/// Returns the number of links added by a load. If another process has finished the job, this
/// includes the links added by that process.
pub fn added_by_any(
    context: &JobContext,
    id: i64,
    ended: Result<i64, JobError>,
) -> Result<i64, JobError> {
    match ended {
        Err(JobError::DoneElsewhere) => {
            log::info!("job {id} was finished by another process with the same input");
            context.write(|db| Ok(jobs::get(db, id)?.added))
        }
        ended => ended,
    }
}

/// Runs `body` with a heartbeat, and marks the job as failed if it returns an error. Cancelled jobs
/// stay cancelled.
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
            log::warn!("the failure of job {id} could not be recorded: {failed}");
        }
    }
    result
}

/// Reads and sorts a job's input, then records the counts.
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

const MIB: u64 = 1 << 20;
/// Prefix of the fingerprint of an input that can be read only once.
const STREAM: &str = "stream ";

/// Computes the fingerprint of a file from its size, its modification time, and digests of its
/// first and last MiB.
fn file_fingerprint(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let changed = about.modified()?.duration_since(UNIX_EPOCH).map_or(0, |span| span.as_nanos());
    let first = digest(&mut file)?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(MIB)))?;
    let last = digest(&mut file)?;
    Ok(format!("{} {changed} {first} {last}", about.len()))
}

fn digest(file: &mut File) -> io::Result<Sha1Digest> {
    let mut bytes = Vec::new();
    file.take(MIB).read_to_end(&mut bytes)?;
    Ok(Sha1Digest::of(bytes))
}

/// Computes the combined fingerprint of several files. Streams such as standard input can't be read
/// again, so their fingerprint must never match that of another run. It's random because two
/// containers may start in the same second, and their processes often have the same id.
///
/// # Errors
/// Fails if a file can't be read. The error includes its name.
fn fingerprint(paths: &[PathBuf]) -> Result<String, JobError> {
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        let named = || JobError::file(path.display().to_string());
        match Input::at(path).map_err(named())? {
            Input::Stdin | Input::Stream(_) => {
                let mut random = [0; 16];
                getrandom::fill(&mut random).map_err(io::Error::other).map_err(named())?;
                parts.push(format!("{STREAM}{:032x}", u128::from_ne_bytes(random)));
            }
            Input::File(_) | Input::Folder(_) => {
                parts.push(file_fingerprint(path).map_err(named())?)
            }
        }
    }
    Ok(parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_streams_never_have_the_same_fingerprint() {
        let input = [PathBuf::from("-")];
        let [first, second] = [fingerprint(&input).unwrap(), fingerprint(&input).unwrap()];
        assert!(first.starts_with(STREAM) && second.starts_with(STREAM));
        assert_ne!(first, second);
    }
}
