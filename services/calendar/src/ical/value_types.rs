//! Corrects the start and end of events if their types or zones don't match.

use jiff::civil::{Date, DateTime, Time};

use super::property::{Property, has_time};
use crate::model::schedule::wall_seconds;

/// Length of a date such as `20260131`.
const DAY: usize = 8;

/// Length of a local time such as `20260131T180000`.
const LOCAL_TIME: usize = 15;

/// A week in seconds. If the end precedes the start by more than this, its month or year is
/// probably wrong.
const WEEK_SECONDS: i64 = 7 * 86_400;

/// Corrects an event's dates and times:
/// - A RECURRENCE-ID in local time without a zone gets the zone of DTSTART.
/// - If only one of start and end has a time of day, the other one gets a time too, even if it is
///   declared or written as a day.
/// - If both are local times and only one of them has a zone, the other one gets the same zone.
/// - If both are times and the end precedes the start by less than a week, the two are swapped.
///
/// The start of a recurring event or range override keeps its zone and is never swapped, because
/// other dates depend on it. Returns the line number of the end if it was swapped.
pub fn correct(properties: &mut [Property]) -> Option<u64> {
    add_zone_of_start(properties);
    let place = |name: &str| properties.iter().position(|one| one.name == name);
    let places = [place("DTSTART")?, place("DTEND")?];
    let has_others = properties.iter().any(has_other_dates);
    let [start, end] = properties.get_disjoint_mut(places).ok()?;
    add_times(start, end);
    add_zone(start, end, has_others);
    let (first, last) = (written(start)?, written(end)?);
    let is_alike = start.parameter("TZID") == end.parameter("TZID")
        && start.value.trim().len() == end.value.trim().len()
        && start.value.trim().len() > DAY;
    let early = wall_seconds(first) - wall_seconds(last);
    if has_others || !is_alike || !(1..WEEK_SECONDS).contains(&early) {
        return None;
    }
    std::mem::swap(&mut start.value, &mut end.value);
    Some(end.line)
}

/// Returns whether a property makes other dates depend on the start of its event.
fn has_other_dates(property: &Property) -> bool {
    match property.name.as_str() {
        "EXDATE" | "RDATE" | "RRULE" => !property.value.trim().is_empty(),
        "RECURRENCE-ID" => property.parameter("RANGE").is_some(),
        _ => false,
    }
}

fn add_times(start: &mut Property, end: &mut Property) {
    if !has_time(&start.value) && !has_time(&end.value) {
        return;
    }
    if start.value.trim().len() == DAY {
        let mut midnight = format!("{}T000000", start.value.trim());
        if start.parameter("TZID").is_none() {
            start.parameters.clone_from(&end.parameters);
            if end.value.trim().ends_with(['Z', 'z']) {
                midnight.push('Z');
            }
        }
        start.value = midnight;
    }
    for edge in [start, end] {
        if edge.value.trim().len() > DAY {
            edge.parameters.retain(|(name, _)| name != "VALUE");
        }
    }
}

fn add_zone_of_start(properties: &mut [Property]) {
    let start = properties.iter().find(|one| one.name == "DTSTART");
    let zone = start.filter(|start| start.value.trim().len() == LOCAL_TIME);
    let zone = zone.and_then(|start| start.parameters.iter().find(|(name, _)| name == "TZID"));
    let Some(zone) = zone.cloned() else { return };
    for replaced in properties.iter_mut().filter(|one| one.name == "RECURRENCE-ID") {
        if replaced.value.trim().len() == LOCAL_TIME && replaced.parameter("TZID").is_none() {
            replaced.parameters.push(zone.clone());
        }
    }
}

fn add_zone(start: &mut Property, end: &mut Property, has_others: bool) {
    if start.value.trim().len() != LOCAL_TIME || end.value.trim().len() != LOCAL_TIME {
        return;
    }
    match (start.parameter("TZID").is_some(), end.parameter("TZID").is_some()) {
        (true, false) => end.parameters.clone_from(&start.parameters),
        (false, true) if !has_others => start.parameters.clone_from(&end.parameters),
        _ => {}
    }
}

/// Parses a day or time as a local time, ignoring its zone. Returns `None` if it is malformed.
fn written(edge: &Property) -> Option<DateTime> {
    let text = edge.value.trim();
    if text.len() == DAY {
        return Date::strptime("%Y%m%d", text).ok().map(|day| day.to_datetime(Time::midnight()));
    }
    DateTime::strptime("%Y%m%dT%H%M%S", text.strip_suffix(['Z', 'z']).unwrap_or(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corrects two lines. Returns VALUE, TZID and the value for each of them, and whether they
    /// were swapped.
    fn corrected<const N: usize>(lines: [&str; N]) -> (Vec<String>, bool) {
        let mut properties = lines.map(|line| Property::parse(line).unwrap());
        let is_exchanged = correct(&mut properties).is_some();
        let shown = |one: &Property| {
            let parameter = |name: &str| one.parameter(name).unwrap_or("-").to_owned();
            format!("{} {} {}", parameter("VALUE"), parameter("TZID"), one.value)
        };
        (properties.iter().map(shown).collect(), is_exchanged)
    }

    #[test]
    fn both_are_times_if_one_has_a_time_of_day() {
        for (lines, expected) in [
            (
                ["DTSTART;VALUE=DATE:20260131T000000", "DTEND;VALUE=DATE:20260131T010000"],
                ["- - 20260131T000000", "- - 20260131T010000"],
            ),
            (
                ["DTSTART;VALUE=DATE:20260131T000000", "DTEND;VALUE=DATE:20260201T000000"],
                ["DATE - 20260131T000000", "DATE - 20260201T000000"],
            ),
            (
                ["DTSTART;VALUE=DATE-TIME;TZID=A/B:20260131", "DTEND;TZID=A/B:20260131T235900"],
                ["- A/B 20260131T000000", "- A/B 20260131T235900"],
            ),
            (
                ["DTSTART;VALUE=DATE:20260131", "DTEND;TZID=A/B:20260131T235900"],
                ["- A/B 20260131T000000", "- A/B 20260131T235900"],
            ),
            (
                ["DTSTART;VALUE=DATE:20260131", "DTEND:20260131T235900Z"],
                ["- - 20260131T000000Z", "- - 20260131T235900Z"],
            ),
            (
                ["DTSTART;VALUE=DATE:20260131", "DTEND:20260201T000000Z"],
                ["DATE - 20260131", "- - 20260201T000000Z"],
            ),
        ] {
            assert_eq!(
                corrected(lines),
                (expected.map(str::to_owned).to_vec(), false),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn local_times_share_the_only_zone() {
        for (lines, expected) in [
            (
                ["DTSTART;TZID=A/B:20260131T100000", "DTEND:20260131T110000"],
                ["- A/B 20260131T100000", "- A/B 20260131T110000"],
            ),
            (
                ["DTSTART:20260131T100000", "DTEND;TZID=A/B:20260131T110000"],
                ["- A/B 20260131T100000", "- A/B 20260131T110000"],
            ),
            (
                ["DTSTART;TZID=A/B:20260131T100000", "DTEND:20260131T110000Z"],
                ["- A/B 20260131T100000", "- - 20260131T110000Z"],
            ),
            (
                ["DTSTART;TZID=A/B:20260131T100000", "DTEND;TZID=C/D:20260131T090000"],
                ["- A/B 20260131T100000", "- C/D 20260131T090000"],
            ),
        ] {
            assert_eq!(
                corrected(lines),
                (expected.map(str::to_owned).to_vec(), false),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn replaced_local_time_without_a_zone_has_that_of_the_start() {
        for (start, replaced, zone) in [
            ("DTSTART;TZID=A/B:20260131T100000", "RECURRENCE-ID:20260130T100000", "A/B"),
            ("DTSTART;TZID=A/B:20260131T100000", "RECURRENCE-ID:20260130T100000Z", "-"),
            ("DTSTART;TZID=A/B:20260131T100000", "RECURRENCE-ID:20260130", "-"),
            ("DTSTART;TZID=A/B:20260131T100000", "RECURRENCE-ID;TZID=C/D:20260130T100000", "C/D"),
            ("DTSTART:20260131T100000Z", "RECURRENCE-ID:20260130T100000", "-"),
        ] {
            let (shown, _) = corrected([start, replaced]);
            assert_eq!(shown[1].split(' ').nth(1), Some(zone), "{start} {replaced}");
        }
    }

    #[test]
    fn end_less_than_a_week_before_the_start_is_exchanged_with_it() {
        for (lines, expected) in [
            (["DTSTART;VALUE=DATE:20260131", "DTEND;VALUE=DATE:20260130"], None),
            (["DTSTART:20260131T100000Z", "DTEND:20260124T100000Z"], None),
            (
                ["DTSTART:20260131T100000Z", "DTEND:20260124T110000Z"],
                Some(["- - 20260124T110000Z", "- - 20260131T100000Z"]),
            ),
            (["DTSTART:20260131T100000Z", "DTEND:20250131T110000Z"], None),
            (
                ["DTSTART:20260131T100000Z", "DTEND:20260131T090000Z"],
                Some(["- - 20260131T090000Z", "- - 20260131T100000Z"]),
            ),
            (["DTSTART:20260131T100000", "DTEND:20260131T100000"], None),
            (["DTSTART:20260131T100000", "DTEND:20260001T090000"], None),
        ] {
            let (shown, is_exchanged) = corrected(lines);
            assert_eq!(is_exchanged, expected.is_some(), "{lines:?}");
            if let Some(expected) = expected {
                assert_eq!(shown, expected);
            }
        }
    }

    #[test]
    fn start_that_other_dates_depend_on_stays() {
        for other in [
            "RRULE:FREQ=WEEKLY",
            "RDATE:20260201T100000",
            "EXDATE:20260207T100000",
            "RECURRENCE-ID;RANGE=THISANDFUTURE:20260131T100000",
        ] {
            for (end, zone) in
                [("DTEND:20260131T090000", "-"), ("DTEND;TZID=A/B:20260131T110000", "A/B")]
            {
                let (shown, is_exchanged) = corrected(["DTSTART:20260131T100000", end, other]);
                assert!(!is_exchanged, "{other}");
                assert_eq!(shown[0], "- - 20260131T100000", "{other}");
                assert!(shown[1].starts_with(&format!("- {zone} ")), "{other}");
            }
        }
    }
}
