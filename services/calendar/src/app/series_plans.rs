//! Recurrences of series: built from a write request, then shifted and split.

use std::collections::{BTreeSet, HashSet};

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use crate::error::Error;
use crate::model::recurrence::{Rule, replace_until, with_count, with_until, without_end};
use crate::model::schedule::{
    Schedule, day_end, instant_from_seconds, wall_from_seconds, wall_seconds,
};
use crate::model::series::{ListedDate, Plan, Recurrence, RuleEnd, Series};
use crate::model::zone::Zone;
use crate::wire::parameter_errors::ParameterErrors;

const SECONDS_OF_A_DAY: i64 = 24 * 3600;

/// The message for a start that doesn't match the rule.
const MUST_MATCH: &str = "must match the rule of the series, or be sent with another recurrence";

/// Returns an invalid-parameter error.
pub fn invalid(name: &'static str, text: &str) -> Error {
    ParameterErrors::one(name, text).into()
}

/// Returns the recurrence of a series whose first event has this schedule.
///
/// # Errors
///
/// Returns an error if the start is excluded or doesn't match the rule, or if the time zone can't
/// be used for a series.
pub fn plan_of(schedule: &Schedule, recurrence: &Recurrence) -> Result<Plan, Error> {
    let start = wall_from_seconds(schedule.start_local);
    let plan = with_dates(schedule, start)?;
    let plan = with_recurrence(plan, recurrence)?;
    if plan.exdates.contains(&plan.key(plan.first())) {
        return Err(invalid("recurrence", "must not exclude the start of the event"));
    }
    if !schedule.all_day && plan.first() != schedule.start_utc {
        return Err(invalid("start_date", "must not be in an hour that occurs twice"));
    }
    Ok(plan)
}

/// Returns a recurrence without a rule, with the time zone and length of `schedule`.
fn with_dates(schedule: &Schedule, start: DateTime) -> Result<Plan, Error> {
    let Schedule { zone, all_day, .. } = schedule;
    let zone = match zone.is_fixed() {
        _ if *all_day => Zone::utc(),
        true if zone.offset(Timestamp::UNIX_EPOCH) == 0 => Zone::utc(),
        true => return Err(invalid("timezone", "must be a named zone or UTC for a series")),
        false => zone.clone(),
    };
    let start_local = wall_seconds(start);
    let length = schedule.end_local - schedule.start_local;
    let length = if *all_day { length - length.rem_euclid(SECONDS_OF_A_DAY) } else { length };
    let duration = match length < 0 {
        // The clocks go back in between.
        true => format!("PT{}S", schedule.end_utc - schedule.start_utc),
        false => String::new(),
    };
    Ok(Plan {
        zone,
        all_day: *all_day,
        start_local,
        end_local: start_local + length,
        duration,
        rule: String::new(),
        rdates: Vec::new(),
        exdates: Vec::new(),
    })
}

/// Replaces the rule with the one in a write request, along with the date lists that the request
/// contains. If it has a new `until` and no added dates, existing added dates after `until` are
/// dropped.
///
/// # Errors
///
/// Returns an error if the start doesn't match the rule, if the rule has two ends, or if there are
/// neither a rule nor added dates.
fn with_recurrence(mut plan: Plan, recurrence: &Recurrence) -> Result<Plan, Error> {
    let rule = without_end(&recurrence.rule);
    let keeps_only_dates = plan.rule.is_empty() && !plan.rdates.is_empty();
    if rule.is_empty() && recurrence.rdates.is_none() && !keeps_only_dates {
        return Err(invalid("recurrence", "must have an rrule or rdates"));
    }
    let before = plan.ends();
    plan.rule = match recurrence.end {
        RuleEnd::Never => rule,
        RuleEnd::Count(count) => with_count(&rule, count),
        RuleEnd::Until(last) => with_until(&rule, &plan.until(last)),
        RuleEnd::Both(..) => return Err(invalid("recurrence", "must have either until or count")),
    };
    match (&recurrence.rdates, plan.ends()) {
        (Some(dates), _) => plan.rdates = plan.keys(dates),
        (None, Some(last)) if before != Some(last) => {
            let mut kept = std::mem::take(&mut plan.rdates);
            kept.retain(|key| plan.moment(key).is_some_and(|moment| plan.wall(moment) <= last));
            plan.rdates = kept;
        }
        (None, _) => {}
    }
    if let Some(dates) = &recurrence.exdates {
        plan.exdates = plan.keys(dates);
    }
    check(plan)
}

/// Returns whether the recurrence in a write request is equivalent to the stored one. Clients send
/// rules back, and the parts of an imported rule may be in any order. Date lists missing from the
/// request count as unchanged.
pub fn is_recurrence_of(plan: &Plan, recurrence: &Recurrence) -> bool {
    let (stored, sent) = (without_end(&plan.rule), without_end(&recurrence.rule));
    let (sent_count, sent_until) = match recurrence.end {
        RuleEnd::Never => (None, None),
        RuleEnd::Count(count) => (Some(count), None),
        RuleEnd::Until(last) => (None, Some(last)),
        RuleEnd::Both(count, last) => (Some(count), Some(last)),
    };
    let count = plan.parsed().and_then(|rule| rule.count());
    let sent_end = sent_until.and_then(|last| {
        let rule = with_until(&sent, &plan.until(last));
        Plan { rule, ..plan.clone() }.ends()
    });
    let are_same_ends = match (sent_end, plan.ends()) {
        // Starts of all-day events have no time.
        (Some(sent), Some(stored)) if plan.all_day => sent.date() == stored.date(),
        (sent, stored) => sent == stored,
    };
    let are_same_dates = |keys: &[String], dates: Option<&[ListedDate]>| {
        let Some(dates) = dates else { return true };
        let stored: BTreeSet<i64> = keys.iter().filter_map(|key| plan.moment(key)).collect();
        dates.iter().map(|date| plan.listed(*date)).collect::<BTreeSet<i64>>() == stored
    };
    (stored == sent || (!sent.is_empty() && Rule::parse(&stored) == Rule::parse(&sent)))
        && sent_count == count
        && are_same_ends
        && are_same_dates(&plan.rdates, recurrence.rdates.as_deref())
        && are_same_dates(&plan.exdates, recurrence.exdates.as_deref())
}

/// Fails unless the recurrence includes its own start.
fn check(plan: Plan) -> Result<Plan, Error> {
    let start = plan.start();
    if plan.parsed().is_some_and(|rule| !rule.has(start)) {
        return Err(invalid("start_date", MUST_MATCH));
    }
    if plan.ends().is_some_and(|last| last < start) {
        return Err(invalid("recurrence", "must not end before the start of the event"));
    }
    Ok(plan)
}

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
    /// Returns the shift if an occurrence of the rule moves to another day and the rule follows
    /// calendar months.
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
        // A series in UTC may be shown in a different time zone.
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
        // All-day events move by whole days, regardless of the times of the other events.
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
            // The new month may not have this day.
            if !plan.has(shift.moved(occurrence)) {
                return Err(invalid("start_date", MUST_MATCH));
            }
        }
        let is_same = plan == series.plan;
        Ok((!is_same).then_some(Shift { plan, ..shift }))
    }
}

/// Returns the rule of a series that moves but keeps its recurrence.
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

/// Splits a recurrence in two: the occurrences before `moment`, and the rest.
///
/// # Errors
///
/// Returns an error if the occurrence isn't part of the rule, but was added separately.
pub fn split(plan: &Plan, moment: i64) -> Result<(Plan, Plan), Error> {
    if !plan.rules(moment) {
        let text = "must be this or all for a date that is not part of the rule";
        return Err(invalid("scope", text));
    }
    let before = ended_before(plan, moment);
    let start = plan.planned_wall(moment);
    let mut after = Plan {
        start_local: wall_seconds(start),
        end_local: wall_seconds(start) + plan.end_local - plan.start_local,
        ..plan.clone()
    };
    if let Some(rule) = plan.parsed()
        && let Some(count) = rule.count()
    {
        let earlier = start.checked_sub(SignedDuration::from_secs(1)).unwrap_or(start);
        let passed = rule.expand(plan.start(), earlier).map(|all| all.len());
        let passed = passed.map_err(|_| invalid("scope", "must be this or all for this rule"))?;
        let counted = with_count(&plan.rule, count.saturating_sub(passed).max(1));
        after.rule = match rule.until {
            Some(until) => format!("{counted};UNTIL={until}"),
            None => counted,
        };
    }
    let is_later = |key: &String| plan.moment(key).is_some_and(|one| one >= moment);
    after.rdates.retain(is_later);
    after.exdates.retain(is_later);
    Ok((before, after))
}

/// Returns the recurrence from this occurrence onwards. `None` if it isn't an occurrence of the
/// rule.
pub fn from_on(plan: &Plan, moment: i64) -> Option<Plan> {
    if moment == plan.first() {
        return Some(plan.clone());
    }
    if !plan.rule.is_empty() {
        return split(plan, moment).ok().map(|(_, after)| after);
    }
    let start_local = wall_seconds(plan.wall(moment));
    let is_later = |key: &&String| plan.moment(key).is_some_and(|one| one > moment);
    let later = |keys: &[String]| keys.iter().filter(is_later).cloned().collect();
    plan.has(moment).then(|| Plan {
        start_local,
        end_local: start_local + plan.end_local - plan.start_local,
        rdates: later(&plan.rdates),
        exdates: later(&plan.exdates),
        ..plan.clone()
    })
}

/// Returns the recurrence, ending before this occurrence. A rule that has already ended by then
/// keeps its end, because a later one would add occurrences.
pub fn ended_before(plan: &Plan, moment: i64) -> Plan {
    let last = if plan.all_day { moment - SECONDS_OF_A_DAY } else { moment - 1 };
    let rule = match is_over_at(plan, plan.wall(last)) {
        true => plan.rule.clone(),
        false => with_until(&plan.rule, &plan.key(last)),
    };
    let is_earlier = |key: &&String| plan.moment(key).is_some_and(|one| one < moment);
    let kept = |keys: &[String]| keys.iter().filter(is_earlier).cloned().collect();
    Plan { rule, rdates: kept(&plan.rdates), exdates: kept(&plan.exdates), ..plan.clone() }
}

/// Returns whether the rule's `UNTIL` or `COUNT` leaves no occurrences after `last`.
fn is_over_at(plan: &Plan, last: DateTime) -> bool {
    let is_counted = |rule: &Rule, count: usize| {
        rule.expand(plan.start(), last).is_ok_and(|passed| passed.len() >= count)
    };
    let rule = plan.parsed();
    rule.is_some_and(|rule| rule.count().is_some_and(|count| is_counted(&rule, count)))
        || plan.ends().is_some_and(|end| end < last)
}

/// Returns which of `moments` are occurrences, including excluded ones. The rule is expanded only
/// once, because that takes long for a rule that started centuries ago.
pub fn occurrences_among(plan: &Plan, moments: &[i64]) -> HashSet<i64> {
    let ruled = plan.parsed().and_then(|rule| plan.ruled_near(&rule, moments.iter()));
    let is_occurrence = |moment: &i64| match &ruled {
        Some(ruled) => {
            ruled.binary_search(moment).is_ok() || plan.rdates.contains(&plan.key(*moment))
        }
        None => plan.has(*moment),
    };
    moments.iter().copied().filter(is_occurrence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_among_moments_match_single_checks() {
        for rule in [
            "",
            "FREQ=WEEKLY",
            "FREQ=WEEKLY;COUNT=4",
            "FREQ=DAILY;BYDAY=TU,FR;UNTIL=20270406T160000Z",
            "FREQ=MONTHLY;BYMONTHDAY=16,-1",
            "FREQ=MINUTELY",
        ] {
            let start = wall_seconds("2027-03-16T18:00".parse().unwrap());
            let plan = Plan {
                zone: Zone::parse("Europe/Vienna").unwrap(),
                all_day: false,
                start_local: start,
                end_local: start + 3600,
                duration: String::new(),
                rule: rule.to_owned(),
                rdates: vec!["20270325T190000Z".to_owned()],
                exdates: vec!["20270323T170000Z".to_owned()],
            };
            let hours = (-48..24 * 40).map(|hour| plan.first() + hour * 3600);
            let moments: Vec<i64> = hours.collect();
            let expected: HashSet<i64> =
                moments.iter().copied().filter(|moment| plan.has(*moment)).collect();
            assert_eq!(occurrences_among(&plan, &moments), expected, "{rule}");
        }
    }
}
