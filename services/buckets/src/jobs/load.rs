//! Starts and resumes load runs.

use database::DatabaseError;
use serde::{Deserialize, Serialize};

use super::alerts::judge_or_warn;
use super::context::JobContext;
use super::error::JobError;
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::loader::Loader;
use super::options::{CheckpointPolicy, LoadOptions};
use super::reject_file::RejectLengths;
use super::remove::apply_pending_removals;
use super::report::Report;
use super::sources::Source;
use super::write_session::Session;
use crate::engine::{Mode, NewerFiles, OpenRun};
use crate::model::file_etag::ChangedFiles;
use crate::store::{load_runs, rejected_lines};

/// Loads sources as a new run and publishes it.
///
/// Aborts the stopped run, if there is one.
pub fn load(
    context: &JobContext,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    let mut session = Session::open(context, "a run loads files")?;
    apply_pending_removals(&mut session)?;
    run(session, (options, false), checkpoints, ChangedFiles::default())
}

/// Like [`load`], but for a bucket of an audit.
///
/// # Errors
/// Returns [`JobError::Stopped`] if there's a stopped run that can be resumed, unless it belongs to
/// a crawl or an audit.
pub(super) fn load_audited(
    context: &JobContext,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    let mut session = Session::open(context, "a run loads files")?;
    refuse_stopped(&session)?;
    apply_pending_removals(&mut session)?;
    run(session, (options, true), checkpoints, ChangedFiles::default())
}

fn run(
    mut session: Session,
    (options, is_audit): (&LoadOptions, bool),
    checkpoints: CheckpointPolicy,
    changed: ChangedFiles,
) -> Result<Report, JobError> {
    let context = session.context.clone();
    judge_or_warn(&context, &*session.index, session.generation);
    // Do everything that can fail first. A stopped run should only be aborted if this one can
    // start.
    let mut intake = options.intake(&session, IntakeState::default())?;
    intake.changed = changed;
    let id = begin(&session, mode_name(options.mode), (options, is_audit), &intake)?;
    let begun = give_up_stopped(&mut session).and_then(|()| Ok(session.writer.begin(id)?));
    noted(&context, id, begun)?;
    session.writer.rules().newer = options.newer.clone();
    Loader::new(session, id, options.clone(), checkpoints, intake).finish()
}

/// Loads the stored pages of a crawl as a new run and publishes them. The `changed` files replace
/// stored files that have the same size and date, except in a resumed run, which doesn't know about
/// the changes. `check` is called while the session has locked the index. It returns the mode of the
/// run along with any files that are newer than the pages, or `None` if there's nothing left to
/// load.
///
/// # Errors
/// Returns [`JobError::Stopped`] if there's a stopped run that can be resumed, unless it belongs to
/// a crawl or an audit.
pub(super) fn load_stored(
    context: &JobContext,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
    changed: &ChangedFiles,
    check: impl FnOnce(&Session) -> Result<Option<(Mode, Option<NewerFiles>)>, JobError>,
) -> Result<Option<Report>, JobError> {
    let mut session = Session::open(context, "a run loads the pages of a crawl")?;
    let Some((mode, newer)) = check(&session)? else { return Ok(None) };
    let options = LoadOptions { mode, newer, ..options.clone() };
    refuse_stopped(&session)?;
    apply_pending_removals(&mut session)?;
    run(session, (&options, false), checkpoints, changed.clone()).map(Some)
}

/// Returns an error if there's a stopped run that can be resumed, unless it belongs to a crawl or
/// an audit.
fn refuse_stopped(session: &Session) -> Result<(), JobError> {
    let context = &session.context;
    match &session.writer.journal().open {
        Some(open) if !starts_over(context, open.run)? && !needs_stdin(context, open)? => {
            Err(JobError::Stopped(open.run))
        }
        _ => Ok(()),
    }
}

/// Returns `true` if a run belongs to an audit or loads pages stored by a crawl. Both load their
/// buckets again from the start.
fn starts_over(context: &JobContext, run: u64) -> Result<bool, JobError> {
    let run = context.pools.read_blocking(|db| load_runs::find(db, run))?;
    let begun = run.and_then(|run| serde_json::from_str::<BegunRun>(&run.options).ok());
    Ok(begun.is_some_and(|BegunRun { options, is_audit, .. }| {
        is_audit || options.sources.iter().all(|source| source.stored.is_some())
    }))
}

/// Returns `true` if a stopped run can't be resumed because it was still reading standard input.
fn needs_stdin(context: &JobContext, open: &OpenRun) -> Result<bool, JobError> {
    let run = context.pools.read_blocking(|db| load_runs::find(db, open.run))?;
    let options = run.and_then(|run| serde_json::from_str::<LoadOptions>(&run.options).ok());
    let state = match open.progress.as_str() {
        "" => Some(IntakeState::default()),
        text => serde_json::from_str(text).ok(),
    };
    let (Some(options), Some(state)) = (options, state) else { return Ok(false) };
    Ok(reads_stdin(&options, &state))
}

/// Returns `true` if one of the remaining sources is standard input.
fn reads_stdin(options: &LoadOptions, state: &IntakeState) -> bool {
    options.sources.iter().skip(state.done).any(Source::is_stdin)
}

/// A run as recorded when it starts.
#[derive(Serialize, Deserialize)]
struct BegunRun {
    #[serde(flatten)]
    options: LoadOptions,
    /// Lengths of the reject file before the run. Without a checkpoint, a resumed run writes its
    /// lines again.
    #[serde(default)]
    rejected_before: Option<RejectLengths>,
    /// Whether the run belongs to an audit.
    #[serde(default)]
    is_audit: bool,
}

/// Records a new run.
fn begin(
    session: &Session,
    mode: &str,
    (options, is_audit): (&LoadOptions, bool),
    intake: &Intake,
) -> Result<u64, JobError> {
    let rejected_before = intake.checkpoint().reject;
    let begun = BegunRun { options: options.clone(), rejected_before, is_audit };
    let text = serde_json::to_string(&begun).map_err(std::io::Error::other)?;
    let (known, now) = (session.writer.journal().largest_run(), session.context.clock.unix());
    let pools = &session.context.pools;
    Ok(pools.write_blocking(|db| -> Result<u64, DatabaseError> {
        // `status` only shows bad lines from the newest run.
        rejected_lines::clear(db)?;
        load_runs::begin(db, known, mode, &text, now)
    })?)
}

/// If a run couldn't be started, records why.
fn noted<T>(context: &JobContext, id: u64, begun: Result<T, JobError>) -> Result<T, JobError> {
    if let Err(error) = &begun {
        let (text, now) = (error.to_string(), context.clock.unix());
        let noted = context.pools.write_blocking(|db| load_runs::fail(db, id, &text, now));
        if let Err(second) = noted {
            log::warn!("run {id}: its failure cannot be recorded: {second}");
        }
    }
    begun
}

/// Drops the files of a stopped run, but only if it belongs to a crawl or an audit.
pub(super) fn abort_stopped(context: &JobContext) -> Result<(), JobError> {
    let mut session = Session::open(context, "a stopped run is aborted")?;
    match &session.writer.journal().open {
        Some(open) if starts_over(context, open.run)? => give_up_stopped(&mut session),
        _ => Ok(()),
    }
}

/// Drops the files of the stopped run, if any.
fn give_up_stopped(session: &mut Session) -> Result<(), JobError> {
    let Some(open) = session.writer.journal().open.clone() else { return Ok(()) };
    session.writer.abort()?;
    let (reason, now) = ("aborted for a newer run", session.context.clock.unix());
    let pools = &session.context.pools;
    Ok(pools.write_blocking(|db| load_runs::give_up(db, open.run, reason, now))?)
}

/// Loads sources into a new generation, which replaces the current one once it is complete and
/// verified. Returns its number and the report.
pub(super) fn load_new_generation(
    searched: Session,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<(u32, Report), JobError> {
    let context = searched.context.clone();
    let intake = options.intake(&searched, IntakeState::default())?;
    let id = begin(&searched, "rebuild", (options, false), &intake)?;
    let begun = searched.next_generation().and_then(|mut fresh| {
        fresh.writer.begin(id)?;
        Ok(fresh)
    });
    let fresh = noted(&context, id, begun)?;
    let generation = fresh.generation;
    let mut loader = Loader::new(fresh, id, options.clone(), checkpoints, intake);
    loader.replace(searched);
    Ok((generation, loader.finish()?))
}

/// Resumes a stopped run.
pub fn resume(
    context: &JobContext,
    id: u64,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    resume_with(context, id, checkpoints, |_| {})
}

/// Resumes a run that was stopped because it would have removed too many files. This time, it is
/// allowed to remove them.
pub fn resume_accepting_removals(
    context: &JobContext,
    id: u64,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    resume_with(context, id, checkpoints, |options| options.removal_limit = None)
}

fn resume_with(
    context: &JobContext,
    id: u64,
    checkpoints: CheckpointPolicy,
    change: impl FnOnce(&mut LoadOptions),
) -> Result<Report, JobError> {
    let mut session = Session::open(context, "a resumed run loads files")?;
    // A killed run might have published files without comparing them.
    judge_or_warn(context, &*session.index, session.generation);
    // This also removes the buckets from the run's saved progress.
    apply_pending_removals(&mut session)?;
    let refuse = |why: &str| JobError::Invalid(format!("run {id} cannot be resumed: {why}"));
    let run = context.pools.read_blocking(|db| load_runs::find(db, id))?;
    let run = run.ok_or_else(|| refuse("it does not exist"))?;
    let open = session.writer.journal().open.clone().filter(|open| open.run == id);
    let open = open.ok_or_else(|| match (run.state.as_str(), &run.error) {
        ("failed", Some(error)) => {
            refuse(&format!("it failed ({error}), so load its sources again"))
        }
        (state, _) => refuse(&format!("it is {state}")),
    })?;
    let BegunRun { mut options, rejected_before, .. } =
        serde_json::from_str(&run.options).map_err(|error| refuse(&error.to_string()))?;
    change(&mut options);
    let state = match open.progress.as_str() {
        "" => IntakeState { reject: rejected_before, ..IntakeState::default() },
        text => serde_json::from_str(text).map_err(|error| refuse(&error.to_string()))?,
    };
    if reads_stdin(&options, &state) {
        return Err(refuse("it read standard input"));
    }
    // Lines after the checkpoint will be read again.
    let kept = state.kept;
    context.pools.write_blocking(|db| rejected_lines::keep_first(db, id, kept))?;
    let intake = options.intake(&session, state)?;
    session.writer.rules().newer = options.newer.clone();
    Loader::new(session, id, options, checkpoints, intake).finish()
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Replace => "replace",
        Mode::Append => "append",
    }
}
