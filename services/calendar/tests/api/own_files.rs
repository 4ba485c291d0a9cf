//! Imports of this calendar's own files after its events have changed.

use serde_json::{Value, json};

use crate::app::App;
use crate::imports::{counts, post};
use crate::series::{course, events, patch, starts, texts};

const LATER: &str =
    "this calendar has a later revision of it, which is kept; to change it, edit a new export";

/// Returns the ids of the events of a series.
async fn ids(app: &App, id: i64) -> Vec<i64> {
    events(app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

/// Imports a file. Returns the numbers of created, updated, unchanged, skipped and failed events,
/// and the warnings.
async fn import(app: &App, file: &str) -> (Vec<i64>, Vec<Value>) {
    let report = post(app, "editor", file.to_owned()).await.expect(200).json;
    let names = ["created", "updated", "unchanged", "skipped", "failed"];
    let warnings = report["warnings"].as_array().unwrap().iter();
    (
        names.iter().map(|name| report[name].as_i64().unwrap()).collect(),
        warnings.map(|warning| warning["message"].clone()).collect(),
    )
}

#[actix_web::test]
async fn old_file_does_not_revert_an_event_that_changed_since() {
    let moved = json!({"start_date": "2027-04-02 10:00", "end_date": "2027-04-02 11:00"});
    // A change of the time increases SEQUENCE, even within the second of the export.
    for (change, seconds) in [(json!({"title": "New"}), 60), (moved, 0)] {
        let app = App::new().await;
        let id = app.event(json!({"title": "Old"})).await;
        app.event(json!({"title": "Other"})).await;
        let old = app.get("/ical").await.expect(200).text;
        app.clock.advance(seconds);
        patch(&app, id, change.clone()).await.expect(200);
        let path = format!("/events/{id}");
        let before = app.get(&path).await.expect(200).json;
        let skipped = (vec![0, 0, 1, 1, 0], vec![json!(LATER)]);
        assert_eq!(import(&app, &old).await, skipped, "{change}");
        assert_eq!(app.get(&path).await.json, before);
        let off = old.replace("SUMMARY:", "STATUS:CANCELLED\r\nSUMMARY:");
        assert_eq!(import(&app, &off).await.0, [0, 1, 0, 1, 0], "{change}");
        assert_eq!(app.get(&path).await.json, before);
        // The current file can be edited. A cancelled event keeps its title.
        let new = app.get("/ical").await.text.replace("SUMMARY:", "SUMMARY:Big ");
        assert_eq!(counts(&app, new).await, [0, 1, 1, 0, 0], "{change}");
    }
}

#[actix_web::test]
async fn own_file_is_imported_again_after_further_edits() {
    let stamp = |minute: u8| format!("LAST-MODIFIED:20270310T12{minute:02}00Z");
    // Some programs raise LAST-MODIFIED but not SEQUENCE, and others raise nothing.
    for minutes in [[0, 0, 0], [1, 2, 3]] {
        let app = App::new().await;
        let id = app.event(json!({"title": "Old"})).await;
        let old = app.get("/ical").await.expect(200).text;
        let edited = |title: &str, minute: u8| {
            let file = old.replace("SUMMARY:Old", &format!("SUMMARY:{title}"));
            file.replace(&stamp(0), &stamp(minute)).replace("T100000", "T090000")
        };
        app.clock.advance(600);
        for (title, minute) in ["First", "Second", "Third"].into_iter().zip(minutes) {
            let file = edited(title, minute);
            assert_eq!(import(&app, &file).await, (vec![0, 1, 0, 0, 0], vec![]), "{file}");
            app.clock.advance(60);
        }
        // The export from before the edits reverts nothing, and an edit reverts no change made here.
        let path = format!("/events/{id}");
        let skipped = (vec![0, 0, 0, 1, 0], vec![json!(LATER)]);
        assert_eq!(import(&app, &old).await, skipped, "{minutes:?}");
        assert_eq!(app.get(&path).await.json["title"], "Third");
        patch(&app, id, json!({"title": "Here"})).await.expect(200);
        assert_eq!(import(&app, &edited("Fourth", minutes[2])).await, skipped, "{minutes:?}");
        assert_eq!(app.get(&path).await.json["title"], "Here");
        // Erasing the event removes what was recorded about its entry.
        app.delete(&format!("{path}?force=true")).await.expect(200);
        assert_eq!(app.rows("imported_edits"), 0);
    }
}

#[actix_web::test]
async fn event_becomes_private_with_the_second_edit_of_its_own_file() {
    let app = App::new().await;
    app.event(json!({"title": "Old"})).await;
    let mut file = app.get("/ical").await.expect(200).text;
    for property in ["STATUS:TENTATIVE", "CLASS:PRIVATE"] {
        app.clock.advance(60);
        file = file.replace("SUMMARY:", &format!("{property}\r\nSUMMARY:"));
        assert_eq!(import(&app, &file).await, (vec![0, 1, 0, 0, 0], vec![]), "{file}");
    }
    assert_eq!(app.rows("events where status = 'private'"), 1);
}

#[actix_web::test]
async fn cancelled_event_that_its_own_file_makes_private_is_hidden() {
    for (status, added) in [("scheduled", "STATUS:CANCELLED\r\n"), ("cancelled", "")] {
        let app = App::new().await;
        app.event(json!({"title": "Old", "event_status": status})).await;
        let file = app.get("/ical").await.expect(200).text;
        let edited = file.replace("SUMMARY:", &format!("{added}CLASS:PRIVATE\r\nSUMMARY:"));
        assert_eq!(edited.matches("STATUS:CANCELLED").count(), 1, "{edited}");
        app.clock.advance(60);
        for expected in [vec![0, 1, 0, 0, 0], vec![0, 0, 1, 0, 0]] {
            assert_eq!(import(&app, &edited).await, (expected, vec![]), "{edited}");
            assert_eq!(app.rows("events where status = 'private'"), 1);
        }
    }
}

#[actix_web::test]
async fn event_that_was_added_to_an_own_file_can_be_edited_there() {
    let app = App::new().await;
    app.event(json!({"title": "Old"})).await;
    let old = app.get("/ical").await.expect(200).text;
    let with = |title: &str| {
        let added = format!(
            "BEGIN:VEVENT\r\nUID:added\r\nDTSTAMP:20270310T120000Z\r\n\
             DTSTART:20270402T100000Z\r\nSUMMARY:{title}\r\nEND:VEVENT\r\nEND:VCALENDAR"
        );
        old.replace("END:VCALENDAR", &added)
    };
    for (title, expected) in [("First", [1, 0, 1, 0, 0]), ("Second", [0, 1, 1, 0, 0])] {
        app.clock.advance(60);
        assert_eq!(counts(&app, with(title)).await, expected, "{title}");
    }
}

#[actix_web::test]
async fn series_that_was_added_to_an_own_file_has_its_overrides() {
    let entry = |day: u8, hour: u8, more: &str| {
        format!(
            "BEGIN:VEVENT\r\nUID:added\r\nDTSTAMP:20270310T120000Z\r\n{more}\r\n\
             DTSTART:202704{day:02}T{hour:02}0000Z\r\nSUMMARY:Walk\r\nEND:VEVENT\r\n"
        )
    };
    let series = entry(1, 10, "RRULE:FREQ=DAILY;COUNT=4");
    for (days, kind, time) in [
        ([2, 3], ":", "T100000Z"),
        ([1, 4], ":", "T100000Z"),
        ([2, 3], ";VALUE=DATE:", ""),
        ([1, 4], ";VALUE=DATE:", ""),
    ] {
        let moved = |day: u8| entry(day, 12, &format!("RECURRENCE-ID{kind}202704{day:02}{time}"));
        let added = format!("{series}{}{}END:VCALENDAR", moved(days[0]), moved(days[1]));
        let app = App::new().await;
        app.event(json!({"title": "Old"})).await;
        let feed = app.get("/ical").await.expect(200).text;
        let edited = feed.replace("END:VCALENDAR", &added);
        for expected in [[4, 0, 1, 0, 0], [0, 0, 5, 0, 0]] {
            assert_eq!(counts(&app, &edited).await, expected, "{edited}");
        }
        assert_eq!(app.rows("series_events"), 4);
        let feed = app.get("/ical").await.expect(200).text;
        assert_eq!(feed.matches("RECURRENCE-ID").count(), 2, "{feed}");
        assert_eq!(feed.matches("BEGIN:VEVENT").count(), 4, "{feed}");
    }
}

#[actix_web::test]
async fn old_file_does_not_revert_a_series_that_changed_since() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    patch(&app, all[2], json!({"title": "Guest"})).await.expect(200);
    let old = app.get("/ical").await.expect(200).text;
    app.clock.advance(60);
    let moved = json!({"start_date": "2027-03-23 20:00", "end_date": "2027-03-23 21:00"});
    patch(&app, all[1], moved).await.expect(200);
    patch(&app, all[2], json!({"title": "Another guest"})).await.expect(200);
    let before = events(&app, id).await;
    let skipped = (vec![0, 0, 2, 2, 0], vec![json!(LATER), json!(LATER)]);
    assert_eq!(import(&app, &old).await, skipped);
    assert_eq!(events(&app, id).await, before);
    // Dates that the series no longer has are not created again.
    app.delete(&format!("/events/{}?scope=following&force=true", all[2])).await.expect(200);
    assert_eq!(import(&app, &old).await.0, [0, 0, 1, 3, 0]);
    assert_eq!(ids(&app, id).await, all[..2]);
    assert_eq!(app.rows("events"), 2);
}

#[actix_web::test]
async fn several_dates_of_a_series_are_changed_by_its_edited_file() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    for (event, day) in [(all[1], "2027-03-23"), (all[2], "2027-03-30")] {
        let moved =
            json!({"start_date": format!("{day} 20:00"), "end_date": format!("{day} 20:30")});
        patch(&app, event, moved).await.expect(200);
    }
    let edited = app.get("/ical").await.expect(200).text.replace("T200000", "T190000");
    app.clock.advance(60);
    for expected in [[0, 2, 2, 0, 0], [0, 0, 4, 0, 0]] {
        assert_eq!(counts(&app, &edited).await, expected, "{edited}");
        let days = ["03-16 18:00", "03-23 19:00", "03-30 19:00", "04-06 18:00"];
        assert_eq!(starts(&app, id).await, days);
    }
    assert_eq!(texts(&app, id, "title").await, ["Yoga"; 4]);
    // A program edits the file once more, without a new revision.
    let edited = edited.replace("T190000", "T193000");
    assert_eq!(counts(&app, &edited).await, [0, 2, 2, 0, 0], "{edited}");
    let days = ["03-16 18:00", "03-23 19:30", "03-30 19:30", "04-06 18:00"];
    assert_eq!(starts(&app, id).await, days);
}

#[actix_web::test]
async fn other_rule_in_the_file_of_a_series_is_reported() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let before = events(&app, id).await;
    let file = app.get("/ical").await.expect(200).text;
    assert_eq!(import(&app, &file).await, (vec![0, 0, 4, 0, 0], vec![]));
    for rule in ["FREQ=WEEKLY;BYDAY=TU;COUNT=3", "FREQ=WEEKLY;BYDAY=TU,WE;COUNT=4"] {
        let edited = file.replace("FREQ=WEEKLY;BYDAY=TU;COUNT=4", rule);
        let message = json!("the series has another rule in this calendar, which stays");
        assert_eq!(import(&app, &edited).await.1, [message], "{edited}");
        assert_eq!(events(&app, id).await, before, "{rule}");
    }
}

#[actix_web::test]
async fn length_of_a_series_is_changed_by_its_edited_file() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let moved = json!({"start_date": "2027-03-23 20:00", "end_date": "2027-03-23 21:00"});
    patch(&app, ids(&app, id).await[1], moved).await.expect(200);
    let edited = app.get("/ical").await.expect(200).text.replace("T193000", "T190000");
    app.clock.advance(60);
    let ends = async |end: &str| {
        let expected = [("03-16", end), ("03-23", "21:00"), ("03-30", end), ("04-06", end)];
        let expected = expected.map(|(day, end)| format!("2027-{day} {end}:00"));
        assert_eq!(texts(&app, id, "end_date").await, expected);
    };
    for expected in [[0, 3, 1, 0, 0], [0, 0, 4, 0, 0]] {
        assert_eq!(counts(&app, &edited).await, expected, "{edited}");
        ends("19:00").await;
    }
    let feed = app.get("/ical").await.expect(200).text;
    assert_eq!(counts(&app, &feed).await, [0, 0, 4, 0, 0], "{feed}");
    assert_eq!(feed.matches("RECURRENCE-ID").count(), 1, "{feed}");
    // The events still share their dates.
    let longer = json!({"end_date": "2027-03-16 20:00", "scope": "all"});
    patch(&app, id, longer).await.expect(200);
    ends("20:00").await;
}

#[actix_web::test]
async fn other_start_in_the_file_of_a_series_is_reported() {
    let app = App::new().await;
    course(&app, json!({})).await;
    let file = app.get("/ical").await.expect(200).text;
    let message = json!("the series has another rule in this calendar, which stays");
    let edited = file.replace("T180000", "T170000");
    assert_eq!(import(&app, &edited).await, (vec![3, 1, 0, 0, 0], vec![message]));
    // The feed has the first event at its new time.
    let feed = app.get("/ical").await.expect(200).text;
    assert_eq!(import(&app, &feed).await, (vec![0, 0, 7, 0, 0], vec![]), "{feed}");
}

#[actix_web::test]
async fn title_of_a_series_is_changed_by_its_edited_file_despite_overrides() {
    let cases: [&[usize]; 4] = [&[0], &[3], &[0, 3], &[2, 3]];
    for numbers in cases {
        let app = App::new().await;
        let id = course(&app, json!({})).await;
        let all = ids(&app, id).await;
        for number in numbers {
            let off = json!({"event_status": "cancelled"});
            patch(&app, all[*number], off).await.expect(200);
        }
        let file = app.get("/ical").await.expect(200).text;
        let edited = file.replacen("SUMMARY:Yoga", "SUMMARY:Pilates", 1);
        let same = i64::try_from(numbers.len()).unwrap();
        assert_eq!(counts(&app, &edited).await, [0, 4 - same, same, 0, 0], "{edited}");
        let titles = texts(&app, id, "title").await;
        for (number, title) in titles.iter().enumerate() {
            let expected = if numbers.contains(&number) { "Yoga" } else { "Pilates" };
            assert_eq!(title, expected, "{numbers:?}");
        }
        for event in events(&app, id).await {
            let own = event["series"]["changed"].as_array().unwrap();
            let is_own = own.contains(&json!("title"));
            assert_eq!(is_own, event["title"] == "Yoga", "{numbers:?}");
        }
        let feed = app.get("/ical").await.expect(200).text;
        assert_eq!(counts(&app, &feed).await, [0, 0, 4, 0, 0], "{feed}");
        assert_eq!(texts(&app, id, "title").await, titles);
    }
}

#[actix_web::test]
async fn date_that_is_removed_from_the_file_of_a_series_goes_to_the_trash() {
    let message = "a date that the file excludes has changed in this calendar since, so it stays";
    for is_changed in [false, true] {
        let app = App::new().await;
        let id = course(&app, json!({})).await;
        let all = ids(&app, id).await;
        // Feeds exclude dates that aren't public.
        patch(&app, all[3], json!({"status": "draft"})).await.expect(200);
        let file = app.get("/ical").await.expect(200).text;
        app.clock.advance(60);
        assert_eq!(import(&app, &file).await, (vec![0, 0, 3, 0, 0], vec![]), "{file}");
        if is_changed {
            patch(&app, all[1], json!({"title": "Guest"})).await.expect(200);
        }
        let is_start = |line: &&str| line.starts_with("DTSTART") && line.contains("20270316");
        let start = file.lines().find(is_start).unwrap();
        let removed = start.replace("DTSTART", "EXDATE").replace("20270316", "20270323");
        let edited = file.replacen("SUMMARY:", &format!("{removed}\r\nSUMMARY:"), 1);
        let expected = match is_changed {
            true => (vec![0, 0, 2, 0, 0], vec![json!(message)]),
            false => (vec![0, 1, 2, 0, 0], vec![]),
        };
        assert_eq!(import(&app, &edited).await, expected, "{edited}");
        let trashed = format!("events where status = 'trash' and id = {}", all[1]);
        assert_eq!(app.rows(&trashed), i64::from(!is_changed));
        assert_eq!(app.rows("events where status = 'draft'"), 1);
        let feed = app.get("/ical").await.expect(200).text;
        assert_eq!(counts(&app, &feed).await, [0, 0, 2 + i64::from(is_changed), 0, 0], "{feed}");
    }
}

#[actix_web::test]
async fn dates_that_a_filtered_feed_leaves_out_stay() {
    let app = App::new().await;
    let id = course(&app, json!({"featured": true})).await;
    let all = ids(&app, id).await;
    patch(&app, all[1], json!({"featured": false})).await.expect(200);
    let file = app.get("/ical?featured=true").await.expect(200).text;
    assert!(file.contains("EXDATE"), "{file}");
    assert_eq!(import(&app, &file).await, (vec![0, 0, 3, 0, 0], vec![]), "{file}");
    assert_eq!(events(&app, id).await.len(), 4);
}

#[actix_web::test]
async fn first_date_stays_when_a_feed_of_the_others_is_imported() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let file = app.get(&format!("/ical?post_parent={id}")).await.expect(200).text;
    assert_eq!(import(&app, &file).await, (vec![0, 0, 3, 0, 0], vec![]), "{file}");
    assert_eq!(events(&app, id).await.len(), 4);
}
