//! Errors common to all engines.

use super::removal_limit::BucketLoss;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The time limit was reached or the client disconnected.
    #[error("the search was stopped at its time limit")]
    Stopped,
    /// Another process is writing.
    #[error("the index is being written: {0}")]
    Locked(String),
    /// There is no index.
    #[error("there is no index at {0}")]
    Missing(String),
    /// The index and the database don't match.
    #[error(
        "the database and the index do not match: {0}; restore copies of both from the same time, \
         or move the index away and rebuild it: buckets rebuild PATH"
    )]
    Mismatch(String),
    /// The publish would remove too many files from these buckets. Nothing has been changed.
    #[error("too many files would be removed from {} buckets", .0.len())]
    TooManyRemoved(Vec<(u64, BucketLoss)>),
    /// The expression contains something that the engine doesn't support.
    #[error("{0}")]
    Unsupported(String),
    /// Files are damaged or can't be read.
    #[error("index: {0}")]
    Broken(String),
    /// Tantivy returned an error.
    #[error("index: {0}")]
    Tantivy(tantivy::TantivyError),
    /// Disk I/O failed.
    #[error("index: {0}")]
    Io(std::io::Error),
}

// `#[from]` isn't used here, because error chains would then print the cause twice.
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
