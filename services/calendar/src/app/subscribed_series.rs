//! Series that come from a file: recognises their events after users have moved several of them.

use std::collections::BTreeMap;

use database::{DatabaseError, Db};

use super::series_dates::{Moved, bases};
use crate::ical::Entry;
use crate::model::included::InSeries;
use crate::model::schedule::{Schedule, wall_from_seconds, wall_seconds};
use crate::model::series::{Membership, Plan, Series};
use crate::model::series_fields::DATES;
use crate::model::series_ids::{key_of, occurrence_of};
use crate::model::subscription_parts::{Part, Parts};
use crate::store::subscribed_events::KnownDate;
use crate::store::{events, external_ids, imported, series_events, sql, subscribed_events};

/// How many of the latest events to derive the external id format from.
const RECENT: i64 = 20;

/// Length of a date-only key.
const DAY: usize = 8;

/// Returns whether the external ids of a series' events come from a file. The next import needs
/// these ids to recognise the events, even if users have moved them.
pub fn is_named_by_file(db: &mut Db, series: &Series) -> Result<bool, DatabaseError> {
    if imported::revision(db, &series.uid)?.is_some() {
        return Ok(true);
    }
    let Some(member) = series_events::members(db, series.id)?.into_iter().next() else {
        return Ok(false);
    };
    if subscribed_events::of_event(db, member.event)?.is_some() {
        return Ok(true);
    }
    // The later part of a split series has its own UID.
    let name = events::find(db, member.event)?.and_then(|event| event.external_id);
    Ok(name.is_some_and(|name| !name.starts_with(&series.uid)))
}

/// The external id format that a file uses for a series' events. Users might have moved the events
/// or split the series since then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileNames {
    uid: String,
    /// Seconds from the local start in the file to the scheduled one.
    distance: i64,
    /// Whether the events in the file are all-day events.
    is_day: bool,
}

impl FileNames {
    /// Determines the external id format of most of the last events in a series. Returns `None` if
    /// their ids don't come from a file.
    pub fn of(db: &mut Db, series: &Series) -> Result<Option<FileNames>, DatabaseError> {
        if !is_named_by_file(db, series)? {
            return Ok(None);
        }
        let mut votes: BTreeMap<FileNames, usize> = BTreeMap::new();
        for (occurrence, name) in series_events::last_names(db, series.id, RECENT)? {
            if let Some(found) = FileNames::read(series, occurrence, &name) {
                *votes.entry(found).or_default() += 1;
            }
        }
        let most = votes.into_iter().max_by_key(|(found, number)| (*number, found.distance == 0));
        Ok(most.map(|(found, _)| found))
    }

    fn read(series: &Series, occurrence: i64, name: &str) -> Option<FileNames> {
        let (uid, key) = occurrence_of(name)?;
        let is_day = key.len() == DAY;
        let form = Plan { all_day: is_day, ..series.plan.clone() };
        let in_file = wall_seconds(form.wall(form.moment(key)?));
        let distance = wall_seconds(series.plan.planned_wall(occurrence)) - in_file;
        Some(FileNames { uid: uid.to_owned(), distance, is_day })
    }

    /// Returns the UID in the file.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Returns the external id of the event for `occurrence`.
    pub fn name(&self, series: &Series, occurrence: i64) -> String {
        if occurrence == series.plan.first() {
            return series.external_id(occurrence);
        }
        let form = Plan { all_day: self.is_day, ..series.plan.clone() };
        let planned = wall_seconds(series.plan.planned_wall(occurrence));
        let wall = wall_from_seconds(planned - self.distance);
        format!("{}#{}", self.uid, form.key(form.at(wall)))
    }
}

/// Moves events along when a user moves a series again, if their offset from their dates in the
/// file equals the offset of the event in the request. Returns the updated memberships.
pub fn moving_along(
    db: &mut Db,
    place: &InSeries,
    before: &Schedule,
    mut members: Vec<Membership>,
) -> Result<Vec<Membership>, DatabaseError> {
    let has_own_dates = |member: &Membership| member.changed.iter().any(|field| field == DATES);
    if !has_own_dates(&place.membership) || !is_named_by_file(db, &place.series)? {
        return Ok(members);
    }
    let series = &place.series;
    let moves = |member: &Membership, own: &Schedule| -> Vec<Option<Moved>> {
        let bases = bases(series, own).into_iter();
        bases.map(|base| Moved::of(series, member.occurrence, base, own)).collect()
    };
    let wanted = moves(&place.membership, before);
    for member in members.iter_mut().filter(|member| has_own_dates(member)) {
        let Some(event) = events::find(db, member.event)? else { continue };
        let found = moves(member, &event.schedule);
        let is_alike = wanted.iter().zip(&found).any(|pair| match pair {
            (Some(wanted), Some(found)) => found.has_distance_of(wanted),
            _ => false,
        });
        if is_alike {
            member.changed.retain(|field| field != DATES);
        }
    }
    Ok(members)
}

/// Adds the new events of a subscribed series to the subscription. `changed` contains the fields
/// that count as changed by users. An event with changed dates is kept even if it is missing from
/// the file. `is_private` is true if the events are hidden because the file marks them as private.
pub fn note_new(
    db: &mut Db,
    series: &Series,
    (changed, is_private): (&Parts, bool),
) -> Result<(), DatabaseError> {
    let Some(subscription) = subscribed_events::of_series(db, series.id)? else { return Ok(()) };
    let new = subscribed_events::unknown_of_series(db, series.id)?;
    for event in events::by_ids(db, &new)? {
        let (name, changed) = match event.external_id {
            Some(name) => (name, changed.clone()),
            // A moved event has this external id from a file. Files never contain ids generated
            // here.
            None => {
                let own = sql::random_id(db)?;
                external_ids::rename(db, event.id, &own)?;
                (own, changed.with(&Parts::of([Part::Dates])))
            }
        };
        subscribed_events::note(db, subscription, &name, event.id)?;
        subscribed_events::note_changed(db, event.id, &changed)?;
        if is_private {
            imported::note(db, event.id, |noted| noted.is_private = true)?;
        }
    }
    Ok(())
}

/// Message about a series that users ended.
pub const ENDED: &str = "users removed its last dates before they began, so it has ended; later \
    dates were skipped. To get them, restore the last one or, if it was erased, release the UID";

/// Determines whether users ended a subscribed series by removing its last occurrences before they
/// began, provided that these were more than half of the upcoming ones. If so, later occurrences in
/// the file aren't created. Returns the key of the last occurrence that was created, or an empty
/// string if that occurrence has the plain UID.
pub fn ended_at(
    db: &mut Db,
    subscription: i64,
    uid: &str,
) -> Result<Option<String>, DatabaseError> {
    let mut known = subscribed_events::dates_of(db, subscription, uid)?;
    known.sort_by(|a, b| a.key(uid).cmp(b.key(uid)));
    let removed: Vec<i64> = known.iter().rev().map_while(KnownDate::removed_utc).collect();
    let Some(since) = removed.iter().max() else { return Ok(None) };
    let since = wall_from_seconds(*since).strftime("%Y%m%dT%H%M%SZ").to_string();
    let to_come = known.iter().filter(|date| date.key(uid) > since.as_str()).count();
    let number = removed.len();
    let has_ended = number * 2 > to_come && (number > 1 || number == known.len());
    Ok(known.last().filter(|_| has_ended).map(|date| date.key(uid).to_owned()))
}

/// Returns whether an entry has occurrences after the one with the key `last`.
pub fn goes_beyond(entry: &Entry, last: &str) -> bool {
    entry.occurrences.iter().any(|one| key_of(&one.external_id) > last)
}

#[cfg(test)]
mod tests {
    use super::super::series_dates::span_of;
    use super::*;
    use crate::model::when::PointInTime;
    use crate::model::zone::Zone;

    #[test]
    fn moved_events_keep_their_ids_and_offset_where_clocks_skip_the_time_of_the_rule() {
        let zone = Zone::parse("America/New_York").unwrap();
        let plan = Plan {
            zone: zone.clone(),
            all_day: false,
            start_local: wall_seconds("2027-03-01T02:30".parse().unwrap()),
            end_local: wall_seconds("2027-03-01T03:30".parse().unwrap()),
            duration: String::new(),
            rule: "FREQ=DAILY".to_owned(),
            rdates: Vec::new(),
            exdates: Vec::new(),
        };
        let series = Series {
            id: 1,
            uid: "s".to_owned(),
            slug: "night".to_owned(),
            plan,
            most: 1000,
            made_until: 0,
            due_utc: None,
            sequence: 0,
            modified_utc: 0,
        };
        let on = |day: &str| series.plan.at(format!("2027-03-{day}T02:30").parse().unwrap());
        // The series starts at 04:30 in the file.
        let names = FileNames::read(&series, on("02"), "s#20270302T093000Z").unwrap();
        assert_eq!(names.name(&series, on("13")), "s#20270313T093000Z");
        assert_eq!(names.name(&series, on("14")), "s#20270314T083000Z");
        let unmoved = span_of(&series, on("14")).unwrap();
        let moved = Moved::of(&series, on("14"), &zone, &unmoved).unwrap();
        assert_eq!(moved.place(&series, on("02")).unwrap().0.start_utc, on("02"));
        // Users moved the events to 05:00.
        let point = |text: &str| PointInTime::Wall(text.parse().unwrap());
        let (start, end) = (point("2027-03-02T05:00"), point("2027-03-02T06:00"));
        let own = Schedule::new(zone.clone(), false, start, end).unwrap();
        let moved = Moved::of(&series, on("02"), &zone, &own).unwrap();
        let (schedule, _) = moved.place(&series, on("14")).unwrap();
        assert_eq!(series.plan.key(schedule.start_utc), "20270314T090000Z");
    }
}
