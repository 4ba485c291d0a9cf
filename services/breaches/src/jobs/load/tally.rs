//! What a load counts: rows, and why some were not taken.

use std::collections::BTreeMap;

use super::skip_reason::SkipReason;
use crate::store::jobs::Counts;

/// Skipped rows whose line and reason are kept.
const KEPT_SKIPS: usize = 1_000;

/// How a load ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Outcome {
    /// Number of the job.
    pub job: i64,
    /// Rows read.
    pub read: i64,
    /// Rows taken.
    pub accepted: i64,
    /// Rows not taken.
    pub skipped: i64,
    /// Links that did not exist before.
    pub added: i64,
    /// Whether anybody is told of them.
    pub notices: bool,
    /// How many rows were not taken for each reason.
    pub reasons: BTreeMap<SkipReason, i64>,
    /// Line and reason of the first skipped rows.
    pub skips: Vec<(u64, SkipReason)>,
}

impl Outcome {
    /// The outcome of a job that is done.
    pub fn new(job: i64, added: i64, tally: Tally) -> Self {
        let Counts { read, accepted, skipped } = tally.counts;
        let Tally { reasons, first: skips, .. } = tally;
        Self { job, read, accepted, skipped, added, notices: true, reasons, skips }
    }

    /// The same of a job that tells nobody, if that was wanted.
    #[must_use]
    pub fn without_notices(self, wanted: bool) -> Self {
        Self { notices: !wanted, ..self }
    }
}

/// Counts rows and keeps why some were not taken; never what they said.
#[derive(Debug, Default)]
pub struct Tally {
    /// Rows.
    pub counts: Counts,
    reasons: BTreeMap<SkipReason, i64>,
    first: Vec<(u64, SkipReason)>,
}

impl Tally {
    /// A row was taken.
    pub fn accept(&mut self) {
        self.counts.read += 1;
        self.counts.accepted += 1;
    }

    /// A row was not taken.
    pub fn skip(&mut self, line: u64, reason: SkipReason) {
        self.counts.read += 1;
        self.counts.skipped += 1;
        *self.reasons.entry(reason).or_default() += 1;
        if self.first.len() < KEPT_SKIPS {
            self.first.push((line, reason));
        }
    }

    /// How many rows were not taken for each reason.
    pub fn reasons(&self) -> &BTreeMap<SkipReason, i64> {
        &self.reasons
    }

    /// Line and reason of the first rows that were not taken.
    pub fn first_skips(&self) -> &[(u64, SkipReason)] {
        &self.first
    }

    /// The kept skips as JSON.
    pub fn skips(&self) -> String {
        serde_json::to_string(&self.first).unwrap_or_else(|_| "[]".to_owned())
    }
}
