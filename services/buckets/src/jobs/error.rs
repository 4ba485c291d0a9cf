//! Errors of jobs.

use database::DatabaseError;

use crate::app::SnapshotError;
use crate::engine::EngineError;

/// An error of a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Too many bad lines.
    #[error("{bad} of {lines} lines are bad: nothing was published")]
    TooManyBad {
        /// Bad lines.
        bad: u64,
        /// All lines.
        lines: u64,
    },
    /// A source cannot be opened or read.
    #[error("{path}: {error}")]
    Source {
        /// Name of the source.
        path: String,
        /// The I/O error.
        error: std::io::Error,
    },
    /// A source has changed since the run began.
    #[error("{0} changed since the run began: start a new run")]
    SourceChanged(String),
    /// The request is not valid in the current state.
    #[error("{0}")]
    Invalid(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

impl From<SnapshotError> for JobError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Index(error) => error.into(),
            SnapshotError::Store(error) => error.into(),
        }
    }
}
