//! Parses sizes and dates.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;
use serde_json::value::RawValue;

/// Larger numbers are taken as milliseconds. In seconds, they would be after the year 5138.
const MOST_SECONDS: i64 = 100_000_000_000;

/// The latest date that [`Timestamp`] can represent. The year 9999 ends about 26 hours later, and
/// some programs use that moment to say "never".
const LATEST: i64 = 253_402_207_200;
const END_OF_9999: i64 = 253_402_300_799;

/// Returns a number or the contents of a string as text. `null` becomes an empty string. Any other
/// value is returned unchanged and will fail to parse.
pub(super) fn plain(value: &RawValue) -> Cow<'_, str> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).map_or(Cow::Borrowed(text), Cow::Owned),
        Some(b'n') => Cow::Borrowed(""),
        _ => Cow::Borrowed(text),
    }
}

/// Parses a size in bytes.
pub(super) fn size(text: &str) -> Result<i64, &'static str> {
    const NO_SIZE: &str = "the size is not in 0..2^63-1";
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().ok_or(NO_SIZE)
}

/// Formats a date so that [`date`] can read it back. Dates are normally written in seconds. Dates
/// after the year 5138 are written in RFC 3339 instead, because [`date`] would mistake them for
/// milliseconds.
pub(super) fn exported_date(seconds: i64) -> serde_json::Value {
    let is_long = seconds.unsigned_abs() > MOST_SECONDS as u64;
    let text = Timestamp::from_second(seconds).ok().filter(|_| is_long);
    text.map_or_else(|| seconds.into(), |at| at.to_string().into())
}

/// Parses a date in seconds, milliseconds, RFC 3339 or RFC 1123 and returns a Unix time. The
/// default time zone is UTC. An empty string is 0, and dates before 1970 are negative. Dates after
/// the year 9999 are rejected, because [`exported_date`] couldn't write them. The last 26 hours of
/// 9999 are rounded down to the latest [`Timestamp`].
pub(super) fn date(text: &str) -> Result<i64, &'static str> {
    const UNREADABLE: &str = "the date cannot be parsed";
    static RFC_1123: DateTimeParser = DateTimeParser::new();
    let text = text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = text.parse().map_err(|_| UNREADABLE)?;
        let seconds = if number.unsigned_abs() > MOST_SECONDS as u64 {
            number.div_euclid(1_000)
        } else {
            number
        };
        let is_end = (LATEST..=END_OF_9999).contains(&seconds);
        let seconds = if is_end { LATEST } else { seconds };
        return Timestamp::from_second(seconds).map(|_| seconds).map_err(|_| UNREADABLE);
    }
    let parsed: Result<Timestamp, _> = text.parse();
    let parsed = parsed.or_else(|_| RFC_1123.parse_timestamp(text));
    let parsed = match parsed.or_else(|_| in_utc(text)) {
        Err(_) if is_end_of_9999(text) => return Ok(LATEST),
        parsed => parsed.map_err(|_| UNREADABLE)?,
    };
    Ok(parsed.as_second() - i64::from(parsed.subsec_nanosecond() < 0))
}

/// Returns whether a date that can't be parsed as a [`Timestamp`] is on one of the last days of
/// 9999.
fn is_end_of_9999(text: &str) -> bool {
    let local = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    // The offset is ignored, because this date only means "never".
    let is_date = local.parse::<DateTime>().is_ok();
    is_date && (text.starts_with("9999-12-30") || text.starts_with("9999-12-31"))
}

/// Parses dates like `2022-10-25 02:57:46` or `2022/10/25 02:57:46`, with or without an offset. The
/// default is UTC.
fn in_utc(text: &str) -> Result<Timestamp, jiff::Error> {
    let (date, time) = text.split_at_checked(10).unwrap_or((text, ""));
    let text = format!("{}{time}", date.replace('/', "-"));
    let zoned = text.parse::<Timestamp>();
    // Don't parse these as civil dates, which would ignore offsets and time zones.
    if zoned.is_ok() || time.contains(['+', '-', '[']) {
        return zoned;
    }
    let local: DateTime = text.parse()?;
    TimeZone::UTC.to_timestamp(local)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1666666666", Ok(1_666_666_666))]
    #[case("1666666666123", Ok(1_666_666_666))]
    #[case("2022-10-25T02:57:46.000Z", Ok(1_666_666_666))]
    #[case("2022-10-25T04:57:46+02:00", Ok(1_666_666_666))]
    #[case("Tue, 25 Oct 2022 02:57:46 GMT", Ok(1_666_666_666))]
    #[case("", Ok(0))]
    #[case("0", Ok(0))]
    #[case("-5", Ok(-5))]
    #[case("-100000000001", Ok(-100_000_001))]
    #[case("1969-12-31T23:59:59Z", Ok(-1))]
    #[case("1969-12-31T23:59:58.5Z", Ok(-2))]
    #[case("2022-10-25 02:57:46", Ok(1_666_666_666))]
    #[case("2022-10-25T02:57:46", Ok(1_666_666_666))]
    #[case("2022/10/25 02:57:46", Ok(1_666_666_666))]
    #[case("2022/10/25 04:57:46+02:00", Ok(1_666_666_666))]
    #[case("2022/10/25 02:57:46Z", Ok(1_666_666_666))]
    #[case("2022-10-25 02:57:46[Europe/Berlin]", Err(()))]
    #[case("2022/10/25 02:57:46-99", Err(()))]
    #[case("2022-10-25", Ok(1_666_656_000))]
    #[case("-", Err(()))]
    #[case("2022-10-25 25:00:00", Err(()))]
    #[case("99999999999999999999", Err(()))]
    #[case("100000000000", Ok(100_000_000_000))]
    #[case("100000000001", Ok(100_000_000))]
    #[case("253402207200000", Ok(253_402_207_200))]
    #[case("253402207201000", Ok(253_402_207_200))]
    #[case("253402300799999", Ok(253_402_207_200))]
    #[case("253402300800000", Err(()))]
    #[case("9999-12-31T23:59:59Z", Ok(253_402_207_200))]
    #[case("9999-12-31T23:59:59.999Z", Ok(253_402_207_200))]
    #[case("9999-12-31T23:59:59+00:00", Ok(253_402_207_200))]
    #[case("9999-12-31 25:00:00", Err(()))]
    #[case("9999-12-30T22:00:00Z", Ok(253_402_207_200))]
    #[case("yesterday", Err(()))]
    fn dates(#[case] text: &str, #[case] expected: Result<i64, ()>) {
        assert_eq!(date(text).map_err(|_| ()), expected, "{text}");
    }

    #[test]
    fn exported_dates_are_stable() {
        for seconds in
            [0, 1, -1, -100_000_000_000, 100_000_000_000, 100_000_000_001, 253_402_207_200]
        {
            let exported = exported_date(seconds);
            let text = exported.as_str().map_or_else(|| exported.to_string(), str::to_owned);
            assert_eq!(date(&text), Ok(seconds), "{text}");
        }
    }

    #[rstest]
    #[case("0", Ok(0))]
    #[case("9223372036854775807", Ok(i64::MAX))]
    #[case("9223372036854775808", Err(()))]
    #[case("-1", Err(()))]
    #[case("+1", Err(()))]
    #[case("1.5", Err(()))]
    #[case("", Err(()))]
    fn sizes(#[case] text: &str, #[case] expected: Result<i64, ()>) {
        assert_eq!(size(text).map_err(|_| ()), expected, "{text}");
    }
}
