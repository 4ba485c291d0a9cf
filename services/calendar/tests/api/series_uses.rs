//! Rare but valid changes of series.

use serde_json::{Value, json};

use crate::app::App;
use crate::imports;
use crate::pages::page;
use crate::series::{course, events, patch, starts, texts};
use crate::series_revisions::{feed, follow, ids, shown};

/// Imports the feed of a calendar into another one, and checks that both show the same.
async fn assert_followed(app: &App, other: &App) {
    let file = feed(app, "").await;
    for _ in 0..2 {
        follow(other, &file).await;
        assert_eq!(shown(other).await, shown(app).await, "{file}");
    }
    app.clock.advance(60);
}

#[actix_web::test]
async fn series_in_another_zone_keeps_its_local_times() {
    let (app, other) = (App::new().await, App::new().await);
    let dates = json!({"rrule": "FREQ=WEEKLY", "until": "2027-11-30", "exdates": ["2027-03-23"],
        "rdates": ["2027-03-25 20:00"]});
    let id = course(&app, json!({"recurrence": dates})).await;
    assert_followed(&app, &other).await;
    let before = starts(&app, id).await;
    let all = ids(&app, id).await;
    app.delete(&format!("/events/{}", all[4])).await.expect(200);
    for zone in ["America/New_York", "Australia/Sydney", "Europe/Vienna"] {
        patch(&app, id, json!({"scope": "all", "timezone": zone})).await.expect(200);
        let mut expected = before.clone();
        expected.remove(4);
        assert_eq!(starts(&app, id).await, expected, "{zone}");
        assert_eq!(texts(&app, id, "timezone").await, vec![zone; expected.len()]);
        let recurrence = events(&app, id).await[0]["series"]["recurrence"].clone();
        assert_eq!(recurrence["rdates"], json!(["2027-03-25 20:00:00"]), "{zone}");
        assert_eq!(recurrence["exdates"][0], json!("2027-03-23 18:00:00"), "{zone}");
        assert_eq!(recurrence["until"], json!("2027-11-30 23:59:59"), "{zone}");
        assert_followed(&app, &other).await;
    }
    patch(&app, all[4], json!({"status": "publish"})).await.expect(200);
    assert_eq!((starts(&app, id).await, ids(&app, id).await), (before, all));
}

#[actix_web::test]
async fn whole_days_get_times_and_return() {
    let (app, other) = (App::new().await, App::new().await);
    let days = json!({"all_day": true, "start_date": "2027-03-16", "end_date": "2027-03-17",
        "recurrence": {"rrule": "FREQ=WEEKLY", "count": 5, "exdates": ["2027-03-30"],
            "rdates": ["2027-03-18"]}});
    let id = course(&app, days).await;
    let all = ids(&app, id).await;
    app.delete(&format!("/events/{}", all[2])).await.expect(200);
    assert_followed(&app, &other).await;
    let days = ["03-16", "03-18", "04-06", "04-13"];
    let timed = json!({"scope": "all", "all_day": false, "timezone": "Europe/Vienna",
        "start_date": "2027-03-16 09:00", "end_date": "2027-03-16 10:00"});
    let whole = json!({"scope": "all", "all_day": true, "start_date": "2027-03-16",
        "end_date": "2027-03-17"});
    for (change, time, end) in [(timed, "09:00", "10:00:00"), (whole, "00:00", "23:59:59")] {
        patch(&app, id, change.clone()).await.expect(200);
        let expected = days.map(|day| format!("{day} {time}"));
        assert_eq!(starts(&app, id).await, expected, "{change}");
        for text in texts(&app, id, "end_date").await {
            assert_eq!(&text[11..], end, "{change}");
        }
        assert_followed(&app, &other).await;
    }
    patch(&app, all[2], json!({"status": "publish"})).await.expect(200);
    assert_eq!(ids(&app, id).await, all);
}

#[actix_web::test]
async fn two_dates_of_a_day_become_one_whole_day() {
    let (app, other) = (App::new().await, App::new().await);
    let twice = json!({"rrule": "FREQ=WEEKLY", "count": 3,
        "rdates": ["2027-03-23 20:00", "2027-03-23 08:00"]});
    let id = course(&app, json!({"recurrence": twice})).await;
    assert_eq!(starts(&app, id).await.len(), 5);
    assert_followed(&app, &other).await;
    patch(&app, id, json!({"scope": "all", "all_day": true})).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-16 00:00", "03-23 00:00", "03-30 00:00"]);
    assert_eq!(shown(&app).await.len(), 3);
    assert_followed(&app, &other).await;
    let recurrence = events(&app, id).await[0]["series"]["recurrence"].clone();
    assert_eq!(recurrence["rdates"], json!(["2027-03-23 00:00:00"]));
    let timed = json!({"scope": "all", "all_day": false, "start_date": "2027-03-16 09:00",
        "end_date": "2027-03-16 10:00"});
    patch(&app, id, timed).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-16 09:00", "03-23 09:00", "03-30 09:00"]);
    assert_followed(&app, &other).await;
}

#[actix_web::test]
async fn series_that_is_split_twice_has_three_independent_parts() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 6}})).await;
    let all = ids(&app, id).await;
    assert_followed(&app, &other).await;
    for (event, title) in [(all[2], "Two"), (all[4], "Three")] {
        patch(&app, event, json!({"scope": "following", "title": title})).await.expect(200);
        assert_followed(&app, &other).await;
    }
    let titles = async || -> Vec<String> {
        shown(&app).await.iter().map(|one| one[12..].to_owned()).collect()
    };
    assert_eq!(titles().await, ["Yoga", "Yoga", "Two", "Two", "Three", "Three"]);
    patch(&app, all[3], json!({"scope": "all", "title": "Middle"})).await.expect(200);
    assert_eq!(titles().await, ["Yoga", "Yoga", "Middle", "Middle", "Three", "Three"]);
    // The rule of one part may have dates within the next part.
    let longer = json!({"rrule": "FREQ=WEEKLY", "count": 4});
    patch(&app, all[2], json!({"scope": "all", "recurrence": longer})).await.expect(200);
    assert_eq!(shown(&app).await.len(), 8);
    assert_followed(&app, &other).await;
    app.delete(&format!("/events/{}?scope=following", all[2])).await.expect(200);
    assert_eq!(titles().await, ["Yoga", "Yoga", "Three", "Three"]);
    assert_followed(&app, &other).await;
    app.delete(&format!("/events/{}?scope=all", all[5])).await.expect(200);
    assert_eq!(titles().await, ["Yoga", "Yoga"]);
    assert_followed(&app, &other).await;
}

#[actix_web::test]
async fn date_that_is_added_and_excluded_is_excluded() {
    let (app, other) = (App::new().await, App::new().await);
    let both = json!({"rrule": "FREQ=WEEKLY", "count": 3,
        "rdates": ["2027-03-25 20:00", "2027-03-16", "2027-03-23", "2027-03-25 20:00"],
        "exdates": ["2027-03-25 20:00", "2027-03-30", "2027-03-30"]});
    let id = course(&app, json!({"recurrence": both})).await;
    assert_eq!(starts(&app, id).await, ["03-16 18:00", "03-23 18:00"]);
    assert_followed(&app, &other).await;
    let without = json!({"rrule": "FREQ=WEEKLY", "count": 3, "exdates": [],
        "rdates": ["2027-03-25 20:00"]});
    patch(&app, id, json!({"scope": "all", "recurrence": without})).await.expect(200);
    assert_eq!(
        starts(&app, id).await,
        ["03-16 18:00", "03-23 18:00", "03-25 20:00", "03-30 18:00"]
    );
    assert_followed(&app, &other).await;
    patch(&app, id, json!({"scope": "all", "recurrence": both})).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-16 18:00", "03-23 18:00"]);
    assert_followed(&app, &other).await;
}

#[actix_web::test]
async fn private_series_with_a_public_date_shows_that_date_only() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, json!({"description": "Secret"})).await;
    let all = ids(&app, id).await;
    assert_followed(&app, &other).await;
    patch(&app, id, json!({"scope": "all", "status": "private"})).await.expect(200);
    patch(&app, all[2], json!({"status": "publish", "description": "Open"})).await.expect(200);
    let text = feed(&app, "").await;
    assert!(!text.contains("Secret") && !text.contains("RRULE:FREQ=WEEKLY"), "{text}");
    assert_eq!(shown(&app).await, ["03-30 18:00 Yoga"]);
    let list = app.get("/events?start_date=2027-01-01&collapse=series").await.expect(200);
    assert_eq!(list.ids(), [all[2]]);
    let fresh = App::new().await;
    assert_followed(&app, &fresh).await;
    patch(&app, id, json!({"scope": "all", "status": "publish"})).await.expect(200);
    assert_eq!(shown(&app).await.len(), 4);
    assert_eq!(texts(&app, id, "description").await.len(), 4);
    assert_followed(&app, &other).await;
}

#[actix_web::test]
async fn excluded_date_that_is_restored_belongs_to_its_series_again() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    let rule = json!({"rrule": "FREQ=WEEKLY;BYDAY=TU", "count": 4, "exdates": ["2027-03-30"]});
    patch(&app, id, json!({"scope": "all", "recurrence": rule})).await.expect(200);
    patch(&app, id, json!({"scope": "all", "title": "New"})).await.expect(200);
    assert_eq!(ids(&app, id).await, [all[0], all[1], all[3]]);
    patch(&app, all[2], json!({"status": "publish"})).await.expect(200);
    assert_eq!(ids(&app, id).await, all);
    assert_eq!(texts(&app, id, "title").await, vec!["New"; 4]);
    let shown = events(&app, id).await[2].clone();
    assert_eq!(shown["series"]["changed"], json!([]));
    assert_eq!(shown["series"]["recurrence"]["exdates"], Value::Array(Vec::new()));
}

#[actix_web::test]
async fn field_that_agrees_with_its_series_again_changes_with_all() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    let changed = async |at: usize| events(&app, id).await[at]["series"]["changed"].clone();
    let guest = json!({"title": "Guest", "start_date": "2027-03-24 20:00",
        "end_date": "2027-03-24 21:30"});
    patch(&app, all[1], guest).await.expect(200);
    assert_eq!(changed(1).await, json!(["title", "dates"]));
    patch(&app, all[1], json!({"title": "Yoga"})).await.expect(200);
    assert_eq!(changed(1).await, json!(["dates"]));
    let back = json!({"start_date": "2027-03-23 18:00", "end_date": "2027-03-23 19:30"});
    patch(&app, all[1], back).await.expect(200);
    assert_eq!(changed(1).await, json!([]));
    let new = json!({"scope": "all", "title": "New", "start_date": "2027-03-16 20:00"});
    patch(&app, id, new).await.expect(200);
    assert_eq!(texts(&app, id, "title").await, vec!["New"; 4]);
    assert!(starts(&app, id).await.iter().all(|start| start.ends_with("20:00")));
    // If each event has its own title, there is no shared one.
    for (at, event) in all.iter().enumerate() {
        patch(&app, *event, json!({"title": format!("Talk {at}")})).await.expect(200);
    }
    patch(&app, all[3], json!({"title": "Talk 0"})).await.expect(200);
    assert_eq!(changed(3).await, json!(["title"]));
    patch(&app, id, json!({"scope": "all", "title": "First"})).await.expect(200);
    assert_eq!(texts(&app, id, "title").await, ["First", "Talk 1", "Talk 2", "Talk 0"]);
}

#[actix_web::test]
async fn file_of_a_series_with_more_dates_than_a_request_can_list_is_complete() {
    let app = App::with(&["--series-max=1200", "--series-ahead=40"]).await;
    course(&app, json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 1001}})).await;
    assert_eq!(app.rows("events"), 1001);
    let file = page(&app, "/event/yoga/?ical=1").await.expect(200).text;
    assert_eq!(file.matches("BEGIN:VEVENT").count(), 1, "{file}");
    assert!(file.contains("RRULE:FREQ=DAILY;COUNT=1001"), "{file}");
}

#[actix_web::test]
async fn feed_defines_the_zone_of_a_moved_date_that_is_over() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let dates = json!({"timezone": "America/New_York", "start_date": "2027-03-16 09:00",
        "end_date": "2027-03-16 10:00"});
    patch(&app, id, dates).await.expect(200);
    app.clock.advance(10 * 86_400);
    let text = app.get("/ical?ends_after=2027-03-20").await.expect(200).text;
    assert!(text.contains("DTSTART;TZID=America/New_York:20270316T090000"), "{text}");
    assert!(text.contains("BEGIN:VTIMEZONE\r\nTZID:America/New_York"), "{text}");
}

#[actix_web::test]
async fn date_that_begins_another_series_leaves_its_former_parent() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 6}})).await;
    let all = ids(&app, id).await;
    let shorter = json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 2}, "scope": "all"});
    patch(&app, id, shorter).await.expect(200);
    let restored = json!({"status": "publish", "scope": "all",
        "recurrence": {"rrule": "FREQ=WEEKLY", "count": 3}});
    patch(&app, all[3], restored).await.expect(200);
    let children = async |parent: i64| {
        let path = format!("/events?post_parent={parent}&start_date=2027-01-01");
        app.get(&path).await.expect(200).ids()
    };
    assert_eq!(children(id).await, all[1..2]);
    assert_eq!(children(all[3]).await, all[4..]);
    let (file, changes) = (feed(&app, "").await, app.rows("event_changes"));
    assert_eq!(imports::counts(&app, &file).await[..3], [0, 0, 5]);
    assert_eq!(app.rows("event_changes"), changes);
    assert_eq!(children(all[3]).await, all[4..]);
}
