//! The one right to write: lock, index, writer, and SQL rows that agree with the journal.

use std::sync::Arc;

use database::{DatabaseError, Pools};
use domain::SharedClock;

use super::LoadError;
use crate::engine::generations::{Generations, WriteLock};
use crate::engine::{EngineError, FileIndex, FileWriter, Journal};
use crate::store::{bucket, run, state};

/// What every command needs.
#[derive(Clone)]
pub struct Workshop {
    /// The database.
    pub pools: Pools,
    /// The clock.
    pub clock: SharedClock,
    /// Where the index is.
    pub generations: Arc<dyn Generations>,
    /// `LOAD_MEMORY_MB`.
    pub memory_mb: usize,
}

impl Workshop {
    /// Opens the index that is searched, for reading.
    pub fn open_index(&self) -> Result<Arc<dyn FileIndex>, LoadError> {
        let generation = self.pools.read_blocking(state::read)?.generation;
        Ok(self.generations.open_or_create(generation)?)
    }
}

/// The right to write, with all that belongs to it.
pub struct Session {
    /// What every command needs.
    pub shop: Workshop,
    /// The generation that is searched.
    pub generation: u32,
    /// The index.
    pub index: Arc<dyn FileIndex>,
    /// Its writer.
    pub writer: Box<dyn FileWriter>,
    _lock: WriteLock,
}

impl Session {
    /// Takes the right to write; `holder` is what another command is told meanwhile.
    pub fn open(shop: &Workshop, holder: &str) -> Result<Self, LoadError> {
        let lock = shop.generations.lock(holder).map_err(|error| named(shop, error))?;
        let generation = shop.pools.read_blocking(state::read)?.generation;
        let index = shop.generations.open_or_create(generation)?;
        let writer = index.writer(shop.memory_mb)?;
        let session = Self { shop: shop.clone(), generation, index, writer, _lock: lock };
        let (journal, now) = (session.writer.journal(), shop.clock.unix());
        settle(&shop.pools, journal, "{}", now)?;
        let open = journal.open.as_ref().map(|open| open.run);
        shop.pools.write_blocking(|db| run::fail_strays(db, open, now))?;
        // What a killed rebuild left would keep the files of later removals.
        shop.generations.discard(generation + 1)?;
        Ok(session)
    }

    /// A new, empty generation beside the one that is searched; written by the same right.
    pub fn beside(&self) -> Result<Self, LoadError> {
        let (shop, generation) = (self.shop.clone(), self.generation + 1);
        shop.generations.discard(generation)?;
        let index = shop.generations.open_or_create(generation)?;
        let writer = index.writer(shop.memory_mb)?;
        Ok(Self { shop, generation, index, writer, _lock: Box::new(()) })
    }

    /// Takes the right to write unless somebody has it.
    pub fn try_open(shop: &Workshop, holder: &str) -> Result<Option<Self>, LoadError> {
        match Self::open(shop, holder) {
            Ok(session) => Ok(Some(session)),
            Err(LoadError::Index(EngineError::Locked(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Says which run holds the right to write, where a run does.
fn named(shop: &Workshop, error: EngineError) -> EngineError {
    let EngineError::Locked(holder) = error else { return error };
    let run = shop.pools.read_blocking(run::under_way).ok().flatten();
    EngineError::Locked(match run {
        Some(run) if holder.contains("run") => format!("{holder} (run {})", run.id),
        _ => holder,
    })
}

/// Brings the SQL rows to what the journal says; a process may have been killed between the two
/// commits of a publish.
pub fn settle(
    pools: &Pools,
    journal: &Journal,
    report: &str,
    now: i64,
) -> Result<(), DatabaseError> {
    let Some(published) = &journal.published else {
        return Ok(());
    };
    let settled = pools.read_blocking(|db| -> Result<bool, DatabaseError> {
        Ok(run::find(db, published.run)?.is_none_or(|run| run.state == "published"))
    })?;
    if settled {
        return Ok(());
    }
    let buckets: Vec<(u64, bool)> =
        published.buckets.iter().map(|bucket| (bucket.id, bucket.truncated)).collect();
    pools.write_blocking(|db| -> Result<(), DatabaseError> {
        bucket::published(db, &buckets, published.at)?;
        run::publish(db, published.run, report, now)?;
        state::touch(db)
    })
}
