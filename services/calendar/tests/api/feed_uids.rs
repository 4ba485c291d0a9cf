//! UIDs and revisions of one event in all calendar files that have it.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::app::App;
use crate::filtered_feeds::{entries, value};
use crate::imports::counts;
use crate::pages::page;
use crate::series::{events, patch};

const DAY: &str = "/events/day/2027-05-04/?ical=1";
const MONTH: &str = "/events/month/2027-05/?ical=1";

/// Creates an event.
async fn fair(app: &App) -> i64 {
    app.event(json!({"title": "Fair", "timezone": "Europe/Vienna",
        "start_date": "2027-05-04 18:00", "end_date": "2027-05-04 19:00"}))
        .await
}

/// Returns a change that makes a series of an event.
fn daily() -> Value {
    json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 3}})
}

/// Returns the entries of all files that have this event: the feed, the feed of some events, the
/// files of its day and its month, and its own.
async fn files(app: &App, event: i64) -> Vec<Vec<String>> {
    let mut files = Vec::new();
    for path in ["/ical?ends_after=2020-01-01", &format!("/ical?include={event}")] {
        files.push(app.get(path).await.expect(200).text);
    }
    for path in [DAY, MONTH, "/event/fair/?ical=1"] {
        files.push(page(app, path).await.expect(200).text);
    }
    files.iter().map(|file| entries(file)).collect()
}

/// Returns the entry of the first day.
fn first(entries: &[String]) -> &String {
    let mut found = entries.iter().filter(|one| value(one, "DTSTART").starts_with("20270504"));
    let first = found.next().unwrap();
    assert_eq!(found.next(), None, "{entries:?}");
    first
}

#[actix_web::test]
async fn event_that_becomes_a_series_keeps_its_uid_in_all_files() {
    let app = App::new().await;
    let id = fair(&app).await;
    let before = files(&app, id).await;
    let uid = value(first(&before[0]), "UID").to_owned();
    assert!(before.iter().all(|file| value(first(file), "UID") == uid), "{before:?}");
    patch(&app, id, daily()).await.expect(200);
    let second = events(&app, id).await[1]["id"].as_i64().unwrap();
    for hour in [10, 12, 14] {
        // The revision of the series is that of its latest date.
        let moved = json!({"start_date": format!("2027-05-05 {hour}:00")});
        patch(&app, second, moved).await.expect(200);
        let after = files(&app, id).await;
        let names = |file: &Vec<String>| {
            let first = first(file);
            // Otherwise, programs would replace the whole series by this date.
            let is_date = !value(first, "RECURRENCE-ID").is_empty();
            assert_ne!(is_date, !value(first, "RRULE").is_empty(), "{first}");
            ["UID", "SEQUENCE"].map(|name| value(first, name).to_owned())
        };
        let names: HashSet<[String; 2]> = after.iter().map(names).collect();
        assert_eq!(names.len(), 1, "{after:?}");
        assert!(names.iter().all(|[own, _]| *own == uid), "{names:?}");
    }
    // Its other dates have UIDs of their own in the file of the month.
    let month = page(&app, MONTH).await.expect(200).text;
    let others = entries(&month).into_iter().filter(|one| value(one, "UID") != uid);
    let others: HashSet<String> = others.map(|one| value(&one, "UID").to_owned()).collect();
    assert!(others.len() == 2 && others.iter().all(|one| one.starts_with("event-")), "{month}");
    // If the first date is removed, its cancellation does not cancel the series.
    app.delete(&format!("/events/{id}")).await.expect(200);
    let month = page(&app, MONTH).await.expect(200).text;
    let cancelled = entries(&month);
    let values = ["UID", "RECURRENCE-ID", "STATUS"].map(|name| value(first(&cancelled), name));
    assert_eq!(values, [&*uid, "20270504T180000", "CANCELLED"]);
    let feed = app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
    let whole = entries(&feed);
    let series: Vec<[&str; 2]> =
        whole.iter().map(|one| ["UID", "STATUS"].map(|name| value(one, name))).collect();
    assert_eq!(series[0], [&*uid, ""], "{feed}");
    assert!(series.iter().all(|[_, status]| status.is_empty()), "{feed}");
}

#[actix_web::test]
async fn file_of_a_day_does_not_replace_the_series_that_an_event_became() {
    let (app, other) = (App::new().await, App::new().await);
    let id = fair(&app).await;
    let moved = |file: &str| file.replace("127.0.0.1", "town.example");
    let month = page(&app, MONTH).await.expect(200).text;
    assert_eq!(counts(&other, moved(&month)).await, [1, 0, 0, 0, 0]);
    patch(&app, id, daily()).await.expect(200);
    // In its own calendar, the file only changes this date.
    let day = page(&app, DAY).await.expect(200).text;
    let before = events(&app, id).await;
    app.clock.advance(60);
    assert_eq!(counts(&app, &day).await, [0, 0, 1, 0, 0], "{day}");
    assert_eq!(events(&app, id).await, before);
    let edited = day.replace("SUMMARY:Fair", "SUMMARY:Guest");
    for expected in [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]] {
        assert_eq!(counts(&app, &edited).await, expected, "{edited}");
        let after = events(&app, id).await;
        let own = (&after[0]["title"], &after[0]["series"]["changed"]);
        assert_eq!(own, (&json!("Guest"), &json!(["title"])));
        assert_eq!(after[1..], before[1..]);
    }
    // Other calendars recognise the event from the earlier file.
    let month = page(&app, MONTH).await.expect(200).text;
    for created in [2, 0] {
        assert_eq!(counts(&other, moved(&month)).await[0], created, "{month}");
        assert_eq!(other.rows("events"), 3);
    }
    // After a move of the series, the file has the new time.
    let later = json!({"scope": "all", "start_date": "2027-05-04 17:00"});
    patch(&app, id, later).await.expect(200);
    let day = page(&app, DAY).await.expect(200).text;
    assert_eq!(counts(&app, &day).await, [0, 0, 1, 0, 0], "{day}");
    assert_eq!(app.rows("events"), 3);
}
