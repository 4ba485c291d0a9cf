//! Writes recurrence rules and dates in iCalendar format.

use jiff::civil::Time;

use super::length::Length;
use super::lines::line;
use super::moment::Moment;
use super::zones::{local, needs_rules};
use crate::model::recurrence::plain;
use crate::model::schedule::{instant_from_seconds, wall_from_seconds};
use crate::model::series::Plan;

/// Returns the start and end of the occurrence at `moment`, or `None` if its end is out of range.
pub fn span(plan: &Plan, moment: i64) -> Option<(Moment, Moment)> {
    let start = match plan.all_day {
        true => Moment::Day(plan.wall(moment).date()),
        false => Moment::Time(instant_from_seconds(moment), plan.zone.clone()),
    };
    let length = match plan.duration.is_empty() {
        true => {
            let (first, last) = (plan.start(), wall_from_seconds(plan.end_local));
            let (first, last) = match plan.all_day {
                true => [first, last].map(|wall| wall.date().to_datetime(Time::midnight())).into(),
                false => (first, last),
            };
            Length::Clock(first.until(last).ok()?)
        }
        false => Length::parse("DURATION", &plan.duration).ok()?,
    };
    let end = length.end_of(&start)?;
    Some((start, end))
}

/// Writes a series' start, end and recurrence properties.
pub fn lines(out: &mut String, plan: &Plan) {
    let (start, end) = (plan.start(), wall_from_seconds(plan.end_local));
    if plan.all_day {
        let behind = end.date().tomorrow().unwrap_or(end.date());
        line(out, "DTSTART;VALUE=DATE", &start.date().strftime("%Y%m%d").to_string());
        line(out, "DTEND;VALUE=DATE", &behind.strftime("%Y%m%d").to_string());
    } else {
        let mut time = |name: &str, wall| match needs_rules(&plan.zone) {
            true => line(out, &format!("{name};TZID={}", plan.zone.name()), &local(wall)),
            false => line(out, name, &format!("{}Z", local(wall))),
        };
        time("DTSTART", start);
        match plan.duration.is_empty() {
            true => time("DTEND", end),
            false => line(out, "DURATION", &plan.duration),
        }
    }
    if !plan.rule.is_empty() {
        line(out, "RRULE", &plain(&plan.rule));
    }
    for (name, keys) in [("RDATE", &plan.rdates), ("EXDATE", &plan.exdates)] {
        let moments: Vec<i64> = keys.iter().filter_map(|key| plan.moment(key)).collect();
        dates(out, name, plan, &moments);
    }
}

/// Writes a list of dates in the same form as DTSTART. In a repeated hour, times in the second pass
/// are written in UTC. Skipped times are written unchanged, because some programs compare local
/// times.
pub fn dates(out: &mut String, name: &str, plan: &Plan, moments: &[i64]) {
    if plan.all_day {
        write(out, &format!("{name};VALUE=DATE"), moments, |moment| plan.key(moment));
        return;
    }
    let is_clear = |moment: &i64| plan.zone.is_unambiguous(instant_from_seconds(*moment));
    let is_local = |moment: &i64| needs_rules(&plan.zone) && is_clear(moment);
    let (locals, others): (Vec<i64>, Vec<i64>) = moments.iter().partition(|one| is_local(one));
    let name_in_zone = format!("{name};TZID={}", plan.zone.name());
    write(out, &name_in_zone, &locals, |moment| local(plan.planned_wall(moment)));
    write(out, name, &others, |moment| plan.key(moment));
}

fn write(out: &mut String, name: &str, moments: &[i64], form: impl Fn(i64) -> String) {
    if !moments.is_empty() {
        let values: Vec<String> = moments.iter().map(|moment| form(*moment)).collect();
        line(out, name, &values.join(","));
    }
}
