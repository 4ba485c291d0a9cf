//! Values shared by an imported series' events that don't come from its file: fields that files
//! don't have, and parts that users of a subscription changed for all events. New dates in the file
//! also get these values.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db};

use super::series::{self, span_in};
use crate::model::change::TakenFields;
use crate::model::schedule::{Schedule, ScheduleChange, wall_from_seconds};
use crate::model::series::{FIELDS, Membership, STATUS, Series, Shared};
use crate::model::subscription::{Part, Parts};
use crate::model::when::PointInTime;
use crate::store::{events, series as stored, subscribed_events};

/// The values for a series' new dates.
#[derive(Clone, Debug)]
pub struct SeriesEdits {
    template: Shared,
    /// The parts, other than dates, that users changed for all events.
    parts: Parts,
    /// The distance by which users moved the events from their dates in the file.
    moved: Option<Moved>,
}

/// The values of those series that have overrides in the file. A series can have many overrides.
#[derive(Default)]
pub struct KnownEdits(HashMap<i64, Option<Arc<SeriesEdits>>>);

impl KnownEdits {
    /// Maximum number of series.
    const MOST: usize = 64;

    /// Returns the values for a series' new events.
    pub fn of(
        &mut self,
        db: &mut Db,
        series: Option<i64>,
        is_override: bool,
    ) -> Result<Option<Arc<SeriesEdits>>, DatabaseError> {
        let Some(series) = series else { return Ok(None) };
        if let Some(known) = self.0.get(&series).filter(|_| is_override) {
            return Ok(known.clone());
        }
        let edits = SeriesEdits::of(db, series)?.map(Arc::new);
        if self.0.len() >= KnownEdits::MOST {
            self.0.clear();
        }
        self.0.insert(series, edits.clone());
        Ok(edits)
    }
}

/// A move of most events of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moved {
    /// Seconds from the local start in the file to the new one.
    distance: i64,
    /// Difference between the local start and the local end, in seconds.
    length: i64,
}

impl SeriesEdits {
    /// Reads the values shared by a series' events. Returns `None` if it has no events.
    pub fn of(db: &mut Db, series: i64) -> Result<Option<SeriesEdits>, DatabaseError> {
        let Some(of) = stored::find(db, series)? else { return Ok(None) };
        let Some(mut template) = series::template(db, series)? else { return Ok(None) };
        let held = subscribed_events::changed_in_series(db, series)?;
        let members = stored::members(db, series)?;
        let mut parts = Vec::new();
        for part in Part::ALL.into_iter().filter(|part| *part != Part::Dates) {
            let is_shared = |one: &&Membership| !one.changed.iter().any(|name| is_of(name, part));
            let is_held = |one: &&Membership| held.get(&one.event).is_some_and(|it| it.has(part));
            let (holding, others): (Vec<&Membership>, Vec<&Membership>) =
                members.iter().filter(is_shared).partition(is_held);
            let Some(last) = holding.last().filter(|_| holding.len() >= others.len()) else {
                continue;
            };
            if let Some(source) = series::shared(db, last.event)? {
                FIELDS.iter().filter(|name| is_of(name, part)).for_each(|name| {
                    if !(part == Part::Status && source.event.status.is_trashed()) {
                        template.take(name, &source);
                    }
                });
                parts.push(part);
            }
        }
        let has_dates =
            |one: &&Membership| held.get(&one.event).is_some_and(|it| it.has(Part::Dates));
        let dated: Vec<&Membership> = members.iter().filter(has_dates).collect();
        // A single date is moved for itself.
        let is_moved = dated.len() > 1 && dated.len() * 2 > members.len();
        let moved = if is_moved { moved(db, &of, &dated)? } else { None };
        Ok(Some(SeriesEdits { template, parts: Parts::of(parts), moved }))
    }

    /// Returns whether users changed a part for all events of the series.
    pub fn has(&self, part: Part) -> bool {
        self.parts.has(part)
    }

    /// Returns whether a new date gets a part from the series. A date that is private in its file
    /// does not become public just because users published the others.
    pub fn decides(&self, part: Part, is_private: bool) -> bool {
        self.has(part) && !(part == Part::Status && is_private)
    }

    /// Returns the fields of a changed part in which an event differs from the series.
    pub fn differing(&self, own: &Shared, part: Part) -> Vec<&'static str> {
        let mut fields = self.template.differing(own);
        let is_trashed = own.event.status.is_trashed();
        fields.retain(|name| is_of(name, part) && !(is_trashed && *name == STATUS));
        fields
    }

    /// Returns the fields that a new date gets from the series. `has_image` is whether the file
    /// contains a separate image for this date.
    pub fn fields(&self, has_image: bool, is_private: bool) -> TakenFields {
        let is_taken = |name: &&str| match (Part::of_field(name), *name) {
            // Subscriptions have an author for new events.
            (_, "author") => false,
            (None, "image") => !has_image,
            (Some(part), _) => self.decides(part, is_private),
            (None, _) => true,
        };
        let fields = FIELDS.into_iter().filter(is_taken).collect();
        TakenFields { from: self.template.clone(), fields }
    }

    /// Returns the parts of a new date that count as changed by users. `is_planned` is whether the
    /// date takes place at the rule's time.
    pub fn parts(&self, is_planned: bool, is_private: bool) -> Parts {
        let is_moved = |part| part == Part::Dates && is_planned && self.moved.is_some();
        let parts = Part::ALL.into_iter();
        Parts::of(parts.filter(|part| is_moved(*part) || self.decides(*part, is_private)))
    }

    /// Returns the schedule and the slug of a new date, if users moved the events of the series.
    pub fn moved(&self, of: &Series, occurrence: i64) -> Option<(ScheduleChange, String)> {
        let Moved { distance, length } = self.moved?;
        let zone = &self.template.event.schedule.zone;
        let planned = span_in(zone, of, occurrence)?;
        let local = planned.start_local + distance;
        let (start, end) = (wall_from_seconds(local), wall_from_seconds(local + length));
        let schedule = ScheduleChange {
            start: Some(PointInTime::Wall(start)),
            end: Some(PointInTime::Wall(end)),
            zone: Some(zone.clone()),
            all_day: Some(planned.all_day),
        };
        let mut series = of.clone();
        series.plan.start_local += distance;
        let moment = match planned.all_day {
            true => local,
            false => zone.instant(start)?.as_second(),
        };
        Some((schedule, series.slug_of(moment)))
    }
}

fn is_of(field: &str, part: Part) -> bool {
    Part::of_field(field) == Some(part)
}

/// Returns the move shared by more than half of the events whose dates users changed.
fn moved(
    db: &mut Db,
    of: &Series,
    members: &[&Membership],
) -> Result<Option<Moved>, DatabaseError> {
    let ids: Vec<i64> = members.iter().map(|member| member.event).collect();
    let move_of = |member: &Membership, own: &Schedule| {
        let planned = span_in(&own.zone, of, member.occurrence)?;
        let is_alike = planned.all_day == own.all_day;
        let distance = own.start_local - planned.start_local;
        let length = own.end_local - own.start_local;
        let is_moved = distance != 0 || length != planned.end_local - planned.start_local;
        (is_alike && is_moved).then_some(Moved { distance, length })
    };
    let mut moves: Vec<(Moved, usize)> = Vec::new();
    for event in events::by_ids(db, &ids)? {
        let member = members.iter().find(|member| member.event == event.id);
        let Some(found) = member.and_then(|member| move_of(member, &event.schedule)) else {
            continue;
        };
        match moves.iter_mut().find(|(known, _)| *known == found) {
            Some((_, number)) => *number += 1,
            None => moves.push((found, 1)),
        }
    }
    let most = moves.into_iter().max_by_key(|(_, number)| *number);
    Ok(most.filter(|(_, number)| *number > 1 && number * 2 > members.len()).map(|(found, _)| found))
}
