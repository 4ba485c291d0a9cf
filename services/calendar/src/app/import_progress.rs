//! Tracks the progress of an import, and determines when it yields to other writers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::import_edits::SeriesEdits;
use super::import_overview::{Cut, Overview};
use super::import_series::Written;
use super::import_writes::Outcome;
use super::own_revisions::OwnRevision;
use crate::ical::{Component, Entry, Warning};
use crate::model::revision::Revision;
use crate::wire::import::{ImportErrorJson, ImportJson};

/// Number of events per transaction. Other writers wait until it commits.
pub const BATCH: usize = 250;

/// Minimum number of events per transaction, however long they take. This way, a short series is
/// announced in a single message.
const LEAST: usize = 10;

/// A transaction that has written `LEAST` events ends after this time. It must be short, because
/// other writers time out after `DB_WAIT_MS`.
pub const TIME_SLICE: Duration = Duration::from_millis(150);

/// Maximum number of errors to report individually. Warnings have the same limit.
pub const MAX_ERRORS: usize = 1000;

/// A pass over the file's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Writes entries and their occurrences.
    Entries,
    /// Writes overrides of single occurrences. By now, those occurrences exist.
    Replacements,
}

/// The next thing to do in a pass.
pub enum Step {
    /// A component from the file, and how to handle it.
    Component(Component, Work),
    /// The pass has processed all its components.
    End,
}

/// How to handle a component.
pub enum Work {
    /// Write the entry's events.
    Entry {
        entry: Box<Entry>,
        /// Whether another event in the file has the same UID.
        is_repeated: bool,
    },
    /// Only count the event, because a later revision supersedes it.
    Superseded,
    /// Report an invalid event.
    Faulty(String),
    /// Nothing, because another pass handles the component.
    Nothing,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ImportLimits {
    /// Maximum number of events. `None` means unlimited.
    pub events: Option<usize>,
    /// When the import must stop. `None` means no limit.
    pub deadline: Option<Instant>,
}

/// An import's progress, from which it can resume.
#[derive(Clone, Default)]
pub struct Progress {
    /// Number of completed passes.
    pub passes: usize,
    /// Number of components read so far in this pass.
    pub read: usize,
    /// The line where the last component starts.
    pub line: u64,
    pub report: ImportJson,
    /// Number of the subscription's events that were trashed because their series no longer
    /// includes them.
    pub trashed: usize,
    /// Number of the subscription's events that were kept although their series no longer includes
    /// them.
    pub stayed: usize,
    /// Messages about the events that were kept, up to 1000.
    pub staying: Vec<ImportErrorJson>,
    /// The series that the last entry belongs to.
    pub series: Option<Written>,
    /// Parent ids for series with overrides, by UID. They are kept here and not in [`Series`]
    /// because rolling back a transaction also removes the events it created.
    pub parents: HashMap<String, i64>,
    /// Steps that are ready to be written.
    pub ready: VecDeque<Arc<Step>>,
    /// Progress within the current entry, if its events span several transactions.
    pub entry: Option<EntryProgress>,
    /// Number of processed events.
    pub done: usize,
    /// Whether the import has stopped writing.
    pub is_over: bool,
}

impl Progress {
    /// Starts with the messages about the whole file.
    pub fn begin(overview: &Overview) -> Progress {
        let mut so_far = Progress::default();
        if let Some(Cut { line, is_in_event: false }) = overview.cut {
            let message = "END:VCALENDAR is missing, the file is truncated".to_owned();
            so_far.report.failed += 1;
            so_far.report.errors.push(ImportErrorJson { uid: String::new(), line, message });
        }
        for (line, message) in overview.ignored.messages() {
            so_far.report.warned += 1;
            so_far.report.warnings.push(ImportErrorJson { uid: String::new(), line, message });
        }
        so_far
    }

    /// Counts and reports an event that failed.
    pub fn note(&mut self, component: &Component, message: String) {
        self.done += 1;
        self.report.failed += 1;
        add(&mut self.report.errors, component, message.into());
    }

    /// Adds a warning about an event.
    pub fn warn(&mut self, component: &Component, warning: impl Into<Warning>) {
        self.report.warned += 1;
        add(&mut self.report.warnings, component, warning.into());
    }

    /// Returns how many more messages about kept events are allowed.
    pub fn room_for_staying(&self) -> usize {
        MAX_ERRORS.saturating_sub(self.staying.len())
    }

    /// Counts events that were kept although their series no longer includes them, and adds
    /// messages about them.
    pub fn note_staying(&mut self, number: usize, messages: Vec<ImportErrorJson>) {
        self.stayed += number;
        self.staying.extend(messages);
    }

    /// Counts events that were removed from their series.
    pub fn count_dropped(&mut self, dropped: usize, is_trashing: bool) {
        match is_trashing {
            true => (self.done, self.trashed) = (self.done + dropped, self.trashed + dropped),
            false => (0..dropped).for_each(|_| self.count(Outcome::Updated)),
        }
    }

    /// Returns the number of events that were created, changed or removed.
    pub fn changes(&self) -> u64 {
        let trashed = u64::try_from(self.trashed).unwrap_or(u64::MAX);
        self.report.created + self.report.updated + trashed
    }

    /// Counts an event by its outcome.
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

/// Progress within an entry with events that span several transactions.
#[derive(Clone)]
pub struct EntryProgress {
    /// External ids of the events written so far.
    pub kept: HashSet<String>,
    /// The parent of the entry's other events.
    pub parent: Option<i64>,
    /// Whether earlier files might have contained occurrences that are missing from this one.
    pub repeated: bool,
    /// Ids of overrides from earlier files that are newer than the entry.
    pub overridden: HashSet<String>,
    /// The series, if the rule is stored.
    pub series: Option<Written>,
    /// The values for new occurrences of the series. `None` if this import created the series.
    pub edits: Option<Arc<SeriesEdits>>,
    /// If users ended the subscribed series, the key of its last occurrence.
    pub ended_at: Option<String>,
    /// The entry's revision, if this calendar wrote it.
    pub own_revision: Option<OwnRevision>,
    /// Whether a warning has reported that events were skipped because the entry is older.
    pub is_reported: bool,
}

/// The state of a series with overrides.
#[derive(Clone, Default)]
pub struct Series {
    /// The name of the first occurrence, if it is overridden. Its event is stored under the plain
    /// UID.
    pub first: Option<String>,
    /// Overrides that specify only a day. Maps each override's name to the event's name.
    pub by_day: HashMap<String, String>,
    /// The entry's revision, once its events are written.
    pub revision: Option<Revision>,
    /// Whether another file had a later revision.
    pub is_outdated: bool,
}

/// Maximum duration of a transaction before it yields to other writers.
#[derive(Clone, Copy)]
pub struct TimeSlice {
    began: Instant,
    /// Number of events that had been processed when the slice started.
    from: usize,
}

impl TimeSlice {
    /// Starts a time slice after `from` processed events.
    pub fn begin(from: usize) -> TimeSlice {
        TimeSlice { began: Instant::now(), from }
    }

    /// Returns whether to yield to other writers.
    pub fn is_over(self, done: usize) -> bool {
        let written = done.saturating_sub(self.from);
        written >= BATCH || (written >= LEAST && self.began.elapsed() >= TIME_SLICE)
    }
}
