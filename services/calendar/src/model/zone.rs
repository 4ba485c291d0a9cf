//! Time zones of events and the site: IANA names from the bundled database, fixed offsets, and
//! common abbreviations.

use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// Maximum UTC offset in hours. No inhabited place exceeds it, and list scans rely on this limit.
pub const MAX_OFFSET_HOURS: i64 = 14;

/// A time zone, with the name to return in responses.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
    written: Written,
}

/// How a zone was written, which determines its abbreviation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    /// `Europe/Vienna`, `UTC`: abbreviated according to the zone's rules.
    Name,
    /// `UTC+2`, `EDT`: the name is the abbreviation.
    Own,
    /// `+02:00`: abbreviated as `GMT+0200`.
    Offset,
}

/// Abbreviations that aren't IANA names, with their offsets in minutes.
const ABBREVIATIONS: [(&str, i32); 28] = [
    ("ACDT", 630),
    ("ACST", 570),
    ("ADT", -180),
    ("AEDT", 660),
    ("AEST", 600),
    ("AKDT", -480),
    ("AKST", -540),
    ("AST", -240),
    ("AWST", 480),
    ("BST", 60),
    ("CDT", -300),
    ("CEST", 120),
    ("CST", -360),
    ("EDT", -240),
    ("EEST", 180),
    ("IST", 330),
    ("JST", 540),
    ("KST", 540),
    ("MDT", -360),
    ("MSK", 180),
    ("NDT", -150),
    ("NST", -210),
    ("NZDT", 780),
    ("NZST", 720),
    ("PDT", -420),
    ("PST", -480),
    ("SAST", 120),
    ("WEST", 60),
];

fn database() -> &'static TimeZoneDatabase {
    static BUNDLED: OnceLock<TimeZoneDatabase> = OnceLock::new();
    BUNDLED.get_or_init(TimeZoneDatabase::bundled)
}

impl Zone {
    /// Returns Coordinated Universal Time (UTC).
    pub fn utc() -> Zone {
        Zone { name: "UTC".to_owned(), rules: TimeZone::UTC, written: Written::Name }
    }

    /// Parses a `timezone` field: a name, `UTC±H`, `±HH:MM` or an abbreviation. Returns `None` for
    /// anything else.
    pub fn parse(text: &str) -> Option<Zone> {
        let text = text.trim();
        if let Some(zone) = Zone::named(text) {
            return Some(zone);
        }
        let upper = text.to_ascii_uppercase();
        if let Some((name, minutes)) = ABBREVIATIONS.iter().find(|(name, _)| *name == upper) {
            return fixed((*name).to_owned(), *minutes, Written::Own);
        }
        if let Some(hours) = upper.strip_prefix("UTC") {
            let minutes = hour_offset(hours)?;
            return fixed(upper, minutes, Written::Own);
        }
        if upper.len() == 6 && upper.contains(':') {
            let minutes = clock_offset(&upper)?;
            return fixed(upper, minutes, Written::Offset);
        }
        None
    }

    /// Looks up an IANA name, ignoring case. Returns `None` if it is unknown.
    pub fn named(name: &str) -> Option<Zone> {
        if name.eq_ignore_ascii_case("UTC") {
            return Some(Zone::utc());
        }
        // Only look up names that start with a letter, unlike `+02:00`.
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let rules = database().get(name).ok()?;
        let name = rules.iana_name()?.to_owned();
        Some(Zone { name, rules, written: Written::Name })
    }

    /// Parses the zone in a date: `Z`, `±HH:MM`, `±HHMM`, or a name. Returns `None` for anything
    /// else.
    pub fn of_date(text: &str) -> Option<Zone> {
        if text.eq_ignore_ascii_case("z") {
            return Some(Zone::utc());
        }
        if text.starts_with(['+', '-']) {
            let minutes = clock_offset(text)?;
            return fixed(text.to_owned(), minutes, Written::Offset);
        }
        Zone::named(text)
    }

    /// Returns the name in its canonical case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Converts a local time to an instant. Skipped times move forward, and repeated ones resolve
    /// to their first occurrence. Returns `None` if the instant is out of range.
    pub fn instant(&self, wall: DateTime) -> Option<Timestamp> {
        self.rules.to_timestamp(wall).ok()
    }

    /// Converts an instant to local time.
    pub fn wall(&self, at: Timestamp) -> DateTime {
        self.rules.to_datetime(at)
    }

    /// Returns whether converting an instant to local time and back yields the same instant. This
    /// isn't the case for the second pass through a repeated hour.
    pub fn is_unambiguous(&self, at: Timestamp) -> bool {
        self.instant(self.wall(at)) == Some(at)
    }

    /// Returns the last time clocks were set back between two instants, if any, as the local times
    /// before and after the change.
    pub fn last_set_back(&self, from: Timestamp, until: Timestamp) -> Option<(DateTime, DateTime)> {
        let until = until.checked_add(SignedDuration::from_secs(1)).unwrap_or(until);
        let transitions = self.rules.preceding(until).map(|transition| transition.timestamp());
        transitions.take_while(|at| *at > from).find_map(|at| {
            let before = at.checked_sub(SignedDuration::from_secs(1)).ok()?;
            let old = Offset::from_seconds(self.offset(before)).ok()?.to_datetime(at);
            let new = self.wall(at);
            (new < old).then_some((old, new))
        })
    }

    /// Returns the UTC offset at an instant, in seconds.
    pub fn offset(&self, at: Timestamp) -> i32 {
        self.rules.to_offset(at).seconds()
    }

    /// Returns whether the offset at an instant exceeds the maximum, as Manila's local mean time
    /// does.
    pub fn exceeds_max_offset(&self, at: Timestamp) -> bool {
        i64::from(self.offset(at).abs()) > MAX_OFFSET_HOURS * 3600
    }

    /// Returns the abbreviation at an instant, such as `EDT`.
    pub fn abbreviation(&self, at: Timestamp) -> String {
        match self.written {
            Written::Name => self.rules.to_offset_info(at).abbreviation().to_owned(),
            Written::Own => self.name.clone(),
            Written::Offset => format!("GMT{}", self.name.replace(':', "")),
        }
    }
}

/// A period with a constant UTC offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observance {
    /// The UTC offset before this period, in seconds.
    pub before: i32,
    /// The UTC offset in this period, in seconds.
    pub offset: i32,
    /// Whether this is daylight saving time.
    pub summer: bool,
    /// The abbreviation, such as `EDT`.
    pub abbreviation: String,
}

impl Zone {
    /// Returns whether the zone has a fixed offset.
    pub fn is_fixed(&self) -> bool {
        self.written != Written::Name || self.rules == TimeZone::UTC
    }

    /// Returns the observances between two instants. Each comes with its start, in the local time
    /// that applied before it.
    pub fn observances(&self, from: Timestamp, until: Timestamp) -> Vec<(DateTime, Observance)> {
        let first = self.rules.to_offset_info(from);
        let mut before = first.offset().seconds();
        let first = Observance {
            before,
            offset: before,
            summer: first.dst().is_dst(),
            abbreviation: first.abbreviation().to_owned(),
        };
        let mut all = vec![(self.wall(from), first)];
        for transition in
            self.rules.following(from).take_while(|transition| transition.timestamp() <= until)
        {
            let old = Offset::from_seconds(before).unwrap_or(Offset::UTC);
            let offset = transition.offset().seconds();
            let observance = Observance {
                before,
                offset,
                summer: transition.dst().is_dst(),
                abbreviation: transition.abbreviation().to_owned(),
            };
            all.push((old.to_datetime(transition.timestamp()), observance));
            before = offset;
        }
        all
    }
}

fn fixed(name: String, minutes: i32, written: Written) -> Option<Zone> {
    if i64::from(minutes.abs()) > MAX_OFFSET_HOURS * 60 {
        return None;
    }
    let offset = Offset::from_seconds(minutes * 60).ok()?;
    Some(Zone { name, rules: TimeZone::fixed(offset), written })
}

fn signed(text: &str) -> Option<(i32, &str)> {
    match text.split_at_checked(1)? {
        ("+", rest) => Some((1, rest)),
        ("-", rest) => Some((-1, rest)),
        _ => None,
    }
}

fn digits(text: &str, most: usize) -> Option<i32> {
    let fits = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// Parses `±H`, `±H:MM` and `±H.5` as minutes. Returns `None` for anything else.
fn hour_offset(text: &str) -> Option<i32> {
    let (sign, rest) = signed(text)?;
    if let Some((hours, minutes)) = rest.split_once(':') {
        let minutes = digits(minutes, 2).filter(|m| minutes.len() == 2 && *m < 60)?;
        return Some(sign * (digits(hours, 2)? * 60 + minutes));
    }
    if let Some((hours, fraction)) = rest.split_once('.') {
        let scale = 10_i32.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let minutes = digits(fraction, 4)? * 60 / scale;
        return Some(sign * (digits(hours, 2)? * 60 + minutes));
    }
    Some(sign * digits(rest, 2)? * 60)
}

/// Parses `±HH:MM` and `±HHMM` as minutes. Returns `None` for anything else.
fn clock_offset(text: &str) -> Option<i32> {
    let (sign, rest) = signed(text)?;
    let bare = rest.replacen(':', "", 1);
    let colon_fits = !rest.contains(':') || rest.as_bytes().get(2) == Some(&b':');
    if bare.len() != 4 || !colon_fits {
        return None;
    }
    let number = digits(&bare, 4)?;
    let (hours, minutes) = (number / 100, number % 100);
    (minutes < 60).then_some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn zone_names_return_in_canonical_case() {
        assert_eq!(Zone::parse("europe/VIENNA").unwrap().name(), "Europe/Vienna");
        assert_eq!(Zone::parse("utc").unwrap().name(), "UTC");
        assert_eq!(Zone::parse("edt").unwrap().name(), "EDT");
        assert_eq!(Zone::parse("utc+5:30").unwrap().name(), "UTC+5:30");
    }

    #[test]
    fn abbreviation_depends_on_the_written_form_of_the_zone() {
        let summer = at("2027-07-01T00:00:00Z");
        for (zone, abbreviation) in [
            ("America/New_York", "EDT"),
            ("Europe/Vienna", "CEST"),
            ("UTC", "UTC"),
            ("UTC-3:30", "UTC-3:30"),
            ("UTC+5.5", "UTC+5.5"),
            ("+02:00", "GMT+0200"),
            ("EST", "EST"),
        ] {
            assert_eq!(Zone::parse(zone).unwrap().abbreviation(summer), abbreviation, "{zone}");
        }
    }

    #[test]
    fn local_times_convert_with_the_offset_of_the_zone() {
        let noon = at("2027-07-01T12:00:00Z");
        for (zone, seconds) in [
            ("UTC-3:30", -12_600),
            ("UTC+5.5", 19_800),
            ("UTC+5.75", 20_700),
            ("+02:00", 7_200),
            ("EDT", -14_400),
            ("UTC+14", 50_400),
        ] {
            assert_eq!(Zone::parse(zone).unwrap().offset(noon), seconds, "{zone}");
        }
    }

    #[test]
    fn other_texts_are_not_a_zone() {
        for text in
            ["", "Mars/Base", "UTC+15", "UTC+", "+2", "+0200", "+02:60", "+15:00", "UTC+5:3", "XYZ"]
        {
            assert_eq!(Zone::parse(text), None, "{text}");
        }
    }
}
