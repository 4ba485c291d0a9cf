//! The time limit of a list, and the errors of reading a list.

use std::time::Instant;

use database::DatabaseError;

/// The time at which a list request is abandoned.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

/// The error of reading a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The database failed.
    #[error("{0}")]
    Store(#[from] DatabaseError),
    /// The connection sees an older state than the index. A new read transaction sees a newer one.
    #[error("the index is ahead of the connection")]
    Outdated,
    /// The deadline passed before the list was read.
    #[error("the list takes too long")]
    TooLong,
    /// The text of the page has this number of bytes, so it needs a memory permit.
    #[error("the texts of the page have {0} bytes")]
    Long(usize),
}

impl Deadline {
    /// Fails if the deadline has passed.
    pub fn check(self) -> Result<(), ListError> {
        if Instant::now() < self.0 { Ok(()) } else { Err(ListError::TooLong) }
    }
}
