//! When the events of a series take place: by its rule, or where users moved them.

use crate::ical::{self, Moment};
use crate::model::schedule::{Schedule, wall_from_seconds};
use crate::model::series::Series;
use crate::model::when::PointInTime;
use crate::model::zone::Zone;

/// Returns the schedule of an occurrence shown in this time zone. Returns `None` for times that we
/// don't support.
pub fn schedule(zone: &Zone, start: &Moment, end: &Moment) -> Option<Schedule> {
    let point = |moment: &Moment| match moment {
        Moment::Day(_) => PointInTime::Wall(moment.wall()),
        Moment::Time(at, _) => PointInTime::Instant(*at),
    };
    let all_day = matches!(start, Moment::Day(_));
    Schedule::new(zone.clone(), all_day, point(start), point(end)).ok()
}

/// Returns an occurrence's schedule according to the series plan, in the time zone of the plan.
pub fn span_of(series: &Series, occurrence: i64) -> Option<Schedule> {
    span_in(&series.plan.zone, series, occurrence)
}

/// Returns an occurrence's schedule according to the series plan, shown in this time zone.
pub fn span_in(zone: &Zone, series: &Series, occurrence: i64) -> Option<Schedule> {
    let (start, end) = ical::span(&series.plan, occurrence)?;
    schedule(zone, &start, &end)
}

/// Returns what two schedules have in common if they differ only in the displayed time zone.
pub fn times(one: &Schedule) -> (bool, i64, i64) {
    match one.all_day {
        true => (true, one.start_local, one.end_local),
        false => (false, one.start_utc, one.end_utc),
    }
}

/// Returns the zones in which an event may keep the same distance from its date in the plan. They
/// differ if the plan is in UTC and shown elsewhere, or if a user changed the zone.
pub fn bases<'a>(series: &'a Series, own: &'a Schedule) -> Vec<&'a Zone> {
    let (plan, shown) = (&series.plan, &own.zone);
    match plan.zone == *shown {
        true => vec![shown],
        // If both match, uses the last one.
        false if !plan.all_day && plan.zone == Zone::utc() => vec![&plan.zone, shown],
        false => vec![shown, &plan.zone],
    }
}

/// The place of an event relative to its date in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The zone in which the local start in the plan is read.
    base: Zone,
    zone: Zone,
    all_day: bool,
    /// Seconds from the local start in the plan to that of the event.
    distance: i64,
    /// Difference between the event's local start and local end, in seconds.
    length: i64,
}

impl Moved {
    /// Compares an event with its date in the plan. The local start of that date is read in the
    /// zone `base`.
    pub fn of(series: &Series, occurrence: i64, base: &Zone, own: &Schedule) -> Option<Moved> {
        let planned = span_in(base, series, occurrence)?;
        let distance = own.start_local - planned.start_local;
        let length = own.end_local - own.start_local;
        let (base, zone, all_day) = (base.clone(), own.zone.clone(), own.all_day);
        Some(Moved { base, zone, all_day, distance, length })
    }

    /// Returns whether an event has the same distance from its date, whatever its length.
    pub fn has_distance_of(&self, other: &Moved) -> bool {
        Moved { length: other.length, ..self.clone() } == *other
    }

    /// Returns the schedule and the slug of another date with this distance.
    pub fn place(&self, series: &Series, occurrence: i64) -> Option<(Schedule, String)> {
        let planned = span_in(&self.base, series, occurrence)?;
        let local = planned.start_local + self.distance;
        let [start, end] = [local, local + self.length];
        let [start, end] = [start, end].map(|at| PointInTime::Wall(wall_from_seconds(at)));
        let schedule = Schedule::new(self.zone.clone(), self.all_day, start, end).ok()?;
        let mut series = series.clone();
        let plan = &mut series.plan;
        plan.start_local += self.distance;
        if plan.all_day || plan.zone == self.base {
            plan.zone = self.zone.clone();
        }
        plan.all_day = self.all_day;
        let moment = if self.all_day { local } else { schedule.start_utc };
        Some((schedule, series.slug_of(moment)))
    }
}
