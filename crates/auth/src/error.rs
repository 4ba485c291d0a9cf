//! Errors in authentication and key management.

use database::DatabaseError;
use shell::{Credentials, Fault};

use crate::TooMany;

/// The reason for rejecting a request.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The credentials are missing or invalid.
    #[error("the credentials are missing or wrong")]
    Credentials(Credentials),
    /// The quota is used up.
    #[error("the quota is used up")]
    TooMany(TooMany),
    /// The key couldn't be looked up because the database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

impl From<AuthError> for Fault {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Credentials(fault) => Self::Unauthorized(fault),
            AuthError::TooMany(too_many) => {
                Self::TooManyRequests { retry_after: too_many.retry_after }
            }
            AuthError::Store(error) if error.is_temporary() => {
                Self::Unavailable { retry_after: 1, cause: format!("key lookup: {error}") }
            }
            AuthError::Store(error) => Self::Internal(format!("key lookup: {error}")),
        }
    }
}

/// The reason that a key or plan couldn't be created or changed. The message is for the operator.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No plan has this code.
    #[error("there is no plan {0}")]
    NoPlan(String),
    /// The plan is no longer offered.
    #[error("the plan {0} is hidden: it is not offered for new keys")]
    HiddenPlan(String),
    /// No key has this ID.
    #[error("there is no key {0}")]
    NoKey(i64),
    /// The key has been revoked or has expired, so it can't be renewed.
    #[error("the key {0} is revoked or expired: issue a new one")]
    Dead(i64),
    /// Another transaction changed the key in the meantime.
    #[error(
        "the key {0} was renewed or revoked by another command at the same time: nothing was changed"
    )]
    Changed(i64),
    /// The owner has been issued too many keys.
    #[error("too many keys were issued for this owner: try again in {retry_after} s")]
    TooManyKeys {
        /// Seconds until another key can be issued.
        retry_after: i64,
    },
    /// The string doesn't have the format of a key.
    #[error("a key must be 32 hexadecimal digits")]
    Malformed,
    /// A value violates a rule.
    #[error("{0}")]
    Invalid(String),
    /// The system's random number generator failed.
    #[error("the operating system did not provide random bits: {0}")]
    Random(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

impl From<diesel::result::Error> for KeyError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_database_is_the_cause_in_the_log() {
        let fault = Fault::from(AuthError::Store(DatabaseError::Busy));
        assert!(matches!(fault, Fault::Unavailable { retry_after: 1, .. }), "{fault:?}");
        assert_eq!(fault.to_string(), "key lookup: the database is busy or unreachable");
    }
}
