//! Describes rules in words: `Every Tuesday until 30 June 2027`.

use jiff::civil::{Date, DateTime, Weekday};

use super::rule::{Frequency, Rule};
use crate::model::language::{Count, Language, Nth};

/// A rule and the context needed to describe it.
struct Spoken<'r> {
    rule: &'r Rule,
    start: DateTime,
    language: Language,
}

impl Rule {
    /// Describes how often an event with this start takes place, and until when. If there is no
    /// short description, the result starts with `Repeatedly`.
    pub fn spoken(&self, start: DateTime, last: Option<Date>, language: Language) -> String {
        let words = language.words();
        let often = Spoken { rule: self, start, language }.often();
        let often = often.unwrap_or_else(|| words.repeatedly.to_owned());
        match (last, self.count) {
            (Some(last), _) => (words.often_until)(&often, &language.short_day(last)),
            (None, Some(1)) => words.once.to_owned(),
            (None, Some(count)) => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                (words.times_in_total)(&often, language.count(count))
            }
            (None, None) => often,
        }
    }
}

impl Spoken<'_> {
    /// Describes how often the event takes place. Returns `None` if the rule has unusual parts.
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
        let words = self.language.words();
        let is_numbered = rule.by_day.iter().any(|(nth, _)| *nth != 0);
        let by_month = !rule.by_month.is_empty();
        let by_month_day = !rule.by_month_day.is_empty();
        match rule.frequency {
            Frequency::Minutely => None,
            Frequency::Hourly if rule.by_day.is_empty() && !by_month && !by_month_day => {
                Some(self.every(words.every_hour))
            }
            Frequency::Hourly => None,
            _ if is_numbered && rule.frequency != Frequency::Monthly => None,
            Frequency::Daily | Frequency::Weekly if by_month || by_month_day => None,
            Frequency::Daily if rule.by_day.is_empty() => Some(self.every(words.every_day)),
            Frequency::Daily if rule.interval > 1 => None,
            Frequency::Daily => Some((words.every_weekday)(&self.weekdays())),
            Frequency::Weekly if rule.interval == 1 => {
                Some((words.every_weekday)(&self.weekdays()))
            }
            Frequency::Weekly => {
                Some((words.often_on)(&self.every(words.every_week), &self.weekdays()))
            }
            Frequency::Monthly if by_month => None,
            Frequency::Monthly => self.monthly(is_numbered),
            Frequency::Yearly if by_month_day || !rule.by_day.is_empty() || by_month => None,
            Frequency::Yearly => Some(self.every(words.every_year)),
        }
    }

    fn monthly(&self, is_numbered: bool) -> Option<String> {
        let words = self.language.words();
        let day_of_month = |day: i8| (words.day_of_month)(self.language.count(day.into()));
        let day = match (&*self.rule.by_day, &*self.rule.by_month_day) {
            ([], []) => day_of_month(self.start.day()),
            ([], [-1]) => words.last_day.to_owned(),
            ([], [day]) if *day > 0 => day_of_month(*day),
            ([(nth, weekday)], []) if is_numbered => {
                let name = self.language.weekday(*weekday);
                (words.weekday_of_month)(Nth::new(*nth)?, *weekday, name)
            }
            _ => return None,
        };
        Some((words.often_on)(&self.every(words.every_month), &day))
    }

    /// Returns a description such as `Every day` or `Every 3 days`.
    fn every(&self, unit: fn(Count) -> String) -> String {
        unit(self.language.count(self.rule.interval))
    }

    /// Returns the rule's weekdays, or the start's weekday if there aren't any.
    fn weekdays(&self) -> String {
        let mut days: Vec<Weekday> = self.rule.by_day.iter().map(|(_, day)| *day).collect();
        if days.is_empty() {
            days.push(self.start.weekday());
        }
        days.sort_by_key(|day| day.to_monday_zero_offset());
        let names: Vec<&str> = days.into_iter().map(|day| self.language.weekday(day)).collect();
        self.language.list(&names)
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
            ("FREQ=YEARLY", None, "Every year"),
            ("FREQ=WEEKLY;COUNT=1", None, "Once"),
            ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", Some(last), "Repeatedly until 30 June 2027"),
            ("FREQ=YEARLY;BYWEEKNO=20", None, "Repeatedly"),
            ("FREQ=MINUTELY;INTERVAL=90", None, "Repeatedly"),
        ] {
            let start = "2027-03-09T18:00".parse().unwrap();
            assert_eq!(
                Rule::parse(rule).unwrap().spoken(start, last, Language::En),
                expected,
                "{rule}"
            );
        }
    }
    #[test]
    fn each_language_has_its_own_word_order_plurals_and_genders() {
        let last = Date::new(2027, 6, 30).unwrap();
        for (language, rule, last, expected) in [
            (Language::De, "FREQ=WEEKLY", Some(last), "Jeden Dienstag bis 30. Juni 2027"),
            (Language::De, "FREQ=MONTHLY;BYDAY=2TU", None, "Jeden Monat am zweiten Dienstag"),
            (Language::Fr, "FREQ=WEEKLY", Some(last), "Chaque mardi jusqu’au 30 juin 2027"),
            (Language::It, "FREQ=MONTHLY;BYDAY=-1SU", None, "Ogni mese: ultima domenica"),
            (Language::Pt, "FREQ=MONTHLY;BYDAY=1SA", None, "Todos os meses: primeiro sábado"),
            (Language::Pl, "FREQ=WEEKLY;INTERVAL=5", None, "Co 5 tygodni: wtorek"),
            (Language::Cs, "FREQ=MONTHLY;BYDAY=2TU", None, "Každý měsíc: druhé úterý"),
            (Language::Uk, "FREQ=DAILY;INTERVAL=2;COUNT=21", None, "Кожні 2 дні, усього 21 раз"),
            (Language::Ja, "FREQ=WEEKLY", Some(last), "毎週火曜日（2027年6月30日まで）"),
            (Language::Zh, "FREQ=MONTHLY;BYDAY=-1FR", None, "每月，最后一个星期五"),
            (Language::Ar, "FREQ=WEEKLY;INTERVAL=2", None, "كل أسبوعين: الثلاثاء"),
        ] {
            let start = "2027-03-09T18:00".parse().unwrap();
            assert_eq!(
                Rule::parse(rule).unwrap().spoken(start, last, language),
                expected,
                "{rule}"
            );
        }
    }
}
