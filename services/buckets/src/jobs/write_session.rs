//! Write sessions. A session holds the write lock and an open index with its writer, and makes sure
//! that the SQL rows match the index.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::SystemTime;

use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use crate::app::{is_paired, lost, reconcile};
use crate::engine::{EngineError, FileIndex, FileWriter, WriteLock};
use crate::model::identity::Identity;
use crate::store::{generations, load_runs};

/// A write session. Only one can exist at a time.
pub struct Session {
    pub context: JobContext,
    /// Number of the current generation.
    pub generation: u32,
    pub index: Arc<dyn FileIndex>,
    pub writer: Box<dyn FileWriter>,
    /// Whether the published index is missing and about to be replaced.
    pub is_lost: bool,
    /// Check this before deleting anything and before switching generations.
    pub lock: WriteLock,
}

impl Session {
    /// Takes the write lock. Other commands that want the lock report `holder`, which should
    /// describe this command.
    pub fn open(context: &JobContext, holder: &str) -> Result<Self, JobError> {
        Self::begin(context, holder, false)
    }

    /// Like [`Self::open`], but allows the published index to be missing, since it will be
    /// replaced.
    pub fn open_for_rebuild(context: &JobContext, holder: &str) -> Result<Self, JobError> {
        Self::begin(context, holder, true)
    }

    fn begin(context: &JobContext, holder: &str, rebuilds: bool) -> Result<Self, JobError> {
        let lock = context.generations.lock(holder).map_err(|error| named(context, error))?;
        let (generation, own) = context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            Ok((generations::read(db)?.generation, generations::identity(db)?))
        })?;
        let mut is_lost = false;
        let opened = match context.generations.open(generation) {
            // A rebuild of a lost index was killed and has left an empty one behind.
            Ok(index) if rebuilds && own.publishes > 0 && is_unused(&*index) => {
                refuse_newer_index(context, generation + 1)?;
                is_lost = true;
                Some(index)
            }
            Err(EngineError::Missing(place)) => {
                refuse_newer_index(context, generation)?;
                is_lost = own.publishes > 0;
                if is_lost && !rebuilds {
                    return Err(lost(place).into());
                }
                None
            }
            opened => {
                let index = opened?;
                is_paired(&context.pools, &*index, generation)?;
                refuse_newer_index(context, generation + 1)?;
                refuse_later_publishes(context, generation + 1, &own)?;
                Some(index)
            }
        };
        // An unfinished generation would keep files that are removed later. It might also have
        // filled up the disk, and then nothing below could be written.
        context.generations.discard(generation + 1, &*lock)?;
        let index = match opened {
            Some(index) => index,
            None => context.generations.open_or_create(generation)?,
        };
        let mut writer = index.writer(context.memory_mb)?;
        if writer.journal().identity.index.is_empty() {
            let name = new_name();
            let index = context.pools.write_blocking(|db| generations::name_index(db, &name))?;
            writer.identify(Identity { index, publishes: 0 });
        }
        let session = Self { context: context.clone(), generation, index, writer, is_lost, lock };
        let (journal, now) = (session.writer.journal(), context.clock.unix());
        reconcile(&context.pools, journal, None, now)?;
        let open = journal.open.as_ref().map(|open| open.run);
        context.pools.write_blocking(|db| load_runs::fail_strays(db, open, now))?;
        Ok(session)
    }

    /// Creates an empty generation after the current one. It doesn't need a separate lock.
    pub fn next_generation(&self) -> Result<Self, JobError> {
        let (context, generation) = (self.context.clone(), self.generation + 1);
        context.generations.discard(generation, &*self.lock)?;
        let index = context.generations.open_or_create(generation)?;
        let mut writer = index.writer(context.memory_mb)?;
        writer.identify(context.pools.read_blocking(generations::identity)?);
        Ok(Self { context, generation, index, writer, is_lost: false, lock: Box::new(()) })
    }

    /// Takes the write lock. Returns `None` if another process has it.
    pub fn try_open(context: &JobContext, holder: &str) -> Result<Option<Self>, JobError> {
        match Self::open(context, holder) {
            Ok(session) => Ok(Some(session)),
            Err(JobError::Index(EngineError::Locked(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Warns if most of the rows in the index are dead.
    pub(super) fn warn_of_dead_rows(&self) {
        let writer = &self.writer;
        let (dead, rows) = (writer.dead_rows().unwrap_or(0), writer.journal().rows);
        if dead > rows / 2 {
            log::warn!(
                target: "notice",
                "{dead} of {rows} rows in the index belong to replaced or removed files: `buckets \
                 rebuild` frees their space"
            );
        }
    }
}

/// Returns an error if there's a generation above `expected`. In that case, the database must be a
/// copy from before a rebuild, and the newer index would be dropped.
fn refuse_newer_index(context: &JobContext, expected: u32) -> Result<(), JobError> {
    match context.generations.newest()? {
        Some(newest) if newest > expected => Err(EngineError::Mismatch(format!(
            "the index has generation {newest}, which the database does not know"
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Returns an error if the next generation has had publishes or removals since its rebuild.
fn refuse_later_publishes(
    context: &JobContext,
    generation: u32,
    own: &Identity,
) -> Result<(), JobError> {
    match context.generations.open(generation) {
        Ok(next) if next.summary().journal.identity.publishes > own.publishes + 1 => {
            refuse_newer_index(context, generation - 1)
        }
        _ => Ok(()),
    }
}

/// Returns `true` if nothing has ever been committed to the index.
fn is_unused(index: &dyn FileIndex) -> bool {
    index.summary().journal.identity.index.is_empty()
}

/// Returns a random name for an index or a process.
pub(super) fn new_name() -> String {
    let random = || RandomState::new().hash_one(SystemTime::now());
    format!("{:016x}{:016x}", random(), random())
}

/// If a run has the write lock, adds its id to the error.
fn named(context: &JobContext, error: EngineError) -> EngineError {
    let EngineError::Locked(holder) = error else { return error };
    let run = context.pools.read_blocking(load_runs::under_way).ok().flatten();
    EngineError::Locked(match run {
        Some((run, _)) if holder.contains("run") => format!("{holder} (run {run})"),
        _ => holder,
    })
}
