//! Recurrences of series, built from a write request and compared with one.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::error::Error;
use crate::model::recurrence::{Rule, with_count, with_until, without_end};
use crate::model::schedule::{Schedule, wall_from_seconds, wall_seconds};
use crate::model::series::{ListedDate, Plan, Recurrence, RuleEnd};
use crate::model::zone::Zone;
use crate::wire::parameter_errors::ParameterErrors;

pub const SECONDS_OF_A_DAY: i64 = 24 * 3600;

/// Error message for a start that doesn't match the rule.
pub const MUST_MATCH: &str =
    "must match the rule of the series, or be sent with another recurrence";

/// Returns an invalid-parameter error.
pub fn invalid(name: &'static str, text: &str) -> Error {
    ParameterErrors::one(name, text).into()
}

/// Returns the recurrence for a series that starts with an event at this time.
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
pub fn with_dates(schedule: &Schedule, start: DateTime) -> Result<Plan, Error> {
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
        // The clocks go back during the event.
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
pub fn with_recurrence(mut plan: Plan, recurrence: &Recurrence) -> Result<Plan, Error> {
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
/// rules back, and the parts of an imported rule can be in any order. Date lists missing from the
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
        // The start of an all-day event has no time.
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
pub fn check(plan: Plan) -> Result<Plan, Error> {
    let start = plan.start();
    if plan.parsed().is_some_and(|rule| !rule.has(start)) {
        return Err(invalid("start_date", MUST_MATCH));
    }
    if plan.ends().is_some_and(|last| last < start) {
        return Err(invalid("recurrence", "must not end before the start of the event"));
    }
    Ok(plan)
}
