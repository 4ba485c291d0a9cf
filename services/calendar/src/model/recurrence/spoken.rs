//! Rules in words: `Every Tuesday until 30 June 2027`.

use jiff::civil::{Date, DateTime, Weekday};

use super::rule::{Frequency, Rule};
use crate::model::spoken::short_day;

/// The parts of a rule that can be put into words.
struct Words<'r> {
    rule: &'r Rule,
    start: DateTime,
}

impl Rule {
    /// Describes how often an event with this start takes place, and until when. A rule that has
    /// no short description is `Repeatedly`.
    pub fn spoken(&self, start: DateTime, last: Option<Date>) -> String {
        let often = Words { rule: self, start }.often().unwrap_or_else(|| "Repeatedly".to_owned());
        match (last, self.count) {
            (Some(last), _) => format!("{often} until {}", short_day(last)),
            (None, Some(1)) => "Once".to_owned(),
            (None, Some(count)) => format!("{often}, {count} times"),
            (None, None) => often,
        }
    }
}

impl Words<'_> {
    /// Describes how often the event takes place. Returns `None` for rules with unusual parts.
    fn often(&self) -> Option<String> {
        let rule = self.rule;
        let times = [&rule.by_hour, &rule.by_minute, &rule.by_second];
        let is_unusual = !rule.by_year_day.is_empty()
            || !rule.by_week.is_empty()
            || !rule.by_position.is_empty()
            || times.iter().any(|all| !all.is_empty());
        if is_unusual {
            return None;
        }
        let is_numbered = rule.by_day.iter().any(|(nth, _)| *nth != 0);
        let by_month = !rule.by_month.is_empty();
        let by_month_day = !rule.by_month_day.is_empty();
        match rule.frequency {
            Frequency::Minutely => None,
            Frequency::Hourly if rule.by_day.is_empty() && !by_month && !by_month_day => {
                Some(self.every("hour"))
            }
            Frequency::Hourly => None,
            _ if is_numbered && rule.frequency != Frequency::Monthly => None,
            Frequency::Daily | Frequency::Weekly if by_month || by_month_day => None,
            Frequency::Daily if rule.by_day.is_empty() => Some(self.every("day")),
            Frequency::Daily if rule.interval > 1 => None,
            Frequency::Daily => Some(format!("Every {}", self.weekdays())),
            Frequency::Weekly if rule.interval == 1 => Some(format!("Every {}", self.weekdays())),
            Frequency::Weekly => Some(format!("{} on {}", self.every("week"), self.weekdays())),
            Frequency::Monthly if by_month => None,
            Frequency::Monthly => self.monthly(is_numbered),
            Frequency::Yearly if by_month_day || !rule.by_day.is_empty() || by_month => None,
            Frequency::Yearly => {
                Some(format!("{} on {}", self.every("year"), self.start.strftime("%-d %B")))
            }
        }
    }

    fn monthly(&self, is_numbered: bool) -> Option<String> {
        let rule = self.rule;
        let day = match (&*rule.by_day, &*rule.by_month_day) {
            ([], []) => format!("day {}", self.start.day()),
            ([], [-1]) => "the last day".to_owned(),
            ([], [day]) if *day > 0 => format!("day {day}"),
            ([(nth, weekday)], []) if is_numbered => {
                format!("the {} {}", ordinal(*nth)?, name(*weekday))
            }
            _ => return None,
        };
        Some(format!("{} on {day}", self.every("month")))
    }

    /// Returns `Every day` or `Every 3 days`.
    fn every(&self, unit: &str) -> String {
        match self.rule.interval {
            1 => format!("Every {unit}"),
            number => format!("Every {number} {unit}s"),
        }
    }

    /// Returns the weekdays of the rule, or that of the start.
    fn weekdays(&self) -> String {
        let mut days: Vec<Weekday> = self.rule.by_day.iter().map(|(_, day)| *day).collect();
        if days.is_empty() {
            days.push(self.start.weekday());
        }
        days.sort_by_key(|day| day.to_monday_zero_offset());
        let names: Vec<&str> = days.into_iter().map(name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

fn ordinal(nth: i8) -> Option<&'static str> {
    Some(match nth {
        1 => "first",
        2 => "second",
        3 => "third",
        4 => "fourth",
        5 => "fifth",
        -1 => "last",
        _ => return None,
    })
}

fn name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_rules_are_put_into_words() {
        let last = Date::new(2027, 6, 30).unwrap();
        for (rule, last, expected) in [
            ("FREQ=WEEKLY", Some(last), "Every Tuesday until 30 June 2027"),
            ("FREQ=WEEKLY;BYDAY=TH,TU", None, "Every Tuesday and Thursday"),
            (
                "FREQ=WEEKLY;BYDAY=FR,MO,WE;COUNT=9",
                None,
                "Every Monday, Wednesday and Friday, 9 times",
            ),
            ("FREQ=WEEKLY;INTERVAL=2", None, "Every 2 weeks on Tuesday"),
            ("FREQ=DAILY", None, "Every day"),
            ("FREQ=DAILY;INTERVAL=3;COUNT=4", None, "Every 3 days, 4 times"),
            ("FREQ=DAILY;BYDAY=SA,SU", None, "Every Saturday and Sunday"),
            ("FREQ=HOURLY", None, "Every hour"),
            ("FREQ=MONTHLY", None, "Every month on day 9"),
            ("FREQ=MONTHLY;BYMONTHDAY=-1", None, "Every month on the last day"),
            ("FREQ=MONTHLY;BYDAY=2TU", None, "Every month on the second Tuesday"),
            ("FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR", None, "Every 2 months on the last Friday"),
            ("FREQ=YEARLY", None, "Every year on 9 March"),
            ("FREQ=WEEKLY;COUNT=1", None, "Once"),
            ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", Some(last), "Repeatedly until 30 June 2027"),
            ("FREQ=YEARLY;BYWEEKNO=20", None, "Repeatedly"),
            ("FREQ=MINUTELY;INTERVAL=90", None, "Repeatedly"),
        ] {
            let start = "2027-03-09T18:00".parse().unwrap();
            assert_eq!(Rule::parse(rule).unwrap().spoken(start, last), expected, "{rule}");
        }
    }
}
