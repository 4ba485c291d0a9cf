//! Search results compared with a naive model.

use calendar::{Event, EventFilter, Links, Paging, Scope, Window, Words, fold, update_event};
use database::{DatabaseError, Db};
use serde_json::json;

use crate::app::{App, Dice, plant};

const WORDS: [&str; 22] = [
    "jazz",
    "jazzy",
    "Ärzte",
    "über",
    "U\u{308}ber",
    "50%",
    "100%%",
    "a_b",
    "aXb",
    "_",
    "back\\slash",
    "\\",
    "it's",
    "\"quoted\"",
    "{a,b}",
    "x",
    "ab",
    "東京",
    "ß",
    "ﬁn",
    "\u{1f3b7}",
    "null",
];

const BLANKS: [&str; 9] = [" ", "  ", "\n", "\t", "\r\n", "\u{a0}", "\u{3000}", "\u{b}", "\u{85}"];

fn letters(dice: &mut Dice, count: i64) -> String {
    (0..count).map(|_| *dice.pick(&['a', 'b', 'c', 'ä', '%', '東'])).collect()
}

fn text(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..dice.roll(8) {
        if dice.roll(12) == 0 {
            let length = *dice.pick(&[99, 100, 101, 199, 200, 201, 300, 301, 5000]);
            text += &letters(dice, length);
        } else {
            text += *dice.pick(&WORDS);
        }
        text += *dice.pick(&BLANKS);
    }
    text
}

/// Returns a substring of a string. It often crosses a word boundary, and is sometimes changed so
/// that it matches nothing.
fn needle(dice: &mut Dice, from: &str) -> String {
    let all: Vec<char> = from.chars().collect();
    let at = dice.roll(i64::try_from(all.len()).unwrap());
    let most = *dice.pick(&[2, 6, 20, 250]);
    let length = 1 + usize::try_from(dice.roll(most)).unwrap();
    let mut part: Vec<char> =
        all.into_iter().skip(usize::try_from(at).unwrap()).take(length).collect();
    if dice.roll(5) == 0 {
        let at = usize::try_from(dice.roll(i64::try_from(part.len()).unwrap())).unwrap();
        part[at] = *dice.pick(&['%', '_', '\\', ' ', 'x', '"', '\'']);
    }
    part.into_iter().collect()
}

#[actix_web::test]
async fn searches_match_a_naive_model() {
    let app = App::new().await;
    let author = app.user("editor");
    let mut dice = Dice(0x0123_4567_89ab_cdef);
    let planting = |db: &mut Db| -> Result<Vec<Event>, DatabaseError> {
        let mut planted = Vec::new();
        for number in 0..120 {
            let mut event = plant(db, author, (0, 3600), &Links::default(), |event| {
                event.title = text(&mut dice);
                event.description = text(&mut dice);
            })?;
            // Words added by an update must be found as well.
            if number % 4 == 0 {
                let old = event.clone();
                event.title = text(&mut dice);
                update_event(db, (&old, &Links::default()), (&event, &Links::default()))?;
            }
            planted.push(event);
        }
        Ok(planted)
    };
    let planted = app.state.pools.write_blocking(planting).unwrap();
    let mut texts: Vec<(i64, String)> =
        planted.iter().map(|event| (event.id, event.searched())).collect();
    let (mut found, mut missed) = (0, 0);
    for round in 0..1500 {
        // The index follows writes between two searches.
        if round % 50 == 0 {
            let number = usize::try_from(round / 50).unwrap();
            let change = |db: &mut Db| -> Result<(), DatabaseError> {
                let old = &planted[number];
                let mut new = old.clone();
                new.description = text(&mut dice);
                texts[number].1 = new.searched();
                let links = Links::default();
                update_event(db, (old, &links), (&new, &links))
            };
            app.state.pools.write_blocking(change).unwrap();
        }
        let mut needles = |count: i64| -> Vec<String> {
            (0..count)
                .map(|_| {
                    let from = dice.pick(&texts).1.clone();
                    needle(&mut dice, &from)
                })
                .collect()
        };
        // List queries expect their words to be folded.
        let mut folded = |count| needles(count).iter().map(|needle| fold(needle)).collect();
        let words = Words { wanted: folded(1 + round % 2), unwanted: folded(round / 2 % 2) };
        let mut expected: Vec<i64> = texts
            .iter()
            .filter(|(_, text)| words.wanted.iter().all(|word| text.contains(word)))
            .filter(|(_, text)| !words.unwanted.iter().any(|word| text.contains(word)))
            .map(|(id, _)| *id)
            .collect();
        expected.sort_unstable();
        let filter =
            EventFilter { words, ..EventFilter::plain(Scope::public(), Window::default()) };
        let (mut ids, total) = app.list(&filter, Paging { page: 1, per_page: 1000 });
        ids.sort_unstable();
        assert_eq!(ids, expected, "round {round}: {:?}", filter.words);
        assert_eq!(total, i64::try_from(expected.len()).unwrap(), "round {round}");
        if expected.is_empty() { missed += 1 } else { found += 1 }
    }
    assert!(found > 500 && missed > 50, "{found} found something, {missed} nothing");
}

#[actix_web::test]
async fn substring_across_words_is_found() {
    let app = App::new().await;
    let author = app.user("editor");
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        for number in 0..510 {
            plant(db, author, (0, 3600), &Links::default(), |event| {
                event.title = format!("evening{number} of many");
            })?;
        }
        Ok(())
    };
    app.state.pools.write_blocking(planting).unwrap();
    for (query, expected) in
        [("evening", 510), ("ening", 510), ("evening50", 11), ("evening50 many", 11), ("of", 510)]
    {
        let filter = EventFilter {
            words: Words::parse(query),
            ..EventFilter::plain(Scope::public(), Window::default())
        };
        let (ids, total) = app.list(&filter, Paging { page: 1, per_page: 50 });
        assert_eq!(total, expected, "{query}");
        assert_eq!(ids.len(), usize::try_from(expected.min(50)).unwrap(), "{query}");
    }
}

#[actix_web::test]
async fn accents_and_case_do_not_matter() {
    let app = App::new().await;
    let pairs = [
        ("Zürich", "zurich"),
        ("Hauptstraße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("Ὀδυσσεύς", "οδυσσευς"),
        ("Łódź", "lodz"),
        ("Ёлка", "елка"),
    ];
    for (name, wanted) in pairs {
        let id = app.event(json!({ "title": name })).await;
        let venue = app.make("/venues", json!({ "venue": name })).await;
        let organizer = app.make("/organizers", json!({ "organizer": name })).await;
        let tag = app.make("/tags", json!({ "name": name, "slug": format!("tag-{id}") })).await;
        for wanted in [wanted, name] {
            assert_eq!(app.get(&format!("/events?search={wanted}")).await.ids(), [id], "{wanted}");
            assert_eq!(app.get(&format!("/venues?search={wanted}")).await.ids(), [venue]);
            assert_eq!(app.get(&format!("/organizers?search={wanted}")).await.ids(), [organizer]);
            let tags = app.get(&format!("/tags?hide_empty=0&search={wanted}")).await;
            assert_eq!(tags.ids(), [tag], "{wanted}");
        }
    }
    // Names that differ in accents are distinct.
    let (one, other) = (json!({"venue": "Hof"}), json!({"venue": "Höf"}));
    assert_ne!(app.make("/venues", one).await, app.make("/venues", other).await);
}
