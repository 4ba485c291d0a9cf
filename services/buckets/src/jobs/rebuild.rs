//! Builds a new generation of the index alongside the current one.

use database::DatabaseError;

use super::alerts::judge_or_warn;
use super::context::JobContext;
use super::error::JobError;
use super::load::load_new_generation;
use super::options::{CheckpointPolicy, LoadOptions};
use super::ranked_ids::RankedIds;
use super::report::Report;
use super::write_session::Session;
use crate::engine::{Bitmap, EngineError, FileIndex, Limits, Mode, NamedBucket, NewFile, each_row};
use crate::model::address::BucketType;
use crate::store::{alerts, generations};

/// Number of files to add to the new generation at a time.
const BATCH: usize = 8_192;
/// Shown to other commands that try to take the write lock.
const HOLDER: &str = "the index is being rebuilt";

/// Copies the current index, leaving out dead rows and assigning new file ids. Verifies the copy
/// and switches to it. Returns the new generation's number and its number of files.
pub fn rebuild(context: &JobContext) -> Result<(u32, u64), JobError> {
    let session = settled_session(Session::open(context, HOLDER)?)?;
    settled(context, copy_to_new_generation(context, session))
}

/// Builds a new index from the sources alone, verifies it and switches to it. Returns the new
/// generation's number and the report.
///
/// Buckets that aren't in any source are dropped, and the others keep their ids. Searches use the
/// old index until the switch. If the rebuild is stopped, the old index remains unchanged.
pub fn rebuild_from(
    context: &JobContext,
    options: &LoadOptions,
    checkpoints: CheckpointPolicy,
) -> Result<(u32, Report), JobError> {
    let session = settled_session(Session::open_for_rebuild(context, HOLDER)?)?;
    settled(context, load_new_generation(session, options, checkpoints))
}

/// Cleans up after a rebuild: drops old generations, or the unfinished new one if the rebuild
/// failed.
fn settled<T>(
    context: &JobContext,
    made: Result<(u32, T), JobError>,
) -> Result<(u32, T), JobError> {
    match &made {
        Ok((generation, _)) => drop(context.generations.sweep(*generation)?),
        // Opening a session discards the unfinished generation. If that fails, the next session
        // will do it.
        Err(_) => drop(Session::try_open(context, "a failed rebuild is being discarded")),
    }
    made
}

/// Copies the current index and switches to the copy.
fn copy_to_new_generation(context: &JobContext, session: Session) -> Result<(u32, u64), JobError> {
    // We keep the lock until the switch. The old writer is idle.
    session.index.refresh()?;
    // The copy gets new checksums, so damage would no longer be found.
    context.refuse_damage()?;
    let mut fresh = session.next_generation()?;
    let copied = copy(context, &*session.index, &mut fresh)?;
    check(&*session.index, &*fresh.index, &copied)?;
    let generation = fresh.generation;
    session.lock.check()?;
    let identity = &fresh.writer.journal().identity;
    let numbers = (i64::from(session.generation), i64::from(generation));
    context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
        generations::switch(db, session.generation, generation, identity)?;
        alerts::renumber(db, numbers, &|id| copied.up_to(id))
    })?;
    Ok((generation, copied.count()))
}

fn settled_session(mut session: Session) -> Result<Session, JobError> {
    super::remove::apply_pending_removals(&mut session)?;
    judge_or_warn(&session.context, &*session.index, session.generation);
    match &session.writer.journal().open {
        None => Ok(session),
        Some(open) => Err(JobError::Invalid(format!(
            "run {} was stopped: resume it, or start another one, before a rebuild",
            open.run
        ))),
    }
}

/// Copies all files in ascending id order and returns their ids.
fn copy(
    context: &JobContext,
    old: &dyn FileIndex,
    new: &mut Session,
) -> Result<RankedIds, JobError> {
    let buckets = context.buckets()?;
    let summary = old.summary();
    let published = summary.journal.published.clone();
    let writer = &mut new.writer;
    writer.begin(published.as_ref().map_or(0, |published| published.run))?;
    let mut batch = Vec::with_capacity(BATCH);
    let mut copied = Bitmap::new(summary.journal.rows + 1);
    each_row(old, None, &Limits::none(), |row| -> Result<(), JobError> {
        let kind = buckets.get(&row.bucket).map_or(BucketType::Aws, |bucket| bucket.kind);
        copied.insert(row.id);
        batch.push(NewFile::of_row(row, kind.code()));
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
    Ok(RankedIds::new(copied))
}

/// Checks that the new generation is consistent, has the same number of files in every bucket, and
/// numbers them in the old order.
fn check(old: &dyn FileIndex, new: &dyn FileIndex, copied: &RankedIds) -> Result<(), JobError> {
    let mut faults = new.verify()?;
    if new.summary().journal.published_id() != copied.count() {
        faults.push("its files are not numbered in the old order".to_owned());
    }
    if old.summary().counts != new.summary().counts || !faults.is_empty() {
        let text = format!("the new generation differs from the old one: {}", faults.join("; "));
        return Err(EngineError::Broken(text).into());
    }
    Ok(())
}
