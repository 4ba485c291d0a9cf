//! Describes a series in words: `Every Tuesday until 30 June 2027, also on 1 April 2027`.

use jiff::civil::{Date, DateTime, Time};

use super::language::Language;
use super::recurrence::{Rule, Wanted};
use super::series::Plan;

/// Maximum number of additional days to list.
const MOST_DAYS: usize = 3;

impl Plan {
    /// Describes how often the event takes place, until when, and on which additional days.
    /// Excluded occurrences of a rule with `COUNT` aren't counted. `last` is the result of
    /// [`Plan::last_start`].
    pub fn spoken(&self, last: Option<DateTime>, language: Language) -> String {
        let words = language.words();
        let Some(rule) = self.parsed() else { return words.repeatedly.to_owned() };
        let Some((excluded, days)) = self.exceptions(&rule, MOST_DAYS + 1) else {
            return words.repeatedly.to_owned();
        };
        let count = rule.count().map(|count| count.saturating_sub(excluded));
        let rule = rule.with_count(count);
        if count == Some(0) || (!days.is_empty() && count == Some(1)) {
            return words.repeatedly.to_owned();
        }
        let often = rule.spoken(self.start(), last.map(|wall| wall.date()), language);
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

    /// Returns the local start of the last occurrence of a rule with `UNTIL`, since `UNTIL` itself
    /// often isn't one. If all late occurrences are excluded, returns `UNTIL`.
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

    /// Returns how many occurrences of a rule with `COUNT` are excluded, and the first `most` days
    /// with occurrences that aren't from the rule. `None` if the rule has too many occurrences
    /// between the listed dates.
    fn exceptions(&self, rule: &Rule, most: usize) -> Option<(usize, Vec<Date>)> {
        let added = self.rdates.iter().filter(|key| self.exdates.binary_search(key).is_err());
        let added: Vec<i64> = added.filter_map(|key| self.moment(key)).collect();
        let excluded = self.exdates.iter().filter(|_| rule.count().is_some());
        let excluded: Vec<i64> = excluded.filter_map(|key| self.moment(key)).collect();
        // Expand the rule only once, because some rules have to be counted from their start.
        let ruled = self.ruled_near(rule, added.iter().chain(&excluded))?;
        let is_ruled = |moment: &&i64| ruled.binary_search(moment).is_ok();
        let mut days: Vec<Date> =
            added.iter().filter(|one| !is_ruled(one)).map(|one| self.wall(*one).date()).collect();
        days.dedup();
        days.truncate(most);
        Some((excluded.iter().filter(is_ruled).count(), days))
    }

    /// Returns the rule's occurrences in ascending order, from the day of the earliest of `moments`
    /// to the day of the latest. `None` if there are too many.
    pub fn ruled_near<'m>(
        &self,
        rule: &Rule,
        moments: impl Iterator<Item = &'m i64> + Clone,
    ) -> Option<Vec<i64>> {
        let (Some(first), Some(last)) = (moments.clone().min(), moments.max()) else {
            return Some(Vec::new());
        };
        let until = self.wall(*last).date().to_datetime(Time::constant(23, 59, 59, 0));
        let until = self.ends().map_or(until, |end| end.min(until));
        let near = self.wall(*first).date();
        let wanted = Wanted { until, near, first: 0, latest: 0, most: usize::MAX };
        let found = rule.expand_near(self.start(), wanted).ok()?;
        // A clock change can move a skipped time past the next one.
        let mut found: Vec<i64> = found.into_iter().map(|wall| self.at(wall)).collect();
        found.sort_unstable();
        Some(found)
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

    fn spoken(plan: &Plan, language: Language) -> String {
        plan.spoken(plan.last_start(), language)
    }

    #[test]
    fn many_excluded_dates_are_counted_in_one_walk() {
        // The weekdays have to be counted from the start, which takes 20,000 steps for each walk.
        let rule = "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=20000";
        let all = plan(rule, &[], &[]);
        let walls = all.parsed().unwrap().expand(all.start(), DateTime::MAX).unwrap();
        let keys: Vec<String> = walls.iter().map(|wall| all.key(all.at(*wall))).collect();
        // Every second date is excluded, and so is a Sunday that the rule doesn't produce.
        let mut exdates: Vec<&str> = keys.iter().step_by(2).map(String::as_str).collect();
        exdates.push("20270314");
        exdates.sort_unstable();
        let many = plan(rule, &[], &exdates);
        let expected =
            "Every Monday, Tuesday, Wednesday, Thursday and Friday, 10000 times".to_owned();
        assert_eq!(spoken(&many, Language::En), expected);
        // Added dates that the rule already produces are compared in the same way.
        let rdates: Vec<&str> = keys.iter().map(String::as_str).collect();
        let expected = expected.replace("10000", "20000");
        assert_eq!(spoken(&plan(rule, &rdates, &[]), Language::En), expected);
    }

    #[test]
    fn rule_is_not_described_if_listed_dates_are_too_far_apart_to_compare() {
        let apart = ["20270310", "90000101"];
        assert_eq!(spoken(&plan("FREQ=DAILY", &apart, &[]), Language::En), "Repeatedly");
        assert_eq!(spoken(&plan("FREQ=DAILY", &[], &apart), Language::En), "Every day");
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
            (
                "FREQ=MONTHLY;BYDAY=1SU,3SU;COUNT=5",
                vec![],
                vec!["20270321"],
                "Every month on the first Sunday and the third Sunday, 4 times",
            ),
            ("FREQ=MONTHLY;BYDAY=TU;COUNT=5", vec![], vec!["20270316"], "4 times"),
            ("", vec!["20270401"], vec![], "Repeatedly"),
        ] {
            assert_eq!(spoken(&plan(rule, &rdates, &exdates), Language::En), expected, "{rule}");
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
            assert_eq!(spoken(&plan("FREQ=WEEKLY", &["20270401"], &[]), language), expected);
        }
    }
}
