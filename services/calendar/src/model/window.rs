//! The window of a list of events: six date parameters become inclusive bounds in Unix seconds.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp};

use super::schedule::day_end;
use super::when::{NotADate, When};
use super::zone::Zone;

/// Inclusive bounds on the start and the end of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub start_min: Option<i64>,
    pub start_max: Option<i64>,
    pub end_min: Option<i64>,
    pub end_max: Option<i64>,
}

/// The date parameters as sent.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub start_date: Option<When>,
    pub end_date: Option<When>,
    pub starts_before: Option<When>,
    pub starts_after: Option<When>,
    pub ends_before: Option<When>,
    pub ends_after: Option<When>,
    pub strict: bool,
    pub overlaps: bool,
}

/// Defaults that were put in place of absent bounds, in the site's zone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Defaults {
    pub start_date: Option<DateTime>,
    pub end_date: Option<DateTime>,
}

struct Reader<'a> {
    zone: &'a Zone,
    now: Timestamp,
    strict: bool,
}

impl Bounds {
    /// Tells whether one of the four relative bounds is given, which switches the defaults off.
    fn has_relative(&self) -> bool {
        self.starts_before.is_some()
            || self.starts_after.is_some()
            || self.ends_before.is_some()
            || self.ends_after.is_some()
    }

    /// Computes the window and the defaults that took part in it.
    pub fn window(&self, zone: &Zone, now: Timestamp) -> Result<(Window, Defaults), NotADate> {
        let reader = Reader { zone, now, strict: self.strict };
        let mut defaults = Defaults::default();
        let mut from =
            self.start_date.as_ref().map(|when| reader.read(when, day_start)).transpose()?;
        let mut to = self.end_date.as_ref().map(|when| reader.read(when, day_end)).transpose()?;
        if !self.has_relative() {
            if from.is_none() {
                let wall = reader.default_start()?;
                defaults.start_date = Some(wall);
                from = Some(reader.seconds(wall)?);
            }
            if to.is_none() {
                let wall = reader.default_end()?;
                defaults.end_date = Some(wall);
                to = Some(reader.seconds(wall)?);
            }
        }
        let mut window = Window::default();
        if self.overlaps {
            (window.end_min, window.start_max) = (from, to);
        } else {
            (window.start_min, window.end_max) = (from, to);
        }
        let read = |bound: &Option<When>| {
            bound.as_ref().map(|when| reader.read(when, day_end)).transpose()
        };
        if let Some(before) = read(&self.starts_before)? {
            lower(&mut window.start_max, before - 1);
        }
        if let Some(after) = read(&self.starts_after)? {
            raise(&mut window.start_min, after + 1);
        }
        if let Some(before) = read(&self.ends_before)? {
            // A whole-day event ends at 23:59:59 and belongs to its day.
            lower(&mut window.end_max, if self.strict { before - 1 } else { before });
        }
        if let Some(after) = read(&self.ends_after)? {
            raise(&mut window.end_min, after + 1);
        }
        Ok((window, defaults))
    }
}

fn day_start(date: Date) -> DateTime {
    date.to_datetime(Time::midnight())
}

fn lower(bound: &mut Option<i64>, to: i64) {
    *bound = Some(bound.map_or(to, |old| old.min(to)));
}

fn raise(bound: &mut Option<i64>, to: i64) {
    *bound = Some(bound.map_or(to, |old| old.max(to)));
}

impl Reader<'_> {
    fn read(&self, when: &When, edge: fn(Date) -> DateTime) -> Result<i64, NotADate> {
        if self.strict {
            let moment = when.resolve(self.zone, self.now)?;
            return Ok(moment.instant(self.zone)?.as_second());
        }
        self.seconds(edge(when.day(self.zone, self.now)?))
    }

    fn seconds(&self, wall: DateTime) -> Result<i64, NotADate> {
        self.zone.instant(wall).map(Timestamp::as_second).ok_or(NotADate)
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

    fn at(text: &str) -> Option<i64> {
        Some(text.parse::<Timestamp>().unwrap().as_second())
    }

    fn when(text: &str) -> Option<When> {
        Some(When::parse(text).unwrap())
    }

    #[test]
    fn defaults_run_from_yesterday_for_two_years() {
        let (window, defaults) = Bounds::default().window(&vienna(), now()).unwrap();
        // In Vienna it is already the eleventh.
        assert_eq!(window.start_min, at("2027-03-09T23:00:00Z"));
        assert_eq!(window.end_max, at("2029-03-11T22:59:59Z"));
        assert_eq!(defaults.start_date.unwrap().to_string(), "2027-03-10T00:00:00");
        assert_eq!(defaults.end_date.unwrap().to_string(), "2029-03-11T23:59:59");
    }

    #[test]
    fn strict_defaults_keep_their_times() {
        let bounds = Bounds { strict: true, ..Bounds::default() };
        let (window, _) = bounds.window(&vienna(), now()).unwrap();
        assert_eq!(window.start_min, at("2027-03-10T22:59:00Z"));
        assert_eq!(window.end_max, at("2029-03-10T23:30:00Z"));
    }

    #[test]
    fn every_bound_has_its_side_and_edge() {
        let day = || when("2027-05-05 12:00");
        let none = Bounds::default;
        let first = at("2027-05-05T00:00:00Z");
        let last = at("2027-05-05T23:59:59Z");
        let noon = at("2027-05-05T12:00:00Z");
        let less = |bound: Option<i64>| bound.map(|b| b - 1);
        let more = |bound: Option<i64>| bound.map(|b| b + 1);
        type Case = (Bounds, fn(&Window) -> Option<i64>, Option<i64>, Option<i64>);
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
            assert_eq!(side(&window), lenient, "{bounds:?}");
            let bounds = Bounds { strict: true, ..bounds };
            let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
            assert_eq!(side(&window), strict, "{bounds:?}");
        }
    }

    #[test]
    fn relative_bounds_switch_defaults_off_and_keep_explicit_ones() {
        let bounds = Bounds { starts_after: when("2027-05-05"), ..Bounds::default() };
        let (window, defaults) = bounds.window(&Zone::utc(), now()).unwrap();
        assert_eq!((window.end_max, defaults), (None, Defaults::default()));
        let bounds = Bounds { end_date: when("2027-06-01"), ..bounds };
        let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
        assert_eq!(window.end_max, at("2027-06-01T23:59:59Z"));
    }

    #[test]
    fn overlapping_swaps_the_sides() {
        let bounds = Bounds {
            start_date: when("2027-05-05"),
            end_date: when("2027-05-06"),
            overlaps: true,
            ..Bounds::default()
        };
        let (window, _) = bounds.window(&Zone::utc(), now()).unwrap();
        assert_eq!(window.end_min, at("2027-05-05T00:00:00Z"));
        assert_eq!(window.start_max, at("2027-05-06T23:59:59Z"));
        assert_eq!((window.start_min, window.end_max), (None, None));
    }
}
