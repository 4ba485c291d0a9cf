//! What can go wrong with a caller or a key.

use database::DatabaseError;
use shell::{Credentials, Fault};

use crate::TooMany;

/// Why a request is not let through.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The credentials are missing or wrong.
    #[error("the credentials are missing or wrong")]
    Credentials(Credentials),
    /// The quota is used up.
    #[error("the quota is used up")]
    TooMany(TooMany),
    /// The keys cannot be looked up now.
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
            AuthError::Store(error) if error.is_temporary() => Self::Unavailable { retry_after: 1 },
            AuthError::Store(error) => Self::Internal(format!("key lookup: {error}")),
        }
    }
}

/// Why a key or plan could not be made or changed; each is a sentence for the operator.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No plan has this code.
    #[error("there is no plan {0}")]
    NoPlan(String),
    /// The plan is not offered any more.
    #[error("the plan {0} is hidden: it is not offered for new keys")]
    HiddenPlan(String),
    /// No key has this id.
    #[error("there is no key {0}")]
    NoKey(i64),
    /// The key is revoked or expired, so it cannot be renewed.
    #[error("the key {0} is revoked or expired: issue a new one")]
    Dead(i64),
    /// Another transaction changed the key at the same moment.
    #[error(
        "the key {0} was renewed or revoked by another command at this moment: nothing was changed"
    )]
    Changed(i64),
    /// Too many keys were made for the owner.
    #[error("too many keys were made for this owner: try again in {retry_after} s")]
    TooManyKeys {
        /// Seconds until another may be made.
        retry_after: i64,
    },
    /// The text is not a key.
    #[error("a key has 32 hexadecimal digits")]
    Malformed,
    /// A value breaks a rule.
    #[error("{0}")]
    Invalid(String),
    /// The source of random bits failed.
    #[error("the system gives no random bits: {0}")]
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
