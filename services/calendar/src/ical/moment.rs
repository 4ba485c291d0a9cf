//! Dates and times in iCalendar files.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};

use super::foreign_zones::ForeignZones;
use super::property::Property;
use crate::model::schedule::wall_seconds;
use crate::model::series::SeriesLimits;
use crate::model::zone::Zone;

/// Context for interpreting the dates and times of an entry.
#[derive(Clone, Copy)]
pub struct EntryContext<'a> {
    /// The zones defined in the file.
    pub zones: &'a ForeignZones,
    /// The number of the entry's calendar, whose own definitions of zones take precedence.
    pub calendar_number: usize,
    /// The calendar's default zone. It is used to display UTC times, and to interpret times
    /// without a zone.
    pub calendar: Option<&'a Zone>,
    /// The site's zone, for times without a zone in calendars without a default zone.
    pub site: &'a Zone,
    pub now: Timestamp,
    pub limits: SeriesLimits,
}

impl EntryContext<'_> {
    /// Returns the zone to use if a time's zone is missing or unknown.
    pub fn floating(&self) -> &Zone {
        self.calendar.unwrap_or(self.site)
    }

    /// Returns the zone that `name` refers to at the local time `wall`, or `None` if it is unknown.
    pub fn zone(&self, name: &str, wall: DateTime) -> Option<Zone> {
        self.zones.find((self.calendar_number, name), wall)
    }
}

/// A whole day, or a time in a zone.
#[derive(Clone, Debug)]
pub enum Moment {
    Day(Date),
    /// An instant and its display zone. A local time wouldn't work here, because it is ambiguous
    /// when clocks are set back.
    Time(Timestamp, Zone),
}

impl PartialEq for Moment {
    /// Times are equal if they have the same instant and the same zone. All fixed offsets count as
    /// one zone.
    fn eq(&self, other: &Moment) -> bool {
        match (self, other) {
            (Moment::Day(day), Moment::Day(other)) => day == other,
            (Moment::Time(at, zone), Moment::Time(other, others)) => {
                let same_zone = zone == others || (zone.is_fixed() && others.is_fixed());
                same_zone && at == other
            }
            _ => false,
        }
    }
}

impl Moment {
    /// Parses a property that contains a single date or time.
    pub fn read(property: &Property, context: EntryContext<'_>) -> Result<Moment, String> {
        Moment::parse(property.value.trim(), property, context)
    }

    /// Parses one of the dates or times in `property`.
    pub fn parse(
        text: &str,
        property: &Property,
        context: EntryContext<'_>,
    ) -> Result<Moment, String> {
        let wrong = || format!("{} is not a date", property.name);
        if text.len() == 8 || property.is_day(text) {
            let day = text.get(..8).and_then(|text| Date::strptime("%Y%m%d", text).ok());
            return day.map(Moment::Day).ok_or_else(wrong);
        }
        let wall = reading(text).ok_or_else(wrong)?;
        let zone = match property.parameter("TZID") {
            _ if is_utc(text) => Zone::utc(),
            None => context.floating().clone(),
            // Entries with unknown zones get a warning elsewhere.
            Some(name) => context.zone(name, wall).unwrap_or_else(|| context.floating().clone()),
        };
        let at = zone.instant(wall).ok_or_else(wrong)?;
        let shown_in = context.calendar.filter(|_| is_utc(text)).cloned();
        Ok(Moment::Time(at, shown_in.unwrap_or(zone)))
    }

    /// Returns the local time. For a day, this is midnight.
    pub fn wall(&self) -> DateTime {
        match self {
            Moment::Day(day) => day.to_datetime(Time::midnight()),
            Moment::Time(at, zone) => zone.wall(*at),
        }
    }

    /// Returns the moment at a different local time in the same zone. Skipped times move forward,
    /// and repeated times resolve to their first occurrence.
    pub fn at(&self, wall: DateTime) -> Moment {
        match self {
            Moment::Day(_) => Moment::Day(wall.date()),
            Moment::Time(at, zone) => Moment::Time(zone.instant(wall).unwrap_or(*at), zone.clone()),
        }
    }

    /// Converts to the same instant in `zone`.
    #[must_use]
    pub fn in_zone(self, zone: &Zone) -> Moment {
        match self {
            Moment::Day(day) => Moment::Day(day),
            Moment::Time(at, _) => Moment::Time(at, zone.clone()),
        }
    }

    /// Returns a number of seconds for comparing moments of the same variant.
    pub fn seconds(&self) -> i64 {
        match self {
            Moment::Day(_) => wall_seconds(self.wall()),
            Moment::Time(at, _) => at.as_second(),
        }
    }

    /// Returns whether the local time converts back to the same instant. This isn't the case for
    /// the second pass through a repeated hour.
    pub fn is_clear(&self) -> bool {
        match self {
            Moment::Day(_) => true,
            Moment::Time(at, zone) => zone.is_unambiguous(*at),
        }
    }

    /// Returns a key that doesn't depend on the zone.
    pub fn key(&self) -> String {
        match self {
            Moment::Day(day) => day.strftime("%Y%m%d").to_string(),
            Moment::Time(at, _) => at.strftime("%Y%m%dT%H%M%SZ").to_string(),
        }
    }

    /// Returns a key for the local day.
    pub fn day_key(&self) -> String {
        self.wall().date().strftime("%Y%m%d").to_string()
    }
}

/// Returns whether a time is written in UTC, i.e. ends with `Z`.
pub fn is_utc(text: &str) -> bool {
    text.trim().ends_with(['Z', 'z'])
}

/// Parses a date or time as a local time, ignoring its zone. A day becomes midnight. Returns `None`
/// if the input is malformed.
pub fn reading(text: &str) -> Option<DateTime> {
    let text = text.trim();
    if text.len() == 8 {
        return Date::strptime("%Y%m%d", text).ok().map(|day| day.to_datetime(Time::midnight()));
    }
    DateTime::strptime("%Y%m%dT%H%M%S", text.strip_suffix(['Z', 'z']).unwrap_or(text)).ok()
}
