//! Series whose rule or time changes: which dates move, leave and return.

use calendar::extend_series;
use serde_json::{Value, json};

use crate::app::App;
use crate::pages::page;
use crate::series::{course, events, patch, starts, texts};

/// Returns the ids of a series' events.
async fn ids(app: &App, id: i64) -> Vec<i64> {
    events(app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

/// Returns the fields of each event that differ from its series.
async fn changed(app: &App, id: i64) -> Vec<Value> {
    events(app, id).await.iter().map(|one| one["series"]["changed"].clone()).collect()
}

#[actix_web::test]
async fn events_beyond_the_horizon_move_with_their_series() {
    let app = App::with(&["--series-ahead=1"]).await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=DAILY"}})).await;
    let before = ids(&app, id).await;
    assert_eq!(starts(&app, id).await.last().unwrap(), "04-09 18:00");
    let later =
        json!({"start_date": "2027-03-19 18:00", "end_date": "2027-03-19 19:30", "scope": "all"});
    patch(&app, id, later).await.expect(200);
    let after = starts(&app, id).await;
    assert_eq!((after[0].as_str(), after.last().unwrap().as_str()), ("03-19 18:00", "04-12 18:00"));
    assert_eq!(ids(&app, id).await, before);
    for event in events(&app, id).await {
        assert_eq!(event["start_date"], event["series"]["occurrence"]);
        let day = &event["start_date"].as_str().unwrap()[..10];
        assert_eq!(event["slug"], format!("yoga--{day}"));
    }
    // Scheduled work creates each of the next dates once.
    app.clock.advance(5 * 24 * 3600);
    extend_series(&app.state).await;
    let mut extended = starts(&app, id).await;
    assert_eq!(extended.last().unwrap(), "04-14 18:00");
    let number = extended.len();
    extended.dedup();
    assert_eq!(extended.len(), number);
}

#[actix_web::test]
async fn series_that_moves_years_ahead_leaves_no_event_behind() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 4}})).await;
    let far =
        json!({"start_date": "2031-03-11 18:00", "end_date": "2031-03-11 19:30", "scope": "all"});
    patch(&app, id, far).await.expect(200);
    assert_eq!(
        texts(&app, id, "start_date").await,
        [
            "2031-03-11 18:00:00",
            "2031-03-18 18:00:00",
            "2031-03-25 18:00:00",
            "2031-04-01 18:00:00"
        ]
    );
}

#[actix_web::test]
async fn series_by_months_moves_by_months_and_keeps_its_events() {
    let app = App::new().await;
    let monthly = json!({"recurrence": {"rrule": "FREQ=MONTHLY", "until": "2027-06-16", "exdates": ["2027-05-16"]}});
    let id = course(&app, monthly).await;
    let all = ids(&app, id).await;
    for (event, start, expected) in [
        (0, "2027-04-16 18:00", ["2027-04-16", "2027-05-16", "2027-07-16"]),
        (1, "2027-05-19 20:00", ["2027-04-19", "2027-05-19", "2027-07-19"]),
        (2, "2030-02-01 20:00", ["2029-11-01", "2029-12-01", "2030-02-01"]),
        (0, "2029-11-30 20:00", ["2029-11-30", "2029-12-30", ""]),
    ] {
        let moved = json!({"scope": "all", "start_date": start});
        if expected[2].is_empty() {
            // The last event is on a day that February does not have.
            let last = json!({"scope": "all", "start_date": "2030-02-28 20:00"});
            patch(&app, all[2], last).await.expect(200);
        }
        patch(&app, all[event], moved).await.expect(200);
        let days = texts(&app, id, "start_date").await;
        let days: Vec<&str> = days.iter().map(|text| &text[..10]).collect();
        let expected: Vec<&str> = expected.into_iter().filter(|day| !day.is_empty()).collect();
        assert_eq!(days, expected, "{start}");
        assert_eq!(ids(&app, id).await, all[..expected.len()]);
        for event in events(&app, id).await {
            assert_eq!(event["start_date"], event["series"]["occurrence"]);
        }
    }
    let yearly = course(&app, json!({"recurrence": {"rrule": "FREQ=YEARLY", "count": 2}})).await;
    let all = ids(&app, yearly).await;
    patch(&app, yearly, json!({"scope": "all", "start_date": "2027-02-03 18:00"}))
        .await
        .expect(200);
    assert_eq!(
        texts(&app, yearly, "start_date").await,
        ["2027-02-03 18:00:00", "2028-02-03 18:00:00"]
    );
    assert_eq!(ids(&app, yearly).await, all);
    // The series would have to start on 29 February 2027.
    let refused = json!({"scope": "all", "start_date": "2028-02-29 18:00"});
    patch(&app, all[1], refused).await.expect(400);
}

#[actix_web::test]
async fn date_restored_after_a_change_of_all_agrees_with_its_series() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 4}})).await;
    let all = ids(&app, id).await;
    patch(&app, all[2], json!({"title": "Guest"})).await.expect(200);
    for trashed in &all[1..] {
        app.delete(&format!("/events/{trashed}")).await.expect(200);
    }
    let new = json!({"title": "Pilates", "website": "https://example.org/",
        "start_date": "2027-03-23 20:00", "end_date": "2027-03-23 21:00", "scope": "all"});
    patch(&app, id, new).await.expect(200);
    for trashed in &all[1..] {
        patch(&app, *trashed, json!({"status": "publish"})).await.expect(200);
    }
    assert_eq!(ids(&app, id).await, all);
    assert_eq!(
        starts(&app, id).await,
        ["03-23 20:00", "03-30 20:00", "04-06 20:00", "04-13 20:00"]
    );
    assert_eq!(texts(&app, id, "title").await, ["Pilates", "Pilates", "Guest", "Pilates"]);
    assert_eq!(texts(&app, id, "website").await, vec!["https://example.org/"; 4]);
    assert_eq!(texts(&app, id, "slug").await[3], "yoga--2027-04-13");
    let none = json!([]);
    assert_eq!(changed(&app, id).await, [none.clone(), none.clone(), json!(["title"]), none]);
    let feed = app.get("/ical").await.text;
    assert!(!feed.contains("EXDATE") && feed.matches("RECURRENCE-ID").count() == 1, "{feed}");
    // If a request restores a date, it moves with the others.
    app.delete(&format!("/events/{}", all[1])).await.expect(200);
    let back = json!({"status": "publish", "start_date": "2027-03-30 18:00",
        "end_date": "2027-03-30 19:00", "scope": "all"});
    patch(&app, all[1], back).await.expect(200);
    assert_eq!(
        starts(&app, id).await,
        ["03-23 18:00", "03-30 18:00", "04-06 18:00", "04-13 18:00"]
    );
}

/// Returns a rule change for all events of a weekly course.
fn rule(more: &Value) -> Value {
    let mut recurrence = json!({"rrule": "FREQ=WEEKLY;BYDAY=TU"});
    recurrence.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"scope": "all", "recurrence": recurrence})
}

#[actix_web::test]
async fn dates_return_from_the_trash_when_the_rule_has_them_again() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let before = events(&app, id).await;
    let all = ids(&app, id).await;
    for (removing, days) in [
        (rule(&json!({"count": 2})), vec!["03-16 18:00", "03-23 18:00"]),
        (rule(&json!({"until": "2027-03-16"})), vec!["03-16 18:00"]),
        (
            rule(&json!({"count": 4, "exdates": ["2027-03-23", "2027-04-06"]})),
            vec!["03-16 18:00", "03-30 18:00"],
        ),
        (
            rule(&json!({"rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "count": 2})),
            vec!["03-16 18:00", "03-30 18:00"],
        ),
    ] {
        app.clock.advance(60);
        patch(&app, id, removing.clone()).await.expect(200);
        assert_eq!(starts(&app, id).await, days, "{removing}");
        patch(&app, id, rule(&json!({"count": 4, "exdates": []}))).await.expect(200);
        assert_eq!(ids(&app, id).await, all, "{removing}");
        for (event, old) in events(&app, id).await.iter().zip(&before) {
            for name in ["slug", "status", "start_date", "end_date", "title", "series"] {
                assert_eq!(event[name], old[name], "{name} after {removing}");
            }
        }
        let children = app.get(&format!("/events?post_parent={id}")).await.ids();
        assert_eq!(children, all[1..]);
        assert!(!app.get("/ical").await.text.contains("EXDATE"));
    }
    assert_eq!(app.rows("events"), 4);
    // A date that a user removed returns too, if the list is sent without it.
    app.delete(&format!("/events/{}", all[1])).await.expect(200);
    patch(&app, id, rule(&json!({"count": 5, "exdates": ["2027-03-23"]}))).await.expect(200);
    assert_eq!(starts(&app, id).await.len(), 4);
    patch(&app, id, rule(&json!({"count": 5, "exdates": []}))).await.expect(200);
    assert_eq!(ids(&app, id).await[..4], all);
    assert_eq!(texts(&app, id, "slug").await[1], "yoga--2027-03-23");
}

#[actix_web::test]
async fn new_rule_keeps_removed_and_added_dates_that_it_does_not_list() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let added = rule(&json!({"count": 4, "rdates": ["2027-03-18 12:00"]}));
    patch(&app, id, added).await.expect(200);
    app.delete(&format!("/events/{}", ids(&app, id).await[2])).await.expect(200);
    let kept = ["03-16 18:00", "03-18 12:00", "03-30 18:00", "04-06 18:00"];
    assert_eq!(starts(&app, id).await, kept);
    // Two more weeks.
    patch(&app, id, rule(&json!({"count": 6}))).await.expect(200);
    let longer = [&kept[..], &["04-13 18:00", "04-20 18:00"]].concat();
    assert_eq!(starts(&app, id).await, longer);
    // The dates move with the series, even to another rule.
    let mut body = rule(&json!({"rrule": "FREQ=WEEKLY;BYDAY=WE", "count": 3}));
    body["start_date"] = json!("2027-03-17 17:00");
    patch(&app, id, body).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-17 17:00", "03-19 11:00", "03-31 17:00"]);
    let shown = events(&app, id).await[0]["series"]["recurrence"].clone();
    assert_eq!(shown["exdates"], json!(["2027-03-24 17:00:00"]));
    // Lists that are sent replace the dates.
    let none = json!({"rrule": "FREQ=WEEKLY;BYDAY=WE", "count": 3, "rdates": []});
    patch(&app, id, rule(&none)).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-17 17:00", "03-31 17:00"]);
    let text = json!({"recurrence": "RRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3", "scope": "all"});
    patch(&app, id, text).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-17 17:00", "03-24 17:00", "03-31 17:00"]);
}

#[actix_web::test]
async fn returning_date_keeps_its_own_texts_and_is_marked() {
    let app = App::new().await;
    let weekly = |count: i64| rule(&json!({"rrule": "FREQ=WEEKLY", "count": count}));
    let id = course(&app, json!({"recurrence": weekly(4)["recurrence"]})).await;
    let all = ids(&app, id).await;
    let own =
        json!({"title": "Guest", "start_date": "2027-04-06 19:00", "end_date": "2027-04-06 20:00"});
    patch(&app, all[3], own).await.expect(200);
    patch(&app, id, weekly(2)).await.expect(200);
    patch(&app, id, json!({"cost": "5", "scope": "all"})).await.expect(200);
    patch(&app, id, weekly(4)).await.expect(200);
    assert_eq!(ids(&app, id).await, all);
    assert_eq!(texts(&app, id, "title").await, ["Yoga", "Yoga", "Yoga", "Guest"]);
    assert_eq!(starts(&app, id).await[3], "04-06 19:00");
    assert_eq!(changed(&app, id).await[2..], [json!(["cost"]), json!(["title", "cost", "dates"])]);
    // A move onto a date that is still in the trash.
    patch(&app, id, weekly(2)).await.expect(200);
    let later =
        json!({"start_date": "2027-03-23 18:00", "end_date": "2027-03-23 19:30", "scope": "all"});
    patch(&app, id, later).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-23 18:00", "03-30 18:00"]);
    patch(&app, id, weekly(3)).await.expect(200);
    assert_eq!(starts(&app, id).await.len(), 3);
}

#[actix_web::test]
async fn dates_that_left_a_series_move_along_and_return_at_their_new_times() {
    let app = App::new().await;
    let weekly = |count: i64| rule(&json!({"rrule": "FREQ=WEEKLY", "count": count}));
    let id = course(&app, json!({"recurrence": weekly(4)["recurrence"]})).await;
    let all = ids(&app, id).await;
    // One write drops the last date and moves the others. Before, another write dropped a date.
    patch(&app, id, weekly(3)).await.expect(200);
    app.clock.advance(60);
    let mut shorter = weekly(2);
    shorter["start_date"] = json!("2027-03-18 20:00");
    patch(&app, id, shorter).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-18 20:00", "03-25 20:00"]);
    let trashed = app.get_as("editor", "/events?status=trash").await.expect(200);
    assert_eq!(trashed.ids(), all[2..]);
    for (event, day) in trashed.json["events"].as_array().unwrap().iter().zip(["04-01", "04-08"]) {
        assert_eq!(event["start_date"], format!("2027-{day} 20:00:00"));
        assert_eq!(event["slug"], format!("yoga--2027-{day}__trashed"));
    }
    patch(&app, id, weekly(4)).await.expect(200);
    assert_eq!(ids(&app, id).await, all);
    assert_eq!(
        starts(&app, id).await,
        ["03-18 20:00", "03-25 20:00", "04-01 20:00", "04-08 20:00"]
    );
    assert_eq!(changed(&app, id).await, vec![json!([]); 4]);
    assert_eq!(texts(&app, id, "slug").await[3], "yoga--2027-04-08");
    assert_eq!(app.rows("events"), 4);
    // A date restored as a standalone event stays where it is.
    patch(&app, id, weekly(3)).await.expect(200);
    patch(&app, all[3], json!({"status": "publish"})).await.expect(200);
    patch(&app, id, json!({"scope": "all", "start_date": "2027-03-19 20:00"})).await.expect(200);
    let alone = app.get(&format!("/events/{}", all[3])).await.expect(200).json;
    assert_eq!(
        (&alone["start_date"], &alone["series"]),
        (&json!("2027-04-08 20:00:00"), &Value::Null)
    );
}

#[actix_web::test]
async fn deleted_series_returns_with_its_rule_and_not_by_scope() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    for scope in ["following", "all"] {
        let body = json!({"status": "publish", "scope": scope});
        let refused = patch(&app, id, body).await.expect(400);
        let text = refused.json["data"]["params"]["scope"].as_str().unwrap_or_default();
        assert!(text.contains("does not belong to a series"), "{}", refused.text);
    }
    assert_eq!(app.rows("events where status = 'trash'"), 4);
    patch(&app, id, json!({"status": "publish"})).await.expect(200);
    patch(&app, id, rule(&json!({"count": 4}))).await.expect(200);
    assert_eq!(ids(&app, id).await, all);
    assert_eq!(changed(&app, id).await, vec![json!([]); 4]);
    let days = ["yoga--2027-03-16", "yoga--2027-03-23", "yoga--2027-03-30", "yoga--2027-04-06"];
    assert_eq!(texts(&app, id, "slug").await, days);
    // From another event on, the ones after it return.
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    patch(&app, all[1], json!({"status": "publish"})).await.expect(200);
    patch(&app, all[1], rule(&json!({"count": 3}))).await.expect(200);
    assert_eq!(ids(&app, all[1]).await, all[1..]);
    assert_eq!(texts(&app, all[1], "slug").await, days[1..]);
    let later = json!({"scope": "all", "start_date": "2027-03-23 20:00"});
    patch(&app, all[1], later).await.expect(200);
    assert_eq!(ids(&app, all[1]).await, all[1..]);
    assert_eq!(app.rows("events"), 4);
}

#[actix_web::test]
async fn start_alone_moves_all_dates_and_keeps_their_length() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    for (event, scope, start, times) in [
        (0, "all", "2027-03-16 19:00", ["19:00:00 20:30:00"; 4]),
        (0, "all", "2027-03-16 23:00", ["23:00:00 00:30:00"; 4]),
        (
            2,
            "following",
            "2027-03-30T08:00:00+02:00",
            ["23:00:00 00:30:00", "23:00:00 00:30:00", "08:00:00 09:30:00", "08:00:00 09:30:00"],
        ),
    ] {
        patch(&app, all[event], json!({"scope": scope, "start_date": start})).await.expect(200);
        for (event, expected) in all.iter().zip(times) {
            let shown = app.get(&format!("/events/{event}")).await.json;
            let time = |name: &str| shown[name].as_str().unwrap()[11..].to_owned();
            assert_eq!(format!("{} {}", time("start_date"), time("end_date")), expected, "{start}");
        }
    }
    let days = json!({"all_day": true, "start_date": "2027-03-16", "end_date": "2027-03-17",
        "recurrence": {"rrule": "FREQ=WEEKLY", "count": 2}});
    let id = course(&app, days).await;
    let later = json!({"scope": "all", "start_date": "2027-03-23"});
    let moved = patch(&app, id, later).await.expect(200);
    assert_eq!(moved.json["end_date"], "2027-03-24 23:59:59");
}

#[actix_web::test]
async fn null_as_recurrence_of_a_series_is_400() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    for scope in ["this", "following", "all"] {
        let body = json!({"title": "New", "recurrence": null, "scope": scope});
        let refused = patch(&app, id, body).await.expect(400);
        let text = refused.json["data"]["params"]["recurrence"].as_str().unwrap_or_default();
        assert!(text.contains("must not be null"), "{scope}: {}", refused.text);
    }
    assert_eq!(texts(&app, id, "title").await, vec!["Yoga"; 4]);
    // An event that does not repeat already has this recurrence.
    let single = app.event(json!({"title": "Talk", "recurrence": null})).await;
    patch(&app, single, json!({"title": "Talks", "recurrence": null})).await.expect(200);
}

#[actix_web::test]
async fn recurrence_of_a_calendar_file_may_have_zones_and_days() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 9}})).await;
    for gone in &ids(&app, id).await[1..8] {
        app.delete(&format!("/events/{gone}")).await.expect(200);
    }
    let expected = starts(&app, id).await;
    let feed = app.get("/ical").await.text;
    // The lines of the feed are folded.
    let start = feed.find("RRULE:FREQ=WEEKLY").unwrap();
    let length = feed[start..].find("\r\nSUMMARY").unwrap();
    let lines = &feed[start..start + length];
    assert!(lines.contains("EXDATE;TZID=Europe/Vienna:") && lines.contains("\r\n "), "{lines}");
    let other = course(&app, json!({"recurrence": lines})).await;
    assert_eq!(starts(&app, other).await, expected);
    let days = "RRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;VALUE=DATE:20270323\n\
        RDATE;TZID=America/New_York:20270401T120000";
    let id = course(&app, json!({"recurrence": days})).await;
    assert_eq!(starts(&app, id).await, ["03-16 18:00", "03-30 18:00", "04-01 18:00"]);
    let unknown = json!({"recurrence": "RRULE:FREQ=DAILY\nEXDATE;TZID=Mars/Base:20270323T180000", "scope": "all"});
    let refused = patch(&app, id, unknown).await.expect(400);
    let text = refused.json["data"]["params"]["recurrence"].as_str().unwrap_or_default();
    assert!(text.contains("known zone"), "{}", refused.text);
}

#[actix_web::test]
async fn skipped_times_move_forward_and_repeated_ones_are_the_first() {
    let app = App::new().await;
    for (start, end, rule, expected) in [
        (
            "2027-03-28 00:00",
            "2027-03-28 00:30",
            "FREQ=HOURLY;COUNT=5",
            vec!["03-27 23:00", "03-28 00:00", "03-28 01:00", "03-28 02:00"],
        ),
        (
            "2027-10-31 00:00",
            "2027-10-31 00:30",
            "FREQ=HOURLY;COUNT=4",
            vec!["10-30 22:00", "10-30 23:00", "10-31 00:00", "10-31 02:00"],
        ),
        (
            "2027-03-27 02:30",
            "2027-03-27 02:45",
            "FREQ=DAILY;COUNT=3",
            vec!["03-27 01:30", "03-28 01:30", "03-29 00:30"],
        ),
        (
            "2027-10-30 02:30",
            "2027-10-30 02:45",
            "FREQ=DAILY;COUNT=3",
            vec!["10-30 00:30", "10-31 00:30", "11-01 01:30"],
        ),
    ] {
        let dates = json!({"start_date": start, "end_date": end, "recurrence": rule});
        let id = course(&app, dates).await;
        let utc = texts(&app, id, "utc_start_date").await;
        let utc: Vec<&str> = utc.iter().map(|text| &text[5..16]).collect();
        assert_eq!(utc, expected, "{rule} from {start}");
    }
}

#[actix_web::test]
async fn page_describes_yearly_rules_and_additional_dates() {
    let app = App::new().await;
    for (recurrence, text) in [
        (json!("FREQ=YEARLY;BYMONTH=3;BYDAY=3TU"), "Every year on the third Tuesday of March"),
        (json!("FREQ=MONTHLY;BYSETPOS=3;BYDAY=TU"), "Every month on the third Tuesday"),
        (
            json!({"rrule": "FREQ=WEEKLY", "until": "2027-05-01", "rdates": ["2027-04-01"]}),
            "Every Tuesday until 27 April 2027, also on 1 April 2027",
        ),
    ] {
        let id = course(&app, json!({"recurrence": recurrence})).await;
        let slug = texts(&app, id, "slug").await[0].replace("--", "/");
        let shown = page(&app, &format!("/event/{slug}/")).await.expect(200).text;
        assert!(shown.contains(&format!("<dt>Repeats</dt><dd>{text}</dd>")), "{text}: {shown}");
    }
}

#[actix_web::test]
async fn series_with_many_excluded_and_added_dates_is_extended() {
    let app = App::with(&["--series-ahead=1"]).await;
    let days = |month: u8| (1..=25).map(move |day| format!("{month:02}-{day:02}"));
    let days: Vec<String> = (1..=12).flat_map(days).collect();
    let at = |time: &str| -> Vec<String> {
        let years = [2030, 2031].into_iter();
        years.flat_map(|year| days.iter().map(move |day| format!("{year}-{day} {time}"))).collect()
    };
    let rule = json!({"rrule": "FREQ=WEEKLY", "exdates": at("18:00"), "rdates": at("20:00")});
    course(&app, json!({"recurrence": rule})).await;
    let before = app.rows("events");
    app.clock.advance(60 * 86_400);
    extend_series(&app.state).await;
    assert!(app.rows("events") > before, "{before}");
}

#[actix_web::test]
async fn whole_days_begin_at_midnight_although_clocks_skip_it() {
    let app = App::new().await;
    // In Santiago, 5 September 2027 begins at 01:00.
    for first in ["2027-09-04", "2027-09-05"] {
        let body = json!({
            "title": "Fair", "timezone": "America/Santiago", "all_day": true, "start_date": first,
            "end_date": first, "recurrence": {"rrule": "FREQ=DAILY", "until": "2027-09-06"},
        });
        let id = app.post("/events", &body).await.expect(201).id();
        let days = ["09-04 00:00", "09-05 00:00", "09-06 00:00"];
        let days = if first == "2027-09-04" { &days[..] } else { &days[1..] };
        assert_eq!(starts(&app, id).await, days);
        assert_eq!(changed(&app, id).await, vec![json!([]); days.len()], "{first}");
    }
}

#[actix_web::test]
async fn date_at_a_skipped_time_has_the_time_of_its_series_in_feeds() {
    let app = App::new().await;
    let night = json!({"start_date": "2027-03-27 02:30", "end_date": "2027-03-27 03:30",
        "recurrence": {"rrule": "FREQ=DAILY", "count": 4}});
    let id = course(&app, night).await;
    let second = ids(&app, id).await[1];
    patch(&app, second, json!({"title": "Late"})).await.expect(200);
    let moved = app.get("/ical").await.text;
    assert!(moved.contains("\nRECURRENCE-ID;TZID=Europe/Vienna:20270328T023000\r"), "{moved}");
    app.delete(&format!("/events/{second}")).await.expect(200);
    let removed = app.get("/ical").await.text;
    assert!(removed.contains("\nEXDATE;TZID=Europe/Vienna:20270328T023000\r"), "{removed}");
}
