//! Events: create, read, list, trash, password.

use std::sync::Arc;

use calendar::{Links, Media, Role, Sql, Stage, State, Status, add_user};
use domain::{Clock, ManualClock};
use serde_json::{Value, json};
use testkit::Database;

use crate::app::{App, NOW, NS, plant, send, settings};

#[actix_web::test]
async fn created_event_is_listed_with_venue_and_categories() {
    let app = App::new().await;
    let created = app
        .post(
            "/events",
            &json!({
                "title": "Jazz & Blues",
                "start_date": "2027-04-01 19:00",
                "end_date": "2027-04-01 22:00",
                "timezone": "Europe/Vienna",
                "venue": {"venue": "Hall", "city": "Graz"},
                "categories": ["Music", "Jazz"],
                "cost": "10-20",
            }),
        )
        .await
        .expect(201);
    assert_eq!(created.header("location"), created.json["rest_url"]);
    assert_eq!(created.json["title"], "Jazz &#038; Blues");
    assert_eq!(created.json["utc_start_date"], "2027-04-01 17:00:00");
    assert_eq!(created.json["timezone_abbr"], "CEST");
    assert_eq!(created.json["venue"]["city"], "Graz");
    assert_eq!(created.json["categories"][0]["name"], "Jazz");
    assert_eq!(created.json["cost"], "$10 – $20");

    let list = app.get("/events").await.expect(200);
    assert_eq!(list.json["events"][0], created.json);
    assert_eq!(list.json["total"], 1);
    assert_eq!(list.json["total_pages"], 1);
    for prefix in ["x-tec", "x-wp"] {
        assert_eq!(list.header(&format!("{prefix}-total")), "1");
        assert_eq!(list.header(&format!("{prefix}-totalpages")), "1");
    }
    let base = app.server.url(NS);
    assert_eq!(
        list.json["rest_url"],
        format!(
            "{base}/events?page=1&per_page=10&start_date=2027-03-09%2000%3A00%3A00\
             &end_date=2029-03-10%2023%3A59%3A59&status=publish"
        )
    );
}

#[actix_web::test]
async fn event_json_keeps_the_order_of_its_keys() {
    let app = App::new().await;
    let id = app.event(json!({})).await;
    let text = app.get(&format!("/events/{id}")).await.text;
    let names = [
        "id",
        "global_id",
        "global_id_lineage",
        "author",
        "status",
        "date",
        "date_utc",
        "modified",
        "modified_utc",
        "url",
        "rest_url",
        "title",
        "description",
        "excerpt",
        "slug",
        "image",
        "all_day",
        "start_date",
        "start_date_details",
        "end_date",
        "end_date_details",
        "utc_start_date",
        "utc_start_date_details",
        "utc_end_date",
        "utc_end_date_details",
        "timezone",
        "timezone_abbr",
        "cost",
        "cost_details",
        "website",
        "show_map",
        "show_map_link",
        "hide_from_listings",
        "sticky",
        "featured",
        "categories",
        "tags",
        "venue",
        "organizer",
        "custom_fields",
        "json_ld",
    ];
    let mut from = 0;
    for name in names {
        let at = text[from..].find(&format!("\"{name}\":"));
        from += at.unwrap_or_else(|| panic!("{name} does not follow {}", &text[..from]));
    }
}

#[actix_web::test]
async fn single_read_has_linked_data_and_a_tag() {
    let app = App::new().await;
    let id = app
        .event(json!({"cost": "Free", "timezone": "Europe/Vienna", "venue": {"venue": "Hall", "zip": "8010"}}))
        .await;
    let path = format!("/events/{id}");
    let read = app.get(&path).await.expect(200);
    let data = &read.json["json_ld"];
    assert_eq!(data["startDate"], "2027-04-01T10:00:00+02:00");
    assert_eq!(data["offers"]["price"], "0");
    assert_eq!(data["location"]["address"]["postalCode"], "8010");
    assert_eq!(read.json["venue"]["json_ld"]["@type"], "Place");
    assert!(app.get("/events").await.json["events"][0].get("json_ld").is_none());
    let tag = read.header("etag").to_owned();
    let again = send(app.request("", "GET", &path).header("If-None-Match", &tag)).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    app.clock.advance(5);
    app.patch(&path, &json!({"title": "Other"})).await.expect(200);
    let again = send(app.request("", "GET", &path).header("If-None-Match", &tag)).await;
    assert_eq!(again.status, 200);
}

#[actix_web::test]
async fn event_shows_changes_of_its_venue_and_terms_at_once() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let tag = app.make("/tags", json!({"name": "Live"})).await;
    let id = app.event(json!({"venue": venue, "tags": [tag]})).await;
    let path = format!("/events/{id}");
    let changes = [
        ("PATCH", format!("/tags/{tag}"), json!({"name": "Loud"})),
        (
            "POST",
            "/events".to_owned(),
            json!({"title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01", "tags": [tag]}),
        ),
        ("DELETE", format!("/venues/{venue}"), json!({})),
    ];
    for (method, changed, body) in changes {
        let read = app.get(&path).await.expect(200);
        app.clock.advance(60);
        app.call("administrator", method, &changed, &body).await;
        for (header, known) in [("If-Modified-Since", "last-modified"), ("If-None-Match", "etag")] {
            let again = app.request("", "GET", &path).header(header, read.header(known));
            let again = send(again).await.expect(200);
            assert_ne!(again.text, read.text, "{method} {changed} {header}");
        }
    }
}

#[actix_web::test]
async fn trashed_event_is_not_found_until_restored() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Show", "categories": ["Music"]})).await;
    let path = format!("/events/{id}");
    let trashed = app.delete(&path).await.expect(200);
    assert_eq!(
        (&trashed.json["status"], &trashed.json["slug"]),
        (&json!("trash"), &json!("show__trashed"))
    );
    assert_eq!(app.delete(&path).await.expect(410).code(), "event-is-in-trash");
    assert_eq!(
        app.get_as("administrator", &path).await.expect(403).code(),
        "event-no-longer-available"
    );
    assert_eq!(app.get("/events").await.json["total"], 0);
    assert_eq!(app.get("/categories").await.json["total"], 0);
    let kept = app.patch(&path, &json!({"title": "Still there"})).await.expect(200);
    assert_eq!(kept.json["status"], "trash");
    app.event(json!({"title": "Show"})).await;
    let restored = app.patch(&path, &json!({"status": "publish"})).await.expect(200);
    assert_eq!(restored.json["slug"], "show-2");
    assert_eq!(restored.json["categories"][0]["name"], "Music");
    assert_eq!(app.get("/categories").await.json["categories"][0]["count"], 1);
}

#[actix_web::test]
async fn protected_event_hides_its_content_without_the_password() {
    let app = App::new().await;
    let id = app
        .event(
            json!({"title": "Secret", "description": "hidden", "password": "pa ss", "tags": ["x"]}),
        )
        .await;
    let path = format!("/events/{id}");
    for who in ["", "administrator"] {
        let refused = app.get_as(who, &path).await.expect(403);
        assert_eq!(refused.code(), "event-password-protected");
    }
    app.get(&format!("{path}?password=wrong")).await.expect(403);
    app.get(&format!("{path}?password=pa+ss")).await.expect(200);
    app.get_as("administrator", &format!("{path}?context=edit")).await.expect(200);
    app.get_as("author", &format!("{path}?context=edit")).await.expect(403);
    let listed = &app.get("/events").await.json["events"][0];
    assert_eq!(listed["title"], "Secret");
    for name in ["description", "excerpt", "cost", "website"] {
        assert_eq!(listed[name], "", "{name}");
    }
    for name in ["all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured"]
    {
        assert_eq!(listed[name], Value::Null, "{name}");
    }
    for name in ["categories", "tags", "venue", "organizer", "custom_fields"] {
        assert_eq!(listed[name], json!([]), "{name}");
    }
    let open = app.get("/events?password=pa%20ss").await;
    assert_eq!(open.json["events"][0]["description"], "<p>hidden</p>");
    assert!(!open.json["events"][0].as_object().unwrap().contains_key("password"));
    app.patch(&path, &json!({"password": ""})).await.expect(200);
    app.get(&path).await.expect(200);
}

#[actix_web::test]
async fn draft_venue_is_shown_only_to_callers_who_may_read_it() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Secret hall", "status": "draft"})).await;
    let event = app.event(json!({"venue": venue})).await;
    let path = format!("/events/{event}");
    assert_eq!(app.get(&path).await.json["venue"], json!([]));
    assert_eq!(app.get_as("author", &path).await.json["venue"], json!([]));
    assert_eq!(app.get_as("editor", &path).await.json["venue"]["id"], venue);
    app.delete(&format!("/venues/{venue}")).await.expect(200);
    assert_eq!(app.get_as("editor", &path).await.json["venue"], json!([]));
}

#[actix_web::test]
async fn scheduled_event_is_published_when_its_date_comes() {
    let app = App::new().await;
    let created = app
        .post("/events", &json!({"title": "Later", "start_date": "2027-04-01", "end_date": "2027-04-01", "date": "2027-03-11 12:00"}))
        .await
        .expect(201);
    assert_eq!(created.json["status"], "future");
    assert_eq!(app.get("/events").await.json["total"], 0);
    app.clock.advance(24 * 3600);
    calendar::publish_due(&app.state).await;
    assert_eq!(app.get("/events").await.json["events"][0]["status"], "publish");
}

#[actix_web::test]
async fn custom_statuses_are_returned_and_hidden_like_drafts() {
    let app = App::new().await;
    let id = app.event(json!({"status": "Confirmed"})).await;
    assert_eq!(app.get(&format!("/events/{id}")).await.expect(403).code(), "event-not-accessible");
    let own = app.get_as("administrator", "/events?status=Confirmed").await.expect(200);
    assert_eq!(own.json["events"][0]["status"], "Confirmed");
    assert_eq!(app.get("/events?status=Confirmed").await.status, 400);
}

#[actix_web::test]
async fn venue_is_a_list_unless_the_event_has_exactly_one() {
    let app = App::new().await;
    let one = app.make("/venues", json!({"venue": "One"})).await;
    let id = app.event(json!({"venue": [one, {"venue": "Two"}, {"venue": "one"}]})).await;
    let path = format!("/events/{id}");
    let venues = app.get(&path).await.json["venue"].clone();
    assert_eq!(venues.as_array().unwrap().len(), 2, "{venues}");
    for clear in [json!(""), json!([]), json!(0), json!([null])] {
        app.patch(&path, &json!({"venue": [one]})).await.expect(200);
        let cleared = app.patch(&path, &json!({"venue": clear})).await.expect(200);
        assert_eq!(cleared.json["venue"], json!([]), "{clear}");
    }
}

/// A clock that advances by an hour each time it is read.
struct HourlyClock(ManualClock);

impl Clock for HourlyClock {
    fn now(&self) -> jiff::Timestamp {
        self.0.advance(3600);
        self.0.now()
    }
}

#[actix_web::test]
async fn all_due_events_are_published_in_one_run() {
    let app = App::new().await;
    let author = app.user("author");
    let at = 1_810_000_000;
    let plant_many = |db: &mut database::Db| -> Result<(), database::DatabaseError> {
        for _ in 0..1100 {
            plant(db, author, (at, at + 60), &Links::default(), |event| {
                event.set_status(Status::of(Stage::Future));
                event.published_utc = 0;
            })?;
        }
        Ok(())
    };
    app.state.pools.write_blocking(plant_many).unwrap();
    calendar::publish_due(&app.state).await;
    assert_eq!(app.get("/events").await.json["total"], 1100);
}

#[actix_web::test]
async fn every_batch_of_due_events_has_its_own_time() {
    let database = Database::new();
    let pools = database.open(&[&auth::MIGRATIONS, &calendar::MIGRATIONS]);
    let clock = Arc::new(HourlyClock(ManualClock::new(NOW.parse().unwrap())));
    let media = Media::new(database.folder().join("media"));
    let state = State::new(pools, clock, settings(&[]), media);
    let plant_many = |db: &mut database::Db| -> Result<(), database::DatabaseError> {
        let author = add_user(db, "author", "author", Role::Author)?;
        for _ in 0..1100 {
            plant(db, author, (1_810_000_000, 1_810_000_060), &Links::default(), |event| {
                event.set_status(Status::of(Stage::Future));
                event.published_utc = 0;
            })?;
        }
        Ok(())
    };
    state.pools.write_blocking(plant_many).unwrap();
    calendar::publish_due(&state).await;
    let span = |db: &mut database::Db| {
        Sql::new(db, "select max(modified_utc) - min(modified_utc) as n from events").number(db)
    };
    assert_eq!(state.pools.read_blocking(span).unwrap(), 3600);
}
