//! How far an import is, and when others who write are to have their turn.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::import_writes::Outcome;
use crate::ical::Component;
use crate::wire::import::{ImportErrorJson, ImportJson};

/// Events that share a transaction: other writers wait for all of them.
const BATCH: usize = 250;

/// How long a transaction goes on taking events: rules that look through centuries are slow, and
/// others who write are refused after `DB_WAIT_MS`.
pub const TURN: Duration = Duration::from_millis(150);

/// Errors that are told one by one.
const MAX_ERRORS: usize = 1000;

/// How much an import may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportLimits {
    /// The most events; none without a bound.
    pub events: Option<usize>,
    /// When it is given up.
    pub deadline: Option<Instant>,
}

/// How far an import is.
#[derive(Clone, Default)]
pub struct SoFar {
    /// Passes that are over.
    pub passes: usize,
    /// Components of the file that were read in the next one.
    pub read: usize,
    /// The line on which the last of them begins.
    pub line: u64,
    /// What was done.
    pub report: ImportJson,
    /// How far the entry behind them is, where its events take more than one transaction.
    pub entry: Option<EntrySoFar>,
    /// Events that were looked at.
    pub done: usize,
    /// Nothing more is written.
    pub is_over: bool,
}

impl SoFar {
    /// Counts an event that failed, and says why.
    pub fn note(&mut self, component: &Component, message: String) {
        self.done += 1;
        self.report.failed += 1;
        if self.report.errors.len() < MAX_ERRORS {
            let uid = component.text("UID").chars().take(500).collect();
            self.report.errors.push(ImportErrorJson { uid, line: component.line, message });
        }
    }

    /// Counts what became of an event.
    pub fn count(&mut self, outcome: Outcome) {
        self.done += 1;
        *match outcome {
            Outcome::Created => &mut self.report.created,
            Outcome::Updated => &mut self.report.updated,
            Outcome::Unchanged => &mut self.report.unchanged,
            Outcome::Skipped => &mut self.report.skipped,
        } += 1;
    }
}

/// How far an entry is whose events take more than one transaction.
#[derive(Clone)]
pub struct EntrySoFar {
    /// The external ids of its events that are written.
    pub kept: HashSet<String>,
    /// The event that the others are below.
    pub parent: Option<i64>,
    /// Whether the file had repetitions before that it may no longer have.
    pub repeated: bool,
}

/// The turn of a transaction among all who write.
#[derive(Clone, Copy)]
pub struct Turn {
    began: Instant,
    /// Events that were looked at before.
    from: usize,
}

impl Turn {
    /// Begins a turn, before which some events were looked at.
    pub fn begin(from: usize) -> Turn {
        Turn { began: Instant::now(), from }
    }

    /// Returns whether others are to have their turn: not before anything was done in this one.
    pub fn is_over(self, done: usize) -> bool {
        done > self.from && (done >= self.from + BATCH || self.began.elapsed() >= TURN)
    }
}
