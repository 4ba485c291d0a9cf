//! The time window for an event list. Converts six date parameters to inclusive bounds.
//!
//! Days and local times are compared with the event's local time, and instants with its time in
//! UTC.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp};

use super::month::DAY;
use super::schedule::{day_end, wall_seconds};
use super::when::{NotADate, PointInTime, When};
use super::zone::Zone;

/// Inclusive bounds on an event's start and end, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Earliest start.
    pub start_min: Option<i64>,
    /// Latest start.
    pub start_max: Option<i64>,
    /// Earliest end.
    pub end_min: Option<i64>,
    /// Latest end.
    pub end_max: Option<i64>,
    /// Start of an overlap window. Events that started earlier and end at exactly this time only
    /// touch the window, so they don't match.
    pub touching: Option<i64>,
    /// Whether `start_max` and `end_min` come from an overlap window and are the only bounds.
    pub is_overlap: bool,
}

/// Local times that are repeated during an event because clocks are set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetBack {
    /// Local time when clocks are set back.
    pub from: i64,
    /// Local time that clocks are set back to.
    pub to: i64,
}

impl Limits {
    /// Returns whether there are no bounds.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    /// Returns whether an event is within the bounds if clocks are set back during it. In local
    /// time, such an event consists of two parts, one before and one after the change.
    pub fn contains_across_set_back(&self, start: i64, end: i64, set_back: SetBack) -> bool {
        match self.is_overlap {
            true => {
                let before = self.contains(start, set_back.from);
                before || (end > set_back.to && self.contains(set_back.to, end))
            }
            false => self.contains(start, end),
        }
    }

    /// Returns whether the bounds are whole days. They don't need special treatment because clocks
    /// are set back within a day.
    fn are_whole_days(&self) -> bool {
        self.end_min.is_none_or(|from| from.rem_euclid(DAY) == 0)
            && self.start_max.is_none_or(|to| (to + 1).rem_euclid(DAY) == 0)
    }

    /// Returns whether a start and end are within the bounds.
    pub fn contains(&self, start: i64, end: i64) -> bool {
        self.start_min.is_none_or(|bound| start >= bound)
            && self.start_max.is_none_or(|bound| start <= bound)
            && self.end_min.is_none_or(|bound| end >= bound)
            && self.end_max.is_none_or(|bound| end <= bound)
            && self.touching.is_none_or(|bound| end != bound || start >= bound)
    }
}

/// A list request's date bounds. Events must satisfy both kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Bounds on local times, as if they were UTC.
    pub wall: Limits,
    /// Bounds on instants in Unix seconds.
    pub utc: Limits,
}

impl Window {
    /// Creates a window that only bounds local times.
    pub fn on_wall(wall: Limits) -> Window {
        Window { wall, utc: Limits::default() }
    }

    /// Returns whether clock changes matter, because an event in the window could have a local end
    /// before it or a local start after it.
    pub fn depends_on_clock_changes(&self) -> bool {
        self.wall.is_overlap && !self.wall.are_whole_days()
    }
}

/// A request's date parameters.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Lower bound for the start or, with `overlaps`, for the end.
    pub start_date: Option<When>,
    /// Upper bound for the end or, with `overlaps`, for the start.
    pub end_date: Option<When>,
    /// Upper bound for the start, exclusive.
    pub starts_before: Option<When>,
    /// Lower bound for the start, exclusive.
    pub starts_after: Option<When>,
    /// Upper bound for the end. Exclusive if `strict` is set.
    pub ends_before: Option<When>,
    /// Lower bound for the end, exclusive.
    pub ends_after: Option<When>,
    /// Whether to compare times and not just days.
    pub strict: bool,
    /// Whether to include events that only overlap the window.
    pub overlaps: bool,
}

/// The values used for `start_date` and `end_date` if these are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Defaults {
    /// Default for `start_date`, in the site's zone.
    pub start_date: Option<DateTime>,
    /// Default for `end_date`, in the site's zone.
    pub end_date: Option<DateTime>,
}

/// A bound in local time or UTC, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A local time.
    Wall(i64),
    /// An instant.
    Instant(i64),
}

impl Bound {
    /// Adds seconds to the bound.
    #[must_use]
    pub fn plus(self, seconds: i64) -> Bound {
        match self {
            Bound::Wall(at) => Bound::Wall(at.saturating_add(seconds)),
            Bound::Instant(at) => Bound::Instant(at.saturating_add(seconds)),
        }
    }
}

struct Reader<'a> {
    zone: &'a Zone,
    now: Timestamp,
    strict: bool,
}

impl Bounds {
    /// Returns whether any of the four relative bounds is given, in which case the defaults don't
    /// apply.
    fn has_relative(&self) -> bool {
        self.starts_before.is_some()
            || self.starts_after.is_some()
            || self.ends_before.is_some()
            || self.ends_after.is_some()
    }

    /// Returns the window and the defaults it uses.
    ///
    /// # Errors
    /// Returns an error if a date is outside the supported years.
    pub fn window(&self, zone: &Zone, now: Timestamp) -> Result<(Window, Defaults), NotADate> {
        let reader = Reader { zone, now, strict: self.strict };
        let mut defaults = Defaults::default();
        let mut from = reader.read(self.start_date.as_ref(), day_start)?;
        let mut to = reader.read(self.end_date.as_ref(), day_end)?;
        if !self.has_relative() {
            if from.is_none() {
                let wall = reader.default_start()?;
                defaults.start_date = Some(wall);
                from = Some(Bound::Wall(wall_seconds(wall)));
            }
            if to.is_none() {
                let wall = reader.default_end()?;
                defaults.end_date = Some(wall);
                to = Some(Bound::Wall(wall_seconds(wall)));
            }
        }
        let mut window = Window::default();
        if self.overlaps {
            window.raise(from, |limits| &mut limits.end_min);
            window.raise(from, |limits| &mut limits.touching);
            window.lower(to, |limits| &mut limits.start_max);
            window.wall.is_overlap = !self.has_relative();
        } else {
            window.raise(from, |limits| &mut limits.start_min);
            window.lower(to, |limits| &mut limits.end_max);
        }
        let read = |when: &Option<When>, shift: i64| {
            let bound = reader.read(when.as_ref(), day_end)?;
            Ok(bound.map(|bound| bound.plus(shift)))
        };
        window.lower(read(&self.starts_before, -1)?, |limits| &mut limits.start_max);
        window.raise(read(&self.starts_after, 1)?, |limits| &mut limits.start_min);
        // All-day events end at 23:59:59, which is still the same day.
        let last = if self.strict { -1 } else { 0 };
        window.lower(read(&self.ends_before, last)?, |limits| &mut limits.end_max);
        window.raise(read(&self.ends_after, 1)?, |limits| &mut limits.end_min);
        Ok((window, defaults))
    }
}

fn day_start(date: Date) -> DateTime {
    date.to_datetime(Time::midnight())
}

impl Window {
    fn side(
        &mut self,
        bound: Bound,
        side: fn(&mut Limits) -> &mut Option<i64>,
    ) -> (&mut Option<i64>, i64) {
        match bound {
            Bound::Wall(at) => (side(&mut self.wall), at),
            Bound::Instant(at) => (side(&mut self.utc), at),
        }
    }

    fn lower(&mut self, bound: Option<Bound>, side: fn(&mut Limits) -> &mut Option<i64>) {
        let Some(bound) = bound else { return };
        let (slot, to) = self.side(bound, side);
        *slot = Some(slot.map_or(to, |old| old.min(to)));
    }

    fn raise(&mut self, bound: Option<Bound>, side: fn(&mut Limits) -> &mut Option<i64>) {
        let Some(bound) = bound else { return };
        let (slot, to) = self.side(bound, side);
        *slot = Some(slot.map_or(to, |old| old.max(to)));
    }
}

impl Reader<'_> {
    fn read(
        &self,
        when: Option<&When>,
        edge: fn(Date) -> DateTime,
    ) -> Result<Option<Bound>, NotADate> {
        let Some(when) = when else { return Ok(None) };
        if !self.strict {
            let day = when.day(self.zone, self.now)?;
            return Ok(Some(Bound::Wall(wall_seconds(edge(day)))));
        }
        let point = when.resolve(self.zone, self.now)?;
        Ok(Some(match point {
            PointInTime::Wall(wall) if !when.is_relative() => Bound::Wall(wall_seconds(wall)),
            point => Bound::Instant(point.instant(self.zone)?.as_second()),
        }))
    }

    fn default_start(&self) -> Result<DateTime, NotADate> {
        let yesterday = self.zone.wall(self.now).date().yesterday().map_err(|_| NotADate)?;
        let time = if self.strict { Time::constant(23, 59, 0, 0) } else { Time::midnight() };
        Ok(yesterday.to_datetime(time))
    }

    fn default_end(&self) -> Result<DateTime, NotADate> {
        let wall = self.zone.wall(self.now);
        let span = Span::new().try_months(24).map_err(|_| NotADate)?;
        let later = wall.checked_add(span).map_err(|_| NotADate)?;
        Ok(if self.strict { whole_second(later) } else { day_end(later.date()) })
    }
}

fn whole_second(wall: DateTime) -> DateTime {
    wall.with().subsec_nanosecond(0).build().unwrap_or(wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2027-03-10T23:30:00Z".parse().unwrap()
    }

    fn vienna() -> Zone {
        Zone::parse("Europe/Vienna").unwrap()
    }

    /// Parses a local time or UTC instant as seconds.
    fn at(text: &str) -> Option<i64> {
        Some(text.parse::<Timestamp>().unwrap().as_second())
    }

    fn when(text: &str) -> Option<When> {
        Some(When::parse(text).unwrap())
    }

    #[test]
    fn defaults_run_from_yesterday_for_two_years() {
        let (window, defaults) = Bounds::default().window(&vienna(), now()).unwrap();
        // In Vienna it is already the 11th.
        assert_eq!(window.wall.start_min, at("2027-03-10T00:00:00Z"));
        assert_eq!(window.wall.end_max, at("2029-03-11T23:59:59Z"));
        assert!(window.utc.is_empty());
        assert_eq!(defaults.start_date.unwrap().to_string(), "2027-03-10T00:00:00");
        assert_eq!(defaults.end_date.unwrap().to_string(), "2029-03-11T23:59:59");
    }

    #[test]
    fn strict_defaults_keep_their_times() {
        let bounds = Bounds { strict: true, ..Bounds::default() };
        let (window, _) = bounds.window(&vienna(), now()).unwrap();
        assert_eq!(window.wall.start_min, at("2027-03-10T23:59:00Z"));
        assert_eq!(window.wall.end_max, at("2029-03-11T00:30:00Z"));
    }

    #[test]
    fn every_bound_limits_its_side_inclusively() {
        let day = || when("2027-05-05 12:00");
        let none = Bounds::default;
        let first = at("2027-05-05T00:00:00Z");
        let last = at("2027-05-05T23:59:59Z");
        let noon = at("2027-05-05T12:00:00Z");
        let less = |bound: Option<i64>| bound.map(|b| b - 1);
        let more = |bound: Option<i64>| bound.map(|b| b + 1);
        type Case = (Bounds, fn(&Limits) -> Option<i64>, Option<i64>, Option<i64>);
        let cases: [Case; 6] = [
            (Bounds { start_date: day(), ..none() }, |w| w.start_min, first, noon),
            (Bounds { end_date: day(), ..none() }, |w| w.end_max, last, noon),
            (Bounds { starts_before: day(), ..none() }, |w| w.start_max, less(last), less(noon)),
            (Bounds { starts_after: day(), ..none() }, |w| w.start_min, more(last), more(noon)),
            (Bounds { ends_before: day(), ..none() }, |w| w.end_max, last, less(noon)),
            (Bounds { ends_after: day(), ..none() }, |w| w.end_min, more(last), more(noon)),
        ];
        for (bounds, side, lenient, strict) in cases {
            let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
            assert_eq!(side(&window.wall), lenient, "{bounds:?}");
            let bounds = Bounds { strict: true, ..bounds };
            let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
            assert_eq!(side(&window.wall), strict, "{bounds:?}");
        }
    }

    #[test]
    fn relative_bounds_disable_defaults_and_keep_explicit_bounds() {
        let bounds = Bounds { starts_after: when("2027-05-05"), ..Bounds::default() };
        let (window, defaults) = bounds.window(&Zone::utc(), now()).unwrap();
        assert_eq!((window.wall.end_max, defaults), (None, Defaults::default()));
        let bounds = Bounds { end_date: when("2027-06-01"), ..bounds };
        let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
        assert_eq!(window.wall.end_max, at("2027-06-01T23:59:59Z"));
    }

    #[test]
    fn overlaps_swaps_the_bounded_sides() {
        let bounds = Bounds {
            start_date: when("2027-05-05"),
            end_date: when("2027-05-06"),
            overlaps: true,
            ..Bounds::default()
        };
        let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
        let first = at("2027-05-05T00:00:00Z");
        assert_eq!((window.wall.end_min, window.wall.touching), (first, first));
        assert_eq!(window.wall.start_max, at("2027-05-06T23:59:59Z"));
        assert_eq!((window.wall.start_min, window.wall.end_max), (None, None));
    }

    #[test]
    fn instants_are_compared_in_utc_only_if_strict() {
        let bounds =
            |text: &str| Bounds { starts_after: when(text), strict: true, ..Bounds::default() };
        let window_of = |text: &str| bounds(text).window(&vienna(), now()).unwrap().0;
        for (text, at_utc) in [
            ("2027-05-05T12:00:00+02:00", "2027-05-05T10:00:01Z"),
            ("2027-05-05 12:00 Asia/Tokyo", "2027-05-05T03:00:01Z"),
            ("1804032000", "2027-03-03T00:00:01Z"),
            ("now", "2027-03-10T23:30:01Z"),
            ("+1 day", "2027-03-11T23:30:01Z"),
            ("tomorrow 18:00", "2027-03-12T17:00:01Z"),
        ] {
            assert_eq!(window_of(text).utc.start_min, at(at_utc), "{text}");
            assert!(window_of(text).wall.is_empty(), "{text}");
        }
        let wall = window_of("2027-05-05 12:00");
        assert_eq!(
            (wall.wall.start_min, wall.utc),
            (at("2027-05-05T12:00:01Z"), Limits::default())
        );
    }
}
