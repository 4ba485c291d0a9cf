//! Changes several events in a series at once.

use std::sync::Arc;

use database::{DatabaseError, Db};

use super::context::RequestContext;
use super::interrupt::Interrupt;
use super::series::{self, NewEvents, make_missing};
use super::series_changes::SeriesChange;
use super::series_creation::{
    begin, exclude_forbidden, expanded, listed_uid, name_of, new_series, require, slug_as_date,
};
use super::series_dates::span_of;
use super::series_parts::split;
use super::series_plans::{invalid, is_recurrence_of, plan_of};
use super::series_removal::{reached, remove};
use super::series_shifts::Shift;
use super::subscribed_series::{FileNames, is_named_by_file, moving_along, note_new};
use super::{event_writes, series_names};
use crate::error::Error;
use crate::model::change::EventChange;
use crate::model::event::Event;
use crate::model::included::InSeries;
use crate::model::notice::series_body;
use crate::model::role::User;
use crate::model::schedule::Schedule;
use crate::model::series::{Membership, Reach, Recurrence, Series};
use crate::model::series_fields::{DATES, STATUS};
use crate::model::status::Status;
use crate::model::subscription_parts::{Part, Parts};
use crate::store::series as stored;
use crate::store::{events, external_ids, series_events, sql, subscribed_events, webhooks};

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
        let length = |one: &Schedule| one.end_local - one.start_local;
        let is_along =
            change.schedule.end.is_none() && length(&event.schedule) == length(&old.schedule);
        let given = match is_along {
            true => change.schedule.as_moved(&event.schedule),
            false => change.schedule.as_given(&event.schedule),
        };
        let plan = plan_of(&given, recurrence)?;
        let name = series_names::free_name(context.db, &name_of(&event), (0, event.id))?;
        let mut series = new_series(context, &event, (plan, name))?;
        // Feeds have listed this event under the UID that the series inherits.
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

/// Returns whether the recurrence differs from the current one. If it doesn't, it isn't validated,
/// because rules from files can include features that writes don't support.
fn is_other(place: &InSeries, recurrence: &Recurrence) -> Result<bool, Error> {
    if is_recurrence_of(&place.series.plan, recurrence) {
        return Ok(false);
    }
    let (series, occurrence) = (&place.series, place.membership.occurrence);
    let dates = span_of(series, occurrence).ok_or(Error::EventNotFound)?;
    Ok(Shift::of(series, occurrence, (&dates, &dates), Some(recurrence))?.is_some())
}

/// Changes a single event in a series. Later changes to all events won't overwrite the fields
/// changed here.
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
    let keeps_length = change.schedule.end.is_none();
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
        // The old dates might not match the new rule.
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
    let given = match keeps_length {
        true => change.schedule.as_moved(&after.event.schedule),
        false => change.schedule.as_given(&after.event.schedule),
    };
    let dates = (&old_dates, &given);
    let recurrence = change.recurrence.as_ref().filter(|_| is_planned);
    let shift = match is_moved || is_planned {
        true => Shift::of(&place.series, place.membership.occurrence, dates, recurrence)?,
        false => None,
    };
    let mut series = Series::clone(&place.series);
    let work = SeriesChange {
        series: series.clone(),
        own: event.id,
        after: &after,
        differing: &differing,
    };
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
            let work = SeriesChange { series: series.clone(), ..work };
            work.move_events(db, members, &shift, seconds)?;
            exclude_forbidden(db, user, &mut series, &mut expansion)?;
            if let Some(template) = series::template(db, series.id)? {
                // In the later part of a split series, new events get external ids with that part's
                // UID.
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

/// Ends a series before this event, and starts a new one with this event and all later ones.
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
        series_events::join(db, &Membership { series: new.id, ..member.clone() })?;
        if !is_named_by_file {
            external_ids::rename(db, member.event, &new.external_id(member.occurrence))?;
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

/// Returns an error if the series gets its rule from a subscription's file, because the next run
/// would mix the occurrences of both rules.
fn refuse_other_rule(db: &mut Db, series: &Series) -> Result<(), Error> {
    let Some(subscription) = subscribed_events::of_series(db, series.id)? else { return Ok(()) };
    let text = format!(
        "must not change, because subscription {subscription} takes the rule of this series from \
         its file"
    );
    Err(invalid("recurrence", &text))
}

/// Replaces a request's queued messages with one message about the series that was ended and
/// another about the series that starts with this event.
fn announce_split(
    db: &mut Db,
    messages: i64,
    ended: i64,
    (new, event): (i64, i64),
    now: i64,
) -> Result<(), DatabaseError> {
    let left = series_events::members(db, ended)?.pop().map_or(event, |member| member.event);
    let bodies = [
        series_body("series.changed", ended, left, now),
        series_body("series.created", new, event, now),
    ];
    webhooks::replace_after(db, messages, bodies, now)
}
