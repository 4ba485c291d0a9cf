//! Headers for shared caches, and what changes them.

use calendar::{Calendar, Sql};
use database::Db;
use serde_json::json;

use crate::app::{App, send};

#[actix_web::test]
async fn api_responses_vary_by_credentials_or_are_private() {
    let app = App::new().await;
    let key = app.key("editor").to_owned();
    let bearer = format!("Bearer {key}");
    let credentials = [("x-api-key", key.as_str()), ("authorization", bearer.as_str())];
    // Pages and the feed are the same for all callers.
    let shared = |operation: &shell::Operation| operation.id().is_none_or(|id| id == "exportIcal");
    testkit::assert_caching::<Calendar>(&app.server, &credentials, shared).await;
}

#[actix_web::test]
async fn list_is_private_only_with_a_key() {
    let app = App::new().await;
    let list = app.get_as("editor", "/events").await.expect(200);
    assert_eq!(list.header("cache-control"), "private, no-cache");
    let list = app.get("/events").await.expect(200);
    assert_eq!(list.header("cache-control"), "");
}

#[actix_web::test]
async fn statements_that_change_no_row_keep_the_tag_of_a_feed() {
    let app = App::new().await;
    app.event(json!({"venue": {"venue": "Hall"}, "organizer": {"organizer": "Choir"}})).await;
    let tag = app.get("/ical").await.expect(200).header("etag").to_owned();
    let status =
        async || send(app.request("", "GET", "/ical").header("if-none-match", &tag)).await.status;
    // No scheduled event, venue or organizer is due.
    calendar::publish_due(&app.state).await;
    assert_eq!(status().await, 304);
    for table in ["events", "venues", "organizers", "terms", "images", "users"] {
        app.execute(&format!("update {table} set id = id where id = 999999"));
        app.execute(&format!("delete from {table} where id = 999999"));
    }
    app.execute("delete from event_statuses where event_id = 999999");
    assert_eq!(status().await, 304);
    app.execute("update organizers set phone = '1'");
    assert_eq!(status().await, 200);
}

#[actix_web::test]
async fn every_change_of_what_answers_show_is_counted() {
    let app = App::new().await;
    app.event(json!({
        "venue": {"venue": "Hall"}, "organizer": {"organizer": "Choir"}, "tags": ["live"],
        "image": "https://cdn.example/a.png", "event_status": "postponed",
    }))
    .await;
    let version = || {
        let read = |db: &mut Db| Sql::new(db, "select n from content_version").number(db);
        app.state.pools.read_blocking(read).unwrap()
    };
    for (preparing, change) in [
        ("", "update events set website = 'x'"),
        ("", "update venues set phone = 'x'"),
        ("", "update organizers set phone = 'x'"),
        ("", "update terms set description = 'x'"),
        ("", "update images set extension = 'gif'"),
        ("", "update event_statuses set reason = 'x'"),
        ("", "update users set role = 'reader' where login = 'author'"),
        ("", "delete from event_statuses"),
        ("event_terms", "delete from terms"),
        ("event_venues", "delete from venues"),
        ("event_organizers", "delete from organizers"),
        ("api_key", "delete from users where login = 'author'"),
        ("", "delete from events"),
        ("", "delete from images"),
    ] {
        if !preparing.is_empty() {
            app.execute(&format!("delete from {preparing}"));
        }
        let before = version();
        app.execute(change);
        assert!(version() > before, "{change}");
    }
}
