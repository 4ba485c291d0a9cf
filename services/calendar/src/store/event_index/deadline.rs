//! Deadlines for list requests, and errors that occur while reading a list.

use std::time::Instant;

use database::DatabaseError;

/// When to abandon a list request.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

/// An error while reading a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The database failed.
    #[error("{0}")]
    Store(#[from] DatabaseError),
    /// The connection's snapshot is older than the index. A new read transaction will see a newer
    /// one.
    #[error("the index is ahead of the connection")]
    Outdated,
    /// The deadline passed before the list was complete.
    #[error("the list takes too long")]
    TooLong,
    /// The page contains this number of bytes of text, and needs a memory permit.
    #[error("the text on the page has {0} bytes")]
    Long(usize),
}

impl Deadline {
    /// Returns an error if the deadline has passed.
    pub fn check(self) -> Result<(), ListError> {
        if Instant::now() < self.0 { Ok(()) } else { Err(ListError::TooLong) }
    }
}
