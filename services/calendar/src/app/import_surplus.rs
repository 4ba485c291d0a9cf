//! Removes occurrences that are no longer in a series' file, except for occurrences in a
//! subscription that users have changed.

use std::collections::HashSet;

use database::Db;

use super::import_memberships::date_ahead;
use super::import_overview::Overview;
use super::import_progress::{Progress, Series, TimeSlice};
use super::import_writes::{call_off, trash};
use super::subscriber::Subscriber;
use crate::error::Error;
use crate::ical::{Entry, Moment};
use crate::model::event::Event;
use crate::model::series_ids::local_day;
use crate::store::{events, external_ids, subscribed_events};
use crate::wire::dates::written;
use crate::wire::import::ImportErrorJson;

/// Number of surplus occurrences to trash before checking the time slice again.
const SURPLUS: usize = 20;

/// Finds an entry's future occurrences that are no longer in the file.
pub struct Surplus<'a> {
    pub entry: &'a Entry,
    pub overview: &'a Overview,
    /// External ids of the events that were written.
    pub kept: &'a HashSet<String>,
    /// The state of the series, if the file overrides any of its occurrences.
    pub series: Option<&'a Series>,
    /// The subscription that the import belongs to, if any.
    pub subscriber: Option<&'a Subscriber>,
    pub now: i64,
}

/// A future occurrence that is missing from the file.
struct Missing {
    id: i64,
    /// Whether a user of the subscription changed the occurrence.
    is_changed: bool,
}

impl Surplus<'_> {
    /// Cancels or trashes the surplus occurrences until the time slice ends. Returns whether all of
    /// them have been processed. `line` is the entry's line number.
    pub fn remove_all(
        &self,
        db: &mut Db,
        (line, slice): (u64, TimeSlice),
        so_far: &mut Progress,
    ) -> Result<bool, Error> {
        let is_trashing = self.subscriber.is_some() && !self.entry.is_cancelled;
        loop {
            if slice.is_over(so_far.done) {
                return Ok(false);
            }
            let removed = self.remove(db, SURPLUS)?;
            so_far.count_dropped(removed, is_trashing);
            if removed < SURPLUS {
                self.note_staying(db, line, so_far)?;
                return Ok(true);
            }
        }
    }

    /// Cancels or trashes up to `most` surplus occurrences. Returns how many.
    fn remove(&self, db: &mut Db, most: usize) -> Result<usize, Error> {
        let surplus = self.find(db)?.into_iter().filter(|one| !one.is_changed);
        let ids: Vec<i64> = surplus.map(|one| one.id).take(most).collect();
        for event in events::by_ids(db, &ids)? {
            match self.entry.is_cancelled {
                true => drop(call_off(db, &event, self.now)?),
                false => trash(db, &event, self.now)?,
            }
        }
        Ok(ids.len())
    }

    /// Counts the surplus occurrences that are kept because users changed them, and adds messages
    /// about them. `line` is the entry's line number.
    fn note_staying(&self, db: &mut Db, line: u64, so_far: &mut Progress) -> Result<(), Error> {
        if self.subscriber.is_none() || self.entry.is_cancelled {
            return Ok(());
        }
        let surplus = self.find(db)?.into_iter().filter(|one| one.is_changed);
        let ids: Vec<i64> = surplus.map(|one| one.id).collect();
        let named = &ids[..ids.len().min(so_far.room_for_staying())];
        let message = |event: Event| {
            let (id, start) = (event.id, written(event.schedule.start_local));
            let message = format!(
                "the file no longer has this date; event {id} of {start} is kept as a separate \
                 event, because a user changed it"
            );
            ImportErrorJson { uid: event.external_id.unwrap_or_default(), line, message }
        };
        let messages = events::by_ids(db, named)?.into_iter().map(message).collect();
        so_far.note_staying(ids.len(), messages);
        Ok(())
    }

    /// Returns the future occurrences that are missing from the file. In a subscription, this only
    /// includes occurrences that belonged to it when the import started.
    fn find(&self, db: &mut Db) -> Result<Vec<Missing>, Error> {
        let selection = (self.now, self.entry.is_cancelled);
        let mut found = external_ids::later_occurrences(db, &self.entry.uid, selection)?;
        found.retain(|(_, name)| {
            !self.is_in_file(name) && self.subscriber.is_none_or(|one| one.has(name))
        });
        let ids: Vec<i64> = found.into_iter().map(|(id, _)| id).collect();
        // Users might change events while the import is running.
        let changed = match self.subscriber {
            Some(_) => subscribed_events::changed_among(db, &ids)?,
            None => HashSet::new(),
        };
        let missing = |id: i64| Missing { id, is_changed: changed.contains(&id) };
        Ok(ids.into_iter().map(missing).collect())
    }

    /// Returns whether the file contains an event with the external id `name`, even as part of
    /// another entry.
    fn is_in_file(&self, name: &str) -> bool {
        let Overview { replaced, listed, .. } = self.overview;
        let first = self.series.and_then(|series| series.first.as_deref());
        let is_replaced = match name == self.entry.uid {
            true => first.is_some(),
            false if replaced.contains(name) => first != Some(name),
            false => self.is_replaced_by_day(name),
        };
        let is_named = self.kept.contains(name) || listed.contains(name);
        let is_ahead = !self.entry.is_cancelled && date_ahead(self.entry, name).is_some();
        !self.entry.has_occurrence(name) || is_named || is_replaced || is_ahead
    }

    /// Returns whether an override that specifies only the day belongs to the event with the
    /// external id `name`, because the series no longer has an occurrence on that day.
    fn is_replaced_by_day(&self, name: &str) -> bool {
        let first = self.entry.occurrences.first().map(|one| &one.original);
        let Some(Moment::Time(_, zone)) = first else { return false };
        let key = Entry::moment_of(&self.entry.uid, name);
        let Some(day) = key.and_then(|key| local_day(key, zone)) else { return false };
        let id = Entry::occurrence_id(&self.entry.uid, &day);
        let has_other = self.series.is_some_and(|series| series.by_day.contains_key(&id));
        self.overview.replaced.contains(&id) && !has_other
    }
}
