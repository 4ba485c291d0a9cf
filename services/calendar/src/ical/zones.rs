//! Export of time zones.

use jiff::civil::{DateTime, datetime};

use super::lines::line;
use crate::model::schedule::instant_from_seconds;
use crate::model::zone::{Observance, Zone};

/// Returns whether times are written with the name of the zone, which then needs its rules. Times
/// in fixed offsets are written in UTC.
pub fn needs_rules(zone: &Zone) -> bool {
    !zone.is_fixed()
}

/// The earliest local time in a file, since parsers reject the year 0.
const FIRST: DateTime = datetime(1, 1, 1, 0, 0, 0, 0);

/// Writes a time zone for the events between two instants, with a margin of a year.
pub fn time_zone(out: &mut String, zone: &Zone, first: i64, last: i64) {
    const YEAR: i64 = 366 * 24 * 3600;
    let from = instant_from_seconds(first.saturating_sub(YEAR));
    let from = zone.instant(FIRST).map_or(from, |earliest| from.max(earliest));
    let until = instant_from_seconds(last.saturating_add(YEAR));
    line(out, "BEGIN", "VTIMEZONE");
    line(out, "TZID", zone.name());
    let mut kinds: Vec<(Observance, Vec<DateTime>)> = Vec::new();
    for (begin, observance) in zone.observances(from, until) {
        match kinds.iter_mut().find(|(kind, _)| *kind == observance) {
            Some((_, begins)) => begins.push(begin),
            None => kinds.push((observance, vec![begin])),
        }
    }
    for (kind, begins) in kinds {
        let name = if kind.summer { "DAYLIGHT" } else { "STANDARD" };
        line(out, "BEGIN", name);
        line(out, "TZOFFSETFROM", &offset(kind.before));
        line(out, "TZOFFSETTO", &offset(kind.offset));
        line(out, "TZNAME", &kind.abbreviation);
        let written: Vec<String> = begins.into_iter().map(local).collect();
        if let Some((first, others)) = written.split_first() {
            line(out, "DTSTART", first);
            if !others.is_empty() {
                line(out, "RDATE", &others.join(","));
            }
        }
        line(out, "END", name);
    }
    line(out, "END", "VTIMEZONE");
}

/// Formats a local time.
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
            BEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nTZNAME:CET\nDTSTART:20261025T030000\nRDATE:20271031T030000\nEND:STANDARD\n\
            BEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nTZNAME:CEST\nDTSTART:20270328T020000\nRDATE:20280326T020000\nEND:DAYLIGHT\n\
            END:VTIMEZONE\n";
        assert_eq!(out.replace("\r\n", "\n"), expected);
        assert_eq!(
            (offset(-12_600), offset(20_700), offset(3_661)),
            ("-0330".into(), "+0545".into(), "+010101".into())
        );
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
