//! Expands recurrence rules to the local start times of occurrences.

use jiff::civil::{Date, DateTime};

use super::rule::Rule;

/// Maximum number of days and occurrences to examine before abandoning a rule. With at most one
/// occurrence per day, this covers more than five hundred years.
const MAX_DAYS: usize = 200_000;

/// Maximum number of consecutive days without a match before abandoning a rule. A 29 February on a
/// given weekday occurs at least every forty years.
const MAX_UNMATCHED_DAYS: usize = 20_000;

/// Why a rule was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// There are no matches for half a century.
    NoMatch,
    /// Too many days or occurrences would have to be examined.
    TooLong,
}

/// Selects which of a series' occurrences to return: all from a given day onwards, and some of the
/// earlier ones.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The latest occurrence to return.
    pub until: DateTime,
    /// All occurrences from this day onwards are returned.
    pub near: Date,
    /// Minimum number of occurrences at the start of the series, including its start.
    pub first: usize,
    /// Minimum number of occurrences right before `near`.
    pub latest: usize,
    /// The expansion can stop after this number of occurrences from `near` onwards.
    pub most: usize,
}

impl Rule {
    /// Returns an event's occurrences from `start` up to `until`. The start always comes first.
    ///
    /// # Errors
    /// Returns [`Abandoned`] if this would cover too many centuries, or if there are no matches for
    /// half a century.
    pub fn expand(&self, start: DateTime, until: DateTime) -> Result<Vec<DateTime>, Abandoned> {
        self.expand_near(
            start,
            Wanted { until, near: start.date(), first: 0, latest: 0, most: usize::MAX },
        )
    }

    /// Returns the wanted occurrences in ascending order. The start always comes first.
    ///
    /// Occurrences between the first and the latest ones are skipped, so old rules are as cheap as
    /// recent ones. The exception is a rule with COUNT whose periods differ in their number of
    /// occurrences, because they all have to be counted. If a rule has very few matches over
    /// centuries, occurrences far from `near` might be missing.
    ///
    /// # Errors
    /// Returns [`Abandoned`] if there are no matches other than the start for half a century, or
    /// if there is too much to count.
    pub fn expand_near(&self, start: DateTime, wanted: Wanted) -> Result<Vec<DateTime>, Abandoned> {
        Walk::new(self, start).expand(wanted)
    }

    /// Returns whether the start itself matches the rule.
    pub fn has(&self, start: DateTime) -> bool {
        let period = self.first_period(start.date());
        self.at_positions(self.moments_in(period, start)).contains(&start)
    }

    /// Returns the occurrences in a period that come after the start, in ascending order.
    fn moments_of(&self, period: Date, start: DateTime) -> Vec<DateTime> {
        let mut moments = self.at_positions(self.moments_in(period, start));
        moments.retain(|moment| *moment > start);
        moments
    }
}

/// Iterates over a rule's periods.
struct Walk<'r> {
    rule: &'r Rule,
    start: DateTime,
    first_period: Date,
    /// Number of days and occurrences examined so far.
    looked_at: usize,
    /// Number of days since the last match.
    unmatched_days: usize,
    abandoned: Option<Abandoned>,
}

impl<'r> Walk<'r> {
    fn new(rule: &'r Rule, start: DateTime) -> Walk<'r> {
        let first_period = rule.first_period(start.date());
        Walk { rule, start, first_period, looked_at: 0, unmatched_days: 0, abandoned: None }
    }

    fn expand(&mut self, wanted: Wanted) -> Result<Vec<DateTime>, Abandoned> {
        let (rule, mut until) = (self.rule, wanted.until);
        if let Some(count) = rule.count.filter(|_| rule.is_regular()) {
            until = until.min(self.last_counted(count));
        }
        let count = rule.count.filter(|_| !rule.is_regular());
        let near = match count {
            Some(_) => 0,
            None => rule.number_of(self.first_period, wanted.near.min(until.date())),
        };
        let mut to_come: Vec<DateTime> = Vec::new();
        for number in near.. {
            let Some(moments) = self.moments(number, until) else { break };
            to_come.extend(moments);
            if let Some(count) = count.filter(|count| to_come.len() + 1 >= *count) {
                to_come.truncate(count.saturating_sub(1));
                break;
            }
            let past = to_come.partition_point(|at| at.date() < wanted.near);
            if to_come.len() - past >= wanted.most {
                break;
            }
        }
        if let Some(abandoned) = self.abandoned {
            return Err(abandoned);
        }
        let (mut all, mut next) = (vec![self.start], 0);
        while next < near && all.len() < wanted.first {
            let Some(moments) = self.moments(next, until) else { break };
            all.extend(moments);
            next += 1;
        }
        let mut latest: Vec<DateTime> = Vec::new();
        for number in (next..near).rev() {
            if latest.len() >= wanted.latest {
                break;
            }
            let Some(moments) = self.moments(number, until) else { break };
            latest.extend(moments.into_iter().rev());
        }
        all.extend(latest.into_iter().rev());
        all.extend(to_come);
        if let Some(abandoned) = self.abandoned.filter(|_| all.len() == 1) {
            return Err(abandoned);
        }
        let past = all.partition_point(|at| at.date() < wanted.near);
        all.truncate(past.saturating_add(wanted.most).max(1));
        let first = wanted.first.max(1);
        if let Some(surplus_end) = past.checked_sub(wanted.latest).filter(|end| *end > first) {
            all.drain(first..surplus_end);
        }
        Ok(all)
    }

    /// Returns the occurrences in a period, or `None` if the series has ended or the rule was
    /// abandoned.
    fn moments(&mut self, number: i64, until: DateTime) -> Option<Vec<DateTime>> {
        let period = self.rule.period(self.first_period, number)?;
        if period > until.date() {
            return None;
        }
        self.unmatched_days += self.rule.days();
        if self.looked_at > MAX_DAYS {
            self.abandoned = Some(Abandoned::TooLong);
        } else if self.unmatched_days > MAX_UNMATCHED_DAYS {
            self.abandoned = Some(Abandoned::NoMatch);
        }
        if self.abandoned.is_some() {
            return None;
        }
        let moments = self.rule.moments_in(period, self.start);
        self.looked_at += self.rule.effort(period).max(moments.len());
        let mut moments = self.rule.at_positions(moments);
        moments.retain(|moment| *moment > self.start && *moment <= until);
        if !moments.is_empty() {
            self.unmatched_days = 0;
        }
        Some(moments)
    }

    /// Returns the last occurrence that COUNT allows. Only valid for regular rules.
    fn last_counted(&self, count: usize) -> DateTime {
        let (rule, start) = (self.rule, self.start);
        // The start counts even if it doesn't match the rule.
        let Some(place) = count.checked_sub(2) else { return start };
        let in_first = rule.moments_of(self.first_period, start);
        if let Some(moment) = in_first.get(place) {
            return *moment;
        }
        let place = place - in_first.len();
        let moments = |number: i64| {
            let period = rule.period(self.first_period, number)?;
            Some(rule.moments_of(period, start))
        };
        let find = || {
            let each = moments(1)?.len();
            let number = i64::try_from(place.checked_div(each)?).ok()?.checked_add(1)?;
            moments(number)?.get(place % each).copied()
        };
        // The last occurrence would be past the end of the calendar.
        find().unwrap_or(DateTime::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [&str; 44] = [
        "FREQ=DAILY",
        "FREQ=DAILY;INTERVAL=3",
        "FREQ=DAILY;INTERVAL=1000",
        "FREQ=DAILY;BYDAY=MO,WE,FR",
        "FREQ=DAILY;BYMONTH=1,12;BYMONTHDAY=-1,1",
        "FREQ=DAILY;BYSETPOS=-1",
        "FREQ=DAILY;COUNT=1",
        "FREQ=DAILY;INTERVAL=7;COUNT=1900",
        "FREQ=DAILY;BYDAY=TU;COUNT=1700",
        "FREQ=DAILY;COUNT=18446744073709551615",
        "FREQ=WEEKLY",
        "FREQ=WEEKLY;INTERVAL=5;WKST=SU",
        "FREQ=WEEKLY;BYDAY=TU,TH,SU",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO,TU;WKST=SU",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1",
        "FREQ=WEEKLY;BYMONTH=2,7;BYDAY=SA",
        "FREQ=WEEKLY;COUNT=0",
        "FREQ=WEEKLY;COUNT=2",
        "FREQ=WEEKLY;INTERVAL=3;BYDAY=WE,SA,SU;COUNT=1901;WKST=SU",
        "FREQ=WEEKLY;BYMONTH=3;COUNT=150",
        "FREQ=MONTHLY",
        "FREQ=MONTHLY;INTERVAL=7",
        "FREQ=MONTHLY;BYMONTHDAY=-1,15,31",
        "FREQ=MONTHLY;BYDAY=2TU,-1FR",
        "FREQ=MONTHLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,1",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
        "FREQ=MONTHLY;BYDAY=SU;COUNT=1800",
        "FREQ=YEARLY",
        "FREQ=YEARLY;INTERVAL=4",
        "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU",
        "FREQ=YEARLY;BYDAY=20MO,-1FR",
        "FREQ=YEARLY;BYMONTHDAY=1,-1",
        "FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=YEARLY;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;BYSETPOS=1",
        "FREQ=YEARLY;BYMONTH=6;COUNT=30",
        "FREQ=DAILY;BYHOUR=9,18;BYMINUTE=0,30;COUNT=1901",
        "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=23,1;BYSETPOS=1,-1",
        "FREQ=YEARLY;BYWEEKNO=1,20,-1;BYDAY=MO,SU",
        "FREQ=YEARLY;BYWEEKNO=53",
        "FREQ=YEARLY;BYYEARDAY=1,100,-1",
        "FREQ=HOURLY;INTERVAL=36",
        "FREQ=HOURLY;INTERVAL=8;BYDAY=MO,WE;BYMINUTE=5",
        "FREQ=HOURLY;INTERVAL=36;COUNT=1200",
        "FREQ=MINUTELY;INTERVAL=1000",
    ];

    const STARTS: [&str; 6] = [
        "1968-02-29T18:30",
        "1983-12-31T00:00",
        "1990-05-06T10:00",
        "2026-11-01T23:59:59",
        "2027-03-10T09:00",
        "2027-08-31T07:00",
    ];

    fn at(text: &str) -> DateTime {
        text.parse().unwrap()
    }

    /// Returns all occurrences, counted one at a time from the start.
    fn slowly(rule: &Rule, start: DateTime, until: DateTime) -> Vec<DateTime> {
        let first = rule.first_period(start.date());
        let mut all = vec![start];
        for number in 0.. {
            let period = rule.period(first, number).filter(|period| *period <= until.date());
            let Some(period) = period else { break };
            for moment in rule.moments_of(period, start) {
                if moment > until || rule.count.is_some_and(|count| all.len() >= count) {
                    return all;
                }
                all.push(moment);
            }
        }
        all
    }

    #[test]
    fn skipping_loses_no_requested_moment() {
        let near = at("2027-03-10T00:00");
        for (text, start) in RULES.iter().flat_map(|rule| STARTS.map(|start| (*rule, at(start)))) {
            let rule = Rule::parse(text).unwrap();
            for until in
                ["2029-03-10T09:00", "2027-03-10T09:00", "2015-06-30T23:59", "1960-01-01T00:00"]
            {
                let until = at(until);
                let all = slowly(&rule, start, until);
                assert_eq!(rule.expand(start, until).as_ref(), Ok(&all), "{text} from {start}");
                let past = all.iter().filter(|moment| **moment < near).count();
                for (first, latest) in [(1, 0), (1, 500), (7, 40), (1000, 3)] {
                    let wanted =
                        Wanted { until, near: near.date(), first, latest, most: usize::MAX };
                    let found = rule.expand_near(start, wanted).unwrap();
                    let case = format!("{text} from {start} to {until}, {first} and {latest}");
                    assert_eq!(found[0], start, "{case}");
                    assert!(found.is_sorted_by(|one, next| one < next), "{case}");
                    assert!(found.iter().all(|one| all.binary_search(one).is_ok()), "{case}");
                    let first = &all[..first.min(all.len())];
                    assert!(found.starts_with(first), "{case}");
                    let latest = &all[past.saturating_sub(latest)..];
                    assert!(found.ends_with(latest), "{case}");
                }
            }
        }
    }

    #[test]
    fn rules_have_starts_that_match_them() {
        for (rule, start, expected) in [
            ("FREQ=WEEKLY;BYDAY=TU", "2027-03-09T18:00", true),
            ("FREQ=WEEKLY;BYDAY=WE", "2027-03-09T18:00", false),
            ("FREQ=MONTHLY", "2027-01-31T18:00", true),
            ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "2027-03-30T18:00", true),
            ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "2027-03-29T18:00", false),
            ("FREQ=HOURLY;INTERVAL=7", "2027-03-29T18:00", true),
            ("FREQ=DAILY;BYHOUR=9", "2027-03-29T18:00", false),
        ] {
            assert_eq!(Rule::parse(rule).unwrap().has(at(start)), expected, "{rule} at {start}");
        }
    }

    /// Expands a rule like an import in 2027. Returns the number of occurrences and the number of
    /// days examined.
    fn effort(rule: &str, start: &str) -> (Option<usize>, usize) {
        let rule = Rule::parse(rule).unwrap();
        let (until, near) = (at("2029-03-10T12:00"), at("2027-03-10T00:00").date());
        let mut walk = Walk::new(&rule, at(start));
        let found = walk.expand(Wanted { until, near, first: 1, latest: 500, most: usize::MAX });
        (found.ok().map(|found| found.len()), walk.looked_at)
    }

    #[test]
    fn old_rules_cost_as_much_as_recent_ones() {
        for (rule, most) in [
            ("FREQ=DAILY", 1300),
            ("FREQ=DAILY;INTERVAL=2", 1300),
            ("FREQ=DAILY;COUNT=700000", 1300),
            ("FREQ=DAILY;COUNT=4000000000", 1300),
            ("FREQ=WEEKLY", 5000),
            ("FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=200000", 5000),
            ("FREQ=MONTHLY", 20_000),
            ("FREQ=YEARLY", 20_000),
        ] {
            let (found, looked_at) = effort(rule, "0001-01-01T10:00");
            assert!(found.is_some_and(|found| found >= 500), "{rule} has {found:?}");
            assert!(looked_at <= most, "{rule} looked at {looked_at}");
        }
    }

    #[test]
    fn counting_of_many_moments_a_day_is_bounded() {
        let (months, hours) = ("1,2,3,4,5,6,7,8,9,10,11,12", (0..24).map(|hour| hour.to_string()));
        let hours = hours.collect::<Vec<_>>().join(",");
        let minutes = (0..60).map(|minute| minute.to_string()).collect::<Vec<_>>().join(",");
        let times = format!("BYMONTH={months};BYHOUR={hours};BYMINUTE={minutes}");
        for rule in ["FREQ=DAILY", "FREQ=MINUTELY", "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"] {
            let (found, looked_at) =
                effort(&format!("{rule};{times};COUNT=100000000"), "1985-01-01T10:00");
            assert_eq!(found, None, "{rule}");
            // The last period is examined completely.
            assert!(looked_at <= MAX_DAYS + 366 * 1440, "{rule} looked at {looked_at}");
        }
        // For a recent series, only the requested occurrences are kept.
        let rule = Rule::parse(&format!("FREQ=MINUTELY;{times};COUNT=1000000")).unwrap();
        let (until, near) = (at("2029-03-10T12:00"), at("2027-03-10T00:00").date());
        let wanted = Wanted { until, near, first: 1, latest: 500, most: 500 };
        let found = rule.expand_near(at("2027-03-01T00:00"), wanted).unwrap();
        assert_eq!(found.len(), 1001);
        assert_eq!(found[501], at("2027-03-10T00:00"));
    }

    #[test]
    fn rules_without_matches_are_abandoned_early() {
        for rule in [
            "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
            "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30;COUNT=2",
            "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=31",
        ] {
            let (found, looked_at) = effort(rule, "0001-01-01T10:00");
            assert_eq!(found, None, "{rule}");
            assert!(looked_at <= MAX_UNMATCHED_DAYS + 366, "{rule} looked at {looked_at}");
        }
        // Counting is limited too.
        let (found, looked_at) = effort("FREQ=MONTHLY;COUNT=20000", "0001-01-01T10:00");
        assert_eq!((found, looked_at <= MAX_DAYS + 366), (None, true));
        // Rare matches are found within the limit.
        let leap = effort("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "1500-01-01T10:00");
        assert_eq!(leap.0, Some(21));
        // If a rule repeats within days, the days between two matches are counted only once.
        let january = "FREQ=MINUTELY;INTERVAL=15;BYMONTH=1;BYHOUR=9";
        let counted = effort(&format!("{january};COUNT=400"), "2021-01-01T09:00");
        assert_eq!(counted.0, Some(400));
        assert_eq!(effort(january, "2027-01-31T09:00").0, Some(252));
        let minutes = effort("FREQ=MINUTELY;BYMONTH=1;BYMONTHDAY=1;BYHOUR=9", "2027-01-01T09:00");
        assert_eq!(minutes.0, Some(180));
    }
}
