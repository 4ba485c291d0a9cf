//! Errors of changes by the operator.

use database::DatabaseError;

use crate::error::Error;

/// The reason for rejecting a change by the operator.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// A rule forbids it. Contains a message for the operator.
    #[error("{0}")]
    Rejected(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl From<OperatorError> for Error {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::Rejected(why) => Self::Internal(why),
            OperatorError::Database(error) => error.into(),
        }
    }
}
