//! Job errors.

use database::DatabaseError;

use super::remote::Refusal;
use crate::app::SnapshotError;
use crate::engine::{BucketLoss, EngineError};

#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There were too many bad lines.
    #[error("{bad} of {lines} lines are bad: nothing was published. The first is {first}")]
    TooManyBad {
        /// Number of bad lines.
        bad: u64,
        /// Number of lines, good and bad.
        lines: u64,
        /// Source, position and problem of the first bad line.
        first: String,
    },
    /// Too many files would be removed. The run stays open.
    #[error("{}", removals_text(*.run, .buckets))]
    TooManyRemoved {
        run: u64,
        /// Bucket addresses and losses.
        buckets: Vec<(String, BucketLoss)>,
    },
    /// A source can't be opened or read.
    #[error("{path}: {error}")]
    Source {
        /// Name of the source.
        path: String,
        error: std::io::Error,
    },
    /// We can't connect to a host we are listing.
    #[error("{path}: {reason}")]
    Unreachable {
        /// URL of the page.
        path: String,
        /// Network error.
        reason: String,
    },
    /// The only source is a bucket that we aren't allowed to list or that doesn't exist.
    #[error("{text}")]
    Refused {
        /// Error message.
        text: String,
        refusal: Refusal,
    },
    /// Continuing would abort a stopped run, which isn't allowed here.
    #[error(
        "it is waiting for run {0}, which was stopped: buckets load --resume {0}, or start another \
         load"
    )]
    Stopped(u64),
    /// A key's crawl has used up its turn. The pages listed so far are kept.
    #[error("it will continue after other crawls have run")]
    TurnOver,
    /// A crawl was paused while it was listing its bucket. The pages listed so far are kept.
    #[error("it was paused; once resumed, it continues after the last page")]
    Paused,
    /// The crawl was removed or taken over by another process.
    #[error("another process is listing crawl {0}, or the crawl was removed")]
    Taken(i64),
    /// A source has changed since the run started.
    #[error("{0} has changed since the run started: start a new run")]
    SourceChanged(String),
    /// The request makes no sense in the current state.
    #[error("{0}")]
    Invalid(String),
    /// A file can't be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The index returned an error.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database returned an error.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

/// Describes what a run that lists just one bucket would remove.
pub(super) fn losses_text(buckets: &[(String, BucketLoss)]) -> String {
    let text = |(_, loss): &(String, BucketLoss)| {
        format!("would lose {} of {} files: nothing was published", loss.removed, loss.before)
    };
    buckets.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Maximum number of buckets to mention in a message.
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
