//! Errors of jobs.

use database::DatabaseError;

use super::remote::Refusal;
use crate::app::SnapshotError;
use crate::engine::{BucketLoss, EngineError};

#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Too many bad lines.
    #[error("{bad} of {lines} lines are bad: nothing was published")]
    TooManyBad {
        /// Number of bad lines.
        bad: u64,
        /// Number of lines, including the bad ones.
        lines: u64,
    },
    /// Too many files would be removed. The run stays open.
    #[error("{}", removals_text(*.run, .buckets))]
    TooManyRemoved {
        run: u64,
        /// Addresses of the buckets.
        buckets: Vec<(String, BucketLoss)>,
    },
    /// A source cannot be opened or read.
    #[error("{path}: {error}")]
    Source {
        /// Name of the source.
        path: String,
        /// The I/O error.
        error: std::io::Error,
    },
    /// A host that is being listed cannot be reached.
    #[error("{path}: {reason}")]
    Unreachable {
        /// URL of the page.
        path: String,
        /// Describes the network error.
        reason: String,
    },
    /// The only source is a bucket that cannot be listed.
    #[error("{text}")]
    Refused {
        /// The error message.
        text: String,
        refusal: Refusal,
    },
    /// There is a stopped run, which must not be aborted.
    #[error(
        "it waits for run {0}, which was stopped: buckets load --resume {0}, or begin another load"
    )]
    Stopped(u64),
    /// A crawl that belongs to a key has been listing for a long time. The pages that it has listed
    /// so far are kept.
    #[error("it continues when other crawls have run")]
    TurnOver,
    /// Another process has taken over the crawl, or it was removed.
    #[error("another process lists crawl {0}, or it was removed")]
    Taken(i64),
    /// A source has changed since the run began.
    #[error("{0} changed since the run began: start a new run")]
    SourceChanged(String),
    /// The request is not valid in the current state.
    #[error("{0}")]
    Invalid(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

/// Describes the removals of a run that lists a single bucket.
pub(super) fn losses_text(buckets: &[(String, BucketLoss)]) -> String {
    let text = |(_, loss): &(String, BucketLoss)| {
        format!("would lose {} of {} files: nothing was published", loss.removed, loss.before)
    };
    buckets.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Maximum number of buckets named in a message.
const MOST_NAMED: usize = 20;

fn removals_text(run: u64, buckets: &[(String, BucketLoss)]) -> String {
    let named = buckets
        .iter()
        .take(MOST_NAMED)
        .map(|(address, loss)| format!("{} of {} files of {address}", loss.removed, loss.before));
    let more = buckets.len().saturating_sub(MOST_NAMED);
    let more = (more > 0).then(|| format!("files of {more} more buckets"));
    let all: Vec<String> = named.chain(more).collect();
    format!(
        "run {run} would remove {}: nothing was published; check the sources, then: \
         buckets load --resume {run} --accept-removals",
        all.join(", ")
    )
}

impl From<SnapshotError> for JobError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Index(error) => error.into(),
            SnapshotError::Store(error) => error.into(),
        }
    }
}
