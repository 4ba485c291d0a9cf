//! Describes a series in words: `Every Tuesday until 30 June 2027, also on 1 April 2027`.

use jiff::civil::{Date, DateTime};

use super::language::Language;
use super::recurrence::Wanted;
use super::series::Plan;

/// Maximum number of additional days to list.
const MOST_DAYS: usize = 3;

impl Plan {
    /// Describes how often the event takes place, until when, and on which additional days. Excluded
    /// dates of a rule with `COUNT` are not counted.
    pub fn spoken(&self, language: Language) -> String {
        let words = language.words();
        let Some(rule) = self.parsed() else { return words.repeatedly.to_owned() };
        let days = self.additional_days(MOST_DAYS + 1);
        let count = rule.count().map(|count| count.saturating_sub(self.excluded_dates()));
        let rule = rule.with_count(count);
        if count == Some(0) || (!days.is_empty() && count == Some(1)) {
            return words.repeatedly.to_owned();
        }
        let last = self.last_start().map(|wall| wall.date());
        let often = rule.spoken(self.start(), last, language);
        match days.len() {
            0 => often,
            1..=MOST_DAYS => {
                let days: Vec<String> =
                    days.into_iter().map(|day| language.short_day(day)).collect();
                let days: Vec<&str> = days.iter().map(String::as_str).collect();
                (words.also_on)(&often, &language.list(&days))
            }
            _ => (words.also_on_others)(&often),
        }
    }

    /// Returns the local start of the last date of a rule with `UNTIL`, which itself is often a time
    /// without an event. Returns `UNTIL` if all late dates are excluded.
    pub fn last_start(&self) -> Option<DateTime> {
        let (rule, until) = (self.parsed()?, self.ends()?);
        let latest = self.exdates.len() + 1;
        let wanted = Wanted { until, near: until.date(), first: 0, latest, most: usize::MAX };
        let found = rule.expand_near(self.start(), wanted).unwrap_or_default();
        let takes_place = |wall: &DateTime| {
            *wall <= until && self.exdates.binary_search(&self.key(self.at(*wall))).is_err()
        };
        Some(found.into_iter().rev().find(takes_place).unwrap_or(until))
    }

    /// Returns how many dates of the rule are excluded.
    fn excluded_dates(&self) -> usize {
        let moments = self.exdates.iter().filter_map(|key| self.moment(key));
        moments.filter(|moment| self.rules(*moment)).count()
    }

    /// Returns the first days with occurrences that aren't from the rule.
    fn additional_days(&self, most: usize) -> Vec<Date> {
        let kept = self.rdates.iter().filter(|key| self.exdates.binary_search(key).is_err());
        let moments = kept.filter_map(|key| self.moment(key)).filter(|one| !self.rules(*one));
        let mut days: Vec<Date> = Vec::new();
        for day in moments.map(|moment| self.wall(moment).date()) {
            if days.len() < most && days.last() != Some(&day) {
                days.push(day);
            }
            if days.len() == most {
                break;
            }
        }
        days
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schedule::wall_seconds;
    use crate::model::zone::Zone;

    fn plan(rule: &str, rdates: &[&str], exdates: &[&str]) -> Plan {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        Plan {
            zone: Zone::utc(),
            all_day: true,
            start_local: wall_seconds("2027-03-09T00:00".parse().unwrap()),
            end_local: wall_seconds("2027-03-09T00:00".parse().unwrap()),
            duration: String::new(),
            rule: rule.to_owned(),
            rdates: keys(rdates),
            exdates: keys(exdates),
        }
    }

    #[test]
    fn additional_days_are_listed_if_there_are_few() {
        let until = "FREQ=WEEKLY;UNTIL=20270501";
        for (rule, rdates, exdates, expected) in [
            (until, vec![], vec![], "Every Tuesday until 27 April 2027"),
            (
                until,
                vec!["20270401"],
                vec![],
                "Every Tuesday until 27 April 2027, also on 1 April 2027",
            ),
            (until, vec!["20270401"], vec!["20270401"], "Every Tuesday until 27 April 2027"),
            // A Tuesday.
            (until, vec!["20270406"], vec![], "Every Tuesday until 27 April 2027"),
            (
                "FREQ=DAILY;INTERVAL=7;COUNT=2",
                vec!["20270401", "20270402", "20270606"],
                vec![],
                "Every 7 days, 2 times, also on 1 April 2027, 2 April 2027 and 6 June 2027",
            ),
            (
                "FREQ=WEEKLY",
                vec!["20270401", "20270402", "20270605", "20270606"],
                vec![],
                "Every Tuesday, also on other days",
            ),
            ("FREQ=WEEKLY;COUNT=1", vec!["20270401"], vec![], "Repeatedly"),
            ("FREQ=WEEKLY;COUNT=6", vec![], vec!["20270316", "20270323"], "Every Tuesday, 4 times"),
            // A Wednesday, and a Tuesday after the last one.
            ("FREQ=WEEKLY;COUNT=6", vec![], vec!["20270317", "20270420"], "Every Tuesday, 6 times"),
            ("FREQ=WEEKLY;COUNT=2", vec![], vec!["20270316"], "Once"),
            ("FREQ=WEEKLY;COUNT=2", vec!["20270401"], vec!["20270316"], "Repeatedly"),
            ("FREQ=MONTHLY;BYDAY=1SU,3SU;COUNT=5", vec![], vec!["20270321"], "Repeatedly, 4 times"),
            ("", vec!["20270401"], vec![], "Repeatedly"),
        ] {
            assert_eq!(plan(rule, &rdates, &exdates).spoken(Language::En), expected, "{rule}");
        }
    }

    #[test]
    fn last_start_is_that_of_the_last_date_of_the_rule() {
        for (rule, exdates, expected) in [
            ("FREQ=WEEKLY;UNTIL=20270330", vec![], Some("2027-03-30")),
            ("FREQ=WEEKLY;UNTIL=20270329", vec![], Some("2027-03-23")),
            ("FREQ=WEEKLY;UNTIL=20270329", vec!["20270323"], Some("2027-03-16")),
            ("FREQ=WEEKLY;UNTIL=20270329", vec!["20270316", "20270323"], Some("2027-03-09")),
            ("FREQ=WEEKLY;UNTIL=20270310", vec!["20270309"], Some("2027-03-10")),
            ("FREQ=YEARLY;UNTIL=20991231", vec![], Some("2099-03-09")),
            ("FREQ=WEEKLY;COUNT=3", vec![], None),
            ("FREQ=WEEKLY", vec![], None),
        ] {
            let last = plan(rule, &[], &exdates).last_start();
            assert_eq!(last.map(|wall| wall.date().to_string()).as_deref(), expected, "{rule}");
        }
    }

    #[test]
    fn each_language_names_additional_days() {
        for (language, expected) in [
            (Language::Ar, "كل أسبوع: الثلاثاء، وكذلك في 1 أبريل 2027"),
            (Language::Cs, "Každý týden: úterý, také 1. dubna 2027"),
            (Language::De, "Jeden Dienstag, außerdem am 1. April 2027"),
            (Language::En, "Every Tuesday, also on 1 April 2027"),
            (Language::Es, "Cada martes; además, el 1 de abril de 2027"),
            (Language::Fr, "Chaque mardi, ainsi que le 1er avril 2027"),
            (Language::It, "Ogni martedì; inoltre: 1 aprile 2027"),
            (Language::Ja, "毎週火曜日、ほかに2027年4月1日"),
            (Language::Nl, "Elke dinsdag, en ook op 1 april 2027"),
            (Language::Pl, "Co tydzień: wtorek; także 1 kwietnia 2027"),
            (Language::Pt, "Todas as semanas: terça-feira; também em 1 de abril de 2027"),
            (Language::Sv, "Varje tisdag, även 1 april 2027"),
            (Language::Uk, "Щотижня: вівторок, а також 1 квітня 2027\u{202f}р."),
            (Language::Zh, "每星期二，另加2027年4月1日"),
        ] {
            assert_eq!(plan("FREQ=WEEKLY", &["20270401"], &[]).spoken(language), expected);
        }
    }
}
