//! Date and time formats used by the API and by loads.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Converts Unix seconds to UTC. This uses civil times because `jiff` timestamps end before the end
/// of the day 9999-12-31.
fn civil(seconds: i64) -> DateTime {
    EPOCH.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(EPOCH)
}

/// Converts UTC to Unix seconds.
fn unix(time: DateTime) -> i64 {
    time.duration_since(EPOCH).as_secs()
}

/// Formats as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn with_zone(seconds: i64) -> String {
    civil(seconds).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats as `YYYY-MM-DDTHH:MM:SS`. The time is UTC but there is no `Z`.
pub fn without_zone(seconds: i64) -> String {
    civil(seconds).strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Formats as `YYYY-MM-DD`.
pub fn date(seconds: i64) -> String {
    civil(seconds).date().to_string()
}

/// Formats the last day of a period that ends just before a Unix time.
pub fn last_day(end: i64) -> String {
    date(end.saturating_sub(1))
}

/// Formats for emails and feeds: `Sun, 22 Nov 2026 10:00:00 +0000`.
pub fn mail_date(seconds: i64) -> String {
    civil(seconds).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// Formats as `November 2026`.
pub fn month(seconds: i64) -> String {
    civil(seconds).strftime("%B %Y").to_string()
}

/// Rounds down to the minute.
pub fn whole_minute(seconds: i64) -> i64 {
    seconds.div_euclid(60) * 60
}

/// Parses `YYYY-MM-DDTHH:MM[:SS]`, optionally followed by `Z` or an offset. The default is UTC.
pub fn parse(text: &str) -> Option<i64> {
    if text.len() < 16 {
        return None;
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return has_valid_offset(text).then(|| instant.as_second());
    }
    // The civil parser silently ignores anything after the time.
    let is_plain = |byte: u8| byte.is_ascii_digit() || b":.".contains(&byte);
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let civil: DateTime = text.parse().ok()?;
    let time = text.as_bytes().get(11..)?;
    if !time.iter().all(|byte| is_plain(*byte)) {
        return None;
    }
    Some(unix(civil))
}

/// Checks that the offset, if any, is less than a day, as required by RFC 3339. `jiff` allows up to
/// 25 hours.
fn has_valid_offset(text: &str) -> bool {
    let time = text.get(11..).unwrap_or_default();
    let Some((_, offset)) = time.split_once(['+', '-']) else { return true };
    let hours = offset.get(..2).and_then(|hours| hours.parse::<u8>().ok());
    hours.is_some_and(|hours| hours < 24)
}

/// Parses the end of a period. A date without a time includes that day in UTC, so this returns the
/// first second of the next day. The expiry of API keys works the same way.
pub fn parse_until(text: &str) -> Option<i64> {
    if let Some(seconds) = parse(text) {
        return Some(seconds);
    }
    let date = is_date(text).then(|| text.parse::<Date>().ok()).flatten()?;
    // The last day of the calendar has no successor.
    let next = date.tomorrow().map(|next| unix(next.at(0, 0, 0, 0)));
    Some(next.unwrap_or_else(|_| unix(date.at(23, 59, 59, 0))))
}

/// Parses the start of a period. A date without a time means the start of that day in UTC.
pub fn parse_since(text: &str) -> Option<i64> {
    let date = || is_date(text).then(|| text.parse::<Date>().ok()).flatten();
    parse(text).or_else(|| date().map(|date| unix(date.at(0, 0, 0, 0))))
}

/// Parses Unix time: 10 digits are seconds, 13 are milliseconds. Other numbers may be years, dates or
/// times such as `20150131`. Drops a fraction.
pub fn parse_unix(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let number: i64 = whole.parse().ok()?;
    match whole.len() {
        10 => Some(number),
        13 => Some(number / 1_000),
        _ => None,
    }
}

/// Parses a date of another program: the same as [`parse_since`], also with a space in front of
/// the offset or of `UTC`, or [Unix time](parse_unix).
pub fn parse_exported(text: &str) -> Option<i64> {
    let text = text.trim();
    let joined = match text.rsplit_once(' ') {
        Some((time, "UTC" | "GMT" | "Z")) => format!("{time}Z"),
        Some((time, offset)) if offset.starts_with(['+', '-']) => format!("{time}{offset}"),
        _ => text.to_owned(),
    };
    parse_since(&joined).or_else(|| parse_unix(&joined))
}

/// Returns the year and month (1 to 12).
pub fn year_and_month(seconds: i64) -> (i16, i8) {
    let date = civil(seconds).date();
    (date.year(), date.month())
}

/// Returns the first second of a month, or 0 if the month is out of range.
pub fn start_of_month(year: i64, month: i64) -> i64 {
    let date = i16::try_from(year).ok().zip(i8::try_from(month).ok());
    let date = date.and_then(|(year, month)| Date::new(year, month, 1).ok());
    date.map_or(0, |date| unix(date.at(0, 0, 0, 0)))
}

/// Returns `true` for a date in the form `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_and_without_seconds_are_parsed() {
        let seconds = parse("2013-12-04T00:00:00Z").unwrap();
        assert_eq!(parse("2013-12-04T00:00Z"), Some(seconds));
        assert_eq!(with_zone(seconds), "2013-12-04T00:00:00Z");
        assert_eq!(without_zone(seconds), "2013-12-04T00:00:00");
        assert_eq!(parse_until("2013-12-03"), Some(seconds));
        assert_eq!(parse("2013-12-04"), None);
        assert_eq!(parse("yesterday"), None);
        assert!(!is_date("2013-13-04"));
    }

    #[test]
    fn offsets_are_converted_to_utc() {
        let seconds = parse("2020-01-02T05:00:00Z").unwrap();
        for text in [
            "2020-01-02T10:00:00+05:00",
            "2020-01-02T10:00+05:00",
            "2020-01-02T10:00:00+0500",
            "2020-01-01T23:30:00-05:30",
            "2020-01-02T05:00:00+00:00",
            "2020-01-02T05:00:00",
            "2020-01-02T05:00",
            "2020-01-02 05:00:00",
            "2020-01-02T05:00:00.000",
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
            assert_eq!(parse_until(text), Some(seconds), "{text}");
        }
        for text in [
            "2020-01-02T10:00:00[Asia/Tashkent]",
            "2020-01-02T10:00:00 CET",
            "2020-01-02T10:00:00+",
            "2020-01-02T10:00:00+99:00",
            "2020-01-02T10:00:00+24:00",
            "2020-01-02T10:00:00-2400",
            "2020-01-02T10:00+25:59",
            "2020-01-02+05:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
            assert_eq!(parse_until(text), None, "{text}");
        }
    }

    #[test]
    fn date_ends_with_its_day_also_on_the_last_day_of_the_calendar() {
        let last = parse_until("9999-12-31").unwrap();
        assert_eq!(without_zone(last), "9999-12-31T23:59:59");
        for text in ["9999-12-31T23:59:59", "9999-12-31T23:59:59Z"] {
            assert_eq!(parse_until(text).map(with_zone).unwrap(), "9999-12-31T23:59:59Z", "{text}");
        }
        assert_eq!(without_zone(i64::MAX), "1970-01-01T00:00:00");
    }

    #[test]
    fn date_begins_with_its_day() {
        assert_eq!(parse_since("2013-12-04"), parse("2013-12-04T00:00:00Z"));
        assert_eq!(parse_since("2013-12-04T10:00+02:00"), parse("2013-12-04T08:00:00Z"));
        assert_eq!(parse_since("2028-02-29").map(date).unwrap(), "2028-02-29");
        for text in ["", "2013-13-04", "2013-12", "2013-12-04 ", "yesterday", "2027-02-29"] {
            assert_eq!(parse_since(text), None, "{text}");
        }
    }

    #[test]
    fn dates_of_other_programs_are_parsed() {
        let seconds = parse("2020-01-02T05:00:00Z").unwrap();
        for text in [
            "2020-01-02T10:00:00+05:00",
            "2020-01-02 05:00:00 UTC",
            "2020-01-02 05:00 GMT",
            "2020-01-02 10:00:00 +0500",
            "2020-01-02 05:00:00+00",
            " 2020-01-02T05:00:00Z ",
            "1577941200",
            "1577941200.75",
            "1577941200750",
        ] {
            assert_eq!(parse_exported(text), Some(seconds), "{text}");
        }
        assert_eq!(parse_exported("2020-01-02"), parse("2020-01-02T00:00:00Z"));
        for text in [
            "",
            "yesterday",
            "2020",
            "20200102",
            "202001020500",
            "20200102050000",
            "02/01/2020",
            "2020-01-02 +05:00",
            "2020-01-02 UTC",
            "-1577941200",
            "1e9",
            "99999999999999999999",
        ] {
            assert_eq!(parse_exported(text), None, "{text}");
        }
    }

    #[test]
    fn whole_minute_rounds_down() {
        assert_eq!((whole_minute(61), whole_minute(-1)), (60, -60));
    }
}
