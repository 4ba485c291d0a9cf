//! The period covered by a page of events: a single day or a week.

use jiff::ToSpan as _;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::language::Language;

/// The supported years for events.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9998;

/// A day, or a week given by its first day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// A single day.
    Day(Date),
    /// The week starting on this day: a Monday, or the Saturday or Sunday before it if that is when
    /// weeks start.
    Week(Date),
}

impl Period {
    /// Parses an ISO date such as `2027-03-05`.
    pub fn parse_day(text: &str) -> Option<Period> {
        text.parse::<Date>().ok().filter(|day| day.to_string() == text).map(Period::Day)
    }

    /// Returns whether events can take place on all of these days.
    pub fn is_in_years_of_events(self) -> bool {
        [self.first(), self.last()].iter().all(|day| YEARS.contains(&day.year()))
    }

    /// Parses an ISO week such as `2027-W09`, for weeks that start on `first_weekday`.
    pub fn parse_week(text: &str, first_weekday: Weekday) -> Option<Period> {
        let (year, week) = text.split_once("-W").filter(|_| text.len() == 8)?;
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year) || !digits(week) {
            return None;
        }
        let monday =
            ISOWeekDate::new(year.parse().ok()?, week.parse().ok()?, Weekday::Monday).ok()?.date();
        let first = monday.checked_sub(before_monday(first_weekday).days()).ok()?;
        Some(Period::Week(first)).filter(|week| week.is_in_years_of_events())
    }

    /// Returns the day or week that contains `day`, of the same kind as this one.
    #[must_use]
    pub fn containing(self, day: Date) -> Period {
        match self {
            Period::Day(_) => Period::Day(day),
            Period::Week(first) => Period::week_of(day, first.weekday()),
        }
    }

    /// Returns the week that contains a day, for weeks that start on `first_weekday`.
    pub fn week_of(day: Date, first_weekday: Weekday) -> Period {
        let since_first = i32::from(day.weekday().since(first_weekday));
        Period::Week(day.checked_sub(since_first.days()).unwrap_or(day))
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
            Period::Week(first) => first.checked_add(6.days()).unwrap_or(first),
        }
    }

    /// Returns the page path, relative to the base URL.
    pub fn path(self) -> String {
        match self {
            Period::Day(day) => format!("/events/day/{day}/"),
            Period::Week(first) => {
                let monday = first.checked_add(before_monday(first.weekday()).days());
                let week = monday.unwrap_or(first).iso_week_date();
                format!("/events/week/{:04}-W{:02}/", week.year(), week.week())
            }
        }
    }

    /// Formats the period for use within a sentence: `Friday, 5 March 2027` or `1 – 7 March 2027`.
    pub fn name(self, language: Language) -> String {
        match self {
            Period::Day(day) => language.day(day),
            Period::Week(_) => language.days(self.first(), self.last()),
        }
    }
}

/// Returns the number of days between the start of a week and its Monday.
fn before_monday(first_weekday: Weekday) -> i32 {
    i32::from(Weekday::Monday.since(first_weekday))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_parse_and_format() {
        let day = Period::parse_day("2027-03-05").unwrap();
        assert_eq!(day.path(), "/events/day/2027-03-05/");
        assert_eq!(day.name(Language::En), "Friday, 5 March 2027");
        for (text, first, last) in [
            ("2027-W09", "2027-03-01", "2027-03-07"),
            ("2026-W53", "2026-12-28", "2027-01-03"),
            ("2020-W01", "2019-12-30", "2020-01-05"),
        ] {
            let week = Period::parse_week(text, Weekday::Monday).unwrap();
            assert_eq!(
                (week.first().to_string(), week.last().to_string()),
                (first.into(), last.into())
            );
            assert_eq!(week.path(), format!("/events/week/{text}/"));
            assert_eq!(week.containing(week.last()), week);
        }
        let week = Period::parse_week("2027-W09", Weekday::Monday).unwrap();
        assert_eq!(week.name(Language::En), "1 – 7 March 2027");
        for text in ["2027-3-5", "2027-02-29", "-001-01-01", "", "today"] {
            assert_eq!(Period::parse_day(text), None, "{text}");
        }
        for text in ["0000-01-01", "9999-01-01"] {
            assert!(!Period::parse_day(text).unwrap().is_in_years_of_events(), "{text}");
        }
        for text in
            ["2027-W53", "2027-W00", "2027-W9", "2027-W+9", "9998-W53", "0001-W00", "2027W09", ""]
        {
            assert_eq!(Period::parse_week(text, Weekday::Monday), None, "{text}");
        }
    }

    #[test]
    fn weeks_keep_their_numbers_where_they_begin_earlier() {
        for (first_weekday, first, last) in [
            (Weekday::Sunday, "2027-02-28", "2027-03-06"),
            (Weekday::Saturday, "2027-02-27", "2027-03-05"),
        ] {
            let week = Period::parse_week("2027-W09", first_weekday).unwrap();
            assert_eq!(
                (week.first().to_string(), week.last().to_string()),
                (first.into(), last.into())
            );
            assert_eq!(week.path(), "/events/week/2027-W09/");
            for day in week.first().series(1.day()).take(7) {
                assert_eq!(Period::week_of(day, first_weekday), week, "{day}");
                assert_eq!(week.containing(day), week, "{day}");
            }
            let next = week.last().tomorrow().unwrap();
            assert_eq!(week.containing(next).path(), "/events/week/2027-W10/");
        }
        let first = Period::parse_week("2020-W01", Weekday::Sunday).unwrap();
        assert_eq!(
            (first.first().to_string(), first.path().as_str()),
            ("2019-12-29".into(), "/events/week/2020-W01/")
        );
    }
}
