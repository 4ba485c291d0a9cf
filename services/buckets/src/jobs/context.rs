//! The context that jobs run in.

use std::collections::HashMap;
use std::sync::Arc;

use database::Pools;
use domain::SharedClock;

use super::error::JobError;
use crate::app;
use crate::engine::{BucketLoss, EngineError, FileIndex, Generations};
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

    /// Returns the number of the current generation.
    pub fn generation(&self) -> Result<u32, JobError> {
        Ok(self.pools.read_blocking(generations::read)?.generation)
    }

    /// Describes any damage to the current index's files. Check this before searching the index,
    /// because damaged files can cause panics.
    pub fn damage(&self) -> Result<Vec<String>, JobError> {
        Ok(self.generations.damage(self.generation()?)?)
    }

    /// Returns an error if the current index's files are damaged.
    pub fn refuse_damage(&self) -> Result<(), JobError> {
        let Some(fault) = self.damage()?.into_iter().next() else { return Ok(()) };
        let text = format!("{fault}: restore the index, or rebuild it: buckets rebuild PATH");
        Err(EngineError::Broken(text).into())
    }

    /// Returns the number of paths in the current index that don't have a checksum.
    pub fn unchecked_paths(&self) -> Result<u64, JobError> {
        Ok(self.generations.unchecked_paths(self.generation()?)?)
    }

    /// Returns all buckets by id, including unlisted ones.
    pub fn buckets(&self) -> Result<HashMap<u64, Bucket>, JobError> {
        let all = self.pools.read_blocking(buckets::all)?;
        Ok(all.into_iter().map(|bucket| (bucket.id, bucket)).collect())
    }

    /// Replaces the ids of buckets that would lose files by their addresses.
    pub fn with_addresses(
        &self,
        losses: Vec<(u64, BucketLoss)>,
    ) -> Result<Vec<(String, BucketLoss)>, JobError> {
        let all = self.buckets()?;
        let address = |id: u64| all.get(&id).map_or(String::new(), |found| found.address.clone());
        Ok(losses.into_iter().map(|(id, loss)| (address(id), loss)).collect())
    }
}
