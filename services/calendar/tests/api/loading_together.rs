//! Loads that store many new events with few statements.

use std::io::Cursor;
use std::sync::atomic::Ordering;

use calendar::{LoadOptions, Loaded, State, add_webhook, load};
use database::{Backend, Db};
use serde_json::{Value, json};

use crate::app::{App, NS, send, settings};

/// The host of all requests, so that both calendars return the same URLs.
const HOST: &str = "events.example";

fn loaded(state: &State, lines: &[Value]) -> Loaded {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    load(state, Cursor::new(text), LoadOptions::default()).unwrap()
}

/// Adds what a line needs besides a request body.
fn line(number: usize, kind: &str, body: &Value) -> Value {
    let mut line = body.clone();
    line["type"] = json!(kind);
    if kind == "event" && number % 7 != 3 {
        line["external_id"] = json!(format!("x{number}"));
    }
    line
}

/// Returns the bodies of requests that create events, with their kinds.
fn bodies() -> Vec<(&'static str, Value)> {
    let mut bodies = vec![
        ("category", json!({"name": "Music"})),
        ("tag", json!({"name": "Late night"})),
        ("tag", json!({"name": "12", "slug": "a-dozen"})),
        ("venue", json!({"venue": "Hall"})),
        ("organizer", json!({"organizer": "Ann & Co"})),
    ];
    let events = [
        json!({"title": "Yoga", "categories": ["music"], "tags": ["LATE night"]}),
        json!({"title": "Yoga", "venue": {"venue": "HALL"}, "tags": ["late-night", "Late night"]}),
        json!({"title": "<b>Yoga</b>", "organizer": [{"organizer": "Ann &amp; Co"}]}),
        json!({"title": "New terms", "categories": ["Fresh"], "tags": ["Rare", "late-night"]}),
        json!({"title": "Old terms", "categories": ["FRESH", "music"], "tags": "rare,12"}),
        json!({"title": "Move", "venue": {"venue": "Hall", "city": "Graz"}}),
        json!({"title": "New places", "venue": {"venue": "Barn"}, "organizer": {"organizer": "Bo"}}),
        json!({"title": "Places", "venue": {"venue": "barn"}, "organizer": {"organizer": "BO"}}),
        json!({"title": "Idea", "status": "draft", "categories": ["music"], "venue": {"venue": "Hall"}}),
        json!({"title": "Rain", "event_status": "cancelled", "event_status_reason": "Rain"}),
        json!({"title": "Named", "slug": "own-slug"}),
        json!({"title": "Other", "slug": "Own slug", "description": "<p>R &amp; B"}),
        json!({"title": "Yoga", "start_date": "2027-05-09 10:00", "end_date": "2027-05-09 09:00"}),
        json!({"title": "Secret", "password": "hush", "cost": "5-10", "featured": true}),
        json!({"title": "By id", "venue": 1, "organizer": "2", "categories": [1], "tags": ["2"]}),
        json!({"title": "Class", "recurrence": {"rrule": "FREQ=DAILY", "count": 3}}),
        json!({"title": "Class", "tags": ["Rare"]}),
        json!({"title": "日本", "all_day": true, "timezone": "Asia/Tokyo"}),
        json!({"title": "!!!"}),
        json!({"title": "Later", "status": "future", "date": "2027-06-01 10:00", "tags": ["Rare"]}),
        json!({"title": "Gone", "status": "trash", "tags": ["Rare"]}),
        json!({"title": "Yoga", "website": "https://yoga.example/", "excerpt": "Short"}),
        json!({"title": "Image", "image": "https://cdn.example/a.png"}),
        json!({"title": "Last", "tags": ["Rare", "Late night"], "categories": ["Music"]}),
    ];
    bodies.extend(events.into_iter().zip(1..).map(|(mut event, day)| {
        if event["start_date"].is_null() {
            event["start_date"] = json!(format!("2027-04-{day:02} 10:00"));
            event["end_date"] = json!(format!("2027-04-{day:02} 12:00"));
        }
        ("event", event)
    }));
    bodies
}

async fn with_webhook() -> App {
    let app = App::new().await;
    let add = |db: &mut Db| add_webhook(db, "http://127.0.0.1:1/", "secret", 0);
    app.state.pools.write_blocking(add).unwrap();
    app
}

#[actix_web::test]
async fn events_loaded_together_equal_those_created_one_by_one() {
    let (one, other) = (with_webhook().await, with_webhook().await);
    let bodies = bodies();
    for (kind, body) in &bodies {
        let path = if *kind == "category" { "/categories".to_owned() } else { format!("/{kind}s") };
        one.post(&path, body).await.expect(201);
    }
    let lines: Vec<Value> =
        bodies.iter().enumerate().map(|(number, (kind, body))| line(number, kind, body)).collect();
    let report = loaded(&other.state, &lines);
    assert_eq!((report.created, report.failed), (bodies.len() as u64, 0), "{:?}", report.faults);
    assert_eq!(report.warned, 1);
    let list = "/events?per_page=50&status=any&start_date=2020-01-01&end_date=2030-01-01";
    for path in [
        list,
        &format!("{list}&search=yoga"),
        &format!("{list}&tags=rare"),
        "/venues?status=any",
        "/organizers",
        "/categories?hide_empty=false",
        "/tags?hide_empty=false",
        "/events/by-slug/yoga-4",
    ] {
        let read = async |app: &App| {
            let request = app.server.get(&format!("{NS}{path}")).header("Host", HOST);
            send(request.header("X-API-Key", app.key("administrator"))).await.expect(200).text
        };
        assert_eq!(read(&one).await, read(&other).await, "{path}");
    }
    for table in ["entities", "event_changes", "event_terms", "former_slugs", "webhook_outbox"] {
        assert_eq!(one.rows(table), other.rows(table), "{table}");
    }
    // A second run finds all of them.
    let again = loaded(&other.state, &lines);
    assert_eq!((again.unchanged, again.failed), (bodies.len() as u64, 0), "{:?}", again.faults);
}

#[actix_web::test]
async fn event_that_is_repeated_within_a_batch_is_created_once() {
    let app = App::new().await;
    let event = |title: &str, id: Option<&str>| {
        json!({"type": "event", "title": title, "external_id": id,
            "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 09:00"})
    };
    let lines = [
        event("One", Some("x1")),
        event("Two", Some("x1")),
        event("one", None),
        event("", Some("x2")),
        event("Three", None),
        event("THREE", None),
        event("Three", Some("x3")),
    ];
    let report = loaded(&app.state, &lines);
    assert_eq!((report.created, report.unchanged, report.failed), (3, 3, 1));
    assert_eq!(report.faults[0].line, 4);
    let warned: Vec<u64> = report.warnings.iter().map(|warning| warning.line).collect();
    assert_eq!(warned, [1, 5, 7]);
    let events = app.get("/events").await.json["events"].clone();
    let slugs: Vec<&Value> = events.as_array().unwrap().iter().map(|one| &one["slug"]).collect();
    assert_eq!(slugs, ["one", "three", "three-2"]);
}

#[actix_web::test]
async fn event_with_many_venues_keeps_to_the_limit_of_its_texts() {
    let app = App::new().await;
    let text = "x".repeat(1 << 20);
    let mut lines = Vec::new();
    for number in 0..33 {
        lines
            .push(json!({"type": "venue", "venue": format!("Hall {number}"), "description": text}));
    }
    let venues: Vec<Value> =
        (0..33).map(|number| json!({"venue": format!("Hall {number}")})).collect();
    lines.push(json!({"type": "event", "title": "Tour", "external_id": "x", "venue": venues,
        "start_date": "2027-04-01", "end_date": "2027-04-01"}));
    let report = loaded(&app.state, &lines);
    assert_eq!((report.created, report.failed), (33, 1), "{:?}", report.faults);
    assert!(report.faults[0].message.starts_with("venue must have less text"));
    assert_eq!(app.rows("events"), 0);
}

#[actix_web::test]
async fn texts_that_grow_when_stored_are_measured_after_storing() {
    let app = App::new().await;
    // Each of them is stored as `&#038;`.
    let text = "&".repeat(1 << 20);
    let names = (0..6).map(|number| format!("Hall {number}"));
    let venues: Vec<Value> = names.map(|name| json!({"venue": name})).collect();
    let mut lines: Vec<Value> = venues
        .iter()
        .map(|one| json!({"type": "venue", "venue": one["venue"], "description": text}))
        .collect();
    let dates = ("2027-04-01", "2027-04-02");
    for (number, venues) in [&venues[..], &venues[..1]].into_iter().enumerate() {
        lines.push(json!({"type": "event", "title": "Tour", "external_id": format!("x{number}"),
            "venue": venues, "start_date": dates.0, "end_date": dates.1}));
    }
    let report = loaded(&app.state, &lines);
    assert_eq!((report.created, report.failed), (7, 1), "{:?}", report.faults);
    assert!(report.faults[0].message.starts_with("venue must have less text"));
}

#[actix_web::test]
async fn load_of_many_events_takes_few_statements() {
    let app = App::new().await;
    let (pools, statements) = app.counted(|_| true).await;
    let is_sqlite = pools.backend() == Backend::Sqlite;
    let state = State::new(pools, app.clock.shared(), settings(&[]), app.state.media.clone());
    let mut terms = Vec::new();
    for number in 0..10 {
        terms.push(json!({"type": "venue", "venue": format!("Hall {number}")}));
        terms.push(json!({"type": "category", "name": format!("Kind {number}")}));
        terms.push(json!({"type": "tag", "name": format!("Tag {number}")}));
    }
    loaded(&state, &terms);
    let before = statements.load(Ordering::Relaxed);
    let events: Vec<Value> = (0..200)
        .map(|number| {
            let numbered = |name: &str| format!("{name} {}", number % 10);
            json!({"type": "event", "external_id": format!("x{number}"),
                "title": format!("Event {number}"), "venue": {"venue": numbered("hall")},
                "categories": [numbered("kind")], "tags": [numbered("tag")],
                "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00"})
        })
        .collect();
    assert_eq!(loaded(&state, &events).created, 200);
    // SQLite has no round trips, and inserts each event with a prepared statement.
    let most = if is_sqlite { 240 } else { 40 };
    let statements = statements.load(Ordering::Relaxed) - before;
    assert!(statements < most, "{statements} statements");
    assert_eq!(app.get("/tags").await.json["tags"][3]["count"], 20);
}
