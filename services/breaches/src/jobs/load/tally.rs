//! Counts a load's accepted and skipped rows.

use std::collections::{BTreeMap, BTreeSet};

use super::skip_reason::SkipReason;
use crate::store::jobs::Counts;

/// Maximum number of skipped rows to record.
const MAX_SKIPS: usize = 1_000;

/// Outcome of a load.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Outcome {
    /// Job id.
    pub job: i64,
    /// Rows read.
    pub read: i64,
    /// Rows accepted.
    pub accepted: i64,
    /// Rows rejected.
    pub skipped: i64,
    /// Rows without an address.
    pub empty: i64,
    /// Links added.
    pub added: i64,
    /// `false` if notices were suppressed.
    pub notices: bool,
    /// Columns or fields that addresses were read from.
    pub columns: BTreeSet<String>,
    /// Number of rejected rows per reason.
    pub reasons: BTreeMap<SkipReason, i64>,
    /// Line numbers and reasons of the first skipped rows.
    pub skips: Vec<(u64, SkipReason)>,
}

impl Outcome {
    /// Creates the outcome of a finished job.
    pub fn new(job: i64, added: i64, tally: Tally) -> Self {
        let empty = tally.empty();
        let Counts { read, accepted, skipped } = tally.counts;
        let Tally { columns, reasons, first: skips, .. } = tally;
        Self { job, read, accepted, skipped, empty, added, notices: true, columns, reasons, skips }
    }

    /// Marks notices as suppressed if `wanted` is set.
    #[must_use]
    pub fn without_notices(self, wanted: bool) -> Self {
        Self { notices: !wanted, ..self }
    }
}

/// Counts rows and records why some of them were skipped, but not their contents.
#[derive(Debug, Default)]
pub struct Tally {
    /// Rows read, accepted and skipped. The other rows were empty.
    pub counts: Counts,
    /// Columns or fields that addresses were read from.
    pub columns: BTreeSet<String>,
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
        if reason == SkipReason::Empty {
            return;
        }
        self.counts.skipped += 1;
        *self.reasons.entry(reason).or_default() += 1;
        if self.first.len() < MAX_SKIPS {
            self.first.push((line, reason));
        }
    }

    /// Returns the number of rows without an address.
    pub fn empty(&self) -> i64 {
        let Counts { read, accepted, skipped } = self.counts;
        read - accepted - skipped
    }

    /// Returns the number of rejected rows per reason.
    pub fn reasons(&self) -> &BTreeMap<SkipReason, i64> {
        &self.reasons
    }

    /// Returns the line numbers and reasons of the first skipped rows.
    pub fn first_skips(&self) -> &[(u64, SkipReason)] {
        &self.first
    }

    /// Returns the recorded skips as JSON.
    pub fn skips(&self) -> String {
        serde_json::to_string(&self.first).unwrap_or_else(|_| "[]".to_owned())
    }
}
