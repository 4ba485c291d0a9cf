//! Describes rules in words: `Every Tuesday until 30 June 2027`.

use jiff::civil::{Date, DateTime, Weekday};

use super::rule::{Frequency, Rule};
use crate::model::language::{Count, Language, Nth};

/// Maximum number of days of a month to list.
const MOST_DAYS: usize = 4;

/// A rule and the context needed to describe it.
struct Spoken<'r> {
    rule: &'r Rule,
    start: DateTime,
    language: Language,
}

impl Rule {
    /// Describes how often an event with this start takes place, and until when. If there is no
    /// short description, returns text that starts with `Repeatedly`, or just the number of
    /// occurrences.
    pub fn spoken(&self, start: DateTime, last: Option<Date>, language: Language) -> String {
        let words = language.words();
        let often = Spoken { rule: self, start, language }.often();
        let count = self.count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        match (often, last, count.map(|count| language.count(count))) {
            (often, Some(last), _) => {
                let often = often.as_deref().unwrap_or(words.repeatedly);
                (words.often_until)(often, &language.short_day(last))
            }
            (_, None, Some(count)) if count.is_one() => words.once.to_owned(),
            (Some(often), None, Some(count)) => (words.times_in_total)(&often, count),
            (None, None, Some(count)) => (words.times)(count),
            (often, None, None) => often.unwrap_or_else(|| words.repeatedly.to_owned()),
        }
    }
}

impl Spoken<'_> {
    /// Describes how often the event takes place. `None` if the rule has unusual parts.
    fn often(&self) -> Option<String> {
        let rule = self.rule;
        let times = [&rule.by_hour, &rule.by_minute, &rule.by_second];
        let is_unusual = !rule.by_year_day.is_empty()
            || !rule.by_week.is_empty()
            || (!rule.by_position.is_empty() && self.days_of_month().is_none())
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
            Frequency::Daily | Frequency::Weekly if by_month_day || is_numbered => None,
            Frequency::Daily | Frequency::Weekly => {
                let often = self.daily_or_weekly()?;
                let months = rule.by_month.iter().map(|month| self.language.month_alone(*month));
                let months = self.language.list(&months.collect::<Vec<_>>());
                Some(if by_month { (words.in_months)(&often, &months) } else { often })
            }
            Frequency::Monthly if by_month && rule.interval > 1 => None,
            Frequency::Monthly | Frequency::Yearly if by_month => self.yearly(),
            Frequency::Monthly => self.monthly(),
            Frequency::Yearly if by_month_day || !rule.by_day.is_empty() => None,
            Frequency::Yearly => Some(self.every(words.every_year)),
        }
    }

    /// Describes a rule by days or weeks, without its months.
    fn daily_or_weekly(&self) -> Option<String> {
        let (words, rule) = (self.language.words(), self.rule);
        match rule.frequency {
            Frequency::Daily if rule.by_day.is_empty() => Some(self.every(words.every_day)),
            Frequency::Daily if rule.interval > 1 => None,
            Frequency::Weekly if rule.interval > 1 => {
                Some((words.often_on)(&self.every(words.every_week), &self.weekdays()))
            }
            _ => Some((words.every_weekday)(&self.weekdays())),
        }
    }

    /// Describes the days of a month that match the rule, such as `the second Tuesday`, which a
    /// rule specifies as `2TU`, or as `TU` with BYSETPOS. `None` for other rules.
    fn days_of_month(&self) -> Option<Vec<String>> {
        let (words, rule) = (self.language.words(), self.rule);
        let is_of_month = match rule.frequency {
            Frequency::Monthly => true,
            // BYSETPOS selects from the whole year.
            Frequency::Yearly => rule.by_position.is_empty() || rule.by_month.len() == 1,
            _ => false,
        };
        if !is_of_month || !rule.by_month_day.is_empty() {
            return None;
        }
        let is_workday = |(nth, day): &(i8, Weekday)| {
            *nth == 0 && !matches!(day, Weekday::Saturday | Weekday::Sunday)
        };
        let mut days: Vec<(i8, Weekday)> = match (&*rule.by_day, &*rule.by_position) {
            (days, [1]) if days.len() == 5 && days.iter().all(is_workday) => {
                return Some(vec![words.first_workday.to_owned()]);
            }
            (days, [-1]) if days.len() == 5 && days.iter().all(is_workday) => {
                return Some(vec![words.last_workday.to_owned()]);
            }
            (days, []) => days.to_vec(),
            ([(0, weekday)], positions) => {
                let nth = positions.iter().map(|nth| Some((i8::try_from(*nth).ok()?, *weekday)));
                nth.collect::<Option<_>>()?
            }
            _ => return None,
        };
        if days.is_empty() || days.len() > MOST_DAYS {
            return None;
        }
        // List days counted from the end of the month last.
        days.sort_by_key(|(nth, _)| nth.is_negative());
        let day = |(nth, weekday): &(i8, Weekday)| {
            let name = self.language.weekday(*weekday);
            Some((words.weekday_of_month)(Nth::new(*nth)?, *weekday, name))
        };
        days.iter().map(day).collect()
    }

    /// Describes a rule with a day in certain months of the year.
    fn yearly(&self) -> Option<String> {
        let (words, rule) = (self.language.words(), self.rule);
        let date = |month: i8, day: i8| {
            // A leap year includes all possible days.
            let day = Date::new(2028, month, day).ok()?;
            Some(self.language.day_and_month(day))
        };
        let of_month = |month: &i8| -> Option<Vec<String>> {
            let day = match (&*rule.by_day, &*rule.by_month_day) {
                ([], []) => self.start.day(),
                ([], [day]) => *day,
                _ => {
                    let name = self.language.month_name(*month);
                    let days = self.days_of_month()?;
                    let days = days.iter().map(|day| (words.in_month)(day, *month, name));
                    return Some(days.collect());
                }
            };
            Some(vec![date(*month, day)?])
        };
        let days: Vec<Vec<String>> = rule.by_month.iter().map(of_month).collect::<Option<_>>()?;
        let days: Vec<&str> = days.iter().flatten().map(String::as_str).collect();
        let days = self.language.list(&days);
        Some((words.often_on)(&self.every(words.every_year), &days))
    }

    fn monthly(&self) -> Option<String> {
        let words = self.language.words();
        let day_of_month = |day: i8| (words.day_of_month)(self.language.count(day.into()));
        let day = match (&*self.rule.by_day, &*self.rule.by_month_day) {
            ([], []) => day_of_month(self.start.day()),
            ([], [-1]) => words.last_day.to_owned(),
            ([], [day]) if *day > 0 => day_of_month(*day),
            _ => {
                let days = self.days_of_month()?;
                self.language.list(&days.iter().map(String::as_str).collect::<Vec<_>>())
            }
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

    const SECOND_TUESDAY: &str = "FREQ=YEARLY;BYMONTH=3;BYDAY=2TU";
    const LAST_FRIDAY: &str = "FREQ=YEARLY;BYMONTH=10;BYDAY=-1FR";
    const FIRST_OF_MAY: &str = "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=1";
    const FORTNIGHTLY: &str = "FREQ=WEEKLY;INTERVAL=2";
    const UNSPOKEN: &str = "FREQ=MONTHLY;BYDAY=TU;COUNT=5";
    const LAST_WORKDAY: &str = "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1";
    const IN_MONTHS: &str = "FREQ=WEEKLY;BYMONTH=3,4";

    #[test]
    fn common_rules_are_described() {
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
            ("FREQ=MONTHLY;BYSETPOS=2;BYDAY=TU", None, "Every month on the second Tuesday"),
            (
                "FREQ=MONTHLY;BYDAY=1SU,3SU",
                None,
                "Every month on the first Sunday and the third Sunday",
            ),
            (
                "FREQ=MONTHLY;BYDAY=-1SU,1MO;COUNT=3",
                None,
                "Every month on the first Monday and the last Sunday, 3 times",
            ),
            (
                "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2,4",
                None,
                "Every month on the second Tuesday and the fourth Tuesday",
            ),
            (
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
                None,
                "Every month on the last weekday",
            ),
            (
                "FREQ=YEARLY;BYMONTH=3;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1",
                None,
                "Every year on the first weekday of March",
            ),
            ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,SA;BYSETPOS=-1", None, "Repeatedly"),
            ("FREQ=MONTHLY;BYDAY=1MO,2MO,3MO,4MO,-1SU", None, "Repeatedly"),
            ("FREQ=MONTHLY;BYDAY=TU;COUNT=5", None, "5 times"),
            ("FREQ=WEEKLY;BYMONTH=3,4;BYDAY=TU", None, "Every Tuesday in March and April"),
            (
                "FREQ=WEEKLY;INTERVAL=2;BYMONTH=3",
                Some(last),
                "Every 2 weeks on Tuesday in March until 30 June 2027",
            ),
            ("FREQ=DAILY;BYMONTH=7,8;COUNT=62", None, "Every day in July and August, 62 times"),
            ("FREQ=MONTHLY;BYDAY=TU", None, "Repeatedly"),
            ("FREQ=MONTHLY;BYSETPOS=2;BYDAY=TU;BYMONTHDAY=9,16", None, "Repeatedly"),
            ("FREQ=MONTHLY;BYSETPOS=9;BYDAY=TU", None, "Repeatedly"),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=2TU", None, "Every year on the second Tuesday of March"),
            (
                "FREQ=YEARLY;BYMONTH=3;BYDAY=TU;BYSETPOS=-1;COUNT=3",
                None,
                "Every year on the last Tuesday of March, 3 times",
            ),
            ("FREQ=YEARLY;BYMONTH=3", None, "Every year on 9 March"),
            (
                "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
                None,
                "Every 4 years on 29 February",
            ),
            (
                "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU",
                None,
                "Every year on the last Sunday of March and the last Sunday of October",
            ),
            ("FREQ=MONTHLY;BYMONTH=3;BYDAY=2TU", None, "Every year on the second Tuesday of March"),
            ("FREQ=MONTHLY;INTERVAL=5;BYMONTH=3;BYDAY=2TU", None, "Repeatedly"),
            ("FREQ=YEARLY;BYMONTH=3,10;BYDAY=SU;BYSETPOS=-1", None, "Repeatedly"),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=TU", None, "Repeatedly"),
            ("FREQ=YEARLY;BYDAY=2TU", None, "Repeatedly"),
            ("FREQ=YEARLY;BYMONTHDAY=9", None, "Repeatedly"),
            ("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=-1", None, "Repeatedly"),
            ("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1", None, "Repeatedly"),
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
            (Language::Zh, "FREQ=MONTHLY;BYDAY=-1FR", None, "每月最后一个星期五"),
            (Language::Ar, "FREQ=WEEKLY;INTERVAL=2", None, "كل أسبوعين: الثلاثاء"),
            (Language::De, SECOND_TUESDAY, None, "Jedes Jahr am zweiten Dienstag im März"),
            (Language::Fr, SECOND_TUESDAY, None, "Tous les ans, le deuxième mardi de mars"),
            (Language::Fr, LAST_FRIDAY, None, "Tous les ans, le dernier vendredi d’octobre"),
            (Language::Es, SECOND_TUESDAY, None, "Cada año, el segundo martes de marzo"),
            (Language::It, SECOND_TUESDAY, None, "Ogni anno: secondo martedì di marzo"),
            (Language::Nl, SECOND_TUESDAY, None, "Elk jaar op de tweede dinsdag van maart"),
            (Language::Pt, SECOND_TUESDAY, None, "Todos os anos: segunda terça-feira de março"),
            (Language::Pl, SECOND_TUESDAY, None, "Co rok: drugi wtorek marca"),
            (Language::Sv, SECOND_TUESDAY, None, "Varje år: andra tisdagen i mars"),
            (Language::Cs, SECOND_TUESDAY, None, "Každý rok: druhé úterý v březnu"),
            (Language::Uk, SECOND_TUESDAY, None, "Щороку: другий вівторок березня"),
            (Language::Ja, SECOND_TUESDAY, None, "毎年3月の第2火曜日"),
            (Language::Zh, SECOND_TUESDAY, None, "每年三月的第二个星期二"),
            (Language::Ar, SECOND_TUESDAY, None, "كل سنة: يوم الثلاثاء الثاني من مارس"),
            (Language::De, FORTNIGHTLY, None, "Jede zweite Woche am Dienstag"),
            (Language::It, FORTNIGHTLY, None, "Ogni due settimane: martedì"),
            (Language::Pl, FORTNIGHTLY, None, "Co drugi tydzień: wtorek"),
            (Language::Fr, UNSPOKEN, None, "5 fois"),
            (Language::Es, UNSPOKEN, None, "5 veces"),
            (Language::Ar, LAST_WORKDAY, None, "كل شهر: آخر يوم عمل"),
            (Language::Cs, LAST_WORKDAY, None, "Každý měsíc: poslední pracovní den"),
            (Language::De, LAST_WORKDAY, None, "Jeden Monat am letzten Arbeitstag"),
            (Language::Es, LAST_WORKDAY, None, "Cada mes, el último día laborable"),
            (Language::Fr, LAST_WORKDAY, None, "Tous les mois, le dernier jour ouvré"),
            (Language::It, LAST_WORKDAY, None, "Ogni mese: ultimo giorno lavorativo"),
            (Language::Ja, LAST_WORKDAY, None, "毎月最後の平日"),
            (Language::Nl, LAST_WORKDAY, None, "Elke maand op de laatste werkdag"),
            (Language::Pl, LAST_WORKDAY, None, "Co miesiąc: ostatni dzień roboczy"),
            (Language::Pt, LAST_WORKDAY, None, "Todos os meses: último dia útil"),
            (Language::Sv, LAST_WORKDAY, None, "Varje månad: sista vardagen"),
            (Language::Uk, LAST_WORKDAY, None, "Щомісяця: останній робочий день"),
            (Language::Zh, LAST_WORKDAY, None, "每月最后一个工作日"),
            (Language::Ar, IN_MONTHS, None, "كل أسبوع: الثلاثاء في مارس وأبريل"),
            (Language::Cs, IN_MONTHS, None, "Každý týden: úterý (březen a\u{a0}duben)"),
            (Language::De, IN_MONTHS, None, "Jeden Dienstag im März und April"),
            (Language::Es, IN_MONTHS, None, "Cada martes en marzo y abril"),
            (Language::Fr, IN_MONTHS, None, "Chaque mardi en mars et avril"),
            (Language::It, IN_MONTHS, None, "Ogni martedì, in marzo e aprile"),
            (Language::Ja, IN_MONTHS, None, "3月、4月の毎週火曜日"),
            (Language::Nl, IN_MONTHS, None, "Elke dinsdag in maart en april"),
            (Language::Pl, IN_MONTHS, None, "Co tydzień: wtorek (marzec i kwiecień)"),
            (Language::Pt, IN_MONTHS, None, "Todas as semanas: terça-feira, em março e abril"),
            (Language::Sv, IN_MONTHS, None, "Varje tisdag i mars och april"),
            (Language::Uk, IN_MONTHS, None, "Щотижня: вівторок (березень і квітень)"),
            (Language::Zh, IN_MONTHS, None, "三月和四月，每星期二"),
            (Language::De, FIRST_OF_MAY, None, "Jedes Jahr am 1. Mai"),
            (Language::Fr, FIRST_OF_MAY, None, "Tous les ans, le 1er mai"),
            (Language::Es, FIRST_OF_MAY, None, "Cada año, el 1 de mayo"),
            (Language::Cs, FIRST_OF_MAY, None, "Každý rok: 1. května"),
            (Language::Uk, FIRST_OF_MAY, None, "Щороку: 1 травня"),
            (Language::Ja, FIRST_OF_MAY, None, "毎年5月1日"),
            (Language::Zh, FIRST_OF_MAY, None, "每年5月1日"),
            (Language::Ar, FIRST_OF_MAY, None, "كل سنة: 1 مايو"),
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
