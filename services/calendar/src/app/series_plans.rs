//! Recurrences of series: built from a write request, and split.

use std::collections::{BTreeSet, HashSet};

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};

use crate::error::Error;
use crate::model::recurrence::{Rule, with_count, with_until, without_end};
use crate::model::schedule::{Schedule, wall_from_seconds, wall_seconds};
use crate::model::series::{ListedDate, Plan, Recurrence, RuleEnd};
use crate::model::zone::Zone;
use crate::wire::parameter_errors::ParameterErrors;

const SECONDS_OF_A_DAY: i64 = 24 * 3600;

/// The message for a start that doesn't match the rule.
pub const MUST_MATCH: &str =
    "must match the rule of the series, or be sent with another recurrence";

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
