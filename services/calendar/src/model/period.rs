//! The days that a page of events covers: one day, or a week from Monday to Sunday.

use jiff::ToSpan as _;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::spoken;

/// The years that events can have.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9998;

/// A day or an ISO week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// A day.
    Day(Date),
    /// The week that begins on this Monday.
    Week(Date),
}

impl Period {
    /// Parses a day in ISO format, such as `2027-03-05`.
    pub fn parse_day(text: &str) -> Option<Period> {
        text.parse::<Date>().ok().filter(|day| day.to_string() == text).map(Period::Day)
    }

    /// Returns whether all days are in years that events can have.
    pub fn is_in_years_of_events(self) -> bool {
        [self.first(), self.last()].iter().all(|day| YEARS.contains(&day.year()))
    }

    /// Parses an ISO week, such as `2027-W09`.
    pub fn parse_week(text: &str) -> Option<Period> {
        let (year, week) = text.split_once("-W").filter(|_| text.len() == 8)?;
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year) || !digits(week) {
            return None;
        }
        let monday =
            ISOWeekDate::new(year.parse().ok()?, week.parse().ok()?, Weekday::Monday).ok()?.date();
        Some(Period::Week(monday)).filter(|week| week.is_in_years_of_events())
    }

    /// Returns the period of the same kind that contains a day.
    #[must_use]
    pub fn containing(self, day: Date) -> Period {
        match self {
            Period::Day(_) => Period::Day(day),
            Period::Week(_) => Period::week_of(day),
        }
    }

    /// Returns the week that contains a day.
    pub fn week_of(day: Date) -> Period {
        let since_monday = i32::from(day.weekday().since(Weekday::Monday));
        Period::Week(day.checked_sub(since_monday.days()).unwrap_or(day))
    }

    /// Returns the first day.
    pub fn first(self) -> Date {
        match self {
            Period::Day(day) | Period::Week(day) => day,
        }
    }

    /// Returns the last day.
    pub fn last(self) -> Date {
        match self {
            Period::Day(day) => day,
            Period::Week(monday) => monday.checked_add(6.days()).unwrap_or(monday),
        }
    }

    /// Returns the path of its page relative to the base URL.
    pub fn path(self) -> String {
        match self {
            Period::Day(day) => format!("/events/day/{day}/"),
            Period::Week(monday) => {
                let week = monday.iso_week_date();
                format!("/events/week/{:04}-W{:02}/", week.year(), week.week())
            }
        }
    }

    /// Formats the period as a heading: `Friday, 5 March 2027` or `1 – 7 March 2027`.
    pub fn name(self) -> String {
        match self {
            Period::Day(day) => spoken::day(day),
            Period::Week(_) => spoken::days(self.first(), self.last()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_parse_and_format() {
        let day = Period::parse_day("2027-03-05").unwrap();
        assert_eq!(day.path(), "/events/day/2027-03-05/");
        assert_eq!(day.name(), "Friday, 5 March 2027");
        for (text, first, last) in [
            ("2027-W09", "2027-03-01", "2027-03-07"),
            ("2026-W53", "2026-12-28", "2027-01-03"),
            ("2020-W01", "2019-12-30", "2020-01-05"),
        ] {
            let week = Period::parse_week(text).unwrap();
            assert_eq!(
                (week.first().to_string(), week.last().to_string()),
                (first.into(), last.into())
            );
            assert_eq!(week.path(), format!("/events/week/{text}/"));
            assert_eq!(week.containing(week.last()), week);
        }
        assert_eq!(Period::parse_week("2027-W09").unwrap().name(), "1 – 7 March 2027");
        for text in ["2027-3-5", "2027-02-29", "-001-01-01", "", "today"] {
            assert_eq!(Period::parse_day(text), None, "{text}");
        }
        for text in ["0000-01-01", "9999-01-01"] {
            assert!(!Period::parse_day(text).unwrap().is_in_years_of_events(), "{text}");
        }
        for text in
            ["2027-W53", "2027-W00", "2027-W9", "2027-W+9", "9998-W53", "0001-W00", "2027W09", ""]
        {
            assert_eq!(Period::parse_week(text), None, "{text}");
        }
    }
}
