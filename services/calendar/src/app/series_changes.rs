//! Propagates a change to one event to the rest of its series.

use std::collections::{HashMap, HashSet};

use database::Db;

use super::event_writes;
use super::series_creation::require;
use super::series_dates::span_in;
use super::series_parts::occurrences_among;
use super::series_shifts::Shift;
use super::slugs::remember;
use super::subscribed_series::is_named_by_file;
use crate::error::Error;
use crate::ical::Entry;
use crate::model::schedule::Schedule;
use crate::model::series::{Membership, Series};
use crate::model::series_fields::{DATES, Shared};
use crate::model::slug::TRASHED;
use crate::model::subscription_parts::Parts;
use crate::store::series as stored;
use crate::store::{
    event_statuses, events, external_ids, series_events, slugs, sql, subscribed_events,
};

/// A change to several events in a series.
pub struct SeriesChange<'a> {
    /// The series, with its new recurrence if its dates move.
    pub series: Series,
    /// The id of the event that the request changes.
    pub own: i64,
    /// The same event after the change.
    pub after: &'a Shared,
    /// The fields that changed.
    pub differing: &'a [&'static str],
}

impl SeriesChange<'_> {
    /// Copies the changed fields to the other events.
    pub fn copy_fields(&self, db: &mut Db, members: &[Membership], now: i64) -> Result<(), Error> {
        for member in members {
            let old = require(db, member.event)?;
            let new = self.with_fields(member, &old);
            let place = self.place(member, member.occurrence, &new);
            rewrite(db, &old, new, now)?;
            series_events::join(db, &place)?;
        }
        Ok(())
    }

    /// Applies the changed fields to an event, except for fields that were changed for this event
    /// only. Trashed events are changed too, because they can be restored. Until then, feeds show
    /// them as cancelled, unless they weren't public before.
    fn with_fields(&self, member: &Membership, old: &Shared) -> Shared {
        let mut new = old.clone();
        if member.event == self.own {
            return new;
        }
        let is_own = |field: &str| member.changed.iter().any(|one| one == field);
        for field in self.differing.iter().filter(|field| !is_own(field)) {
            new.take(field, self.after);
        }
        if old.event.status.is_trashed() && !new.event.status.is_trashed() {
            new.event.previous = Some(new.event.status);
            new.event.status = old.event.status.clone();
        }
        new
    }

    /// Returns an event's series membership after the change. A changed field becomes shared again
    /// if the event already has the new value.
    fn place(&self, member: &Membership, occurrence: i64, new: &Shared) -> Membership {
        let is_own = member.event == self.own;
        let others = self.after.differing(new);
        let agrees = |field: &str| is_own || (field != DATES && !others.contains(&field));
        let kept =
            |field: &&String| !(self.differing.contains(&field.as_str()) && agrees(field.as_str()));
        let changed = member.changed.iter().filter(kept).cloned().collect();
        Membership { event: member.event, series: self.series.id, occurrence, changed }
    }

    /// Moves the events to the occurrences of the new recurrence. Events left without an occurrence
    /// are trashed.
    pub fn move_events(
        &self,
        db: &mut Db,
        mut members: Vec<Membership>,
        shift: &Shift,
        now: i64,
    ) -> Result<(), Error> {
        if shift.is_later() {
            // Each event takes the slug of the next one, so start from the end.
            members.reverse();
        }
        let was = Series { plan: shift.before().clone(), ..self.series.clone() };
        let is_named_by_file = is_named_by_file(db, &was)?;
        let is_renaming = shift.is_moving() && !is_named_by_file;
        let former = if is_renaming { former_events(db, &was, &members)? } else { Vec::new() };
        // Feeds identify events by their external ids, so each event continues from the last
        // revision under its new id.
        let revisions = external_ids::revisions(db, &was.uid)?;
        let places = self.places(db, &members, shift)?;
        let moved: Vec<i64> = members.iter().map(|one| shift.moved(one.occurrence)).collect();
        let planned = occurrences_among(&self.series.plan, &moved);
        series_events::clear(db, self.series.id)?;
        if is_renaming {
            for member in members.iter().chain(&former) {
                external_ids::forget(db, member.event)?;
            }
        }
        let mut dropped = Vec::new();
        for member in members {
            let occurrence = shift.moved(member.occurrence);
            let old = require(db, member.event)?;
            let mut new = self.with_fields(&member, &old);
            let (plan, was_trashed) = (&self.series.plan, old.event.status.is_trashed());
            let is_excluded = plan.exdates.contains(&plan.key(occurrence));
            // Events beyond the horizon move too.
            let zone = &self.after.event.schedule.zone;
            let schedule = span_in(zone, &self.series, occurrence);
            let is_first = places.get(&occurrence) == Some(&member.event);
            let Some(schedule) = schedule.filter(|_| is_first && planned.contains(&occurrence))
            else {
                if !was_trashed {
                    event_writes::trash(db, &old.event, now)?;
                }
                dropped.push(member);
                continue;
            };
            if was_trashed && !is_excluded {
                event_writes::untrash(db, &mut new.event)?;
            }
            let has_own_dates = member.changed.iter().any(|field| field == DATES);
            let is_moved = member.event == self.own && self.differing.contains(&DATES);
            if !has_own_dates || is_moved {
                new.event.schedule = schedule.clone();
            }
            if !is_named_by_file {
                let name = self.series.external_id(occurrence);
                // An event that an earlier rule removed might still have this external id.
                if let Some(other) = events::find_by_external_id(db, &name)?
                    && other.id != member.event
                {
                    // If we just removed the other event's id, feeds could cancel the series along
                    // with it.
                    let own = sql::random_id(db)?;
                    external_ids::rename(db, other.id, &own)?;
                }
                let least = revisions.get(&name).copied().unwrap_or_default();
                new.event.sequence = new.event.sequence.max(least);
                new.event.external_id = Some(name);
            }
            let mut place = self.place(&member, occurrence, &new);
            if new.event.schedule == schedule {
                place.changed.retain(|field| field != DATES);
            }
            let wanted = self.series.slug_of(occurrence);
            let suffix = if new.event.status.is_trashed() { TRASHED } else { "" };
            let own = old.event.slug.strip_suffix(TRASHED).unwrap_or(&old.event.slug);
            if own == was.slug_of(member.occurrence) && own != wanted {
                new.event.slug = slugs::free(db, "events", &wanted, suffix, member.event)?;
            }
            rewrite(db, &old, new, now)?;
            series_events::join(db, &place)?;
            if is_excluded && !was_trashed {
                // The event stays in the series, so feeds exclude its occurrence instead of listing
                // it as cancelled.
                let excluded = require(db, member.event)?.event;
                event_writes::trash(db, &excluded, now)?;
            }
        }
        for member in dropped.iter().chain(&former).filter(|_| is_renaming) {
            self.move_in_trash(db, (&was, &revisions), (member, shift), now)?;
        }
        Ok(())
    }

    /// Assigns events to the occurrences of the new recurrence. Several events can compete for the
    /// same occurrence, e.g. if two events on one day become all-day events. In that case, the
    /// event in the request wins, or else the first event that isn't trashed.
    fn places(
        &self,
        db: &mut Db,
        members: &[Membership],
        shift: &Shift,
    ) -> Result<HashMap<i64, i64>, Error> {
        let all = series_events::dated(db, self.series.id)?.into_iter();
        let trashed: HashSet<i64> = all.filter(|one| one.is_trashed()).map(|one| one.id).collect();
        let mut places: HashMap<i64, i64> = HashMap::new();
        for member in members {
            let place = places.entry(shift.moved(member.occurrence)).or_insert(member.event);
            let is_better = trashed.contains(place) && !trashed.contains(&member.event);
            if is_better || member.event == self.own {
                *place = member.event;
            }
        }
        Ok(places)
    }

    /// Moves a trashed event that has left the series to its new date, so that a later rule can
    /// find it there.
    fn move_in_trash(
        &self,
        db: &mut Db,
        (was, revisions): (&Series, &HashMap<String, i64>),
        (member, shift): (&Membership, &Shift),
        now: i64,
    ) -> Result<(), Error> {
        let (event, occurrence) = (member.event, member.occurrence);
        let old = require(db, event)?;
        let (mut new, moment) = (old.clone(), shift.moved(occurrence));
        let name = self.series.external_id(moment);
        new.event.external_id = match events::find_by_external_id(db, &name)? {
            Some(_) => Some(sql::random_id(db)?),
            None => {
                let least = revisions.get(&name).copied().unwrap_or_default();
                new.event.sequence = new.event.sequence.max(least);
                Some(name)
            }
        };
        let times = |one: &Schedule| (one.all_day, one.start_utc, one.end_utc);
        let planned = span_in(&old.event.schedule.zone, was, occurrence);
        if planned.is_some_and(|planned| times(&planned) == times(&old.event.schedule))
            && let Some(schedule) = span_in(&self.after.event.schedule.zone, &self.series, moment)
        {
            new.event.schedule = schedule;
        }
        let slug = old.event.slug.strip_suffix(TRASHED).unwrap_or(&old.event.slug);
        let wanted = self.series.slug_of(moment);
        if slug == was.slug_of(occurrence) && slug != wanted {
            new.event.slug = slugs::free(db, "events", &wanted, TRASHED, event)?;
        }
        rewrite(db, &old, new, now)
    }
}

/// Returns the trashed events that left the series because an earlier rule no longer included them.
fn former_events(
    db: &mut Db,
    series: &Series,
    members: &[Membership],
) -> Result<Vec<Membership>, Error> {
    let mut former = Vec::new();
    for (event, name, _) in external_ids::of_uid(db, &series.uid)? {
        let occurrence =
            Entry::moment_of(&series.uid, &name).and_then(|key| series.plan.moment(key));
        let is_other = !members.iter().any(|member| member.event == event);
        if let Some(occurrence) = occurrence.filter(|_| is_other)
            && stored::of_event(db, event)?.is_none()
            && events::find(db, event)?.is_some_and(|event| event.status.is_trashed())
        {
            former.push(Membership { event, series: series.id, occurrence, changed: Vec::new() });
        }
    }
    Ok(former)
}

/// Stores an event if it has changed.
fn rewrite(db: &mut Db, old: &Shared, mut new: Shared, now: i64) -> Result<(), Error> {
    if *old == new {
        return Ok(());
    }
    // For events in the trash, this is the deletion date, so keep it.
    if !new.event.status.is_trashed() {
        new.event.modified_utc = now;
    }
    let is_revised = old.event.schedule != new.event.schedule
        || old.status != new.status
        || old.event.status.is_trashed() != new.event.status.is_trashed();
    new.event.sequence += i64::from(is_revised);
    remember(db, "events", old.event.id, (&old.event.slug, &old.event.status), &new.event.slug)?;
    if old.event.slug != new.event.slug {
        slugs::forget_former(db, "events", &new.event.slug)?;
    }
    events::update(db, (&old.event, &old.links), (&new.event, &new.links))?;
    if old.status != new.status {
        event_statuses::replace(db, new.event.id, &new.status)?;
    }
    let changed = Parts::changed(
        (&old.event, &old.links, &old.status),
        (&new.event, &new.links, &new.status),
    );
    if !changed.is_empty() {
        subscribed_events::note_changed(db, new.event.id, &changed)?;
    }
    Ok(())
}
