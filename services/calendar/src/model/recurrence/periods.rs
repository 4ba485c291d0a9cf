//! The periods of a rule and the days that match in them.

use jiff::civil::Date;
use jiff::{Span, ToSpan as _};

use super::rule::{Frequency, Rule};

impl Rule {
    /// Returns the number of days that are examined in a period.
    pub(super) fn effort(&self) -> usize {
        match self.frequency {
            Frequency::Daily => 1,
            Frequency::Weekly => 7,
            Frequency::Monthly => 31,
            Frequency::Yearly if self.by_day.is_empty() && self.by_month_day.is_empty() => 31,
            Frequency::Yearly if self.by_month.is_empty() => 366,
            Frequency::Yearly => 31 * self.by_month.len(),
        }
    }

    /// Returns the first day of the period that contains the start.
    pub(super) fn first_period(&self, start: Date) -> Date {
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

    /// Returns the first day of a period, or `None` after the end of the calendar.
    pub(super) fn period(&self, first: Date, number: i64) -> Option<Date> {
        let steps = number.checked_mul(self.interval)?;
        let span = match self.frequency {
            Frequency::Daily => Span::new().try_days(steps),
            Frequency::Weekly => Span::new().try_weeks(steps),
            Frequency::Monthly => Span::new().try_months(steps),
            Frequency::Yearly => Span::new().try_years(steps),
        };
        first.checked_add(span.ok()?).ok()
    }

    /// Returns the number of the period that contains a day, or else of the last period before it;
    /// 0 if there is none.
    pub(super) fn number_of(&self, first: Date, day: Date) -> i64 {
        let days = || first.duration_until(day).as_hours() / 24;
        let years = i64::from(day.year()) - i64::from(first.year());
        let units = match self.frequency {
            Frequency::Daily => days(),
            Frequency::Weekly => days() / 7,
            Frequency::Monthly => 12 * years + i64::from(day.month() - first.month()),
            Frequency::Yearly => years,
        };
        units.max(0) / self.interval
    }

    /// Returns whether all periods have equally many days.
    pub(super) fn is_regular(&self) -> bool {
        let by_month = !self.by_month.is_empty();
        let by_day = !self.by_day.is_empty() || !self.by_month_day.is_empty();
        match self.frequency {
            Frequency::Daily => !by_month && !by_day && self.by_position.is_empty(),
            Frequency::Weekly => !by_month,
            Frequency::Monthly | Frequency::Yearly => false,
        }
    }

    /// Returns the matching days of a period in ascending order.
    pub(super) fn days_of(&self, period: Date, start: Date) -> Vec<Date> {
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
        places.dedup();
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

    /// Returns whether a day matches the weekdays of the rule, given its number in a period of
    /// `days` days. A weekday with a number matches once in the period.
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
