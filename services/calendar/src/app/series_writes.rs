//! Changes several events in a series at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use database::Db;

use super::context::RequestContext;
use super::interrupt::Interrupt;
use super::series::{self, NewEvents, make_missing};
use super::series_creation::{
    begin, exclude_forbidden, expanded, listed_uid, name_of, new_series, require, slug_as_date,
};
use super::series_dates::{span_in, span_of};
use super::series_notices::announce_split;
use super::series_plans::{Shift, invalid, occurrences_among, plan_of, split};
use super::series_removal::{reached, remove};
use super::slugs::remember;
use super::subscribed_rules::refuse_other_rule;
use super::subscribed_series::{FileNames, is_named_by_file, moving_along, note_new};
use super::{event_writes, series_names};
use crate::error::Error;
use crate::ical::Entry;
use crate::model::change::EventChange;
use crate::model::event::Event;
use crate::model::included::InSeries;
use crate::model::notice::series_body;
use crate::model::role::User;
use crate::model::schedule::Schedule;
use crate::model::series::{DATES, Membership, Reach, Recurrence, STATUS, Series, Shared};
use crate::model::slug::TRASHED;
use crate::model::status::Status;
use crate::model::subscription::{Part, Parts};
use crate::store::series as stored;
use crate::store::{event_statuses, events, slugs, sql, subscribed_events, webhooks};

/// Changes an event and, if requested, other events in its series.
pub fn update(
    context: &mut RequestContext<'_>,
    user: &User,
    old: &Event,
    change: &EventChange,
) -> Result<Event, Interrupt> {
    let Some(place) = stored::of_event(context.db, old.id)? else {
        let write = context.write_context(user);
        let Some(recurrence) = &change.recurrence else {
            if change.reach != Reach::This {
                let text = "must be this, because the event does not belong to a series";
                return Err(invalid("scope", text).into());
            }
            return event_writes::update(context.db, old, change, write);
        };
        let messages = webhooks::last_message(context.db)?;
        let event = event_writes::update(context.db, old, change, write)?;
        let plan = plan_of(&change.schedule.as_given(&event.schedule), recurrence)?;
        let name = series_names::free_name(context.db, &name_of(&event), (0, event.id))?;
        let mut series = new_series(context, &event, (plan, name))?;
        // Feeds have listed this event under the UID that the series now gets.
        series.uid = listed_uid(context, &event)?.unwrap_or(series.uid);
        series.sequence = event.sequence + 1;
        let own_slug = slug_as_date(context.db, &series, change, &event)?;
        return begin(context, &event, series, own_slug, messages);
    };
    if change.has_null_recurrence {
        let text = "must not be null, because a series keeps its rule; end it with until or count";
        return Err(invalid("recurrence", text).into());
    }
    match change.reach {
        Reach::This => {
            if let Some(recurrence) = &change.recurrence
                && is_other(&place, recurrence)?
            {
                let text = "must be following or all, because a recurrence belongs to all events";
                return Err(invalid("scope", text).into());
            }
            update_one(context, user, &place, change)
        }
        reach => update_several(context, user, (place, reach), change),
    }
}

/// Returns whether the recurrence differs from the current one.
fn is_other(place: &InSeries, recurrence: &Recurrence) -> Result<bool, Error> {
    let (series, occurrence) = (&place.series, place.membership.occurrence);
    let dates = span_of(series, occurrence).ok_or(Error::EventNotFound)?;
    Ok(Shift::of(series, occurrence, (&dates, &dates), Some(recurrence))?.is_some())
}

/// Changes a single event in a series. Fields that this write changes keep their values when all
/// events are changed later.
fn update_one(
    context: &mut RequestContext<'_>,
    user: &User,
    place: &InSeries,
    change: &EventChange,
) -> Result<Event, Interrupt> {
    let before = require(context.db, place.membership.event)?;
    let write = context.write_context(user);
    let event = event_writes::update(context.db, &before.event, change, write)?;
    let after = require(context.db, event.id)?;
    let mut differing = before.differing(&after);
    if before.event.status.is_trashed() || after.event.status.is_trashed() {
        differing.retain(|field| *field != STATUS);
    }
    if !differing.is_empty() {
        series::mark(context.db, place, (&after, &differing))?;
    }
    Ok(event)
}

/// Changes several events in a series.
fn update_several(
    context: &mut RequestContext<'_>,
    user: &User,
    (mut place, reach): (InSeries, Reach),
    change: &EventChange,
) -> Result<Event, Interrupt> {
    if change.post.status.as_ref().is_some_and(Status::is_trashed) {
        let now = context.now.as_second();
        remove(context.db, user, (&place, reach, false), now)?;
        return Ok(require(context.db, place.membership.event)?.event);
    }
    let members = reached(context.db, user, (&place, reach))?;
    let messages = webhooks::last_message(context.db)?;
    let before = require(context.db, place.membership.event)?;
    let schedule = change.schedule.keeping_length_of(&before.event.schedule);
    let mut change = EventChange { schedule, ..change.clone() };
    let name = series_names::taken_from(&mut change, (&before.event, &place.series))?;
    let (change, write) = (&change, context.write_context(user));
    let event = event_writes::update(context.db, &before.event, change, write)?;
    let (db, site, now) = (&mut *context.db, context.site, context.now);
    let seconds = now.as_second();
    // A restored event is no longer excluded.
    place = stored::of_event(db, event.id)?.unwrap_or(place);
    let after = require(db, event.id)?;
    let mut differing = before.differing(&after);
    if before.event.status.is_trashed() {
        differing.retain(|field| *field != STATUS);
    }
    let is_moved = differing.contains(&DATES);
    let is_planned = match &change.recurrence {
        // The old dates may not match the new rule.
        Some(recurrence) if is_moved => is_other(&place, recurrence).unwrap_or(true),
        Some(recurrence) => is_other(&place, recurrence)?,
        None => false,
    };
    if is_planned {
        refuse_other_rule(db, &place.series)?;
    } else if differing.is_empty() && name.is_none() {
        return Ok(event);
    }
    let members = match is_moved {
        true => moving_along(db, &place, &before.event.schedule, members)?,
        false => members,
    };
    let old_dates = match is_moved {
        true => before.event.schedule.clone(),
        false => after.event.schedule.clone(),
    };
    let mut ended = None;
    if reach == Reach::Following && place.membership.occurrence > place.series.plan.first() {
        ended = Some(place.series.id);
        place.series = Arc::new(split_off(db, &place, &members)?);
        place.membership.series = place.series.id;
    }
    if let Some(name) = &name {
        let renamed = series_names::rename(db, &place.series, (&members, name), seconds)?;
        place.series = Arc::new(renamed);
    }
    let given = change.schedule.as_given(&after.event.schedule);
    let dates = (&old_dates, &given);
    let recurrence = change.recurrence.as_ref().filter(|_| is_planned);
    let shift = match is_moved || is_planned {
        true => Shift::of(&place.series, place.membership.occurrence, dates, recurrence)?,
        false => None,
    };
    let mut series = Series::clone(&place.series);
    let work = Work { series: series.clone(), own: event.id, after: &after, differing: &differing };
    match shift {
        None => {
            if differing.contains(&"event_status") {
                series.sequence = stored::sequence(db, &series)? + 1;
                stored::update(db, &series)?;
            }
            work.copy_fields(db, &members, seconds)?;
        }
        Some(shift) => {
            series.plan = shift.plan.clone();
            series.sequence = stored::sequence(db, &series)? + 1;
            let mut expansion = expanded(site, &series, now)?;
            series.made_until = expansion.repetition.made_until;
            series.due_utc = expansion.repetition.due_utc;
            stored::update(db, &series)?;
            let work = Work { series: series.clone(), ..work };
            work.move_events(db, members, &shift, seconds)?;
            exclude_forbidden(db, user, &mut series, &mut expansion)?;
            if let Some(template) = series::template(db, series.id)? {
                // The new events of the later part of a split series get their external ids from
                // that part.
                let names = FileNames::of(db, &series)?.filter(|it| it.uid() == series.uid);
                let new_events = NewEvents { template: &template, moved: None, names };
                make_missing(db, &series, &new_events, &expansion, (i64::MIN, seconds))?;
                note_new(db, &series, (&Parts::of([Part::Dates]), false))?;
            }
        }
    }
    match ended {
        Some(ended) => announce_split(db, messages, ended, (series.id, event.id), seconds)?,
        None => {
            let body = series_body("series.changed", series.id, event.id, seconds);
            webhooks::combine_after(db, messages, &body, seconds)?;
        }
    }
    Ok(require(db, event.id)?.event)
}

/// Ends a series before this event, and starts a new one with this event and those after it.
fn split_off(db: &mut Db, place: &InSeries, members: &[Membership]) -> Result<Series, Error> {
    let moment = place.membership.occurrence;
    let (before, after) = split(&place.series.plan, moment)?;
    let mut ended = Series::clone(&place.series);
    (ended.plan, ended.due_utc) = (before, None);
    ended.sequence = stored::sequence(db, &ended)? + 1;
    let uid = sql::random_id(db)?;
    let new = Series { id: 0, uid, plan: after, sequence: 0, ..Series::clone(&place.series) };
    let is_named_by_file = is_named_by_file(db, &place.series)?;
    let new = stored::insert_part(db, &new, ended.id)?;
    stored::update(db, &ended)?;
    for member in members {
        stored::join(db, &Membership { series: new.id, ..member.clone() })?;
        if !is_named_by_file {
            events::rename(db, member.event, &new.external_id(member.occurrence))?;
        }
    }
    if let Some(first) = members.iter().find(|member| member.occurrence == moment) {
        for member in members {
            let parent = Some(first.event).filter(|id| *id != member.event);
            events::set_parent(db, member.event, parent)?;
        }
    }
    Ok(new)
}

/// A change to several events in a series.
struct Work<'a> {
    series: Series,
    /// The event in the request.
    own: i64,
    /// That event after the change.
    after: &'a Shared,
    /// The fields that changed.
    differing: &'a [&'static str],
}

impl Work<'_> {
    /// Copies the changed fields to the other events.
    fn copy_fields(&self, db: &mut Db, members: &[Membership], now: i64) -> Result<(), Error> {
        for member in members {
            let old = require(db, member.event)?;
            let new = self.with_fields(member, &old);
            let place = self.place(member, member.occurrence, &new);
            rewrite(db, &old, new, now)?;
            stored::join(db, &place)?;
        }
        Ok(())
    }

    /// Applies the changed fields to an event, except for fields that were changed for this event
    /// only. Trashed events are changed too, because they may be restored. Feeds show them as
    /// cancelled until then, unless their former status is not public.
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

    /// Returns an event's series membership after the change. A changed field is shared again if
    /// the event has the new value too.
    fn place(&self, member: &Membership, occurrence: i64, new: &Shared) -> Membership {
        let is_own = member.event == self.own;
        let others = self.after.differing(new);
        let agrees = |field: &str| is_own || (field != DATES && !others.contains(&field));
        let kept =
            |field: &&String| !(self.differing.contains(&field.as_str()) && agrees(field.as_str()));
        let changed = member.changed.iter().filter(kept).cloned().collect();
        Membership { event: member.event, series: self.series.id, occurrence, changed }
    }

    /// Moves the events to the occurrences of the new plan. Events that no longer have an
    /// occurrence are trashed.
    fn move_events(
        &self,
        db: &mut Db,
        mut members: Vec<Membership>,
        shift: &Shift,
        now: i64,
    ) -> Result<(), Error> {
        if shift.is_later() {
            // Each event takes the slug of the next one, so start at the end.
            members.reverse();
        }
        let was = Series { plan: shift.before().clone(), ..self.series.clone() };
        let is_named_by_file = is_named_by_file(db, &was)?;
        let is_renaming = shift.is_moving() && !is_named_by_file;
        let former = if is_renaming { former_events(db, &was, &members)? } else { Vec::new() };
        // Feeds identify events by their external ids, so each event continues the revisions of its
        // new id.
        let revisions = events::revisions(db, &was.uid)?;
        let places = self.places(db, &members, shift)?;
        let moved: Vec<i64> = members.iter().map(|one| shift.moved(one.occurrence)).collect();
        let planned = occurrences_among(&self.series.plan, &moved);
        stored::clear(db, self.series.id)?;
        if is_renaming {
            for member in members.iter().chain(&former) {
                events::forget_external_id(db, member.event)?;
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
            if !has_own_dates || member.event == self.own {
                new.event.schedule = schedule.clone();
            }
            if !is_named_by_file {
                let name = self.series.external_id(occurrence);
                // A date that an earlier rule removed may still have this external id.
                if let Some(other) = events::find_by_external_id(db, &name)?
                    && other.id != member.event
                {
                    // Without an id for the other event, feeds could cancel the series along with
                    // it.
                    let own = sql::random_id(db)?;
                    events::rename(db, other.id, &own)?;
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
            stored::join(db, &place)?;
            if is_excluded && !was_trashed {
                // The event stays in the series, so feeds exclude the date instead of cancelling an
                // event.
                let excluded = require(db, member.event)?.event;
                event_writes::trash(db, &excluded, now)?;
            }
        }
        for member in dropped.iter().chain(&former).filter(|_| is_renaming) {
            self.move_in_trash(db, (&was, &revisions), (member, shift), now)?;
        }
        Ok(())
    }

    /// Returns the events that get the occurrences of the new plan. If several events would get the
    /// same occurrence, such as two on a day that becomes a whole day, returns the one in the
    /// request, or else the first that is not trashed.
    fn places(
        &self,
        db: &mut Db,
        members: &[Membership],
        shift: &Shift,
    ) -> Result<HashMap<i64, i64>, Error> {
        let all = stored::dated(db, self.series.id)?.into_iter();
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

    /// Moves a trashed event that has left the series to the corresponding new date, so that a
    /// later rule finds it there.
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

/// Returns the trashed events that have left a series because an earlier rule lacked their dates.
fn former_events(
    db: &mut Db,
    of: &Series,
    members: &[Membership],
) -> Result<Vec<Membership>, Error> {
    let mut former = Vec::new();
    for (event, name, _) in events::of_uid(db, &of.uid)? {
        let occurrence = Entry::moment_of(&of.uid, &name).and_then(|key| of.plan.moment(key));
        let is_other = !members.iter().any(|member| member.event == event);
        if let Some(occurrence) = occurrence.filter(|_| is_other)
            && stored::of_event(db, event)?.is_none()
            && events::find(db, event)?.is_some_and(|event| event.status.is_trashed())
        {
            former.push(Membership { event, series: of.id, occurrence, changed: Vec::new() });
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
