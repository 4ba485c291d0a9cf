//! Errors of opening the index together with the database.

use database::DatabaseError;

use crate::engine::EngineError;

/// An error while reading a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}
