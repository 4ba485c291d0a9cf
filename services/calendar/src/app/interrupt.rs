//! Why the work of a write stopped.

use database::DatabaseError;

use crate::error::Error;
use crate::wire::parameter_errors::ParameterErrors;

/// Why the work of a write stopped; its transaction is rolled back either way.
#[derive(Debug)]
pub enum Interrupt {
    /// The work can go on once the image at this URL has been fetched.
    NeedsImage(String),
    /// The write is answered with an error.
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
