//! Errors from opening the index and the database together.

use database::DatabaseError;

use crate::engine::EngineError;

/// Error while reading a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}
