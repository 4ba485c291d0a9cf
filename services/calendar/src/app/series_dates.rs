//! When events in a series take place: at the times given by the rule, or wherever users moved
//! them.

use crate::ical::{self, Moment};
use crate::model::schedule::{Schedule, wall_from_seconds, wall_seconds};
use crate::model::series::Series;
use crate::model::when::PointInTime;
use crate::model::zone::Zone;

/// Returns an occurrence's schedule as shown in `zone`. `None` if its dates are outside the
/// supported range.
pub fn schedule(zone: &Zone, start: &Moment, end: &Moment) -> Option<Schedule> {
    let point = |moment: &Moment| match moment {
        Moment::Day(_) => PointInTime::Wall(moment.wall()),
        Moment::Time(at, _) => PointInTime::Instant(*at),
    };
    let all_day = matches!(start, Moment::Day(_));
    Schedule::new(zone.clone(), all_day, point(start), point(end)).ok()
}

/// Returns an occurrence's scheduled time, in the series' time zone.
pub fn span_of(series: &Series, occurrence: i64) -> Option<Schedule> {
    span_in(&series.plan.zone, series, occurrence)
}

/// Returns an occurrence's scheduled time, shown in `zone`.
pub fn span_in(zone: &Zone, series: &Series, occurrence: i64) -> Option<Schedule> {
    let (start, end) = ical::span(&series.plan, occurrence)?;
    schedule(zone, &start, &end)
}

/// Returns an occurrence's scheduled start as a local time in `zone`. In the series' own zone, this
/// is the time of day given by the rule, even if clocks skip it.
fn start_in(zone: &Zone, series: &Series, occurrence: i64) -> Option<i64> {
    let planned = span_in(zone, series, occurrence)?;
    Some(match planned.all_day || series.plan.zone != *zone {
        true => planned.start_local,
        false => wall_seconds(series.plan.planned_wall(occurrence)),
    })
}

/// Returns the parts of a schedule that don't depend on the displayed time zone, for comparing two
/// schedules.
pub fn times(one: &Schedule) -> (bool, i64, i64) {
    match one.all_day {
        true => (true, one.start_local, one.end_local),
        false => (false, one.start_utc, one.end_utc),
    }
}

/// Returns the zones in which an event's offset from its scheduled time might be constant. There
/// are two if the recurrence is in UTC but shown in another zone, or if a user changed the event's
/// zone.
pub fn bases<'a>(series: &'a Series, own: &'a Schedule) -> Vec<&'a Zone> {
    let (plan, shown) = (&series.plan, &own.zone);
    match plan.zone == *shown {
        true => vec![shown],
        // If both match, the last one is used.
        false if !plan.all_day && plan.zone == Zone::utc() => vec![&plan.zone, shown],
        false => vec![shown, &plan.zone],
    }
}

/// How an event differs from its scheduled time.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The zone used to convert the scheduled start to local time.
    base: Zone,
    zone: Zone,
    all_day: bool,
    /// Seconds from the scheduled local start to the actual one.
    distance: i64,
    /// Difference between the event's local start and local end, in seconds.
    length: i64,
}

impl Moved {
    /// Compares an event with its scheduled time. The scheduled start is converted to local time in
    /// the zone `base`.
    pub fn of(series: &Series, occurrence: i64, base: &Zone, own: &Schedule) -> Option<Moved> {
        let planned = span_in(base, series, occurrence)?;
        let distance = match own.start_local == planned.start_local {
            true => 0,
            false => own.start_local - start_in(base, series, occurrence)?,
        };
        let length = own.end_local - own.start_local;
        let (base, zone, all_day) = (base.clone(), own.zone.clone(), own.all_day);
        Some(Moved { base, zone, all_day, distance, length })
    }

    /// Returns whether the offsets are the same, even if the lengths differ.
    pub fn has_distance_of(&self, other: &Moved) -> bool {
        Moved { length: other.length, ..self.clone() } == *other
    }

    /// Returns the schedule and the slug of another occurrence with this offset.
    pub fn place(&self, series: &Series, occurrence: i64) -> Option<(Schedule, String)> {
        let local = start_in(&self.base, series, occurrence)? + self.distance;
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
