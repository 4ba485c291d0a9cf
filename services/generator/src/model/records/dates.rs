//! Dates and times of schemas, as seconds.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// Reads a date.
pub fn date(text: &str) -> Option<Date> {
    text.parse().ok()
}

/// Returns the days from 1970-01-01 to a date.
pub fn days(date: Date) -> i64 {
    date.duration_since(jiff::civil::date(1970, 1, 1)).as_hours() / 24
}

/// Returns the date that is some days after 1970-01-01.
pub fn date_after(days: i64) -> Option<Date> {
    let span = jiff::Span::new().try_days(days).ok()?;
    jiff::civil::date(1970, 1, 1).checked_add(span).ok()
}

/// Reads an instant in RFC 3339, or a local date or date and time of a zone, as Unix seconds.
pub fn instant(text: &str, zone: &TimeZone) -> Option<i64> {
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(instant.as_second());
    }
    let local = text.parse::<DateTime>().ok()?;
    Some(zone.to_timestamp(local).ok()?.as_second())
}

/// Reads a time of day as seconds since midnight.
pub fn time(text: &str) -> Option<i64> {
    let time: jiff::civil::Time = text.parse().ok()?;
    Some(i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second()))
}
