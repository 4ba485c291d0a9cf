//! Loads that are repeated after users have moved something to the trash.

use std::io::Cursor;

use calendar::{LoadOptions, load, load_table_file};
use serde_json::{Value, json};

use crate::app::App;
use crate::pages::page;
use crate::series::texts;

/// Returns the numbers of created, updated, unchanged and failed lines.
fn run(app: &App, lines: &[Value], upsert: bool) -> [u64; 4] {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let options = LoadOptions { dry_run: false, upsert };
    let loaded = load(&app.state, Cursor::new(text), options).unwrap();
    [loaded.created, loaded.updated, loaded.unchanged, loaded.failed]
}

fn event(fields: &Value) -> Value {
    let mut event = json!({"type": "event", "title": "Yoga", "timezone": "Europe/Vienna",
        "start_date": "2027-03-16 18:00", "end_date": "2027-03-16 19:00"});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

#[actix_web::test]
async fn repeated_load_does_not_bring_back_what_is_in_the_trash() {
    let rule = json!({"rrule": "FREQ=WEEKLY", "count": 3});
    for fields in [
        json!({}),
        json!({"slug": "course"}),
        json!({"external_id": "c1"}),
        json!({"recurrence": rule}),
        json!({"recurrence": rule, "slug": "course"}),
        json!({"recurrence": rule, "external_id": "c1"}),
    ] {
        let (app, line) = (App::new().await, event(&fields));
        let lines = [line.clone()];
        assert_eq!(run(&app, &lines, false), [1, 0, 0, 0], "{fields}");
        let number = app.rows("events");
        let id = app.get("/events?orderby=id&order=asc").await.ids()[0];
        let scope = if number > 1 { "?scope=all" } else { "" };
        app.delete(&format!("/events/{id}{scope}")).await.expect(200);
        for upsert in [false, false, true] {
            assert_eq!(run(&app, &lines, upsert), [0, 0, 1, 0], "{fields} {upsert}");
            assert_eq!(app.rows("events"), number, "{fields}");
            assert_eq!(app.rows("events where status <> 'trash'"), 0, "{fields}");
        }
        // A line with a status restores the event.
        let mut restored = line;
        restored["status"] = json!("publish");
        assert_eq!(run(&app, &[restored], true), [0, 1, 0, 0], "{fields}");
        assert_eq!(app.rows("events"), number, "{fields}");
    }
}

#[actix_web::test]
async fn row_without_a_slug_stays_in_the_trash() {
    let app = App::new().await;
    let table = "title,start_date,end_date\nChoir,2027-04-01 10:00,2027-04-01 11:00\n";
    let load = || {
        let options = LoadOptions::default();
        let loaded = load_table_file(&app.state, Cursor::new(table), options, None).unwrap();
        (loaded.created, loaded.unchanged)
    };
    assert_eq!(load(), (1, 0));
    let id = app.get("/events").await.ids()[0];
    app.delete(&format!("/events/{id}")).await.expect(200);
    assert_eq!((load(), load(), app.rows("events")), ((0, 1), (0, 1), 1));
    // An event with this title that is not in the trash comes first.
    let new = json!({"title": "Choir", "start_date": "2027-04-01 10:00",
        "end_date": "2027-04-01 11:00"});
    let new = app.event(new).await;
    let line = json!({"type": "event", "title": "Choir", "start_date": "2027-04-01 10:00",
        "end_date": "2027-04-01 11:00", "excerpt": "new"});
    // The new event is in the site's zone, as is the line.
    assert_eq!(run(&app, &[line], true), [0, 1, 0, 0]);
    assert_ne!(app.get(&format!("/events/{new}")).await.json["excerpt"], "");
}

#[actix_web::test]
async fn repeated_lines_with_the_status_trash_create_one_item() {
    let app = App::new().await;
    let lines = [
        event(&json!({"status": "trash"})),
        event(&json!({"status": "trash", "title": "Named", "slug": "named"})),
        json!({"type": "venue", "venue": "Hall", "status": "trash"}),
        json!({"type": "organizer", "organizer": "Ann", "slug": "own", "status": "trash"}),
    ];
    assert_eq!(run(&app, &lines, false), [4, 0, 0, 0]);
    for upsert in [false, true, false] {
        assert_eq!(run(&app, &lines, upsert), [0, 0, 4, 0], "{upsert}");
    }
    let numbers = ["events", "venues", "organizers"].map(|table| app.rows(table));
    assert_eq!(numbers, [2, 1, 1]);
}

#[actix_web::test]
async fn slug_of_a_line_that_begins_a_series_is_the_address_of_the_series() {
    let line = event(&json!({"external_id": "c1", "slug": "course"}));
    let mut repeated = line.clone();
    repeated["recurrence"] = json!({"rrule": "FREQ=WEEKLY", "count": 3});
    for is_known in [true, false] {
        let app = App::new().await;
        if is_known {
            assert_eq!(run(&app, std::slice::from_ref(&line), false), [1, 0, 0, 0]);
        }
        let expected = if is_known { [0, 1, 0, 0] } else { [1, 0, 0, 0] };
        assert_eq!(run(&app, &[repeated.clone()], true), expected, "{is_known}");
        let id = app.get("/events?orderby=id&order=asc").await.ids()[0];
        for _ in 0..2 {
            let slugs = ["course--2027-03-16", "course--2027-03-23", "course--2027-03-30"];
            assert_eq!(texts(&app, id, "slug").await, slugs, "{is_known}");
            let next = page(&app, "/event/course/").await.expect(302);
            assert_eq!(next.header("location"), "/event/course/2027-03-16/");
            assert_eq!(run(&app, &[repeated.clone()], true), [0, 0, 1, 0], "{is_known}");
        }
    }
}

#[actix_web::test]
async fn address_of_a_loaded_series_no_longer_redirects_to_a_renamed_event() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Course"})).await;
    app.patch(&format!("/events/{id}"), &json!({"slug": "renamed"})).await.expect(200);
    page(&app, "/event/course/").await.expect(301);
    let rule = json!({"rrule": "FREQ=WEEKLY", "count": 3});
    let fields = json!({"external_id": "c1", "slug": "course--2027-03-16", "recurrence": rule});
    assert_eq!(run(&app, &[event(&fields)], false), [1, 0, 0, 0]);
    let next = page(&app, "/event/course/").await.expect(302);
    assert_eq!(next.header("location"), "/event/course/2027-03-16/");
}

#[actix_web::test]
async fn slugs_of_a_series_that_is_loaded_into_the_trash_are_free() {
    let rule = json!({"rrule": "FREQ=WEEKLY", "count": 3});
    let dates = ["course--2027-03-16", "course--2027-03-23", "course--2027-03-30"];
    for slug in ["course", dates[0]] {
        let app = App::new().await;
        let fields =
            json!({"external_id": "c1", "slug": slug, "recurrence": rule, "status": "trash"});
        assert_eq!(run(&app, &[event(&fields)], false), [1, 0, 0, 0], "{slug}");
        for (number, date) in dates.iter().enumerate() {
            let trashed = format!("events where status = 'trash' and slug = '{date}__trashed'");
            assert_eq!(app.rows(&trashed), 1, "{slug} {date}");
            let line = event(&json!({"external_id": format!("other-{number}"), "slug": date}));
            assert_eq!(run(&app, &[line], false), [1, 0, 0, 0], "{slug} {date}");
            assert_eq!(app.rows(&format!("events where slug = '{date}'")), 1, "{slug} {date}");
        }
    }
}
