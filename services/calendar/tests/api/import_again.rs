//! Repeated imports of iCalendar files that have changed since the first import.

use serde_json::{Value, json};

use crate::app::App;
use crate::import_standards::mark;
use crate::imports::{counts, post};
use crate::pages::page;

/// Builds a calendar file with these entries.
fn calendar(entries: &[&str]) -> String {
    let entries: String = entries
        .iter()
        .map(|lines| format!("BEGIN:VEVENT\r\n{}\r\nEND:VEVENT\r\n", lines.replace('\n', "\r\n")))
        .collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{entries}END:VCALENDAR\r\n")
}

/// Builds a daily series of three events that start at this hour.
fn series(hour: u8, more: &str) -> String {
    format!(
        "UID:s\nDTSTART:20270401T{hour:02}0000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
         SUMMARY:Daily{more}"
    )
}

/// Returns the starts and titles of all public events.
async fn shown(app: &App) -> Vec<String> {
    let list = app.get("/events?start_date=2027-04-01&per_page=50").await.expect(200).json;
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    let events = list["events"].as_array().unwrap();
    assert_eq!(list["total"], events.len());
    let summary = |event: &Value| {
        let start = &text(event, "start_date")[8..13];
        format!("{start} {}{}", text(event, "title"), mark(event))
    };
    events.iter().map(summary).collect()
}

#[actix_web::test]
async fn series_that_moves_and_returns_keeps_its_events() {
    let app = App::new().await;
    counts(&app, calendar(&[&series(10, "")])).await;
    let ids = app.get("/events").await.ids();
    counts(&app, calendar(&[&series(12, "")])).await;
    assert_eq!(shown(&app).await, ["01 12 Daily", "02 12 Daily", "03 12 Daily"]);
    assert_eq!((app.get("/events").await.ids(), app.rows("events")), (ids.clone(), 3));
    counts(&app, calendar(&[&series(10, "")])).await;
    assert_eq!(shown(&app).await, ["01 10 Daily", "02 10 Daily", "03 10 Daily"]);
    // The ids and URLs have not changed.
    let back = app.get("/events").await;
    assert_eq!(back.ids(), ids);
    assert!(!back.text.contains("__trashed"), "{}", back.text);
    assert_eq!(counts(&app, calendar(&[&series(10, "")])).await, [0, 0, 3, 0, 0]);
}

#[actix_web::test]
async fn address_of_a_new_series_no_longer_redirects_to_a_renamed_event() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Daily"})).await;
    app.patch(&format!("/events/{id}"), &json!({"slug": "renamed"})).await.expect(200);
    page(&app, "/event/daily/").await.expect(301);
    counts(&app, calendar(&[&series(10, "")])).await;
    let next = page(&app, "/event/daily/").await.expect(302);
    assert_eq!(next.header("location"), "/event/daily/2027-04-01/");
}

#[actix_web::test]
async fn series_has_the_address_of_an_event_whose_date_it_excludes() {
    let app = App::new().await;
    let lines = "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:Daily";
    counts(&app, calendar(&[lines])).await;
    // It is 9 April.
    app.clock.advance(30 * 24 * 3600);
    let rule = format!("{lines}\nRRULE:FREQ=DAILY;COUNT=20\nEXDATE:20270401T100000Z");
    counts(&app, calendar(&[&rule])).await;
    let next = page(&app, "/event/daily/").await.expect(302);
    assert_eq!(next.header("location"), "/event/daily/2027-04-10/");
    page(&app, "/event/daily/2027-04-01/").await.expect(200);
    // Otherwise, clients would replace the series with this event.
    let feed = app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
    assert_eq!(feed.matches("\nUID:s\r\n").count(), 1, "{feed}");
    assert_eq!(feed.matches("\nUID:s#20270401T100000Z\r\n").count(), 1, "{feed}");
    assert_eq!(counts(&app, calendar(&[&rule])).await, [0, 0, 19, 0, 0]);
}

#[actix_web::test]
async fn excluded_date_returns_when_the_file_has_it_again() {
    let app = App::new().await;
    let complete = calendar(&[&series(10, "")]);
    counts(&app, &complete).await;
    for left_out in ["20270402T100000Z", "20270401T100000Z"] {
        let exdate = calendar(&[&series(10, &format!("\nEXDATE:{left_out}"))]);
        counts(&app, &exdate).await;
        assert_eq!(shown(&app).await.len(), 2, "{left_out}");
        counts(&app, &complete).await;
        assert_eq!(shown(&app).await, ["01 10 Daily", "02 10 Daily", "03 10 Daily"], "{left_out}");
    }
}

#[actix_web::test]
async fn older_file_is_refused_after_the_first_date_was_erased() {
    let app = App::new().await;
    counts(&app, calendar(&[&series(10, "\nSEQUENCE:2")])).await;
    let ids = app.get("/events").await.ids();
    let older = calendar(&[&series(12, "\nSEQUENCE:1")]);
    app.delete(&format!("/events/{}?force=true", ids[0])).await.expect(200);
    counts(&app, &older).await;
    assert_eq!(shown(&app).await, ["02 10 Daily", "03 10 Daily"]);
    // Once all dates are erased, the entry is gone.
    for id in &ids[1..] {
        app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    }
    assert_eq!(app.rows("imported_revisions where name <> ''"), 0);
    assert_eq!(counts(&app, &older).await, [3, 0, 0, 0, 0]);
}

#[actix_web::test]
async fn cancelled_event_stays_visible_until_confirmed() {
    let app = App::new().await;
    let file = |status: &str| {
        calendar(&[&format!("UID:a\nDTSTART:20270401T100000Z\nSUMMARY:Show\nSTATUS:{status}")])
    };
    counts(&app, file("CONFIRMED")).await;
    let id = app.get("/events").await.ids()[0];
    // A status that an editor set is kept.
    app.patch(&format!("/events/{id}"), &json!({"status": "draft"})).await.expect(200);
    for (between, expected) in [("draft", 0), ("publish", 1)] {
        for (status, expected) in [("CANCELLED", json!("cancelled")), ("CONFIRMED", Value::Null)] {
            assert_eq!(counts(&app, file(status)).await, [0, 1, 0, 0, 0]);
            assert_eq!(counts(&app, file(status)).await, [0, 0, 1, 0, 0]);
            let event = app.get_as("editor", &format!("/events/{id}")).await.expect(200).json;
            assert_eq!((&event["status"], &event["slug"]), (&json!(between), &json!("show")));
            assert_eq!(event["event_status"], expected, "{between}");
        }
        assert_eq!(shown(&app).await.len(), expected, "{between}");
        app.patch(&format!("/events/{id}"), &json!({"status": "publish"})).await.expect(200);
    }
}

#[actix_web::test]
async fn unknown_cancelled_event_is_imported_as_cancelled_until_a_later_file_clears_it() {
    let app = App::new().await;
    let file = |status: &str, sequence: u8| {
        calendar(&[&format!(
            "UID:a\nDTSTART:20270401T100000Z\nSUMMARY:Show\nSTATUS:{status}\nSEQUENCE:{sequence}"
        )])
    };
    assert_eq!(counts(&app, file("CANCELLED", 2)).await, [1, 0, 0, 0, 0]);
    assert_eq!(counts(&app, file("CANCELLED", 2)).await, [0, 0, 1, 0, 0]);
    assert_eq!(counts(&app, file("CONFIRMED", 1)).await, [0, 0, 0, 1, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show (off)"]);
    assert!(app.get("/ical").await.text.contains("STATUS:CANCELLED\r\n"));
    assert_eq!(counts(&app, file("CONFIRMED", 3)).await, [0, 1, 0, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show"]);
    // Without a title, the event is not imported.
    let untitled = file("CANCELLED", 0).replace("SUMMARY:Show\r\n", "").replace("UID:a", "UID:b");
    assert_eq!(counts(&app, untitled).await, [0, 0, 0, 1, 0]);
}

#[actix_web::test]
async fn status_that_a_user_set_is_kept_while_the_file_does_not_change() {
    let app = App::new().await;
    let file = |status: &str| {
        calendar(&[&format!("UID:a\nDTSTART:20270401T100000Z\nSUMMARY:Show\nSTATUS:{status}")])
    };
    counts(&app, file("CONFIRMED")).await;
    let path = format!("/events/{}", app.get("/events").await.ids()[0]);
    let set = async |status: &str| {
        app.patch(&path, &json!({"event_status": status})).await.expect(200);
    };
    set("cancelled").await;
    assert_eq!(counts(&app, file("CONFIRMED")).await, [0, 0, 1, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show (off)"]);
    set("scheduled").await;
    assert_eq!(counts(&app, file("CANCELLED")).await, [0, 1, 0, 0, 0]);
    set("scheduled").await;
    assert_eq!(counts(&app, file("CANCELLED")).await, [0, 0, 1, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show"]);
    // Since that decision, the file has confirmed the event and cancelled it again.
    assert_eq!(counts(&app, file("CONFIRMED")).await, [0, 0, 1, 0, 0]);
    assert_eq!(counts(&app, file("CANCELLED")).await, [0, 1, 0, 0, 0]);
    // Importing a feed of this calendar does not change what was recorded from the file.
    let feed = app.get("/ical").await.text;
    assert_eq!(counts(&app, &feed).await, [0, 0, 1, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show (off)"]);
    // An event that a user trashed stays in the trash.
    app.delete(&path).await.expect(200);
    assert_eq!(counts(&app, file("CANCELLED")).await, [0, 0, 0, 1, 0]);
}

#[actix_web::test]
async fn event_trashed_by_an_editor_is_not_restored_by_an_import() {
    let app = App::new().await;
    let (file, moved) = (calendar(&[&series(10, "")]), calendar(&[&series(12, "")]));
    counts(&app, &file).await;
    let ids = app.get("/events").await.ids();
    app.delete(&format!("/events/{}", ids[1])).await.expect(200);
    counts(&app, &moved).await;
    assert_eq!(counts(&app, &file).await, [0, 2, 0, 1, 0]);
    assert_eq!(shown(&app).await, ["01 10 Daily", "03 10 Daily"]);
    // An import trashed the event, then an editor restored it and trashed it again.
    counts(&app, &moved).await;
    let last = format!("/events/{}", ids[2]);
    app.patch(&last, &json!({"status": "publish"})).await.expect(200);
    app.delete(&last).await.expect(200);
    counts(&app, &file).await;
    assert_eq!(shown(&app).await, ["01 10 Daily"]);
}

#[actix_web::test]
async fn override_of_the_first_occurrence_moves_or_cancels_it() {
    let first = "UID:s\nRECURRENCE-ID:20270401T100000Z\nSUMMARY:Moved\nDTSTART:20270401T150000Z";
    let off = "UID:s\nRECURRENCE-ID:20270401T100000Z\nSTATUS:CANCELLED\nDTSTART:20270401T100000Z";
    let later = first.replace("T15", "T17");
    for is_known in [true, false] {
        let app = App::new().await;
        let complete = calendar(&[&series(10, "")]);
        let with = |entry: &str| calendar(&[entry, &series(10, "")]);
        if is_known {
            counts(&app, &complete).await;
        }
        counts(&app, with(first)).await;
        assert_eq!(shown(&app).await, ["01 15 Moved", "02 10 Daily", "03 10 Daily"], "{is_known}");
        assert_eq!(counts(&app, with(first)).await, [0, 0, 3, 0, 0], "{is_known}");
        assert_eq!(app.rows("events"), 3);
        counts(&app, with(off)).await;
        let cancelled = ["01 15 Moved (off)", "02 10 Daily", "03 10 Daily"];
        assert_eq!(shown(&app).await, cancelled, "{is_known}");
        assert_eq!(counts(&app, with(off)).await, [0, 0, 3, 0, 0], "{is_known}");
        counts(&app, with(&later)).await;
        assert_eq!(shown(&app).await, ["01 17 Moved", "02 10 Daily", "03 10 Daily"], "{is_known}");
        // A file may contain only overrides.
        counts(&app, calendar(&[first])).await;
        assert_eq!(shown(&app).await, ["01 15 Moved", "02 10 Daily", "03 10 Daily"], "{is_known}");
        counts(&app, &complete).await;
        assert_eq!(shown(&app).await, ["01 10 Daily", "02 10 Daily", "03 10 Daily"], "{is_known}");
        assert_eq!(app.rows("events"), 3);
        // The first event is the parent of all others.
        let ids = app.get("/events").await.ids();
        let mut below = Vec::new();
        for id in &ids {
            below.push(app.get(&format!("/events?post_parent={id}")).await.ids().len());
        }
        below.sort_unstable();
        assert_eq!(below, [0, 0, 2], "{is_known}");
        // The series moves, and its first event moves even further.
        let moved =
            calendar(&[&later.replace("-ID:20270401T10", "-ID:20270401T12"), &series(12, "")]);
        counts(&app, &moved).await;
        assert_eq!(shown(&app).await, ["01 17 Moved", "02 12 Daily", "03 12 Daily"], "{is_known}");
    }
}

#[actix_web::test]
async fn cancelled_first_occurrence_is_created_when_the_file_has_it_again() {
    let app = App::new().await;
    let off = "UID:s\nRECURRENCE-ID:20270401T100000Z\nSTATUS:CANCELLED\nDTSTART:20270401T100000Z";
    let file = calendar(&[&series(10, ""), off]);
    assert_eq!(counts(&app, &file).await, [2, 0, 0, 1, 0]);
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 1, 0]);
    counts(&app, calendar(&[&series(10, "")])).await;
    assert_eq!(shown(&app).await, ["01 10 Daily", "02 10 Daily", "03 10 Daily"]);
    counts(&app, calendar(&[&series(11, "")])).await;
    assert_eq!(shown(&app).await, ["01 11 Daily", "02 11 Daily", "03 11 Daily"]);
}

#[actix_web::test]
async fn events_of_a_removed_rule_are_trashed() {
    let app = App::new().await;
    // A separate event whose UID looks like the id of an occurrence.
    let other = "UID:s#x\nDTSTART:20270405T100000Z\nSUMMARY:Other";
    let repeated = calendar(&[&series(10, ""), other]);
    counts(&app, &repeated).await;
    let once = calendar(&[&series(10, "").replace("RRULE", "X-RRULE"), other]);
    assert_eq!(counts(&app, &once).await, [0, 2, 2, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Daily", "05 10 Other"]);
    assert_eq!(counts(&app, &once).await, [0, 0, 2, 0, 0]);
    counts(&app, &repeated).await;
    assert_eq!(shown(&app).await.len(), 4);
    // A cancelled series does not have a rule.
    let cancelled = "UID:s\nDTSTART:20270401T100000Z\nSTATUS:CANCELLED";
    assert_eq!(counts(&app, calendar(&[cancelled])).await, [0, 3, 0, 0, 0]);
    let expected = ["01 10 Daily (off)", "02 10 Daily (off)", "03 10 Daily (off)", "05 10 Other"];
    assert_eq!(shown(&app).await, expected);
    assert_eq!(counts(&app, calendar(&[cancelled])).await, [0, 0, 1, 0, 0]);
    // A feed of this calendar has whole series, or some of their events without the rule.
    counts(&app, &repeated).await;
    for (query, number) in [("end_date=2027-04-02", 2), ("end_date=2027-04-02&per_page=1", 1)] {
        let feed = app.get(&format!("/ical?{query}")).await.expect(200).text;
        assert_eq!(counts(&app, &feed).await, [0, 0, number, 0, 0], "{query}");
    }
    assert_eq!(shown(&app).await.len(), 4);
}

#[actix_web::test]
async fn class_private_in_the_file_hides_the_event_until_removed() {
    let app = App::new().await;
    let file = |class: &str, title: &str| {
        calendar(&[&format!(
            "UID:a\nDTSTART:20270401T100000Z\nSUMMARY:{title}{}",
            if class.is_empty() { String::new() } else { format!("\nCLASS:{class}") }
        )])
    };
    counts(&app, file("", "Party")).await;
    let id = app.get("/events").await.ids()[0];
    let path = format!("/events/{id}");
    for class in ["PRIVATE", "CONFIDENTIAL"] {
        assert_eq!(counts(&app, file(class, "Surgery")).await, [0, 1, 0, 0, 0]);
        app.get(&path).await.expect(403);
        assert_eq!(app.get_as("editor", &path).await.expect(200).json["status"], "private");
        assert_eq!(counts(&app, file(class, "Surgery")).await, [0, 0, 1, 0, 0]);
        assert_eq!(counts(&app, file("PUBLIC", "Party")).await, [0, 1, 0, 0, 0]);
        assert_eq!(shown(&app).await, ["01 10 Party"]);
    }
    // The editor's decision is kept until the file changes.
    app.patch(&path, &json!({"status": "private"})).await.expect(200);
    assert_eq!(counts(&app, file("", "Party")).await, [0, 0, 1, 0, 0]);
    app.get(&path).await.expect(403);
    counts(&app, file("PRIVATE", "Party")).await;
    app.patch(&path, &json!({"status": "publish"})).await.expect(200);
    assert_eq!(counts(&app, file("PRIVATE", "Party")).await, [0, 0, 1, 0, 0]);
    app.get(&path).await.expect(200);
    // Since that decision, the file has become public and private again.
    assert_eq!(counts(&app, file("", "Party")).await, [0, 0, 1, 0, 0]);
    assert_eq!(counts(&app, file("PRIVATE", "Party")).await, [0, 1, 0, 0, 0]);
    app.get(&path).await.expect(403);
    counts(&app, file("", "Party")).await;
    // Private from the start, and private after a restore from the trash.
    let new = file("PRIVATE", "New").replace("UID:a", "UID:b");
    counts(&app, &new).await;
    counts(&app, new.replace("SUMMARY", "STATUS:CANCELLED\r\nSUMMARY")).await;
    assert_eq!(counts(&app, &new).await, [0, 1, 0, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Party"]);
    counts(&app, new.replace("PRIVATE", "PUBLIC")).await;
    assert_eq!(shown(&app).await, ["01 10 Party", "01 10 New"]);
}

#[actix_web::test]
async fn truncated_file_trashes_nothing_and_is_reported() {
    let app = App::new().await;
    let moved = "UID:s\nRECURRENCE-ID:20270402T100000Z\nSUMMARY:Moved\nDTSTART:20270402T150000Z";
    let off = "UID:s\nRECURRENCE-ID:20270403T100000Z\nSTATUS:CANCELLED\nDTSTART:20270403T100000Z";
    let plain = "UID:a\nDTSTART:20270405T100000Z\nSUMMARY:Show";
    let complete = calendar(&[plain, &series(10, ""), moved, off]);
    counts(&app, &complete).await;
    let before = shown(&app).await;
    assert_eq!(before, ["01 10 Daily", "02 15 Moved", "05 10 Show"]);
    let lines: Vec<&str> = complete.split_inclusive("\r\n").collect();
    for end in 3..lines.len() {
        let done = post(&app, "editor", lines[..end].concat()).await.expect(200).json;
        let messages =
            done["errors"].as_array().unwrap().last().unwrap()["message"].as_str().unwrap();
        assert!(messages.ends_with("the file is truncated"), "{end}: {messages}");
        assert_eq!(shown(&app).await, before, "{end}");
    }
    // Single events are imported if they are complete.
    let new = plain.replace("UID:a", "UID:b").replace("Show", "Film");
    let cut = calendar(&[&new, &series(10, "")]).replace("END:VCALENDAR\r\n", "");
    let done = post(&app, "editor", cut).await.expect(200).json;
    assert_eq!((&done["created"], &done["failed"]), (&json!(1), &json!(2)));
    let messages: Vec<_> =
        done["errors"].as_array().unwrap().iter().map(|e| &e["message"]).collect();
    assert_eq!(
        messages,
        [
            "END:VCALENDAR is missing, the file is truncated",
            "it repeats, and the file is truncated"
        ]
    );
}

#[actix_web::test]
async fn event_without_end_line_is_reported_and_others_are_imported() {
    let app = App::new().await;
    let file = calendar(&["UID:a\nDTSTART:20270401T100000Z", "UID:b\nDTSTART:20270402T100000Z"]);
    let file = file.replacen("END:VEVENT\r\n", "", 1);
    let done = post(&app, "editor", file).await.expect(200).json;
    assert_eq!((&done["created"], &done["failed"]), (&json!(1), &json!(1)));
    assert_eq!(done["errors"][0]["uid"], "a");
}

#[actix_web::test]
async fn concurrent_imports_of_one_file_create_its_events_once() {
    let app = App::new().await;
    let entries: Vec<String> = (0..300)
        .map(|number| {
            format!(
                "UID:{number}\nDTSTART:20270401T100000Z\nSUMMARY:x\nLOCATION:Hall {}\n\
                 ORGANIZER;CN=Ann:mailto:a@example.org\nCATEGORIES:Talks",
                number % 3
            )
        })
        .collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let file = calendar(&[&entries[..], &[&series(10, "")]].concat());
    let (one, other) =
        futures_util::join!(post(&app, "editor", file.clone()), post(&app, "editor", file.clone()));
    let (one, other) = (one.expect(200).json, other.expect(200).json);
    let sum = |name: &str| one[name].as_i64().unwrap() + other[name].as_i64().unwrap();
    assert_eq!((sum("created"), sum("unchanged"), sum("failed")), (303, 303, 0), "{one} {other}");
    let rows = ["events", "venues", "organizers", "terms"].map(|table| app.rows(table));
    assert_eq!(rows, [303, 3, 1, 1]);
}

#[actix_web::test]
async fn added_date_that_cannot_be_read_trashes_no_occurrence() {
    let app = App::new().await;
    let file = |dates: &str| {
        calendar(&[&format!("UID:s\nDTSTART:20270401T100000Z\nSUMMARY:Show\nRDATE:{dates}")])
    };
    assert_eq!(counts(&app, file("20270402T100000Z,20270403T100000Z")).await, [3, 0, 0, 0, 0]);
    assert_eq!(counts(&app, file("2027-04-02T10:00Z,20270403T100000Z")).await, [0, 0, 2, 0, 0]);
    assert_eq!(counts(&app, file("2027-04-02T10:00Z")).await, [0, 0, 1, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show", "02 10 Show", "03 10 Show"]);
    assert_eq!(counts(&app, file("20270403T100000Z")).await, [0, 1, 2, 0, 0]);
    assert_eq!(shown(&app).await, ["01 10 Show", "03 10 Show"]);
}

#[actix_web::test]
async fn excluded_date_that_cannot_be_read_brings_no_occurrence_back() {
    let excluding = |date: &str| calendar(&[&series(10, &format!("\nEXDATE:{date}"))]);
    let (complete, exact) = (calendar(&[&series(10, "")]), excluding("20270402T100000Z"));
    let faulty = excluding("2027-04-02T10:00Z");
    for was_imported in [true, false] {
        let app = App::new().await;
        if was_imported {
            counts(&app, &complete).await;
        }
        counts(&app, &exact).await;
        assert_eq!(counts(&app, &faulty).await, [0, 0, 2, 1, 0], "{was_imported}");
        assert_eq!(shown(&app).await, ["01 10 Daily", "03 10 Daily"], "{was_imported}");
        // Occurrences after the known ones are new.
        let longer = faulty.replace("COUNT=3", "COUNT=4");
        assert_eq!(counts(&app, longer).await, [1, 0, 2, 1, 0], "{was_imported}");
        counts(&app, &complete).await;
        assert_eq!(
            shown(&app).await,
            ["01 10 Daily", "02 10 Daily", "03 10 Daily"],
            "{was_imported}"
        );
    }
}

#[actix_web::test]
async fn series_without_its_first_date_becomes_a_single_event() {
    let app = App::new().await;
    let excluded = calendar(&[&series(10, "\nEXDATE:20270401T100000Z")]);
    assert_eq!(counts(&app, &excluded).await, [2, 0, 0, 0, 0]);
    let single = calendar(&["UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:Daily"]);
    for expected in [[1, 2, 0, 0, 0], [0, 0, 1, 0, 0]] {
        assert_eq!(counts(&app, &single).await, expected);
        assert_eq!(shown(&app).await, ["01 10 Daily"]);
    }
}

#[actix_web::test]
async fn extended_series_without_its_first_date_becomes_a_single_event() {
    let app = App::with(&["--series-ahead=3"]).await;
    let single = "UID:s\nDTSTART:20270501T100000Z\nDURATION:PT1H\nSUMMARY:Weekly";
    let series = format!("{single}\nRRULE:FREQ=WEEKLY\nEXDATE:20270501T100000Z");
    let [created, ..] = counts(&app, calendar(&[&series])).await;
    app.clock.advance(30 * 24 * 3600);
    calendar::extend_series(&app.state).await;
    assert!(app.rows("events") > created);
    assert_eq!(counts(&app, calendar(&[single])).await[0], 1);
    assert_eq!(app.rows("events where status = 'publish'"), 1);
}
