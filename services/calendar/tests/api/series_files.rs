//! Series in calendar files, tables, exports, pages and messages.

use std::io::Cursor;

use calendar::{LoadOptions, add_webhook, extend_series, load};
use serde_json::{Value, json};
use testkit::Exchange as _;

use crate::app::App;
use crate::imports::{counts, event, post};
use crate::pages::page;
use crate::series::{course, events, texts};

/// Returns the dates, titles and statuses of a feed's entries.
fn dates(feed: &str) -> Vec<String> {
    let unfolded = feed.replace("\r\n ", "");
    let entries = unfolded.split("BEGIN:VEVENT").skip(1);
    let names = ["DTSTART", "RRULE", "EXDATE", "RDATE", "RECURRENCE-ID", "SUMMARY", "STATUS"];
    let values_of = |entry: &str| {
        let lines = entry.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
        lines.collect::<Vec<_>>().join(" ")
    };
    entries.map(values_of).collect()
}

/// Creates a series with events that differ.
async fn varied(app: &App) -> i64 {
    let id =
        course(app, json!({"recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=TU", "count": 6}})).await;
    let ids: Vec<i64> =
        events(app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    let patch = |at: usize, body: Value| {
        let path = format!("/events/{}", ids[at]);
        async move { app.patch(&path, &body).await.expect(200) }
    };
    patch(
        1,
        json!({"title": "Guest", "start_date": "2027-03-23 20:00", "end_date": "2027-03-23 21:00"}),
    )
    .await;
    patch(2, json!({"status": "draft"})).await;
    patch(3, json!({"event_status": "cancelled"})).await;
    app.delete(&format!("/events/{}", ids[4])).await.expect(200);
    id
}

#[actix_web::test]
async fn feed_has_one_entry_with_a_rule_and_the_events_that_differ() {
    let app = App::new().await;
    let id = varied(&app).await;
    app.event(json!({"title": "Fair"})).await;
    let feed = app.get("/ical").await.expect(200);
    assert_eq!(
        dates(&feed.text),
        [
            "DTSTART:20270401T100000Z SUMMARY:Fair",
            "DTSTART;TZID=Europe/Vienna:20270316T180000 RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=6 \
             EXDATE;TZID=Europe/Vienna:20270330T180000,20270413T180000 SUMMARY:Yoga",
            "RECURRENCE-ID;TZID=Europe/Vienna:20270323T180000 \
             DTSTART;TZID=Europe/Vienna:20270323T200000 SUMMARY:Guest",
            "RECURRENCE-ID;TZID=Europe/Vienna:20270406T180000 \
             DTSTART;TZID=Europe/Vienna:20270406T180000 SUMMARY:Yoga STATUS:CANCELLED",
        ]
    );
    let uids: Vec<&str> = feed.text.lines().filter(|line| line.starts_with("UID:")).collect();
    assert!(uids[1] == uids[2] && uids[2] == uids[3], "{uids:?}");
    let pages: Vec<&str> = feed.text.lines().filter(|line| line.starts_with("URL:")).collect();
    let paths: Vec<&str> =
        pages.iter().filter_map(|one| one.split_once("/event/")).map(|one| one.1).collect();
    assert_eq!(paths, ["fair/", "yoga/", "yoga/2027-03-23/", "yoga/2027-04-06/"]);
    assert_eq!(feed.text.matches("BEGIN:VTIMEZONE").count(), 1);
    assert_eq!(feed.header("x-tec-total"), "5");
    // A feed with some of a series' events has them as standalone events.
    let some = app.get("/ical?search=guest").await.expect(200);
    assert_eq!(dates(&some.text), ["DTSTART;TZID=Europe/Vienna:20270323T200000 SUMMARY:Guest"]);
    let path = "/event/yoga/2027-03-16/?ical=1";
    let one = page(&app, path).await.expect(200);
    assert_eq!(dates(&one.text), ["DTSTART;TZID=Europe/Vienna:20270316T180000 SUMMARY:Yoga"]);
    assert_eq!(texts(&app, id, "title").await.len(), 5);
}

#[actix_web::test]
async fn feed_of_some_days_has_only_the_events_of_these_days() {
    let app = App::new().await;
    course(&app, json!({})).await;
    course(&app, json!({"title": "Choir", "recurrence": {"rrule": "FREQ=WEEKLY"}})).await;
    let single = |title: &str, days: &[&str]| -> Vec<String> {
        let entry =
            |day: &&str| format!("DTSTART;TZID=Europe/Vienna:2027{day}T180000 SUMMARY:{title}");
        days.iter().map(entry).collect()
    };
    let both = |days: &[&str]| -> Vec<String> {
        days.iter()
            .flat_map(|day| [single("Yoga", &[day]), single("Choir", &[day])].concat())
            .collect()
    };
    let day = page(&app, "/events/day/2027-03-23/?ical=1").await.expect(200);
    assert_eq!(dates(&day.text), both(&["0323"]));
    let days = ["0316", "0323", "0330"];
    for path in ["/events/month/2027-03/?ical=1", "/events/?date=2027-03-16&ical=1"] {
        let shown = page(&app, path).await.expect(200);
        let expected = if path.contains("month") { &days[..] } else { &days[..1] };
        assert_eq!(dates(&shown.text), both(expected), "{path}");
    }
    let week = app.get("/ical?start_date=2027-03-20&end_date=2027-03-26&search=yoga").await;
    assert_eq!(dates(&week.text), single("Yoga", &["0323"]));
    let rest = app.get("/ical?series=1&start_date=2027-03-23").await.expect(200);
    assert_eq!(dates(&rest.text), single("Yoga", &["0323", "0330", "0406"]));
    let has_rule = async |query: &str| {
        let feed = app.get(&format!("/ical{query}")).await.expect(200).text;
        // Time zones have yearly rules.
        feed.contains("RRULE:FREQ=WEEKLY")
    };
    // The format does not depend on whether the days happen to include all events.
    assert!(!has_rule("?series=1&start_date=2027-01-01&end_date=2100-01-01").await);
    assert!(!has_rule("?series=2&start_date=2027-01-01").await);
    // Feeds without dates keep the rule when the first dates are over.
    app.clock.advance(30 * 24 * 3600);
    assert!(has_rule("").await && has_rule("?series=1&ends_after=2027-01-01").await);
    let list = page(&app, "/events/?ical=1").await.expect(200);
    assert!(list.text.contains("RRULE:FREQ=WEEKLY"), "{}", list.text);
}

#[actix_web::test]
async fn parts_of_a_split_series_have_pages_of_their_own_in_feeds() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    for (at, title) in [(2, "Second"), (3, "Third")] {
        let body = json!({"scope": "following", "title": title});
        app.patch(&format!("/events/{}", ids[at]), &body).await.expect(200);
    }
    let pages = async || {
        let feed = app.get("/ical").await.expect(200).text;
        let pages = feed.lines().filter_map(|line| line.strip_prefix("URL:"));
        let paths = pages.map(|page| page.split_once("/event/").unwrap().1.to_owned());
        paths.collect::<Vec<_>>()
    };
    assert_eq!(pages().await, ["yoga/2027-03-16/", "yoga/2027-03-30/", "yoga/"]);
    // The first date is in the trash.
    app.delete(&format!("/events/{}", ids[0])).await.expect(200);
    assert_eq!(pages().await, ["yoga/2027-03-23/", "yoga/2027-03-30/", "yoga/"]);
    for (path, status) in pages().await.iter().zip([200, 200, 302]) {
        page(&app, &format!("/event/{path}")).await.expect(status);
    }
}

#[actix_web::test]
async fn name_of_a_series_has_the_file_of_all_its_dates() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    let entry = |day: &str, rule: &str| {
        format!("DTSTART;TZID=Europe/Vienna:2027{day}T180000 RRULE:FREQ=WEEKLY;BYDAY=TU;{rule}")
    };
    let file = async || {
        let file = page(&app, "/event/yoga/?ical=1").await.expect(200);
        assert_eq!(file.header("content-type"), "text/calendar; charset=UTF-8");
        dates(&file.text)
    };
    let shown = page(&app, "/event/yoga/2027-03-23/").await.expect(200).text;
    let link = format!(
        "href=\"{}\" download>Add all dates to calendar",
        app.server.url("/event/yoga/?ical=1")
    );
    assert!(shown.contains(&link), "{shown}");
    assert_eq!(file().await, [entry("0316", "COUNT=4 SUMMARY:Yoga")]);
    // All parts of a split series have its name. Past dates stay in the file.
    let body = json!({"scope": "following", "title": "Late"});
    app.patch(&format!("/events/{}", ids[2]), &body).await.expect(200);
    app.clock.advance(17 * 24 * 3600);
    let parts = [
        entry("0316", "UNTIL=20270330T155959Z SUMMARY:Yoga"),
        entry("0330", "COUNT=2 SUMMARY:Late"),
    ];
    assert_eq!(file().await, parts);
    let outlook = page(&app, "/event/yoga/?outlook-ical=1").await.expect(200);
    assert!(!outlook.text.contains("X-WR-CALNAME") && outlook.text.contains("RRULE:"));
    // The page of an event that became a series offers the file of the series.
    let plain = app.event(json!({"title": "Fair"})).await;
    let body = json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 2}});
    app.patch(&format!("/events/{plain}"), &body).await.expect(200);
    let url = app.get(&format!("/events/{plain}")).await.json["url"].as_str().unwrap().to_owned();
    let (_, path) = url.split_once("/event/").unwrap();
    let shown = page(&app, &format!("/event/{path}")).await.expect(200).text;
    assert!(shown.contains("Add all dates"), "{shown}");
    let file = page(&app, "/event/fair/?ical=1").await.expect(200).text;
    assert!(file.contains("RRULE:FREQ=DAILY;COUNT=2"), "{file}");
    // A series that was never public has no file.
    let body = json!({"title": "Choir", "status": "private"});
    let private = course(&app, body).await;
    page(&app, "/event/choir/?ical=1").await.expect(404);
    app.delete(&format!("/events/{private}?scope=all")).await.expect(200);
    page(&app, "/event/choir/?ical=1").await.expect(404);
}

#[actix_web::test]
async fn import_of_an_own_feed_with_series_changes_nothing() {
    let app = App::new().await;
    let id = varied(&app).await;
    let days = json!({"title": "Days", "all_day": true, "timezone": "Asia/Tokyo", "start_date": "2027-05-01",
        "end_date": "2027-05-02", "recurrence": {"rrule": "FREQ=MONTHLY", "count": 3}});
    app.post("/events", &days).await.expect(201);
    let night = json!({"title": "Night", "timezone": "America/New_York", "start_date": "2027-10-30 22:00",
        "end_date": "2027-10-31 06:00", "recurrence": {"rrule": "FREQ=DAILY", "count": 10}});
    app.post("/events", &night).await.expect(201);
    let before = events(&app, id).await;
    let rows = || ["events", "series", "series_events"].map(|table| app.rows(table));
    let counted = rows();
    app.clock.advance(3600);
    for path in ["/ical", "/ical?search=yoga", "/ical?search=guest"] {
        let feed = app.get(path).await.expect(200).text;
        let done = post(&app, "editor", feed).await.expect(200);
        let changed = ["created", "updated", "failed"].map(|name| done.json[name].clone());
        assert_eq!(changed, [0, 0, 0], "{path}: {}", done.text);
        assert_eq!(done.json["warnings"], json!([]), "{path}");
    }
    assert_eq!((events(&app, id).await, rows()), (before, counted));
    // If the first event was erased, the others have no parent.
    app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    let feed = app.get("/ical").await.expect(200).text;
    assert_eq!(counts(&app, feed).await[..2], [0, 0]);
}

#[actix_web::test]
async fn feed_of_another_calendar_brings_its_series() {
    let (app, other) = (App::new().await, App::new().await);
    varied(&app).await;
    let feed = app.get("/ical").await.expect(200).text;
    let done = post(&other, "editor", feed.clone()).await.expect(200);
    assert_eq!(
        (&done.json["created"], &done.json["warnings"]),
        (&json!(4), &json!([])),
        "{}",
        done.text
    );
    let again = other.get("/ical").await.expect(200).text;
    assert_eq!(dates(&again), dates(&feed));
    let id = other.get("/events?start_date=2027-03-16&end_date=2027-03-16").await.ids()[0];
    let all = events(&other, id).await;
    let changed: Vec<&Value> = all.iter().map(|one| &one["series"]["changed"]).collect();
    // An imported event's website is its page in the file.
    let (moved, cancelled) =
        (json!(["title", "website", "dates"]), json!(["website", "event_status"]));
    assert_eq!(changed, [&json!([]), &moved, &cancelled, &json!([])]);
    // A later change of the file reaches the other calendar.
    let longer = feed.replace("COUNT=6", "COUNT=7").replace("SEQUENCE:", "SEQUENCE:9");
    let done = post(&other, "editor", longer).await.expect(200);
    assert_eq!(done.json["created"], 1, "{}", done.text);
    assert_eq!(events(&other, id).await.len(), 5);
}

#[actix_web::test]
async fn imported_rule_is_kept_and_extended() {
    let app = App::with(&["--site-timezone=Europe/Vienna"]).await;
    let entry = |rule: &str| {
        event(&format!(
            "UID:weekly\r\nDTSTART;TZID=Europe/Vienna:20270316T180000\r\nDURATION:PT90M\r\nSUMMARY:Yoga\r\n{rule}"
        ))
    };
    let file = entry("RRULE:FREQ=WEEKLY\r\nEXDATE;TZID=Europe/Vienna:20270323T180000");
    assert_eq!(counts(&app, &file).await, [103, 0, 0, 0, 0]);
    let id = app.get("/events?start_date=2027-03-16&end_date=2027-03-16").await.ids()[0];
    let shown = events(&app, id).await[0]["series"].clone();
    assert_eq!(
        shown["recurrence"],
        json!({"rrule": "FREQ=WEEKLY", "exdates": ["2027-03-23 18:00:00"], "rdates": []})
    );
    assert!(app.get("/ical").await.text.contains("RRULE:FREQ=WEEKLY\r\n"));
    app.clock.advance(28 * 24 * 3600);
    extend_series(&app.state).await;
    assert_eq!(app.rows("events"), 107);
    assert_eq!(counts(&app, &file).await, [0, 0, 107, 0, 0]);
    // A file without the rule leaves a standalone event.
    assert_eq!(counts(&app, entry("X-NOTE:once")).await[2], 1);
    assert_eq!(app.rows("series"), 0);
    assert_eq!(app.get(&format!("/events/{id}")).await.json["series"], Value::Null);
}

#[actix_web::test]
async fn rules_that_cannot_be_kept_are_imported_as_events() {
    let app = App::new().await;
    for (uid, more) in [
        ("two", "RRULE:FREQ=DAILY;COUNT=2\r\nRRULE:FREQ=WEEKLY;COUNT=2"),
        ("period", "RDATE;VALUE=PERIOD:20270402T100000Z/PT2H"),
    ] {
        let file =
            event(&format!("UID:{uid}\r\nDTSTART:20270401T100000Z\r\nSUMMARY:{uid}\r\n{more}"));
        assert!(counts(&app, file).await[0] > 1, "{uid}");
    }
    assert_eq!(app.rows("series"), 0);
}

#[actix_web::test]
async fn change_of_a_series_sends_one_message() {
    let app = App::new().await;
    app.state
        .pools
        .write_blocking(|db| add_webhook(db, "https://mirror.example/hook", "whsec_x", 0))
        .unwrap();
    let id = course(&app, json!({})).await;
    app.patch(&format!("/events/{id}"), &json!({"title": "New", "scope": "all"})).await.expect(200);
    app.patch(&format!("/events/{id}"), &json!({"title": "One"})).await.expect(200);
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    assert_eq!(app.rows("webhook_outbox"), 4);
    for (kind, number) in
        [("series.created", 1), ("series.changed", 1), ("series.deleted", 1), ("event.changed", 1)]
    {
        let found = app.rows(&format!("webhook_outbox where payload like '%\"{kind}\"%'"));
        assert_eq!(found, number, "{kind}");
    }
    let named = format!("webhook_outbox where payload like '%\"event\":{id},\"id\":1,%'");
    assert_eq!(app.rows(&named), 3);
}

#[actix_web::test]
async fn split_of_a_series_announces_the_old_and_the_new_one() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let third = events(&app, id).await[2]["id"].as_i64().unwrap();
    app.state
        .pools
        .write_blocking(|db| add_webhook(db, "https://mirror.example/hook", "whsec_x", 0))
        .unwrap();
    let body = json!({"title": "Summer yoga", "scope": "following"});
    app.patch(&format!("/events/{third}"), &body).await.expect(200);
    assert_eq!(app.rows("webhook_outbox"), 2);
    for (kind, event, series) in [("changed", third - 1, 1), ("created", third, 2)] {
        let named = format!(
            "webhook_outbox where payload like '%\"event\":{event},\"id\":{series},%' \
             and payload like '%\"series.{kind}\"%'"
        );
        assert_eq!(app.rows(&named), 1, "{kind}");
    }
    let order = "webhook_outbox where payload like '%created%' and id > \
        (select min(id) from webhook_outbox)";
    assert_eq!(app.rows(order), 1);
}

#[actix_web::test]
async fn pages_show_how_often_and_when_next() {
    let app = App::new().await;
    let recurrence = json!({"rrule": "FREQ=WEEKLY;BYDAY=TU", "until": "2027-06-30"});
    course(&app, json!({"recurrence": recurrence, "cost": "5"})).await;
    let shown = page(&app, "/event/yoga/2027-03-23/").await.expect(200).text;
    assert!(shown.contains("<dt>Repeats</dt><dd>Every Tuesday until 29 June 2027</dd>"), "{shown}");
    assert!(
        shown.contains(
            "<a href=\"/event/yoga/2027-03-30/\">Tuesday, 30 March 2027, 18:00 – 19:30</a>"
        )
    );
    assert_eq!(shown.matches("<li><a href=\"/event/yoga/").count(), 5);
    let data =
        shown.split("application/ld+json\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let series = &data["superEvent"];
    assert_eq!((&series["@type"], &series["name"]), (&json!("EventSeries"), &json!("Yoga")));
    let schedule = &series["eventSchedule"];
    assert_eq!(
        *schedule,
        json!({"@type": "Schedule", "repeatFrequency": "P1W", "byDay": ["https://schema.org/Tuesday"],
            "startDate": "2027-03-16", "endDate": "2027-06-29", "startTime": "18:00:00",
            "endTime": "19:30:00", "scheduleTimezone": "Europe/Vienna"})
    );
    // The name of the series leads to its next event, and unknown dates are not found.
    let next = page(&app, "/event/yoga/").await.expect(302);
    assert_eq!(next.header("location"), "/event/yoga/2027-03-16/");
    page(&app, "/event/yoga/2027-03-24/").await.expect(404);
    page(&app, "/event/choir/").await.expect(404);
    app.clock.advance(365 * 24 * 3600);
    let last = page(&app, "/event/yoga/").await.expect(302);
    assert_eq!(last.header("location"), "/event/yoga/2027-06-29/");
    let over = page(&app, "/event/yoga/2027-06-29/").await.expect(200).text;
    assert!(!over.contains("Next dates"));
}

#[actix_web::test]
async fn shortened_series_ends_with_its_last_date_on_pages() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let third = events(&app, id).await[2]["id"].clone();
    app.delete(&format!("/events/{third}?scope=following")).await.expect(200);
    let shown = page(&app, "/event/yoga/2027-03-16/").await.expect(200).text;
    assert!(shown.contains("<dd>Every Tuesday until 23 March 2027</dd>"), "{shown}");
    assert!(shown.contains("\"endDate\":\"2027-03-23T19:30:00+01:00\""), "{shown}");
    assert!(shown.contains("\"endDate\":\"2027-03-23\""), "{shown}");
}

#[actix_web::test]
async fn number_of_times_on_pages_leaves_out_excluded_dates() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let shown = async || page(&app, "/event/yoga/2027-03-16/").await.expect(200).text;
    assert!(shown().await.contains("<dd>Every Tuesday, 4 times</dd>"));
    let second = events(&app, id).await[1]["id"].clone();
    app.delete(&format!("/events/{second}")).await.expect(200);
    let shown = shown().await;
    assert!(shown.contains("<dd>Every Tuesday, 3 times</dd>"), "{shown}");
}

#[actix_web::test]
async fn next_dates_show_which_are_cancelled_or_postponed() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let ids: Vec<i64> =
        events(&app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect();
    for (at, status) in [(1, "cancelled"), (2, "postponed")] {
        let body = json!({"event_status": status});
        app.patch(&format!("/events/{}", ids[at]), &body).await.expect(200);
    }
    let shown = page(&app, "/event/yoga/2027-03-16/").await.expect(200).text;
    for text in [
        "2027-03-23/\">Cancelled: Tuesday, 23 March 2027, 18:00 – 19:30</a>",
        "2027-03-30/\">Postponed: Tuesday, 30 March 2027, 18:00 – 19:30</a>",
        "2027-04-06/\">Tuesday, 6 April 2027, 18:00 – 19:30</a>",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[actix_web::test]
async fn protected_events_of_a_series_are_unlocked_at_their_page() {
    let app = App::new().await;
    course(&app, json!({"password": "secret", "description": "hidden"})).await;
    let locked = page(&app, "/event/yoga/2027-03-23/").await.expect(403).text;
    assert!(locked.contains("action=\"/event/yoga/2027-03-23/\""), "{locked}");
    assert!(!locked.contains("Every Tuesday") && !locked.contains("Next dates"));
    let form = app.server.request(reqwest::Method::POST, "/event/yoga/2027-03-23/");
    let opened = crate::app::send(form.form(&[("password", "secret")])).await.expect(200);
    assert!(opened.text.contains("hidden") && opened.text.contains("Every Tuesday"));
}

#[actix_web::test]
async fn loaded_line_with_a_recurrence_is_a_series() {
    let app = App::new().await;
    let line = |title: &str, more: Value| {
        let mut line = json!({"type": "event", "title": title, "timezone": "Europe/Vienna",
            "external_id": "course-1", "start_date": "2027-03-16 18:00", "end_date": "2027-03-16 19:30",
            "recurrence": {"rrule": "FREQ=WEEKLY", "count": 3}});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string()
    };
    let run = |text: String, upsert: bool| {
        let options = LoadOptions { upsert, ..LoadOptions::default() };
        let loaded = load(&app.state, Cursor::new(text), options).unwrap();
        (loaded.created, loaded.updated, loaded.unchanged, loaded.failed)
    };
    assert_eq!(run(line("Yoga", json!({})), false), (1, 0, 0, 0));
    assert_eq!(run(line("Yoga", json!({})), true), (0, 0, 1, 0));
    let longer = json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 4}});
    assert_eq!(run(line("Pilates", longer), true), (0, 1, 0, 0));
    let id = app.get("/events?search=pilates").await.ids()[0];
    assert_eq!(texts(&app, id, "title").await, vec!["Pilates"; 4]);
    assert_eq!(run(line("x", json!({"recurrence": {"rrule": "FREQ=YEARLY;BYDAY=MO"}})), true).3, 1);
}

#[actix_web::test]
async fn load_continues_after_a_series_whose_first_event_was_erased() {
    let app = App::new().await;
    let mut line = json!({"type": "event", "title": "Yoga", "external_id": "course-1",
        "start_date": "2027-03-16 18:00", "end_date": "2027-03-16 19:30"});
    let plain = line.to_string().replace("course", "plain");
    line["recurrence"] = json!({"rrule": "FREQ=WEEKLY", "count": 3});
    let run = |upsert: bool| {
        let text = format!("{line}\n{plain}\n");
        let options = LoadOptions { upsert, ..LoadOptions::default() };
        let loaded = load(&app.state, Cursor::new(text), options).unwrap();
        (loaded.created, loaded.unchanged, loaded.failed)
    };
    assert_eq!(run(false), (2, 0, 0));
    let first = app.get("/events?orderby=id&order=asc").await.ids()[0];
    assert_eq!(events(&app, first).await.len(), 3);
    app.delete(&format!("/events/{first}?force=true")).await.expect(200);
    assert_eq!(run(false), (0, 2, 0));
    assert_eq!(run(true), (0, 1, 1));
    assert_eq!((app.rows("events"), app.rows("series")), (3, 1));
}

#[actix_web::test]
async fn load_that_makes_a_series_of_an_event_keeps_its_uid_in_feeds() {
    let url = Some("https://calendar.example".to_owned());
    let app = App::changed(&[], |state| state.with_public_url(url)).await;
    let id = app.event(json!({"title": "Fair"})).await;
    let rule = json!({"rrule": "FREQ=DAILY", "count": 2});
    let line = json!({"type": "event", "slug": "fair", "title": "Fair", "recurrence": rule});
    let options = LoadOptions { upsert: true, ..LoadOptions::default() };
    let loaded = load(&app.state, Cursor::new(line.to_string()), options).unwrap();
    assert_eq!((loaded.updated, app.rows("events")), (1, 2), "{:?}", loaded.faults);
    let feed = app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
    assert!(feed.contains(&format!("UID:{id}@calendar.example\r\n")), "{feed}");
}
