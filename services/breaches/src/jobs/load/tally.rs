//! Counts the accepted and skipped rows of a load.

use std::collections::BTreeMap;

use super::skip_reason::SkipReason;
use crate::store::jobs::Counts;

/// Maximum number of skipped rows that are recorded.
const MAX_SKIPS: usize = 1_000;

/// The result of a load.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Outcome {
    /// Number of the job.
    pub job: i64,
    /// Number of rows read.
    pub read: i64,
    /// Number of rows accepted.
    pub accepted: i64,
    /// Number of rows skipped.
    pub skipped: i64,
    /// Number of links added.
    pub added: i64,
    /// Whether notices are posted, that is, not suppressed.
    pub notices: bool,
    /// Number of skipped rows, by reason.
    pub reasons: BTreeMap<SkipReason, i64>,
    /// Line and reason of the first skipped rows.
    pub skips: Vec<(u64, SkipReason)>,
}

impl Outcome {
    /// Creates the result of a finished job.
    pub fn new(job: i64, added: i64, tally: Tally) -> Self {
        let Counts { read, accepted, skipped } = tally.counts;
        let Tally { reasons, first: skips, .. } = tally;
        Self { job, read, accepted, skipped, added, notices: true, reasons, skips }
    }

    /// If `wanted` is true, marks the load as one whose notices were suppressed.
    #[must_use]
    pub fn without_notices(self, wanted: bool) -> Self {
        Self { notices: !wanted, ..self }
    }
}

/// Counts rows, and records the reasons for skipping but not the content of rows.
#[derive(Debug, Default)]
pub struct Tally {
    /// Numbers of rows read, accepted and skipped.
    pub counts: Counts,
    reasons: BTreeMap<SkipReason, i64>,
    first: Vec<(u64, SkipReason)>,
}

impl Tally {
    /// Counts an accepted row.
    pub fn accept(&mut self) {
        self.counts.read += 1;
        self.counts.accepted += 1;
    }

    /// Counts a skipped row.
    pub fn skip(&mut self, line: u64, reason: SkipReason) {
        self.counts.read += 1;
        self.counts.skipped += 1;
        *self.reasons.entry(reason).or_default() += 1;
        if self.first.len() < MAX_SKIPS {
            self.first.push((line, reason));
        }
    }

    /// Returns the number of skipped rows by reason.
    pub fn reasons(&self) -> &BTreeMap<SkipReason, i64> {
        &self.reasons
    }

    /// Returns line and reason of the first skipped rows.
    pub fn first_skips(&self) -> &[(u64, SkipReason)] {
        &self.first
    }

    /// Returns the recorded skips as JSON.
    pub fn skips(&self) -> String {
        serde_json::to_string(&self.first).unwrap_or_else(|_| "[]".to_owned())
    }
}
