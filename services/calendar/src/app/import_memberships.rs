//! Imported events as events of a series: their occurrences, slugs and own fields.

use std::collections::HashSet;
use std::sync::Arc;

use database::Db;

use super::import_edits::SeriesEdits;
use super::import_series::note_complete;
use super::series;
use super::series_dates::{span_of, times};
use super::series_parts::{from_on, occurrences_among};
use crate::error::Error;
use crate::ical::{Entry, Occurrence, Repetition};
use crate::model::event::Event;
use crate::model::included::InSeries;
use crate::model::schedule::{Schedule, ScheduleChange, wall_from_seconds};
use crate::model::series::{Membership, Series};
use crate::model::series_fields::{DATES, FIELDS, STATUS};
use crate::model::slug::{self, TRASHED};
use crate::model::subscription_parts::Part;
use crate::model::when::PointInTime;
use crate::store::series as stored;
use crate::store::series_events::{self, Dated};
use crate::store::{events, external_ids, subscribed_events};

/// Records the fields in which an event differs from its series after an import that doesn't change
/// the rule of the series.
pub fn mark_own(db: &mut Db, entry: &Entry, event: i64) -> Result<(), Error> {
    let Some(InSeries { series, mut membership }) = stored::of_event(db, event)? else {
        return Ok(());
    };
    if !entry.is_series {
        membership.changed = changed(db, &series, &membership)?;
        return Ok(series_events::join(db, &membership)?);
    }
    match with_length(entry, &series) {
        None => mark_dates(db, InSeries { series, membership }),
        Some(series) => {
            stored::update(db, &series)?;
            let series = Arc::new(series);
            for membership in series_events::members(db, series.id)? {
                mark_dates(db, InSeries { series: series.clone(), membership })?;
            }
            Ok(())
        }
    }
}

/// Records the fields in which the overridden events of a series differ from the others, after our
/// own file might have changed the others. `replaced` contains the ids of the file's overrides.
pub fn mark_overridden(
    db: &mut Db,
    entry: &Entry,
    replaced: &HashSet<String>,
) -> Result<(), Error> {
    let all = entry.occurrences.iter().filter(|one| entry.overridden_as(one, replaced).is_some());
    let moments: HashSet<i64> = all.map(|one| one.original.seconds()).collect();
    if moments.is_empty() {
        return Ok(());
    }
    let Some(known) = stored::find_by_uid(db, &entry.uid)? else { return Ok(()) };
    let members = series_events::members(db, known.id)?;
    let is_overridden = |one: &Membership| moments.contains(&one.occurrence);
    let (overridden, others): (Vec<Membership>, Vec<Membership>) =
        members.into_iter().partition(is_overridden);
    let Some((template, _)) = series::template_among(db, known.id, &others)? else {
        return Ok(());
    };
    for mut member in overridden {
        let Some(own) = series::shared(db, member.event)? else { continue };
        for field in template.differing(&own) {
            let is_known = member.changed.iter().any(|known| known == field);
            let is_trashing = field == STATUS && own.event.status.is_trashed();
            if field != DATES && !is_known && !is_trashing {
                member.changed.push(field.to_owned());
            }
        }
        series_events::join(db, &member)?;
    }
    Ok(())
}

/// Returns the series with the event length from our own file. `None` if the length is unchanged,
/// or if the file has another start, because that isn't stored.
fn with_length(entry: &Entry, series: &Series) -> Option<Series> {
    let (Repetition { plan: sent, .. }, plan) = (entry.repetition.as_ref()?, &series.plan);
    let is_alike = series.uid == entry.uid
        && entry.replaces.is_none()
        && (sent.all_day, sent.start_local) == (plan.all_day, plan.start_local)
        && sent.zone == plan.zone;
    if !is_alike || sent.end_local == plan.end_local {
        return None;
    }
    let mut series = series.clone();
    (series.plan.end_local, series.plan.duration) = (sent.end_local, sent.duration.clone());
    Some(series)
}

/// Records whether an event is at its scheduled time.
fn mark_dates(db: &mut Db, mut place: InSeries) -> Result<(), Error> {
    let Some(own) = events::find(db, place.membership.event)? else { return Ok(()) };
    place.membership.changed.retain(|field| field != DATES);
    if is_moved(&place, &own) {
        place.membership.changed.push(DATES.to_owned());
    }
    Ok(series_events::join(db, &place.membership)?)
}

/// Adds an imported event to its series.
pub fn join(
    db: &mut Db,
    (series, entry): (i64, &Entry),
    edits: Option<&SeriesEdits>,
    (occurrence, event): (&Occurrence, i64),
) -> Result<(), Error> {
    let Some(name) = &entry.replaces else {
        let is_private = occurrence.details.is_private;
        let occurrence = occurrence.original.seconds();
        let mut place = Membership { event, series, occurrence, changed: Vec::new() };
        let before = stored::of_event(db, event)?;
        place.changed = own_fields(db, before.as_ref(), edits, (&place, is_private))?;
        series_events::join(db, &place)?;
        if let Some(before) = before.filter(|before| before.series.id != series) {
            // A user had split the series at this event.
            take_out(db, &before)?;
        }
        return Ok(());
    };
    let Some(known) = stored::find(db, series)? else { return Ok(()) };
    let moment = moment_of(&known, (&entry.uid, name), occurrence);
    let Some(moment) = moment else { return Ok(()) };
    join_own(db, &known, (moment, event))
}

/// Adds an overridden event to its series, and records the fields in which they differ.
pub fn join_own(db: &mut Db, known: &Series, (occurrence, event): (i64, i64)) -> Result<(), Error> {
    let mut place = Membership { event, series: known.id, occurrence, changed: Vec::new() };
    series_events::join(db, &place)?;
    place.changed = changed(db, known, &place)?;
    Ok(series_events::join(db, &place)?)
}

/// Excludes an event that now belongs to another series from its former series.
fn take_out(db: &mut Db, before: &InSeries) -> Result<(), Error> {
    let Some(known) = stored::find(db, before.series.id)? else { return Ok(()) };
    let members = series_events::members(db, known.id)?;
    let Some(next) = members.first() else { return Ok(stored::remove(db, known.id)?) };
    let mut plan = known.plan.clone();
    let key = plan.key(before.membership.occurrence);
    if let Err(place) = plan.exdates.binary_search(&key) {
        plan.exdates.insert(place, key);
    }
    // A later rule might lack the excluded dates, so the series starts with its first remaining
    // event.
    let plan = from_on(&plan, next.occurrence).unwrap_or(plan);
    let sequence = stored::sequence(db, &known)? + 1;
    Ok(stored::update(db, &Series { plan, sequence, ..known })?)
}

/// Returns the occurrence of a series that an entry overrides.
fn moment_of(known: &Series, (uid, name): (&str, &str), occurrence: &Occurrence) -> Option<i64> {
    let key = Entry::moment_of(uid, &occurrence.external_id);
    let moment = known.plan.moment(key.or_else(|| Entry::moment_of(uid, name))?);
    // An override of the first occurrence, which has the series UID, might specify only the day.
    moment.or_else(|| (occurrence.external_id == uid).then(|| known.plan.first()))
}

/// The slug and dates for an event that is being added to a series.
pub struct Placed {
    pub slug: String,
    /// The dates, if users moved the series, so that they differ from the dates in the file.
    pub schedule: Option<ScheduleChange>,
}

/// Returns the slug and dates for an event that is being added to a series.
pub fn placed(
    db: &mut Db,
    (series, entry): (i64, &Entry),
    edits: Option<&SeriesEdits>,
    occurrence: &Occurrence,
) -> Result<Option<Placed>, Error> {
    let Some(known) = stored::find(db, series)? else { return Ok(None) };
    let moment = match &entry.replaces {
        Some(name) => moment_of(&known, (&entry.uid, name), occurrence),
        None => Some(occurrence.original.seconds()),
    };
    let Some(moment) = moment else { return Ok(None) };
    let edits = edits.filter(|_| entry.replaces.is_none());
    Ok(Some(match edits.and_then(|edits| edits.moved(&known, moment)) {
        Some((schedule, slug)) => Placed { slug, schedule: Some(change_to(schedule)) },
        None => Placed { slug: known.slug_of(moment), schedule: None },
    }))
}

/// Returns the slug for an event that isn't in its series yet, if its slug has a date but another
/// name. An earlier file might have contained the event without the series.
pub fn slug_on_joining(
    db: &mut Db,
    series: (i64, &Entry),
    event: &Event,
    occurrence: &Occurrence,
) -> Result<Option<String>, Error> {
    let stem = event.slug.strip_suffix(TRASHED).unwrap_or(&event.slug);
    let Some((name, _)) = slug::dated(stem) else { return Ok(None) };
    if stored::of_event(db, event.id)?.is_some() {
        return Ok(None);
    }
    let wanted = placed(db, series, None, occurrence)?.map(|place| place.slug);
    let has_other_name = |wanted: &String| slug::dated(wanted).is_none_or(|(own, _)| own != name);
    Ok(wanted.filter(has_other_name))
}

/// Returns a change that sets exactly this schedule.
fn change_to(schedule: Schedule) -> ScheduleChange {
    let local = |seconds: i64| Some(PointInTime::Wall(wall_from_seconds(seconds)));
    ScheduleChange {
        start: local(schedule.start_local),
        end: local(schedule.end_local),
        zone: Some(schedule.zone),
        all_day: Some(schedule.all_day),
    }
}

/// Returns the fields that this event doesn't share with its series: fields that don't exist in
/// files and, in a subscription, fields that a user changed for this event only, or for all other
/// events while this event's value still comes from the file. `is_private` is whether the file
/// marks the events as private.
fn own_fields(
    db: &mut Db,
    before: Option<&InSeries>,
    edits: Option<&SeriesEdits>,
    (place, is_private): (&Membership, bool),
) -> Result<Vec<String>, Error> {
    let known = subscribed_events::of_event(db, place.event)?;
    let held = known.map(|known| known.changed).unwrap_or_default();
    let is_shared = |part| edits.is_some_and(|edits| edits.has(part));
    let before = before.filter(|before| before.series.id == place.series);
    let own = before.map_or(&[][..], |before| &before.membership.changed);
    let mut fields: Vec<String> = own.to_vec();
    fields.retain(|field| Part::of_field(field).is_none_or(|part| held.has(part)));
    let parts = || Part::ALL.into_iter().filter(|part| *part != Part::Dates);
    for part in parts().filter(|part| held.has(*part) && !is_shared(*part)) {
        if !own.iter().any(|field| Part::of_field(field) == Some(part)) {
            let all = FIELDS.into_iter().filter(|field| Part::of_field(field) == Some(part));
            fields.extend(all.map(str::to_owned));
        }
    }
    if let Some(edits) = edits
        && parts().any(|part| edits.has(part))
        && let Some(event) = series::shared(db, place.event)?
    {
        // The file might have hidden all known events since users published them.
        let is_private = is_private && before.is_some();
        let shared = parts().filter(|part| edits.decides(*part, is_private));
        for field in shared.flat_map(|part| edits.differing(&event, part)) {
            if !fields.iter().any(|own| own == field) {
                fields.push(field.to_owned());
            }
        }
    }
    fields.retain(|field| field != DATES);
    if held.has(Part::Dates)
        && let Some(series) = stored::find(db, place.series)?
        && let Some(event) = events::find(db, place.event)?
        && is_moved(&InSeries { series: series.into(), membership: place.clone() }, &event)
    {
        fields.push(DATES.to_owned());
    }
    Ok(fields)
}

/// Returns whether an event isn't at its scheduled time.
fn is_moved(place: &InSeries, event: &Event) -> bool {
    expected(place).is_none_or(|dates| times(&dates) != times(&event.schedule))
}

/// Returns the fields in which an overridden event differs from its series.
fn changed(db: &mut Db, known: &Series, place: &Membership) -> Result<Vec<String>, Error> {
    let Some(own) = series::shared(db, place.event)? else { return Ok(Vec::new()) };
    // Remove this event first, because the shared fields are determined by the other events.
    series_events::leave(db, place.event)?;
    let template = series::template(db, known.id)?;
    let Some(template) = template else { return Ok(vec![DATES.to_owned()]) };
    let mut fields = template.differing(&own);
    fields.retain(|field| *field != DATES);
    let place = InSeries { series: known.clone().into(), membership: place.clone() };
    if is_moved(&place, &own.event) {
        fields.push(DATES);
    }
    Ok(fields.into_iter().map(str::to_owned).collect())
}

/// Returns the dates that the rule gives the event.
fn expected(place: &InSeries) -> Option<Schedule> {
    span_of(&place.series, place.membership.occurrence)
}

/// Removes events from a series that are no longer covered by its rule or the file. Trashed events
/// remain in the series, with their dates excluded. Returns whether any event's external id
/// changed.
pub fn tidy(db: &mut Db, id: i64, entry: &Entry) -> Result<bool, Error> {
    note_complete(db, Some(id), entry)?;
    let Some(series) = stored::find(db, id)? else { return Ok(false) };
    let named: HashSet<i64> = entry.occurrences.iter().map(|one| one.original.seconds()).collect();
    let plan = &series.plan;
    let mut is_renamed = false;
    let mut others = series_events::dated(db, id)?;
    others.retain(|member| !named.contains(&member.occurrence));
    let moments: Vec<i64> = others.iter().map(|member| member.occurrence).collect();
    let planned = occurrences_among(plan, &moments);
    for member in others {
        let moment = member.occurrence;
        let is_excluded = !member.is_trashed() && plan.exdates.contains(&plan.key(moment));
        if is_excluded || !planned.contains(&moment) {
            if let Some(place) = place_ahead(db, entry, (&series, member.id))? {
                series_events::join(db, &place)?;
                continue;
            }
            series_events::leave(db, member.id)?;
            is_renamed |= give_up_uid(db, &series, (member.id, moment))?;
        }
    }
    // The file might exclude the date of the event that the series began with.
    if entry.occurrences.iter().all(|one| one.external_id != series.uid)
        && let Some(first) = events::find_by_external_id(db, &series.uid)?
        && stored::of_event(db, first.id)?.is_none()
    {
        is_renamed |= give_up_uid(db, &series, (first.id, plan.first()))?;
    }
    exclude_trashed(db, id)?;
    Ok(is_renamed)
}

/// Excludes the dates of trashed events. If users ended the series, these events had left it until
/// this import added them again.
fn exclude_trashed(db: &mut Db, id: i64) -> Result<(), Error> {
    let Some(mut series) = stored::find(db, id)? else { return Ok(()) };
    let trashed = series_events::dated(db, id)?.into_iter().filter(Dated::is_trashed);
    let mut keys: Vec<String> = trashed.map(|one| series.plan.key(one.occurrence)).collect();
    keys.retain(|key| !series.plan.exdates.contains(key));
    if keys.is_empty() {
        return Ok(());
    }
    series.plan.exdates.extend(keys);
    series.plan.exdates.sort_unstable();
    series.sequence = stored::sequence(db, &series)? + 1;
    Ok(stored::update(db, &series)?)
}

/// Returns the occurrence with the external id `name` if the rule includes it but its event hasn't
/// been created yet. This happens after users have moved a series to earlier days, which adds
/// occurrences at its end.
pub fn date_ahead(entry: &Entry, name: &str) -> Option<i64> {
    let Repetition { plan, made_until, .. } = entry.repetition.as_ref()?;
    let moment = plan.moment(Entry::moment_of(&entry.uid, name)?)?;
    let is_excluded = plan.exdates.contains(&plan.key(moment));
    (moment > *made_until && !is_excluded && plan.has(moment)).then_some(moment)
}

/// Returns the membership of an event whose occurrence is later than any in this import.
fn place_ahead(
    db: &mut Db,
    entry: &Entry,
    (series, event): (&Series, i64),
) -> Result<Option<Membership>, Error> {
    let Some(old) = events::find(db, event)? else { return Ok(None) };
    let moment = old.external_id.as_ref().and_then(|name| date_ahead(entry, name));
    let (Some(occurrence), Some(before)) = (moment, stored::of_event(db, event)?) else {
        return Ok(None);
    };
    let membership = Membership { occurrence, ..before.membership };
    let mut place = InSeries { series: series.clone().into(), membership };
    let has_dates = place.membership.changed.iter().any(|field| field == DATES);
    if !has_dates && is_moved(&place, &old) {
        place.membership.changed.push(DATES.to_owned());
    }
    Ok(Some(place.membership))
}

/// Gives an event that isn't in a series, or is leaving it, the external id of its occurrence, if it
/// had the series UID as its external id. Otherwise, feeds would show both under the same UID and
/// cancel the series along with the event. Returns whether the id changed.
fn give_up_uid(db: &mut Db, series: &Series, (event, moment): (i64, i64)) -> Result<bool, Error> {
    let Some(old) = events::find(db, event)? else { return Ok(false) };
    let name = Entry::occurrence_id(&series.uid, &series.plan.key(moment));
    let is_of_series = old.external_id.as_ref() == Some(&series.uid);
    if !is_of_series || events::find_by_external_id(db, &name)?.is_some() {
        return Ok(false);
    }
    let sequence = stored::sequence(db, series)?;
    stored::update(db, &Series { sequence, ..series.clone() })?;
    external_ids::rename(db, event, &name)?;
    subscribed_events::rename(db, event, &name)?;
    Ok(true)
}
