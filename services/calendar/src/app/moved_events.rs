//! Remembers the events of a series that a load has changed. Lines for these events might follow,
//! with the slugs, ids and dates from before the change.

use std::collections::HashMap;

use database::{DatabaseError, Db};

use super::undone::Undone;
use crate::model::change::EventChange;
use crate::model::event::Event;
use crate::model::schedule::{Schedule, ScheduleChange};
use crate::model::slug;
use crate::model::status::Status;
use crate::store::{events, series_events};

/// Maximum number of events to remember. A series' lines usually follow its first line.
const MOST: usize = 50_000;

/// An event before its series changed.
#[derive(Clone, Debug)]
pub struct Former {
    event: i64,
    external_id: Option<String>,
    slug: String,
    schedule: Schedule,
    status: Status,
}

/// Events in changed series, by their old external ids and slugs.
#[derive(Debug, Default)]
pub struct MovedEvents {
    by_external_id: HashMap<String, Former>,
    by_slug: HashMap<String, Former>,
}

impl MovedEvents {
    /// Reads the events of a series before it changes, except for the one in the line.
    pub fn before(db: &mut Db, series: i64, own: i64) -> Result<Vec<Former>, DatabaseError> {
        let members = series_events::members(db, series)?.into_iter().map(|member| member.event);
        let ids: Vec<i64> = members.filter(|event| *event != own).collect();
        let mut found = Vec::new();
        for ids in ids.chunks(500) {
            found.extend(events::by_ids(db, ids)?.into_iter().map(|event| Former {
                event: event.id,
                external_id: event.external_id,
                slug: event.slug,
                schedule: event.schedule,
                status: event.status,
            }));
        }
        Ok(found)
    }

    /// Adds the events of a changed series.
    pub fn note(&mut self, former: Vec<Former>) {
        if self.by_slug.len() + former.len() > MOST {
            *self = MovedEvents::default();
        }
        for one in former {
            if let Some(id) = &one.external_id {
                self.by_external_id.insert(id.clone(), one.clone());
            }
            self.by_slug.insert(one.slug.clone(), one);
        }
    }

    /// Finds the event that a line identifies by its old external id or else by its old slug.
    pub fn find(&self, external_id: Option<&str>, slug: Option<&str>) -> Option<&Former> {
        match (external_id, slug) {
            (Some(id), _) => self.by_external_id.get(id),
            (None, Some(slug)) => self.by_slug.get(&slug::lookup_form(slug)),
            (None, None) => None,
        }
    }
}

impl Former {
    /// Returns the event's id.
    pub fn event(&self) -> i64 {
        self.event
    }

    /// Removes the slug and dates from a line if they are still the old ones.
    ///
    /// # Errors
    /// Returns [`Undone::Unchanged`] if the new rule doesn't include the event and the line doesn't
    /// move it.
    pub fn without_former(
        &self,
        now: &Event,
        mut change: EventChange,
    ) -> Result<EventChange, Undone> {
        let sent = change.post.slug.as_deref();
        if sent.is_some_and(|sent| slug::lookup_form(sent) == self.slug) {
            change.post.slug = None;
        }
        let is_same = |new: &Schedule| *new == self.schedule;
        if !self.schedule.changed(&change.schedule).is_ok_and(|new| is_same(&new)) {
            return Ok(change);
        }
        let was_removed = now.status.is_trashed() && !self.status.is_trashed();
        if was_removed && change.post.status.as_ref().is_none_or(|sent| *sent == self.status) {
            return Err(Undone::Unchanged);
        }
        change.schedule = ScheduleChange::default();
        Ok(change)
    }
}
