//! What a list is given to ask the index with, and how that can fail.

use std::time::Instant;

use database::DatabaseError;

use super::shared::EventIndex;

/// The index, and until when its answer is wanted.
#[derive(Clone, Copy)]
pub struct IndexAccess<'a> {
    /// The index.
    pub index: &'a EventIndex,
    /// When the list is given up.
    pub deadline: Instant,
}

/// Why a list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The database failed.
    #[error("{0}")]
    Store(#[from] DatabaseError),
    /// The connection sees an older state than the index; a new read transaction sees a newer one.
    #[error("the index is ahead of the connection")]
    Outdated,
    /// The time was over before the list was read.
    #[error("the list takes too long")]
    TooLong,
}

impl IndexAccess<'_> {
    /// Fails when the time is over.
    pub fn check_time(&self) -> Result<(), ListError> {
        if Instant::now() < self.deadline { Ok(()) } else { Err(ListError::TooLong) }
    }
}
