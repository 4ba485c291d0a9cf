//! Special cases in imports: overrides from earlier files, overrides that specify an occurrence
//! only by its day, first events of series, and events that share a UID.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use database::Db;

use super::import_progress::Series;
use super::import_writes::Outcome;
use crate::error::Error;
use crate::ical::{Component, Entry, Moment, Occurrence};
use crate::model::event::Event;
use crate::model::revision::Revision;
use crate::model::schedule::{instant_from_seconds, wall_from_seconds};
use crate::model::series_ids::local_day;
use crate::store::series as stored;
use crate::store::{events, external_ids, imported, imported_states};

/// Returns whether an earlier import had a later revision of this entry, or of the series it
/// overrides. `series` is the state from the first pass, by UID.
pub fn is_outdated(
    db: &mut Db,
    entry: &Entry,
    revision: Option<Revision>,
    series: &mut HashMap<String, Series>,
) -> Result<bool, Error> {
    let known = series.get(&entry.uid).filter(|_| entry.replaces.is_some());
    if let Some(Series { is_outdated, revision, .. }) = known
        && (*is_outdated || imported::is_outdated(db, &entry.uid, *revision)?)
    {
        return Ok(true);
    }
    let is_outdated = imported::is_outdated(db, &entry.revision_name(), revision)?;
    if is_outdated && entry.replaces.is_none() {
        series.entry(entry.uid.clone()).or_default().is_outdated = true;
    }
    Ok(is_outdated)
}

/// Records the revision of an entry, unless it can't be compared with revisions in other files.
pub fn note_revision(db: &mut Db, entry: &Entry, revision: Option<Revision>) -> Result<(), Error> {
    match revision {
        Some(revision) => Ok(imported::note_revision(db, &entry.revision_name(), revision)?),
        None => Ok(()),
    }
}

/// Records the state of an event after its override was imported along with the series.
pub fn note_override(
    db: &mut Db,
    (entry, revision): (&Entry, Option<Revision>),
    (event, outcome): (i64, Outcome),
) -> Result<(), Error> {
    let is_written = matches!(outcome, Outcome::Created | Outcome::Updated);
    if is_written
        && revision.is_some()
        && entry.replaces.is_some()
        && let Some(event) = events::find(db, event)?
    {
        imported_states::note_override(db, &event)?;
    }
    Ok(())
}

/// Returns the ids of overrides that came from earlier files and are newer than the series itself.
/// Unless the file belongs to a subscription, which always contains all overrides, this includes
/// overrides from the same time as the series that the file didn't take back. `replaced` contains
/// the ids of the overrides in the file.
pub fn later_overrides(
    db: &mut Db,
    (entry, revision): (&Entry, Option<Revision>),
    (replaced, is_subscribed): (&HashSet<String>, bool),
) -> Result<HashSet<String>, Error> {
    let mut kept = HashSet::new();
    let Some(revision) = revision.filter(|_| entry.is_series) else { return Ok(kept) };
    for (name, other) in imported::override_revisions(db, &entry.uid)? {
        let is_simultaneous = !is_subscribed && revision.is_simultaneous(&other);
        let may_take_back = !revision.is_older_than(&other) && !replaced.contains(&name);
        if revision.is_before(&other)
            || (is_simultaneous && !(may_take_back && take_back(db, &entry.uid, &name)?))
        {
            kept.insert(name);
        }
    }
    Ok(kept)
}

/// Forgets an override that an earlier file had along with its series, unless its event has changed
/// since. Some programs never raise a revision, so this is the only sign that a file no longer has
/// the override. Returns whether it was forgotten.
fn take_back(db: &mut Db, uid: &str, name: &str) -> Result<bool, Error> {
    let stored = stored_name(db, (None, false), uid, name)?;
    let Some(event) = events::find_by_external_id(db, &stored)? else { return Ok(false) };
    let is_forgotten = imported_states::take_override(db, &event)?;
    if is_forgotten {
        imported::forget_revision(db, name)?;
    }
    Ok(is_forgotten)
}

/// Renames a single event to its UID plus its start if the UID alone is ambiguous. The UID is
/// ambiguous if an earlier file stored the event under the longer name, or if several events in
/// this file share the UID and a different event is stored under it. The order of the events in the
/// file doesn't matter.
pub fn tell_apart<'e>(
    db: &mut Db,
    entry: &'e Entry,
    component: &Component,
    is_repeated: bool,
) -> Result<Cow<'e, Entry>, Error> {
    let mut entry = Cow::Borrowed(entry);
    if entry.is_series || entry.replaces.is_some() {
        return Ok(entry);
    }
    let name = component.name_with_start(&entry.uid);
    let starts_as = |event: &Event| {
        entry.occurrences.first().is_some_and(|one| one.starts_with(&event.schedule))
    };
    let has_name = events::find_by_external_id(db, &name)?.is_some()
        || (is_repeated
            && !events::find_by_external_id(db, &entry.uid)?.as_ref().is_some_and(starts_as));
    if has_name {
        entry.to_mut().rename(name);
    }
    Ok(entry)
}

/// Returns the external id under which an overridden event is stored. A series' first event has the
/// plain UID. `series` is the state from the first pass, if the file contains the series.
/// `is_author` says whether this calendar wrote the file.
pub fn stored_name(
    db: &mut Db,
    (series, is_author): (Option<&Series>, bool),
    uid: &str,
    name: &str,
) -> Result<String, Error> {
    if Entry::is_of_a_day(uid, name) {
        let known = series.and_then(|series| series.by_day.get(name).cloned());
        let known = match known {
            Some(name) => Some(name),
            None => name_on_day(db, uid, name)?,
        };
        if let Some(name) = known {
            return Ok(name);
        }
    }
    let is_first = match series {
        Some(series) => series.first.as_deref() == Some(name),
        // The file contains only overrides.
        None => match events::find_by_external_id(db, uid)? {
            Some(first) => Entry::occurrence_id(uid, &first_key(db, &first, is_author)?) == name,
            None => false,
        },
    };
    Ok(if is_first { uid.to_owned() } else { name.to_owned() })
}

/// Returns the key that files use for a series' first event. If users have moved the series, our
/// own files use the new start, whereas other files keep the original start. Without a series, the
/// key is based on the event's start.
fn first_key(db: &mut Db, first: &Event, is_author: bool) -> Result<String, Error> {
    let noted = imported::find(db, first.id)?.moment;
    let place = stored::of_event(db, first.id)?;
    let planned = place.map(|one| one.series.plan.key(one.membership.occurrence));
    let known = if is_author { planned.or(noted) } else { noted.or(planned) };
    Ok(known.unwrap_or_else(|| {
        let schedule = &first.schedule;
        let moment = match schedule.all_day {
            true => Moment::Day(wall_from_seconds(schedule.start_local).date()),
            false => Moment::Time(instant_from_seconds(schedule.start_utc), schedule.zone.clone()),
        };
        moment.key()
    }))
}

/// Returns the external id of the occurrence on the day that an override specifies for a series
/// with times. Returns `None` if there is no occurrence on that day, or if an event already has the
/// id `name`.
fn name_on_day(db: &mut Db, uid: &str, name: &str) -> Result<Option<String>, Error> {
    if events::find_by_external_id(db, name)?.is_some() {
        return Ok(None);
    }
    let day = Entry::moment_of(uid, name).unwrap_or_default();
    let series = stored::find_by_uid(db, uid)?;
    let is_of_day = |event: &Event, moment: &str| {
        // An override might have another zone.
        let zone = series.as_ref().map_or(&event.schedule.zone, |series| &series.plan.zone);
        local_day(moment, zone).as_deref() == Some(day)
    };
    if let Some(first) = events::find_by_external_id(db, uid)?
        && let Some(moment) = imported::find(db, first.id)?.moment
        && is_of_day(&first, &moment)
    {
        return Ok(Some(uid.to_owned()));
    }
    let Some((from, below)) = Entry::keys_around(day) else { return Ok(None) };
    let names = [from, below].map(|key| Entry::occurrence_id(uid, &key));
    for event in external_ids::in_range(db, &names[0], &names[1])? {
        if let Some(known) = &event.external_id
            && Entry::moment_of(uid, known).is_some_and(|moment| is_of_day(&event, moment))
        {
            return Ok(event.external_id);
        }
    }
    Ok(None)
}

/// Returns the parent of an entry's events, if known. `series` contains the series with overrides
/// in the file, and `parents` contains the parents of their events.
pub fn known_parent(
    db: &mut Db,
    entry: &Entry,
    (series, parents): (&HashMap<String, Series>, &HashMap<String, i64>),
) -> Result<Option<i64>, Error> {
    if !entry.is_series && entry.replaces.is_none() {
        return Ok(None);
    }
    if entry.replaces.is_some() && series.contains_key(&entry.uid) {
        return Ok(parents.get(&entry.uid).copied());
    }
    let first = events::find_by_external_id(db, &entry.uid)?;
    Ok(first.map(|first| first.parent.unwrap_or(first.id)))
}

/// Returns the parent id for a series, given the id of one of its events. Returns `None` if that
/// event no longer exists.
pub fn parent_of(db: &mut Db, id: i64) -> Result<Option<i64>, Error> {
    let event = events::find(db, id)?;
    Ok(event.map(|event| event.parent.unwrap_or(event.id)))
}

/// Records the original start of a series' first event. Returns true if the entry used to be a
/// series but no longer repeats. A partial file might lack the rule, so it doesn't prove that the
/// entry stopped repeating or that the series came from a file.
pub fn note_first(
    db: &mut Db,
    is_partial: bool,
    entry: &Entry,
    occurrence: &Occurrence,
    id: i64,
) -> Result<bool, Error> {
    if occurrence.external_id != entry.uid {
        return Ok(false);
    }
    let moment = match &entry.replaces {
        // Our own files can contain single occurrences of series that were created here.
        Some(_) if is_partial && stored::of_event(db, id)?.is_some() => return Ok(false),
        Some(name) => Entry::moment_of(&entry.uid, name).map(str::to_owned),
        None if entry.is_series => Some(occurrence.original.key()),
        None if is_partial => return Ok(false),
        None => None,
    };
    let mut repeated = false;
    imported::note(db, id, |noted| {
        repeated = noted.moment.is_some() && moment.is_none();
        noted.moment = moment;
    })?;
    Ok(repeated)
}
