//! Progress of an import, and the points at which it yields to other writers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::import_writes::Outcome;
use crate::ical::{Component, Entry, Warning};
use crate::model::revision::Revision;
use crate::wire::import::{ImportErrorJson, ImportJson};

/// Number of events per transaction. Other writers wait until the transaction ends.
pub const BATCH: usize = 250;

/// Duration after which a transaction accepts no more events, because other writers time out after
/// `DB_WAIT_MS`.
pub const TIME_SLICE: Duration = Duration::from_millis(150);

/// Maximum number of errors, and of warnings, reported individually.
const MAX_ERRORS: usize = 1000;

/// A pass over the events of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Entries and their occurrences are written.
    Entries,
    /// Overrides of single occurrences, once those occurrences exist.
    Replacements,
}

/// The next thing to do in a pass.
pub enum Step {
    /// A component of the file, and the work that it requires.
    Component(Component, Work),
    /// All components of the pass have been processed.
    End,
}

/// The work that a component requires.
pub enum Work {
    /// Write the events of an entry.
    Entry {
        entry: Box<Entry>,
        /// Whether another event in the file has the same UID.
        is_repeated: bool,
    },
    /// Count an event as superseded by a later revision.
    Superseded,
    /// Report a faulty event.
    Faulty(String),
    /// None: the component does not belong to the pass.
    Nothing,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ImportLimits {
    /// Maximum number of events. `None` means unlimited.
    pub events: Option<usize>,
    /// The time at which the import must stop. `None` means no limit.
    pub deadline: Option<Instant>,
}

/// The progress of an import, from which it can be continued.
#[derive(Clone, Default)]
pub struct Progress {
    /// Number of completed passes.
    pub passes: usize,
    /// Number of components read in the current pass.
    pub read: usize,
    /// The line number at which the last component begins.
    pub line: u64,
    pub report: ImportJson,
    /// Steps that are prepared but not yet complete.
    pub ready: VecDeque<Arc<Step>>,
    /// Progress of the current entry, if its events span more than one transaction.
    pub entry: Option<EntryProgress>,
    /// Number of processed events.
    pub done: usize,
    /// Whether the import has stopped writing.
    pub is_over: bool,
}

impl Progress {
    /// Counts and reports a failed event.
    pub fn note(&mut self, component: &Component, message: String) {
        self.done += 1;
        self.report.failed += 1;
        add(&mut self.report.errors, component, message.into());
    }

    /// Records a warning about an event.
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

/// Progress of an entry whose events span more than one transaction.
#[derive(Clone)]
pub struct EntryProgress {
    /// External ids of the events written for it.
    pub kept: HashSet<String>,
    /// The parent of the entry's other events.
    pub parent: Option<i64>,
    /// Whether earlier files had occurrences that this file may have dropped.
    pub repeated: bool,
    /// Ids of overrides from earlier files that are later than the entry.
    pub overridden: HashSet<String>,
    /// Id of the series, if its rule is stored.
    pub series: Option<i64>,
}

/// State of a series that has overrides.
#[derive(Clone, Default)]
pub struct Series {
    /// The name of its first occurrence, if overridden. That occurrence is stored under the plain
    /// UID.
    pub first: Option<String>,
    /// The parent of its other events.
    pub parent: Option<i64>,
    /// For overrides that name a day: the name of the override, mapped to the name of the event.
    pub by_day: HashMap<String, String>,
    /// The revision of the entry, once its events are written.
    pub revision: Option<Revision>,
    /// Whether another file has a later revision of it.
    pub is_outdated: bool,
}

/// The time that a transaction may take before it yields to other writers.
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

    /// Returns whether to yield to other writers. Returns false until at least one event is done.
    pub fn is_over(self, done: usize) -> bool {
        done > self.from && (done >= self.from + BATCH || self.began.elapsed() >= TIME_SLICE)
    }
}
