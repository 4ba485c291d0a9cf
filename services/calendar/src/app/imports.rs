//! Import of iCalendar files: each event is created, changed where it differs, or left.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::time::{Duration, Instant};

use database::{Db, transaction};

use super::import_writes::{Outcome, Source, cancel, drop_surplus, find, write_occurrence};
use super::loading::Undone;
use super::transactions::with_context;
use crate::error::Error;
use crate::model::role::User;
use crate::model::zone::Zone;
use crate::state::State;
use crate::store::{events, sql};
use crate::wire::ical::{
    Component, ComponentKind, Entry, EntryContext, ForeignZones, Occurrence, Reader, known_zone,
};
use crate::wire::import::{ImportErrorJson, ImportJson};
use crate::wire::params::Params;
use crate::wire::urls::Urls;

/// Events that share a transaction: other writers wait for all of them.
const BATCH: usize = 250;

/// How long a transaction goes on taking events: rules that look through centuries are slow, and
/// others who write are refused after `DB_WAIT_MS`.
const TURN: Duration = Duration::from_millis(150);

/// Errors that are told one by one.
const MAX_ERRORS: usize = 1000;

/// What an import needs to know of the file as a whole, before its first event is written.
#[derive(Default)]
pub struct Overview {
    /// Whether it is a calendar at all.
    pub is_calendar: bool,
    zones: ForeignZones,
    /// The zone that the file names for all its events.
    zone: Option<Zone>,
    /// Repetitions that an entry of their own replaces.
    replaced: HashSet<String>,
}

impl Overview {
    /// Looks through a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(state: &State, file: impl BufRead) -> io::Result<Overview> {
        let mut overview = Overview::default();
        let mut replacing = Vec::new();
        let mut reader = Reader::new(file);
        while let Some(mut component) = reader.next_component()? {
            match component.kind {
                ComponentKind::Zone => overview.zones.add(&component),
                ComponentKind::Event if component.find("RECURRENCE-ID").is_some() => {
                    // Zones may stand behind their events, and nothing else is needed of these.
                    component
                        .properties
                        .retain(|one| matches!(one.name.as_str(), "UID" | "RECURRENCE-ID"));
                    replacing.push(component);
                }
                ComponentKind::Event => {}
            }
        }
        overview.is_calendar = reader.is_calendar;
        overview.zone = reader.zone_name.as_deref().and_then(known_zone);
        let names = |component: &Component| {
            Entry::replaced(component, overview.context(state)).ok().flatten()
        };
        let replaced: HashSet<String> = replacing.iter().filter_map(names).collect();
        Ok(Overview { replaced, ..overview })
    }

    fn context<'a>(&'a self, state: &'a State) -> EntryContext<'a> {
        EntryContext {
            zones: &self.zones,
            calendar: self.zone.as_ref(),
            site: &state.site.settings.site_timezone,
            now: state.clock.now(),
        }
    }
}

/// Which events of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Those that stand for themselves, with their repetitions.
    Entries,
    /// Those that replace a repetition, which is known by then.
    Replacements,
}

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
    /// Events that were looked at.
    done: usize,
    /// Nothing more is written.
    is_over: bool,
}

/// An import on its way.
pub struct Import {
    user: User,
    urls: Urls,
    limits: ImportLimits,
    overview: Overview,
    so_far: SoFar,
}

impl Import {
    /// Begins the import of a file that was looked through; UIDs of this calendar end in the host
    /// of `urls`.
    pub fn new(user: User, urls: Urls, limits: ImportLimits, overview: Overview) -> Import {
        Import { user, urls, limits, overview, so_far: SoFar::default() }
    }

    /// Tells in which order the events of the file are written.
    pub fn passes(&self) -> impl Iterator<Item = Pass> + use<> {
        let replacements = (!self.overview.replaced.is_empty()).then_some(Pass::Replacements);
        [Pass::Entries].into_iter().chain(replacements)
    }

    /// Returns what was done.
    pub fn into_report(self) -> ImportJson {
        self.so_far.report
    }

    /// Tells how many events were looked at.
    pub fn done(&self) -> usize {
        self.so_far.done
    }

    /// Tells how far the import is.
    pub fn so_far(&self) -> &SoFar {
        &self.so_far
    }

    /// Goes back to where the import was before a transaction that was undone; the reader must go there
    /// too.
    pub fn return_to(&mut self, so_far: SoFar) {
        self.so_far = so_far;
    }

    /// Writes the next events of a pass inside a transaction; false at its end.
    ///
    /// # Errors
    /// The database failed, or the file cannot be read; what was counted meanwhile is wrong then.
    pub fn write(
        &mut self,
        state: &State,
        db: &mut Db,
        reader: &mut Reader<impl BufRead>,
        pass: Pass,
    ) -> Result<bool, Error> {
        sql::one_writer(db)?;
        let (until, began) = (self.so_far.done + BATCH, Instant::now());
        while self.so_far.done < until && !self.so_far.is_over && began.elapsed() < TURN {
            let read =
                reader.next_component().map_err(|error| Error::Internal(error.to_string()))?;
            let Some(component) = read else {
                self.so_far.passes += 1;
                (self.so_far.read, self.so_far.line) = (0, 0);
                return Ok(false);
            };
            (self.so_far.read, self.so_far.line) = (self.so_far.read + 1, component.line);
            let replaces = component.find("RECURRENCE-ID").is_some();
            if component.kind != ComponentKind::Event || replaces != (pass == Pass::Replacements) {
                continue;
            }
            // Faulty events take their time, too, and write nothing.
            if self.stops_at(&component) {
                break;
            }
            match Entry::read(&component, self.overview.context(state)) {
                Ok(entry) => self.write_entry(state, db, &component, &entry)?,
                Err(message) => self.note(&component, message),
            }
        }
        Ok(!self.so_far.is_over)
    }

    fn note(&mut self, component: &Component, message: String) {
        self.so_far.done += 1;
        self.so_far.report.failed += 1;
        if self.so_far.report.errors.len() < MAX_ERRORS {
            let uid = component.text("UID").chars().take(500).collect();
            self.so_far.report.errors.push(ImportErrorJson { uid, line: component.line, message });
        }
    }

    fn count(&mut self, outcome: Outcome) {
        self.so_far.done += 1;
        *match outcome {
            Outcome::Created => &mut self.so_far.report.created,
            Outcome::Updated => &mut self.so_far.report.updated,
            Outcome::Unchanged => &mut self.so_far.report.unchanged,
            Outcome::Skipped => &mut self.so_far.report.skipped,
        } += 1;
    }

    /// Tells whether the import has done as much as it may, and notes what is left.
    fn stops_at(&mut self, component: &Component) -> bool {
        let late = self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let full = self.limits.events.is_some_and(|most| self.so_far.done >= most);
        if (late || full) && !self.so_far.is_over {
            let why = if late { "takes too long" } else { "has too many events" };
            let message = format!("is left out with all that follow: the file {why} for a request");
            self.note(component, message);
            self.so_far.is_over = true;
        }
        self.so_far.is_over
    }

    fn write_entry(
        &mut self,
        state: &State,
        db: &mut Db,
        component: &Component,
        entry: &Entry,
    ) -> Result<(), Error> {
        let mut parent = match &entry.replaces {
            Some(_) => events::find_by_external_id(db, &entry.uid)?.map(|event| event.id),
            None => None,
        };
        let mut kept = HashSet::new();
        let mut was_there = false;
        for occurrence in &entry.occurrences {
            if entry.is_replaced(occurrence, &self.overview.replaced) {
                continue;
            }
            if self.stops_at(component) {
                return Ok(());
            }
            match self.write_one(state, db, entry, occurrence, parent) {
                Ok((id, outcome)) => {
                    self.count(outcome);
                    if entry.replaces.is_none() {
                        was_there |= parent.is_none() && outcome != Outcome::Created;
                        parent = parent.or(id);
                    }
                    kept.insert(occurrence.external_id.as_str());
                }
                Err(Undone::Failed(error)) => return Err(error),
                Err(Undone::Faulty(message)) => {
                    self.note(component, message);
                    return Ok(());
                }
                Err(Undone::Unchanged) => {
                    let known = find(db, &self.urls, &occurrence.external_id)?;
                    was_there |= parent.is_none();
                    parent = parent.or(known.map(|event| event.id));
                    kept.insert(occurrence.external_id.as_str());
                    self.count(Outcome::Unchanged);
                }
            }
        }
        match parent.filter(|_| was_there && entry.is_series && entry.replaces.is_none()) {
            Some(parent) => self.drop_surplus(state, db, entry, parent, &kept),
            None => Ok(()),
        }
    }

    /// Writes an event at one time behind a savepoint of its own.
    fn write_one(
        &self,
        state: &State,
        db: &mut Db,
        entry: &Entry,
        occurrence: &Occurrence,
        parent: Option<i64>,
    ) -> Result<(Option<i64>, Outcome), Undone> {
        let entries = EntryContext { calendar: None, ..self.overview.context(state) };
        let source = Source { user: &self.user, urls: &self.urls, entries, parent };
        transaction(db, |db| {
            with_context(state, db, &self.user, &Params::default(), |context| {
                match entry.is_cancelled {
                    true => cancel(context, source, occurrence),
                    false => write_occurrence(context, source, occurrence),
                }
            })
        })
    }

    /// Moves repetitions to come to the trash that the file no longer has.
    fn drop_surplus(
        &mut self,
        state: &State,
        db: &mut Db,
        entry: &Entry,
        parent: i64,
        kept: &HashSet<&str>,
    ) -> Result<(), Error> {
        let now = state.clock.unix();
        let replaced = &self.overview.replaced;
        let stays =
            |name: &str| !entry.repeats_as(name) || kept.contains(name) || replaced.contains(name);
        let dropped = drop_surplus(db, parent, now, stays)?;
        (0..dropped).for_each(|_| self.count(Outcome::Updated));
        Ok(())
    }
}
