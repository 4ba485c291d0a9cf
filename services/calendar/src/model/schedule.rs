//! Event schedules. They keep local times, instants, zone and all-day flag consistent.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};

use super::when::{NotADate, PointInTime};
use super::zone::Zone;

/// Converts a local time to seconds as if it were UTC. This way, stored values sort in the same
/// order as formatted ones.
pub fn wall_seconds(wall: DateTime) -> i64 {
    jiff::tz::Offset::UTC.to_timestamp(wall).map_or(0, Timestamp::as_second)
}

/// Converts stored local seconds to a local time.
pub fn wall_from_seconds(seconds: i64) -> DateTime {
    Zone::utc().wall(instant_from_seconds(seconds))
}

/// Converts stored Unix seconds to an instant.
pub fn instant_from_seconds(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Returns the last second of a day.
pub fn day_end(date: Date) -> DateTime {
    date.to_datetime(Time::constant(23, 59, 59, 0))
}

/// An event's schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The time zone.
    pub zone: Zone,
    /// Whether this is an all-day event.
    pub all_day: bool,
    /// Local start, as if it were UTC.
    pub start_local: i64,
    /// Local end, as if it were UTC.
    pub end_local: i64,
    /// Start in Unix seconds.
    pub start_utc: i64,
    /// End in Unix seconds.
    pub end_utc: i64,
}

/// The schedule fields in a write request. Fields that are `None` keep their value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleChange {
    /// The new start.
    pub start: Option<PointInTime>,
    /// The new end.
    pub end: Option<PointInTime>,
    /// The new time zone.
    pub zone: Option<Zone>,
    /// Whether this is an all-day event.
    pub all_day: Option<bool>,
}

impl ScheduleChange {
    /// Returns whether the request doesn't contain any schedule fields.
    pub fn is_empty(&self) -> bool {
        *self == ScheduleChange::default()
    }

    /// Returns a copy that preserves the length of `old` if the request has a start but no end.
    pub fn keeping_length_of(&self, old: &Schedule) -> ScheduleChange {
        let zone = self.zone.as_ref().unwrap_or(&old.zone);
        let start = self.start.filter(|_| self.end.is_none());
        let Some(start) = start.and_then(|start| start.instant(zone).ok()) else {
            return self.clone();
        };
        let length = old.end_local - old.start_local;
        let end = match length < 0 {
            // The clocks go back during the event.
            true => {
                let at = start.as_second() + old.end_utc - old.start_utc;
                PointInTime::Instant(instant_from_seconds(at))
            }
            false => PointInTime::Wall(wall_from_seconds(wall_seconds(zone.wall(start)) + length)),
        };
        ScheduleChange { end: Some(end), ..self.clone() }
    }

    /// Returns the stored schedule, but with the local times exactly as given. The two differ if
    /// clock changes skip a given time. The other events in a series use the given times.
    pub fn as_given(&self, stored: &Schedule) -> Schedule {
        let given = |point: Option<PointInTime>| match point {
            Some(PointInTime::Wall(wall)) if !stored.all_day => Some(wall),
            _ => None,
        };
        let leads_to = |wall: &DateTime, utc: i64| {
            stored.zone.instant(*wall).is_some_and(|at| at.as_second() == utc)
        };
        let start = given(self.start).filter(|wall| leads_to(wall, stored.start_utc));
        let start_local = start.map_or(stored.start_local, wall_seconds);
        // The end might have moved along with the start.
        let is_moved = start_local != stored.start_local;
        let end = match self.end {
            Some(PointInTime::Instant(end)) if is_moved => Some(stored.zone.wall(end)),
            end => given(end).filter(|wall| is_moved || leads_to(wall, stored.end_utc)),
        };
        let end = end.map(wall_seconds).filter(|end| *end >= start_local);
        let length = stored.end_local - stored.start_local;
        // An end before the start was replaced by the start.
        let end_local = match is_moved && stored.end_utc == stored.start_utc {
            true => end.unwrap_or(start_local + length),
            false => end.unwrap_or(stored.end_local),
        };
        Schedule { start_local, end_local, ..stored.clone() }
    }

    /// Like [`ScheduleChange::as_given`], but for an end that moved along with the start. If clocks
    /// skip the start, the length stays.
    pub fn as_moved(&self, stored: &Schedule) -> Schedule {
        let mut given = self.as_given(stored);
        if given.start_local != stored.start_local {
            given.end_local = given.start_local + stored.end_local - stored.start_local;
        }
        given
    }

    /// Returns whether the end in the request is before the start. `stored` is the schedule after
    /// the change, in which the end has been set to the start.
    pub fn is_backwards(&self, stored: &Schedule) -> bool {
        if !stored.all_day && stored.end_utc > stored.start_utc {
            return false;
        }
        let instant = |point: PointInTime| point.instant(&stored.zone).ok();
        let ends = (self.start.and_then(instant), self.end.and_then(instant));
        let (Some(start), Some(end)) = ends else { return false };
        let day = |at: Timestamp| stored.zone.wall(at).date();
        if stored.all_day { day(end) < day(start) } else { end < start }
    }
}

/// Returns the end that keeps an event's length if clocks skip its start, which moves forward to
/// `start`. Returns `None` if they don't skip it, or if the end as given isn't after the start.
fn end_after_skipped(
    zone: &Zone,
    (first, last): (PointInTime, PointInTime),
    start: Timestamp,
) -> Option<Timestamp> {
    let PointInTime::Wall(first) = first else { return None };
    let last = match last {
        PointInTime::Wall(last) => last,
        PointInTime::Instant(last) => zone.wall(last),
    };
    let moved = zone.wall(start);
    if moved == first || last <= first {
        return None;
    }
    zone.instant(moved.checked_add(first.until(last).ok()?).ok()?)
}

impl Schedule {
    /// Creates a schedule. If the end is before the start, it is set to the start. If clocks skip
    /// the start, it moves forward, and so does an end that would no longer be after it.
    ///
    /// Rejects times whose UTC offset exceeds the maximum, which occurs in some places' local mean
    /// time. List windows rely on this limit when they compare local starts.
    pub fn new(
        zone: Zone,
        all_day: bool,
        start: PointInTime,
        end: PointInTime,
    ) -> Result<Schedule, NotADate> {
        let given = (start, end);
        let mut start = start.instant(&zone)?;
        let mut end = end.instant(&zone)?;
        if !all_day && end <= start {
            end = end_after_skipped(&zone, given, start).unwrap_or(end);
        }
        if all_day {
            let first = zone.wall(start).date().to_datetime(Time::midnight());
            start = zone.instant(first).ok_or(NotADate)?;
            end = zone.instant(day_end(zone.wall(end).date())).ok_or(NotADate)?;
        }
        if end < start {
            end = start;
        }
        if all_day && end == start {
            end = zone.instant(day_end(zone.wall(start).date())).ok_or(NotADate)?;
        }
        if zone.exceeds_max_offset(start) || zone.exceeds_max_offset(end) {
            return Err(NotADate);
        }
        let mut start_wall = zone.wall(start);
        if all_day {
            // Clock changes can skip midnight, but the day is stored in the same form as all
            // others.
            start_wall = start_wall.date().to_datetime(Time::midnight());
        }
        Ok(Schedule {
            all_day,
            start_local: wall_seconds(start_wall),
            end_local: wall_seconds(zone.wall(end)),
            start_utc: start.as_second(),
            end_utc: end.as_second(),
            zone,
        })
    }

    /// Returns the schedule after a change. Fields that are absent or sent back unchanged keep
    /// their local time. If the new start isn't before the current end, the end moves along with
    /// it.
    pub fn changed(&self, change: &ScheduleChange) -> Result<Schedule, NotADate> {
        if change.is_empty() {
            return Ok(self.clone());
        }
        let is_moved = change.start.is_some() && change.end.is_none();
        let along = is_moved.then(|| change.keeping_length_of(self));
        let zone = change.zone.clone().unwrap_or_else(|| self.zone.clone());
        // Unchanged fields keep their instant, even within the hour that is repeated when clocks
        // are set back.
        let settle = |sent: Option<PointInTime>, local: i64, utc: i64| {
            let standing = PointInTime::Wall(wall_from_seconds(local));
            match sent.unwrap_or(standing) {
                kept if kept == standing && zone == self.zone => {
                    PointInTime::Instant(instant_from_seconds(utc))
                }
                wanted => wanted,
            }
        };
        let start = settle(change.start, self.start_local, self.start_utc);
        let mut end = settle(change.end, self.end_local, self.end_utc);
        if let Some(along) = along.and_then(|along| along.end)
            && end.instant(&zone)? <= start.instant(&zone)?
        {
            end = along;
        }
        Schedule::new(zone, change.all_day.unwrap_or(self.all_day), start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(text: &str) -> PointInTime {
        PointInTime::Wall(text.parse().unwrap())
    }

    fn shown(seconds: i64) -> String {
        wall_from_seconds(seconds).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    fn zone(name: &str) -> Zone {
        Zone::parse(name).unwrap()
    }

    #[test]
    fn all_day_events_run_from_midnight_to_the_last_second() {
        let schedule = Schedule::new(
            zone("Europe/Vienna"),
            true,
            wall("2027-03-01T10:00"),
            wall("2027-03-02T09:00"),
        )
        .unwrap();
        assert_eq!(shown(schedule.start_local), "2027-03-01 00:00:00");
        assert_eq!(shown(schedule.end_local), "2027-03-02 23:59:59");
        assert_eq!(shown(schedule.start_utc), "2027-02-28 23:00:00");
        // In Santiago, this day begins at 01:00.
        let day = wall("2027-09-05T00:00");
        let schedule = Schedule::new(zone("America/Santiago"), true, day, day).unwrap();
        assert_eq!(shown(schedule.start_local), "2027-09-05 00:00:00");
        assert_eq!(shown(schedule.start_utc), "2027-09-05 04:00:00");
        let sent_back = ScheduleChange { start: Some(day), ..ScheduleChange::default() };
        assert_eq!(schedule.changed(&sent_back), Ok(schedule));
    }

    #[test]
    fn end_before_start_becomes_start_in_both_clocks() {
        let schedule =
            Schedule::new(zone("UTC+2"), false, wall("2027-03-01T10:00"), wall("2027-03-01T09:00"))
                .unwrap();
        assert_eq!(schedule.end_local, schedule.start_local);
        assert_eq!(schedule.end_utc, schedule.start_utc);
    }

    #[test]
    fn new_zone_alone_keeps_the_local_time() {
        let vienna = zone("Europe/Vienna");
        let before =
            Schedule::new(vienna, false, wall("2027-07-01T10:00"), wall("2027-07-01T11:00"))
                .unwrap();
        let change =
            ScheduleChange { zone: Some(zone("America/New_York")), ..ScheduleChange::default() };
        let after = before.changed(&change).unwrap();
        assert_eq!(after.start_local, before.start_local);
        assert_eq!(after.start_utc - before.start_utc, 6 * 3600);
    }

    #[test]
    fn start_alone_moves_the_end_along_only_if_it_would_be_before_the_start() {
        let vienna = zone("Europe/Vienna");
        let before = Schedule::new(
            vienna.clone(),
            false,
            wall("2027-07-01T10:00"),
            wall("2027-07-01T11:30"),
        )
        .unwrap();
        for (start, end) in [
            ("2027-07-01T09:00", "2027-07-01 11:30:00"),
            ("2027-07-01T11:00", "2027-07-01 11:30:00"),
            ("2027-07-01T11:30", "2027-07-01 13:00:00"),
            ("2027-07-05T23:00", "2027-07-06 00:30:00"),
        ] {
            let change = ScheduleChange { start: Some(wall(start)), ..ScheduleChange::default() };
            assert_eq!(shown(before.changed(&change).unwrap().end_local), end, "{start}");
        }
        let days = Schedule::new(vienna, true, wall("2027-07-01T00:00"), wall("2027-07-03T00:00"))
            .unwrap();
        let later = Some(wall("2027-07-10T00:00"));
        let change = ScheduleChange { start: later, ..ScheduleChange::default() };
        assert_eq!(shown(days.changed(&change).unwrap().end_local), "2027-07-12 23:59:59");
        // An end that was sent is not changed.
        let change = ScheduleChange { end: Some(wall("2027-07-02T00:00")), ..change };
        assert_eq!(shown(days.changed(&change).unwrap().end_local), "2027-07-10 23:59:59");
    }

    #[test]
    fn time_in_the_repeated_hour_keeps_its_instant_when_sent_back() {
        let vienna = zone("Europe/Vienna");
        let at = |text: &str| PointInTime::Instant(text.parse().unwrap());
        let (start, end) = (at("2027-10-31T02:30:00+01:00"), at("2027-10-31T02:45:00+01:00"));
        let before = Schedule::new(vienna.clone(), false, start, end).unwrap();
        let back = ScheduleChange {
            start: Some(wall("2027-10-31T02:30")),
            end: Some(wall("2027-10-31T02:45")),
            zone: Some(vienna),
            all_day: Some(false),
        };
        assert_eq!(before.changed(&back).unwrap(), before);
        let first = ScheduleChange { start: Some(wall("2027-10-31T02:31")), ..back.clone() };
        assert_eq!(before.changed(&first).unwrap().start_utc, before.start_utc - 3600 + 60);
        let moved = ScheduleChange { zone: Some(zone("Europe/Rome")), ..back };
        assert_eq!(before.changed(&moved).unwrap().start_utc, before.start_utc - 3600);
    }

    #[test]
    fn offsets_beyond_fourteen_hours_are_refused() {
        let manila = zone("Asia/Manila");
        let day = |text: &str| Schedule::new(manila.clone(), true, wall(text), wall(text));
        assert_eq!(day("1800-05-05T00:00"), Err(NotADate));
        assert!(day("1850-05-05T00:00").is_ok());
        let instant = PointInTime::Instant("1800-05-05T00:00:00Z".parse().unwrap());
        assert_eq!(Schedule::new(manila, false, instant, wall("1850-05-05T00:00")), Err(NotADate));
    }

    #[test]
    fn skipped_hour_moves_forward() {
        let schedule = Schedule::new(
            zone("Europe/Vienna"),
            false,
            wall("2027-03-28T02:30"),
            wall("2027-03-28T04:00"),
        )
        .unwrap();
        assert_eq!(shown(schedule.start_local), "2027-03-28 03:30:00");
        assert_eq!(shown(schedule.end_local), "2027-03-28 04:00:00");
    }

    #[test]
    fn event_in_the_skipped_hour_keeps_its_length() {
        let new_york = zone("America/New_York");
        let day = |time: &str| wall(&format!("2027-03-14T{time}"));
        let last = PointInTime::Instant("2027-03-14T07:20:00Z".parse().unwrap());
        for (start, end, expected) in [
            ("02:30", day("03:20"), "04:20:00"),
            ("02:30", day("03:30"), "04:30:00"),
            ("02:30", last, "04:20:00"),
            ("02:15", day("02:45"), "03:45:00"),
            // The end is after the start even after it has moved.
            ("02:30", day("03:40"), "03:40:00"),
            ("02:30", day("02:30"), "03:30:00"),
            ("02:30", day("01:00"), "03:30:00"),
        ] {
            let schedule = Schedule::new(new_york.clone(), false, day(start), end).unwrap();
            let case = format!("{start} {end:?}");
            assert_eq!(shown(schedule.end_local), format!("2027-03-14 {expected}"), "{case}");
            let change = ScheduleChange {
                start: Some(day(start)),
                end: Some(end),
                ..ScheduleChange::default()
            };
            assert_eq!(change.is_backwards(&schedule), end == day("01:00"), "{case}");
            let given = change.as_given(&schedule);
            assert_eq!(shown(given.start_local), format!("2027-03-14 {start}:00"), "{case}");
            if end == last {
                assert_eq!(shown(given.end_local), "2027-03-14 03:20:00");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn local_and_utc_differ_by_the_offset_in_force(
            start in 1_700_000_000_i64..2_000_000_000,
            length in 0_i64..5_000_000,
            name in proptest::sample::select(vec!["Europe/Vienna", "America/New_York", "UTC-3:30", "Asia/Kathmandu", "Australia/Lord_Howe"]),
        ) {
            let zone = zone(name);
            let at = |seconds| PointInTime::Wall(wall_from_seconds(seconds));
            let schedule = Schedule::new(zone.clone(), false, at(start), at(start + length)).unwrap();
            for (local, utc) in [
                (schedule.start_local, schedule.start_utc),
                (schedule.end_local, schedule.end_utc),
            ] {
                let offset = i64::from(zone.offset(instant_from_seconds(utc)));
                proptest::prop_assert_eq!(local - utc, offset);
            }
            proptest::prop_assert!(schedule.end_utc >= schedule.start_utc);
        }
    }
}
