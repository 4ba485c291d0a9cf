//! Exports time zones as `VTIMEZONE` components.

use jiff::civil::{Date, DateTime, Time, Weekday, datetime};

use super::lines::line;
use crate::model::schedule::instant_from_seconds;
use crate::model::zone::{Observance, Zone};

/// Returns whether times refer to the zone by name, so that the file has to include its rules.
/// Times with a fixed offset are written in UTC instead.
pub fn needs_rules(zone: &Zone) -> bool {
    !zone.is_fixed()
}

/// The earliest local time in a file. Parsers reject year 0.
const FIRST: DateTime = datetime(1, 1, 1, 0, 0, 0, 0);

/// One-year margin before and after the events in a feed, in seconds.
const MARGIN: i64 = 366 * 24 * 3600;

/// Clock changes are included at least up to this year.
const KNOWN_YEARS: i16 = 2037;

/// The Gregorian calendar's weekdays repeat after this number of years.
const WEEKDAY_CYCLE: i16 = 28;

/// Clock changes after this year are ignored.
const LAST_YEAR: i16 = 9998;

/// Writes a time zone that covers events between `first` and `last`.
///
/// Clock changes that repeat every year are written as a rule. All others get a separate RDATE line
/// each, because clients ignore all but the first value in a list.
pub fn time_zone(out: &mut String, zone: &Zone, first: i64, last: i64) {
    let from = instant_from_seconds(first.saturating_sub(MARGIN));
    let from = zone.instant(FIRST).map_or(from, |earliest| from.max(earliest));
    let until = zone.wall(instant_from_seconds(last.saturating_add(MARGIN)));
    line(out, "BEGIN", "VTIMEZONE");
    line(out, "TZID", zone.name());
    // Beyond this year, there are too few changes left to recognise a rule.
    let end_of_rules = until.year().clamp(KNOWN_YEARS, LAST_YEAR - WEEKDAY_CYCLE);
    let horizon = Date::new(end_of_rules + WEEKDAY_CYCLE, 12, 31);
    let horizon = horizon.ok().and_then(|day| zone.instant(day.to_datetime(Time::MAX)));
    let mut kinds: Vec<(Observance, Vec<DateTime>)> = Vec::new();
    for (begin, observance) in zone.observances(from, horizon.unwrap_or(from)) {
        match kinds.iter_mut().find(|(kind, _)| *kind == observance) {
            Some((_, begins)) => begins.push(begin),
            None => kinds.push((observance, vec![begin])),
        }
    }
    let is_later = |begin: &&DateTime| begin.year() > end_of_rules;
    let rules: Vec<Option<YearlyRule>> = kinds
        .iter()
        .map(|(_, begins)| {
            let later: Vec<DateTime> = begins.iter().filter(is_later).copied().collect();
            YearlyRule::of(&later)
                .filter(|_| later.len() == usize::from(WEEKDAY_CYCLE.unsigned_abs()))
        })
        .collect();
    // If one kind of change is irregular, any pattern in the other kind is a coincidence.
    let is_regular = kinds
        .iter()
        .zip(&rules)
        .all(|((_, begins), rule)| rule.is_some() || !begins.iter().any(|begin| is_later(&begin)));
    for ((kind, begins), rule) in kinds.iter().zip(rules) {
        let rule = rule.filter(|_| is_regular);
        let ruled = rule.map_or(begins.len(), |rule| rule.first_of(begins));
        let (listed, ruled) = begins.split_at(ruled);
        let listed: Vec<DateTime> =
            listed.iter().filter(|begin| **begin <= until).copied().collect();
        if let Some((first, others)) = listed.split_first() {
            observance(out, kind, *first, |out| {
                // ical.js ignores DTSTART if there is an RDATE, so repeat it as an RDATE.
                if !others.is_empty() {
                    listed.iter().for_each(|begin| line(out, "RDATE", &local(*begin)));
                }
            });
        }
        if let (Some(first), Some(rule)) = (ruled.first().filter(|first| **first <= until), rule) {
            observance(out, kind, *first, |out| line(out, "RRULE", &rule.text()));
        }
    }
    line(out, "END", "VTIMEZONE");
}

/// Writes an observance that first takes effect at `first`. `repeat` writes its rule or dates.
fn observance(
    out: &mut String,
    kind: &Observance,
    first: DateTime,
    repeat: impl FnOnce(&mut String),
) {
    let name = if kind.summer { "DAYLIGHT" } else { "STANDARD" };
    line(out, "BEGIN", name);
    line(out, "TZOFFSETFROM", &offset(kind.before));
    line(out, "TZOFFSETTO", &offset(kind.offset));
    line(out, "TZNAME", &kind.abbreviation);
    line(out, "DTSTART", &local(first));
    repeat(out);
    line(out, "END", name);
}

/// A yearly clock change in the same month, on the same weekday and at the same time.
#[derive(Clone, Copy, Debug)]
struct YearlyRule {
    month: i8,
    weekday: Weekday,
    time: Time,
    days: Days,
}

/// Seven consecutive days of a month, in which every weekday appears once.
#[derive(Clone, Copy, Debug)]
enum Days {
    /// The nth week of the month, e.g. days 8 to 14 for 2.
    Week(i8),
    Last,
    /// The seven days starting with this day of the month.
    From(i8),
}

impl YearlyRule {
    /// Finds a rule that matches all of `begins`, if there is one.
    fn of(begins: &[DateTime]) -> Option<YearlyRule> {
        let first = begins.first()?;
        let earliest = begins.iter().map(|begin| begin.day()).min()?;
        let all = [Days::Week((first.day() - 1) / 7 + 1), Days::Last, Days::From(earliest)];
        let (month, weekday, time) = (first.month(), first.weekday(), first.time());
        let rules = all.into_iter().map(|days| YearlyRule { month, weekday, time, days });
        rules.into_iter().find(|rule| begins.iter().all(|begin| rule.has(*begin)))
    }

    fn has(self, begin: DateTime) -> bool {
        let day = begin.day();
        let fits = match self.days {
            Days::Week(number) => (day - 1) / 7 + 1 == number,
            Days::Last => day > begin.date().days_in_month() - 7,
            Days::From(first) => (first..first + 7).contains(&day),
        };
        let is_weekday = begin.weekday() == self.weekday;
        fits && is_weekday && begin.month() == self.month && begin.time() == self.time
    }

    /// Returns the index from which `begins` follow the rule every year.
    fn first_of(self, begins: &[DateTime]) -> usize {
        let mut first = begins.len();
        let mut next_year = None;
        for (position, begin) in begins.iter().enumerate().rev() {
            let is_next = next_year.is_none_or(|year| begin.year() + 1 == year);
            if !is_next || !self.has(*begin) {
                break;
            }
            (first, next_year) = (position, Some(begin.year()));
        }
        first
    }

    fn text(self) -> String {
        let day = match self.weekday {
            Weekday::Monday => "MO",
            Weekday::Tuesday => "TU",
            Weekday::Wednesday => "WE",
            Weekday::Thursday => "TH",
            Weekday::Friday => "FR",
            Weekday::Saturday => "SA",
            Weekday::Sunday => "SU",
        };
        let month = self.month;
        match self.days {
            Days::Week(number) => format!("FREQ=YEARLY;BYMONTH={month};BYDAY={number}{day}"),
            Days::Last => format!("FREQ=YEARLY;BYMONTH={month};BYDAY=-1{day}"),
            Days::From(first) => {
                let days: Vec<String> = (first..first + 7).map(|day| day.to_string()).collect();
                let days = days.join(",");
                format!("FREQ=YEARLY;BYMONTH={month};BYMONTHDAY={days};BYDAY={day}")
            }
        }
    }
}

pub fn local(wall: DateTime) -> String {
    wall.strftime("%Y%m%dT%H%M%S").to_string()
}

fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let (minutes, rest) = (seconds.abs() / 60, seconds.abs() % 60);
    let seconds = if rest == 0 { String::new() } else { format!("{rest:02}") };
    format!("{sign}{:02}{:02}{seconds}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::super::foreign_zones::ForeignZones;
    use super::super::reader::Reader;
    use super::*;

    #[test]
    fn zone_begins_at_a_clock_change_in_local_time() {
        let mut out = String::new();
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
        let zone = Zone::parse("Europe/Vienna").unwrap();
        let may = at("2027-05-05T00:00:00Z");
        time_zone(&mut out, &zone, may, may);
        let expected = "BEGIN:VTIMEZONE\nTZID:Europe/Vienna\n\
            BEGIN:DAYLIGHT\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0200\nTZNAME:CEST\nDTSTART:20260504T020000\nEND:DAYLIGHT\n\
            BEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nTZNAME:CET\nDTSTART:20261025T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\n\
            BEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nTZNAME:CEST\nDTSTART:20270328T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:DAYLIGHT\n\
            END:VTIMEZONE\n";
        assert_eq!(out.replace("\r\n", "\n"), expected);
        assert_eq!(
            (offset(-12_600), offset(20_700), offset(3_661)),
            ("-0330".into(), "+0545".into(), "+010101".into())
        );
    }

    /// Returns a zone's lines since 1995, excluding the boilerplate.
    fn written(name: &str) -> String {
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
        let (first, last) = (at("1996-01-01T00:00:00Z"), at("2037-01-01T00:00:00Z"));
        let mut out = String::new();
        time_zone(&mut out, &Zone::parse(name).unwrap(), first, last);
        out
    }

    #[test]
    fn regular_changes_have_a_rule_and_all_others_a_line_each() {
        for (name, rules) in [
            ("Europe/Vienna", vec!["BYMONTH=10;BYDAY=-1SU", "BYMONTH=3;BYDAY=-1SU"]),
            ("America/New_York", vec!["BYMONTH=11;BYDAY=1SU", "BYMONTH=3;BYDAY=2SU"]),
            ("Australia/Lord_Howe", vec!["BYMONTH=10;BYDAY=1SU", "BYMONTH=4;BYDAY=1SU"]),
            ("Antarctica/Troll", vec!["BYMONTH=10;BYDAY=-1SU", "BYMONTH=3;BYDAY=-1SU"]),
            (
                "America/Santiago",
                vec![
                    "BYMONTH=4;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=SU",
                    "BYMONTH=9;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=SU",
                ],
            ),
            ("Africa/Casablanca", vec![]),
            ("Asia/Gaza", vec![]),
            ("Asia/Tokyo", vec![]),
            ("Europe/Istanbul", vec![]),
        ] {
            let text = written(name).replace("\r\n ", "");
            assert!(!text.lines().any(|line| line.starts_with("RDATE") && line.contains(',')));
            let mut found: Vec<&str> =
                text.lines().filter_map(|line| line.strip_prefix("RRULE:FREQ=YEARLY;")).collect();
            found.sort_unstable();
            assert_eq!(found, rules, "{name}");
            assert!(!text.contains(":2039"), "{name}");
        }
    }

    #[test]
    fn written_zones_are_read_with_the_same_offsets() {
        for name in [
            "Europe/Vienna",
            "Europe/Dublin",
            "America/New_York",
            "America/Santiago",
            "America/Nuuk",
            "Africa/Cairo",
            "Africa/Casablanca",
            "Asia/Gaza",
            "Australia/Lord_Howe",
            "Antarctica/Troll",
        ] {
            let zone = Zone::parse(name).unwrap();
            let text = written(name).replace(&format!("TZID:{name}"), "TZID:ours");
            let component = Reader::new(text.as_bytes()).next_component().unwrap().unwrap();
            let mut zones = ForeignZones::default();
            zones.add(&component);
            let mut day = datetime(1995, 6, 1, 12, 0, 0, 0);
            while day.year() < 2038 {
                let expected = zone.instant(day).unwrap();
                let found = zones.find((0, "ours"), day).and_then(|zone| zone.instant(day));
                assert_eq!(found, Some(expected), "{name} {day}");
                day = day.checked_add(jiff::Span::new().days(3)).unwrap();
            }
        }
    }

    #[test]
    fn zone_of_events_until_the_last_year_is_short() {
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
        let (first, last) = (at("2027-05-05T00:00:00Z"), at("9998-05-05T00:00:00Z"));
        let mut out = String::new();
        time_zone(&mut out, &Zone::parse("Europe/Vienna").unwrap(), first, last);
        assert_eq!((out.matches("RRULE:").count(), out.lines().count() < 100), (2, true), "{out}");
    }

    #[test]
    fn zone_of_an_event_in_year_1_begins_in_year_1() {
        let july = "0001-07-01T10:00:00Z".parse::<jiff::Timestamp>().unwrap().as_second();
        for name in ["America/New_York", "Europe/Vienna"] {
            let mut out = String::new();
            time_zone(&mut out, &Zone::parse(name).unwrap(), july, july);
            let begins: Vec<_> = out.lines().filter(|line| line.starts_with("DTSTART")).collect();
            assert_eq!(begins, ["DTSTART:00010101T000000"], "{name}");
        }
    }
}
