//! Progress of an import, and when it yields to other writers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::import_writes::Outcome;
use crate::ical::{Component, Entry, Warning};
use crate::model::revision::Revision;
use crate::wire::import::{ImportErrorJson, ImportJson};

/// Number of events per transaction; other writers wait for all of them.
pub const BATCH: usize = 250;

/// Time after which a transaction accepts no more events, because other writers fail after
/// `DB_WAIT_MS`.
pub const TIME_SLICE: Duration = Duration::from_millis(150);

/// Maximum number of errors, and of warnings, reported individually.
const MAX_ERRORS: usize = 1000;

/// A pass over the events of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Entries with their occurrences.
    Entries,
    /// Overrides of single occurrences, which exist by then.
    Replacements,
}

/// A step of a pass.
pub enum Step {
    /// A component of the file, and the work for it.
    Component(Component, Work),
    /// The end of the pass.
    End,
}

/// The work for a component.
pub enum Work {
    /// Write the events of an entry.
    Entry {
        entry: Box<Entry>,
        /// Whether another event of the file has its UID.
        is_repeated: bool,
    },
    /// Count an event that a later revision supersedes.
    Superseded,
    /// Report a faulty event.
    Faulty(String),
    /// It is not part of the pass.
    Nothing,
}

/// Limits of an import.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportLimits {
    /// Maximum number of events, if limited.
    pub events: Option<usize>,
    /// The deadline, if there is one.
    pub deadline: Option<Instant>,
}

/// Progress of an import.
#[derive(Clone, Default)]
pub struct Progress {
    /// Number of completed passes.
    pub passes: usize,
    /// Number of components read in the current pass.
    pub read: usize,
    /// The first line of the last component.
    pub line: u64,
    /// The report.
    pub report: ImportJson,
    /// Steps that are prepared and not complete.
    pub ready: VecDeque<Arc<Step>>,
    /// Progress of the current entry, if its events take more than one transaction.
    pub entry: Option<EntryProgress>,
    /// Number of processed events.
    pub done: usize,
    /// Whether nothing more is written.
    pub is_over: bool,
}

impl Progress {
    /// Counts and reports a failed event.
    pub fn note(&mut self, component: &Component, message: String) {
        self.done += 1;
        self.report.failed += 1;
        add(&mut self.report.errors, component, message.into());
    }

    /// Reports a warning about an event.
    pub fn warn(&mut self, component: &Component, warning: impl Into<Warning>) {
        self.report.warned += 1;
        add(&mut self.report.warnings, component, warning.into());
    }

    /// Counts the outcome of an event.
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

fn add(messages: &mut Vec<ImportErrorJson>, component: &Component, warning: Warning) {
    if messages.len() < MAX_ERRORS {
        let uid = component.text("UID").chars().take(500).collect();
        let Warning { line, message } = warning;
        messages.push(ImportErrorJson { uid, line: line.unwrap_or(component.line), message });
    }
}

/// Progress of an entry whose events take more than one transaction.
#[derive(Clone)]
pub struct EntryProgress {
    /// External ids of the events written for it.
    pub kept: HashSet<String>,
    /// The parent of its other events.
    pub parent: Option<i64>,
    /// Whether earlier files had occurrences that may be gone now.
    pub repeated: bool,
    /// Ids of overrides from earlier files that are later than the entry.
    pub overridden: HashSet<String>,
}

/// A series with overrides.
#[derive(Clone, Default)]
pub struct Series {
    /// The name of its first occurrence, if overridden: it is stored under the plain UID.
    pub first: Option<String>,
    /// The parent of its other events.
    pub parent: Option<i64>,
    /// Names of events that are overridden by their day, by the names of the overrides.
    pub by_day: HashMap<String, String>,
    /// Its revision, once its events are written.
    pub revision: Option<Revision>,
    /// Whether the file has an older revision of it than another file.
    pub is_outdated: bool,
}

/// The time slice of a transaction among all writers.
#[derive(Clone, Copy)]
pub struct TimeSlice {
    began: Instant,
    /// Number of events processed before it.
    from: usize,
}

impl TimeSlice {
    /// Begins a time slice after `from` processed events.
    pub fn begin(from: usize) -> TimeSlice {
        TimeSlice { began: Instant::now(), from }
    }

    /// Returns whether to yield to other writers; never before anything was done.
    pub fn is_over(self, done: usize) -> bool {
        done > self.from && (done >= self.from + BATCH || self.began.elapsed() >= TIME_SLICE)
    }
}
