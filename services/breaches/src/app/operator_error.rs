//! Errors from operator commands.

use database::DatabaseError;

use crate::error::Error;

/// The reason an operator's change failed.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// A rule doesn't allow this. Contains a message for the operator.
    #[error("{0}")]
    Rejected(String),
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
