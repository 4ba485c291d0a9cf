//! Errors of every engine.

/// Why an engine did not answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The time limit passed, or the client has left.
    #[error("the search was stopped at its time limit")]
    Stopped,
    /// Another process writes.
    #[error("the index is being written: {0}")]
    Locked(String),
    /// The index does not exist yet.
    #[error("there is no index at {0}")]
    Missing(String),
    /// The index does not belong to the database.
    #[error(
        "the database and the index do not belong together: {0}; put back copies of both from the same \
         time, or move the index away and make it anew: buckets rebuild PATH"
    )]
    Mismatch(String),
    /// The expression uses a construct that this engine does not have.
    #[error("{0}")]
    Unsupported(String),
    /// Files are damaged or unreadable.
    #[error("index: {0}")]
    Broken(String),
    /// The search library failed.
    #[error("index: {0}")]
    Tantivy(tantivy::TantivyError),
    /// The disk failed.
    #[error("index: {0}")]
    Io(std::io::Error),
}

// No `#[from]`: it makes the cause a source, too, and whoever prints the whole chain says it twice.
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
