//! Recurrence rules of imported series.

use std::collections::HashSet;

use database::Db;

use super::series;
use crate::error::Error;
use crate::ical::{Entry, Occurrence, Repetition};
use crate::model::included::InSeries;
use crate::model::schedule::Schedule;
use crate::model::series::{DATES, Membership, Plan, Series};
use crate::model::slug;
use crate::state::State;
use crate::store::series as stored;
use crate::store::slugs;

/// Stores an entry's recurrence rule. Returns the series id if its events belong to a stored
/// series.
///
/// Feeds we wrote ourselves contain less than the database, and they may list occurrences as single
/// events without a rule.
pub fn of_entry(
    state: &State,
    db: &mut Db,
    entry: &Entry,
    (is_author, is_partial): (bool, bool),
) -> Result<Option<i64>, Error> {
    if entry.has_unknown_occurrences
        || (is_author && stored::find_by_uid(db, &entry.uid)?.is_some())
    {
        return Ok(None);
    }
    match (&entry.replaces, entry.is_series) {
        (Some(_), _) => Ok(stored::find_by_uid(db, &entry.uid)?.map(|known| known.id)),
        (None, true) => keep(db, entry, state.site.settings.imported_series().most),
        (None, false) if is_partial => Ok(None),
        (None, false) => forget(db, entry).map(|()| None),
    }
}

/// Stores the rule of a repeating entry and returns the series id. If one rule can't describe the
/// entry, this removes the series stored earlier.
fn keep(db: &mut Db, entry: &Entry, most: usize) -> Result<Option<i64>, Error> {
    let known = stored::find_by_uid(db, &entry.uid)?;
    let Some(Repetition { plan, made_until, due_utc, .. }) = &entry.repetition else {
        if let Some(known) = known {
            stored::remove(db, known.id)?;
        }
        return Ok(None);
    };
    let Some(known) = known else {
        let title = entry.occurrences.first().map(|one| slug::name_of_series(&one.details.title));
        let name = title.filter(|name| !name.is_empty()).unwrap_or_else(|| "event".to_owned());
        let new = Series {
            id: 0,
            uid: entry.uid.clone(),
            slug: slugs::free(db, "series", &name, "", 0)?,
            plan: plan.clone(),
            most: i64::try_from(most).unwrap_or(i64::MAX),
            made_until: *made_until,
            due_utc: *due_utc,
            sequence: 0,
        };
        return Ok(Some(stored::insert(db, &new)?.id));
    };
    let plan = Plan { exdates: with_trashed(db, &known, plan)?, ..plan.clone() };
    let sequence = known.sequence + i64::from(plan != known.plan);
    let is_planned = plan == known.plan && known.made_until >= *made_until;
    if !is_planned {
        let (made_until, due_utc) = (*made_until, *due_utc);
        stored::update(db, &Series { plan, made_until, due_utc, sequence, ..known.clone() })?;
    }
    Ok(Some(known.id))
}

/// Returns the file's excluded dates, plus the dates of trashed events.
fn with_trashed(db: &mut Db, known: &Series, plan: &Plan) -> Result<Vec<String>, Error> {
    let mut excluded = plan.exdates.clone();
    if known.plan.all_day == plan.all_day {
        let trashed = stored::dated(db, known.id)?.into_iter().filter(stored::Dated::is_trashed);
        excluded.extend(trashed.map(|one| plan.key(one.occurrence)));
    }
    excluded.sort_unstable();
    excluded.dedup();
    Ok(excluded)
}

/// Removes the stored rule of an entry that does not repeat.
fn forget(db: &mut Db, entry: &Entry) -> Result<(), Error> {
    if let Some(known) = stored::find_by_uid(db, &entry.uid)? {
        stored::remove(db, known.id)?;
    }
    Ok(())
}

/// Adds an imported event to its series.
pub fn join(
    db: &mut Db,
    (series, entry): (i64, &Entry),
    occurrence: &Occurrence,
    event: i64,
) -> Result<(), Error> {
    let Some(name) = &entry.replaces else {
        let occurrence = occurrence.original.seconds();
        return Ok(stored::join(
            db,
            &Membership { event, series, occurrence, changed: Vec::new() },
        )?);
    };
    let Some(known) = stored::find(db, series)? else { return Ok(()) };
    let key = match Entry::moment_of(&entry.uid, &occurrence.external_id) {
        Some(key) => Some(key),
        None => Entry::moment_of(&entry.uid, name),
    };
    let Some(moment) = key.and_then(|key| known.plan.moment(key)) else { return Ok(()) };
    let mut place = Membership { event, series, occurrence: moment, changed: Vec::new() };
    stored::join(db, &place)?;
    place.changed = changed(db, &known, &place)?;
    Ok(stored::join(db, &place)?)
}

/// Returns the fields in which an overridden event differs from its series.
fn changed(db: &mut Db, known: &Series, place: &Membership) -> Result<Vec<String>, Error> {
    let Some(own) = series::shared(db, place.event)? else { return Ok(Vec::new()) };
    // Take this event out first, because only the other events define the shared fields.
    stored::leave(db, place.event)?;
    let template = series::template(db, known.id)?;
    let Some(template) = template else { return Ok(vec![DATES.to_owned()]) };
    let mut fields = template.differing(&own);
    fields.retain(|field| *field != DATES);
    let place = InSeries { series: known.clone().into(), membership: place.clone() };
    let is_moved = expected(&place).is_none_or(|dates| {
        let shown = &own.event.schedule;
        (dates.all_day, dates.start_utc, dates.end_utc)
            != (shown.all_day, shown.start_utc, shown.end_utc)
            && !(dates.all_day && shown.all_day && dates.start_local == shown.start_local)
    });
    if is_moved {
        fields.push(DATES);
    }
    Ok(fields.into_iter().map(str::to_owned).collect())
}

/// Returns the dates that the rule gives an event.
fn expected(place: &InSeries) -> Option<Schedule> {
    series::span_of(&place.series, place.membership.occurrence)
}

/// Removes events from a series that are no longer part of its rule or of the file.
pub fn tidy(db: &mut Db, id: i64, entry: &Entry) -> Result<(), Error> {
    let Some(series) = stored::find(db, id)? else { return Ok(()) };
    let named: HashSet<i64> = entry.occurrences.iter().map(|one| one.original.seconds()).collect();
    for member in stored::members(db, id)? {
        if !named.contains(&member.occurrence) && !series.plan.has(member.occurrence) {
            stored::leave(db, member.event)?;
        }
    }
    Ok(())
}
