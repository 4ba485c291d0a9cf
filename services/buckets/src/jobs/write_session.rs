//! The write lock with the index, its writer, and SQL rows that agree with the journal.

use std::sync::Arc;

use super::context::JobContext;
use super::error::JobError;
use crate::app::reconcile;
use crate::engine::{EngineError, FileIndex, FileWriter, WriteLock};
use crate::store::{generations, load_runs};

/// The write lock, with all that belongs to it.
pub struct Session {
    /// What every job needs.
    pub context: JobContext,
    /// The generation that is searched.
    pub generation: u32,
    /// The index.
    pub index: Arc<dyn FileIndex>,
    /// Its writer.
    pub writer: Box<dyn FileWriter>,
    /// The lock itself; looked at again before anything is dropped or switched.
    pub lock: WriteLock,
}

impl Session {
    /// Takes the write lock; `holder` is what another command reports as its holder meanwhile.
    pub fn open(context: &JobContext, holder: &str) -> Result<Self, JobError> {
        let lock = context.generations.lock(holder).map_err(|error| named(context, error))?;
        let generation = context.pools.read_blocking(generations::read)?.generation;
        // What a failed rebuild left would keep the files of later removals, and may fill the disk, on
        // which nothing of what follows can be written then.
        let index = match context.generations.open(generation) {
            Err(EngineError::Missing(_)) => {
                refuse_older_database(context, generation)?;
                context.generations.discard(generation + 1, &*lock)?;
                context.generations.open_or_create(generation)?
            }
            opened => {
                let index = opened?;
                context.generations.discard(generation + 1, &*lock)?;
                index
            }
        };
        let writer = index.writer(context.memory_mb)?;
        let session = Self { context: context.clone(), generation, index, writer, lock };
        let (journal, now) = (session.writer.journal(), context.clock.unix());
        reconcile(&context.pools, journal, "{}", now)?;
        let open = journal.open.as_ref().map(|open| open.run);
        context.pools.write_blocking(|db| load_runs::fail_strays(db, open, now))?;
        Ok(session)
    }

    /// A new, empty generation beside the one that is searched; written by the same right.
    pub fn next_generation(&self) -> Result<Self, JobError> {
        let (context, generation) = (self.context.clone(), self.generation + 1);
        context.generations.discard(generation, &*self.lock)?;
        let index = context.generations.open_or_create(generation)?;
        let writer = index.writer(context.memory_mb)?;
        Ok(Self { context, generation, index, writer, lock: Box::new(()) })
    }

    /// Takes the write lock, unless another process holds it.
    pub fn try_open(context: &JobContext, holder: &str) -> Result<Option<Self>, JobError> {
        match Self::open(context, holder) {
            Ok(session) => Ok(Some(session)),
            Err(JobError::Index(EngineError::Locked(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Fails where the database knows a generation that is gone, and a newer one is there: it is a copy from
/// before a rebuild, and the index that is searched would be dropped for an empty one.
fn refuse_older_database(context: &JobContext, generation: u32) -> Result<(), JobError> {
    match context.generations.newest()? {
        Some(newest) if newest > generation => Err(JobError::Invalid(format!(
            "the index is of generation {newest}, the database of generation {generation}: put back \
             a copy of the database from after the last rebuild, or move the index away"
        ))),
        _ => Ok(()),
    }
}

/// Adds the id of the run that holds the write lock, if a run does.
fn named(context: &JobContext, error: EngineError) -> EngineError {
    let EngineError::Locked(holder) = error else { return error };
    let run = context.pools.read_blocking(load_runs::under_way).ok().flatten();
    EngineError::Locked(match run {
        Some(run) if holder.contains("run") => format!("{holder} (run {})", run.id),
        _ => holder,
    })
}
