//! Parsed dates: a base and relative steps, to be resolved with a zone and the current time.

use jiff::civil::{Date, DateTime, Time, Weekday, date, time};
use jiff::{Span, Timestamp};

use crate::model::zone::Zone;

/// The last supported year for events.
const LAST_YEAR: i16 = 9998;

/// The first second of the year 9999 in UTC, and the first second after that year.
const YEAR_9999: i64 = 253_370_764_800;
const YEAR_10000: i64 = 253_402_300_800;

/// A parsed date and time that hasn't been resolved with a zone and the current time yet.
#[derive(Clone, Debug, PartialEq)]
pub struct When {
    pub(super) base: Base,
    pub(super) time: Option<Time>,
    pub(super) zone: Option<Zone>,
    pub(super) steps: Vec<Step>,
    /// Whether the day as written doesn't exist and rolled over to the next month.
    pub(super) is_rolled: bool,
}

/// The starting point of the calculation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Timestamp(i64),
    Date(Date),
    Now,
    Today,
}

/// A step relative to the base. Steps are applied in the order they were written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Add(i64, Unit),
    Weekday { day: Weekday, choice: WeekdayChoice },
    FirstDay,
    LastDay,
}

/// Selects an occurrence of a weekday.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WeekdayChoice {
    /// The next one, possibly today.
    This,
    /// The next one after today.
    Next,
    /// The last one before today.
    Last,
}

/// The unit of a relative step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Weekday,
    Week,
    Fortnight,
    Month,
    Year,
}

/// The date can't be parsed or is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date")]
pub struct NotADate;

/// The result of resolving a [`When`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointInTime {
    /// A local time. Its instant depends on the zone.
    Wall(DateTime),
    /// An instant, from a timestamp or a date with an offset.
    Instant(Timestamp),
}

impl PointInTime {
    /// Returns the instant. Local times are interpreted in `zone`.
    pub fn instant(self, zone: &Zone) -> Result<Timestamp, NotADate> {
        match self {
            PointInTime::Wall(wall) => zone.instant(wall).ok_or(NotADate),
            PointInTime::Instant(at) => Ok(at),
        }
    }

    /// Returns the local time in `zone`. Skipped local times move forward by the length of the gap.
    pub fn wall(self, zone: &Zone) -> Result<DateTime, NotADate> {
        Ok(zone.wall(self.instant(zone)?))
    }
}

impl When {
    /// Resolves the date with a zone and the current time. Relative words are interpreted in the
    /// date's own zone if it has one.
    pub fn resolve(&self, zone: &Zone, now: Timestamp) -> Result<PointInTime, NotADate> {
        let home = self.zone.as_ref().unwrap_or(zone);
        let wall = match self.base {
            Base::Timestamp(seconds) => {
                let at = Timestamp::from_second(seconds).map_err(|_| NotADate)?;
                if self.steps.is_empty() && self.time.is_none() {
                    return in_range(PointInTime::Instant(at));
                }
                home.wall(at)
            }
            Base::Date(date) => date.to_datetime(Time::midnight()),
            Base::Now => home.wall(now),
            Base::Today => home.wall(now).date().to_datetime(Time::midnight()),
        };
        let mut wall = wall;
        for step in &self.steps {
            wall = step.apply(wall)?;
        }
        if let Some(time) = self.time {
            wall = wall.date().to_datetime(time);
        }
        let point = match &self.zone {
            Some(own) => PointInTime::Instant(own.instant(wall).ok_or(NotADate)?),
            None => PointInTime::Wall(wall),
        };
        in_range(point)
    }

    /// Replaces dates in the year 9999, which many applications use for "no end", with the last
    /// possible second of an event.
    #[must_use]
    pub fn in_years_of_events(self) -> When {
        let is_beyond = match self.base {
            Base::Date(day) => day.year() > LAST_YEAR,
            Base::Timestamp(seconds) => (YEAR_9999..YEAR_10000).contains(&seconds),
            Base::Now | Base::Today => false,
        };
        if !is_beyond {
            return self;
        }
        let (base, time) = (Base::Date(date(LAST_YEAR, 12, 31)), Some(time(23, 59, 59, 0)));
        When { base, time, zone: None, steps: Vec::new(), is_rolled: false }
    }

    /// Returns whether the day as written doesn't exist and was moved to the next month, e.g. 30
    /// February.
    pub fn is_rolled(&self) -> bool {
        self.is_rolled
    }

    /// Returns whether the date's meaning changes over time.
    pub fn is_relative(&self) -> bool {
        matches!(self.base, Base::Now | Base::Today)
    }

    /// Returns the day if the date specifies one without a time of day. Steps relative to now keep
    /// the current time, except for steps to a weekday.
    pub fn whole_day(&self, zone: &Zone, now: Timestamp) -> Option<Date> {
        let has_weekday = || self.steps.iter().any(|step| matches!(step, Step::Weekday { .. }));
        let is_day = match self.base {
            Base::Date(_) | Base::Today => true,
            Base::Now => has_weekday(),
            Base::Timestamp(_) => false,
        };
        let has_time = self.time.is_some() || self.steps.iter().any(|step| step.is_within_day());
        if !is_day || has_time {
            return None;
        }
        match self.resolve(zone, now).ok()? {
            PointInTime::Wall(wall) => Some(wall.date()),
            PointInTime::Instant(at) => Some(self.zone.as_ref().unwrap_or(zone).wall(at).date()),
        }
    }

    /// Returns the calendar day, as written or, for timestamps and relative dates, in `zone`.
    pub fn day(&self, zone: &Zone, now: Timestamp) -> Result<Date, NotADate> {
        match self.base {
            Base::Date(date) if self.steps.is_empty() => {
                self.resolve(zone, now)?;
                Ok(date)
            }
            _ => Ok(self.resolve(zone, now)?.wall(zone)?.date()),
        }
    }
}

/// Rejects years that aren't supported for events. The limits leave room for zone arithmetic at
/// both ends.
fn in_range(point: PointInTime) -> Result<PointInTime, NotADate> {
    let year = match point {
        PointInTime::Wall(wall) => wall.year(),
        PointInTime::Instant(at) => at.to_zoned_datetime(jiff::tz::TimeZone::UTC).year(),
    };
    if (1..=LAST_YEAR).contains(&year) { Ok(point) } else { Err(NotADate) }
}

impl Step {
    fn is_within_day(self) -> bool {
        matches!(self, Step::Add(_, Unit::Second | Unit::Minute | Unit::Hour))
    }

    fn apply(self, wall: DateTime) -> Result<DateTime, NotADate> {
        match self {
            Step::Add(count, unit) => add(wall, count, unit),
            Step::Weekday { day, choice } => {
                let date = wall.date();
                let ahead = i64::from(date.weekday().until(day));
                let days = match choice {
                    WeekdayChoice::This => ahead,
                    WeekdayChoice::Next if ahead == 0 => 7,
                    WeekdayChoice::Next => ahead,
                    WeekdayChoice::Last if ahead == 0 => -7,
                    WeekdayChoice::Last => ahead - 7,
                };
                let date = checked(date.to_datetime(Time::midnight()), days, Span::try_days)?;
                Ok(date)
            }
            Step::FirstDay => Ok(wall.date().first_of_month().to_datetime(wall.time())),
            Step::LastDay => Ok(wall.date().last_of_month().to_datetime(wall.time())),
        }
    }
}

fn checked(
    wall: DateTime,
    count: i64,
    build: fn(Span, i64) -> Result<Span, jiff::Error>,
) -> Result<DateTime, NotADate> {
    let span = build(Span::new(), count).map_err(|_| NotADate)?;
    wall.checked_add(span).map_err(|_| NotADate)
}

fn add(wall: DateTime, count: i64, unit: Unit) -> Result<DateTime, NotADate> {
    match unit {
        Unit::Second => checked(wall, count, Span::try_seconds),
        Unit::Minute => checked(wall, count, Span::try_minutes),
        Unit::Hour => checked(wall, count, Span::try_hours),
        Unit::Day => checked(wall, count, Span::try_days),
        Unit::Week => checked(wall, count, Span::try_weeks),
        Unit::Fortnight => checked(wall, count.checked_mul(2).ok_or(NotADate)?, Span::try_weeks),
        Unit::Weekday => add_working_days(wall, count),
        Unit::Month => add_months(wall, count),
        Unit::Year => add_months(wall, count.checked_mul(12).ok_or(NotADate)?),
    }
}

/// Adds months. A day past the end of the month rolls over into the next one.
fn add_months(wall: DateTime, count: i64) -> Result<DateTime, NotADate> {
    let first = wall.date().first_of_month().to_datetime(wall.time());
    let month = checked(first, count, Span::try_months)?;
    checked(month, i64::from(wall.day()) - 1, Span::try_days)
}

/// Adds working days, skipping Saturdays and Sundays. Whole weeks are added in one step, so large
/// counts are cheap.
fn add_working_days(wall: DateTime, count: i64) -> Result<DateTime, NotADate> {
    let mut wall = checked(wall, count / 5, Span::try_weeks)?;
    let step = count.signum();
    let mut left = (count % 5).abs();
    while left > 0 || is_weekend(wall) {
        wall = checked(wall, if step == 0 { 1 } else { step }, Span::try_days)?;
        if left > 0 && !is_weekend(wall) {
            left -= 1;
        }
    }
    Ok(wall)
}

fn is_weekend(wall: DateTime) -> bool {
    matches!(wall.date().weekday(), Weekday::Saturday | Weekday::Sunday)
}

/// Creates a date. Days past the end of the month roll over into the next one.
pub(super) fn rolling_date(year: i16, month: i8, day: i8) -> Result<Date, NotADate> {
    if !(1..=31).contains(&day) || year < 1 {
        return Err(NotADate);
    }
    let first = Date::new(year, month, 1).map_err(|_| NotADate)?;
    let span = Span::new().try_days(i64::from(day) - 1).map_err(|_| NotADate)?;
    first.checked_add(span).map_err(|_| NotADate)
}
