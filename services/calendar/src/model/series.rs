//! Recurring events (RFC 5545). Each occurrence in a series is a separate event.

use jiff::civil::{Date, DateTime, Time};

use super::recurrence::{Rule, Wanted};
use super::schedule::{instant_from_seconds, wall_from_seconds, wall_seconds};
use super::slug::SEPARATOR;
use super::zone::Zone;

/// Limits the number of occurrences created for a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesLimits {
    /// How many months ahead to expand a series.
    pub months: i32,
    /// Maximum number of occurrences.
    pub most: usize,
    /// Maximum number of added and excluded dates. A series with more loses its rule.
    pub dates: usize,
}

impl SeriesLimits {
    /// Limits for imported series. `dates` is limited because each added or excluded date is
    /// compared with all others.
    pub const IMPORTED: SeriesLimits = SeriesLimits { months: 24, most: 500, dates: 1000 };
}

/// When a series takes place: its start, length, rule and listed dates.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The series' time zone. UTC for an all-day series.
    pub zone: Zone,
    /// Whether the occurrences are all-day events.
    pub all_day: bool,
    /// Local start of the first occurrence, as if it were UTC.
    pub start_local: i64,
    /// Local end of the first occurrence, as if it were UTC. For all-day events, the last day.
    pub end_local: i64,
    /// DURATION, if the file specifies a duration instead of an end. Otherwise empty.
    pub duration: String,
    /// RRULE, or empty if all dates are listed.
    pub rule: String,
    /// Keys of added dates in ascending order.
    pub rdates: Vec<String>,
    /// Keys of excluded dates in ascending order.
    pub exdates: Vec<String>,
}

/// A series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The id, or 0 if the series hasn't been stored yet.
    pub id: i64,
    /// The UID in calendar files. The external ids of the series' events start with it.
    pub uid: String,
    /// The common prefix of its events' slugs.
    pub slug: String,
    /// When it takes place.
    pub plan: Plan,
    /// Maximum number of occurrences from today onwards.
    pub most: i64,
    /// Occurrences up to this moment already exist as events.
    pub made_until: i64,
    /// When to create more events, in Unix seconds. `None` if all of them exist.
    pub due_utc: Option<i64>,
    /// The series' revision in feeds (`SEQUENCE`). Never lower than the revision of an event that
    /// has left the series.
    pub sequence: i64,
    /// When any of its events last changed, including events that have left the series. Changes to
    /// events that are still in the series might not be reflected here.
    pub modified_utc: i64,
}

/// An event's membership in a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Event id.
    pub event: i64,
    /// Series id.
    pub series: i64,
    /// The event's scheduled start, in Unix seconds. For all-day events, the day as if it were UTC.
    pub occurrence: i64,
    /// Fields that were changed for this event only.
    pub changed: Vec<String>,
}

/// The events in a series that a change applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Only this event.
    #[default]
    This,
    /// This event and all later ones.
    Following,
    /// All events in the series.
    All,
}

impl Reach {
    /// Parses a request's scope. Returns `None` if it is unknown.
    pub fn named(word: &str) -> Option<Reach> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "this" => Reach::This,
            "following" => Reach::Following,
            "all" => Reach::All,
            _ => return None,
        })
    }
}

/// A recurrence in a write request. Dates are in the event's local time.
#[derive(Clone, Debug, PartialEq)]
pub struct Recurrence {
    /// The rule without its end, or empty if all dates are listed.
    pub rule: String,
    /// When the rule ends.
    pub end: RuleEnd,
    /// Excluded dates. `None` keeps the series' excluded dates.
    pub exdates: Option<Vec<ListedDate>>,
    /// Added dates. `None` keeps the series' added dates.
    pub rdates: Option<Vec<ListedDate>>,
}

/// When a rule ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleEnd {
    /// Never.
    Never,
    /// After this number of occurrences.
    Count(usize),
    /// After the last possible start.
    Until(ListedDate),
    /// After whichever comes first. Only rules from files end like this.
    Both(usize, ListedDate),
}

/// A date in a recurrence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListedDate {
    /// A day, at the series' time of day.
    Day(Date),
    /// A local time.
    Wall(DateTime),
    /// An instant in Unix seconds.
    Instant(i64),
}

impl Plan {
    /// Formats a moment as a key. Moments are Unix seconds or, for all-day events, the day as if it
    /// were UTC.
    pub fn key(&self, moment: i64) -> String {
        let form = if self.all_day { "%Y%m%d" } else { "%Y%m%dT%H%M%SZ" };
        wall_from_seconds(moment).strftime(form).to_string()
    }

    /// Parses a key. Returns `None` if it is malformed.
    pub fn moment(&self, key: &str) -> Option<i64> {
        let wall = match self.all_day {
            true => Date::strptime("%Y%m%d", key).ok()?.to_datetime(Time::midnight()),
            false => DateTime::strptime("%Y%m%dT%H%M%SZ", key).ok()?,
        };
        Some(wall_seconds(wall))
    }

    /// Converts a moment to local time.
    pub fn wall(&self, moment: i64) -> DateTime {
        match self.all_day {
            true => wall_from_seconds(moment),
            false => self.zone.wall(instant_from_seconds(moment)),
        }
    }

    /// Converts a moment to local time. Returns the series' time of day even if the clocks skip it.
    pub fn planned_wall(&self, moment: i64) -> DateTime {
        let wall = self.wall(moment);
        let planned = wall.date().to_datetime(self.start().time());
        if self.at(planned) == moment { planned } else { wall }
    }

    /// Converts a local time to a moment. Skipped times move forward.
    pub fn at(&self, wall: DateTime) -> i64 {
        let instant = self.zone.instant(wall).filter(|_| !self.all_day);
        instant.map_or_else(|| wall_seconds(wall), jiff::Timestamp::as_second)
    }

    /// Returns the local start of the first occurrence.
    pub fn start(&self) -> DateTime {
        wall_from_seconds(self.start_local)
    }

    /// Returns the moment of the first occurrence.
    pub fn first(&self) -> i64 {
        self.at(self.start())
    }

    /// Converts a date in a request to a moment.
    pub fn listed(&self, date: ListedDate) -> i64 {
        match date {
            ListedDate::Day(day) => self.at(day.to_datetime(self.start().time())),
            ListedDate::Wall(wall) if self.all_day => {
                wall_seconds(wall.date().to_datetime(Time::midnight()))
            }
            ListedDate::Wall(wall) => self.at(wall),
            ListedDate::Instant(at) if self.all_day => {
                let day = self.zone.wall(instant_from_seconds(at)).date();
                wall_seconds(day.to_datetime(Time::midnight()))
            }
            ListedDate::Instant(at) => at,
        }
    }

    /// Returns the keys of dates in a request, sorted and without duplicates.
    pub fn keys(&self, dates: &[ListedDate]) -> Vec<String> {
        let mut moments: Vec<i64> = dates.iter().map(|date| self.listed(*date)).collect();
        moments.sort_unstable();
        moments.dedup();
        moments.into_iter().map(|moment| self.key(moment)).collect()
    }

    /// Returns the `UNTIL` value for the last possible start. A day includes all times on that day.
    pub fn until(&self, last: ListedDate) -> String {
        match last {
            ListedDate::Day(day) if !self.all_day => {
                self.key(self.at(day.to_datetime(Time::constant(23, 59, 59, 0))))
            }
            last => self.key(self.listed(last)),
        }
    }

    /// Returns the rule's `UNTIL` in local time, if any.
    pub fn ends(&self) -> Option<DateTime> {
        let until = self.parsed()?.until?;
        if let Some(moment) = self.moment(until.trim()) {
            return Some(self.wall(moment));
        }
        let text = until.trim().trim_end_matches(['Z', 'z']);
        let day = || Date::strptime("%Y%m%d", text).ok();
        let end_of_day = || Some(day()?.to_datetime(Time::constant(23, 59, 59, 0)));
        DateTime::strptime("%Y%m%dT%H%M%S", text).ok().or_else(end_of_day)
    }

    /// Returns whether the rule itself produces this moment, even if the moment is an excluded
    /// date.
    pub fn rules(&self, moment: i64) -> bool {
        let (wall, Some(rule)) = (self.wall(moment), self.parsed()) else {
            return moment == self.first();
        };
        let until = wall.date().to_datetime(Time::constant(23, 59, 59, 0));
        let wanted = Wanted { until, near: wall.date(), first: 0, latest: 0, most: usize::MAX };
        let found = rule.expand_near(self.start(), wanted).unwrap_or_default();
        // Local times are the same in both passes of a repeated hour.
        let last = rule.until.as_deref().and_then(|until| self.moment(until.trim()));
        let is_late = |wall: DateTime| match last.filter(|_| !self.all_day) {
            Some(last) => last < moment,
            None => self.ends().is_some_and(|last| last < wall),
        };
        found.into_iter().any(|wall| self.at(wall) == moment && !is_late(wall))
    }

    /// Returns whether this is an occurrence, even if it is an excluded date.
    pub fn has(&self, moment: i64) -> bool {
        self.rdates.contains(&self.key(moment)) || self.rules(moment)
    }

    /// Returns the parsed rule, if it is valid.
    pub fn parsed(&self) -> Option<Rule> {
        Rule::parse(&self.rule)
    }
}

impl Series {
    /// Returns the external id for an occurrence's event.
    pub fn external_id(&self, occurrence: i64) -> String {
        match occurrence == self.plan.first() {
            true => self.uid.clone(),
            false => format!("{}#{}", self.uid, self.plan.key(occurrence)),
        }
    }

    /// Returns the slug for an occurrence's event, if it is free.
    pub fn slug_of(&self, occurrence: i64) -> String {
        let wall = self.plan.wall(occurrence);
        let is_plain = self.plan.all_day
            || (wall.time() == self.plan.start().time() && !self.repeats_within_days());
        let form = if is_plain { "%Y-%m-%d" } else { "%Y-%m-%d-%H%M" };
        format!("{}{SEPARATOR}{}", self.slug, wall.strftime(form))
    }

    fn repeats_within_days(&self) -> bool {
        let rule = self.plan.rule.to_ascii_uppercase();
        rule.contains("HOURLY") || rule.contains("MINUTELY")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rule: &str) -> Series {
        let wall = |text: &str| wall_seconds(text.parse().unwrap());
        Series {
            id: 1,
            uid: "u".to_owned(),
            slug: "yoga".to_owned(),
            plan: Plan {
                zone: Zone::parse("Europe/Vienna").unwrap(),
                all_day: false,
                start_local: wall("2027-03-09T18:00"),
                end_local: wall("2027-03-09T19:00"),
                duration: String::new(),
                rule: rule.to_owned(),
                rdates: Vec::new(),
                exdates: Vec::new(),
            },
            most: 1000,
            made_until: 0,
            due_utc: None,
            sequence: 0,
            modified_utc: 0,
        }
    }

    #[test]
    fn names_of_occurrences_contain_their_local_date() {
        let weekly = series("FREQ=WEEKLY");
        let summer = weekly.plan.at("2027-04-06T18:00".parse().unwrap());
        assert_eq!(weekly.external_id(weekly.plan.first()), "u");
        assert_eq!(weekly.external_id(summer), "u#20270406T160000Z");
        assert_eq!(weekly.slug_of(summer), "yoga--2027-04-06");
        let other = weekly.plan.at("2027-04-06T20:30".parse().unwrap());
        assert_eq!(weekly.slug_of(other), "yoga--2027-04-06-2030");
        assert_eq!(series("FREQ=HOURLY").slug_of(summer), "yoga--2027-04-06-1800");
    }

    #[test]
    fn listed_dates_become_keys_and_return() {
        let plan = series("FREQ=WEEKLY").plan;
        let day = ListedDate::Day(Date::new(2027, 4, 6).unwrap());
        let wall = ListedDate::Wall("2027-03-16T18:00".parse().unwrap());
        assert_eq!(plan.keys(&[day, wall, day]), ["20270316T170000Z", "20270406T160000Z"]);
        assert_eq!(plan.until(day), "20270406T215959Z");
        assert_eq!(plan.moment("20270406"), None);
        let days = Plan { all_day: true, zone: Zone::utc(), ..plan };
        assert_eq!(
            (days.keys(&[wall, day]).join(" "), days.until(day).as_str()),
            ("20270316 20270406".to_owned(), "20270406")
        );
    }

    #[test]
    fn rule_that_ends_while_clocks_change_ends_at_its_instant() {
        for (start, until, day, expected) in [
            // The rule ends at 2:30, when it is 2:30 for the second time.
            ("2027-10-29T02:50", "20271031T013000Z", "2027-10-31T02:50", true),
            ("2027-10-29T02:50", "20271031T004000Z", "2027-10-31T02:50", false),
            ("2027-10-29T02:50", "20271031T013000Z", "2027-11-01T02:50", false),
            // The rule ends at 3:15, but the skipped start moves to 3:30.
            ("2027-03-26T02:30", "20270328T011500Z", "2027-03-28T02:30", false),
            ("2027-03-26T02:30", "20270328T013000Z", "2027-03-28T02:30", true),
        ] {
            let mut plan = series(&format!("FREQ=DAILY;UNTIL={until}")).plan;
            plan.start_local = wall_seconds(start.parse().unwrap());
            let moment = plan.at(day.parse().unwrap());
            assert_eq!(plan.rules(moment), expected, "{until} {day}");
        }
    }

    #[test]
    fn end_of_the_plan_is_a_local_time() {
        for (rule, end) in [
            ("FREQ=WEEKLY;UNTIL=20270630T215959Z", Some("2027-06-30T23:59:59")),
            ("FREQ=WEEKLY;UNTIL=20270630T180000", Some("2027-06-30T18:00:00")),
            ("FREQ=WEEKLY;UNTIL=20270630", Some("2027-06-30T23:59:59")),
            ("FREQ=WEEKLY;COUNT=3", None),
        ] {
            let ends = series(rule).plan.ends();
            assert_eq!(ends, end.map(|end| end.parse().unwrap()), "{rule}");
        }
    }
}
