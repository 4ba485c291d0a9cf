//! Series in feeds that contain only some of their dates.

use serde_json::{Value, json};

use crate::app::{App, NS};
use crate::imports::{counts, post};
use crate::pages::page;
use crate::series::{course, events, patch};
use crate::subscribing::{Subscribing, counts as run_counts};

/// Returns the events of a file, each with its unfolded lines.
pub fn entries(feed: &str) -> Vec<String> {
    let unfolded = feed.replace("\r\n ", "");
    unfolded.split("BEGIN:VEVENT").skip(1).map(str::to_owned).collect()
}

/// Returns the value of a property of an entry, or an empty text.
pub fn value<'e>(entry: &'e str, name: &str) -> &'e str {
    let mut values = entry.lines().filter_map(|line| line.strip_prefix(name));
    let found = values.find(|rest| rest.starts_with([':', ';']));
    found.and_then(|rest| rest.split_once(':')).map_or("", |(_, value)| value)
}

/// Returns the values of some properties of all entries of a feed.
async fn listed(app: &App, query: &str, names: &[&str]) -> Vec<String> {
    let feed = app.get(&format!("/ical{query}")).await.expect(200).text;
    let values_of = |entry: &String| {
        let values = names.iter().map(|name| value(entry, name)).filter(|value| !value.is_empty());
        values.collect::<Vec<_>>().join(" ")
    };
    entries(&feed).iter().map(values_of).collect()
}

/// Returns the ids of the events of a series.
async fn ids(app: &App, id: i64) -> Vec<i64> {
    events(app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

/// Returns the starts, titles and statuses of all public events.
async fn shown(app: &App) -> Vec<String> {
    let list = app.get("/events?start_date=2027-01-01&per_page=50").await.expect(200).json;
    let summary = |event: &Value| {
        let start = &event["start_date"].as_str().unwrap()[5..16];
        let status = event["event_status"].as_str().unwrap_or_default();
        format!("{start} {} {status}", event["title"].as_str().unwrap()).trim().to_owned()
    };
    list["events"].as_array().unwrap().iter().map(summary).collect()
}

const FORM: [&str; 5] = ["DTSTART", "RRULE", "EXDATE", "RECURRENCE-ID", "SUMMARY"];

#[actix_web::test]
async fn series_keeps_its_rule_when_a_date_leaves_the_filter() {
    let app = App::new().await;
    let id = course(&app, json!({"categories": ["Dance"], "tags": ["calm"]})).await;
    let all = ids(&app, id).await;
    let queries = ["?categories=dance", "?tags=calm", "?categories=dance&search=yoga"];
    let rule = "20270316T180000 FREQ=WEEKLY;BYDAY=TU;COUNT=4";
    for query in queries {
        assert_eq!(listed(&app, query, &FORM).await, [format!("{rule} Yoga")], "{query}");
    }
    let uids = listed(&app, "?categories=dance", &["UID"]).await;
    for change in [json!({"categories": [], "tags": ["calm"]}), json!({"title": "Ballet"})] {
        patch(&app, all[3], change).await.expect(200);
        let expected = [format!("{rule} 20270406T180000 Yoga")];
        assert_eq!(listed(&app, "?categories=dance", &FORM).await, expected);
        assert_eq!(listed(&app, "?categories=dance", &["UID"]).await, uids);
    }
    // Dates that differ in other fields are overrides, and the filter may leave out the first date.
    patch(&app, all[1], json!({"title": "Guest"})).await.expect(200);
    patch(&app, all[0], json!({"categories": ["Other"]})).await.expect(200);
    let expected = [
        format!("{rule} 20270316T180000,20270406T180000 Yoga"),
        "20270323T180000 20270323T180000 Guest".to_owned(),
    ];
    assert_eq!(listed(&app, "?categories=dance", &FORM).await, expected);
    let searched = [
        format!("{rule} 20270323T180000,20270406T180000 Yoga"),
        "20270316T180000 20270316T180000 Yoga".to_owned(),
    ];
    assert_eq!(listed(&app, "?search=yoga", &FORM).await, searched);
    // It returns to the rule.
    patch(&app, all[3], json!({"categories": ["Dance"], "title": "Yoga"})).await.expect(200);
    assert_eq!(
        listed(&app, "?categories=dance", &FORM).await[0],
        format!("{rule} 20270316T180000 Yoga")
    );
}

#[actix_web::test]
async fn only_dates_with_values_of_their_own_are_single_entries() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY"}})).await;
    let all = ids(&app, id).await;
    let series = listed(&app, "", &["UID"]).await;
    for at in [0, 2] {
        patch(&app, all[at], json!({"categories": ["Open day"]})).await.expect(200);
    }
    let query = "?categories=open-day";
    let days = ["20270316T180000 Yoga", "20270330T180000 Yoga"];
    assert_eq!(listed(&app, query, &FORM).await, days);
    let single = listed(&app, query, &["UID"]).await;
    assert_eq!(single.len(), 2);
    assert!(!single.contains(&series[0]) && single[0] != single[1], "{single:?}");
    // A date that is removed is cancelled under the same UID.
    app.delete(&format!("/events/{}", all[0])).await.expect(200);
    let cancelled = listed(&app, query, &["UID", "STATUS"]).await;
    assert!(cancelled.contains(&format!("{} CANCELLED", single[0])), "{cancelled:?}");
    // Without the category, there is one entry with the rule.
    assert_eq!(listed(&app, "", &["UID"]).await[..1], series[..1]);
}

/// Returns UID, SEQUENCE, LAST-MODIFIED and DTSTAMP of the entries with a rule.
async fn revisions(app: &App, query: &str) -> Vec<(String, i64, String)> {
    let feed = app.get(&format!("/ical{query}")).await.expect(200).text;
    let values_of = |entry: &String| {
        let modified = value(entry, "LAST-MODIFIED");
        assert_eq!(value(entry, "DTSTAMP"), modified);
        let sequence = value(entry, "SEQUENCE").parse().unwrap();
        (value(entry, "UID").to_owned(), sequence, modified.to_owned())
    };
    let entries = entries(&feed);
    entries.iter().filter(|one| value(one, "RECURRENCE-ID").is_empty()).map(values_of).collect()
}

#[actix_web::test]
async fn revision_of_a_series_never_goes_back() {
    for query in ["?categories=dance", ""] {
        let app = App::new().await;
        let id =
            course(&app, json!({"categories": ["Dance"], "recurrence": "FREQ=WEEKLY;COUNT=8"}));
        let id = id.await;
        let all = ids(&app, id).await;
        let mut last = revisions(&app, query).await;
        assert_eq!(last.len(), 1, "{query}");
        let shorter = json!({"scope": "all", "recurrence": "FREQ=WEEKLY;COUNT=6"});
        let steps = [
            ("PATCH", all[1], "", json!({"event_status": "cancelled"})),
            ("PATCH", all[3], "", json!({"categories": []})),
            ("PATCH", all[2], "", json!({"title": "Guest"})),
            ("PATCH", all[2], "", json!({"status": "draft"})),
            ("DELETE", all[2], "?force=true", json!({})),
            ("DELETE", all[1], "", json!({})),
            ("DELETE", all[1], "?force=true", json!({})),
            ("PATCH", all[7], "", json!({"start_date": "2027-05-04 20:00"})),
            ("PATCH", all[0], "", shorter),
            ("DELETE", all[7], "?force=true", json!({})),
            ("DELETE", all[5], "?scope=following", json!({})),
        ];
        for (method, event, more, body) in steps {
            app.clock.advance(60);
            let path = format!("/events/{event}{more}");
            app.call("editor", method, &path, &body).await.expect(200);
            let now: Vec<_> = revisions(&app, query).await;
            let now: Vec<_> = now.into_iter().filter(|one| one.0 == last[0].0).collect();
            assert_eq!(now.len(), 1, "{query}: {method} {path}");
            let is_later = now[0].1 >= last[0].1 && now[0].2 >= last[0].2;
            assert!(is_later, "{query}: {method} {path} {body}: {last:?} {now:?}");
            last = now;
        }
    }
}

#[actix_web::test]
async fn single_date_has_a_uid_that_stays_when_its_series_moves_or_is_split() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    let whole = listed(&app, "", &["UID"]).await.remove(0);
    let uid = async |event: i64| {
        let slug = app.get(&format!("/events/{event}")).await.json["slug"].clone();
        let path = slug.as_str().unwrap().replace("--", "/");
        let file = page(&app, &format!("/event/{path}/?ical=1")).await.expect(200).text;
        let entries = entries(&file);
        assert!(entries.len() == 1 && value(&entries[0], "RRULE").is_empty(), "{file}");
        let uid = value(&entries[0], "UID").to_owned();
        assert_eq!(listed(&app, &format!("?include={event}"), &["UID"]).await, [&*uid]);
        uid
    };
    let mut before = Vec::new();
    for event in &all {
        let uid = uid(*event).await;
        assert!(uid.starts_with(&format!("event-{event}@")) && !uid.contains(&*whole), "{uid}");
        before.push(uid);
    }
    // Feeds of some days use the same ids for the dates.
    let day = page(&app, "/events/day/2027-03-16/?ical=1").await.expect(200).text;
    assert_eq!(value(&entries(&day)[0], "UID"), before[0]);
    assert_eq!(listed(&app, "?start_date=2027-03-10", &["UID"]).await, before);
    for (at, change) in [
        (0, json!({"scope": "all", "start_date": "2027-03-16 17:00"})),
        (1, json!({"start_date": "2027-03-24 12:00"})),
        (2, json!({"scope": "following", "title": "Late"})),
    ] {
        patch(&app, all[at], change.clone()).await.expect(200);
        for (event, uid_before) in all.iter().zip(&before) {
            assert_eq!(uid(*event).await, *uid_before, "{change}");
        }
    }
}

#[actix_web::test]
async fn file_of_a_date_changes_only_that_date_of_its_own_calendar() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    for event in [all[0], all[2]] {
        let path = format!("/ical?include={event}");
        let file = app.get(&path).await.expect(200).text;
        let before = events(&app, id).await;
        app.clock.advance(60);
        assert_eq!(counts(&app, &file).await, [0, 0, 1, 0, 0], "{file}");
        assert_eq!(events(&app, id).await, before);
        // Under another address, it is still the same calendar.
        let moved = file.replace("127.0.0.1", "calendar.example");
        let edited = moved.replace("SUMMARY:Yoga", "SUMMARY:Guest");
        assert_eq!(counts(&app, &edited).await, [0, 1, 0, 0, 0], "{edited}");
        assert_eq!(counts(&app, &edited).await, [0, 0, 1, 0, 0]);
        let changed = events(&app, id).await;
        let own = changed.iter().find(|one| one["id"] == event).unwrap();
        assert_eq!(
            (&own["title"], &own["series"]["changed"]),
            (&json!("Guest"), &json!(["title"]))
        );
        let others = |entries: &[Value]| -> Vec<Value> {
            entries.iter().filter(|one| one["id"] != event).cloned().collect()
        };
        assert_eq!(others(&changed), others(&before));
    }
    let titles = listed(&app, "", &["RECURRENCE-ID", "SUMMARY"]).await;
    assert_eq!(titles, ["Yoga", "20270316T180000 Guest", "20270330T180000 Guest"]);
}

#[actix_web::test]
async fn file_of_a_date_is_an_event_of_its_own_in_other_calendars() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    for product in ["-//Quintet//Calendar//EN", "-//x//y//EN"] {
        let file = async |query: &str| {
            let file = app.get(&format!("/ical{query}")).await.expect(200).text;
            file.replace("-//Quintet//Calendar//EN", product)
        };
        counts(&other, file("").await).await;
        for (at, event) in all.iter().enumerate().take(2) {
            let file = file(&format!("?include={event}")).await;
            let created = i64::from(product != "-//x//y//EN");
            assert_eq!(counts(&other, &file).await, [created, 0, 1 - created, 0, 0], "{file}");
            assert_eq!(counts(&other, &file).await, [0, 0, 1, 0, 0], "{at}");
        }
    }
    // The series has all its dates, and there are two more events.
    let days = ["03-16", "03-16", "03-23", "03-23", "03-30", "04-06"];
    assert_eq!(shown(&other).await, days.map(|day| format!("{day} 18:00 Yoga")));
}

#[actix_web::test]
async fn subscription_to_a_filtered_feed_of_another_calendar_follows_it() {
    let (app, club) = (App::new().await, Subscribing::new().await);
    let id = course(&app, json!({"categories": ["Dance"]})).await;
    let all = ids(&app, id).await;
    let url = app.server.url(&format!("{NS}/ical?categories=dance"));
    let subscription = club.subscribe_to(&url, json!({})).await;
    let run = club.run(subscription).await;
    assert_eq!(run_counts(&run, "imported"), [4, 0, 0, 0, 0, 0], "{run}");
    let own: Vec<i64> = club.app.get("/events?start_date=2027-01-01").await.ids();
    let dance = json!(["Dance"]);
    let steps = [
        // It leaves the feed, while a date is cancelled.
        (1, json!({"event_status": "cancelled"}), 4),
        (3, json!({"categories": []}), 3),
        (
            0,
            json!({"scope": "all", "start_date": "2027-03-16 17:00", "end_date": "2027-03-16 18:30"}),
            3,
        ),
        (3, json!({"categories": dance}), 4),
        (
            2,
            json!({"title": "Guest", "start_date": "2027-03-30 20:00", "end_date": "2027-03-30 21:00"}),
            4,
        ),
        (
            0,
            json!({"scope": "all", "start_date": "2027-03-16 19:00", "end_date": "2027-03-16 20:00"}),
            4,
        ),
        (0, json!({"categories": []}), 3),
        (1, json!({"event_status": "scheduled"}), 3),
        (0, json!({"categories": dance}), 4),
        (2, json!({"scope": "following", "description": "Part two"}), 4),
        (3, json!({"categories": []}), 3),
    ];
    for (at, change, number) in steps {
        app.clock.advance(60);
        patch(&app, all[at], change.clone()).await.expect(200);
        let run = club.run_now(subscription).await;
        let [.., failed, _] = run_counts(&run, "imported");
        assert_eq!((failed, &run["last_run"]["messages"]), (0, &json!([])), "{change}: {run}");
        let list = app.get("/events?categories=dance&start_date=2027-01-01").await.expect(200);
        assert_eq!(list.ids().len(), number, "{change}");
        let titles = async |calendar: &App, more: &str| {
            let path = format!("/events?start_date=2027-01-01&per_page=50{more}");
            let list = calendar.get(&path).await.expect(200).json;
            let summary = |one: &Value| {
                ["start_date", "end_date", "title", "event_status"].map(|name| one[name].clone())
            };
            list["events"].as_array().unwrap().iter().map(summary).collect::<Vec<_>>()
        };
        let expected = titles(&app, "&categories=dance").await;
        assert_eq!(titles(&club.app, "").await, expected, "{change}: {run}");
        let again = club.run_now(subscription).await;
        assert_eq!(run_counts(&again, "not_modified"), [0; 6], "{change}: {again}");
    }
    // The first two dates are the same events as at the beginning.
    assert_eq!(club.app.get("/events?start_date=2027-01-01").await.ids()[..2], own[..2]);
}

#[actix_web::test]
async fn removed_series_is_removed_from_calendars_that_subscribe_to_its_filtered_feed() {
    let (app, club) = (App::new().await, Subscribing::new().await);
    let id = course(&app, json!({"categories": ["Dance"]})).await;
    let stays = json!({"title": "Ball", "categories": ["Dance"], "start_date": "2027-05-01 20:00",
        "end_date": "2027-05-01 23:00"});
    app.event(stays).await;
    let all = ids(&app, id).await;
    let url = app.server.url(&format!("{NS}/ical?categories=dance"));
    let subscription = club.subscribe_to(&url, json!({})).await;
    club.run(subscription).await;
    assert_eq!(shown(&club.app).await.len(), 5);
    // One after another, each within what a run accepts.
    for event in &all {
        app.clock.advance(60);
        app.delete(&format!("/events/{event}")).await.expect(200);
        let mut run = club.run_now(subscription).await;
        if run["awaits_acceptance"] == true {
            club.step(subscription, "accept").await;
            run = club.run(subscription).await;
        }
        assert_eq!(run["last_run"]["outcome"], "imported", "{run}");
        let public: Vec<String> = shown(&club.app).await;
        let going: Vec<&String> = public.iter().filter(|one| !one.ends_with("cancelled")).collect();
        let expected = shown(&app).await;
        assert_eq!(going, expected.iter().collect::<Vec<_>>(), "{run}");
    }
}

#[actix_web::test]
async fn postponed_events_of_another_calendar_are_postponed_until_their_feed_changes() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    let single = app.event(json!({"title": "Fair"})).await;
    let status = async |app: &App| {
        let list = app.get("/events?start_date=2027-01-01&per_page=50").await.expect(200).json;
        let events = list["events"].as_array().unwrap().clone();
        let postponed = events.iter().filter(|one| one["event_status"] == "postponed");
        postponed
            .map(|one| one["start_date"].as_str().unwrap()[5..10].to_owned())
            .collect::<Vec<_>>()
    };
    for (occurring, expected) in [
        ("postponed", vec!["03-23", "04-01"]),
        ("cancelled", vec![]),
        ("postponed", vec!["03-23", "04-01"]),
        ("scheduled", vec![]),
    ] {
        app.clock.advance(60);
        for event in [all[1], single] {
            patch(&app, event, json!({"event_status": occurring})).await.expect(200);
        }
        let file = app.get("/ical").await.expect(200).text;
        let done = post(&other, "editor", file.clone()).await.expect(200);
        assert_eq!(done.json["warnings"], json!([]), "{file}");
        assert_eq!(status(&other).await, expected, "{occurring}");
        assert_eq!(counts(&other, &file).await[..2], [0, 0], "{occurring}");
        // Its own file changes nothing.
        assert_eq!(counts(&app, &file).await[..2], [0, 0], "{occurring}");
    }
    // A user's decision stays until the file changes.
    patch(&app, single, json!({"event_status": "postponed"})).await.expect(200);
    let file = app.get("/ical").await.expect(200).text;
    counts(&other, &file).await;
    let fair = other.get("/events?search=fair").await.ids()[0];
    patch(&other, fair, json!({"event_status": "scheduled"})).await.expect(200);
    assert_eq!(counts(&other, &file).await[..2], [0, 0]);
    assert_eq!(status(&other).await, [""; 0]);
}

#[actix_web::test]
async fn feed_of_a_series_ends_with_its_last_event_where_a_limit_left_out_later_ones() {
    let app = App::new().await;
    let file = crate::imports::event(
        "UID:daily\r\nDTSTART:20270401T100000Z\r\nDURATION:PT1H\r\nSUMMARY:Daily\r\nRRULE:FREQ=DAILY",
    );
    assert_eq!(counts(&app, &file).await, [500, 0, 0, 0, 0]);
    let rule = async || listed(&app, "", &["RRULE"]).await.remove(0);
    assert_eq!(rule().await, "FREQ=DAILY;UNTIL=20280812T100000Z");
    // An import of it changes nothing.
    let own = app.get("/ical").await.expect(200).text;
    assert_eq!(counts(&app, &own).await[..2], [0, 0]);
    // With the next event, the rule becomes longer.
    app.clock.advance(30 * 24 * 3600);
    calendar::extend_series(&app.state).await;
    let extended = app.rows("events");
    assert!(extended > 500, "{extended}");
    let last = rule().await;
    assert!(*last > *"FREQ=DAILY;UNTIL=20280812T100000Z", "{last}");
    let query = "/events?start_date=2028-08-01&end_date=2029-12-31&order=desc&per_page=1";
    let event = app.get(query).await.expect(200).json["events"][0]["utc_start_date"].clone();
    let event = event.as_str().unwrap().replace(['-', ':'], "").replace(' ', "T");
    assert_eq!(last, format!("FREQ=DAILY;UNTIL={event}Z"));
    // Rules with fewer dates have no end.
    course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY"}})).await;
    assert!(listed(&app, "", &["RRULE"]).await.contains(&"FREQ=WEEKLY".to_owned()));
}

#[actix_web::test]
async fn rule_with_more_dates_than_the_limit_is_refused_also_if_clocks_skip_one() {
    let app = App::with(&["--series-max=60"]).await;
    for (start, rule) in [
        // At 02:00 on 28 March, clocks go forward.
        ("2027-03-27 18:00", "FREQ=HOURLY"),
        ("2027-03-28 01:30", "FREQ=MINUTELY"),
        ("2027-04-10 18:00", "FREQ=HOURLY"),
    ] {
        let body = json!({"title": "Guard", "timezone": "Europe/Vienna", "start_date": start,
            "end_date": start, "recurrence": rule});
        let refused = app.post("/events", &body).await.expect(400);
        let text = refused.json["data"]["params"]["recurrence"].as_str().unwrap_or_default();
        assert!(text.contains("at most 60 occurrences"), "{start} {rule}: {}", refused.text);
    }
    assert_eq!(app.rows("events"), 0);
    let body = json!({"title": "Guard", "timezone": "Europe/Vienna", "start_date": "2027-03-27 18:00",
        "end_date": "2027-03-27 18:30", "recurrence": "FREQ=HOURLY;COUNT=60"});
    app.post("/events", &body).await.expect(201);
    // One of the 60 times is skipped when clocks change.
    assert_eq!(app.rows("events"), 59);
}
