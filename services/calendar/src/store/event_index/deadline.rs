//! The time that a list has, and how reading it can fail.

use std::time::Instant;

use database::DatabaseError;

/// When a list is given up.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

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
    /// The page has texts of so many bytes, which need room in memory.
    #[error("the texts of the page have {0} bytes")]
    Long(usize),
}

impl Deadline {
    /// Fails when the time is over.
    pub fn check(self) -> Result<(), ListError> {
        if Instant::now() < self.0 { Ok(()) } else { Err(ListError::TooLong) }
    }
}
