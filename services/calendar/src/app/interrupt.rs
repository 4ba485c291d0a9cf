//! Reasons to stop the work of a write.

use database::DatabaseError;

use crate::error::Error;
use crate::wire::parameter_errors::ParameterErrors;

/// The reason why the work of a write stopped. Its transaction is rolled back in any case.
#[derive(Debug)]
pub enum Interrupt {
    /// The image at this URL has to be fetched before the work is repeated.
    NeedsImage(String),
    /// The write fails with an error.
    Failed(Error),
}

impl From<Error> for Interrupt {
    fn from(error: Error) -> Interrupt {
        Interrupt::Failed(error)
    }
}

impl From<DatabaseError> for Interrupt {
    fn from(error: DatabaseError) -> Interrupt {
        Interrupt::Failed(error.into())
    }
}

impl From<ParameterErrors> for Interrupt {
    fn from(errors: ParameterErrors) -> Interrupt {
        Interrupt::Failed(errors.into())
    }
}
