//! Calendar months and their weeks.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::schedule::wall_seconds;

/// Seconds in a day.
pub const DAY: i64 = 86_400;

/// A month in a particular year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month(Date);

/// The event fields shown on the month page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthEntry {
    /// The event's id.
    pub id: i64,
    /// The title. May contain inline HTML. Pages convert it to plain text.
    pub title: String,
    /// The slug.
    pub slug: String,
    /// Local start, in seconds as if it were UTC.
    pub start_local: i64,
    /// Local end, in seconds as if it were UTC.
    pub end_local: i64,
    /// Whether this is an all-day event.
    pub all_day: bool,
}

impl Month {
    /// Returns the month that a day is in.
    pub fn of(day: Date) -> Month {
        Month(day.first_of_month())
    }

    /// Parses a month such as `2027-03`. Returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Month> {
        let (year, month) = text.split_once('-').filter(|_| text.len() == 7)?;
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year) || !digits(month) {
            return None;
        }
        let year = year.parse().ok().filter(|year| (1..=9998).contains(year))?;
        Date::new(year, month.parse().ok()?, 1).ok().map(Month)
    }

    /// Returns the previous month, or `None` if it would be before year 1.
    pub fn previous(self) -> Option<Month> {
        Month::parse(&Month(self.0.checked_sub(1.month()).ok()?).code())
    }

    /// Returns the next month, or `None` if it would be after year 9998.
    pub fn next(self) -> Option<Month> {
        Month::parse(&Month(self.0.checked_add(1.month()).ok()?).code())
    }

    /// Formats the month as `2027-03`.
    pub fn code(self) -> String {
        format!("{:04}-{:02}", self.0.year(), self.0.month())
    }

    /// Returns the first day of the month.
    pub fn first(self) -> Date {
        self.0
    }

    /// Returns the last day of the month.
    pub fn last(self) -> Date {
        self.0.last_of_month()
    }

    /// Returns all days in the month.
    pub fn days(self) -> Vec<Date> {
        self.0.series(1.day()).take_while(|day| *day <= self.last()).collect()
    }

    /// Returns the number of days in the first week that belong to the previous month, for weeks
    /// that start on `first_weekday`.
    pub fn blanks(self, first_weekday: Weekday) -> usize {
        usize::try_from(self.0.weekday().since(first_weekday)).unwrap_or(0)
    }
}

/// Returns the first second of a day in local time.
pub fn midnight(day: Date) -> i64 {
    wall_seconds(day.at(0, 0, 0, 0))
}

impl MonthEntry {
    /// Returns whether the event lasts at least a day, rather than just extending past midnight.
    pub fn is_lasting(&self) -> bool {
        self.end_local - self.start_local >= DAY
    }

    /// Returns whether the event takes place on the day that starts at `midnight`. An event that
    /// ends exactly at midnight isn't part of the next day.
    pub fn covers(&self, midnight: i64) -> bool {
        self.start_local < midnight + DAY
            && (self.end_local > midnight || self.start_local >= midnight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_parse_and_format() {
        let march = Month::parse("2027-03").unwrap();
        assert_eq!(march.code(), "2027-03");
        assert_eq!(march.days().len(), 31);
        assert_eq!((march.blanks(Weekday::Monday), march.blanks(Weekday::Sunday)), (0, 1));
        assert_eq!(Month::parse("2028-02").unwrap().days().len(), 29);
        assert_eq!(Month::parse("2027-08").unwrap().blanks(Weekday::Monday), 6);
        let january = Month::parse("2027-01").unwrap();
        assert_eq!(january.previous().unwrap().code(), "2026-12");
        for text in ["2027-13", "2027-00", "2027-3", "+027-03", "0000-01", "9999-01", "", "2027-0é"]
        {
            assert_eq!(Month::parse(text), None, "{text}");
        }
    }

    #[test]
    fn months_are_limited_to_the_years_of_events() {
        assert_eq!(Month::parse("0001-01").unwrap().previous(), None);
        assert_eq!(Month::parse("9998-12").unwrap().next(), None);
    }

    #[test]
    fn entry_covers_each_of_its_days() {
        let entry = |start_local, end_local| MonthEntry {
            id: 1,
            title: String::new(),
            slug: String::new(),
            start_local,
            end_local,
            all_day: false,
        };
        let (night, two) = (entry(DAY - 60, DAY), entry(0, 2 * DAY));
        assert!(night.covers(0) && !night.covers(DAY) && !night.is_lasting());
        assert!(two.covers(DAY) && !two.covers(2 * DAY) && two.is_lasting());
        let moment = entry(DAY, DAY);
        assert!(moment.covers(DAY) && !moment.covers(0));
    }
}
