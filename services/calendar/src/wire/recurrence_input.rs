//! Recurrence in writes: an object, or the lines of a calendar file.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde_json::Value;

use super::reading::Errors;
use super::values::{MAX_ITEMS, TOO_MANY, list, positive};
use crate::model::recurrence::{Rule, is_after_all_dates, repeated_part, without_end};
use crate::model::schedule::wall_seconds;
use crate::model::series::{ListedDate, Recurrence, RuleEnd};
use crate::model::when::{PointInTime, When};
use crate::model::zone::Zone;

const NAME: &str = "recurrence";

/// Decodes the recurrence in a write request. Dates without a zone are local to `zone`, the event's
/// zone.
pub fn decode(
    errors: &mut Errors,
    sent: Option<Value>,
    zone: &Zone,
    now: Timestamp,
) -> Option<Recurrence> {
    let decoded = match sent? {
        Value::String(text) => of_lines(&text, zone, now),
        Value::Object(members) => {
            let member = |name: &str| members.get(name).filter(|value| !value.is_null());
            let rule = match member("rrule") {
                None => Ok(""),
                Some(Value::String(text)) => Ok(text.as_str()),
                Some(_) => Err("must have a string as rrule".to_owned()),
            };
            rule.and_then(|rule| {
                let dates =
                    |name| member(name).map(|value| listed(value, name, zone, now)).transpose();
                let ends = (member("until"), member("count"));
                of_parts(rule, ends, (dates("exdates")?, dates("rdates")?), zone, now)
            })
        }
        _ => Err("must be an object with rrule, or a string".to_owned()),
    };
    decoded.map_err(|text| errors.fail(NAME, text)).ok()
}

/// Decodes iCalendar lines. They describe the whole recurrence, so they replace all dates.
fn of_lines(text: &str, zone: &Zone, now: Timestamp) -> Result<Recurrence, String> {
    let (mut rule, mut exdates, mut rdates) = (String::new(), Vec::new(), Vec::new());
    for line in unfolded(text) {
        let Line { name, zone: own_zone, is_day, value } = Line::read(&line)?;
        let dates = |name: &str| -> Result<Vec<ListedDate>, String> {
            let all = listed(&Value::from(value), name, zone, now)?;
            all.into_iter().map(|date| in_zone(date, own_zone.as_ref(), is_day, name)).collect()
        };
        match name.to_ascii_uppercase().as_str() {
            "RRULE" if rule.is_empty() => value.clone_into(&mut rule),
            "RRULE" => return Err("must have one rule".to_owned()),
            "EXDATE" => exdates.extend(dates("EXDATE")?),
            "RDATE" => rdates.extend(dates("RDATE")?),
            _ => return Err(WRONG_LINE.to_owned()),
        }
    }
    of_parts(&rule, (None, None), (Some(exdates), Some(rdates)), zone, now)
}

const WRONG_LINE: &str = "must have lines that start with RRULE, EXDATE or RDATE";

/// Splits text into its non-blank lines. Long lines can be folded, in which case their continuation
/// lines start with whitespace.
fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let rest = line.strip_prefix([' ', '\t']).map(str::trim_end);
        // A line with a property name isn't a continuation, even if it is indented.
        match (rest.filter(|rest| !is_named(rest)), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.trim().to_owned()),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Returns whether `line` starts with the name of a property.
fn is_named(line: &str) -> bool {
    let name = line.trim_start().split([':', ';']).next().unwrap_or_default();
    ["RRULE", "EXRULE", "RDATE", "EXDATE"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// An iCalendar line.
struct Line<'l> {
    name: &'l str,
    /// The time zone (`TZID`).
    zone: Option<Zone>,
    /// Whether it lists days (`VALUE=DATE`).
    is_day: bool,
    value: &'l str,
}

impl Line<'_> {
    fn read(line: &str) -> Result<Line<'_>, String> {
        // A rule doesn't need the property name.
        let (head, value) = line.split_once(':').unwrap_or(("RRULE", line));
        let mut parts = head.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let (mut zone, mut is_day) = (None, false);
        for part in parts {
            let (parameter, text) = part.split_once('=').ok_or(WRONG_LINE)?;
            let text = text.trim_matches('"');
            match parameter.to_ascii_uppercase().as_str() {
                "TZID" => {
                    let found = Zone::named(text);
                    zone = Some(found.ok_or_else(|| format!("must have a known zone as {part}"))?);
                }
                "VALUE" if text.eq_ignore_ascii_case("DATE") => is_day = true,
                "VALUE" if text.eq_ignore_ascii_case("DATE-TIME") => {}
                "VALUE" => return Err(format!("must have days or times in {name}, not {text}")),
                // Other parameters don't affect the dates.
                _ => {}
            }
        }
        Ok(Line { name, zone, is_day, value })
    }
}

/// Interprets `date` in the zone of its line, if the line has one.
fn in_zone(
    date: ListedDate,
    zone: Option<&Zone>,
    is_day: bool,
    name: &str,
) -> Result<ListedDate, String> {
    match (date, zone) {
        (ListedDate::Day(_), _) => Ok(date),
        _ if is_day => Err(format!("must have days without times in {name};VALUE=DATE")),
        (ListedDate::Wall(wall), Some(zone)) => {
            let at = zone.instant(wall).ok_or_else(|| format!("must have a date as {name}"))?;
            Ok(ListedDate::Instant(at.as_second()))
        }
        _ => Ok(date),
    }
}

/// Validates the fields of a recurrence.
fn of_parts(
    rule: &str,
    (until, count): (Option<&Value>, Option<&Value>),
    (exdates, rdates): (Option<Vec<ListedDate>>, Option<Vec<ListedDate>>),
    zone: &Zone,
    now: Timestamp,
) -> Result<Recurrence, String> {
    let rule = rule.trim();
    let rule = rule.strip_prefix("RRULE:").or(rule.strip_prefix("rrule:")).unwrap_or(rule);
    // The rule can be empty if `rdates` is absent, because the series keeps its dates in that case.
    if rule.is_empty() && rdates.as_ref().is_some_and(Vec::is_empty) {
        return Err("must have an rrule or rdates".to_owned());
    }
    if let Some(name) = repeated_part(rule) {
        return Err(format!("must have {name} only once in the rrule"));
    }
    let parsed = match rule.is_empty() {
        true => None,
        false => Some(Rule::parse(rule).ok_or(
            "must have an rrule of RFC 5545 that repeats every minute or less often, such as \
             FREQ=WEEKLY;BYDAY=TU",
        )?),
    };
    let own_until = parsed.as_ref().and_then(|rule| rule.until.clone()).map(Value::from);
    let own_count = parsed.as_ref().and_then(Rule::count);
    let counted = |value: &Value| {
        let count = positive(value).and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| "must have a positive integer as count".to_owned())
    };
    let count = count.map(counted).transpose()?.or(own_count);
    let until = until.or(own_until.as_ref());
    let until = until.filter(|until| !until.as_str().is_some_and(is_after_all_dates));
    let end = match (until, count) {
        (_, Some(0)) => return Err("must have a positive integer as count".to_owned()),
        (Some(until), Some(count)) => RuleEnd::Both(count, date(until, "until", zone, now)?),
        (Some(until), None) => RuleEnd::Until(date(until, "until", zone, now)?),
        (None, Some(count)) => RuleEnd::Count(count),
        (None, None) => RuleEnd::Never,
    };
    Ok(Recurrence { rule: without_end(rule), end, exdates, rdates })
}

fn listed(
    value: &Value,
    name: &str,
    zone: &Zone,
    now: Timestamp,
) -> Result<Vec<ListedDate>, String> {
    let invalid = |text: &str| format!("must have valid {name}: {text}");
    let Value::Array(items) = value else {
        let items = list(value).map_err(invalid)?;
        return items.iter().map(|item| date(item, name, zone, now)).collect();
    };
    if items.len() > MAX_ITEMS {
        return Err(invalid(TOO_MANY));
    }
    let mut dates = Vec::new();
    for item in items.iter().filter(|item| !item.is_null()) {
        // A date in words, e.g. "March 16, 2027", can contain a comma.
        match date(item, name, zone, now) {
            Ok(whole) => dates.push(whole),
            Err(_) if item.is_string() => {
                for part in list(item).map_err(invalid)? {
                    dates.push(date(&part, name, zone, now)?);
                }
            }
            Err(error) => return Err(error),
        }
    }
    if dates.len() > MAX_ITEMS { Err(invalid(TOO_MANY)) } else { Ok(dates) }
}

/// Decodes a date in either the API's format or iCalendar's.
fn date(value: &Value, name: &str, zone: &Zone, now: Timestamp) -> Result<ListedDate, String> {
    let wrong = || format!("must have a date as {name}");
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(wrong()),
    };
    let day = ["%Y-%m-%d", "%Y%m%d"].iter().find_map(|form| Date::strptime(form, &text).ok());
    if let Some(day) = day.filter(|_| text.len() == 10 || text.len() == 8) {
        return Ok(ListedDate::Day(day));
    }
    let local = text.strip_suffix(['Z', 'z']).unwrap_or(&text);
    if let Ok(wall) = DateTime::strptime("%Y%m%dT%H%M%S", local) {
        return match local.len() == text.len() {
            true => Ok(ListedDate::Wall(wall)),
            false => Ok(ListedDate::Instant(wall_seconds(wall))),
        };
    }
    let when = When::parse(&text).map_err(|_| wrong())?;
    if let Some(day) = when.whole_day(zone, now) {
        return Ok(ListedDate::Day(day));
    }
    match when.resolve(zone, now).map_err(|_| wrong())? {
        PointInTime::Wall(wall) => Ok(ListedDate::Wall(wall)),
        PointInTime::Instant(at) => Ok(ListedDate::Instant(at.as_second())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> Result<Recurrence, String> {
        let (zone, now) = (Zone::parse("Europe/Vienna").unwrap(), Timestamp::UNIX_EPOCH);
        match value {
            Value::String(text) => of_lines(text, &zone, now),
            value => {
                let dates = |name: &str| {
                    value.get(name).map(|value| listed(value, name, &zone, now)).transpose()
                };
                let ends = (value.get("until"), value.get("count"));
                let rule = value["rrule"].as_str().unwrap_or_default();
                of_parts(rule, ends, (dates("exdates")?, dates("rdates")?), &zone, now)
            }
        }
    }

    #[test]
    fn objects_and_lines_mean_the_same() {
        let day = ListedDate::Day(Date::new(2027, 3, 16).unwrap());
        let at = ListedDate::Instant(1_805_216_400);
        let expected = Recurrence {
            rule: "FREQ=WEEKLY".to_owned(),
            end: RuleEnd::Until(day),
            exdates: Some(vec![at]),
            rdates: Some(vec![day]),
        };
        for value in [
            json!({"rrule": "FREQ=WEEKLY", "until": "2027-03-16", "rdates": ["2027-03-16"],
                "exdates": "2027-03-16T18:00:00+01:00"}),
            json!({"rrule": "RRULE:freq=weekly;until=20270316", "rdates": ["20270316"],
                "exdates": ["20270316T170000Z"]}),
            json!("RRULE:FREQ=WEEKLY;UNTIL=20270316\nEXDATE:20270316T170000Z\nRDATE:20270316"),
        ] {
            assert_eq!(of(&value), Ok(expected.clone()), "{value}");
        }
        let counted = of(&json!("FREQ=DAILY;COUNT=3")).unwrap();
        assert_eq!((counted.rule.as_str(), counted.end), ("FREQ=DAILY", RuleEnd::Count(3)));
        let both = of(&json!("FREQ=DAILY;COUNT=3;UNTIL=20270316")).unwrap();
        assert_eq!(both.end, RuleEnd::Both(3, day));
        for endless in [
            json!("FREQ=DAILY;UNTIL=99991231T235959Z"),
            json!({"rrule": "FREQ=DAILY;UNTIL=99991231"}),
            json!({"rrule": "FREQ=DAILY", "until": "9999-12-31 23:59:59"}),
            json!({"rrule": "FREQ=DAILY;UNTIL=20270316", "until": "9999-12-31"}),
        ] {
            let found = of(&endless).unwrap();
            assert_eq!((found.rule.as_str(), found.end), ("FREQ=DAILY", RuleEnd::Never));
        }
        let in_2001 = of(&json!({"rrule": "FREQ=DAILY", "until": "999900000"})).unwrap();
        assert_eq!(in_2001.end, RuleEnd::Until(ListedDate::Instant(999_900_000)));
        assert!(of(&json!({"rrule": "FREQ=DAILY", "until": "9999-13-31"})).is_err());
        // A string replaces all dates, whereas an object only replaces the dates it contains.
        assert_eq!((counted.exdates, counted.rdates), (Some(vec![]), Some(vec![])));
        let object = of(&json!({"rrule": "FREQ=DAILY", "rdates": []})).unwrap();
        assert_eq!((object.exdates, object.rdates), (None, Some(vec![])));
    }

    #[test]
    fn days_without_times_are_whole_days_in_every_format() {
        let day = ListedDate::Day(Date::new(2027, 3, 16).unwrap());
        for text in [
            "2027-03-16",
            "20270316",
            "2027/03/16",
            "03/16/2027",
            "16.03.2027",
            "March 16, 2027",
            "16 March 2027",
            "Tuesday, 16 March 2027",
            "2027-03-15 +1 day",
        ] {
            let recurrence = json!({
                "rrule": "FREQ=DAILY", "until": text, "exdates": [text], "rdates": [text],
            });
            let found = of(&recurrence).unwrap();
            assert_eq!(found.end, RuleEnd::Until(day), "{text}");
            assert_eq!(found.exdates, Some(vec![day]), "{text}");
            assert_eq!(found.rdates, Some(vec![day]), "{text}");
        }
        // Today is a Thursday.
        for (text, expected) in [("tomorrow", "1970-01-02"), ("next monday", "1970-01-05")] {
            let found = of(&json!({"rrule": "FREQ=DAILY", "until": text})).unwrap();
            assert_eq!(found.end, RuleEnd::Until(ListedDate::Day(expected.parse().unwrap())));
        }
        let midnight = json!({"rrule": "FREQ=DAILY", "until": "16.03.2027 00:00"});
        let wall = ListedDate::Wall(Date::new(2027, 3, 16).unwrap().at(0, 0, 0, 0));
        assert_eq!(of(&midnight).unwrap().end, RuleEnd::Until(wall));
        // Elements can also be lists.
        for dates in [json!(["16.03.2027,2027-03-16", null]), json!("16.03.2027,2027-03-16")] {
            let found = of(&json!({"rrule": "FREQ=DAILY", "exdates": dates})).unwrap();
            assert_eq!(found.exdates, Some(vec![day, day]), "{dates}");
        }
    }

    #[test]
    fn lines_of_calendar_files_have_zones_and_days() {
        let days = |text: &str| match of(&json!(text)) {
            Ok(found) => Ok((found.exdates.unwrap(), found.rdates.unwrap())),
            Err(error) => Err(error),
        };
        let march = |day: i8| ListedDate::Day(Date::new(2027, 3, day).unwrap());
        let (day, next, at) = (march(16), march(17), ListedDate::Instant);
        for (text, exdates, rdates) in [
            ("EXDATE;TZID=Europe/Vienna:20270316T180000", vec![at(1_805_216_400)], vec![]),
            ("exdate;tzid=\"America/New_York\":20270316T130000", vec![at(1_805_216_400)], vec![]),
            ("EXDATE;TZID=Asia/Tokyo:20270316T170000Z", vec![at(1_805_216_400)], vec![]),
            ("RDATE;VALUE=DATE:20270316", vec![], vec![day]),
            ("RDATE;VALUE=DATE-TIME;X-A=1:20270316T170000Z", vec![], vec![at(1_805_216_400)]),
            ("EXDATE;VALUE=DATE:2027\r\n 0316\r\n ,20270317\r\n", vec![day, next], vec![]),
            (
                "EXDATE;TZID=Europe/\r\n Vienna:20270316\r\n\tT180000",
                vec![at(1_805_216_400)],
                vec![],
            ),
        ] {
            for text in
                [format!("RRULE:FREQ=DAILY\r\n{text}"), format!("{text}\n  RRULE:FREQ=DAILY")]
            {
                assert_eq!(days(&text), Ok((exdates.clone(), rdates.clone())), "{text}");
            }
        }
    }

    #[test]
    fn faulty_recurrences_are_rejected() {
        for (value, expected) in [
            (json!({"rdates": []}), "must have an rrule or rdates"),
            (json!(""), "must have an rrule or rdates"),
            (json!({"rrule": "FREQ=SECONDLY"}), "must have an rrule of RFC 5545"),
            (json!("FREQ=WEEKLY;FREQ=DAILY"), "must have FREQ only once in the rrule"),
            (json!({"rrule": "weekly"}), "must have an rrule of RFC 5545"),
            (json!({"rrule": "FREQ=DAILY", "count": 0}), "must have a positive integer as count"),
            (json!({"rrule": "FREQ=DAILY;COUNT=0"}), "must have a positive integer as count"),
            (json!({"rrule": "FREQ=DAILY;COUNT=3", "until": "never"}), "must have a date as until"),
            (json!({"rrule": "FREQ=DAILY", "until": "never"}), "must have a date as until"),
            (json!({"rrule": "FREQ=DAILY", "exdates": [true]}), "must have a date as exdates"),
            (json!("RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY"), "must have one rule"),
            (json!("EXRULE:FREQ=DAILY"), "must have lines that start with"),
            (json!("EXDATE;TZID:20270316"), "must have lines that start with"),
            (json!("EXDATE;TZID=Mars/Base:20270316T180000"), "must have a known zone as TZID"),
            (json!("RDATE;VALUE=PERIOD:20270316T170000Z/PT1H"), "must have days or times in RDATE"),
            (json!("EXDATE;VALUE=DATE:20270316T170000Z"), "must have days without times in EXDATE"),
        ] {
            let error = of(&value).unwrap_err();
            assert!(error.starts_with(expected), "{value}: {error}");
        }
    }
}
