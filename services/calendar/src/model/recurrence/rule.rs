//! Parses iCalendar recurrence rules.

use jiff::civil::Weekday;

use super::text::{is_after_all_dates, repeated_part, without_blanks};

/// A recurrence rule. Rules that repeat every second aren't supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) frequency: Frequency,
    pub(super) interval: i64,
    pub(super) count: Option<usize>,
    /// The last possible occurrence (UNTIL), as written. `None` if it is in the year 9999.
    pub until: Option<String>,
    pub(super) by_month: Vec<i8>,
    pub(super) by_month_day: Vec<i8>,
    pub(super) by_year_day: Vec<i16>,
    pub(super) by_week: Vec<i8>,
    pub(super) by_day: Vec<(i8, Weekday)>,
    pub(super) by_position: Vec<i32>,
    pub(super) week_start: Weekday,
    pub(super) by_hour: Vec<i8>,
    pub(super) by_minute: Vec<i8>,
    pub(super) by_second: Vec<i8>,
}

/// Maximum number of times of day that a rule can list.
const MAX_TIMES: usize = 1440;

/// How often a rule repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frequency {
    Minutely,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

impl Rule {
    /// Parses a rule, ignoring whitespace. Returns `None` if it is malformed or unsupported.
    pub fn parse(text: &str) -> Option<Rule> {
        let text = &*without_blanks(text);
        if repeated_part(text).is_some() {
            return None;
        }
        let mut rule = Rule {
            frequency: Frequency::Daily,
            interval: 1,
            count: None,
            until: None,
            by_month: Vec::new(),
            by_month_day: Vec::new(),
            by_year_day: Vec::new(),
            by_week: Vec::new(),
            by_day: Vec::new(),
            by_position: Vec::new(),
            week_start: Weekday::Monday,
            by_hour: Vec::new(),
            by_minute: Vec::new(),
            by_second: Vec::new(),
        };
        let mut frequency = None;
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            match name.to_ascii_uppercase().as_str() {
                "FREQ" => frequency = Some(frequency_of(value)?),
                "INTERVAL" => {
                    rule.interval = value.parse().ok().filter(|n| (1..=1000).contains(n))?
                }
                // Some programs write -1 for unlimited.
                "COUNT" if value == "-1" => {}
                "COUNT" => rule.count = Some(value.parse().ok()?),
                "UNTIL" if is_after_all_dates(value) => {}
                "UNTIL" => rule.until = Some(value.to_owned()),
                "BYMONTH" => rule.by_month = numbers(value, 1, 12)?,
                "BYMONTHDAY" => rule.by_month_day = numbers(value, -31, 31)?,
                "BYYEARDAY" => rule.by_year_day = numbers(value, -366, 366)?,
                "BYWEEKNO" => rule.by_week = numbers(value, -53, 53)?,
                "BYDAY" => rule.by_day = weekdays(value)?,
                "BYSETPOS" => rule.by_position = numbers(value, -366, 366)?,
                "WKST" => rule.week_start = weekday(value)?.1,
                "BYHOUR" => rule.by_hour = clock_parts(value, 23)?,
                "BYMINUTE" => rule.by_minute = clock_parts(value, 59)?,
                "BYSECOND" => rule.by_second = clock_parts(value, 59)?,
                _ => return None,
            }
        }
        rule.frequency = frequency?;
        // If a rule repeats within days, BYSETPOS would have to be applied to each step separately.
        if rule.is_within_days() && !rule.by_position.is_empty() {
            return None;
        }
        let times = [&rule.by_hour, &rule.by_minute, &rule.by_second];
        let times: usize = times.into_iter().map(|all| all.len().max(1)).product();
        (times <= MAX_TIMES).then_some(rule)
    }

    /// Returns the rule with another `COUNT`.
    #[must_use]
    pub fn with_count(self, count: Option<usize>) -> Rule {
        Rule { count, ..self }
    }

    /// Returns the maximum number of occurrences, if any.
    pub fn count(&self) -> Option<usize> {
        self.count
    }

    /// Returns the months listed in the rule.
    pub fn months(&self) -> &[i8] {
        &self.by_month
    }

    /// Returns the days of the month listed in the rule. Negative ones count from the end of the
    /// month.
    pub fn month_days(&self) -> &[i8] {
        &self.by_month_day
    }

    /// Returns the interval between repetitions as an ISO 8601 duration.
    pub fn period_in_iso(&self) -> String {
        let number = self.interval;
        match self.frequency {
            Frequency::Minutely => format!("PT{number}M"),
            Frequency::Hourly => format!("PT{number}H"),
            Frequency::Daily => format!("P{number}D"),
            Frequency::Weekly => format!("P{number}W"),
            Frequency::Monthly => format!("P{number}M"),
            Frequency::Yearly => format!("P{number}Y"),
        }
    }

    /// Returns the rule's weekdays in schema.org form. Numbered weekdays are returned verbatim,
    /// e.g. `2TU`.
    pub fn days_in_schema(&self) -> Vec<String> {
        let day = |(nth, day): &(i8, Weekday)| match (nth, day) {
            (0, Weekday::Monday) => "https://schema.org/Monday".to_owned(),
            (0, Weekday::Tuesday) => "https://schema.org/Tuesday".to_owned(),
            (0, Weekday::Wednesday) => "https://schema.org/Wednesday".to_owned(),
            (0, Weekday::Thursday) => "https://schema.org/Thursday".to_owned(),
            (0, Weekday::Friday) => "https://schema.org/Friday".to_owned(),
            (0, Weekday::Saturday) => "https://schema.org/Saturday".to_owned(),
            (0, Weekday::Sunday) => "https://schema.org/Sunday".to_owned(),
            (nth, Weekday::Monday) => format!("{nth}MO"),
            (nth, Weekday::Tuesday) => format!("{nth}TU"),
            (nth, Weekday::Wednesday) => format!("{nth}WE"),
            (nth, Weekday::Thursday) => format!("{nth}TH"),
            (nth, Weekday::Friday) => format!("{nth}FR"),
            (nth, Weekday::Saturday) => format!("{nth}SA"),
            (nth, Weekday::Sunday) => format!("{nth}SU"),
        };
        self.by_day.iter().map(day).collect()
    }

    /// Returns whether the rule lists days, in which case it might not match a different start day.
    pub fn names_days(&self) -> bool {
        !self.by_month.is_empty()
            || !self.by_month_day.is_empty()
            || !self.by_year_day.is_empty()
            || !self.by_week.is_empty()
            || !self.by_day.is_empty()
    }

    /// Returns whether the rule has the same days in each of its weeks, all year round.
    pub fn repeats_weekly(&self) -> bool {
        let names_months = !self.by_month.is_empty() || !self.by_month_day.is_empty();
        let names_others = !self.by_year_day.is_empty() || !self.by_week.is_empty();
        self.frequency == Frequency::Weekly && !names_months && !names_others
    }

    /// Returns whether the rule repeats every month or year on the same day of the month as the
    /// start.
    pub fn follows_months(&self) -> bool {
        matches!(self.frequency, Frequency::Monthly | Frequency::Yearly) && !self.names_days()
    }

    /// Returns whether the rule lists times of day, in which case it might not match a different
    /// time.
    pub fn names_times(&self) -> bool {
        [&self.by_hour, &self.by_minute, &self.by_second].iter().any(|all| !all.is_empty())
    }

    /// Returns whether the rule repeats every year in at most `most_months` listed months at a
    /// single time of day, as time zone rules do.
    pub fn is_yearly(&self, most_months: usize) -> bool {
        let times = [&self.by_hour, &self.by_minute, &self.by_second];
        self.frequency == Frequency::Yearly
            && (1..=most_months).contains(&self.by_month.len())
            && times.into_iter().all(|all| all.len() <= 1)
    }
}

/// Parses a list of distinct hours, minutes or seconds. Returns `None` if it is malformed.
fn clock_parts(text: &str, most: i8) -> Option<Vec<i8>> {
    let part = |part: &str| part.trim().parse().ok().filter(|part| (0..=most).contains(part));
    let mut all: Vec<i8> = text.split(',').map(part).collect::<Option<_>>()?;
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn frequency_of(text: &str) -> Option<Frequency> {
    Some(match text.to_ascii_uppercase().as_str() {
        "MINUTELY" => Frequency::Minutely,
        "HOURLY" => Frequency::Hourly,
        "DAILY" => Frequency::Daily,
        "WEEKLY" => Frequency::Weekly,
        "MONTHLY" => Frequency::Monthly,
        "YEARLY" => Frequency::Yearly,
        _ => return None,
    })
}

/// Parses a list of distinct non-zero numbers in a range. Returns `None` if it is malformed.
fn numbers<T>(text: &str, low: i32, high: i32) -> Option<Vec<T>>
where
    T: TryFrom<i32> + Ord,
{
    let number = |part: &str| {
        let number: i32 = part.trim().parse().ok()?;
        ((low..=high).contains(&number) && number != 0).then(|| T::try_from(number).ok())?
    };
    let mut all: Vec<T> = text.split(',').map(number).collect::<Option<_>>()?;
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// Parses a list of distinct weekdays. Returns `None` if it is malformed.
fn weekdays(text: &str) -> Option<Vec<(i8, Weekday)>> {
    let mut all: Vec<_> = text.split(',').map(weekday).collect::<Option<_>>()?;
    all.sort_unstable_by_key(|(nth, day)| (*nth, day.to_monday_zero_offset()));
    all.dedup();
    Some(all)
}

/// Parses a weekday with an optional number: `MO`, `2TU`, `-1FR`. Returns `None` for anything else.
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
