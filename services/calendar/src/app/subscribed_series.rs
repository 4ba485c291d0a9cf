//! Series whose events come from a file, and the effects of a user's change of several events.

use database::{DatabaseError, Db};

use crate::model::included::InSeries;
use crate::model::schedule::wall_seconds;
use crate::model::series::{DATES, Membership, Series};
use crate::model::subscription::{Part, Parts};
use crate::store::{events, imported, series, sql, subscribed_events};

/// Returns whether the external ids of a series' events come from a file. The next import needs
/// them to recognise the events, wherever they were moved.
pub fn is_named_by_file(db: &mut Db, of: &Series) -> Result<bool, DatabaseError> {
    if imported::revision(db, &of.uid)?.is_some() {
        return Ok(true);
    }
    let Some(member) = series::members(db, of.id)?.into_iter().next() else { return Ok(false) };
    if subscribed_events::of_event(db, member.event)?.is_some() {
        return Ok(true);
    }
    // A series that was split has a UID of its own.
    let name = events::find(db, member.event)?.and_then(|event| event.external_id);
    Ok(name.is_some_and(|name| !name.starts_with(&of.uid)))
}

/// Returns the external id for a new event of a series, or `None` if a file gave it to an event that
/// was moved.
pub fn name_for(
    db: &mut Db,
    of: &Series,
    occurrence: i64,
) -> Result<Option<String>, DatabaseError> {
    let name = of.external_id(occurrence);
    let Some(other) = events::find_by_external_id(db, &name)? else { return Ok(Some(name)) };
    let place = series::of_event(db, other.id)?;
    Ok(Some(name).filter(|_| place.is_none_or(|place| place.series.id != of.id)))
}

/// When a user moves the events of a series again, those that are as far from their dates in the
/// file as the event in the request move along. Returns the memberships with this in mind.
pub fn moving_along(
    db: &mut Db,
    place: &InSeries,
    start_local: i64,
    mut members: Vec<Membership>,
) -> Result<Vec<Membership>, DatabaseError> {
    let has_own_dates = |member: &Membership| member.changed.iter().any(|field| field == DATES);
    if !has_own_dates(&place.membership) || !is_named_by_file(db, &place.series)? {
        return Ok(members);
    }
    let plan = &place.series.plan;
    let planned = |member: &Membership| wall_seconds(plan.wall(member.occurrence));
    let distance = start_local - planned(&place.membership);
    for member in members.iter_mut().filter(|member| has_own_dates(member)) {
        if let Some(event) = events::find(db, member.event)?
            && event.schedule.start_local - planned(member) == distance
        {
            member.changed.retain(|field| field != DATES);
        }
    }
    Ok(members)
}

/// Adds the new events of a subscription's series to the subscription. Events that a user's change
/// created are kept, even though they are missing from the file.
pub fn note_new(db: &mut Db, of: &Series, by_user: bool) -> Result<(), DatabaseError> {
    let Some(subscription) = subscribed_events::of_series(db, of.id)? else { return Ok(()) };
    let new = subscribed_events::unknown_of_series(db, of.id)?;
    let shared = match by_user {
        true => Parts::default(),
        false => shared_parts(db, of, new.len())?,
    };
    for event in events::by_ids(db, &new)? {
        let is_named = event.external_id.is_some();
        let name = match event.external_id {
            Some(name) => name,
            // A file gave this name to an event that was moved.
            None => {
                let own = sql::random_id(db)?;
                events::rename(db, event.id, &own)?;
                own
            }
        };
        subscribed_events::note(db, subscription, &name, event.id)?;
        // Files never contain the ids that we choose.
        if by_user || !is_named {
            subscribed_events::note_changed(db, event.id, &Parts::of([Part::Dates]))?;
        }
        subscribed_events::note_changed(db, event.id, &shared)?;
    }
    Ok(())
}

/// Returns the parts, other than dates, that users changed for at least half of a series' events.
/// `new` is the number of events that are not in the subscription yet.
fn shared_parts(db: &mut Db, of: &Series, new: usize) -> Result<Parts, DatabaseError> {
    let held = subscribed_events::changed_in_series(db, of.id)?;
    if held.is_empty() {
        return Ok(Parts::default());
    }
    let known = series::members(db, of.id)?.len().saturating_sub(new);
    let is_shared = |part: &Part| {
        let holding = held.values().filter(|parts| parts.has(*part)).count();
        *part != Part::Dates && holding * 2 >= known
    };
    Ok(Parts::of(Part::ALL.into_iter().filter(is_shared)))
}
