//! Series: creating, changing and extending them.

use calendar::{State, extend_series, review_series};
use serde_json::{Value, json};

use crate::app::{Answer, App, settings};

/// Creates a weekly course of four evenings, across the change to summer time.
pub async fn course(app: &App, fields: Value) -> i64 {
    let mut body = json!({
        "title": "Yoga", "timezone": "Europe/Vienna", "start_date": "2027-03-16 18:00",
        "end_date": "2027-03-16 19:30", "recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=TU", "count": 4},
    });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    app.post("/events", &body).await.expect(201).id()
}

/// Returns the events in an event's series, ordered by start.
pub async fn events(app: &App, id: i64) -> Vec<Value> {
    let series = app.get_as("editor", &format!("/events/{id}")).await.json["series"]["id"].clone();
    let path =
        format!("/events?series={series}&per_page=50&start_date=2000-01-01&end_date=2100-01-01");
    let list = app.get_as("editor", &path).await.expect(200);
    list.json["events"].as_array().unwrap().clone()
}

/// Returns one field of all events in a series.
pub async fn texts(app: &App, id: i64, name: &str) -> Vec<String> {
    let all = events(app, id).await;
    all.iter().map(|event| event[name].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the months, days and times when the events of a series start.
pub async fn starts(app: &App, id: i64) -> Vec<String> {
    texts(app, id, "start_date").await.iter().map(|text| text[5..16].to_owned()).collect()
}

/// Changes an event.
pub async fn patch(app: &App, id: i64, body: Value) -> Answer {
    app.patch(&format!("/events/{id}"), &body).await
}

#[actix_web::test]
async fn series_has_an_event_for_each_date() {
    let app = App::new().await;
    let id = course(&app, json!({"venue": {"venue": "Hall"}, "tags": ["calm"], "cost": "5"})).await;
    let all = events(&app, id).await;
    let utc: Vec<&str> = all.iter().map(|one| one["utc_start_date"].as_str().unwrap()).collect();
    assert_eq!(
        utc,
        [
            "2027-03-16 17:00:00",
            "2027-03-23 17:00:00",
            "2027-03-30 16:00:00",
            "2027-04-06 16:00:00"
        ]
    );
    assert_eq!(all[0]["id"], id);
    for (event, day) in all.iter().zip(["03-16", "03-23", "03-30", "04-06"]) {
        assert_eq!(event["slug"], format!("yoga--2027-{day}"));
        assert!(event["url"].as_str().unwrap().ends_with(&format!("/event/yoga/2027-{day}/")));
        assert_eq!(event["end_date"], format!("2027-{day} 19:30:00"));
        assert_eq!(
            (&event["venue"]["venue"], &event["tags"][0]["name"]),
            (&json!("Hall"), &json!("calm"))
        );
        let recurrence = json!({
            "rrule": "FREQ=WEEKLY;BYDAY=TU", "count": 4, "exdates": [], "rdates": [],
        });
        let occurrence = format!("2027-{day} 18:00:00");
        assert_eq!(
            event["series"],
            json!({"id": 1, "occurrence": occurrence, "changed": [], "recurrence": recurrence})
        );
    }
    assert_eq!(app.rows("venues"), 1);
    assert_eq!(app.get("/tags").await.json["tags"][0]["count"], 4);
    let slug = app.get("/events/by-slug/yoga--2027-03-23").await.expect(200);
    assert_eq!(slug.json["id"], all[1]["id"]);
    let children = app.get(&format!("/events?post_parent={id}")).await.ids();
    assert_eq!(children.len(), 3);
    // Another series with this title has other slugs.
    let other = course(&app, json!({})).await;
    assert_eq!(texts(&app, other, "slug").await[0], "yoga-2--2027-03-16");
}

#[actix_web::test]
async fn dates_are_added_and_excluded() {
    let app = App::new().await;
    let vienna = json!({"rrule": "FREQ=WEEKLY", "until": "2027-04-06", "exdates": ["2027-03-23"],
        "rdates": ["2027-03-25 20:00", "2027-03-26T10:00:00Z"]});
    let id = course(&app, json!({"recurrence": vienna})).await;
    assert_eq!(
        starts(&app, id).await,
        ["03-16 18:00", "03-25 20:00", "03-26 11:00", "03-30 18:00", "04-06 18:00"]
    );
    let shown = events(&app, id).await[0]["series"]["recurrence"].clone();
    assert_eq!(
        shown,
        json!({"rrule": "FREQ=WEEKLY", "until": "2027-04-06 23:59:59", "exdates": ["2027-03-23 18:00:00"],
            "rdates": ["2027-03-25 20:00:00", "2027-03-26 11:00:00"]})
    );
    // The lines of a calendar file mean the same.
    let lines =
        "RRULE:FREQ=WEEKLY;UNTIL=20270406T160000Z\nEXDATE:20270323T170000Z\nRDATE:20270325T190000Z";
    let id = course(&app, json!({"recurrence": lines})).await;
    assert_eq!(
        starts(&app, id).await,
        ["03-16 18:00", "03-25 20:00", "03-30 18:00", "04-06 18:00"]
    );
    // Days of an all-day series.
    let days = json!({"all_day": true, "start_date": "2027-03-27", "end_date": "2027-03-28",
        "recurrence": {"rrule": "FREQ=MONTHLY", "count": 3, "exdates": ["2027-04-27"]}});
    let id = course(&app, days).await;
    assert_eq!(starts(&app, id).await, ["03-27 00:00", "05-27 00:00"]);
    assert_eq!(texts(&app, id, "end_date").await[1], "2027-05-28 23:59:59");
    // Dates without a rule.
    let dates = json!({"recurrence": {"rdates": ["2027-05-01"]}});
    let id = course(&app, dates).await;
    assert_eq!(starts(&app, id).await, ["03-16 18:00", "05-01 18:00"]);
}

#[actix_web::test]
async fn faulty_recurrences_are_400_and_create_nothing() {
    let app = App::with(&["--series-max=100"]).await;
    for (fields, parameter, text) in [
        (json!({"recurrence": {}}), "recurrence", "must have an rrule or rdates"),
        (json!({"recurrence": 5}), "recurrence", "must be an object with rrule, or a string"),
        (
            json!({"recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=WE"}}),
            "start_date",
            "must match the rule",
        ),
        (
            json!({"recurrence": {"rrule": "FREQ=WEEKLY", "exdates": ["2027-03-16"]}}),
            "recurrence",
            "must not exclude the start",
        ),
        (
            json!({"recurrence": {"rrule": "FREQ=WEEKLY", "until": "2027-03-15"}}),
            "recurrence",
            "must not end before the start",
        ),
        (
            json!({"recurrence": {"rrule": "FREQ=DAILY"}}),
            "recurrence",
            "must have at most 100 occurrences in the next 24 months",
        ),
        (
            json!({"recurrence": {"rrule": "FREQ=MINUTELY"}}),
            "recurrence",
            "must have at most 100 occurrences in the next 24 months",
        ),
        (
            json!({"recurrence": {"rrule": "FREQ=WEEKLY"}, "timezone": "UTC+5:30"}),
            "timezone",
            "must be a named zone or UTC for a series",
        ),
        (json!({"scope": "some"}), "scope", "must be this, following or all"),
    ] {
        let mut body = json!({
            "title": "Yoga", "timezone": "Europe/Vienna", "start_date": "2027-03-16 18:00",
            "end_date": "2027-03-16 19:30", "venue": {"venue": "Nowhere"},
        });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = app.post("/events", &body).await.expect(400);
        let found = answer.json["data"]["params"][parameter].as_str().unwrap_or_default();
        assert!(found.contains(text), "{fields}: {}", answer.text);
    }
    assert_eq!((app.rows("events"), app.rows("venues"), app.rows("series")), (0, 0, 0));
    app.get("/events?series=1").await.expect(400);
    app.get("/events?collapse=days").await.expect(400);
}

#[actix_web::test]
async fn change_of_one_event_stays_when_all_change() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    app.clock.advance(60);
    let one =
        patch(&app, ids[1], json!({"title": "Guest teacher", "start_date": "2027-03-23 19:00"}));
    assert_eq!(one.await.expect(200).json["series"]["changed"], json!(["title", "dates"]));
    assert_eq!(texts(&app, id, "title").await, ["Yoga", "Guest teacher", "Yoga", "Yoga"]);
    let all = json!({"title": "Pilates", "website": "https://example.org/", "scope": "all"});
    patch(&app, ids[2], all).await.expect(200);
    assert_eq!(texts(&app, id, "title").await, ["Pilates", "Guest teacher", "Pilates", "Pilates"]);
    assert_eq!(texts(&app, id, "website").await, vec!["https://example.org/"; 4]);
    // Afterwards, the event in the request equals the others.
    let named =
        patch(&app, ids[1], json!({"title": "Stretching", "scope": "all"})).await.expect(200);
    assert_eq!(named.json["series"]["changed"], json!(["dates"]));
    assert_eq!(texts(&app, id, "title").await, vec!["Stretching"; 4]);
    // Links, flags and the state of one evening.
    let body = json!({"event_status": "cancelled", "venue": {"venue": "Hall"}, "featured": true});
    patch(&app, ids[3], body).await.expect(200);
    patch(&app, ids[0], json!({"venue": {"venue": "Barn"}, "scope": "all"})).await.expect(200);
    let all = events(&app, id).await;
    let venues: Vec<&Value> = all.iter().map(|one| &one["venue"]["venue"]).collect();
    assert_eq!(venues, ["Barn", "Barn", "Barn", "Hall"]);
    assert_eq!(all.iter().filter(|one| one["event_status"] == "cancelled").count(), 1);
}

#[actix_web::test]
async fn event_with_the_title_of_a_series_has_another_slug() {
    let app = App::new().await;
    course(&app, json!({})).await;
    let id = app.event(json!({"title": "Yoga"})).await;
    assert_eq!(app.get(&format!("/events/{id}")).await.json["slug"], "yoga-2");
    // Another series' name is not an event's either.
    let other = course(&app, json!({})).await;
    assert_eq!(texts(&app, other, "slug").await[0], "yoga-3--2027-03-16");
}

#[actix_web::test]
async fn sending_an_event_back_changes_nothing() {
    let app = App::new().await;
    let id = course(&app, json!({"venue": {"venue": "Hall"}})).await;
    let before = events(&app, id).await;
    app.clock.advance(60);
    for scope in ["this", "following", "all"] {
        let mut body = before[1].clone();
        body["scope"] = json!(scope);
        body["recurrence"] = before[1]["series"]["recurrence"].clone();
        let sent = patch(&app, before[1]["id"].as_i64().unwrap(), body).await.expect(200);
        assert_eq!(sent.json["modified"], before[1]["modified"], "{scope}");
    }
    assert_eq!(events(&app, id).await, before);
    assert_eq!(app.rows("series"), 1);
}

#[actix_web::test]
async fn new_time_of_all_moves_events_and_keeps_their_ids() {
    let app = App::new().await;
    let recurrence = json!({"rrule": "FREQ=WEEKLY", "until": "2027-04-06 18:00",
        "exdates": ["2027-03-30"], "rdates": ["2027-04-01 12:00"]});
    let id = course(&app, json!({"recurrence": recurrence})).await;
    let before = events(&app, id).await;
    let ids: Vec<i64> = before.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    patch(&app, ids[1], json!({"start_date": "2027-03-23 09:00", "end_date": "2027-03-23 10:00"}))
        .await
        .expect(200);
    app.clock.advance(60);
    let body =
        json!({"start_date": "2027-03-16 20:00", "end_date": "2027-03-16 21:00", "scope": "all"});
    patch(&app, ids[0], body).await.expect(200);
    let after = events(&app, id).await;
    assert_eq!(
        starts(&app, id).await,
        ["03-16 20:00", "03-23 09:00", "04-01 14:00", "04-06 20:00"]
    );
    assert_eq!(texts(&app, id, "end_date").await[3], "2027-04-06 21:00:00");
    let same: Vec<i64> = after.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    assert_eq!(same, ids);
    assert_eq!(texts(&app, id, "slug").await[0], "yoga--2027-03-16");
    assert_eq!(after[1]["series"]["occurrence"], "2027-03-23 20:00:00");
    assert_eq!(
        after[0]["series"]["recurrence"],
        json!({"rrule": "FREQ=WEEKLY", "until": "2027-04-06 20:00:00",
            "exdates": ["2027-03-30 20:00:00"], "rdates": ["2027-04-01 14:00:00"]})
    );
    // A week later: each event gets the name that the next one had, and the old names redirect.
    let body =
        json!({"start_date": "2027-03-23 20:00", "end_date": "2027-03-23 21:00", "scope": "all"});
    patch(&app, ids[0], body).await.expect(200);
    assert_eq!(
        starts(&app, id).await,
        ["03-23 09:00", "03-23 20:00", "04-08 14:00", "04-13 20:00"]
    );
    let slugs = texts(&app, id, "slug").await;
    assert_eq!(
        slugs,
        ["yoga--2027-03-30", "yoga--2027-03-23", "yoga--2027-04-08-1400", "yoga--2027-04-13"]
    );
}

#[actix_web::test]
async fn another_weekday_needs_another_rule() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let wednesday =
        json!({"start_date": "2027-03-17 18:00", "end_date": "2027-03-17 19:30", "scope": "all"});
    let refused = patch(&app, id, wednesday.clone()).await.expect(400);
    assert!(refused.json["data"]["params"]["start_date"].is_string(), "{}", refused.text);
    assert_eq!(starts(&app, id).await[0], "03-16 18:00");
    let mut body = wednesday;
    body["recurrence"] = json!({"rrule": "FREQ=WEEKLY;BYDAY=WE", "count": 3});
    let ids: Vec<Value> = events(&app, id).await.iter().map(|one| one["id"].clone()).collect();
    patch(&app, id, body).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-17 18:00", "03-24 18:00", "03-31 18:00"]);
    let kept: Vec<Value> = events(&app, id).await.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(kept, ids[..3]);
    app.get(&format!("/events/{}", ids[3])).await.expect(403);
    // One event cannot have its own rule.
    let one = json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 2}});
    let refused = patch(&app, id, one).await.expect(400);
    assert!(refused.json["data"]["params"]["scope"].is_string(), "{}", refused.text);
}

#[actix_web::test]
async fn longer_and_shorter_rules_create_and_remove_events() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let longer =
        json!({"recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=TU,TH", "count": 5}, "scope": "all"});
    patch(&app, id, longer).await.expect(200);
    let days = ["03-16 18:00", "03-18 18:00", "03-23 18:00", "03-25 18:00", "03-30 18:00"];
    assert_eq!(starts(&app, id).await, days);
    let shorter =
        json!({"recurrence": {"rrule": "FREQ=WEEKLY", "until": "2027-03-23"}, "scope": "all"});
    patch(&app, id, shorter).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-16 18:00", "03-23 18:00"]);
    assert_eq!(app.rows("events where status = 'trash'"), 4);
}

#[actix_web::test]
async fn change_of_following_events_splits_the_series() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    patch(&app, ids[3], json!({"title": "Finale"})).await.expect(200);
    let body =
        json!({"title": "Summer yoga", "start_date": "2027-03-30 19:00", "scope": "following"});
    patch(&app, ids[2], body).await.expect(200);
    assert_eq!(starts(&app, ids[0]).await, ["03-16 18:00", "03-23 18:00"]);
    assert_eq!(starts(&app, ids[2]).await, ["03-30 19:00", "04-06 19:00"]);
    assert_eq!(texts(&app, ids[0], "title").await, ["Yoga", "Yoga"]);
    assert_eq!(texts(&app, ids[2], "title").await, ["Summer yoga", "Finale"]);
    let recurrences = [ids[0], ids[2]].map(|id| format!("/events/{id}"));
    let first = app.get(&recurrences[0]).await.json["series"]["recurrence"].clone();
    assert_eq!(first["until"], "2027-03-30 17:59:59");
    let second = app.get(&recurrences[1]).await.json["series"]["recurrence"].clone();
    assert_eq!((&second["count"], &second["until"]), (&json!(2), &Value::Null));
    assert_eq!(app.get(&format!("/events?post_parent={}", ids[2])).await.ids(), [ids[3]]);
    // From the first event on, it changes all.
    patch(&app, ids[2], json!({"cost": "9", "scope": "following"})).await.expect(200);
    assert_eq!(app.rows("series"), 2);
}

#[actix_web::test]
async fn event_becomes_a_series() {
    let app = App::new().await;
    let start = json!({"title": "Talk", "slug": "talk", "start_date": "2027-03-16 18:00",
        "end_date": "2027-03-16 19:00"});
    let id = app.event(start).await;
    let body = json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 3}, "title": "Talks"});
    patch(&app, id, body).await.expect(200);
    let days = ["talk--2027-03-16", "talk--2027-03-17", "talk--2027-03-18"];
    assert_eq!(texts(&app, id, "slug").await, days);
    assert_eq!(texts(&app, id, "title").await, vec!["Talks"; 3]);
}

#[actix_web::test]
async fn deleting_reaches_one_following_or_all_events() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    app.delete(&format!("/events/{}", ids[1])).await.expect(200);
    let excluded =
        || async { events(&app, id).await[0]["series"]["recurrence"]["exdates"].clone() };
    assert_eq!(excluded().await, json!(["2027-03-23 18:00:00"]));
    // Restoring the event includes its date again.
    patch(&app, ids[1], json!({"status": "publish"})).await.expect(200);
    assert_eq!((excluded().await, starts(&app, id).await.len()), (json!([]), 4));
    app.delete(&format!("/events/{}?scope=some", ids[1])).await.expect(400);
    app.delete(&format!("/events/{}?scope=following", ids[2])).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-16 18:00", "03-23 18:00"]);
    // A restored event is then a standalone event.
    let restored = patch(&app, ids[3], json!({"status": "publish"})).await.expect(200);
    assert_eq!(restored.json["series"], Value::Null);
    let gone = app.delete(&format!("/events/{}?scope=all&force=true", ids[1])).await.expect(200);
    assert_eq!(gone.json["id"], ids[1]);
    assert_eq!((app.rows("series"), app.rows("series_events")), (0, 0));
    assert_eq!(app.rows("events where status <> 'trash'"), 1);
    app.get(&format!("/events/{}", ids[0])).await.expect(404);
}

#[actix_web::test]
async fn series_of_others_cannot_be_changed_as_a_whole() {
    let app = App::new().await;
    let body = json!({"title": "Yoga", "timezone": "Europe/Vienna", "start_date": "2027-03-16 18:00",
        "end_date": "2027-03-16 19:30", "recurrence": {"rrule": "FREQ=WEEKLY", "count": 3}});
    let id = app.call("author", "POST", "/events", &body).await.expect(201).id();
    let second = events(&app, id).await[1]["id"].as_i64().unwrap();
    let path = format!("/events/{id}");
    // An editor gives one of the events to another author.
    let given = json!({"author": app.user("author2")});
    app.call("editor", "PATCH", &format!("/events/{second}"), &given).await.expect(200);
    for (who, method) in [("author", "PATCH"), ("author", "DELETE"), ("author2", "PATCH")] {
        let body = json!({"title": "Mine", "scope": "all"});
        let path = if method == "DELETE" { format!("{path}?scope=all") } else { path.clone() };
        app.call(who, method, &path, &body).await.expect(403);
    }
    assert_eq!(texts(&app, id, "title").await, vec!["Yoga"; 3]);
    app.call("author", "PATCH", &path, &json!({"title": "Mine"})).await.expect(200);
    // A contributor's series waits for an editor.
    let id = app.call("contributor", "POST", "/events", &body).await.expect(201).id();
    assert_eq!(texts(&app, id, "status").await, vec!["draft"; 3]);
    let body = json!({"status": "publish", "scope": "all"});
    app.call("editor", "PATCH", &format!("/events/{id}"), &body).await.expect(200);
    assert_eq!(texts(&app, id, "status").await, vec!["publish"; 3]);
}

#[actix_web::test]
async fn endless_series_is_extended_once_by_two_replicas() {
    let app = App::with(&["--series-ahead=1"]).await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY"}})).await;
    let first = ["03-16 18:00", "03-23 18:00", "03-30 18:00", "04-06 18:00"];
    assert_eq!(starts(&app, id).await, first);
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    patch(&app, ids[3], json!({"title": "Guest"})).await.expect(200);
    patch(&app, ids[0], json!({"cost": "7", "scope": "all"})).await.expect(200);
    app.delete(&format!("/events/{}", ids[2])).await.expect(200);
    extend_series(&app.state).await;
    assert_eq!(app.rows("events"), 4);
    app.clock.advance(30 * 24 * 3600);
    let (one, other) = (app.state.clone(), app.state.clone());
    futures_util::join!(extend_series(&one), extend_series(&other));
    let all = events(&app, id).await;
    let shown: Vec<String> = all
        .iter()
        .map(|event| {
            format!(
                "{} {}",
                &event["start_date"].as_str().unwrap()[5..10],
                event["title"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "03-16 Yoga",
            "03-23 Yoga",
            "04-06 Guest",
            "04-13 Yoga",
            "04-20 Yoga",
            "04-27 Yoga",
            "05-04 Yoga"
        ]
    );
    assert_eq!(all[6]["cost"], "$7");
    assert_eq!(all[6]["slug"], "yoga--2027-05-04");
    assert_eq!(all[6]["date"], "2027-04-09 12:00:00");
    extend_series(&app.state).await;
    assert_eq!(app.rows("events"), 8);
    // A series that has ended is not checked again.
    let until =
        json!({"recurrence": {"rrule": "FREQ=WEEKLY", "until": "2027-05-04"}, "scope": "all"});
    patch(&app, id, until).await.expect(200);
    assert_eq!(app.rows("series where due_utc is not null"), 0);
}

#[actix_web::test]
async fn raised_setting_extends_series_at_the_next_start() {
    let app = App::with(&["--series-ahead=1"]).await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY"}})).await;
    let ended = course(&app, json!({})).await;
    let other = course(&app, json!({"recurrence": {"rrule": "FREQ=YEARLY"}})).await;
    for (ahead, weekly, yearly) in [(1, 4, 1), (2, 8, 1), (24, 104, 2)] {
        let settings = settings(&[&format!("--series-ahead={ahead}")]);
        let media = app.state.media.clone();
        let state = State::new(app.state.pools.clone(), app.clock.shared(), settings, media);
        review_series(&state).await;
        extend_series(&state).await;
        let numbers = [id, ended, other].map(|id| {
            app.rows(&format!(
                "series_events where series_id in \
                 (select series_id from series_events where event_id = {id})"
            ))
        });
        assert_eq!(numbers, [weekly, 4, yearly], "{ahead}");
    }
}
