//! Files of others that have UIDs of the calendar's own events.

use std::collections::HashSet;

use calendar::{ImportOptions, import};
use serde_json::{Value, json};

use crate::app::App;
use crate::series::course;
use crate::subscribing::{Subscribing, calendar, counts, event};

/// Returns the feed of a calendar with its public host in the UIDs.
async fn feed(app: &App, host: &str) -> String {
    let feed = app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
    let address = app.server.url("");
    let address = address.split("://").nth(1).unwrap().trim_end_matches('/').to_owned();
    feed.replace(&format!("@{address}"), &format!("@{host}"))
}

/// Returns id, title, start and status of all events.
async fn shown(app: &App) -> Vec<String> {
    let path = "/events?start_date=2020-01-01&per_page=50&orderby=id&status=any";
    let list = app.get_as("editor", path).await.expect(200);
    let text = |event: &Value| {
        ["id", "title", "start_date", "status", "event_status"].map(|name| event[name].to_string())
    };
    list.json["events"].as_array().unwrap().iter().map(|one| text(one).join(" ")).collect()
}

/// Fails if two entries of a feed have the same UID and override the same occurrence.
#[track_caller]
fn assert_distinct(feed: &str) {
    let mut known = HashSet::new();
    for entry in feed.split("BEGIN:VEVENT").skip(1) {
        let names = |line: &&str| line.starts_with("UID:") || line.starts_with("RECURRENCE-ID");
        let name: Vec<&str> = entry.lines().filter(names).collect();
        assert!(known.insert(name.clone()), "{name:?}: {feed}");
    }
}

#[actix_web::test]
async fn subscription_skips_entries_with_uids_of_own_events() {
    for adopt in [false, true] {
        let club = Subscribing::at("https://a.example").await;
        let own = club.app.event(json!({"title": "Choir"})).await;
        let erased = club.app.event(json!({"title": "Gone"})).await;
        club.app.delete(&format!("/events/{erased}?force=true")).await.expect(200);
        course(&club.app, json!({})).await;
        let text = feed(&club.app, "a.example").await;
        let uids = text.lines().filter_map(|line| line.strip_prefix("UID:"));
        let series = uids.rev().find(|uid| !uid.contains('@')).unwrap();
        let before = shown(&club.app).await;
        let uids = [
            format!("{own}@a.example"),
            format!("{erased}@a.example"),
            "51@a.example".to_owned(),
            format!("{own}@a.example#20270501T100000Z"),
            series.to_owned(),
            format!("{series}#20270501T100000Z"),
        ];
        for more in ["", "STATUS:CANCELLED\r\n", "RRULE:FREQ=DAILY;COUNT=2\r\n"] {
            let entries: Vec<String> = uids.iter().map(|uid| event(uid, 5, more)).collect();
            club.serves(&calendar(&entries));
            let url = club.peer.url(&format!("/{}", more.len()));
            let id = club.subscribe_to(&url, json!({"adopt": adopt})).await;
            let run = club.run(id).await;
            assert_eq!(counts(&run, "imported"), [0, 0, 0, 6, 0, 0], "{adopt} {more}: {run}");
            let warnings = run["last_run"]["messages"].to_string();
            assert!(warnings.contains("gives to its own events"), "{run}");
            assert_eq!(shown(&club.app).await, before, "{adopt} {more}");
            assert_distinct(&feed(&club.app, "a.example").await);
        }
        // The same number at another host is another event.
        club.serves(&calendar(&[event("51@b.example", 5, "")]));
        let id = club.subscribe(json!({"adopt": adopt})).await;
        assert_eq!(counts(&club.run(id).await, "imported"), [1, 0, 0, 0, 0, 0]);
    }
}

#[actix_web::test]
async fn calendars_that_subscribe_to_each_other_create_no_copies() {
    let (a, b) =
        (Subscribing::at("https://a.example").await, Subscribing::at("https://b.example").await);
    let choir = a.app.event(json!({"title": "Choir"})).await;
    // The series takes over the UID of its first event.
    let fair = a.app.event(json!({"title": "Fair"})).await;
    let rule = json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 3}});
    a.app.patch(&format!("/events/{fair}"), &rule).await.expect(200);
    course(&a.app, json!({})).await;
    let own = b.app.event(json!({"title": "Market"})).await;
    let (to_b, to_a) = (a.subscribe(json!({})).await, b.subscribe(json!({})).await);
    for round in 0..3 {
        b.serves(&feed(&a.app, "a.example").await);
        let run = b.run_now(to_a).await;
        assert_eq!(counts(&run, "imported")[4], 0, "{run}");
        a.serves(&feed(&b.app, "b.example").await);
        let run = a.run_now(to_b).await;
        assert_eq!(counts(&run, "imported")[4], 0, "{run}");
        for (app, host) in [(&a.app, "a.example"), (&b.app, "b.example")] {
            // Eight events of the first calendar, and one of the second.
            let all = shown(app).await;
            assert_eq!(all.len(), 9, "{host} {round}: {all:?}");
            assert_distinct(&feed(app, host).await);
        }
        let change = json!({"title": format!("Choir {round}")});
        a.app.patch(&format!("/events/{choir}"), &change).await.expect(200);
        b.app.patch(&format!("/events/{own}"), &change).await.expect(200);
    }
}

#[actix_web::test]
async fn command_recognises_own_uids_by_the_addresses_of_the_server() {
    let hosts = vec!["localhost:8085".to_owned(), "127.0.0.1:8085".to_owned()];
    let app = App::changed(&[], |state| state.with_hosts(hosts)).await;
    let own = app.event(json!({"title": "Choir"})).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.ics");
    for (host, created) in [("127.0.0.1:8085", 0), ("localhost:8085", 0), ("b.example", 1)] {
        // Another program wrote the file, so only the host identifies the event.
        std::fs::write(&path, calendar(&[event(&format!("{own}@{host}"), 5, "")])).unwrap();
        let input = batch::Input::at(&path).unwrap();
        let report = import(&app.state, &input, ImportOptions::default()).unwrap();
        assert_eq!((report.created, report.failed), (created, 0), "{host}");
    }
    assert_eq!(app.rows("events"), 2);
}
