//! Imports of cancellations that also change what they cancel.

use serde_json::json;

use crate::app::App;
use crate::import_standards::{calendar, texts};
use crate::imports::counts;
use crate::subscribing::{self, Subscribing};

const DAILY: &str = "RRULE:FREQ=DAILY;COUNT=3";

/// Builds a series that starts on 1 April at this hour.
fn series(hour: u8, rule: &str) -> String {
    format!("UID:s\nDTSTART:20270401T{hour:02}0000Z\nDURATION:PT1H\nSUMMARY:Daily\n{rule}")
}

/// Builds a cancelled override of the second occurrence, at its original time.
fn cancelled(hour: u8) -> String {
    let start = format!("20270402T{hour:02}0000Z");
    format!(
        "UID:s\nRECURRENCE-ID:{start}\nDTSTART:{start}\nDURATION:PT1H\nSUMMARY:Daily\n\
         STATUS:CANCELLED"
    )
}

/// Builds an override that moves the second occurrence by a week.
fn moved() -> String {
    "UID:s\nRECURRENCE-ID:20270402T100000Z\nDTSTART:20270409T150000Z\nDURATION:PT1H\n\
     SUMMARY:Daily"
        .to_owned()
}

/// Returns the events of the series with a cancelled second occurrence.
fn with_cancelled(hour: u8) -> [String; 3] {
    [(1, ""), (2, " (off)"), (3, "")]
        .map(|(day, off)| format!("{day:02} {hour} {day:02} {} Daily{off}", hour + 1))
}

#[actix_web::test]
async fn occurrence_that_returns_as_cancelled_has_the_dates_of_the_file_at_once() {
    let excluding = format!("{DAILY}\nEXDATE:20270402T100000Z");
    for (without, hour) in [(&*excluding, 10), ("RRULE:FREQ=DAILY;COUNT=1", 10), (&*excluding, 12)]
    {
        let app = App::new().await;
        counts(&app, calendar("", &[&series(10, DAILY), &moved()])).await;
        counts(&app, calendar("", &[&series(10, without)])).await;
        let file = calendar("", &[&series(hour, DAILY), &cancelled(hour)]);
        counts(&app, &file).await;
        assert_eq!(texts(&app).await, with_cancelled(hour), "{without} {hour}");
        assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0], "{without} {hour}");
    }
}

#[actix_web::test]
async fn occurrence_that_returns_as_cancelled_to_a_subscription_has_the_dates_of_the_file() {
    let club = Subscribing::new().await;
    club.serves(&calendar("", &[&series(10, DAILY), &moved()]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let excluding = format!("{DAILY}\nEXDATE:20270402T100000Z");
    club.serves(&calendar("", &[&series(10, &excluding)]));
    let run = club.run_now(id).await;
    assert_eq!(subscribing::counts(&run, "imported"), [0, 0, 2, 0, 0, 1], "{run}");
    club.serves(&calendar("", &[&series(10, DAILY), &cancelled(10)]));
    for expected in [[0, 1, 2, 0, 0, 0], [0, 0, 3, 0, 0, 0]] {
        let run = club.run_now(id).await;
        assert_eq!(subscribing::counts(&run, "imported"), expected, "{run}");
        assert_eq!(texts(&club.app).await, with_cancelled(10));
    }
}

#[actix_web::test]
async fn cancelling_override_of_all_later_occurrences_moves_them_to_its_dates() {
    let later = |day: u8, hour: u8, more: &str| {
        format!(
            "UID:s\nRECURRENCE-ID;RANGE=THISANDFUTURE:202704{day:02}T100000Z\n\
             DTSTART:202704{day:02}T{hour:02}0000Z\nDURATION:PT1H\nSUMMARY:Daily\n{more}"
        )
    };
    let with_series = |entry: &str| calendar("", &[&series(10, DAILY), entry]);
    for (before, first) in [
        (with_series(&later(2, 15, "CLASS:PUBLIC")), 2),
        (with_series(&moved()), 2),
        // The event was not a series before.
        (calendar("", &[&series(8, "CLASS:PUBLIC")]), 1),
    ] {
        let app = App::new().await;
        counts(&app, &before).await;
        let file = with_series(&later(first, 10, "STATUS:CANCELLED"));
        counts(&app, &file).await;
        let expected = [1, 2, 3].map(|day| {
            let off = if day < first { "" } else { " (off)" };
            format!("{day:02} 10 {day:02} 11 Daily{off}")
        });
        assert_eq!(texts(&app).await, expected, "{before}");
        assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0], "{before}");
        // A first import has the same result.
        let other = App::new().await;
        counts(&other, &file).await;
        assert_eq!(texts(&other).await, expected, "{before}");
    }
}

#[actix_web::test]
async fn cancellation_changes_what_it_has_and_keeps_the_rest() {
    for head in ["UID:a", "UID:s\nRECURRENCE-ID:20270402T100000Z"] {
        let app = App::new().await;
        let file = |lines: &str| {
            let entry = format!("{head}\nDTSTART:20270402T100000Z\nDURATION:PT1H\n{lines}");
            calendar("", &[&series(10, DAILY), &entry])
        };
        let talk = "SUMMARY:Talk\nDESCRIPTION:All about it\nLOCATION:Hall\nCATEGORIES:Talks\n\
            URL:https://example.org/talk";
        counts(&app, file(talk)).await;
        let path = format!("/events/{}", app.get("/events?search=talk").await.ids()[0]);
        let shown = async || {
            let event = app.get(&path).await.expect(200).json;
            assert_eq!(event["event_status"], "cancelled", "{head}");
            let values = [
                &event["title"],
                &event["description"],
                &event["venue"]["venue"],
                &event["categories"][0]["name"],
                &event["website"],
            ];
            values.map(|value| value.as_str().unwrap().to_owned()).join(" ")
        };
        let bare = file("SUMMARY:Talk\nSTATUS:CANCELLED");
        assert_eq!(counts(&app, &bare).await[..2], [0, 1], "{head}");
        let expected = "Talk <p>All about it</p> Hall Talks https://example.org/talk";
        assert_eq!(shown().await.replace('\n', ""), expected, "{head}");
        let debate = "SUMMARY:Debate\nDESCRIPTION:Both sides\nLOCATION:Room 2\n\
            CATEGORIES:Debates\nURL:https://example.org/debate\nSTATUS:CANCELLED";
        for updated in [1, 0] {
            assert_eq!(counts(&app, file(debate)).await[..2], [0, updated], "{head}");
            let expected = "Debate <p>Both sides</p> Room 2 Debates https://example.org/debate";
            assert_eq!(shown().await.replace('\n', ""), expected, "{head}");
        }
        // Details that become private are not published.
        let private = debate.replace("Both sides", "Secret") + "\nCLASS:PRIVATE";
        assert_eq!(counts(&app, file(&private)).await[..2], [0, 1], "{head}");
        app.get(&path).await.expect(403);
    }
}
