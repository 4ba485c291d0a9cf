//! Occurrences that a series no longer has in its file. They are dropped, unless a user of a
//! subscription changed them.

use std::collections::HashSet;

use database::Db;

use super::import_overview::Overview;
use super::import_progress::Progress;
use super::import_writes::{call_off, trash};
use super::subscriber::Subscriber;
use crate::error::Error;
use crate::ical::Entry;
use crate::model::event::Event;
use crate::store::events;
use crate::wire::dates::written;
use crate::wire::import::ImportErrorJson;

/// Finds the future occurrences that an entry no longer has.
pub struct Surplus<'a> {
    pub entry: &'a Entry,
    pub overview: &'a Overview,
    /// External ids of the events that were written.
    pub kept: &'a HashSet<String>,
    /// The name of the first occurrence, if it is overridden.
    pub first: Option<&'a str>,
    /// The subscription that the import belongs to, if any.
    pub subscriber: Option<&'a Subscriber>,
    pub now: i64,
}

impl Surplus<'_> {
    /// Cancels or trashes some of the surplus occurrences. Handles at most `most` and returns how
    /// many it handled.
    pub fn remove(&self, db: &mut Db, most: usize) -> Result<usize, Error> {
        let is_kept = |name: &str| self.subscriber.is_some_and(|one| one.keeps(name));
        let surplus = self.find(db)?.into_iter().filter(|(_, name)| !is_kept(name));
        let ids: Vec<i64> = surplus.map(|(id, _)| id).take(most).collect();
        for event in events::by_ids(db, &ids)? {
            match self.entry.is_cancelled {
                true => drop(call_off(db, &event, self.now)?),
                false => trash(db, &event, self.now)?,
            }
        }
        Ok(ids.len())
    }

    /// Counts the surplus occurrences that stay because a user changed them, and adds messages about
    /// them. `line` is that of the entry.
    pub fn note_staying(&self, db: &mut Db, line: u64, so_far: &mut Progress) -> Result<(), Error> {
        let Some(subscriber) = self.subscriber.filter(|_| !self.entry.is_cancelled) else {
            return Ok(());
        };
        let surplus = self.find(db)?.into_iter().filter(|(_, name)| subscriber.has_changed(name));
        let ids: Vec<i64> = surplus.map(|(id, _)| id).collect();
        let named = &ids[..ids.len().min(so_far.room_for_staying())];
        let message = |event: Event| {
            let (id, start) = (event.id, written(event.schedule.start_local));
            let message = format!(
                "the file no longer has this date; event {id} of {start} stays as an event of its \
                 own, because a user changed it"
            );
            ImportErrorJson { uid: event.external_id.unwrap_or_default(), line, message }
        };
        let messages = events::by_ids(db, named)?.into_iter().map(message).collect();
        so_far.note_staying(ids.len(), messages);
        Ok(())
    }

    /// Returns the ids and external ids of the future occurrences that the file lacks.
    fn find(&self, db: &mut Db) -> Result<Vec<(i64, String)>, Error> {
        let selection = (self.now, self.entry.is_cancelled);
        let mut found = events::later_occurrences(db, &self.entry.uid, selection)?;
        found.retain(|(_, name)| !self.is_in_file(name));
        Ok(found)
    }

    /// Returns whether the file has the event with this external id. Events of other entries count.
    fn is_in_file(&self, name: &str) -> bool {
        let Overview { replaced, listed, .. } = self.overview;
        let is_replaced = match name == self.entry.uid {
            true => self.first.is_some(),
            false => replaced.contains(name) && self.first != Some(name),
        };
        let is_named = self.kept.contains(name) || listed.contains(name);
        !self.entry.has_occurrence(name) || is_named || is_replaced
    }
}
