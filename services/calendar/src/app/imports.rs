//! Imports iCalendar files: creates new events, updates any that differ, and leaves the rest alone.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::time::Instant;

use database::{Db, transaction};

use super::import_adoption::Adopted;
use super::import_edits::KnownEdits;
use super::import_exclusions;
use super::import_kept;
use super::import_memberships;
use super::import_notices::Notices;
use super::import_overrides::{
    is_outdated, note_first, note_override, note_revision, parent_of, stored_name, tell_apart,
};
use super::import_overview::Overview;
use super::import_progress::{
    EntryProgress, ImportLimits, Pass, Progress, Series, Step, TIME_SLICE, TimeSlice, Work,
};
use super::import_series::{self, Written};
use super::import_steps::Reading;
use super::import_surplus::Surplus;
use super::import_writes::{self, Outcome, Source};
use super::own_events::{Identity, OwnEvents, find};
use super::own_revisions::LATER;
use super::subscriber::Subscriber;
use super::transactions::with_context;
use super::undone::Undone;
use crate::error::Error;
use crate::ical::{Component, Entry, Occurrence, Reader, created_of};
use crate::model::revision::Revision;
use crate::model::role::User;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::{events, sql, subscribed_events};
use crate::wire::import::ImportJson;
use crate::wire::params::Params;

/// An import in progress.
pub struct Import {
    user: User,
    urls: Urls,
    limits: ImportLimits,
    pub(super) overview: Overview,
    /// Recognises this calendar's own UIDs. Read by the first write.
    identity: Identity,
    /// Whether this calendar wrote the current entry.
    pub(super) is_author: bool,
    /// The current entry's CREATED property.
    created: Option<i64>,
    /// State carried over from the first pass to the second, by series UID.
    pub(super) series: HashMap<String, Series>,
    pub(super) edits: KnownEdits,
    /// The sequence numbers of this calendar's own series before this import, by UID.
    pub(super) sequences: HashMap<String, Option<i64>>,
    pub(super) so_far: Progress,
    reading: Reading,
    /// The subscription that this import belongs to, if any.
    pub(super) subscriber: Option<Subscriber>,
}

impl Import {
    /// Starts importing a file after its overview has been read. Our own UIDs end with the host of
    /// `urls`.
    pub fn new(user: User, urls: Urls, limits: ImportLimits, overview: Overview) -> Import {
        let so_far = Progress::begin(&overview);
        Import {
            user,
            urls,
            limits,
            overview,
            identity: Identity::default(),
            is_author: false,
            created: None,
            series: HashMap::new(),
            edits: KnownEdits::default(),
            sequences: HashMap::new(),
            so_far,
            reading: Reading::default(),
            subscriber: None,
        }
    }

    /// Converts this to a subscription's import.
    #[must_use]
    pub fn of_subscription(self, subscriber: Subscriber) -> Import {
        Import { subscriber: Some(subscriber), ..self }
    }

    /// Returns the passes over the file, in order.
    pub fn passes(&self) -> impl Iterator<Item = Pass> + use<> {
        let replacements = self.overview.has_replacements.then_some(Pass::Replacements);
        [Pass::Entries].into_iter().chain(replacements)
    }

    pub fn into_report(self) -> ImportJson {
        self.so_far.report
    }

    /// Returns the login of the importing user.
    pub fn login(&self) -> &str {
        &self.user.login
    }

    /// Returns the number of processed events.
    pub fn done(&self) -> usize {
        self.so_far.done
    }

    pub fn so_far(&self) -> &Progress {
        &self.so_far
    }

    /// Restores the progress from before a transaction that was rolled back.
    pub fn restore(&mut self, so_far: Progress) {
        self.so_far = so_far;
    }

    /// Reads and expands the next entries of a pass, unless some are still waiting to be written.
    /// This is slow, so call it before opening the transaction that writes them.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or changes.
    pub fn prepare(
        &mut self,
        state: &State,
        reader: &mut Reader<impl BufRead>,
        pass: Pass,
    ) -> Result<(), Error> {
        if !self.so_far.ready.is_empty() || self.so_far.is_over {
            return Ok(());
        }
        let deadline = self.limits.deadline;
        self.so_far.ready =
            self.reading.next_steps(&self.overview, state, reader, (pass, deadline))?;
        Ok(())
    }

    /// Writes prepared entries inside a transaction. Returns false at the end of the pass.
    ///
    /// # Errors
    /// Returns an error if the database fails. The counts are invalid after that.
    pub fn write(&mut self, state: &State, db: &mut Db) -> Result<bool, Error> {
        sql::one_writer(db)?;
        if self.identity.calendar.is_empty() {
            self.identity = Identity::read(db, &state.site, &self.urls)?;
        }
        let slice = TimeSlice::begin(self.so_far.done);
        let began = Instant::now();
        while !self.so_far.is_over
            && !slice.is_over(self.so_far.done)
            && began.elapsed() < TIME_SLICE
        {
            let Some(step) = self.so_far.ready.pop_front() else { return Ok(true) };
            let Step::Component(component, work) = &*step else {
                self.so_far.passes += 1;
                (self.so_far.read, self.so_far.line) = (0, 0);
                return Ok(false);
            };
            if self.do_work(state, db, (component, work), slice)? {
                (self.so_far.read, self.so_far.line) = (self.so_far.read + 1, component.line);
            } else {
                self.so_far.ready.push_front(step);
            }
        }
        Ok(!self.so_far.is_over)
    }

    /// Processes a component until it is complete or the time slice ends. Returns whether it is
    /// complete.
    fn do_work(
        &mut self,
        state: &State,
        db: &mut Db,
        (component, work): (&Component, &Work),
        slice: TimeSlice,
    ) -> Result<bool, Error> {
        if matches!(work, Work::Nothing)
            || (self.so_far.entry.is_none() && self.stops_at(component))
        {
            return Ok(true);
        }
        match work {
            Work::Nothing => {}
            Work::Superseded => {
                let message = "a later entry in the file supersedes it; it was skipped";
                self.so_far.warn(component, message.to_owned());
                self.so_far.count(Outcome::Skipped);
            }
            Work::Faulty(message) => self.so_far.note(component, message.clone()),
            Work::Entry { entry, is_repeated } => {
                let own_id = self.identity.calendar.as_str();
                self.is_author = component.calendar_id.as_deref() == Some(own_id);
                self.created = created_of(component);
                let entry = tell_apart(db, entry, component, *is_repeated)?;
                if let Some(subscriber) = &self.subscriber
                    && let Some(why) = subscriber.refusal(db, &entry, self.own())?
                {
                    self.so_far.warn(component, why.to_owned());
                    self.so_far.count(Outcome::Skipped);
                    return Ok(true);
                }
                let notices = Notices::begin(db, &self.so_far)?;
                self.so_far.series = None;
                let is_complete = self.write_entry(state, db, (component, &entry), slice)?;
                notices.combine(db, &self.so_far, state.clock.unix())?;
                return Ok(is_complete);
            }
        }
        Ok(true)
    }

    /// Returns whether the import has reached a limit. When this first happens, reports that the
    /// remaining entries are skipped.
    fn stops_at(&mut self, component: &Component) -> bool {
        let late = self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let full = self.limits.events.is_some_and(|most| self.so_far.done >= most);
        if (late || full) && !self.so_far.is_over {
            let why = if late { "takes too long" } else { "has too many events" };
            let message =
                format!("this entry and all later ones were skipped: the file {why} for a request");
            self.so_far.note(component, message);
            self.so_far.is_over = true;
        }
        self.so_far.is_over
    }

    /// Writes an entry's events until the time slice ends. Returns whether all of them are written.
    fn write_entry(
        &mut self,
        state: &State,
        db: &mut Db,
        (component, entry): (&Component, &Entry),
        slice: TimeSlice,
    ) -> Result<bool, Error> {
        let begun = self.so_far.entry.take();
        let is_partial = self.is_partial();
        // Another import might have written a later revision between two of this entry's
        // transactions.
        let revision = self.revision(entry);
        if is_outdated(db, entry, revision, &mut self.series)? {
            let message = match begun {
                None => "an earlier file had a later revision of it; it was skipped",
                Some(_) => "another import wrote a later revision of it; the rest was skipped",
            };
            self.so_far.warn(component, message.to_owned());
            self.so_far.count(Outcome::Skipped);
            return Ok(true);
        }
        let mut so_far = match begun {
            Some(so_far) => so_far,
            None => self.begin_entry(state, db, (component, entry), revision)?,
        };
        self.so_far.series = so_far.series.filter(|_| entry.replaces.is_none());
        let source = (self.series.get(&entry.uid), self.is_author);
        let stored = |name: &String| stored_name(db, source, &entry.uid, name);
        let replacement = entry.replaces.as_ref().map(stored).transpose()?;
        for occurrence in &entry.occurrences {
            if let Some(name) = entry.overridden_as(occurrence, &self.overview.replaced) {
                let series = self.series.entry(entry.uid.clone()).or_default();
                if occurrence.external_id == entry.uid {
                    series.first = Some(name);
                } else if Entry::is_of_a_day(&entry.uid, &name) {
                    so_far.kept.insert(occurrence.external_id.clone());
                    series.by_day.insert(name, occurrence.external_id.clone());
                }
                continue;
            }
            let is_overridden = entry.overridden_as(occurrence, &so_far.overridden).is_some();
            let name = &occurrence.external_id;
            if is_overridden && events::find_by_external_id(db, name)?.is_some() {
                if so_far.kept.insert(occurrence.external_id.clone()) {
                    let message = "an earlier file had an override of an occurrence, which is kept";
                    self.so_far.warn(component, message.to_owned());
                    self.so_far.count(Outcome::Skipped);
                }
                continue;
            }
            let mut occurrence = Cow::Borrowed(occurrence);
            if is_overridden {
                // The override was a cancellation without the details to create the event.
                occurrence.to_mut().is_cancelled = true;
            }
            if let Some(name) = &replacement {
                occurrence.to_mut().external_id.clone_from(name);
            }
            if so_far.kept.contains(&occurrence.external_id) {
                continue;
            }
            if self.stops_at(component) {
                return Ok(true);
            }
            if slice.is_over(self.so_far.done) {
                note_revision(db, entry, revision)?;
                so_far.series = so_far.series.map(|series| Written { is_new: false, ..series });
                self.so_far.entry = Some(so_far);
                return Ok(false);
            }
            let name = &occurrence.external_id;
            let adopted = Adopted::find(db, self.subscriber.as_ref(), self.own(), name)?;
            let (id, outcome) = match self.write_one(state, db, entry, &occurrence, &so_far) {
                Ok(done) => done,
                Err(Undone::Failed(error)) => return Err(error),
                Err(Undone::Faulty(message)) => {
                    import_series::note_complete(db, so_far.series.map(|one| one.id), entry)?;
                    self.so_far.note(component, message);
                    return Ok(true);
                }
                Err(Undone::Outdated) => {
                    if !std::mem::replace(&mut so_far.is_reported, true) {
                        self.so_far.warn(component, LATER.to_owned());
                    }
                    (None, Outcome::Skipped)
                }
                Err(Undone::Unchanged) => {
                    let known = find(db, self.own(), &occurrence.external_id)?;
                    (known.map(|event| event.id), Outcome::Unchanged)
                }
            };
            self.so_far.count(outcome);
            if let Some(adopted) = adopted
                && let Some(message) = adopted.replaced(db)?
            {
                self.so_far.warn(component, message);
            }
            let edits = so_far.edits.as_deref();
            if let (Some(subscriber), Some(id)) = (&self.subscriber, id) {
                subscriber.note(db, &occurrence.external_id, id)?;
                if let Some(edits) = edits.filter(|_| outcome == Outcome::Created) {
                    let is_private = occurrence.details.is_private;
                    let parts = edits.parts(entry.replaces.is_none(), is_private);
                    subscribed_events::note_changed(db, id, &parts)?;
                }
            }
            so_far.repeated |= entry.is_series && outcome != Outcome::Created;
            match (id, so_far.series) {
                (Some(id), Some(series)) if !is_overridden => {
                    import_memberships::join(db, (series.id, entry), edits, (&occurrence, id))?;
                }
                (Some(id), None) if outcome == Outcome::Updated => {
                    import_memberships::mark_own(db, entry, id)?;
                }
                _ => {}
            }
            if let Some(id) = id {
                so_far.repeated |= note_first(db, is_partial, entry, &occurrence, id)?;
                if entry.is_series && so_far.parent.is_none() {
                    so_far.parent = parent_of(db, id)?;
                }
                if entry.replaces.is_some() && self.series.contains_key(&entry.uid) {
                    note_override(db, (entry, revision), (id, outcome))?;
                    // Every occurrence of the series might be overridden.
                    if !self.so_far.parents.contains_key(&entry.uid) {
                        let parent = parent_of(db, id)?;
                        self.so_far.parents.extend(parent.map(|id| (entry.uid.clone(), id)));
                    }
                }
            }
            so_far.kept.insert(occurrence.external_id.clone());
        }
        import_kept::join(db, (entry, &so_far), self.subscriber.as_ref(), state.clock.unix())?;
        if self.is_author && self.so_far.report.updated > 0 {
            import_memberships::mark_overridden(db, entry, &self.overview.replaced)?;
        }
        if self.is_author && so_far.series.is_none() {
            let (by, now) = ((entry, so_far.own_revision), state.clock.unix());
            let excluded = import_exclusions::remove(db, by, &self.overview, now)?;
            self.so_far.count_dropped(excluded.trashed, false);
            if excluded.has_changed {
                self.so_far.warn(component, import_exclusions::CHANGED.to_owned());
            }
        }
        if let Some(series) = self.series.get_mut(&entry.uid)
            && entry.replaces.is_none()
        {
            series.revision = revision;
            self.so_far.parents.extend(so_far.parent.map(|id| (entry.uid.clone(), id)));
        }
        note_revision(db, entry, revision)?;
        let is_whole = entry.replaces.is_none() && !is_partial && !entry.has_unknown_occurrences;
        if let Some(series) = so_far.series.filter(|_| is_whole)
            && import_memberships::tidy(db, series.id, entry)?
            && let Some(subscriber) = &mut self.subscriber
        {
            subscriber.read_names(db)?;
        }
        if so_far.repeated
            && is_whole
            && !self.drop_surplus(state, db, (component, entry), (&so_far.kept, slice))?
        {
            self.so_far.entry = Some(so_far);
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns whether the file lacks a part of what it describes. Our own feeds leave out
    /// non-public events, and have no rule for single occurrences.
    pub(super) fn is_partial(&self) -> bool {
        self.is_author || self.overview.cut.is_some()
    }

    pub(super) fn own(&self) -> OwnEvents<'_> {
        let (urls, identity) = (&self.urls, &self.identity);
        OwnEvents { urls, identity, is_author: self.is_author, created: self.created }
    }

    /// Returns an entry's revision, or `None` if this calendar wrote it, because revisions in our
    /// own feeds can't be compared with revisions in imported files.
    fn revision(&self, entry: &Entry) -> Option<Revision> {
        entry.revision.filter(|_| !self.own().is_author)
    }

    /// Writes the event for one occurrence within a savepoint. Returns the event's id, or `None` if
    /// the event is unknown and its cancellation doesn't have enough details to create it.
    fn write_one(
        &self,
        state: &State,
        db: &mut Db,
        entry: &Entry,
        occurrence: &Occurrence,
        so_far: &EntryProgress,
    ) -> Result<(Option<i64>, Outcome), Undone> {
        let entries = self.overview.context(state);
        let subscriber = self.subscriber.as_ref();
        let source = Source {
            user: &self.user,
            own: self.own(),
            entries,
            parent: so_far.parent,
            series: so_far.series.map(|series| (series.id, entry)),
            edits: so_far.edits.as_deref(),
            ended_at: so_far.ended_at.as_deref(),
            has_unknown_exclusions: entry.has_unknown_exclusions,
            subscriber,
            revision: so_far.own_revision,
        };
        transaction(db, |db| {
            with_context(state, db, &self.user, &Params::default(), |context| {
                import_writes::write(context, source, (occurrence, entry.is_complete))
            })
        })
    }

    /// Removes future occurrences that are no longer in the file, until the time slice ends. They
    /// are cancelled if the file cancels the series, and trashed otherwise. Returns whether all of
    /// them have been removed.
    fn drop_surplus(
        &mut self,
        state: &State,
        db: &mut Db,
        (component, entry): (&Component, &Entry),
        (kept, slice): (&HashSet<String>, TimeSlice),
    ) -> Result<bool, Error> {
        let series = self.series.get(&entry.uid);
        let (overview, subscriber) = (&self.overview, self.subscriber.as_ref());
        let now = state.clock.unix();
        let surplus = Surplus { entry, overview, kept, series, subscriber, now };
        surplus.remove_all(db, (component.line, slice), &mut self.so_far)
    }
}
