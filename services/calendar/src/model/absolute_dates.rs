//! Converts relative dates of a list request to absolute ones, for the links to other pages.

use jiff::Timestamp;
use jiff::civil::Time;

use super::schedule::day_end;
use super::when::{NotADate, When};
use super::zone::Zone;

/// Returns the absolute date that a bound means, so page links keep their meaning over time.
/// Returns `None` if the text is absolute already.
///
/// # Errors
/// The date is outside the supported years.
pub fn absolute(
    when: &When,
    edge: DayEdge,
    strict: bool,
    zone: &Zone,
    now: Timestamp,
) -> Result<Option<String>, NotADate> {
    if !when.is_relative() {
        return Ok(None);
    }
    if strict {
        let at = when.resolve(zone, now)?.instant(zone)?;
        return Ok(Some(whole(at).to_string()));
    }
    let day = when.day(zone, now)?;
    let wall = match edge {
        DayEdge::Start => day.to_datetime(Time::midnight()),
        DayEdge::End => day_end(day),
    };
    Ok(Some(wall.strftime("%Y-%m-%d %H:%M:%S").to_string()))
}

/// The end of the day that a bound without a time refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayEdge {
    /// 00:00:00
    Start,
    /// 23:59:59
    End,
}

fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_words_become_absolute_dates() {
        let vienna = Zone::parse("Europe/Vienna").unwrap();
        let now = "2027-03-10T23:30:00Z".parse().unwrap();
        let written = |text: &str, strict| {
            absolute(&When::parse(text).unwrap(), DayEdge::Start, strict, &vienna, now).unwrap()
        };
        assert_eq!(written("now", false).as_deref(), Some("2027-03-11 00:00:00"));
        assert_eq!(written("now", true).as_deref(), Some("2027-03-10T23:30:00Z"));
        assert_eq!(written("2027-05-05 12:00", false), None);
        assert_eq!(written("1804032000", true), None);
    }
}
