//! Long work: imports, loads, purges, test data.

pub mod accounts;
pub mod addresses;
pub mod catalogue;
pub mod csv_records;
pub mod doctor;
pub mod domain_ids;
pub mod domains;
pub mod fingerprint;
pub mod lines;
pub mod load;
pub mod opt_out;
pub mod pace;
pub mod pastes;
pub mod progress;
pub mod purge;
pub mod reading;
pub mod seed;
pub mod sorter;
pub mod stealer_logs;

use database::Pools;
use domain::SharedClock;

use crate::config::Settings;

/// What a job works with.
#[derive(Clone)]
pub struct Context {
    /// Connections to the database.
    pub pools: Pools,
    /// The time.
    pub clock: SharedClock,
    /// Memory, temporary folder, test domain.
    pub settings: Settings,
}

/// Why a job ended early.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A sentence for the operator.
    #[error("{0}")]
    Refused(String),
    /// Somebody cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// A file could not be read or written.
    #[error("{what}: {error}")]
    File {
        /// Which one, and what was tried.
        what: String,
        /// The cause.
        error: std::io::Error,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::DatabaseError),
}

impl JobError {
    /// Wraps a failure of a file.
    pub fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::File { what, error }
    }
}
