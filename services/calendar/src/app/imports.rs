//! Import of iCalendar files: each event is created, changed where it differs, or left.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::time::Instant;

use database::{Db, transaction};

use super::import_overview::{Cut, Overview};
use super::import_progress::{EntrySoFar, ImportLimits, SoFar, TURN, Turn};
use super::import_writes::{Outcome, Source, cancel, drop_surplus, find, write_occurrence};
use super::loading::Undone;
use super::transactions::with_context;
use crate::error::Error;
use crate::ical::{Component, ComponentKind, Entry, EntryContext, Occurrence, Reader};
use crate::model::role::User;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::{events, imported, sql};
use crate::wire::import::{ImportErrorJson, ImportJson};
use crate::wire::params::Params;

/// Repetitions that are moved to the trash between two looks at the time.
const SURPLUS: usize = 20;

/// Which events of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Those that stand for themselves, with their repetitions.
    Entries,
    /// Those that replace a repetition, which is known by then.
    Replacements,
}

/// What comes next in a pass.
enum Next {
    Entry(Component, Entry),
    /// A component that is not written.
    Nothing,
    End,
}

/// A series of which an entry replaces some repetitions.
#[derive(Clone, Default)]
struct Series {
    /// The name of its first repetition, where that is replaced: it is stored by the UID alone.
    first: Option<String>,
    /// The event that the others are below.
    parent: Option<i64>,
}

/// An import on its way.
pub struct Import {
    user: User,
    urls: Urls,
    limits: ImportLimits,
    overview: Overview,
    /// By UID: what the second pass has to know of the first.
    series: HashMap<String, Series>,
    so_far: SoFar,
    /// The entry whose events take more than one transaction.
    current: Option<(Component, Entry)>,
}

impl Import {
    /// Begins the import of a file that was looked through; UIDs of this calendar end in the host
    /// of `urls`.
    pub fn new(user: User, urls: Urls, limits: ImportLimits, overview: Overview) -> Import {
        let mut so_far = SoFar::default();
        if let Some(Cut { line, is_in_event: false }) = overview.cut {
            let message = "has no END:VCALENDAR, the file is cut off".to_owned();
            so_far.report.failed += 1;
            so_far.report.errors.push(ImportErrorJson { uid: String::new(), line, message });
        }
        let series = HashMap::new();
        Import { user, urls, limits, overview, series, so_far, current: None }
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

    /// Returns the login in whose name events are written.
    pub fn login(&self) -> &str {
        &self.user.login
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
        self.current = None;
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
        let turn = Turn::begin(self.so_far.done);
        let began = Instant::now();
        while !self.so_far.is_over && !turn.is_over(self.so_far.done) && began.elapsed() < TURN {
            let (component, entry) = match self.current.take() {
                Some(current) => current,
                None => match self.next_entry(state, reader, pass)? {
                    Next::Entry(component, entry) => (component, entry),
                    Next::Nothing => continue,
                    Next::End => return Ok(false),
                },
            };
            match self.write_entry(state, db, (&component, &entry), turn)? {
                true => self.leave_behind(&component),
                false => self.current = Some((component, entry)),
            }
        }
        Ok(!self.so_far.is_over)
    }

    /// Reads the next component of a pass.
    fn next_entry(
        &mut self,
        state: &State,
        reader: &mut Reader<impl BufRead>,
        pass: Pass,
    ) -> Result<Next, Error> {
        let read = reader.next_component().map_err(|error| Error::Internal(error.to_string()))?;
        let Some(component) = read else {
            if self.so_far.read != self.overview.components {
                let text = "the file has changed while it was imported";
                return Err(Error::Internal(text.to_owned()));
            }
            self.so_far.passes += 1;
            (self.so_far.read, self.so_far.line) = (0, 0);
            return Ok(Next::End);
        };
        let replaces = component.find("RECURRENCE-ID").is_some();
        let is_wanted =
            component.kind == ComponentKind::Event && replaces == (pass == Pass::Replacements);
        // Faulty events take their time, too, and write nothing.
        if is_wanted && !self.stops_at(&component) {
            match Entry::read(&component, self.overview.context(state)) {
                // What replaces its repetitions may be behind the cut.
                Ok(entry) if entry.is_series && self.overview.cut.is_some() => {
                    self.so_far.note(&component, "repeats, and the file is cut off".to_owned());
                }
                Ok(entry) => return Ok(Next::Entry(component, entry)),
                Err(message) => self.so_far.note(&component, message),
            }
        }
        self.leave_behind(&component);
        Ok(Next::Nothing)
    }

    /// Counts a component as read, once all of it is written.
    fn leave_behind(&mut self, component: &Component) {
        (self.so_far.read, self.so_far.line) = (self.so_far.read + 1, component.line);
    }

    /// Returns whether the import has done as much as it may, and notes what is left.
    fn stops_at(&mut self, component: &Component) -> bool {
        let late = self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let full = self.limits.events.is_some_and(|most| self.so_far.done >= most);
        if (late || full) && !self.so_far.is_over {
            let why = if late { "takes too long" } else { "has too many events" };
            let message = format!("is left out with all that follow: the file {why} for a request");
            self.so_far.note(component, message);
            self.so_far.is_over = true;
        }
        self.so_far.is_over
    }

    /// Writes the events of an entry until the turn is over; tells whether that were all.
    fn write_entry(
        &mut self,
        state: &State,
        db: &mut Db,
        (component, entry): (&Component, &Entry),
        turn: Turn,
    ) -> Result<bool, Error> {
        let replacement = match &entry.replaces {
            Some(name) => Some(self.stored_name(db, &entry.uid, name)?),
            None => None,
        };
        let mut so_far = match self.so_far.entry.take() {
            Some(so_far) => so_far,
            None => {
                let parent = self.parent(db, entry)?;
                let repeated = entry.is_series && parent.is_some();
                EntrySoFar { kept: HashSet::new(), parent, repeated }
            }
        };
        for occurrence in &entry.occurrences {
            if let Some(name) = entry.replaced_as(occurrence, &self.overview.replaced) {
                let series = self.series.entry(entry.uid.clone()).or_default();
                if occurrence.external_id == entry.uid {
                    series.first = Some(name);
                }
                continue;
            }
            let mut occurrence = Cow::Borrowed(occurrence);
            if let Some(name) = &replacement {
                occurrence.to_mut().external_id.clone_from(name);
            }
            if so_far.kept.contains(&occurrence.external_id) {
                continue;
            }
            if self.stops_at(component) {
                return Ok(true);
            }
            if turn.is_over(self.so_far.done) {
                self.so_far.entry = Some(so_far);
                return Ok(false);
            }
            let (id, outcome) = match self.write_one(state, db, entry, &occurrence, so_far.parent) {
                Ok(done) => done,
                Err(Undone::Failed(error)) => return Err(error),
                Err(Undone::Faulty(message)) => {
                    self.so_far.note(component, message);
                    return Ok(true);
                }
                Err(Undone::Unchanged) => {
                    let known = find(db, &self.urls, &occurrence.external_id)?;
                    (known.map(|event| event.id), Outcome::Unchanged)
                }
            };
            self.so_far.count(outcome);
            so_far.repeated |= entry.is_series && outcome != Outcome::Created;
            if let Some(id) = id {
                so_far.repeated |= self.note_first(db, entry, &occurrence, id)?;
                if entry.is_series && so_far.parent.is_none() {
                    so_far.parent = parent_of(db, id)?;
                }
            }
            so_far.kept.insert(occurrence.external_id.clone());
        }
        if let Some(series) = self.series.get_mut(&entry.uid)
            && entry.replaces.is_none()
        {
            series.parent = so_far.parent;
        }
        let is_whole = entry.replaces.is_none() && self.overview.cut.is_none();
        if so_far.repeated
            && is_whole
            && !self.drop_surplus(state, db, entry, (&so_far.kept, turn))?
        {
            self.so_far.entry = Some(so_far);
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns the name by which the event is stored that an entry replaces: the first of a series
    /// has the UID of the whole.
    fn stored_name(&self, db: &mut Db, uid: &str, name: &str) -> Result<String, Error> {
        let is_first = match self.series.get(uid) {
            Some(series) => series.first.as_deref() == Some(name),
            // The file has nothing but what replaces.
            None => match events::find_by_external_id(db, uid)? {
                Some(first) => {
                    let moment = imported::find(db, first.id)?.moment;
                    moment.is_some_and(|moment| Entry::repetition(uid, &moment) == name)
                }
                None => false,
            },
        };
        Ok(if is_first { uid.to_owned() } else { name.to_owned() })
    }

    /// Returns the event that those of a series are below, where it is known.
    fn parent(&self, db: &mut Db, entry: &Entry) -> Result<Option<i64>, Error> {
        if !entry.is_series && entry.replaces.is_none() {
            return Ok(None);
        }
        let series = self.series.get(&entry.uid).filter(|_| entry.replaces.is_some());
        if let Some(series) = series {
            return Ok(series.parent);
        }
        let first = events::find_by_external_id(db, &entry.uid)?;
        Ok(first.map(|first| first.parent.unwrap_or(first.id)))
    }

    /// Notes which moment the first event of a series has in its file; tells whether it has repeated
    /// before, and no longer does.
    fn note_first(
        &self,
        db: &mut Db,
        entry: &Entry,
        occurrence: &Occurrence,
        id: i64,
    ) -> Result<bool, Error> {
        if occurrence.external_id != entry.uid {
            return Ok(false);
        }
        let moment = match &entry.replaces {
            Some(name) => Entry::moment_of(&entry.uid, name).map(str::to_owned),
            None if entry.is_series => Some(occurrence.start.key()),
            // In files of its own the repetitions are events that do not repeat.
            None if self.overview.is_own || self.overview.cut.is_some() => return Ok(false),
            None => None,
        };
        let mut repeated = false;
        imported::note(db, id, |noted| {
            repeated = noted.moment.is_some() && moment.is_none();
            noted.moment = moment;
        })?;
        Ok(repeated)
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

    /// Moves repetitions to come to the trash that the file no longer has, until the turn is over;
    /// tells whether that were all.
    fn drop_surplus(
        &mut self,
        state: &State,
        db: &mut Db,
        entry: &Entry,
        (kept, turn): (&HashSet<String>, Turn),
    ) -> Result<bool, Error> {
        let now = state.clock.unix();
        loop {
            if turn.is_over(self.so_far.done) {
                return Ok(false);
            }
            let replaced = &self.overview.replaced;
            let first = self.series.get(&entry.uid).and_then(|series| series.first.as_deref());
            let is_replaced = |name: &str| replaced.contains(name) && first != Some(name);
            let dropped = drop_surplus(db, (&entry.uid, now), SURPLUS, |name| {
                !entry.repeats_as(name) || kept.contains(name) || is_replaced(name)
            })?;
            (0..dropped).for_each(|_| self.so_far.count(Outcome::Updated));
            if dropped < SURPLUS {
                return Ok(true);
            }
        }
    }
}

/// Returns the event that the others of a series are below, given one of them.
fn parent_of(db: &mut Db, id: i64) -> Result<Option<i64>, Error> {
    let event = events::find(db, id)?;
    Ok(event.map(|event| event.parent.unwrap_or(event.id)))
}
