//! A new generation of the index, written beside the old one.

use super::context::JobContext;
use super::error::JobError;
use super::load::load_anew;
use super::options::{CheckpointPolicy, LoadOptions};
use super::report::Report;
use super::write_session::Session;
use crate::engine::{EngineError, FileIndex, Limits, Mode, NamedBucket, NewFile, each_row};
use crate::model::address::BucketType;
use crate::store::generations;

/// Files that are added to the new generation together.
const BATCH: usize = 8_192;
/// What another command reports as the holder of the write lock.
const HOLDER: &str = "the index is being rebuilt";

/// Writes the present index anew, without dead rows and with new file ids, verifies it, and
/// switches to it; gives the new generation and its number of files.
pub fn rebuild(context: &JobContext) -> Result<(u32, u64), JobError> {
    let session = settled_session(Session::open(context, HOLDER)?)?;
    settled(context, write_anew(context, session))
}

/// Makes an index of nothing but the sources, verifies it, and switches to it; gives the new
/// generation and the report.
///
/// Buckets that no source names are gone afterwards; those that stay keep their ids. Until the
/// switch, searches see the present index; a rebuild that was stopped left it as it is.
pub fn rebuild_from(
    context: &JobContext,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<(u32, Report), JobError> {
    let session = settled_session(Session::open_anew(context, HOLDER)?)?;
    settled(context, load_anew(session, options, checkpoints))
}

/// Drops the generations that a rebuild made needless, or what it has left of its own.
fn settled<T>(
    context: &JobContext,
    made: Result<(u32, T), JobError>,
) -> Result<(u32, T), JobError> {
    match &made {
        Ok((generation, _)) => drop(context.generations.sweep(*generation)?),
        // Opening a session drops what was begun; if that fails, the next session does.
        Err(_) => drop(Session::try_open(context, "a failed rebuild is being cleared away")),
    }
    made
}

/// Copies the present index, and switches to the copy.
fn write_anew(context: &JobContext, session: Session) -> Result<(u32, u64), JobError> {
    // The lock is kept until the switch; the old writer has nothing more to do.
    session.index.refresh()?;
    let mut fresh = session.next_generation()?;
    let files = copy(context, &*session.index, &mut fresh)?;
    check(&*session.index, &*fresh.index)?;
    let generation = fresh.generation;
    session.lock.check()?;
    let identity = &fresh.writer.journal().identity;
    context
        .pools
        .write_blocking(|db| generations::switch(db, session.generation, generation, identity))?;
    Ok((generation, files))
}

fn settled_session(mut session: Session) -> Result<Session, JobError> {
    super::remove::apply_pending_removals(&mut session)?;
    match &session.writer.journal().open {
        None => Ok(session),
        Some(open) => Err(JobError::Invalid(format!(
            "run {} was stopped: resume it, or start another one, before a rebuild",
            open.run
        ))),
    }
}

fn copy(context: &JobContext, old: &dyn FileIndex, new: &mut Session) -> Result<u64, JobError> {
    let buckets = context.buckets()?;
    let summary = old.summary();
    let published = summary.journal.published.clone();
    let writer = &mut new.writer;
    writer.begin(published.as_ref().map_or(0, |published| published.run))?;
    let mut batch = Vec::with_capacity(BATCH);
    let mut files = 0;
    each_row(old, None, &Limits::none(), |row| -> Result<(), JobError> {
        let kind = buckets.get(&row.bucket).map_or(BucketType::Aws, |bucket| bucket.kind);
        batch.push(NewFile::of_row(row, kind.code()));
        files += 1;
        if batch.len() >= BATCH {
            writer.add(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    writer.add(&batch)?;
    let named: Vec<NamedBucket> = buckets
        .values()
        .filter(|bucket| bucket.first_indexed.is_some())
        .map(|bucket| NamedBucket { id: bucket.id, truncated: bucket.truncated, partial: false })
        .collect();
    let at = published.map_or_else(|| context.clock.unix(), |published| published.at);
    writer.publish(Mode::Append, named, at)?;
    new.index.refresh()?;
    Ok(files)
}

/// The new generation must hold the same number of files in every bucket, and be sound.
fn check(old: &dyn FileIndex, new: &dyn FileIndex) -> Result<(), JobError> {
    let faults = new.verify()?;
    if old.summary().counts != new.summary().counts || !faults.is_empty() {
        let text = format!("the new generation is not like the old one: {}", faults.join("; "));
        return Err(EngineError::Broken(text).into());
    }
    Ok(())
}
