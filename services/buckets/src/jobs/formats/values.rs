//! Parses sizes and dates in listings.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::value::RawValue;

/// Larger numbers are milliseconds. As seconds they would be after the year 5138.
const MILLISECONDS: i64 = 100_000_000_000;

/// Returns a number or the content of a string as text; `null` is empty. Other values are returned
/// verbatim, which cannot be parsed.
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

/// Parses a date: seconds, milliseconds, RFC 3339 or RFC 1123. Returns Unix seconds, or 0 if it is
/// empty.
pub(super) fn date(text: &str) -> Result<i64, &'static str> {
    const UNREADABLE: &str = "the date cannot be parsed";
    static RFC_1123: DateTimeParser = DateTimeParser::new();
    let text = text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = text.parse().map_err(|_| UNREADABLE)?;
        return Ok(if number > MILLISECONDS { number / 1_000 } else { number });
    }
    let parsed: Result<Timestamp, _> = text.parse();
    let parsed = parsed.or_else(|_| RFC_1123.parse_timestamp(text)).map_err(|_| UNREADABLE)?;
    if parsed.as_second() < 0 { Err(UNREADABLE) } else { Ok(parsed.as_second()) }
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
    #[case("-5", Err(()))]
    #[case("1969-12-31T23:59:59Z", Err(()))]
    #[case("99999999999999999999", Err(()))]
    #[case("yesterday", Err(()))]
    fn dates(#[case] text: &str, #[case] expected: Result<i64, ()>) {
        assert_eq!(date(text).map_err(|_| ()), expected, "{text}");
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
