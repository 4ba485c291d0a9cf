//! Event durations.

use jiff::civil::{DateTime, Time};
use jiff::{Span, Timestamp};

use super::ignored::Warning;
use super::moment::{EntryContext, Moment, is_utc, reading};
use super::property::Property;
use crate::model::zone::Zone;

/// An event's duration, shared by all its occurrences.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// From DTEND: the difference between the local times.
    Clock(Span),
    /// From DURATION. Weeks and days are counted in local time, whereas hours, minutes and seconds
    /// are elapsed time and aren't affected by clock changes (RFC 5545, 3.3.6).
    Duration(Span),
}

impl Length {
    /// Measures the time from `start` to `end` in local time, in the zone `clock`.
    pub fn between(start: &Moment, end: &Moment, clock: &Zone) -> Length {
        let wall = |moment: &Moment| moment.clone().in_zone(clock).wall();
        let (first, last) = (wall(start), wall(end));
        match (start, end) {
            // Clocks were set back during the event.
            (Moment::Time(start, _), Moment::Time(end, _)) if last < first => {
                Length::Duration(start.until(*end).unwrap_or_default())
            }
            _ => Length::Clock(first.until(last).unwrap_or_default()),
        }
    }

    /// Measures an event by the local times in DTSTART and DTEND as written. Even if clocks skip
    /// one of them on the first day, they apply to all later occurrences. In a zone that only the
    /// file defines, `clock` has a fixed offset, which might differ from the one at the end.
    pub fn written(
        (start, end): (Option<&Property>, Option<&Property>),
        (first, last): (&Moment, &Moment),
        clock: &Zone,
    ) -> Length {
        let length = Length::between(first, last, clock);
        let (Some(start), Some(end), Moment::Time(at, _)) = (start, end, first) else {
            return length;
        };
        let is_same_clock = is_same_clock(start, end);
        let (Some(start), Some(end)) = (reading(&start.value), reading(&end.value)) else {
            return length;
        };
        let is_skipped = |wall| clock.instant(wall).is_some_and(|at| clock.wall(at) != wall);
        match is_same_clock
            && clock.instant(start) == Some(*at)
            && (clock.is_fixed() || is_skipped(start) || is_skipped(end))
            && start <= end
        {
            true => Length::Clock(start.until(end).unwrap_or_default()),
            false => length,
        }
    }

    /// Returns the duration of an event if clocks skip its start, so that the start moves to DTEND
    /// or beyond. Otherwise, the event would have no duration on that day. `first` is the start.
    pub fn of_skipped(
        (start, end): (Option<&Property>, Option<&Property>),
        first: &Moment,
        context: EntryContext<'_>,
    ) -> Option<Length> {
        let (start, end) = (start?, end?);
        let last = Moment::read(end, context).ok()?;
        let is_lost = match (first, &last) {
            (Moment::Time(first, _), Moment::Time(last, _)) => last <= first,
            _ => false,
        };
        let length = reading(&start.value)?.until(reading(&end.value)?).ok()?;
        // Only a skipped start can be after a later local time.
        let is_skipped = is_lost && length.is_positive() && is_same_clock(start, end);
        is_skipped.then_some(Length::Duration(length))
    }

    /// Parses a DURATION property.
    pub fn read(duration: &Property) -> Result<Length, String> {
        Length::parse("DURATION", &duration.value)
    }

    /// Parses a duration. `name` is the property it comes from.
    pub fn parse(name: &str, text: &str) -> Result<Length, String> {
        let span: Span = text.trim().parse().map_err(|_| format!("{name} is not a duration"))?;
        Ok(Length::Duration(span))
    }

    /// Returns a DURATION in the form of RFC 5545, 3.3.6. Returns `None` if it has none: if it is
    /// negative, or has months or years, or comes from DTEND.
    pub fn text(self) -> Option<String> {
        let Length::Duration(span) = self else { return None };
        if span.is_negative() || span.get_years() != 0 || span.get_months() != 0 {
            return None;
        }
        let (hours, minutes, seconds) = (span.get_hours(), span.get_minutes(), span.get_seconds());
        let time = match (hours, minutes, seconds) {
            (0, 0, 0) => String::new(),
            (0, 0, seconds) => format!("T{seconds}S"),
            (0, minutes, 0) => format!("T{minutes}M"),
            (0, minutes, seconds) => format!("T{minutes}M{seconds}S"),
            (hours, 0, 0) => format!("T{hours}H"),
            (hours, minutes, 0) => format!("T{hours}H{minutes}M"),
            (hours, minutes, seconds) => format!("T{hours}H{minutes}M{seconds}S"),
        };
        Some(match (i64::from(span.get_weeks()), i64::from(span.get_days())) {
            (0, 0) if time.is_empty() => "PT0S".to_owned(),
            (0, 0) => format!("P{time}"),
            (weeks, 0) if time.is_empty() => format!("P{weeks}W"),
            // Weeks can't be combined with anything else.
            (weeks, days) => format!("P{}D{time}", 7 * weeks + days),
        })
    }

    /// Returns the end of an event that starts at `start`, or `None` if that is out of range.
    pub fn end_of(self, start: &Moment) -> Option<Moment> {
        let (Length::Clock(span) | Length::Duration(span)) = self;
        match start {
            Moment::Day(_) => Some(start.at(start.wall().checked_add(span).ok()?)),
            Moment::Time(at, zone) => {
                let end = self.end_after((*at, zone), |wall| zone.instant(wall))?;
                Some(Moment::Time(end, zone.clone()))
            }
        }
    }

    /// Returns the end of an event that starts at an instant, or `None` if that is out of range.
    /// `zone` has the offset at the start, and `instant` converts later local times.
    pub fn end_after(
        self,
        (at, zone): (Timestamp, &Zone),
        instant: impl Fn(DateTime) -> Option<Timestamp>,
    ) -> Option<Timestamp> {
        match self {
            Length::Clock(span) => instant(zone.wall(at).checked_add(span).ok()?),
            Length::Duration(span) => exactly(on_clock((at, zone), span, instant)?, span),
        }
    }
}

/// Returns whether two properties are local times in the same zone.
fn is_same_clock(one: &Property, other: &Property) -> bool {
    one.parameter("TZID") == other.parameter("TZID")
        && [one, other].iter().all(|one| !is_utc(&one.value) && !one.is_day(&one.value))
}

/// Adds the years, months, weeks and days of `span` in local time. Returns `None` if the result is
/// out of range.
fn on_clock(
    (at, zone): (Timestamp, &Zone),
    span: Span,
    instant: impl Fn(DateTime) -> Option<Timestamp>,
) -> Option<Timestamp> {
    let days = Span::new()
        .try_years(span.get_years())
        .and_then(|days| days.try_months(span.get_months()))
        .and_then(|days| days.try_weeks(span.get_weeks()))
        .and_then(|days| days.try_days(span.get_days()))
        .ok()?;
    match days.is_zero() {
        true => Some(at),
        false => instant(DateTime::checked_add(zone.wall(at), days).ok()?),
    }
}

/// Adds the hours, minutes and seconds of `span` as elapsed time. Returns `None` if the result is
/// out of range.
fn exactly(at: Timestamp, span: Span) -> Option<Timestamp> {
    let time = Span::new()
        .try_hours(span.get_hours())
        .and_then(|time| time.try_minutes(span.get_minutes()))
        .and_then(|time| time.try_seconds(span.get_seconds()))
        .ok()?;
    at.checked_add(time).ok()
}

/// The warning for an event that ends before it starts.
const BACKWARDS: &str = "it ends before it starts; its end was set to its start";

/// Reads the end of an event. If there is no end, an event with times ends when it starts, and an
/// all-day event ends on its first day. If the end is unreadable or before the start, it is
/// replaced by the start and reported as a warning. `after` returns the end of an event with a
/// DURATION.
pub fn end_of(
    start: &Moment,
    (end, duration): (Option<&Property>, Option<&Property>),
    after: impl Fn(Length) -> Option<Moment>,
    context: EntryContext<'_>,
    warnings: &mut Vec<Warning>,
) -> Moment {
    let read = match (end, duration) {
        (Some(end), _) => Moment::read(end, context),
        (None, Some(duration)) => Length::read(duration)
            .and_then(|length| after(length).ok_or_else(|| "DURATION is too long".to_owned())),
        (None, None) => Ok(start.clone()),
    };
    let read = read.unwrap_or_else(|message| {
        let message = format!("{message}; the end was set to the start");
        warnings.push(match end.or(duration) {
            Some(property) => Warning::about(property, message),
            None => message.into(),
        });
        start.clone()
    });
    let is_backwards = match (start, &read) {
        (Moment::Time(first, _), Moment::Time(at, _)) => at < first,
        (start, read) => read.wall() < start.wall().date().to_datetime(Time::midnight()),
    };
    if is_backwards {
        warnings.push(match end.or(duration) {
            Some(property) => Warning::about(property, BACKWARDS),
            None => BACKWARDS.to_owned().into(),
        });
    }
    match (start, read) {
        // The end date is exclusive.
        (Moment::Day(first), Moment::Day(behind)) => {
            Moment::Day(behind.yesterday().unwrap_or(behind).max(*first))
        }
        (Moment::Time(first, zone), Moment::Time(at, _)) => {
            Moment::Time(at.max(*first), zone.clone())
        }
        // Midnight is exclusive too.
        (Moment::Day(first), read) if read.wall().time() == Time::midnight() => {
            let behind = read.wall().date();
            Moment::Day(behind.yesterday().unwrap_or(behind).max(*first))
        }
        (start, read) => start.at(read.wall().max(start.wall())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_the_form_of_the_standard() {
        for (read, written) in [
            ("PT90M", Some("PT90M")),
            ("P1W", Some("P1W")),
            ("P7D", Some("P7D")),
            ("p1dt2h", Some("P1DT2H")),
            ("+PT1H30M", Some("PT1H30M")),
            ("PT1H30S", Some("PT1H0M30S")),
            ("P1W2DT1S", Some("P9DT1S")),
            ("P0D", Some("PT0S")),
            ("PT1.5H", Some("PT1H30M")),
            ("1 hour 30 minutes", Some("PT1H30M")),
            ("-PT1H", None),
            ("P1M", None),
        ] {
            let text = Length::parse("DURATION", read).unwrap().text();
            assert_eq!(text.as_deref(), written, "{read}");
        }
    }
}
