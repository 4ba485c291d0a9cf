//! Parts of a recurrence: the occurrences before and from a moment, and those at given moments.

use std::collections::HashSet;

use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::series_plans::{SECONDS_OF_A_DAY, invalid};
use crate::error::Error;
use crate::model::recurrence::{Rule, with_count, with_until};
use crate::model::schedule::wall_seconds;
use crate::model::series::Plan;

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
    let last = last_before(plan, moment);
    let rule = match is_over_at(plan, plan.wall(last)) {
        true => plan.rule.clone(),
        false => with_until(&plan.rule, &plan.key(last)),
    };
    let is_earlier = |key: &&String| plan.moment(key).is_some_and(|one| one < moment);
    let kept = |keys: &[String]| keys.iter().filter(is_earlier).cloned().collect();
    Plan { rule, rdates: kept(&plan.rdates), exdates: kept(&plan.exdates), ..plan.clone() }
}

/// Returns a moment at which a recurrence can end so that it excludes the occurrence at `moment`.
fn last_before(plan: &Plan, moment: i64) -> i64 {
    if plan.all_day {
        return moment - SECONDS_OF_A_DAY;
    }
    let (last, planned) = (moment - 1, plan.planned_wall(moment));
    if plan.wall(last) < planned {
        return last;
    }
    // Clocks skip the occurrence's time of day, so the second before it has a later local time.
    let earlier = planned.checked_sub(SignedDuration::from_secs(1)).unwrap_or(planned);
    let passed = plan.parsed().and_then(|rule| rule.expand(plan.start(), earlier).ok());
    passed.and_then(|passed| passed.last().map(|wall| plan.at(*wall))).unwrap_or(last)
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
/// once, because expanding a rule that started centuries ago is slow.
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
    use crate::model::zone::Zone;

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
