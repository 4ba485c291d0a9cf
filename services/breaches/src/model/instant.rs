//! Dates in the forms that the API writes and the loaders read.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

fn civil(seconds: i64) -> DateTime {
    let instant = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    TimeZone::UTC.to_datetime(instant)
}

/// `YYYY-MM-DDTHH:MM:SSZ`.
pub fn with_zone(seconds: i64) -> String {
    civil(seconds).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `YYYY-MM-DDTHH:MM:SS`, UTC without a zone letter.
pub fn without_zone(seconds: i64) -> String {
    civil(seconds).strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// `YYYY-MM-DD`.
pub fn date(seconds: i64) -> String {
    civil(seconds).date().to_string()
}

/// The form of mails and feeds: `Sun, 22 Nov 2026 10:00:00 +0000`.
pub fn mail_date(seconds: i64) -> String {
    civil(seconds).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// The start of the minute.
pub fn whole_minute(seconds: i64) -> i64 {
    seconds.div_euclid(60) * 60
}

/// Reads `YYYY-MM-DDTHH:MM[:SS]` with or without `Z`.
pub fn parse(text: &str) -> Option<i64> {
    let civil: DateTime = text.strip_suffix('Z').unwrap_or(text).parse().ok()?;
    (text.len() >= 16)
        .then(|| TimeZone::UTC.to_timestamp(civil).ok().map(Timestamp::as_second))
        .flatten()
}

/// Reads a date, or a date with a time, as the operator writes an end: a date means its first second.
pub fn parse_until(text: &str) -> Option<i64> {
    if let Some(seconds) = parse(text) {
        return Some(seconds);
    }
    let date = is_date(text).then(|| text.parse::<Date>().ok()).flatten()?;
    TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok().map(Timestamp::as_second)
}

/// Whether the text is `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_written_forms_are_read() {
        let seconds = parse("2013-12-04T00:00:00Z").unwrap();
        assert_eq!(parse("2013-12-04T00:00Z"), Some(seconds));
        assert_eq!(with_zone(seconds), "2013-12-04T00:00:00Z");
        assert_eq!(without_zone(seconds), "2013-12-04T00:00:00");
        assert_eq!(parse_until("2013-12-04"), Some(seconds));
        assert_eq!(parse("2013-12-04"), None);
        assert_eq!(parse("yesterday"), None);
        assert!(!is_date("2013-13-04"));
    }

    #[test]
    fn minutes_begin_at_their_second_zero() {
        assert_eq!((whole_minute(61), whole_minute(-1)), (60, -60));
    }
}
