//! Finds the existing event that a load file's line identifies. This includes events in the trash,
//! so that a repeated load doesn't bring back events that users have removed.

use database::{DatabaseError, Db};

use crate::model::event::Event;
use crate::model::schedule::{Schedule, wall_from_seconds};
use crate::model::series_ids::occurrence_of;
use crate::model::slug::{self, SEPARATOR, TRASHED};
use crate::store::{events, series, series_events, series_origins};

/// Finds an event by slug. If the line has a recurrence, `slug` can also be the series slug,
/// because the first event's own slug has a date appended.
pub fn find_by_slug(
    db: &mut Db,
    slug: &str,
    repeats: bool,
) -> Result<Option<Event>, DatabaseError> {
    if let Some(found) = events::find_by_slug(db, slug)? {
        return Ok(Some(found));
    }
    if repeats && let Some(first) = series_events::events_of_slug(db, slug)?.first() {
        return events::find(db, *first);
    }
    events::find_by_slug(db, &slug::with_suffix(slug, TRASHED))
}

/// Finds the first event of a series that was removed as a whole, given the series slug and the
/// start time.
pub fn find_former_first(
    db: &mut Db,
    slug: &str,
    schedule: &Schedule,
) -> Result<Option<Event>, DatabaseError> {
    let start = wall_from_seconds(schedule.start_local);
    for form in ["%Y-%m-%d", "%Y-%m-%d-%H%M"] {
        let dated = format!("{slug}{SEPARATOR}{}", start.strftime(form));
        if let Some(found) = find_by_slug(db, &dated, false)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Finds an event by external id. The event might have a longer id here than in the file: if the
/// first occurrences of its series were removed before the export, the series here takes its UID
/// from the first remaining occurrence. It has a shorter id here if the file's calendar loaded such
/// a series from this one.
pub fn find_by_external_id(db: &mut Db, id: &str) -> Result<Option<Event>, DatabaseError> {
    if let Some(found) = events::find_by_external_id(db, id)? {
        return Ok(Some(found));
    }
    let Some((uid, key)) = occurrence_of(id) else { return Ok(None) };
    for longer in series::continued_uids(db, uid)? {
        if let Some(found) = events::find_by_external_id(db, &format!("{longer}#{key}"))? {
            return Ok(Some(found));
        }
    }
    let mut shorter = uid;
    while let Some((rest, _)) = occurrence_of(shorter) {
        if let Some(found) = events::find_by_external_id(db, &format!("{rest}#{key}"))? {
            return Ok(Some(found));
        }
        shorter = rest;
    }
    Ok(None)
}

/// Finds an event whose external id was changed by an earlier line: if the line with the recurrence
/// has a new start or rule, the events in the series are renamed. The event is recognised by its
/// scheduled start or else by its slug.
pub fn find_renamed(
    db: &mut Db,
    (id, slug): (&str, Option<&str>),
    schedule: Option<&Schedule>,
) -> Result<Option<Event>, DatabaseError> {
    let Some((uid, _)) = occurrence_of(id) else { return Ok(None) };
    let mut parts = series_origins::parts(db, uid)?;
    for longer in series::continued_uids(db, uid)? {
        parts.extend(series_origins::parts(db, &longer)?);
    }
    for part in &parts {
        let Some(found) = series::find(db, *part)? else { continue };
        let start = schedule.map(|schedule| match found.plan.all_day {
            true => schedule.start_local,
            false => schedule.start_utc,
        });
        let members = series_events::members(db, *part)?;
        if let Some(member) = members.iter().find(|member| Some(member.occurrence) == start) {
            return events::find(db, member.event);
        }
    }
    let Some(slug) = slug else { return Ok(None) };
    let Some(event) = events::find_by_slug(db, &slug::lookup_form(slug))? else { return Ok(None) };
    let place = series::of_event(db, event.id)?;
    Ok(place.is_some_and(|place| parts.contains(&place.series.id)).then_some(event))
}
