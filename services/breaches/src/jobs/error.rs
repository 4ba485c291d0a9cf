//! Why a job ended early.

use super::load::missing_column::MissingColumn;

/// Why a job ended early.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A rule forbids it; a sentence for the operator.
    #[error("{0}")]
    Rejected(String),
    /// The operator cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// Another process that runs the same job has done all of it.
    #[error("another process has done the job")]
    DoneElsewhere,
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
    /// The text for the row of the job, which keeps nothing of what a file says.
    pub fn for_record(&self) -> String {
        if let Self::File { what, error } = self
            && let Some(missing) = error.get_ref().and_then(|cause| cause.downcast_ref())
        {
            let missing: &MissingColumn = missing;
            return format!("{what}: {}", missing.without_names());
        }
        self.to_string()
    }

    /// Wraps a failure of a file.
    pub fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::File { what, error }
    }
}
