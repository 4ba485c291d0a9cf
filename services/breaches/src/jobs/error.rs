//! Errors that stop a job.

use super::load::missing_column::MissingColumn;
use crate::app::OperatorError;

/// The reason a job stopped early.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A rule doesn't allow this. Contains a message for the operator.
    #[error("{0}")]
    Rejected(String),
    /// Cancelled by the operator.
    #[error("the job was cancelled")]
    Cancelled,
    /// Another process has finished the same job.
    #[error("another process finished the job")]
    DoneElsewhere,
    /// A file couldn't be read or written.
    #[error("{what}: {error}")]
    File {
        /// The file and what was being done with it.
        what: String,
        error: std::io::Error,
    },
    #[error(transparent)]
    Database(#[from] database::DatabaseError),
}

impl JobError {
    /// Returns the error message to store with the job. It doesn't contain any cells, columns or
    /// tables of the input file.
    pub fn for_record(&self) -> String {
        if let Self::File { what, error } = self
            && let Some(missing) = error.get_ref().and_then(|cause| cause.downcast_ref())
        {
            let missing: &MissingColumn = missing;
            return format!("{what}: {}", missing.without_names());
        }
        self.to_string()
    }

    /// Wraps an I/O error. Meant for `map_err`.
    pub fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::File { what, error }
    }
}

impl From<OperatorError> for JobError {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::Rejected(why) => Self::Rejected(why),
            OperatorError::Database(error) => Self::Database(error),
        }
    }
}
