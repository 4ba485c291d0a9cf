//! Why a job ended early.

/// Why a job ended early.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A rule forbids it; a sentence for the operator.
    #[error("{0}")]
    Rejected(String),
    /// The operator cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// A file could not be read or written.
    #[error("{what}: {error}")]
    File {
        /// Which one, and what was tried.
        what: String,
        /// The cause.
        error: std::io::Error,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] database::DatabaseError),
}

impl JobError {
    /// Wraps a failure of a file.
    pub fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::File { what, error }
    }
}
