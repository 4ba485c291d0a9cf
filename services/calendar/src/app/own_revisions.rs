//! Compares entries that this calendar wrote with the events that it has now.

use std::collections::HashMap;

use database::Db;

use crate::error::Error;
use crate::ical::{Entry, Occurrence};
use crate::model::event::Event;
use crate::model::revision::Revision;
use crate::store::imported_states::{self, Edit};
use crate::store::{events, series, series_revisions};

/// The warning for an entry that is older than its event.
pub const LATER: &str =
    "this calendar has a later revision of it, which is kept; to change it, edit a new export";

/// The revision of an entry that this calendar wrote.
#[derive(Clone, Copy, Debug)]
pub struct OwnRevision {
    in_file: Revision,
    /// The sequence number of the entry's series before this import. `None` if the entry doesn't
    /// have the UID of a series.
    of_series: Option<i64>,
}

impl OwnRevision {
    /// Reads the revision of an entry. Returns `None` if it doesn't have one, or if this calendar
    /// isn't its author.
    ///
    /// `known` contains the sequence numbers of the file's series before this import, by UID,
    /// because changes of other entries in the file increase them.
    pub fn of(
        db: &mut Db,
        (entry, is_author): (&Entry, bool),
        known: &mut HashMap<String, Option<i64>>,
    ) -> Result<Option<OwnRevision>, Error> {
        let Some(in_file) = entry.revision.filter(|_| is_author) else { return Ok(None) };
        if let Some(of_series) = known.get(&entry.uid) {
            return Ok(Some(OwnRevision { in_file, of_series: *of_series }));
        }
        let of_series = match series::find_by_uid(db, &entry.uid)? {
            Some(series) => Some(series_revisions::revised(db, &series)?.sequence),
            None => None,
        };
        if entry.is_series || entry.replaces.is_some() {
            known.insert(entry.uid.clone(), of_series);
        }
        Ok(Some(OwnRevision { in_file, of_series }))
    }

    /// Returns whether the event has changed since the entry was written, other than by importing
    /// an earlier edit of the entry. An event that doesn't exist counts as changed if its series
    /// has changed.
    pub fn is_older_than(
        &self,
        db: &mut Db,
        event: Option<&Event>,
        occurrence: &Occurrence,
    ) -> Result<bool, Error> {
        Ok(match event {
            _ if !self.is_before(event) => false,
            Some(event) => !self.is_next_edit(db, event, occurrence)?,
            None => true,
        })
    }

    /// Returns whether the event is unchanged since the entry was written, or was last changed by
    /// importing an earlier edit of the entry.
    pub fn is_current(&self, db: &mut Db, event: &Event) -> Result<bool, Error> {
        if !self.is_before(Some(event)) {
            return Ok(true);
        }
        let last = imported_states::edit(db, event)?;
        Ok(last.is_some_and(|last| !self.in_file.is_older_than(&last.revision)))
    }

    fn is_before(&self, event: Option<&Event>) -> bool {
        let modified = event.map(|event| event.modified_utc);
        let sequence = self.of_series.or(event.map(|event| event.sequence));
        let now = Revision { sequence, modified, stamped: modified };
        self.in_file.is_older_than(&now)
    }

    /// Returns whether the event was last changed by importing an earlier edit of this entry.
    /// Many programs don't raise the revision when a user edits an entry. An entry with the content
    /// from before the first edit is an old export.
    fn is_next_edit(
        &self,
        db: &mut Db,
        event: &Event,
        occurrence: &Occurrence,
    ) -> Result<bool, Error> {
        let Some(last) = imported_states::edit(db, event)? else { return Ok(false) };
        let known = last.revision;
        let is_edited = last.original != Some(occurrence.fingerprint());
        Ok(known.is_older_than(&self.in_file) || (is_edited && !self.in_file.is_older_than(&known)))
    }

    /// Records that the entry has changed an event. `old` and `shown` are the event and its content
    /// before the change.
    pub fn note(&self, db: &mut Db, old: &Event, shown: Option<&Occurrence>) -> Result<(), Error> {
        let original = match self.is_before(Some(old)) {
            true => imported_states::edit(db, old)?.and_then(|last| last.original),
            false => shown.map(Occurrence::fingerprint),
        };
        self.record(db, old.id, original)
    }

    /// Records that the entry has created an event.
    pub fn note_new(&self, db: &mut Db, event: i64) -> Result<(), Error> {
        self.record(db, event, None)
    }

    fn record(&self, db: &mut Db, event: i64, original: Option<i64>) -> Result<(), Error> {
        if let Some(event) = events::find(db, event)? {
            let edit = Edit { original, revision: self.in_file };
            imported_states::note_edit(db, &event, &edit)?;
        }
        Ok(())
    }
}
