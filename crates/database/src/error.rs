//! Database errors.

use std::error::Error as Cause;
use std::io;
use std::time::{Duration, Instant};

use diesel::result::{DatabaseErrorKind, Error};
use parking_lot::Mutex;

/// The reason that a database operation failed.
///
/// Services map the first five variants to HTTP statuses. `Broken` and `Setup` are meant for the
/// log and the operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The row does not exist.
    #[error("no such row")]
    NotFound,
    /// A row with this key already exists, or another row refers to this one.
    #[error("the row conflicts with another one")]
    Conflict,
    /// Too many requests are waiting, another process holds the lock, or the server is unavailable.
    /// Retry later.
    #[error("the database is busy or unreachable")]
    Busy,
    /// The disk that holds the database or its files is full, read-only or failing, though reads
    /// might still work. The cause was logged when this error was created.
    #[error("storage failed: {0}")]
    Storage(String),
    /// An index that the query needs is being built. Retry later. The message is for the operator.
    #[error("{0}")]
    NotReady(&'static str),
    /// Anything else. The cause is logged and must never be sent to a client.
    #[error("the database failed: {0}")]
    Broken(Box<dyn Cause + Send + Sync>),
    /// The database can't be used as configured. The message is for the operator.
    #[error("{0}")]
    Setup(String),
}

impl DatabaseError {
    /// Wraps any other failure.
    ///
    /// ```
    /// let error = database::DatabaseError::broken("row 7 holds an unknown state");
    /// assert_eq!(error.to_string(), "the database failed: row 7 holds an unknown state");
    /// ```
    pub fn broken(cause: impl Into<Box<dyn Cause + Send + Sync>>) -> Self {
        Self::Broken(cause.into())
    }

    /// Converts an I/O error from a file that is stored along with the database. The result is
    /// [`Storage`](Self::Storage) if the disk is full, read-only or failing, and `Broken`
    /// otherwise.
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    ///
    /// let error = database::DatabaseError::of_file(&Error::from(ErrorKind::StorageFull));
    /// assert!(error.is_temporary());
    /// ```
    pub fn of_file(error: &io::Error) -> Self {
        use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let failing = is_of_storage(&error.to_string());
        match error.kind() {
            StorageFull | QuotaExceeded | ReadOnlyFilesystem => storage(&error.to_string()),
            _ if failing => storage(&error.to_string()),
            _ => Self::broken(error.to_string()),
        }
    }

    /// Returns whether the database was busy or unreachable.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy)
    }

    /// Returns whether the same request might succeed later. In this case, services respond with
    /// 503 instead of 500.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Busy | Self::Storage(_) | Self::NotReady(_))
    }
}

/// The number of storage failures in this process, and the last cause.
static STORAGE_FAILURES: Mutex<(u64, String)> = Mutex::new((0, String::new()));

/// Returns the number of storage failures in this process, and the last cause.
pub(crate) fn storage_failures() -> (u64, String) {
    STORAGE_FAILURES.lock().clone()
}

fn storage(message: &str) -> DatabaseError {
    let cause = message.trim().to_owned();
    log::error!("storage failed: {cause}");
    let mut failures = STORAGE_FAILURES.lock();
    *failures = (failures.0 + 1, cause.clone());
    DatabaseError::Storage(cause)
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
                    log_loss(info.message());
                    Self::Busy
                }
                DatabaseErrorKind::SerializationFailure => Self::Busy,
                DatabaseErrorKind::ReadOnlyTransaction => storage(info.message()),
                _ if reports_lost_server(info.message()) => {
                    log_loss(info.message());
                    Self::Busy
                }
                _ if is_passing(info.message()) => {
                    if info.message().contains(STATEMENT_TIMEOUT) {
                        log::warn!("a statement took too long: {}", info.message().trim());
                    }
                    Self::Busy
                }
                _ if is_of_storage(info.message()) => storage(info.message()),
                _ => Self::Broken(Box::new(error)),
            },
            _ => Self::Broken(Box::new(error)),
        }
    }
}

/// Returns whether a message reports that a server of a Citus cluster failed. Citus doesn't always
/// set an error code of class 08 (connection exception). The last six messages come from libpq, and
/// Citus forwards them.
fn reports_lost_server(message: &str) -> bool {
    const LOST: [&str; 16] = [
        "connection marked as essential",
        "failed to COPY to shard ",
        "failed to complete COPY on ",
        "failed to prepare transaction ",
        "could not commit transaction for shard ",
        "could not connect to any active placements",
        "failed to read result ",
        " to fetch intermediate results",
        "execution cannot recover from multiple connection failures",
        // The coordinator itself was killed.
        "postmaster was shut down",
        "server closed the connection unexpectedly",
        "could not receive data from server",
        "could not send data to server",
        "SSL SYSCALL error",
        "SSL connection has been closed unexpectedly",
        "SSL error: unexpected eof",
    ];
    LOST.iter().any(|text| message.contains(text))
}

/// Minimum time between log lines about lost connections. While a server of a cluster is down,
/// every request that needs it loses its connection.
const LOG_LOSSES_EVERY: Duration = Duration::from_secs(10);

static LAST_LOSS: Mutex<Option<Instant>> = Mutex::new(None);

/// Logs a lost connection, unless one was logged recently.
fn log_loss(message: &str) {
    let mut last = LAST_LOSS.lock();
    if last.is_none_or(|last| last.elapsed() >= LOG_LOSSES_EVERY) {
        *last = Some(Instant::now());
        let line = message.trim().lines().next().unwrap_or_default();
        log::warn!("database connection lost: {line}");
    }
}

/// The message from PostgreSQL for a statement timeout.
const STATEMENT_TIMEOUT: &str = "canceling statement due to statement timeout";

/// Returns whether a failure is transient. Neither database has an error kind for this, so we have
/// to compare messages. This is why PostgreSQL must report errors in English (`lc_messages`).
fn is_passing(message: &str) -> bool {
    const PASSING: [&str; 8] = [
        "database is locked",
        "database table is locked",
        // From SQLite (`SQLITE_PROTOCOL`) if a process was suspended while updating the index of the
        // write-ahead log. Readers wait about 10 seconds for it.
        "locking protocol",
        "deadlock detected",
        // From Citus, e.g. while it moves part of a table that a load is writing to.
        "involved in a distributed deadlock",
        STATEMENT_TIMEOUT,
        "canceling statement due to lock timeout",
        // A server is stopped, or was killed: "… due to administrator command", "… due to
        // unexpected postmaster exit", "… because of crash of another server process".
        "terminating connection ",
    ];
    PASSING.iter().any(|text| message.contains(text))
}

/// Returns whether a failure was caused by the disk. Recognizes SQLite's messages for
/// `SQLITE_FULL`, `SQLITE_READONLY`, `SQLITE_IOERR` and `SQLITE_CANTOPEN`, and PostgreSQL's error
/// classes 53 (insufficient resources) and 58 (system error), whose messages end with the operating
/// system's message.
fn is_of_storage(message: &str) -> bool {
    const STORAGE: [&str; 9] = [
        "database or disk is full",
        "attempt to write a readonly database",
        "disk I/O error",
        "unable to open database file",
        "No space left on device",
        "Read-only file system",
        "Disk quota exceeded",
        "Input/output error",
        "during recovery",
    ];
    STORAGE.iter().any(|text| message.contains(text))
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
        let suspended = from(DatabaseErrorKind::Unknown, "locking protocol");
        assert!(matches!(suspended, DatabaseError::Busy));
        let closed = from(DatabaseErrorKind::ClosedConnection, "server closed the connection");
        assert!(matches!(closed, DatabaseError::Busy));
        for lost in [
            "failure on connection marked as essential: 10.0.0.2:5432",
            "failed to COPY to shard 102115 on 10.0.0.2:5432",
            "failed to complete COPY on 10.0.0.2:5432",
            "failed to prepare transaction 'citus_0_7_3' on host 10.0.0.2:5432",
            "failed to read result \"1_1\" from node 10.0.0.2:5432",
            "cannot connect to 10.0.0.2:5432 to fetch intermediate results",
            "execution cannot recover from multiple connection failures. Last node failed h:5432",
            "postmaster was shut down, exiting",
            "server closed the connection unexpectedly",
            "SSL connection has been closed unexpectedly",
            "SSL error: unexpected eof while reading",
        ] {
            let error = from(DatabaseErrorKind::Unknown, lost);
            assert!(matches!(error, DatabaseError::Busy), "{lost}");
        }
        for cause in ["due to administrator command", "due to unexpected postmaster exit"] {
            let killed = format!("terminating connection {cause}");
            assert!(matches!(from(DatabaseErrorKind::Unknown, &killed), DatabaseError::Busy));
        }
        let deadlock = "canceling the transaction since it was involved in a distributed deadlock";
        assert!(matches!(from(DatabaseErrorKind::Unknown, deadlock), DatabaseError::Busy));
    }

    #[test]
    fn other_failures_keep_their_cause() {
        let error = from(DatabaseErrorKind::Unknown, "database disk image is malformed");
        assert!(matches!(error, DatabaseError::Broken(_)) && !error.is_temporary());
        assert!(error.to_string().contains("database disk image is malformed"));
    }

    #[test]
    fn failures_of_the_disk_are_storage_errors() {
        for text in [
            "database or disk is full",
            "attempt to write a readonly database",
            "disk I/O error",
            "could not extend file \"base/5/16384\": No space left on device",
            "could not write to file \"pg_wal/xlogtemp.7\": Read-only file system",
            "cannot execute INSERT during recovery",
        ] {
            let error = from(DatabaseErrorKind::Unknown, text);
            assert!(matches!(error, DatabaseError::Storage(_)) && error.is_temporary(), "{text}");
            assert!(error.to_string().ends_with(text), "{error}");
        }
        let standby = from(
            DatabaseErrorKind::ReadOnlyTransaction,
            "cannot execute INSERT in a read-only transaction",
        );
        assert!(matches!(standby, DatabaseError::Storage(_)));
    }
}
