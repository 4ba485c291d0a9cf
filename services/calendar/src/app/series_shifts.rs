//! How the events of a series move when one of them gets another schedule or recurrence.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, ToSpan as _};

use super::series_plans::{MUST_MATCH, check, invalid, with_dates, with_recurrence};
use crate::error::Error;
use crate::model::recurrence::replace_until;
use crate::model::schedule::{
    Schedule, day_end, instant_from_seconds, wall_from_seconds, wall_seconds,
};
use crate::model::series::{ListedDate, Plan, Recurrence, Series};

/// Describes how the occurrences of a series move.
pub struct Shift {
    pub plan: Plan,
    from: Plan,
    delta: SignedDuration,
    by_month: Option<MonthShift>,
}

/// A move to another day of the month, or to another month. Since months vary in length, adding a
/// fixed number of days would miss the occurrences of a monthly or yearly rule.
#[derive(Clone, Copy)]
struct MonthShift {
    months: i32,
    /// Difference between the days of the month.
    days: i8,
    /// Difference between the times of day.
    time: SignedDuration,
}

impl MonthShift {
    /// Returns the shift if an occurrence moves to another day and the rule follows calendar
    /// months.
    fn of(from: &Plan, occurrence: i64, (was, now): (DateTime, DateTime)) -> Option<MonthShift> {
        let is_by_month = from.parsed().is_some_and(|rule| rule.follows_months());
        let is_other_day = was.date() != now.date();
        (is_by_month && is_other_day && from.rules(occurrence)).then(|| {
            let month = |wall: DateTime| 12 * i32::from(wall.year()) + i32::from(wall.month());
            MonthShift {
                months: month(now) - month(was),
                days: now.day() - was.day(),
                time: was.time().duration_until(now.time()),
            }
        })
    }

    /// Returns the first day of the month to which the month of `day` is moved.
    fn month(&self, day: Date) -> Option<Date> {
        day.first_of_month().checked_add(self.months.months()).ok()
    }

    /// Moves an occurrence. Returns `None` if its new month doesn't have this day.
    fn moved(&self, wall: DateTime) -> Option<DateTime> {
        let day = self.month(wall.date())?.with().day(wall.day() + self.days).build().ok()?;
        day.to_datetime(wall.time()).checked_add(self.time).ok()
    }

    /// Moves the end of the rule, keeping it within the new month.
    fn moved_end(&self, wall: DateTime) -> Option<DateTime> {
        let month = self.month(wall.date())?;
        match wall.day() + self.days {
            ..=0 => Some(day_end(month.yesterday().ok()?)),
            day if day > month.days_in_month() => Some(day_end(month.last_of_month())),
            day => {
                let day = month.with().day(day).build().ok()?;
                day.to_datetime(wall.time()).checked_add(self.time).ok()
            }
        }
    }
}

impl Shift {
    /// Returns the moment that an occurrence moves to.
    pub fn moved(&self, occurrence: i64) -> i64 {
        let wall = self.from.planned_wall(occurrence);
        let by_month = self.by_month.filter(|_| self.from.rules(occurrence));
        let wall = by_month
            .and_then(|shift| shift.moved(wall))
            .or_else(|| wall.checked_add(self.delta).ok())
            .unwrap_or(wall);
        let wall = match self.plan.all_day {
            true => wall.date().to_datetime(Time::midnight()),
            false => wall,
        };
        self.plan.at(wall)
    }

    /// Returns the new end of the rule.
    fn moved_end(&self, last: DateTime) -> DateTime {
        let moved = match self.by_month {
            Some(shift) => shift.moved_end(last),
            None => last.checked_add(self.delta).ok(),
        };
        moved.unwrap_or(last)
    }

    /// Returns the recurrence before the change.
    pub fn before(&self) -> &Plan {
        &self.from
    }

    /// Returns whether the keys of occurrences change.
    pub fn is_moving(&self) -> bool {
        let same_zone =
            (&self.from.zone, self.from.all_day) == (&self.plan.zone, self.plan.all_day);
        !self.delta.is_zero() || !same_zone
    }

    /// Returns whether occurrences move to a later time.
    pub fn is_later(&self) -> bool {
        self.delta.is_positive()
    }

    /// Determines how a series moves when one of its events gets a new schedule and, optionally,
    /// the series gets a new recurrence. `None` if nothing moves.
    ///
    /// # Errors
    ///
    /// Returns an error if the rule is tied to certain days or times, so that the new dates would
    /// require a new recurrence.
    pub fn of(
        series: &Series,
        occurrence: i64,
        (old, new): (&Schedule, &Schedule),
        recurrence: Option<&Recurrence>,
    ) -> Result<Option<Shift>, Error> {
        // A series in UTC can be shown in a different time zone.
        let is_moved = old.zone != new.zone || old.all_day != new.all_day;
        let mut from = series.plan.clone();
        if is_moved && !from.all_day {
            let first = from.first();
            let length = from.end_local - from.start_local;
            from.start_local = wall_seconds(old.zone.wall(instant_from_seconds(first)));
            from.end_local = from.start_local + length;
            from.zone = old.zone.clone();
        }
        let own_zone = if from.all_day || is_moved { None } else { Some(from.zone.clone()) };
        let start_of = |schedule: &Schedule| match &own_zone {
            Some(zone) if !schedule.all_day && *zone != schedule.zone => {
                zone.wall(instant_from_seconds(schedule.start_utc))
            }
            _ => wall_from_seconds(schedule.start_local),
        };
        let was = from.planned_wall(occurrence);
        // All-day events move by whole days, regardless of the events' times.
        let of_day = |wall: DateTime| match new.all_day && old != new {
            true => wall.date().to_datetime(Time::midnight()),
            false => wall,
        };
        let was = of_day(was);
        let delta = match (old == new, recurrence) {
            (true, None) => return Ok(None),
            (true, Some(_)) => SignedDuration::ZERO,
            (false, _) if !is_moved && old.start_utc == new.start_utc => SignedDuration::ZERO,
            (false, _) => start_of(new).duration_since(was),
        };
        let by_month = match (old == new, recurrence) {
            (false, None) => MonthShift::of(&from, occurrence, (was, start_of(new))),
            _ => None,
        };
        let start = by_month
            .and_then(|shift| shift.moved(from.start()))
            .or_else(|| from.start().checked_add(delta).ok())
            .map_or(from.start(), of_day);
        let mut plan = match old == new {
            true => from.clone(),
            false => with_dates(new, start)?,
        };
        if let Some(zone) = own_zone.filter(|_| !plan.all_day) {
            plan.zone = zone;
        }
        let shift = Shift { plan: plan.clone(), from: from.clone(), delta, by_month };
        if old != new {
            let moved = |keys: &[String]| {
                let moments = keys.iter().filter_map(|key| from.moment(key));
                let mut moments: Vec<i64> = moments.map(|one| shift.moved(one)).collect();
                moments.sort_unstable();
                moments.dedup();
                moments.iter().map(|moment| plan.key(*moment)).collect::<Vec<_>>()
            };
            (plan.rdates, plan.exdates) = (moved(&from.rdates), moved(&from.exdates));
        }
        if let Some(recurrence) = recurrence {
            plan.rule.clone_from(&from.rule);
            plan = with_recurrence(plan, recurrence)?;
        } else {
            plan.rule = moved_rule(&from, &shift, start)?;
            plan = check(plan)?;
            // The new month might not have this day.
            if !plan.has(shift.moved(occurrence)) {
                return Err(invalid("start_date", MUST_MATCH));
            }
        }
        let is_same = plan == series.plan;
        Ok((!is_same).then_some(Shift { plan, ..shift }))
    }
}

/// Returns the rule for a series that moves but keeps its recurrence.
fn moved_rule(from: &Plan, shift: &Shift, start: DateTime) -> Result<String, Error> {
    let Some(rule) = from.parsed() else { return Ok(from.rule.clone()) };
    let days = from.start().date().duration_until(start.date()).as_hours() / 24;
    let (is_day, is_time) = (
        start.date() != from.start().date() && !(rule.repeats_weekly() && days % 7 == 0),
        start.time() != from.start().time() || shift.plan.all_day != from.all_day,
    );
    if (is_day && rule.names_days()) || (is_time && rule.names_times()) {
        return Err(invalid("start_date", MUST_MATCH));
    }
    let Some(last) = from.ends() else { return Ok(from.rule.clone()) };
    Ok(replace_until(&from.rule, &shift.plan.until(ListedDate::Wall(shift.moved_end(last)))))
}
