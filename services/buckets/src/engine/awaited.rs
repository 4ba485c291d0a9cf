//! Placeholder for an index that doesn't exist yet.

use std::sync::{Arc, OnceLock};

use super::error::EngineError;
use super::generations::Generations;
use super::index::{FileIndex, FileList, FileWriter, NoFiles};
use super::journal::IndexSummary;
use super::limits::Limits;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, Found};

/// Placeholder for a generation until the process with the write lock creates it. Readers never
/// create an index themselves, because a load might be writing to the same location.
pub struct AwaitedIndex {
    generations: Arc<dyn Generations>,
    generation: u32,
    /// Set if a published index can't be used.
    fault: Option<String>,
    made: OnceLock<Arc<dyn FileIndex>>,
}

impl AwaitedIndex {
    /// Creates a placeholder that is empty until the real index appears.
    pub fn empty(generations: Arc<dyn Generations>, generation: u32) -> Self {
        Self { generations, generation, fault: None, made: OnceLock::new() }
    }

    /// Creates a placeholder that returns an error for every search.
    pub fn unusable(generations: Arc<dyn Generations>, generation: u32, fault: String) -> Self {
        Self { fault: Some(fault), ..Self::empty(generations, generation) }
    }
}

impl FileIndex for AwaitedIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        match (self.made.get(), &self.fault) {
            (_, Some(fault)) => Err(EngineError::Missing(fault.clone())),
            (Some(made), None) => made.search(query, limits),
            (None, None) => Ok(Found::default()),
        }
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        match (self.made.get(), &self.fault) {
            (_, Some(fault)) => Err(EngineError::Missing(fault.clone())),
            (Some(made), None) => made.list(query, limits),
            (None, None) => Ok(Box::new(NoFiles)),
        }
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        match (self.made.get(), &self.fault) {
            (_, Some(fault)) => Err(EngineError::Missing(fault.clone())),
            (Some(made), None) => made.facets(query, limits),
            (None, None) => Ok(Facets::default()),
        }
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.made.get().map_or_else(Arc::default, |made| made.summary())
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        if self.fault.is_some() {
            return Ok(false);
        }
        if let Some(made) = self.made.get() {
            return made.refresh();
        }
        match self.generations.open(self.generation) {
            Ok(made) => Ok(self.made.set(made).is_ok()),
            Err(EngineError::Missing(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.made.get().map_or_else(|| Ok(Vec::new()), |made| made.verify())
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        let missing = || EngineError::Missing(format!("generation {}", self.generation));
        self.made.get().ok_or_else(missing)?.writer(memory_mb)
    }
}
