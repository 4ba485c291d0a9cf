//! Moments of iCalendar files: days, and times on the clock of a zone.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp};

use super::foreign_zones::ForeignZones;
use super::reader::Property;
use crate::model::zone::Zone;

/// What reading moments needs to know.
#[derive(Clone, Copy)]
pub struct EntryContext<'a> {
    /// The zones that the file describes.
    pub zones: &'a ForeignZones,
    /// The zone that the file names for all its events: that of times in UTC or in no zone.
    pub calendar: Option<&'a Zone>,
    /// The zone of times that name none, where the file names none either.
    pub site: &'a Zone,
    /// The present.
    pub now: Timestamp,
}

/// A day, or a time on a clock.
#[derive(Clone, Debug)]
pub enum Moment {
    /// A whole day.
    Day(Date),
    /// A reading of the clock of a zone.
    Time(DateTime, Zone),
}

impl PartialEq for Moment {
    /// Times are the same at one instant in one zone; all zones of a fixed offset are one.
    fn eq(&self, other: &Moment) -> bool {
        match (self, other) {
            (Moment::Day(day), Moment::Day(other)) => day == other,
            (Moment::Time(wall, zone), Moment::Time(other, others)) => {
                let same_zone = zone == others || (zone.is_fixed() && others.is_fixed());
                same_zone && zone.instant(*wall) == others.instant(*other)
            }
            _ => false,
        }
    }
}

impl Moment {
    /// Reads a property with one moment.
    pub fn read(property: &Property, context: EntryContext<'_>) -> Result<Moment, String> {
        Moment::parse(property.value.trim(), property, context)
    }

    /// Reads one of the moments of a property.
    pub fn parse(
        text: &str,
        property: &Property,
        context: EntryContext<'_>,
    ) -> Result<Moment, String> {
        let wrong = || format!("{} is no date", property.name);
        let is_day =
            property.parameter("VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("DATE"));
        if is_day || text.len() == 8 {
            let day = text.get(..8).and_then(|text| Date::strptime("%Y%m%d", text).ok());
            return day.map(Moment::Day).ok_or_else(wrong);
        }
        let (clock, in_utc) = match text.strip_suffix(['Z', 'z']) {
            Some(clock) => (clock, true),
            None => (text, false),
        };
        let wall = DateTime::strptime("%Y%m%dT%H%M%S", clock).map_err(|_| wrong())?;
        let zone = match property.parameter("TZID") {
            _ if in_utc => Zone::utc(),
            None => context.calendar.unwrap_or(context.site).clone(),
            Some(name) => context
                .zones
                .find(name, wall)
                .ok_or_else(|| format!("the time zone {name} is not known"))?,
        };
        let at = zone.instant(wall).ok_or_else(wrong)?;
        let zone = if in_utc { context.calendar.cloned().unwrap_or(zone) } else { zone };
        // A time that the clock skips is one that it shows.
        Ok(Moment::Time(zone.wall(at), zone))
    }

    /// Returns the reading of its clock; a day begins at midnight.
    pub fn wall(&self) -> DateTime {
        match self {
            Moment::Day(day) => day.to_datetime(Time::midnight()),
            Moment::Time(wall, _) => *wall,
        }
    }

    /// Moves to another reading of the same clock.
    pub fn at(&self, wall: DateTime) -> Moment {
        match self {
            Moment::Day(_) => Moment::Day(wall.date()),
            Moment::Time(_, zone) => {
                let shown = zone.instant(wall).map_or(wall, |at| zone.wall(at));
                Moment::Time(shown, zone.clone())
            }
        }
    }

    /// Returns what the clock of another moment shows meanwhile; a day takes its time of day.
    pub fn on_clock_of(&self, other: &Moment) -> DateTime {
        match (self, other) {
            (Moment::Time(wall, zone), Moment::Time(_, others)) => {
                zone.instant(*wall).map_or(*wall, |at| others.wall(at))
            }
            (moment, other) => moment.wall().date().to_datetime(other.wall().time()),
        }
    }

    /// Names the moment, the same in every zone.
    pub fn key(&self) -> String {
        match self {
            Moment::Day(day) => day.strftime("%Y%m%d").to_string(),
            Moment::Time(wall, zone) => {
                let at = zone.instant(*wall).unwrap_or(Timestamp::UNIX_EPOCH);
                at.strftime("%Y%m%dT%H%M%SZ").to_string()
            }
        }
    }

    /// Names the day of the moment on its clock.
    pub fn day_key(&self) -> String {
        self.wall().date().strftime("%Y%m%d").to_string()
    }
}

/// Reads the end of an event: one without ends as it starts, on a day with the day.
pub fn end_of(
    start: &Moment,
    end: Option<&Property>,
    duration: Option<&Property>,
    context: EntryContext<'_>,
) -> Result<Moment, String> {
    let read = match (end, duration) {
        (Some(end), _) => Moment::read(end, context)?,
        (None, Some(duration)) => {
            let span: Span =
                duration.value.trim().parse().map_err(|_| "DURATION is no duration")?;
            start.at(start.wall().checked_add(span).map_err(|_| "DURATION is too long")?)
        }
        (None, None) => start.clone(),
    };
    Ok(match (start, read) {
        // Days end before the day that is named.
        (Moment::Day(first), Moment::Day(behind)) => {
            Moment::Day(behind.yesterday().unwrap_or(behind).max(*first))
        }
        (Moment::Time(first, zone), Moment::Time(wall, other)) => {
            let at = other.instant(wall).ok_or("DTEND is no date")?;
            Moment::Time(zone.wall(at).max(*first), zone.clone())
        }
        (start, read) => start.at(read.wall().max(start.wall())),
    })
}
