//! Errors that end a job early.

use super::load::missing_column::MissingColumn;

/// The reason that a job ended early.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A rule forbids it. Contains a message for the operator.
    #[error("{0}")]
    Rejected(String),
    /// The operator cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// Another process has finished the same job.
    #[error("another process finished the job")]
    DoneElsewhere,
    /// A file could not be read or written.
    #[error("{what}: {error}")]
    File {
        /// The file and the action that failed.
        what: String,
        /// The cause.
        error: std::io::Error,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] database::DatabaseError),
}

impl JobError {
    /// Returns the text for the job's record. It does not contain anything from the input file.
    pub fn for_record(&self) -> String {
        if let Self::File { what, error } = self
            && let Some(missing) = error.get_ref().and_then(|cause| cause.downcast_ref())
        {
            let missing: &MissingColumn = missing;
            return format!("{what}: {}", missing.without_names());
        }
        self.to_string()
    }

    /// Returns a function that wraps a file error, for use with `map_err`.
    pub fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::File { what, error }
    }
}
