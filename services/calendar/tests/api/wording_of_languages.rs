//! Sentences and typography of the pages in each language.

use calendar::Language;
use serde_json::json;

use crate::app::Answer;
use crate::page_languages::{in_all_languages, words};
use crate::pages::{between, page};

#[actix_web::test]
async fn series_are_described_in_sentences_of_the_language() {
    let app = in_all_languages().await;
    let rules = [
        ("2027-03-09", json!({"rrule": "FREQ=WEEKLY", "until": "2027-06-30"})),
        ("2027-03-09", json!({"rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH,SA"})),
        ("2027-03-09", json!({"rrule": "FREQ=MONTHLY;BYDAY=2TU", "until": "2027-06-30"})),
        ("2027-03-09", json!({"rrule": "FREQ=MONTHLY;BYMONTHDAY=9", "until": "2027-06-30"})),
        ("2027-04-01", json!({"rrule": "FREQ=MONTHLY;BYMONTHDAY=1", "count": 5})),
        ("2027-03-31", json!({"rrule": "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1"})),
        ("2027-03-09", json!({"rrule": "FREQ=DAILY;INTERVAL=21", "count": 3})),
        ("2027-03-09", json!({"rrule": "FREQ=YEARLY;INTERVAL=2"})),
    ];
    let mut paths = Vec::new();
    for (day, recurrence) in &rules {
        let id = app
            .event(json!({
                "start_date": format!("{day} 18:00"), "end_date": format!("{day} 19:00"),
                "recurrence": recurrence,
            }))
            .await;
        let url = app.get(&format!("/events/{id}")).await.json["url"].as_str().unwrap().to_owned();
        paths.push(url.split_once("/event/").unwrap().1.to_owned());
    }
    let mut seen = String::new();
    for language in Language::ALL {
        let code = language.code();
        seen.push_str(&format!("== {code}\n"));
        for path in &paths {
            let event = page(&app, &format!("/event/{path}?lang={code}")).await.expect(200);
            let label = format!("<dt>{}</dt><dd>", language.words().repeats);
            seen.push_str(&format!("{}\n", between(&event, &label, "</dd>")));
        }
    }
    insta::assert_snapshot!("sentences_of_series", seen);
}

/// Whether the letter is from a script without spaces between words.
fn is_ideographic(letter: char) -> bool {
    matches!(letter, '\u{3001}'..='\u{303f}' | '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ff01}'..='\u{ff5e}')
}

/// Returns the first violation of a language's typography.
fn offence(language: Language, text: &str) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    for (at, letter) in letters.iter().copied().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1).copied();
        let is_near =
            |matches: fn(char) -> bool| before.is_some_and(matches) || after.is_some_and(matches);
        let is_within_digits = before.is_some_and(|letter| letter.is_ascii_digit())
            && after.is_some_and(|letter| letter.is_ascii_digit());
        let is_wrong = match (language, letter) {
            _ if is_within_digits => false,
            (_, '\'' | '"') => true,
            (_, ' ') if before == Some(' ') => true,
            (_, '.') if before == Some('.') => true,
            (Language::Fr, ':' | ';' | '!' | '?' | '»') => {
                !matches!(before, Some('\u{a0}' | '\u{202f}'))
            }
            (Language::Fr, '«') => !matches!(after, Some('\u{a0}' | '\u{202f}')),
            (Language::De | Language::Cs, '”') | (Language::Pl, '“') => true,
            // A space precedes times: `2027年3月14日日曜日 19:30`. The CLDR has spaces in `€15 ～ €25`,
            // and pages have them around the dot and before the brackets between two texts.
            (Language::Ja | Language::Zh, ' ') => {
                let is_separated = is_near(|letter| matches!(letter, '～' | '·' | '【'));
                let is_time = after.is_some_and(|after| after.is_ascii_digit());
                is_near(is_ideographic) && !is_time && !is_separated
            }
            (Language::Ja | Language::Zh, ',' | ':' | ';' | '!' | '?') => is_near(is_ideographic),
            (Language::Ja | Language::Zh, '.') => {
                before.is_some_and(|before| ('\u{3041}'..='\u{9fff}').contains(&before))
            }
            (Language::Ar, ',' | ';' | '?') => true,
            _ => false,
        };
        if is_wrong {
            return Some(format!("{letter:?} in {text:?}"));
        }
    }
    None
}

/// Returns the text of a page, with the description for search engines.
fn texts(page: &Answer) -> Vec<String> {
    let mut texts = words(page);
    if let Some((_, rest)) = page.text.split_once("<meta name=\"description\" content=\"") {
        texts.push(rest.split_once('"').unwrap().0.to_owned());
    }
    let decode =
        |text: String| text.replace("&#38;", "&").replace("&#60;", "<").replace("&#62;", ">");
    texts.into_iter().map(decode).collect()
}

#[test]
fn offences_against_typography_are_found() {
    for (language, text) in [
        (Language::Fr, "Tarif: 5 €"),
        (Language::Fr, "« prix »"),
        (Language::De, "Der Wert von „theme” ist ungültig."),
        (Language::Ja, "検索 してください。"),
        (Language::Ja, "件数:5"),
        (Language::Zh, "找到 5 项活动。"),
        (Language::Ar, "سوق, اسم"),
        (Language::Uk, "14 березня 2027 р.."),
        (Language::En, "Don't"),
    ] {
        assert!(offence(language, text).is_some(), "{text}");
    }
    for (language, text) in [
        (Language::Fr, "Tarif\u{a0}: 5 €, 19:30"),
        (Language::Ja, "2027年3月14日日曜日 19:30～22:00"),
        (Language::Ar, "سوق، 1,000"),
    ] {
        assert_eq!(offence(language, text), None);
    }
}

#[actix_web::test]
async fn texts_follow_the_typography_of_their_language() {
    let app = in_all_languages().await;
    let id = app.get("/events?search=brass").await.ids()[0];
    app.patch(&format!("/events/{id}"), &json!({"event_status": "postponed"})).await.expect(200);
    let (mut read, mut offences) = (0, Vec::new());
    for language in Language::ALL {
        for path in [
            "/events/",
            "/events/?search=brass",
            "/events/?search=nowhere",
            "/events/month/2027-03/",
            "/events/month/2029-03/",
            "/events/day/2027-03-14/",
            "/events/week/2029-W10/",
            "/event/brass-embers/",
            "/event/two-days/",
            "/event/over/",
            "/event/behind-a-password/",
            "/venue/lantern-hall/",
            "/organizer/ann-co/",
            "/events/category/culture/concert/",
            "/tag/open-air/",
            "/embed/list",
            "/embed/month?month=2027-03",
            "/nowhere",
            "/events/?date=x",
            "/events/?category=none&tag=none",
            "/embed/list?theme=red",
        ] {
            let mark = if path.contains('?') { '&' } else { '?' };
            let shown = page(&app, &format!("{path}{mark}lang={}", language.code())).await;
            for text in texts(&shown) {
                let found = offence(language, &text);
                offences.extend(found.map(|found| format!("{path} in {language:?}: {found}")));
                read += 1;
            }
        }
    }
    assert!(read > 3000, "only {read} texts were read");
    assert_eq!(offences, Vec::<String>::new());
}
