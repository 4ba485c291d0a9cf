//! Dates and times in schemas, converted to days or seconds.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Seconds per day.
pub const DAY: i64 = 86_400;

/// Parses a date.
pub fn date(text: &str) -> Option<Date> {
    text.parse().ok()
}

/// Returns the number of days from 1970-01-01 to a date.
pub fn days(date: Date) -> i64 {
    date.duration_since(jiff::civil::date(1970, 1, 1)).as_hours() / 24
}

/// Returns the date `days` after 1970-01-01.
pub fn date_after(days: i64) -> Option<Date> {
    let span = jiff::Span::new().try_days(days).ok()?;
    jiff::civil::date(1970, 1, 1).checked_add(span).ok()
}

/// Parses an RFC 3339 timestamp, or else a date or datetime that is local to `zone`. Returns Unix
/// seconds.
pub fn instant(text: &str, zone: &TimeZone) -> Option<i64> {
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(instant.as_second());
    }
    let local = text.parse::<DateTime>().ok()?;
    Some(zone.to_timestamp(local).ok()?.as_second())
}

/// Parses a time of day. Returns the seconds since midnight.
pub fn time(text: &str) -> Option<i64> {
    let time: jiff::civil::Time = text.parse().ok()?;
    Some(i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second()))
}
