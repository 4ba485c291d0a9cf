//! Pages with a lot of text, which need a memory permit.

use batch::PagePermit;
use calendar::Links;
use database::{DatabaseError, Db};
use serde_json::json;
use testkit::until;

use crate::app::{App, plant};

/// More bytes of text than a page may have without a permit.
const LONG: usize = 300 << 10;

/// Lists whose pages have a lot of text.
const LISTS: [(&str, &str); 5] = [
    ("/events", "events"),
    ("/events?search=event", "events"),
    ("/events?modified_after=2000-01-01", "events"),
    ("/venues", "venues"),
    ("/organizers", "organizers"),
];

/// Creates an event whose venue alone makes its page long, and a resource with long text for each
/// of the other lists.
async fn with_long_texts(app: &App) {
    let text = "x".repeat(LONG);
    let venue = app.make("/venues", json!({"venue": "Hall", "description": text})).await;
    app.make("/organizers", json!({"organizer": "Choir", "description": text})).await;
    app.event(json!({"venue": venue})).await;
}

/// Takes the memory of all long pages. Returns `None` if a page is using some of it.
fn all_memory(app: &App) -> Option<PagePermit> {
    app.state.long_pages.acquire_blocking(usize::MAX, || Err(())).ok()
}

#[actix_web::test]
async fn long_page_of_every_list_is_complete_and_releases_its_permit() {
    let app = App::new().await;
    with_long_texts(&app).await;
    for (path, name) in LISTS {
        let answer = app.get(path).await.expect(200);
        assert!(answer.text.len() > LONG, "{path}");
        assert_eq!(answer.json[name].as_array().unwrap().len(), 1, "{path}");
        assert!(all_memory(&app).is_some(), "{path}");
    }
}

#[actix_web::test]
async fn long_page_waits_for_a_permit_while_short_pages_are_served() {
    let app = App::with(&["--list-time-ms=500"]).await;
    let short = app.event(json!({"start_date": "tomorrow"})).await;
    with_long_texts(&app).await;
    let taken = all_memory(&app).unwrap();
    for (path, _) in LISTS {
        let answer = app.get(path).await.expect(503);
        let refused = (answer.code(), answer.header("retry-after"));
        assert_eq!(refused, ("rest_unavailable", "5"), "{path}");
    }
    // Repeated until it succeeds, because a list may exceed its time limit on a busy machine.
    until("the short page is served", async || {
        let first = app.get("/events?per_page=1").await;
        first.status == 200 && first.json["events"][0]["id"] == short
    })
    .await;
    drop(taken);
    for (path, _) in LISTS {
        until(path, async || app.get(path).await.status == 200).await;
    }
}

#[actix_web::test]
async fn page_above_the_size_limit_gets_400() {
    let app = App::new().await;
    let author = app.user("editor");
    let text = "x".repeat(900 << 10);
    let organizer =
        app.make("/organizers", json!({"organizer": "Choir", "description": text})).await;
    let links = Links { organizers: vec![organizer], ..Links::default() };
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        let mut plant = |number: i64| {
            plant(db, author, (4_000_000_000 + number, 4_000_000_060), &links, |_| ())
        };
        (0..40).try_for_each(|number| plant(number).map(drop))
    };
    app.state.pools.write_blocking(planting).unwrap();
    let path = "/events?start_date=2096-01-01&end_date=2097-01-01";
    let answer = app.get(&format!("{path}&per_page=50")).await.expect(400);
    let message = "must be smaller: the page would have 35 MiB of text, over 32";
    assert!(answer.text.contains(message), "{}", answer.text);
    let answer = app.get(&format!("{path}&per_page=2")).await.expect(200);
    assert_eq!(answer.json["total"], 40);
}

#[actix_web::test]
async fn feed_with_long_texts_has_every_event_once() {
    let app = App::new().await;
    let author = app.user("editor");
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..7).try_for_each(|number| {
            let start = 4_000_000_000 + number * 100;
            plant(db, author, (start, start + 60), &Links::default(), |event| {
                event.title = format!("Night {number}");
                event.description = "x".repeat(900 << 10);
            })
            .map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    let feed = app.get("/ical?end_date=2100-01-01").await.expect(200);
    let titles: Vec<&str> = feed.text.lines().filter(|line| line.starts_with("SUMMARY")).collect();
    let expected: Vec<String> = (0..7).map(|number| format!("SUMMARY:Night {number}")).collect();
    assert_eq!(titles, expected);
    assert!(feed.text.ends_with("END:VCALENDAR\r\n"));
}

#[actix_web::test]
async fn event_with_more_text_than_a_page_is_refused() {
    let app = App::with(&["--rate-write-rpm", "0"]).await;
    let text = "x".repeat(900 << 10);
    let mut organizers = Vec::new();
    for number in 0..38 {
        let fields = json!({"organizer": format!("Choir {number}"), "description": text});
        organizers.push(app.make("/organizers", fields).await);
    }
    let id = app.event(json!({"organizer": organizers[..10]})).await;
    let path = format!("/events/{id}");
    let answer = app.patch(&path, &json!({"organizer": organizers})).await.expect(400);
    assert!(answer.text.contains("over 32"), "{}", answer.text);
    let body = json!({
        "title": "Big", "start_date": "2027-04-01", "end_date": "2027-04-01", "organizer": organizers,
    });
    app.post("/events", &body).await.expect(400);
    assert_eq!(app.get(&path).await.json["organizer"].as_array().unwrap().len(), 10);
}

#[actix_web::test]
async fn text_that_gives_an_event_more_than_a_page_is_refused() {
    let app = App::with(&["--rate-write-rpm", "0"]).await;
    let mut organizers = Vec::new();
    for number in 0..40 {
        let fields = json!({"organizer": format!("Choir {number}"), "description": "short"});
        organizers.push(app.make("/organizers", fields).await);
    }
    let id = app.event(json!({"organizer": organizers})).await;
    let long = json!({"description": "x".repeat(900 << 10)});
    let mut refused = 0;
    for organizer in &organizers {
        let answer = app.patch(&format!("/organizers/{organizer}"), &long).await;
        refused += usize::from(answer.status == 400);
        assert!(answer.status == 200 || answer.text.contains("over 32"), "{}", answer.text);
    }
    assert_eq!(refused, 4);
    let shown = app.get(&format!("/events/{id}")).await.expect(200);
    assert_eq!(shown.json["organizer"].as_array().unwrap().len(), 40);
    // Writing a shorter text, or any other field, is still possible.
    let last = format!("/organizers/{}", organizers[39]);
    app.patch(&last, &json!({"description": "x", "phone": "1"})).await.expect(200);
}
