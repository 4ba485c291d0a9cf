//! Resolves the date parameters of a list request so that page links can repeat them.

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};

use super::schedule::day_end;
use super::when::{NotADate, PointInTime, When};
use super::zone::Zone;

/// Resolves a date bound to an absolute date, so that page links keep their meaning over time.
/// Returns a day boundary or, if `strict` is set, a local time or instant. Returns `None` if the
/// input is already an instant.
///
/// # Errors
///
/// Returns an error if the date is outside the supported years.
pub fn absolute(
    when: &When,
    edge: DayEdge,
    strict: bool,
    zone: &Zone,
    now: Timestamp,
) -> Result<Option<String>, NotADate> {
    if strict {
        return Ok(match when.resolve(zone, now)? {
            point if when.is_relative() => Some(whole(point.instant(zone)?).to_string()),
            PointInTime::Wall(wall) => Some(written(wall)),
            PointInTime::Instant(_) => None,
        });
    }
    let day = when.day(zone, now)?;
    let wall = match edge {
        DayEdge::Start => day.to_datetime(Time::midnight()),
        DayEdge::End => day_end(day),
    };
    Ok(Some(written(wall)))
}

fn written(wall: DateTime) -> String {
    wall.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The edge of the day that a bound without a time refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayEdge {
    /// The first second of the day, 00:00:00.
    Start,
    /// The last second of the day, 23:59:59.
    End,
}

fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_become_the_dates_that_they_mean() {
        let vienna = Zone::parse("Europe/Vienna").unwrap();
        let now = "2027-03-10T23:30:00Z".parse().unwrap();
        let written = |text: &str, strict| {
            absolute(&When::parse(text).unwrap(), DayEdge::Start, strict, &vienna, now).unwrap()
        };
        let end = |text: &str| {
            absolute(&When::parse(text).unwrap(), DayEdge::End, false, &vienna, now).unwrap()
        };
        assert_eq!(end("2027-05-05").as_deref(), Some("2027-05-05 23:59:59"));
        assert_eq!(end("1804032000").as_deref(), Some("2027-03-03 23:59:59"));
        assert_eq!(written("now", false).as_deref(), Some("2027-03-11 00:00:00"));
        assert_eq!(written("now", true).as_deref(), Some("2027-03-10T23:30:00Z"));
        assert_eq!(written("2027-05-05 12:00", false).as_deref(), Some("2027-05-05 00:00:00"));
        assert_eq!(written("May 5, 2027 noon", true).as_deref(), Some("2027-05-05 12:00:00"));
        assert_eq!(written("2027-05-05T12:00:00Z", true), None);
        assert_eq!(written("1804032000", true), None);
    }
}
