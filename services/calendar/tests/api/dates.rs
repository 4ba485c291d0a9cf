//! Clock gaps and overlaps, zones with fixed offsets, and all-day events, compared with a naive
//! model.

use calendar::{Bounds, PointInTime, Schedule, ScheduleChange, When, Zone, wall_from_seconds};
use jiff::Timestamp;
use jiff::civil::{Weekday, date};
use proptest::prelude::*;
use serde_json::json;

use crate::app::{App, Dice, NOW};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// A clock change on a Sunday: month, index of the Sunday in it (-1 is the last), and the time of
/// day in UTC (negative if on the day before).
#[derive(Debug)]
struct Turn(i8, i8, i64);

/// The legal rules of a zone: winter offset, how much summer time adds, and when it begins and
/// ends.
#[derive(Debug)]
struct Law {
    name: &'static str,
    winter: i64,
    summer: Option<(i64, Turn, Turn)>,
}

const LAWS: [Law; 9] = [
    Law {
        name: "Europe/Vienna",
        winter: HOUR,
        summer: Some((HOUR, Turn(3, -1, HOUR), Turn(10, -1, HOUR))),
    },
    Law {
        name: "America/New_York",
        winter: -5 * HOUR,
        summer: Some((HOUR, Turn(3, 2, 7 * HOUR), Turn(11, 1, 6 * HOUR))),
    },
    // The clock changes at midnight: a day in spring begins at 01:00, and a day in autumn begins
    // twice.
    Law {
        name: "Atlantic/Azores",
        winter: -HOUR,
        summer: Some((HOUR, Turn(3, -1, HOUR), Turn(10, -1, HOUR))),
    },
    // In the southern hemisphere, by half an hour.
    Law {
        name: "Australia/Lord_Howe",
        winter: 21 * HOUR / 2,
        summer: Some((HOUR / 2, Turn(10, 1, -17 * HOUR / 2), Turn(4, 1, -9 * HOUR))),
    },
    Law { name: "Asia/Kathmandu", winter: 23 * HOUR / 4, summer: None },
    Law { name: "UTC+14", winter: 14 * HOUR, summer: None },
    Law { name: "UTC-3:30", winter: -7 * HOUR / 2, summer: None },
    Law { name: "UTC-9.5", winter: -19 * HOUR / 2, summer: None },
    Law { name: "-11:30", winter: -23 * HOUR / 2, summer: None },
];

impl Turn {
    fn in_year(&self, year: i16) -> i64 {
        let Turn(month, nth, time) = *self;
        let first = date(year, month, 1);
        let sunday = first.nth_weekday_of_month(nth, Weekday::Sunday).unwrap();
        let midnight = sunday.at(0, 0, 0, 0).in_tz("UTC").unwrap();
        midnight.timestamp().as_second() + time
    }
}

impl Law {
    fn zone(&self) -> Zone {
        Zone::parse(self.name).unwrap()
    }

    fn offset(&self, at: i64) -> i64 {
        let Some((more, begin, end)) = &self.summer else { return self.winter };
        let year = wall_from_seconds(at + self.winter).year();
        let (begin, end) = (begin.in_year(year), end.in_year(year));
        let is_summer =
            if begin < end { (begin..end).contains(&at) } else { !(end..begin).contains(&at) };
        self.winter + if is_summer { *more } else { 0 }
    }

    fn wall(&self, at: i64) -> i64 {
        at + self.offset(at)
    }

    /// Returns the first instant with this local time. For a skipped time, the offset before the
    /// gap applies.
    fn instant(&self, wall: i64) -> i64 {
        let more = self.summer.as_ref().map_or(0, |(more, ..)| *more);
        let candidates = [wall - self.winter - more, wall - self.winter];
        let fits = candidates.into_iter().find(|at| self.wall(*at) == wall);
        fits.unwrap_or(wall - self.winter)
    }

    /// Returns the schedule of an event as (start, end) in UTC.
    fn place(&self, all_day: bool, start: i64, end: i64) -> (i64, i64) {
        let (given, length) = (start, end - start);
        let (start, end) = (self.instant(start), self.instant(end));
        if !all_day {
            let is_skipped = self.wall(start) != given;
            return match is_skipped && length > 0 && end <= start {
                true => (start, self.instant(self.wall(start) + length)),
                false => (start, end.max(start)),
            };
        }
        let day = |at: i64| self.wall(at).div_euclid(DAY);
        let (first, last) = (day(start), day(end).max(day(start)));
        (self.instant(first * DAY), self.instant(last * DAY + DAY - 1))
    }
}

fn wall(seconds: i64) -> PointInTime {
    PointInTime::Wall(wall_from_seconds(seconds))
}

fn written(seconds: i64) -> String {
    wall_from_seconds(seconds).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Generates a zone and a wall clock in it, within three hours of a clock change or on any day.
fn law_and_wall() -> impl Strategy<Value = (&'static Law, i64)> {
    let far = 0..LAWS.len();
    (far, 2024_i16..2037, 0..4, -3 * HOUR..3 * HOUR, 0..365 * DAY).prop_map(
        |(law, year, turn, near, far)| {
            let law = &LAWS[law];
            let at = match (&law.summer, turn) {
                (Some((_, begin, _)), 0 | 1) => begin.in_year(year) + near,
                (Some((_, _, end)), 2) => end.in_year(year) + near,
                _ => Turn(1, 1, 0).in_year(year) + far,
            };
            (law, at + law.winter)
        },
    )
}

/// Generates a duration, mostly in hours, sometimes in days; negative if the end precedes the
/// start.
fn length() -> impl Strategy<Value = i64> {
    prop_oneof![-2 * HOUR..6 * HOUR, 0..400 * DAY]
}

proptest! {
    #[test]
    fn local_times_convert_to_utc_by_the_rules_of_their_zone(
        (law, start) in law_and_wall(), length in length(), all_day: bool,
    ) {
        let made = Schedule::new(law.zone(), all_day, wall(start), wall(start + length)).unwrap();
        let (start, end) = law.place(all_day, start, start + length);
        prop_assert_eq!((made.start_utc, made.end_utc), (start, end));
        // A day begins at midnight although clocks may skip it.
        let begin = law.wall(start);
        let begin = if all_day { begin - begin.rem_euclid(DAY) } else { begin };
        prop_assert_eq!((made.start_local, made.end_local), (begin, law.wall(end)));
    }

    #[test]
    fn local_times_survive_a_round_trip(
        (law, start) in law_and_wall(), length in length(), all_day: bool,
    ) {
        let at = |wall: i64| PointInTime::Instant(Timestamp::from_second(wall - law.winter).unwrap());
        let made = Schedule::new(law.zone(), all_day, at(start), at(start + length)).unwrap();
        let back = ScheduleChange {
            start: Some(wall(made.start_local)),
            end: Some(wall(made.end_local)),
            zone: Some(law.zone()),
            all_day: Some(all_day),
        };
        prop_assert_eq!(made.changed(&back).unwrap(), made);
    }

    #[test]
    fn windows_compare_local_times_without_zone_rules(
        (law, from) in law_and_wall(), length in length(), strict: bool,
    ) {
        let to = from + length;
        let read = |seconds| Some(When::parse(&written(seconds)).unwrap());
        let bounds = Bounds { start_date: read(from), end_date: read(to), strict, ..Bounds::default() };
        let (window, _) = bounds.window(&law.zone(), NOW.parse().unwrap()).unwrap();
        let day = |seconds: i64| seconds.div_euclid(DAY) * DAY;
        let (from, to) = if strict { (from, to) } else { (day(from), day(to) + DAY - 1) };
        prop_assert_eq!((window.wall.start_min, window.wall.end_max), (Some(from), Some(to)));
        prop_assert!(window.utc.is_empty());
    }
}

/// Returns a local time near the clock changes of Vienna in 2027. Most other zones change at about
/// the same time.
fn near_a_turn(dice: &mut Dice) -> i64 {
    let Some((_, begin, end)) = &LAWS[0].summer else { panic!("Vienna has a summer") };
    let turn = if dice.roll(2) == 0 { begin } else { end };
    // Multiples of a quarter hour within three weeks.
    turn.in_year(2027) + (dice.roll(21 * 96) - 14 * 96) * 900
}

#[actix_web::test]
async fn lists_match_a_naive_filter_near_clock_changes() {
    let app = App::with(&["--site-timezone=Europe/Vienna"]).await;
    let mut dice = Dice(0x5851_f42d_4c95_7f2d);
    let mut rows = Vec::new();
    for number in 0..80 {
        let law = dice.pick(&LAWS);
        let (start, all_day) = (near_a_turn(&mut dice), number % 3 == 0);
        let end = start + dice.roll(2 * DAY);
        let fields = json!({
            "timezone": law.name, "all_day": all_day,
            "start_date": written(start), "end_date": written(end),
        });
        let (start, end) = law.place(all_day, start, end);
        rows.push((app.event(fields).await, law.wall(start), law.wall(end)));
    }
    for round in 0..150 {
        let (from, length) = (near_a_turn(&mut dice), dice.roll(5 * DAY));
        let strict = round % 2 == 0;
        let (first, last) = if strict {
            (from, from + length)
        } else {
            (from.div_euclid(DAY) * DAY, (from + length).div_euclid(DAY) * DAY + DAY - 1)
        };
        let query = format!(
            "/events?per_page=50&orderby=id&strict_dates={}&start_date={}&end_date={}",
            i32::from(strict),
            written(from),
            written(from + length)
        );
        let inside = |row: &&(i64, i64, i64)| row.1 >= first && row.2 <= last;
        let expected: Vec<i64> = rows.iter().filter(inside).map(|row| row.0).collect();
        let answer = app.get(&query).await.expect(200);
        assert_eq!(answer.ids(), expected, "round {round}: {query}");
        assert_eq!(answer.json["total"], expected.len(), "round {round}: {query}");
    }
}
