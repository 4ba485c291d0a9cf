//! Formats dates and times in words: `Sunday, 14 March 2027, 19:30 – 22:00`.

use jiff::civil::DateTime;

use super::language::{Language, capitalized};
use super::schedule::{Schedule, wall_from_seconds};

/// Formats an event's dates and times in its local time.
pub fn span(schedule: &Schedule, language: Language) -> String {
    let (start, end) = ends(schedule);
    let text = if schedule.all_day && start.date() == end.date() {
        language.day(start.date())
    } else if schedule.all_day {
        language.days(start.date(), end.date())
    } else if is_one_sitting(schedule) {
        language.day_and_times(start.date(), (start, end))
    } else {
        language.range(&language.moment(start), &language.moment(end))
    };
    capitalized(&text)
}

/// Formats an event's times of day.
pub fn hours(schedule: &Schedule, language: Language) -> String {
    let (start, end) = ends(schedule);
    if schedule.all_day {
        language.words().all_day.to_owned()
    } else if start == end {
        language.clock(start)
    } else {
        language.times(start, end)
    }
}

/// Returns whether pages can omit the date from the end, because the event ends on the day it
/// starts or within 24 hours.
pub fn is_one_sitting(schedule: &Schedule) -> bool {
    let (start, end) = ends(schedule);
    start.date() == end.date() || (!schedule.all_day && end.duration_since(start).as_hours() < 24)
}

/// Returns the local start and end.
pub fn ends(schedule: &Schedule) -> (DateTime, DateTime) {
    (wall_from_seconds(schedule.start_local), wall_from_seconds(schedule.end_local))
}

#[cfg(test)]
mod tests {
    use super::super::when::PointInTime;
    use super::super::zone::Zone;
    use super::*;

    fn schedule(start: &str, end: &str, all_day: bool) -> Schedule {
        let wall = |text: &str| PointInTime::Wall(text.parse().unwrap());
        Schedule::new(Zone::utc(), all_day, wall(start), wall(end)).unwrap()
    }

    #[test]
    fn spans_omit_repeated_parts() {
        for (start, end, all_day, expected) in [
            ("2027-03-14T19:30", "2027-03-14T22:00", false, "Sunday, 14 March 2027, 19:30 – 22:00"),
            ("2027-03-14T19:30", "2027-03-14T19:30", false, "Sunday, 14 March 2027, 19:30"),
            ("2027-03-14T20:00", "2027-03-15T02:00", false, "Sunday, 14 March 2027, 20:00 – 02:00"),
            (
                "2027-03-14T10:00",
                "2027-03-16T18:00",
                false,
                "14 March 2027, 10:00 – 16 March 2027, 18:00",
            ),
            ("2027-03-14T00:00", "2027-03-14T00:00", true, "Sunday, 14 March 2027"),
            ("2027-03-14T00:00", "2027-03-16T00:00", true, "14 – 16 March 2027"),
            ("2027-03-30T00:00", "2027-04-02T00:00", true, "30 March – 2 April 2027"),
            ("2027-12-30T00:00", "2028-01-02T00:00", true, "30 December 2027 – 2 January 2028"),
        ] {
            assert_eq!(span(&schedule(start, end, all_day), Language::En), expected);
        }
    }
}
