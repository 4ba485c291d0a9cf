//! What can go wrong with a database, as seen by those who ask it.

use std::error::Error as Cause;

use diesel::result::{DatabaseErrorKind, Error};

/// Why the database did not do what it was asked.
///
/// The first three are answers that a service turns into a status of its API; `Broken` and `Setup`
/// are for logs and for whoever starts the program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The row does not exist.
    #[error("no such row")]
    NotFound,
    /// A row with that key exists already, or another row refers to this one.
    #[error("the row conflicts with another one")]
    Conflict,
    /// Too many wait, another process holds the lock, or the server is away: try again shortly.
    #[error("the database is busy or not reachable")]
    Busy,
    /// Anything else. The cause is for the log, never for a client.
    #[error("the database failed: {0}")]
    Broken(Box<dyn Cause + Send + Sync>),
    /// The database cannot be used as configured; one sentence for the operator.
    #[error("{0}")]
    Setup(String),
}

impl DatabaseError {
    /// Wraps a failure that has no meaning of its own here.
    ///
    /// ```
    /// let error = database::DatabaseError::broken("row 7 holds an unknown state");
    /// assert_eq!(error.to_string(), "the database failed: row 7 holds an unknown state");
    /// ```
    pub fn broken(cause: impl Into<Box<dyn Cause + Send + Sync>>) -> Self {
        Self::Broken(cause.into())
    }
}

impl From<Error> for DatabaseError {
    fn from(error: Error) -> Self {
        match &error {
            Error::NotFound => Self::NotFound,
            Error::BrokenTransactionManager => Self::Busy,
            Error::DatabaseError(kind, info) => match kind {
                DatabaseErrorKind::UniqueViolation
                | DatabaseErrorKind::ForeignKeyViolation
                | DatabaseErrorKind::RestrictViolation
                | DatabaseErrorKind::ExclusionViolation => Self::Conflict,
                DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand => {
                    log::warn!("database connection lost: {}", info.message().trim());
                    Self::Busy
                }
                DatabaseErrorKind::SerializationFailure => Self::Busy,
                _ if is_passing(info.message()) => {
                    if info.message().contains(STATEMENT_TIMEOUT) {
                        log::warn!("a statement took too long: {}", info.message().trim());
                    }
                    Self::Busy
                }
                _ => Self::Broken(Box::new(error)),
            },
            _ => Self::Broken(Box::new(error)),
        }
    }
}

/// What PostgreSQL says of a statement that it cuts.
const STATEMENT_TIMEOUT: &str = "canceling statement due to statement timeout";

/// Tells failures that another attempt may not meet; neither database has a kind for them, and
/// PostgreSQL must speak English (`lc_messages`).
fn is_passing(message: &str) -> bool {
    const PASSING: [&str; 6] = [
        "database is locked",
        "database table is locked",
        "deadlock detected",
        STATEMENT_TIMEOUT,
        "canceling statement due to lock timeout",
        "terminating connection due to administrator command",
    ];
    PASSING.iter().any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(kind: DatabaseErrorKind, message: &str) -> DatabaseError {
        Error::DatabaseError(kind, Box::new(message.to_owned())).into()
    }

    #[test]
    fn violations_are_conflicts() {
        assert!(matches!(from(DatabaseErrorKind::UniqueViolation, "x"), DatabaseError::Conflict));
        assert!(matches!(
            from(DatabaseErrorKind::ForeignKeyViolation, "x"),
            DatabaseError::Conflict
        ));
    }

    #[test]
    fn locks_and_lost_connections_are_busy() {
        let locked = from(DatabaseErrorKind::Unknown, "database is locked");
        assert!(matches!(locked, DatabaseError::Busy));
        let closed = from(DatabaseErrorKind::ClosedConnection, "server closed the connection");
        assert!(matches!(closed, DatabaseError::Busy));
    }

    #[test]
    fn other_failures_keep_their_cause() {
        let error = from(DatabaseErrorKind::Unknown, "disk I/O error");
        assert!(matches!(error, DatabaseError::Broken(_)));
        assert!(error.to_string().contains("disk I/O error"));
    }
}
