//! Why a line of a load file or an event in an import was rolled back.

use database::DatabaseError;

use super::interrupt::Interrupt;
use crate::error::Error;
use crate::wire::parameter_errors::ParameterErrors;

/// Why a line or an event was rolled back.
#[derive(Debug)]
pub enum Undone {
    /// Writing it wouldn't have changed anything.
    Unchanged,
    /// The calendar's own file that it came from is older than the event.
    Outdated,
    Faulty(String),
    /// The database or the service itself failed.
    Failed(Error),
}

impl From<DatabaseError> for Undone {
    fn from(error: DatabaseError) -> Undone {
        Undone::Failed(error.into())
    }
}

impl From<Error> for Undone {
    fn from(error: Error) -> Undone {
        match error {
            Error::Store(error) => Undone::Failed(error.into()),
            Error::Parameters(errors) => Undone::Faulty(message(&errors)),
            Error::TermExists(_) => Undone::Unchanged,
            error @ Error::Internal(_) => Undone::Failed(error),
            other => Undone::Faulty(other.to_string()),
        }
    }
}

impl From<ParameterErrors> for Undone {
    fn from(errors: ParameterErrors) -> Undone {
        Undone::Faulty(message(&errors))
    }
}

impl From<Interrupt> for Undone {
    fn from(interrupt: Interrupt) -> Undone {
        match interrupt {
            Interrupt::Failed(error) => error.into(),
            Interrupt::NeedsImage(_) => Undone::Faulty("images are not fetched".to_owned()),
        }
    }
}

fn message(errors: &ParameterErrors) -> String {
    let invalid = errors.invalid.iter().map(|one| format!("{} {}", one.name, one.text));
    let missing = errors.missing.iter().map(|name| format!("{name} is missing"));
    missing.chain(invalid).collect::<Vec<_>>().join("; ")
}
