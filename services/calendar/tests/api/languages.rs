//! Dates, numbers, lists and prices of all languages, compared with what Intl of node prints.
//!
//! `scripts/locales` writes the expectations.

use calendar::{Count, Language};
use jiff::civil::{Date, DateTime};
use serde_json::Value;

/// Returns the tested languages with Intl's output.
fn judged() -> Vec<(Language, Value)> {
    let all: Value = serde_json::from_str(include_str!("languages.json")).unwrap();
    let judged = all.as_object().unwrap().clone().into_iter();
    let judged: Vec<_> =
        judged.map(|(code, value)| (Language::parse(&code).unwrap(), value)).collect();
    assert_eq!(judged.len(), Language::ALL.len() - 1, "all but English");
    judged
}

/// The form that Intl uses for a number.
fn plural_form(language: Language, count: Count) -> String {
    let form = match language {
        Language::Ar => format!("{:?}", count.arabic()),
        Language::Cs => format!("{:?}", count.czech()),
        Language::De | Language::En | Language::Nl | Language::Sv => {
            format!("{:?}", count.simple())
        }
        Language::Es | Language::It => format!("{:?}", count.southern()),
        Language::Fr | Language::Pt => format!("{:?}", count.western()),
        Language::Pl => format!("{:?}", count.polish()),
        Language::Uk => format!("{:?}", count.ukrainian()),
        Language::Ja | Language::Zh => "Other".to_owned(),
    };
    form.to_lowercase()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn moment(value: &Value) -> DateTime {
    text(value).parse().unwrap()
}

#[test]
fn dates_and_times_match_intl() {
    type Form = fn(Language, DateTime) -> String;
    let forms: [(&str, Form); 8] = [
        ("full", |language, at| language.day(at.date())),
        ("long", |language, at| language.short_day(at.date())),
        ("month", |language, at| language.month(at.date())),
        ("weekday_day", |language, at| language.day_of_year(at.date())),
        ("short", |language, at| language.abbreviated_day(at.date())),
        ("time", Language::time),
        ("weekday", |language, at| language.weekday(at.date().weekday()).to_owned()),
        ("full_at_time", |language, at| language.day_and_times(at.date(), (at, at))),
    ];
    let forms = forms.into_iter().chain([("long_at_time", Language::moment as Form)]);
    for (name, form) in forms {
        for (language, expected) in judged() {
            for (at, expected) in expected[name].as_object().unwrap() {
                let at: DateTime = at.parse().unwrap();
                let mut expected = text(expected).to_owned();
                // We put the word after the time, as Intl does after intervals.
                if language == Language::De && name.ends_with("at_time") {
                    expected.push_str(" Uhr");
                }
                // Intl has only a space between date and time.
                if language == Language::Pl && name.ends_with("at_time") {
                    let (day, time) = expected.rsplit_once(' ').unwrap();
                    expected = format!("{day}, {time}");
                }
                // Intl has the same preposition before all hours.
                if language == Language::Cs && at.hour() >= 12 && at.hour() != 19 {
                    expected = expected.replacen(" v ", " ve ", 1);
                }
                if language == Language::Fr && at.day() == 1 {
                    expected = expected.replacen("1 ", "1er ", 1);
                }
                // The CLDR of node and ours differ in the kind of space before the word for a year.
                let shown = form(language, at).replace('\u{202f}', " ");
                assert_eq!(shown, expected.replace('\u{202f}', " "), "{name} of {at}");
            }
        }
    }
}

#[test]
fn preposition_before_a_time_depends_on_the_hour() {
    for (language, usual, hours, other) in [
        (Language::Cs, "v", [2, 14, 20].as_slice(), "ve"),
        (Language::Es, "a las", &[1], "a la"),
        (Language::Pt, "às", &[1], "à"),
        (Language::Uk, "о", &[11], "об"),
        (Language::It, "alle ore", &[], ""),
    ] {
        for hour in [0, 1, 2, 5, 11, 14, 19, 20] {
            let at = Date::constant(2027, 3, 14).at(hour, 30, 0, 0);
            let preposition = if hours.contains(&hour) { other } else { usual };
            let expected =
                format!("{} {preposition} {}", language.short_day(at.date()), language.clock(at));
            assert_eq!(language.moment(at), expected);
        }
    }
}

#[test]
fn date_and_its_times_are_separated() {
    let at = |hour: i8| Date::constant(2027, 3, 14).at(hour, 30, 0, 0);
    for (language, moment, times) in [
        (Language::Cs, "neděle 14. března 2027 v 19:30", "neděle 14. března 2027, 19:30–22:30"),
        (Language::Pl, "niedziela, 14 marca 2027, 19:30", "niedziela, 14 marca 2027, 19:30–22:30"),
        (
            Language::Pt,
            "domingo, 14 de março de 2027 às 19:30",
            "domingo, 14 de março de 2027, 19:30\u{2009}–\u{2009}22:30",
        ),
        (Language::Sv, "söndag 14 mars 2027 kl. 19:30", "söndag 14 mars 2027 kl. 19:30–22:30"),
    ] {
        let shown = |end: i8| language.day_and_times(at(19).date(), (at(19), at(end)));
        assert_eq!(shown(19), moment);
        assert_eq!(shown(22), times);
    }
}

#[test]
fn intervals_match_intl() {
    for (language, expected) in judged() {
        let has_names_of_months = !matches!(language, Language::Cs | Language::Ja | Language::Zh);
        for days in expected["days"].as_array().unwrap().iter().filter(|_| has_names_of_months) {
            let day = |index: usize| moment(&days[index]).date();
            assert_eq!(language.days(day(0), day(1)), text(&days[2]));
        }
        for times in expected["times"].as_array().unwrap() {
            if language != Language::Ja {
                assert_eq!(language.times(moment(&times[0]), moment(&times[1])), text(&times[2]));
            }
        }
    }
    // In these languages, Intl prints numbers of months, or other signs for times.
    let day = |text: &str| text.parse::<Date>().unwrap();
    for (language, first, last, expected) in [
        (Language::Cs, "2027-03-14", "2027-03-16", "14.–16. března 2027"),
        (Language::Cs, "2027-03-30", "2027-04-02", "30. března\u{2009}–\u{2009}2. dubna 2027"),
        (Language::Ja, "2027-03-14", "2027-03-16", "2027年3月14日～16日"),
        (Language::Ja, "2027-12-30", "2028-01-02", "2027年12月30日～2028年1月2日"),
        (Language::Zh, "2027-03-30", "2027-04-02", "2027年3月30日至4月2日"),
    ] {
        assert_eq!(language.days(day(first), day(last)), expected);
    }
    let at = |text: &str| text.parse::<DateTime>().unwrap();
    let evening = (at("2027-03-14T19:30"), at("2027-03-14T22:00"));
    assert_eq!(Language::Ja.times(evening.0, evening.1), "19:30～22:00");
}

#[test]
fn numbers_and_plural_forms_match_intl() {
    for (language, expected) in judged() {
        for number in expected["numbers"].as_array().unwrap() {
            let count = language.count(number[0].as_i64().unwrap());
            assert_eq!(count.to_string(), text(&number[1]), "{language:?}");
            let form = plural_form(language, count);
            // Czech has a form for decimals, which counts do not have.
            assert_eq!(form, text(&number[2]), "{language:?} {count}");
        }
    }
    assert_eq!(Language::En.count(1234).to_string(), "1234");
    assert_eq!(Language::De.count(-1234).to_string(), "-1.234");
}

#[test]
fn lists_match_intl() {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|one| text(one).to_owned()).collect()
    };
    for (language, expected) in judged() {
        for list in expected["lists"].as_array().unwrap() {
            let items = texts(&list[0]);
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            assert_eq!(language.list(&items), text(&list[1]), "{language:?}");
        }
    }
    assert_eq!(Language::En.list(&["a", "b", "c"]), "a, b and c");
    assert_eq!(Language::En.list(&["{1}", "{0}"]), "{1} and {0}");
    assert_eq!(Language::Es.list(&["teatro", "iglesia"]), "teatro e iglesia");
    assert_eq!(Language::Es.list(&["nieve", "hielo"]), "nieve y hielo");
    assert_eq!(Language::De.list(&[]), "");
}

#[test]
fn prices_match_intl() {
    for (language, expected) in judged() {
        for price in expected["prices"].as_array().unwrap() {
            let values = price[0].as_array().unwrap();
            let ends = (text(&values[0]), text(values.last().unwrap()));
            assert_eq!(language.price(ends, "XYZ"), text(&price[1]), "{language:?}");
        }
    }
    assert_eq!(Language::Ja.price(("1000", "2500"), "¥"), "¥1,000 ～ ¥2,500");
    assert_eq!(Language::De.price(("10", "20"), "€"), "10–20\u{a0}€");
}

#[test]
fn weeks_begin_on_the_day_of_the_region() {
    let week = |language: Language| {
        let names: Vec<&str> = language.week().map(|day| language.short_weekday(day)).collect();
        names.join(" ")
    };
    for (language, expected) in [
        (Language::En, "Mon Tue Wed Thu Fri Sat Sun"),
        (Language::De, "Mo Di Mi Do Fr Sa So"),
        (Language::Ja, "日 月 火 水 木 金 土"),
        (Language::Pt, "dom. seg. ter. qua. qui. sex. sáb."),
        (Language::Zh, "周一 周二 周三 周四 周五 周六 周日"),
        (Language::Ar, "السبت الأحد الاثنين الثلاثاء الأربعاء الخميس الجمعة"),
    ] {
        assert_eq!(week(language), expected);
    }
}

/// Every message with a number, in every plural form.
#[test]
fn counted_messages_agree_with_their_numbers() {
    let mut seen = String::new();
    for language in Language::ALL {
        let words = language.words();
        seen.push_str(&format!("== {}\n", language.code()));
        for message in [
            words.found,
            words.file_limit,
            words.event_count,
            words.more,
            words.every_minute,
            words.every_hour,
            words.every_day,
            words.every_week,
            words.every_month,
            words.every_year,
            words.day_of_month,
            words.try_again_in,
            words.failed_runs,
            words.changed_by_hand,
            words.lost_events,
        ] {
            let numbers = [1, 2, 3, 5, 11, 21, 22, 100, 0];
            let mut texts: Vec<String> = Vec::new();
            for text in numbers.map(|number| message(language.count(number))) {
                // The same form with another number shows nothing new.
                let form = text.replace(|letter: char| letter.is_ascii_digit(), "");
                let is_known = texts
                    .iter()
                    .any(|other| other.replace(|letter: char| letter.is_ascii_digit(), "") == form);
                if !is_known {
                    texts.push(text);
                }
            }
            seen.push_str(&format!("{}\n", texts.join(" | ")));
        }
    }
    insta::assert_snapshot!("counted_messages", seen);
}
