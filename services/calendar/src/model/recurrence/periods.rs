//! The periods of a recurrence rule and the matching times in each of them.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Span, ToSpan as _};

use super::rule::{Frequency, Rule};

impl Rule {
    /// Returns the number of days, or steps within days, that have to be examined for a period.
    pub(super) fn effort(&self, period: Date) -> usize {
        match self.is_within_days() && self.fits_block(period) {
            true => usize::try_from(self.steps_of_block()).unwrap_or(usize::MAX),
            false => self.days(),
        }
    }

    /// Returns the number of days that have to be examined for a period.
    pub(super) fn days(&self) -> usize {
        let is_by_day = !self.by_day.is_empty() || !self.by_month_day.is_empty();
        match self.frequency {
            Frequency::Minutely | Frequency::Hourly => {
                usize::try_from(self.days_of_block()).unwrap_or(usize::MAX)
            }
            Frequency::Daily => 1,
            Frequency::Weekly => 7,
            Frequency::Monthly => 31,
            Frequency::Yearly if !self.by_week.is_empty() || !self.by_year_day.is_empty() => 366,
            Frequency::Yearly if !is_by_day => 31,
            Frequency::Yearly if self.by_month.is_empty() => 366,
            Frequency::Yearly => 31 * self.by_month.len(),
        }
    }

    /// Returns the minutes between steps, for rules that repeat within days.
    fn step(&self) -> i64 {
        match self.frequency {
            Frequency::Hourly => 60 * self.interval,
            _ => self.interval,
        }
    }

    /// Returns the length of a block, in days. After a block, the steps fall on the same times of
    /// day again.
    fn days_of_block(&self) -> i64 {
        self.step() / common_divisor(self.step(), MINUTES_OF_DAY)
    }

    /// Returns the number of steps in a block.
    fn steps_of_block(&self) -> i64 {
        MINUTES_OF_DAY / common_divisor(self.step(), MINUTES_OF_DAY)
    }

    pub(super) fn is_within_days(&self) -> bool {
        matches!(self.frequency, Frequency::Hourly | Frequency::Minutely)
    }

    /// Returns the first day of the period that contains the start.
    pub(super) fn first_period(&self, start: Date) -> Date {
        match self.frequency {
            Frequency::Minutely | Frequency::Hourly | Frequency::Daily => start,
            Frequency::Weekly => self.week_of(start),
            Frequency::Monthly => start.first_of_month(),
            Frequency::Yearly => start.first_of_year(),
        }
    }

    /// Returns the first day of the week that contains a day.
    fn week_of(&self, day: Date) -> Date {
        let back = i64::from(self.week_start.until(day.weekday()));
        day.checked_sub(back.days()).unwrap_or(day)
    }

    /// Returns the first day of a period, or `None` if it is past the end of the calendar.
    pub(super) fn period(&self, first: Date, number: i64) -> Option<Date> {
        let interval = if self.is_within_days() { self.days_of_block() } else { self.interval };
        let steps = number.checked_mul(interval)?;
        let span = match self.frequency {
            Frequency::Minutely | Frequency::Hourly | Frequency::Daily => {
                Span::new().try_days(steps)
            }
            Frequency::Weekly => Span::new().try_weeks(steps),
            Frequency::Monthly => Span::new().try_months(steps),
            Frequency::Yearly => Span::new().try_years(steps),
        };
        first.checked_add(span.ok()?).ok()
    }

    /// Returns the number of the last period that starts on or before a day, or the number of a
    /// slightly earlier period. Returns 0 if there isn't one.
    pub(super) fn number_of(&self, first: Date, day: Date) -> i64 {
        let days = || first.duration_until(day).as_hours() / 24;
        let years = i64::from(day.year()) - i64::from(first.year());
        let units = match self.frequency {
            // A block extends into the day after its last one, until the time at which it started.
            Frequency::Minutely | Frequency::Hourly => {
                return (days() / self.days_of_block() - 1).max(0);
            }
            Frequency::Daily => days(),
            Frequency::Weekly => days() / 7,
            Frequency::Monthly => 12 * years + i64::from(day.month() - first.month()),
            Frequency::Yearly => years,
        };
        units.max(0) / self.interval
    }

    /// Returns whether all periods have the same number of occurrences.
    pub(super) fn is_regular(&self) -> bool {
        let by_month = !self.by_month.is_empty() || !self.by_year_day.is_empty();
        let by_day = !self.by_day.is_empty() || !self.by_month_day.is_empty();
        match self.frequency {
            Frequency::Minutely | Frequency::Hourly | Frequency::Daily => {
                !by_month && !by_day && self.by_position.is_empty()
            }
            Frequency::Weekly => !by_month,
            Frequency::Monthly | Frequency::Yearly => false,
        }
    }

    /// Returns the occurrences in a period in ascending order, without applying BYSETPOS.
    pub(super) fn moments_in(&self, period: Date, start: DateTime) -> Vec<DateTime> {
        let mut moments: Vec<DateTime> = match self.is_within_days() {
            true => self.moments_of_block(period, start),
            false => {
                let days = self.days_of(period, start.date());
                // Shortcut: most periods of a rare rule don't have any matches.
                if days.is_empty() {
                    return Vec::new();
                }
                let times = self.times(start.time());
                let at_times = |day: Date| times.iter().map(move |time| day.to_datetime(*time));
                days.into_iter().flat_map(at_times).collect()
            }
        };
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Selects occurrences in a period according to BYSETPOS.
    pub(super) fn at_positions(&self, moments: Vec<DateTime>) -> Vec<DateTime> {
        if self.by_position.is_empty() {
            return moments;
        }
        let len = i32::try_from(moments.len()).unwrap_or(i32::MAX);
        let place = |position: &i32| if *position > 0 { position - 1 } else { len + position };
        let mut places: Vec<usize> =
            self.by_position.iter().filter_map(|one| usize::try_from(place(one)).ok()).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| moments.get(place).copied()).collect()
    }

    /// Returns the times on a matching day.
    fn times(&self, start: Time) -> Vec<Time> {
        let (hours, minutes) = ([start.hour()], [start.minute()]);
        self.times_of(named_or(&self.by_hour, &hours), named_or(&self.by_minute, &minutes), start)
    }

    /// Returns the times for these hours and minutes.
    fn times_of(&self, hours: &[i8], minutes: &[i8], start: Time) -> Vec<Time> {
        let own = [start.second()];
        let seconds = named_or(&self.by_second, &own);
        let mut times = Vec::with_capacity(hours.len() * minutes.len() * seconds.len());
        for (hour, minute) in
            hours.iter().flat_map(|hour| minutes.iter().map(move |minute| (*hour, *minute)))
        {
            let at = |second: &i8| Time::new(hour, minute, *second, 0).ok();
            times.extend(seconds.iter().filter_map(at));
        }
        times
    }

    /// Returns the matching times in the block that starts on a day.
    fn moments_of_block(&self, first: Date, start: DateTime) -> Vec<DateTime> {
        let mut moments = Vec::new();
        if !self.fits_block(first) {
            return moments;
        }
        for number in 0..self.steps_of_block() {
            let span = Span::new().try_minutes(number * self.step());
            let step = span.and_then(|span| first.to_datetime(start.time()).checked_add(span));
            let Ok(step) = step else { break };
            let (hour, minute) = ([step.hour()], [step.minute()]);
            let minutes = match self.frequency {
                Frequency::Hourly => named_or(&self.by_minute, &minute),
                _ if self.by_minute.is_empty() || self.by_minute.contains(&step.minute()) => {
                    &minute
                }
                _ => continue,
            };
            let is_hour = self.by_hour.is_empty() || self.by_hour.contains(&step.hour());
            if is_hour && self.fits_limits(step.date()) {
                let times = self.times_of(&hour, minutes, step.time());
                moments.extend(times.into_iter().map(|time| step.date().to_datetime(time)));
            }
        }
        moments
    }

    /// Returns whether any day in a block matches the rule. Blocks extend into the day after their
    /// last one, until the time of the start.
    fn fits_block(&self, first: Date) -> bool {
        let mut days =
            (0..=self.days_of_block()).filter_map(|day| first.checked_add(day.days()).ok());
        days.any(|day| self.fits_limits(day))
    }

    fn fits_limits(&self, day: Date) -> bool {
        let is_month = self.by_month.is_empty() || self.by_month.contains(&day.month());
        is_month && self.fits_month_day(day) && self.fits_year_day(day) && self.fits_weekday(day)
    }

    /// Returns the matching days in a period.
    fn days_of(&self, period: Date, start: Date) -> Vec<Date> {
        match self.frequency {
            Frequency::Minutely | Frequency::Hourly => Vec::new(),
            Frequency::Daily => Vec::from_iter(self.fits_limits(period).then_some(period)),
            Frequency::Weekly => self.days_of_week(period, start),
            Frequency::Monthly => self.days_of_month(period, start),
            Frequency::Yearly => return self.days_of_year(period, start),
        }
        .into_iter()
        .filter(|day| self.by_month.is_empty() || self.by_month.contains(&day.month()))
        .collect()
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
        let all_days = || {
            (0..i64::from(year.days_in_year())).filter_map(|day| year.checked_add(day.days()).ok())
        };
        if !self.by_week.is_empty() || !self.by_year_day.is_empty() {
            // If only week numbers are given, the start's weekday is used.
            let weekday = (self.by_day.is_empty() && self.by_year_day.is_empty() && !days_matter)
                .then_some(start.weekday());
            let fits = |day: &Date| self.fits_limits(*day) && self.fits_week(*day);
            let is_weekday =
                |day: &Date| weekday.is_none_or(|weekday: Weekday| day.weekday() == weekday);
            return all_days().filter(|day| fits(day) && is_weekday(day)).collect();
        }
        if !self.by_day.is_empty() && !named && !days_matter {
            let number = |day: Date| usize::try_from(day.day_of_year()).unwrap_or(1) - 1;
            let all = usize::try_from(year.days_in_year()).unwrap_or(365);
            return all_days().filter(|day| self.is_nth(*day, number(*day), all)).collect();
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

    fn fits_year_day(&self, day: Date) -> bool {
        let number = day.day_of_year();
        let back = number - day.days_in_year() - 1;
        self.by_year_day.is_empty()
            || self.by_year_day.iter().any(|wanted| *wanted == number || *wanted == back)
    }

    /// Returns whether a day is in one of the rule's weeks. Weeks are numbered from either end of
    /// the year that contains most of their days.
    fn fits_week(&self, day: Date) -> bool {
        if self.by_week.is_empty() {
            return true;
        }
        let Some((number, weeks)) = self.week_number(day) else { return false };
        let back = number - weeks - 1;
        self.by_week.iter().any(|wanted| *wanted == number || *wanted == back)
    }

    /// Returns a day's week number and the number of weeks in that year. Returns `None` if the
    /// result is out of range.
    fn week_number(&self, day: Date) -> Option<(i8, i8)> {
        // A week belongs to the year that contains its fourth day.
        let fourth = self.week_of(day).checked_add(3.days()).ok()?;
        let last = fourth.last_of_year();
        let last_fourth = self.week_of(last).checked_add(3.days()).ok()?;
        let last_fourth = match last_fourth.year() == fourth.year() {
            true => last_fourth,
            false => last_fourth.checked_sub(7.days()).ok()?,
        };
        let number = |day: Date| i8::try_from((day.day_of_year() - 1) / 7 + 1).ok();
        Some((number(fourth)?, number(last_fourth)?))
    }

    /// Returns whether a day matches BYDAY, given its index in a period of `days` days. Numbered
    /// weekdays match only once per period.
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

/// Returns the rule's hours, minutes or seconds. If the rule doesn't have any, returns the start's.
fn named_or<'a>(named: &'a [i8], own: &'a [i8; 1]) -> &'a [i8] {
    if named.is_empty() { own } else { named }
}

/// Minutes in a day.
const MINUTES_OF_DAY: i64 = 1440;

fn common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
