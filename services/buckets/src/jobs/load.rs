//! Begins, resumes and repeats load runs.

use super::context::JobContext;
use super::error::JobError;
use super::intake::IntakeState;
use super::loader::Loader;
use super::options::{CheckpointPolicy, LoadOptions};
use super::remove::apply_pending_removals;
use super::report::Report;
use super::write_session::Session;
use crate::engine::Mode;
use crate::store::load_runs;

/// Loads sources as a new run and publishes it.
///
/// A run that was stopped before is given up.
pub fn load(
    context: &JobContext,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    let mut session = Session::open(context, "a run loads files")?;
    apply_pending_removals(&mut session)?;
    let now = context.clock.unix();
    if let Some(open) = session.writer.journal().open.clone() {
        let reason = "given up for a newer run";
        session.writer.abort()?;
        context.pools.write_blocking(|db| load_runs::fail(db, open.run, reason, now))?;
    }
    let text = serde_json::to_string(options).map_err(std::io::Error::other)?;
    let id = context
        .pools
        .write_blocking(|db| load_runs::begin(db, mode_name(options.mode), &text, now))?;
    session.writer.begin(id)?;
    Loader::new(session, id, options.clone(), checkpoints, IntakeState::default())?.finish()
}

/// Loads sources into a generation of their own, which takes the place of the present one once it
/// is whole and verified; gives it with its report.
pub(super) fn load_anew(
    searched: Session,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<(u32, Report), JobError> {
    let (context, now) = (searched.context.clone(), searched.context.clock.unix());
    let text = serde_json::to_string(options).map_err(std::io::Error::other)?;
    let id = context.pools.write_blocking(|db| load_runs::begin(db, "rebuild", &text, now))?;
    let mut fresh = searched.next_generation()?;
    let generation = fresh.generation;
    fresh.writer.begin(id)?;
    let mut loader = Loader::new(fresh, id, options.clone(), checkpoints, IntakeState::default())?;
    loader.replace(searched);
    Ok((generation, loader.finish()?))
}

/// Goes on with a run that was stopped.
pub fn resume(
    context: &JobContext,
    id: u64,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    let session = Session::open(context, "a resumed run loads files")?;
    let refuse = |why: &str| JobError::Invalid(format!("run {id} cannot be resumed: {why}"));
    let run = context.pools.read_blocking(|db| load_runs::find(db, id))?;
    let run = run.ok_or_else(|| refuse("there is no such run"))?;
    let open = session.writer.journal().open.clone().filter(|open| open.run == id);
    let open = open.ok_or_else(|| refuse(&format!("it is {}", run.state)))?;
    let options: LoadOptions =
        serde_json::from_str(&run.options).map_err(|error| refuse(&error.to_string()))?;
    if options.read_stdin() {
        return Err(refuse("it read standard input"));
    }
    let state = match open.progress.as_str() {
        "" => IntakeState::default(),
        text => serde_json::from_str(text).map_err(|error| refuse(&error.to_string()))?,
    };
    let mut session = session;
    apply_pending_removals(&mut session)?;
    Loader::new(session, id, options, checkpoints, state)?.finish()
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Replace => "replace",
        Mode::Append => "append",
    }
}
