//! The context that jobs run in.

use std::collections::HashMap;
use std::sync::Arc;

use database::Pools;
use domain::SharedClock;

use super::error::JobError;
use crate::app;
use crate::engine::{EngineError, FileIndex, Generations};
use crate::store::buckets::{self, Bucket};
use crate::store::generations;

/// Everything a job needs to run.
#[derive(Clone)]
pub struct JobContext {
    pub pools: Pools,
    pub clock: SharedClock,
    /// Index generations.
    pub generations: Arc<dyn Generations>,
    /// `LOAD_MEMORY_MB`
    pub memory_mb: usize,
}

impl JobContext {
    /// Opens the current index for reading.
    pub fn open_index(&self) -> Result<Arc<dyn FileIndex>, JobError> {
        Ok(app::open_index(&self.pools, &self.generations)?.0)
    }

    /// Describes any damage to the current index's files. Check this before searching the index,
    /// because damaged files can cause panics.
    pub fn damage(&self) -> Result<Vec<String>, JobError> {
        let generation = self.pools.read_blocking(generations::read)?.generation;
        Ok(self.generations.damage(generation)?)
    }

    /// Returns an error if the current index's files are damaged.
    pub fn refuse_damage(&self) -> Result<(), JobError> {
        let Some(fault) = self.damage()?.into_iter().next() else { return Ok(()) };
        let text = format!("{fault}: restore the index, or rebuild it: buckets rebuild PATH");
        Err(EngineError::Broken(text).into())
    }

    /// Returns the number of paths in the current index that don't have a checksum.
    pub fn unchecked_paths(&self) -> Result<u64, JobError> {
        let generation = self.pools.read_blocking(generations::read)?.generation;
        Ok(self.generations.unchecked_paths(generation)?)
    }

    /// Returns all buckets by id, including unlisted ones.
    pub fn buckets(&self) -> Result<HashMap<u64, Bucket>, JobError> {
        let all = self.pools.read_blocking(buckets::all)?;
        Ok(all.into_iter().map(|bucket| (bucket.id, bucket)).collect())
    }
}
