//! Matches a series' known events with its occurrences when a file has changed their dates.

use std::collections::{HashMap, HashSet};

use database::Db;

use super::slugs::remember;
use super::subscriber::Subscriber;
use crate::error::Error;
use crate::ical::{Entry, Moment, Occurrence};
use crate::model::series::{Membership, Series};
use crate::model::series_ids::local_day;
use crate::model::slug::TRASHED;
use crate::model::subscription_parts::Part;
use crate::model::zone::Zone;
use crate::store::{
    events, external_ids, imported, links, series, series_events, slugs, subscribed_events,
};

/// An event that belonged to the series in earlier files.
struct Known {
    /// The id, or `None` if a user erased the event.
    id: Option<i64>,
    name: String,
    /// The key of the event's start in the previous file.
    key: String,
    is_past: bool,
    /// Whether the event is in the stored series.
    is_member: bool,
}

/// Updates a series' known events to match the current file: their external ids, their positions in
/// the series, and their slugs. A subscription's import only touches that subscription's events.
///
/// An event belongs to the occurrence with its original start, or else to the occurrence on the
/// same local day. If this doesn't match any event, the events in the stored series are paired with
/// the occurrences in order. Separate entries, with UIDs in `listed`, don't belong to the series.
pub fn rename(
    db: &mut Db,
    (entry, listed): (&Entry, &HashSet<String>),
    subscriber: Option<&mut Subscriber>,
    now: i64,
) -> Result<(), Error> {
    let is_whole = entry.is_series && entry.is_complete && !entry.has_unknown_occurrences;
    if !is_whole || entry.replaces.is_some() {
        return Ok(());
    }
    let stored = series::find_by_uid(db, &entry.uid)?;
    let mut known = known(db, entry, (stored.as_ref(), subscriber.as_deref()), now)?;
    // A single event keeps its external id when it becomes a series: that of the first occurrence.
    let is_begun = known.iter().all(|one| one.name != entry.uid)
        && events::find_by_external_id(db, &entry.uid)?.is_some();
    known.retain(|one| !listed.contains(&one.name));
    if is_begun && stored.is_none() {
        // An earlier file ended the series, so its other events aren't moved to new dates.
        for one in &mut known {
            one.is_member = false;
        }
    }
    let mut occurrences: Vec<&Occurrence> = entry.occurrences.iter().collect();
    occurrences.retain(|one| !is_begun || one.external_id != entry.uid);
    let matches = matched(&known, &occurrences, now);
    if let Some(stored) = &stored {
        move_members(db, entry, stored, (&known, &matches), now)?;
    }
    let taken: HashSet<&str> = matches.values().map(|one| one.external_id.as_str()).collect();
    let new_name = |(index, one): (usize, &Known)| match matches.get(&index) {
        Some(occurrence) => Some(occurrence.external_id.clone()),
        // Free the external ids of events that no longer have an occurrence.
        None if taken.contains(one.name.as_str()) => {
            Some(Entry::occurrence_id(&entry.uid, &one.key))
        }
        None => None,
    };
    let renamed: Vec<(&Known, String)> = known
        .iter()
        .enumerate()
        .filter_map(|(index, one)| Some((one, new_name((index, one))?)))
        .filter(|(one, name)| one.name != *name)
        .collect();
    if renamed.is_empty() {
        return Ok(());
    }
    let subscription = subscriber.as_ref().map(|subscriber| subscriber.id());
    // Feeds identify events by their external ids, so each event continues from the last revision
    // under its new id.
    let revisions = external_ids::revisions(db, &entry.uid)?;
    // Free all external ids first.
    for (number, (one, _)) in renamed.iter().enumerate() {
        give(db, one.id, (subscription, &one.name), &format!("#{number}"))?;
    }
    for (number, (one, name)) in renamed.iter().enumerate() {
        give(db, one.id, (subscription, &format!("#{number}")), name)?;
        // The external id might belong to an event that this import must not change.
        if let Some(id) = one.id
            && events::find_by_external_id(db, name)?.is_none()
        {
            external_ids::rename(db, id, name)?;
            if let Some(least) = revisions.get(name) {
                events::raise_revisions(db, id, *least)?;
            }
        }
    }
    let first = renamed.iter().find(|(_, name)| *name == entry.uid);
    if let Some(first) = first.and_then(|(one, _)| one.id) {
        for id in known.iter().filter_map(|one| one.id) {
            events::set_parent(db, id, Some(first).filter(|first| *first != id))?;
        }
    }
    match subscriber {
        Some(subscriber) => subscriber.read_names(db),
        None => Ok(()),
    }
}

/// Renames one of the subscription's events, which frees the event's old external id.
fn give(
    db: &mut Db,
    event: Option<i64>,
    (subscription, old): (Option<i64>, &str),
    new: &str,
) -> Result<(), Error> {
    match (event, subscription) {
        (Some(event), _) => {
            external_ids::forget(db, event)?;
            subscribed_events::rename(db, event, new)?;
        }
        (None, Some(subscription)) => {
            subscribed_events::rename_erased(db, subscription, (old, new))?
        }
        (None, None) => {}
    }
    Ok(())
}

/// Returns a series' known events, ordered by their starts in the previous file.
fn known(
    db: &mut Db,
    entry: &Entry,
    (stored, subscriber): (Option<&Series>, Option<&Subscriber>),
    now: i64,
) -> Result<Vec<Known>, Error> {
    let uid = &entry.uid;
    let members = match stored {
        Some(stored) => series_events::members(db, stored.id)?,
        None => Vec::new(),
    };
    let members: HashSet<i64> = members.iter().map(|member| member.event).collect();
    let mut known = Vec::new();
    for (id, name, start_utc) in external_ids::of_uid(db, uid)? {
        let key = match Entry::moment_of(uid, &name) {
            Some(key) => Some(key).filter(|_| entry.has_occurrence(&name)).map(str::to_owned),
            None => imported::find(db, id)?.moment,
        };
        let is_own = match subscriber {
            Some(subscriber) => subscriber.has(&name) || subscriber.owns(db, id)?,
            None => true,
        };
        if let Some(key) = key.filter(|_| is_own) {
            let is_member = members.is_empty() || members.contains(&id);
            known.push(Known { id: Some(id), name, key, is_past: start_utc <= now, is_member });
        }
    }
    let erased = match subscriber {
        Some(subscriber) => subscribed_events::erased(db, subscriber.id())?,
        None => Vec::new(),
    };
    for name in erased.into_iter().filter(|name| entry.has_occurrence(name)) {
        let first = || stored.map(|stored| stored.plan.key(stored.plan.first()));
        let key = Entry::moment_of(uid, &name).map(str::to_owned).or_else(first);
        if let Some(key) = key {
            let is_past = Entry::seconds_of(&key).is_some_and(|at| at <= now);
            known.push(Known { id: None, name, key, is_past, is_member: true });
        }
    }
    known.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(known)
}

/// Returns the matching occurrences, by index into `known`.
fn matched<'o>(
    known: &[Known],
    occurrences: &[&'o Occurrence],
    now: i64,
) -> HashMap<usize, &'o Occurrence> {
    let mut matches = HashMap::new();
    let by_key: HashMap<&str, usize> =
        known.iter().enumerate().map(|(index, one)| (one.key.as_str(), index)).collect();
    let mut left: Vec<&Occurrence> = Vec::new();
    for &occurrence in occurrences {
        match by_key.get(occurrence.original.key().as_str()) {
            Some(index) => {
                matches.insert(*index, occurrence);
            }
            None => left.push(occurrence),
        }
    }
    let zone = match occurrences.first().map(|one| &one.original) {
        Some(Moment::Time(_, zone)) => zone.clone(),
        _ => Zone::utc(),
    };
    let day_of = |one: &Known| local_day(&one.key, &zone).unwrap_or_else(|| one.key.clone());
    let mut by_day: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, one) in known.iter().enumerate().rev() {
        if !matches.contains_key(&index) {
            by_day.entry(day_of(one)).or_default().push(index);
        }
    }
    for occurrence in left {
        let day = occurrence.original.day_key();
        if let Some(index) = by_day.get_mut(&day).and_then(Vec::pop) {
            matches.insert(index, occurrence);
        }
    }
    if matches.is_empty() { in_order(known, occurrences, now) } else { matches }
}

/// Pairs the series' events with the occurrences in order. If some events are over, the next
/// occurrence goes to the nearest event. A past event is never paired with a future occurrence, or
/// vice versa.
fn in_order<'o>(
    known: &[Known],
    occurrences: &[&'o Occurrence],
    now: i64,
) -> HashMap<usize, &'o Occurrence> {
    let is_over = |one: &Occurrence| one.original.seconds() <= now;
    let next = occurrences.iter().position(|one| !is_over(one));
    let Some(next) = next else { return HashMap::new() };
    let distance = |one: &Known| {
        let at = Entry::seconds_of(&one.key).unwrap_or(i64::MAX);
        at.abs_diff(occurrences[next].original.seconds())
    };
    let members: Vec<usize> = (0..known.len()).filter(|index| known[*index].is_member).collect();
    let nearest = match next == 0 && members.iter().all(|index| !known[*index].is_past) {
        true => Some(0),
        false => (0..members.len()).min_by_key(|place| distance(&known[members[*place]])),
    };
    let Some(nearest) = nearest else { return HashMap::new() };
    let later = members.iter().skip(nearest.saturating_sub(next)).copied();
    let pairs = later.zip(occurrences.iter().copied().skip(next.saturating_sub(nearest)));
    pairs.filter(|(index, one)| known[*index].is_past == is_over(one)).collect()
}

/// Moves the events to their new occurrences in the stored series. Slugs that contain the old date
/// are replaced.
fn move_members(
    db: &mut Db,
    entry: &Entry,
    stored: &Series,
    (known, matches): (&[Known], &HashMap<usize, &Occurrence>),
    now: i64,
) -> Result<(), Error> {
    let members = series_events::members(db, stored.id)?;
    let members: HashMap<i64, &Membership> = members.iter().map(|one| (one.event, one)).collect();
    let plan = entry.repetition.as_ref().map(|repetition| repetition.plan.clone());
    let after = plan.map(|plan| Series { plan, ..stored.clone() });
    let mut matches: Vec<_> = matches.iter().collect();
    matches.sort_unstable_by_key(|(index, _)| **index);
    for (index, occurrence) in matches {
        let member = known[*index].id.and_then(|id| members.get(&id));
        let moment = occurrence.original.seconds();
        let Some(member) = member.filter(|member| member.occurrence != moment) else { continue };
        series_events::join(db, &Membership { occurrence: moment, ..(*member).clone() })?;
        let Some(after) = &after else { continue };
        let Some(old) = events::find(db, member.event)? else { continue };
        let (name, suffix) = match old.slug.strip_suffix(TRASHED) {
            Some(name) => (name, TRASHED),
            None => (old.slug.as_str(), ""),
        };
        let wanted = after.slug_of(moment);
        let held = subscribed_events::of_event(db, old.id)?.map(|known| known.changed);
        let is_held = held.is_some_and(|held| held.has(Part::Dates));
        if is_held || name == wanted || name != stored.slug_of(member.occurrence) {
            continue;
        }
        let mut new = old.clone();
        new.slug = slugs::free(db, "events", &wanted, suffix, old.id)?;
        new.modified_utc = if old.status.is_trashed() { old.modified_utc } else { now };
        remember(db, "events", old.id, (&old.slug, &old.status), &new.slug)?;
        slugs::forget_former(db, "events", &new.slug)?;
        let with = links::of_event(db, old.id)?;
        events::update(db, (&old, &with), (&new, &with))?;
    }
    Ok(())
}
