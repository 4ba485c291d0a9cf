//! Words used in dates.

use jiff::civil::Weekday;

use super::date_time::Unit;

/// Parses an English month name or its first three letters. Returns `None` for other words.
pub(super) fn month(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.strip_suffix('.').unwrap_or(word);
    let at = NAMES
        .iter()
        .position(|name| *name == word || (word.len() == 3 && name.starts_with(word)))
        .or((word == "sept").then_some(8))?;
    i8::try_from(at + 1).ok()
}

/// Parses an English weekday name or a common abbreviation. Returns `None` for other words.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" | "thurs" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    })
}

/// Parses a singular or plural unit of time. Returns `None` for other words.
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "hour" | "hours" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "weekday" | "weekdays" => Unit::Weekday,
        "week" | "weeks" => Unit::Week,
        "fortnight" | "fortnights" => Unit::Fortnight,
        "month" | "months" => Unit::Month,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}
