//! Why a job failed.

use database::DatabaseError;

use crate::app::SnapshotError;
use crate::engine::EngineError;

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// More bad lines than allowed.
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
        /// Its name.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A source is not what it was when the run began.
    #[error("{0} changed since the run began: start a new run")]
    SourceChanged(String),
    /// The request is not valid in the present state.
    #[error("{0}")]
    Invalid(String),
    /// A file could not be read or written.
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
