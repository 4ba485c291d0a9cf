//! Reads and checks birth dates in identity numbers.

use jiff::civil::Date;

use super::number::{Number, fits};
use super::outcome::Outcome;

/// Returns the date, or `None` if it doesn't exist.
pub fn day(year: u64, month: u64, day: u64) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Checks that a birth date exists. Accepts future dates, which only some schemes reject.
pub fn exists(year: u64, month: u64, date: u64) -> Outcome {
    fits(day(year, month, date).is_some())
}

/// Checks that the `YYMMDD` at offset `from` is a date in the 1900s or 2000s.
pub fn year_first(number: &Number<'_>, from: usize) -> Outcome {
    let (year, month, date) = year_month_day(number, from);
    fits([1900, 2000].into_iter().any(|century| day(century + year, month, date).is_some()))
}

/// Checks that the `DDMMYY` at offset `from` is a date in the 1900s or 2000s.
pub fn day_first(number: &Number<'_>, from: usize) -> Outcome {
    let (date, month, year) = year_month_day(number, from);
    fits([1900, 2000].into_iter().any(|century| day(century + year, month, date).is_some()))
}

/// Returns the three two-digit values at offset `from`.
pub fn year_month_day(number: &Number<'_>, from: usize) -> (u64, u64, u64) {
    let two = |position: usize| number.value(from + position, from + position + 2);
    (two(0), two(2), two(4))
}
