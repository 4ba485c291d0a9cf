//! Series with dates that are not public.

use calendar::{Links, State, extend_series, review_series};
use database::{DatabaseError, Db};
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{App, NS, plant, settings};
use crate::series::{course, events, patch, texts};

/// A feed of all dates.
const FEED: &str = "/ical?ends_after=2027-01-01";

/// Creates a series of weekly lectures with individual titles and descriptions. Returns the ids of
/// its events.
async fn lectures(app: &App, recurrence: Value) -> Vec<i64> {
    let id = course(app, json!({"title": "Lectures", "recurrence": recurrence})).await;
    let all = events(app, id).await;
    let ids: Vec<i64> = all.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    for (at, id) in ids.iter().enumerate() {
        let own = json!({"title": format!("Lecture {at}"), "description": format!("About {at}")});
        patch(app, *id, own).await.expect(200);
    }
    ids
}

/// Returns a weekly recurrence that excludes some dates.
fn weekly(count: i64, exdates: &[&str]) -> Value {
    json!({"rrule": "FREQ=WEEKLY", "count": count, "exdates": exdates})
}

/// Returns the writes that hide an event or its text.
fn hidings() -> Vec<Value> {
    vec![
        json!({"status": "private"}),
        json!({"status": "draft"}),
        json!({"hide_from_listings": true}),
        json!({"password": "secret"}),
        json!({"status": "trash"}),
    ]
}

#[actix_web::test]
async fn feed_of_a_series_does_not_have_the_texts_of_a_hidden_last_date() {
    for hiding in hidings() {
        let app = App::new().await;
        let ids = lectures(&app, weekly(3, &[])).await;
        let before = app.get(FEED).await.expect(200).text;
        assert!(before.contains("RRULE:") && before.contains("DESCRIPTION:About 2"), "{before}");
        patch(&app, ids[2], hiding.clone()).await.expect(200);
        let feed = app.get(FEED).await.expect(200).text;
        assert!(
            feed.contains("RRULE:") && feed.contains("DESCRIPTION:About 1"),
            "{hiding}: {feed}"
        );
        assert!(!feed.contains("About 2"), "{hiding}: {feed}");
        // Titles of protected events are public.
        assert_eq!(feed.contains("Lecture 2"), hiding["password"].is_string(), "{hiding}: {feed}");
    }
}

#[actix_web::test]
async fn longer_rule_does_not_copy_the_texts_of_a_hidden_last_date() {
    for hiding in hidings() {
        let app = App::new().await;
        let ids = lectures(&app, weekly(3, &[])).await;
        patch(&app, ids[2], hiding.clone()).await.expect(200);
        let exdates: &[&str] = if hiding["status"] == "trash" { &["2027-03-30"] } else { &[] };
        let longer = json!({"scope": "all", "recurrence": weekly(4, exdates)});
        patch(&app, ids[0], longer).await.expect(200);
        let all = events(&app, ids[0]).await;
        let new = all.last().unwrap();
        assert_eq!(new["start_date"], "2027-04-06 18:00:00", "{hiding}");
        assert_eq!(
            (&new["title"], &new["description"], &new["status"]),
            (&json!("Lecture 1"), &json!("<p>About 1</p>"), &json!("publish")),
            "{hiding}"
        );
    }
}

#[actix_web::test]
async fn shared_text_that_only_a_protected_date_still_has_is_not_in_the_open_series() {
    let app = App::new().await;
    let fields = json!({"description": "The code is 1234.", "recurrence": weekly(2, &[])});
    let id = course(&app, fields).await;
    let ids = events(&app, id).await;
    let ids: Vec<i64> = ids.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    patch(&app, ids[0], json!({"password": "secret"})).await.expect(200);
    patch(&app, ids[1], json!({"description": "Open to all."})).await.expect(200);
    let feed = app.get(FEED).await.expect(200).text;
    assert!(feed.contains("RRULE:FREQ=WEEKLY") && feed.contains("Open to all."), "{feed}");
    assert!(!feed.contains("1234"), "{feed}");
}

#[actix_web::test]
async fn extended_series_does_not_copy_the_texts_of_a_hidden_last_date() {
    let app = App::with(&["--series-ahead=1"]).await;
    let ids = lectures(&app, json!({"rrule": "FREQ=WEEKLY"})).await;
    patch(&app, *ids.last().unwrap(), json!({"status": "private"})).await.expect(200);
    app.clock.advance(30 * 24 * 3600);
    extend_series(&app.state).await;
    let all = events(&app, ids[0]).await;
    let new = all.iter().filter(|event| !ids.contains(&event["id"].as_i64().unwrap()));
    let new: Vec<[&Value; 2]> = new.map(|event| [&event["title"], &event["status"]]).collect();
    let last_public = json!(format!("Lecture {}", ids.len() - 2));
    assert!(!new.is_empty());
    assert_eq!(new, vec![[&last_public, &json!("publish")]; new.len()]);
}

#[actix_web::test]
async fn new_date_of_a_series_without_open_dates_has_only_its_name() {
    let app = App::new().await;
    let ids = lectures(&app, weekly(2, &[])).await;
    patch(&app, ids[0], json!({"password": "secret", "venue": {"venue": "Cellar"}}))
        .await
        .expect(200);
    patch(&app, ids[1], json!({"status": "private", "venue": {"venue": "Attic"}}))
        .await
        .expect(200);
    let longer = json!({"scope": "all", "recurrence": weekly(3, &[])});
    patch(&app, ids[0], longer).await.expect(200);
    // The first event does not show its series, because it has a password.
    let all = events(&app, ids[1]).await;
    let new = all.last().unwrap();
    assert_eq!(new["start_date"], "2027-03-30 18:00:00");
    let shown = ["title", "description", "venue", "status"].map(|name| new[name].clone());
    assert_eq!(shown, [json!("lectures"), json!(""), json!([]), json!("publish")]);
}

#[actix_web::test]
async fn dates_of_a_private_series_keep_the_texts_of_its_last_date() {
    let app = App::new().await;
    let ids = lectures(&app, weekly(2, &[])).await;
    patch(&app, ids[0], json!({"scope": "all", "status": "private"})).await.expect(200);
    let longer = json!({"scope": "all", "recurrence": weekly(3, &[])});
    patch(&app, ids[0], longer).await.expect(200);
    let new = app.rows("events where title = 'Lecture 1' and status = 'private'");
    assert_eq!(new, 2);
}

#[actix_web::test]
async fn series_that_becomes_private_hides_its_dates_in_the_trash() {
    for (scope, first, count) in [("all", 0, 4), ("following", 1, 3)] {
        let app = App::new().await;
        let id = course(&app, json!({})).await;
        let all = events(&app, id).await;
        let ids: Vec<i64> = all.iter().map(|event| event["id"].as_i64().unwrap()).collect();
        app.delete(&format!("/events/{}", ids[2])).await.expect(200);
        let change = json!({"scope": scope, "status": "private", "title": "Hearing of Ms X"});
        patch(&app, ids[first], change).await.expect(200);
        let feed = app.get(FEED).await.expect(200).text;
        assert!(!feed.contains("Hearing"), "{scope}: {feed}");
        let again = json!({"scope": "all", "recurrence": weekly(count, &[])});
        patch(&app, ids[first], again).await.expect(200);
        let path = format!("/events/{}", ids[2]);
        let returned = app.get_as("editor", &path).await.expect(200).json;
        assert_eq!(
            (&returned["status"], &returned["title"]),
            (&json!("private"), &json!("Hearing of Ms X")),
            "{scope}"
        );
    }
}

#[actix_web::test]
async fn date_that_a_contributor_may_not_change_stays_in_the_trash() {
    let app = App::new().await;
    let body = json!({"title": "Yoga", "start_date": "2027-03-16 18:00",
        "end_date": "2027-03-16 19:30", "recurrence": weekly(4, &[])});
    let id = app.call("contributor", "POST", "/events", &body).await.expect(201).id();
    let last = events(&app, id).await[3]["id"].as_i64().unwrap();
    let (first, last) = (format!("/events/{id}"), format!("/events/{last}"));
    let rule = |count| json!({"scope": "all", "recurrence": weekly(count, &[])});
    let published = json!({"status": "publish"});
    app.call("editor", "PATCH", &last, &published).await.expect(200);
    app.call("editor", "PATCH", &first, &rule(3)).await.expect(200);
    let longer = app.call("contributor", "PATCH", &first, &rule(4)).await.expect(200).json;
    let excluded = &longer["series"]["recurrence"]["exdates"];
    assert_eq!(*excluded, json!(["2027-04-06 18:00:00"]));
    assert_eq!(app.get_as("editor", &last).await.code(), "event-no-longer-available");
    assert_eq!(texts(&app, id, "status").await, vec!["draft"; 3]);
    // An editor may restore it.
    app.call("editor", "PATCH", &first, &rule(4)).await.expect(200);
    assert_eq!(app.get(&last).await.expect(200).json["status"], "publish");
}

#[actix_web::test]
async fn date_beyond_the_horizon_that_a_contributor_may_not_change_stays_in_the_trash() {
    let app = App::with(&["--series-ahead=2"]).await;
    let extend = async || {
        let media = app.state.media.clone();
        let settings = settings(&["--series-ahead=24"]);
        let state = State::new(app.state.pools.clone(), app.clock.shared(), settings, media);
        review_series(&state).await;
        extend_series(&state).await;
    };
    let body = json!({"title": "Yoga", "start_date": "2027-03-16 18:00",
        "end_date": "2027-03-16 19:30", "recurrence": weekly(20, &[])});
    let id = app.call("contributor", "POST", "/events", &body).await.expect(201).id();
    extend().await;
    let all = events(&app, id).await;
    assert_eq!(all.len(), 20);
    let (first, last) = (format!("/events/{id}"), format!("/events/{}", all[19]["id"]));
    let rule = |count| json!({"scope": "all", "recurrence": weekly(count, &[])});
    app.call("editor", "PATCH", &last, &json!({"status": "publish"})).await.expect(200);
    app.call("editor", "PATCH", &first, &rule(19)).await.expect(200);
    let longer = app.call("contributor", "PATCH", &first, &rule(20)).await.expect(200).json;
    let excluded = &longer["series"]["recurrence"]["exdates"];
    assert_eq!(*excluded, json!(["2027-07-27 18:00:00"]));
    extend().await;
    assert_eq!(app.get_as("editor", &last).await.code(), "event-no-longer-available");
    assert_eq!(events(&app, id).await.len(), 19);
}

#[actix_web::test]
async fn rule_of_a_restored_event_does_not_restore_the_events_of_others() {
    let app = App::new().await;
    let body = json!({"title": "Yoga", "start_date": "2027-03-16 18:00",
        "end_date": "2027-03-16 19:30", "recurrence": weekly(3, &[])});
    let id = app.call("author", "POST", "/events", &body).await.expect(201).id();
    let all = events(&app, id).await;
    let ids: Vec<i64> = all.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    let given = json!({"author": app.user("author2")});
    app.call("editor", "PATCH", &format!("/events/{}", ids[2]), &given).await.expect(200);
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    let first = format!("/events/{id}");
    app.call("author", "PATCH", &first, &json!({"status": "publish"})).await.expect(200);
    let rule = json!({"recurrence": weekly(3, &[])});
    app.call("author", "PATCH", &first, &rule).await.expect(200);
    let statuses = async || {
        let mut statuses = Vec::new();
        for id in &ids {
            let event = app.get_as("editor", &format!("/events/{id}")).await;
            statuses.push(event.json["status"].as_str().unwrap_or(event.code()).to_owned());
        }
        statuses
    };
    assert_eq!(statuses().await, ["publish", "publish", "event-no-longer-available"]);
    assert_eq!(events(&app, id).await.len(), 2);
}

#[actix_web::test]
async fn feed_does_not_have_a_series_that_became_private_while_it_was_sent() {
    let app = App::new().await;
    let author = app.user("editor");
    // More than the buffers between the server and a client that does not read.
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..24).try_for_each(|number| {
            let start = 1_800_000_000 + number * 100;
            plant(db, author, (start, start + 60), &Links::default(), |event| {
                event.description = "x".repeat(900 << 10);
            })
            .map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    let id = course(&app, json!({"description": "Open"})).await;
    let mut answer = app.server.request(Method::GET, &format!("{NS}{FEED}")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut feed = answer.chunk().await.unwrap().unwrap().to_vec();
    let change = json!({"scope": "all", "status": "private", "description": "Internal"});
    patch(&app, id, change).await.expect(200);
    while let Some(piece) = answer.chunk().await.unwrap() {
        feed.extend(piece);
    }
    let feed = String::from_utf8(feed).unwrap();
    assert!(feed.ends_with("END:VCALENDAR\r\n") && !feed.contains("Internal"));
}
