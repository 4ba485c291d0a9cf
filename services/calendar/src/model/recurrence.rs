//! Rules by which an event of iCalendar repeats (RFC 5545, 3.3.10), on the clock of its zone.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, ToSpan as _};

/// Days that are looked at before a rule is given up: more than five hundred years.
const MAX_DAYS: usize = 200_000;

/// A rule; those that repeat within a day, by week of the year and by day of the year are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    frequency: Frequency,
    interval: i64,
    count: Option<usize>,
    /// The last moment, as written.
    pub until: Option<String>,
    by_month: Vec<i8>,
    by_month_day: Vec<i8>,
    by_day: Vec<(i8, Weekday)>,
    by_position: Vec<i32>,
    week_start: Weekday,
    /// Hour, minute and second, where the rule names them though the start does already.
    time: [Option<i8>; 3],
}

/// A rule looks through too many days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequency {
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

impl Rule {
    /// Parses a rule; `None` for what is malformed or not known.
    pub fn parse(text: &str) -> Option<Rule> {
        let mut rule = Rule {
            frequency: Frequency::Daily,
            interval: 1,
            count: None,
            until: None,
            by_month: Vec::new(),
            by_month_day: Vec::new(),
            by_day: Vec::new(),
            by_position: Vec::new(),
            week_start: Weekday::Monday,
            time: [None; 3],
        };
        let mut frequency = None;
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            match name.to_ascii_uppercase().as_str() {
                "FREQ" => frequency = Some(frequency_of(value)?),
                "INTERVAL" => {
                    rule.interval = value.parse().ok().filter(|n| (1..=1000).contains(n))?
                }
                "COUNT" => rule.count = Some(value.parse().ok()?),
                "UNTIL" => rule.until = Some(value.to_owned()),
                "BYMONTH" => rule.by_month = numbers(value, 1, 12)?,
                "BYMONTHDAY" => rule.by_month_day = numbers(value, -31, 31)?,
                "BYDAY" => rule.by_day = value.split(',').map(weekday).collect::<Option<_>>()?,
                "BYSETPOS" => rule.by_position = numbers(value, -366, 366)?,
                "WKST" => rule.week_start = weekday(value)?.1,
                "BYHOUR" => rule.time[0] = Some(clock_part(value, 23)?),
                "BYMINUTE" => rule.time[1] = Some(clock_part(value, 59)?),
                "BYSECOND" => rule.time[2] = Some(clock_part(value, 59)?),
                _ => return None,
            }
        }
        rule.frequency = frequency?;
        Some(rule)
    }

    /// Tells whether the rule repeats once a year in named months, as those of time zones do.
    pub fn is_yearly(&self) -> bool {
        self.frequency == Frequency::Yearly && !self.by_month.is_empty()
    }

    /// Tells whether the time of day that the rule names, if any, is that of a start.
    pub fn fits_time(&self, start: DateTime) -> bool {
        let parts = [start.hour(), start.minute(), start.second()];
        self.time.iter().zip(parts).all(|(named, part)| named.is_none_or(|named| named == part))
    }

    /// Returns the moments of an event that first takes place at `start`, up to `until`; the start
    /// is always the first of them.
    ///
    /// # Errors
    /// [`TooLong`], where a rule finds next to nothing in centuries.
    pub fn expand(&self, start: DateTime, until: DateTime) -> Result<Vec<DateTime>, TooLong> {
        let mut all = vec![start];
        let first = self.first_period(start.date());
        let mut looked_at = 0;
        for number in 0.. {
            let Some(period) = self.period(first, number) else { break };
            if period > until.date() {
                break;
            }
            looked_at += self.effort();
            if looked_at > MAX_DAYS {
                return Err(TooLong);
            }
            for date in self.days_of(period, start.date()) {
                let moment = date.to_datetime(start.time());
                if moment <= start {
                    continue;
                }
                if moment > until || self.count.is_some_and(|count| all.len() >= count) {
                    return Ok(all);
                }
                all.push(moment);
            }
        }
        Ok(all)
    }

    /// Returns how many days are looked at in a period.
    fn effort(&self) -> usize {
        match self.frequency {
            Frequency::Daily => 1,
            Frequency::Weekly => 7,
            Frequency::Monthly => 31,
            Frequency::Yearly if self.by_day.is_empty() && self.by_month_day.is_empty() => 31,
            Frequency::Yearly if self.by_month.is_empty() => 366,
            Frequency::Yearly => 31 * self.by_month.len(),
        }
    }

    fn first_period(&self, start: Date) -> Date {
        match self.frequency {
            Frequency::Daily => start,
            Frequency::Weekly => {
                let back = i64::from(self.week_start.until(start.weekday()));
                start.checked_sub(back.days()).unwrap_or(start)
            }
            Frequency::Monthly => start.first_of_month(),
            Frequency::Yearly => start.first_of_year(),
        }
    }

    fn period(&self, first: Date, number: i64) -> Option<Date> {
        let steps = number.checked_mul(self.interval)?;
        let span = match self.frequency {
            Frequency::Daily => Span::new().try_days(steps),
            Frequency::Weekly => Span::new().try_weeks(steps),
            Frequency::Monthly => Span::new().try_months(steps),
            Frequency::Yearly => Span::new().try_years(steps),
        };
        first.checked_add(span.ok()?).ok()
    }

    /// Returns the days of a period, ascending.
    fn days_of(&self, period: Date, start: Date) -> Vec<Date> {
        let mut days = match self.frequency {
            Frequency::Daily => vec![period],
            Frequency::Weekly => self.days_of_week(period, start),
            Frequency::Monthly => self.days_of_month(period, start),
            Frequency::Yearly => self.days_of_year(period, start),
        };
        if self.frequency == Frequency::Daily {
            days.retain(|day| self.fits_month_day(*day) && self.fits_weekday(*day));
        }
        if self.frequency != Frequency::Yearly {
            days.retain(|day| self.by_month.is_empty() || self.by_month.contains(&day.month()));
        }
        days.sort_unstable();
        days.dedup();
        if self.by_position.is_empty() {
            return days;
        }
        let len = i32::try_from(days.len()).unwrap_or(i32::MAX);
        let place = |position: &i32| if *position > 0 { position - 1 } else { len + position };
        let mut places: Vec<usize> =
            self.by_position.iter().filter_map(|one| usize::try_from(place(one)).ok()).collect();
        places.sort_unstable();
        places.into_iter().filter_map(|place| days.get(place).copied()).collect()
    }

    fn days_of_week(&self, week: Date, start: Date) -> Vec<Date> {
        let days = (0..7).filter_map(|day: i64| week.checked_add(day.days()).ok());
        days.filter(|day| match self.by_day.is_empty() {
            true => day.weekday() == start.weekday(),
            false => self.fits_weekday(*day),
        })
        .collect()
    }

    fn days_of_month(&self, month: Date, start: Date) -> Vec<Date> {
        let all = month.days_in_month();
        let days = (1..=all).filter_map(|day| month.with().day(day).build().ok());
        let by_day = !self.by_day.is_empty();
        let nth = |day: Date| {
            let number = |day: i8| usize::try_from(day).unwrap_or(1);
            self.is_nth(day, number(day.day()) - 1, number(all))
        };
        let fits = |day: &Date| match (self.by_month_day.is_empty(), by_day) {
            (true, false) => day.day() == start.day(),
            _ => self.fits_month_day(*day) && (!by_day || nth(*day)),
        };
        days.filter(fits).collect()
    }

    fn days_of_year(&self, year: Date, start: Date) -> Vec<Date> {
        let month = |number: i8| year.with().month(number).build().ok();
        let named = !self.by_month.is_empty();
        let days_matter = !self.by_month_day.is_empty();
        if !self.by_day.is_empty() && !named && !days_matter {
            let days = (0..i64::from(year.days_in_year()))
                .filter_map(|day| year.checked_add(day.days()).ok());
            let number = |day: Date| usize::try_from(day.day_of_year()).unwrap_or(1) - 1;
            let all = usize::try_from(year.days_in_year()).unwrap_or(365);
            return days.filter(|day| self.is_nth(*day, number(*day), all)).collect();
        }
        let months: Vec<i8> = match (named, days_matter) {
            (true, _) => self.by_month.clone(),
            (false, true) => (1..=12).collect(),
            (false, false) => vec![start.month()],
        };
        months
            .into_iter()
            .filter_map(month)
            .flat_map(|month| self.days_of_month(month, start))
            .collect()
    }

    fn fits_weekday(&self, day: Date) -> bool {
        self.by_day.is_empty() || self.by_day.iter().any(|(_, weekday)| *weekday == day.weekday())
    }

    fn fits_month_day(&self, day: Date) -> bool {
        let back = day.day() - day.days_in_month() - 1;
        self.by_month_day.is_empty()
            || self.by_month_day.iter().any(|wanted| *wanted == day.day() || *wanted == back)
    }

    /// Tells whether a day, by its number in a period of so many days, is a wanted weekday, or the
    /// wanted one of its kind in the period.
    fn is_nth(&self, day: Date, number: usize, days: usize) -> bool {
        self.by_day.iter().filter(|(_, weekday)| *weekday == day.weekday()).any(|(nth, _)| {
            let place = usize::from(nth.unsigned_abs());
            match nth.signum() {
                0 => true,
                1 => number / 7 + 1 == place,
                _ => days.saturating_sub(number + 1) / 7 + 1 == place,
            }
        })
    }
}

/// Reads one hour, minute or second.
fn clock_part(text: &str, most: i8) -> Option<i8> {
    text.trim().parse().ok().filter(|part| (0..=most).contains(part))
}

fn frequency_of(text: &str) -> Option<Frequency> {
    Some(match text.to_ascii_uppercase().as_str() {
        "DAILY" => Frequency::Daily,
        "WEEKLY" => Frequency::Weekly,
        "MONTHLY" => Frequency::Monthly,
        "YEARLY" => Frequency::Yearly,
        _ => return None,
    })
}

/// Reads a list of numbers other than zero within bounds.
fn numbers<T>(text: &str, low: i32, high: i32) -> Option<Vec<T>>
where
    T: TryFrom<i32>,
{
    let number = |part: &str| {
        let number: i32 = part.trim().parse().ok()?;
        ((low..=high).contains(&number) && number != 0).then(|| T::try_from(number).ok())?
    };
    text.split(',').map(number).collect()
}

/// Reads a weekday with an optional number before it: `MO`, `2TU`, `-1FR`.
fn weekday(text: &str) -> Option<(i8, Weekday)> {
    let text = text.trim();
    let (number, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let nth: i8 = if number.is_empty() { 0 } else { number.parse().ok()? };
    let weekday = match name.to_ascii_uppercase().as_str() {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        "SU" => Weekday::Sunday,
        _ => return None,
    };
    (nth.unsigned_abs() <= 53).then_some((nth, weekday))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(rule: &str, start: &str, until: &str) -> String {
        let rule = Rule::parse(rule).unwrap();
        let moments = rule.expand(start.parse().unwrap(), until.parse().unwrap()).unwrap();
        moments.iter().map(|at| at.strftime("%m-%d").to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rules_of_common_programs_are_expanded() {
        let year = "2028-01-01T00:00";
        for (rule, start, expected) in [
            ("FREQ=DAILY;COUNT=3", "2027-03-30T18:00", "03-30 03-31 04-01"),
            ("FREQ=DAILY;INTERVAL=2;COUNT=3", "2027-03-30T18:00", "03-30 04-01 04-03"),
            ("FREQ=WEEKLY;COUNT=3", "2027-03-30T18:00", "03-30 04-06 04-13"),
            ("FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4", "2027-03-30T18:00", "03-30 04-01 04-06 04-08"),
            // RFC 5545: the week begins on Sunday or on Monday.
            (
                "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
                "1997-08-05T09:00",
                "08-05 08-10 08-19 08-24",
            ),
            (
                "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
                "1997-08-05T09:00",
                "08-05 08-17 08-19 08-31",
            ),
            ("FREQ=MONTHLY;COUNT=3", "2027-01-31T18:00", "01-31 03-31 05-31"),
            ("FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "2027-01-31T18:00", "01-31 02-28 03-31"),
            ("FREQ=MONTHLY;BYDAY=2TU;COUNT=3", "2027-01-12T18:00", "01-12 02-09 03-09"),
            ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=3", "2027-01-29T18:00", "01-29 02-26 03-26"),
            ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2027-08-13T18:00", "08-13"),
            (
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3",
                "2027-01-29T18:00",
                "01-29 02-26 03-31",
            ),
            ("FREQ=YEARLY;COUNT=3", "2024-02-29T18:00", "02-29 02-29 02-29"),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;COUNT=2", "2026-03-29T02:00", "03-29 03-28"),
            ("FREQ=YEARLY;BYDAY=20MO;COUNT=2", "1997-05-19T09:00", "05-19 05-18"),
        ] {
            let until = if rule.contains("COUNT") { "2099-01-01T00:00" } else { year };
            assert_eq!(dates(rule, start, until), expected, "{rule}");
        }
        // The start counts, though the rule does not hold it.
        assert_eq!(dates("FREQ=WEEKLY;BYDAY=WE;COUNT=2", "2027-03-30T18:00", year), "03-30 03-31");
    }

    #[test]
    fn rules_that_are_not_known_are_told_and_none_runs_for_ever() {
        for rule in [
            "",
            "FREQ=HOURLY",
            "FREQ=SECONDLY",
            "FREQ=DAILY;BYHOUR=9,12",
            "FREQ=YEARLY;BYWEEKNO=20",
            "FREQ",
            "FREQ=DAILY;INTERVAL=0",
            "FREQ=MONTHLY;BYMONTHDAY=0",
            "FREQ=WEEKLY;BYDAY=XX",
        ] {
            assert_eq!(Rule::parse(rule), None, "{rule}");
        }
        let never = Rule::parse("FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30").unwrap();
        let (start, end) =
            ("0001-01-31T00:00".parse().unwrap(), "9998-01-01T00:00".parse().unwrap());
        assert_eq!(never.expand(start, end), Err(TooLong));
        let timed = Rule::parse("FREQ=DAILY;BYHOUR=9;BYMINUTE=0").unwrap();
        assert!(timed.fits_time("2027-01-01T09:00".parse().unwrap()));
        assert!(!timed.fits_time("2027-01-01T09:30".parse().unwrap()));
    }
}
