//! Errors that all engines have in common.

use super::removal_limit::BucketLoss;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The time limit was reached, or the client disconnected.
    #[error("the search was stopped at its time limit")]
    Stopped,
    /// Another process is writing.
    #[error("the index is being written: {0}")]
    Locked(String),
    /// There is no index.
    #[error("there is no index at {0}")]
    Missing(String),
    /// The index does not belong to the database.
    #[error(
        "the database and the index do not belong together: {0}; restore copies of both from the same \
         time, or move the index away and rebuild it: buckets rebuild PATH"
    )]
    Mismatch(String),
    /// A publish would remove too many files from these buckets. Nothing was changed.
    #[error("too many files would be removed from {} buckets", .0.len())]
    TooManyRemoved(Vec<(u64, BucketLoss)>),
    /// The engine does not support a construct in the expression.
    #[error("{0}")]
    Unsupported(String),
    /// Files are damaged or cannot be read.
    #[error("index: {0}")]
    Broken(String),
    /// The search library failed.
    #[error("index: {0}")]
    Tantivy(tantivy::TantivyError),
    /// An operation on the disk failed.
    #[error("index: {0}")]
    Io(std::io::Error),
}

// Without `#[from]`, which would also make the cause a source. Error chains would then print it
// twice.
impl From<tantivy::TantivyError> for EngineError {
    fn from(error: tantivy::TantivyError) -> Self {
        Self::Tantivy(error)
    }
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
