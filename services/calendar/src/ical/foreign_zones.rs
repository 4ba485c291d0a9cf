//! Time zone names from other programs: IANA names with prefixes, Windows names, and zones defined
//! only in the file.

use std::collections::{BTreeMap, HashMap};

use jiff::ToSpan as _;
use jiff::civil::{DateTime, date};
use parking_lot::Mutex;

use super::component::Component;
use super::property::{Property, unescaped};
use super::windows_zones::{lotus_zone, windows_zone};
use crate::model::recurrence::Rule;
use crate::model::zone::Zone;

/// Maximum number of zone definitions per file.
const MAX_ZONES: usize = 1000;

/// Maximum number of observances per zone, and of dates per observance.
const MAX_OBSERVANCES: usize = 100;

/// The zones defined in a file. Each of its calendars can define the same name differently.
#[derive(Debug, Default)]
pub struct ForeignZones {
    /// The definitions by name, and then by [`Component::calendar`].
    definitions: HashMap<String, BTreeMap<usize, Described>>,
    /// Number of definitions.
    number: usize,
}

#[derive(Debug)]
enum Described {
    /// A known zone under a different name.
    Known(Zone),
    /// A zone defined by its observances.
    Observances(Vec<Observance>),
}

/// Maximum number of a zone's rules to check for a given time, starting with the rules that end
/// last. In real zones, two rules are in force at a time.
const MAX_RULES: usize = 8;

/// Maximum number of months in an observance's rule.
const MAX_MONTHS: usize = 2;

/// When an observance takes effect: on the listed dates and, if there is a rule, every year after
/// that.
#[derive(Debug, Default)]
struct Observance {
    starts: Vec<DateTime>,
    rule: Option<Rule>,
    /// The last year for which the rule was expanded, and the start times up to the end of that
    /// year. Series are expanded in chronological order, so most lookups are for the same year.
    year: Mutex<Option<(i16, Vec<DateTime>)>>,
    /// The offset from UTC in minutes.
    offset: Option<i32>,
    /// The offset before the observance, in minutes.
    before: Option<i32>,
}

impl ForeignZones {
    /// Adds a zone definition from the file.
    pub fn add(&mut self, zone: &Component) {
        let (mut name, mut known_as, mut observances) = (None, None, Vec::new());
        for property in &zone.properties {
            let Property { name: key, value, .. } = property;
            let room = observances.len() < MAX_OBSERVANCES;
            let observance: Option<&mut Observance> = observances.last_mut();
            match (key.as_str(), observance) {
                ("BEGIN", _) if room => observances.push(Observance::default()),
                ("TZID", _) => name = Some(property.text().trim().to_owned()),
                ("X-LIC-LOCATION", _) => {
                    known_as = known(value).filter(|zone| is_full_name(value, zone));
                }
                ("DTSTART", Some(observance)) => {
                    observance.starts.splice(0..0, wall(value)).for_each(drop)
                }
                ("RDATE", Some(observance)) => {
                    observance
                        .starts
                        .extend(value.split(',').filter_map(wall).take(MAX_OBSERVANCES));
                    observance.starts.truncate(MAX_OBSERVANCES);
                }
                ("RRULE", Some(observance)) => {
                    let rule = Rule::parse(value.trim());
                    observance.rule = rule.filter(|rule| rule.is_yearly(MAX_MONTHS));
                }
                ("TZOFFSETTO", Some(observance)) => observance.offset = minutes(value.trim()),
                ("TZOFFSETFROM", Some(observance)) => observance.before = minutes(value.trim()),
                _ => {}
            }
        }
        // Full names always refer to the well-known zone.
        let is_full = |name: &String| known(name).is_some_and(|found| is_full_name(name, &found));
        if let Some(name) = name.filter(|name| !is_full(name))
            && self.number < MAX_ZONES
        {
            let described = known_as.map_or(Described::Observances(observances), Described::Known);
            let of_name = self.definitions.entry(name).or_default();
            self.number += usize::from(of_name.insert(zone.calendar, described).is_none());
        }
    }

    /// Returns the zone that `name` refers to in a calendar of the file at the local time `at`, or
    /// `None` if it is unknown.
    ///
    /// A full IANA or Windows name always refers to the well-known zone, even if the file defines
    /// it differently. For other names, such as abbreviations, the file's definition takes
    /// precedence. If the calendar itself doesn't define the name, the definition of the file's
    /// last calendar that does is used.
    pub fn find(&self, (calendar, name): (usize, &str), at: DateTime) -> Option<Zone> {
        let described = self.described((calendar, name), at);
        let agrees = |zone: &Zone| {
            described.as_ref().is_none_or(|described| described.instant(at) == zone.instant(at))
        };
        match known(name).filter(|zone| is_full_name(name, zone) || agrees(zone)) {
            Some(zone) => Some(zone),
            None => described.or_else(|| lotus_zone(name.trim())),
        }
    }

    /// Returns the zone that the file defines as `name`, which is either a known zone or the fixed
    /// offset in force at the given time. Returns `None` if the file doesn't define it.
    fn described(&self, (calendar, name): (usize, &str), at: DateTime) -> Option<Zone> {
        let found = |name: &str| self.definitions.get(name);
        // Exchange also escapes commas in parameters.
        let of_name = found(name.trim()).or_else(|| found(&unescaped(name.trim())))?;
        let described = of_name.get(&calendar).or_else(|| of_name.values().next_back())?;
        let observances = match described {
            Described::Known(zone) => return Some(zone.clone()),
            Described::Observances(observances) => observances,
        };
        let mut ruled: Vec<(DateTime, &Observance)> = observances
            .iter()
            .filter_map(|observance| Some((observance.rule_until(at)?, observance)))
            .collect();
        ruled.sort_by_key(|(until, _)| std::cmp::Reverse(*until));
        let ruled = ruled.into_iter().take(MAX_RULES);
        let ruled = ruled.filter_map(|(until, observance)| {
            Some((observance.latest_by_rule(until)?, observance))
        });
        let named = observances
            .iter()
            .filter_map(|observance| Some((observance.latest_named(at)?, observance)));
        let latest = named.chain(ruled).filter(|(_, observance)| observance.offset.is_some());
        let latest = latest.max_by_key(|(begin, _)| *begin);
        let latest = latest.and_then(|(begin, observance)| observance.offset_at(begin, at));
        // Times before the first observance use the first known offset.
        let offset =
            latest.or_else(|| observances.iter().find_map(|observance| observance.offset))?;
        let sign = if offset < 0 { '-' } else { '+' };
        let offset = offset.abs();
        Zone::parse(&format!("UTC{sign}{}:{:02}", offset / 60, offset % 60))
    }
}

impl Observance {
    /// Returns the offset at a local time, given the latest start of the observance. Times that
    /// clocks skip use the offset before the change (RFC 5545, 3.3.5).
    fn offset_at(&self, begin: DateTime, at: DateTime) -> Option<i32> {
        let offset = self.offset?;
        let before = self.before.unwrap_or(offset);
        let resumed = begin.checked_add(i64::from(offset - before).minutes());
        Some(if resumed.is_ok_and(|resumed| at < resumed) { before } else { offset })
    }

    /// Returns the latest listed start at or before `at`, if any.
    fn latest_named(&self, at: DateTime) -> Option<DateTime> {
        self.starts.iter().copied().filter(|start| *start <= at).max()
    }

    /// Returns the latest time at which the rule can apply, given the local time `at`. Returns
    /// `None` if there is no rule or it doesn't apply yet.
    fn rule_until(&self, at: DateTime) -> Option<DateTime> {
        let first = *self.starts.first()?;
        let rule = self.rule.as_ref().filter(|_| first <= at)?;
        let until = rule.until.as_deref().and_then(wall);
        Some(until.map_or(at, |until| until.min(at)).max(first))
    }

    /// Returns the latest start by rule at or before `until`, if any.
    fn latest_by_rule(&self, until: DateTime) -> Option<DateTime> {
        let mut searched = self.year.lock();
        let year = until.year();
        if searched.as_ref().is_none_or(|(known, _)| *known != year) {
            *searched = Some((year, self.begins_until_end_of(year)?));
        }
        let (_, begins) = searched.as_ref()?;
        begins[..begins.partition_point(|begin| *begin <= until)].last().copied()
    }

    /// Returns the rule's start times in the years up to and including `year`, except for those
    /// long ago. Returns `None` if there is no rule or it can't be expanded.
    fn begins_until_end_of(&self, year: i16) -> Option<Vec<DateTime>> {
        let first = *self.starts.first()?;
        // The result only depends on the last few years.
        let near = first.with().year(year).build().ok()?.checked_sub(2.years()).ok()?;
        let end = date(year, 12, 31).at(23, 59, 59, 0);
        self.rule.as_ref()?.expand(near.max(first), end).ok()
    }
}

/// Prefix in names such as `tzone://Microsoft/Utc`. `tzone://Microsoft/Custom` refers to a zone
/// defined only in the file.
const MICROSOFT: &str = "tzone://Microsoft/";

/// Finds a zone by its IANA or Windows name. Some programs put a path before the IANA name, so we
/// also try without it. Returns `None` if nothing matches.
pub fn known(name: &str) -> Option<Zone> {
    let name = &*unescaped(name.trim());
    let ends = name.match_indices('/').map(|(at, _)| &name[at + 1..]).take(8);
    let by_end = || [name].into_iter().chain(ends).find_map(Zone::parse);
    match name.strip_prefix(MICROSOFT) {
        Some("Custom") => None,
        _ => windows_zone(name).or_else(by_end),
    }
}

/// Returns whether `name` is unambiguous, i.e. a Windows name or the exact IANA name of `zone`,
/// optionally with a path before it.
fn is_full_name(name: &str, zone: &Zone) -> bool {
    let name = name.trim();
    windows_zone(name).is_some() || (zone.name().contains('/') && name.ends_with(zone.name()))
}

fn wall(text: &str) -> Option<DateTime> {
    DateTime::strptime("%Y%m%dT%H%M%S", text.trim().trim_end_matches('Z')).ok()
}

/// Parses an offset such as `+0100` or `-033000`, and returns it in minutes. Returns `None` for any
/// other input.
fn minutes(text: &str) -> Option<i32> {
    let (sign, digits) = text.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let number = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i32>().ok();
    Some(sign * (number(0..2)? * 60 + number(2..4)?))
}

#[cfg(test)]
mod tests {
    use super::super::reader::Reader;
    use super::*;

    const FILE: &str = "BEGIN:VTIMEZONE\nTZID:Our own\nBEGIN:STANDARD\nDTSTART:16011028T030000\n\
        RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nEND:STANDARD\n\
        BEGIN:DAYLIGHT\nDTSTART:16010325T020000\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\n\
        TZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:DAYLIGHT\nEND:VTIMEZONE\n";

    #[test]
    fn zones_are_found_by_iana_windows_and_described_names() {
        let mut zones = ForeignZones::default();
        for file in [
            FILE,
            "BEGIN:VTIMEZONE\nTZID:Ours by name\nX-LIC-LOCATION:Europe/Vienna\nEND:VTIMEZONE\n",
            "BEGIN:VTIMEZONE\nTZID:(UTC+01:00) Here\\, There\nBEGIN:STANDARD\n\
             DTSTART:16010101T000000\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n",
            "BEGIN:VTIMEZONE\nTZID:By dates\nBEGIN:STANDARD\nRDATE:20261025T030000,20270101T000000\n\
             DTSTART:20200101T000000\nTZOFFSETTO:-0330\nEND:STANDARD\nEND:VTIMEZONE\n",
        ] {
            zones.add(&Reader::new(file.as_bytes()).next_component().unwrap().unwrap());
        }
        let winter = "2027-03-28T01:59:59".parse().unwrap();
        let summer = "2027-03-28T03:00:00".parse().unwrap();
        for (name, at, found) in [
            ("Europe/Vienna", winter, Some("Europe/Vienna")),
            ("W. Europe Standard Time", winter, Some("Europe/Berlin")),
            ("UTC-02", winter, Some("UTC-02")),
            ("Line Islands Standard Time", winter, Some("Pacific/Kiritimati")),
            (
                "(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna",
                winter,
                Some("Europe/Berlin"),
            ),
            (
                "(GMT) Greenwich Mean Time : Dublin, Edinburgh, Lisbon, London",
                winter,
                Some("Europe/London"),
            ),
            ("(UTC-05:00) Eastern Time (US & Canada)", winter, Some("America/New_York")),
            ("(UTC) Coordinated Universal Time", winter, Some("UTC")),
            ("(UTC+12:00) Coordinated Universal Time+12", winter, Some("UTC+12")),
            ("(UTC+01:00) Here, There", winter, Some("UTC+1:00")),
            ("(UTC+01:00) Atlantis", winter, None),
            ("/freeassociation.sourceforge.net/America/New_York", winter, Some("America/New_York")),
            ("Our own", winter, Some("UTC+1:00")),
            ("Our own", summer, Some("UTC+2:00")),
            ("Our own", "1500-01-01T00:00:00".parse().unwrap(), Some("UTC+1:00")),
            ("Ours by name", winter, Some("Europe/Vienna")),
            ("By dates", winter, Some("UTC-3:30")),
            ("Western/Central Europe", winter, Some("Europe/Berlin")),
            ("Eastern", winter, Some("America/New_York")),
            ("Nowhere", winter, None),
        ] {
            let zone = zones.find((0, name), at);
            assert_eq!(zone.as_ref().map(Zone::name), found, "{name}");
        }
    }

    #[test]
    fn description_decides_on_abbreviations_and_misspelt_names() {
        let described = |name: &str, offset: &str| {
            format!(
                "BEGIN:VTIMEZONE\nTZID:{name}\nX-LIC-LOCATION:{name}\nBEGIN:STANDARD\n\
                 DTSTART:16010101T000000\nTZOFFSETTO:{offset}\nEND:STANDARD\nEND:VTIMEZONE\n"
            )
        };
        for (name, offset, found) in [
            ("Europe/lisbon", "+0100", "UTC+1:00"),
            ("Europe/lisbon", "+0000", "Europe/Lisbon"),
            ("Europe/Lisbon", "+0100", "Europe/Lisbon"),
            ("IST", "+0200", "UTC+2:00"),
            ("IST", "+0530", "IST"),
            ("GMT Standard Time", "+0100", "Europe/London"),
        ] {
            let mut zones = ForeignZones::default();
            let file = described(name, offset);
            zones.add(&Reader::new(file.as_bytes()).next_component().unwrap().unwrap());
            let zone = zones.find((0, name), "2027-01-15T10:00:00".parse().unwrap());
            assert_eq!(zone.as_ref().map(Zone::name), Some(found), "{name} {offset}");
        }
        let bare = ForeignZones::default();
        let zone = bare.find((0, "europe/lisbon"), "2027-01-15T10:00:00".parse().unwrap());
        assert_eq!(zone.as_ref().map(Zone::name), Some("Europe/Lisbon"));
    }

    #[test]
    fn rules_with_many_days_are_ignored_in_zones() {
        let mut zones = ForeignZones::default();
        let file = "BEGIN:VTIMEZONE\nTZID:odd\nBEGIN:STANDARD\nDTSTART:20190101T000000\n\
            RRULE:FREQ=YEARLY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;BYDAY=MO,TU,WE,TH,FR,SA,SU\n\
            TZOFFSETTO:+0100\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:20200101T000000\n\
            TZOFFSETTO:+0200\nEND:DAYLIGHT\nEND:VTIMEZONE\n";
        zones.add(&Reader::new(file.as_bytes()).next_component().unwrap().unwrap());
        let zone = zones.find((0, "odd"), "2027-05-05T10:00:00".parse().unwrap()).unwrap();
        assert_eq!(zone.name(), "UTC+2:00");
    }

    #[test]
    fn rules_with_many_times_of_a_day_are_ignored_in_zones() {
        let mut zones = ForeignZones::default();
        let file = "BEGIN:VTIMEZONE\nTZID:odd\nBEGIN:STANDARD\nDTSTART:20190101T000000\n\
            RRULE:FREQ=YEARLY;BYMONTH=1;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11;BYMINUTE=0,10,20,30\n\
            TZOFFSETTO:+0100\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:20200101T000000\n\
            TZOFFSETTO:+0200\nEND:DAYLIGHT\nEND:VTIMEZONE\n";
        zones.add(&Reader::new(file.as_bytes()).next_component().unwrap().unwrap());
        let zone = zones.find((0, "odd"), "2027-05-05T10:00:00".parse().unwrap()).unwrap();
        assert_eq!(zone.name(), "UTC+2:00");
    }

    #[test]
    fn moments_of_several_years_are_found_in_any_order() {
        let mut zones = ForeignZones::default();
        zones.add(&Reader::new(FILE.as_bytes()).next_component().unwrap().unwrap());
        for day in ["2027-07-01", "2027-01-01", "2026-12-31", "2027-12-31", "2026-07-01"] {
            let at = format!("{day}T12:00:00").parse().unwrap();
            let mut fresh = ForeignZones::default();
            fresh.add(&Reader::new(FILE.as_bytes()).next_component().unwrap().unwrap());
            let found = zones.find((0, "Our own"), at).unwrap();
            assert_eq!(found.name(), fresh.find((0, "Our own"), at).unwrap().name(), "{day}");
            let expected = if day.contains("-07-") { "UTC+2:00" } else { "UTC+1:00" };
            assert_eq!(found.name(), expected, "{day}");
        }
    }

    #[test]
    fn definitions_of_well_known_zones_leave_room_for_others() {
        let definition = |name: &str| {
            format!(
                "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:{name}\nBEGIN:STANDARD\n\
                 DTSTART:20190101T000000\nTZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE\n\
                 END:VCALENDAR\n"
            )
        };
        let file = definition("Europe/Vienna").repeat(MAX_ZONES) + &definition("ours");
        let (mut reader, mut zones) = (Reader::new(file.as_bytes()), ForeignZones::default());
        while let Some(zone) = reader.next_component().unwrap() {
            zones.add(&zone);
        }
        let zone = zones.find((1, "ours"), "2027-05-05T10:00:00".parse().unwrap()).unwrap();
        assert_eq!(zone.name(), "UTC+2:00");
    }
}
