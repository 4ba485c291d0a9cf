//! Reasons to abort a write request or a list request.

use database::DatabaseError;

use crate::error::Error;
use crate::store::event_index::ListError;
use crate::wire::parameter_errors::ParameterErrors;

/// Why a write request was aborted. Its transaction is always rolled back.
#[derive(Debug)]
pub enum Interrupt {
    /// The image at this URL has to be fetched, and the request run again.
    NeedsImage(String),
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

/// Why reading a list was aborted.
#[derive(Debug)]
pub enum ListInterrupt {
    /// The connection sees an older state than the index. Reading the list again lets the
    /// connection catch up.
    Outdated,
    /// The page has this many bytes of text and needs a memory permit.
    LongPage(usize),
    Failed(Error),
}

impl ListInterrupt {
    /// Returns the error to report if the list isn't read again.
    pub fn into_error(self) -> Error {
        match self {
            ListInterrupt::Outdated | ListInterrupt::LongPage(_) => DatabaseError::Busy.into(),
            ListInterrupt::Failed(error) => error,
        }
    }
}

impl From<Error> for ListInterrupt {
    fn from(error: Error) -> ListInterrupt {
        ListInterrupt::Failed(error)
    }
}

impl From<DatabaseError> for ListInterrupt {
    fn from(error: DatabaseError) -> ListInterrupt {
        ListInterrupt::Failed(error.into())
    }
}

impl From<ListError> for ListInterrupt {
    fn from(error: ListError) -> ListInterrupt {
        match error {
            ListError::Store(error) => error.into(),
            ListError::Outdated => ListInterrupt::Outdated,
            ListError::TooLong => ListInterrupt::Failed(Error::ListTakesTooLong),
            ListError::Long(bytes) => ListInterrupt::LongPage(bytes),
        }
    }
}
