//! iCalendar feeds.

use calendar::Links;
use database::{DatabaseError, Db};
use domain::Clock;
use serde_json::json;

use crate::app::{App, plant, send};
use crate::imports::counts;
use crate::pages::page;

async fn with_events() -> App {
    let app = App::with(&["--site-name=Town & hall"]).await;
    let venue =
        json!({"venue": "Hall; of, clocks", "city": "Wien", "geo_lat": 48.2, "geo_lng": 16.37});
    let organizer = json!({"organizer": "Ann \"A\"", "email": "ann@example.org"});
    app.event(json!({
        "title": "R & B <b>night</b>", "timezone": "Europe/Vienna", "start_date": "2027-10-31 01:30",
        "end_date": "2027-10-31 04:30", "venue": venue, "organizer": organizer, "tags": ["späť"],
        "description": "First; second, \\ third\n\nÜber 東京 🎷, in a line that is much longer than the octets of one",
        "categories": ["Talks"], "image": "https://cdn.example/night.png",
    }))
    .await;
    app.event(json!({
        "title": "Whole days", "timezone": "Asia/Tokyo", "all_day": true,
        "start_date": "2027-09-02", "end_date": "2027-09-03",
    }))
    .await;
    app.event(json!({
        "title": "Fixed", "timezone": "UTC-3:30", "password": "secret", "description": "hidden",
        "venue": {"venue": "Secret place"},
    }))
    .await;
    app.event(json!({"title": "Draft", "status": "draft"})).await;
    app.event(json!({"title": "Unlisted", "hide_from_listings": true})).await;
    app
}

#[actix_web::test]
async fn feed_matches_its_snapshot() {
    let app = with_events().await;
    let feed = app.get("/ical").await.expect(200);
    assert_eq!(feed.header("content-type"), "text/calendar; charset=UTF-8");
    let name = feed.header("content-disposition");
    assert!(
        name.starts_with("attachment; filename=\"town-hall-") && name.ends_with(".ics\""),
        "{name}"
    );
    assert_eq!(feed.header("last-modified"), "Wed, 10 Mar 2027 12:00:00 GMT");
    assert!(feed.text.split("\r\n").all(|line| line.len() <= 75));
    let host = app.server.url("").replace("http://", "");
    let identity = feed.text.split("X-QUINTET-CALENDAR:").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(identity.len(), 32);
    let text = feed.text.replace(host.trim_end_matches('/'), "HOST").replace(identity, "IDENTITY");
    insta::assert_snapshot!("feed", text.replace("\r\n", "\n"));
}

#[actix_web::test]
async fn feed_and_its_tag_stay_equal_until_a_change() {
    let app = with_events().await;
    let feed = app.get("/ical").await.expect(200);
    let editors = app.get_as("administrator", "/ical").await.expect(200);
    assert_eq!((&editors.text, editors.header("etag")), (&feed.text, feed.header("etag")));
    let again = |tag: &str| send(app.request("", "GET", "/ical").header("If-None-Match", tag));
    let known = again(feed.header("etag")).await.expect(304);
    assert_eq!(known.text, "");
    // The name of a venue is part of the feed.
    let venue = app.get("/venues?search=clocks").await.ids()[0];
    app.patch(&format!("/venues/{venue}"), &json!({"venue": "Barn"})).await.expect(200);
    assert!(again(feed.header("etag")).await.expect(200).text.contains("LOCATION:Barn\\, Wien"));
}

#[actix_web::test]
async fn feed_applies_the_filters_of_lists() {
    let app = with_events().await;
    let titles = |text: &str| -> String {
        let lines = text.lines().filter_map(|line| line.strip_prefix("SUMMARY:"));
        lines.collect::<Vec<_>>().join(", ")
    };
    for (query, expected) in [
        ("", "Fixed, Whole days, R & B night"),
        ("?categories=talks", "R & B night"),
        ("?search=night&featured=false", "R & B night"),
        ("?start_date=2027-09-02&end_date=2027-09-03", "Whole days"),
        ("?per_page=1&page=2", "Whole days"),
        ("?page=9", ""),
    ] {
        let feed = app.get(&format!("/ical{query}")).await.expect(200);
        assert_eq!(titles(&feed.text), expected, "{query}");
        let zones = feed.text.matches("BEGIN:VTIMEZONE").count();
        assert_eq!(zones, usize::from(expected.contains("night")), "{query}");
    }
    let outlook = app.get("/ical?outlook-ical=1").await.expect(200);
    assert!(!outlook.text.contains("X-WR-CALNAME"));
    app.get("/ical?status=draft").await.expect(400);
    app.get("/ical?venue=999").await.expect(400);
}

#[actix_web::test]
async fn uid_is_stable_and_sequence_counts_time_changes() {
    let app = App::new().await;
    let id = app.event(json!({})).await;
    let line = |text: &str, name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap().to_owned()
    };
    let before = app.get("/ical").await.text;
    app.clock.advance(60);
    app.patch(&format!("/events/{id}"), &json!({"start_date": "2027-04-01 11:00"}))
        .await
        .expect(200);
    app.patch(&format!("/events/{id}"), &json!({"title": "Other"})).await.expect(200);
    let after = app.get("/ical").await.text;
    assert_eq!(line(&before, "UID:"), line(&after, "UID:"));
    assert!(line(&after, "UID:").starts_with(&format!("{id}@")));
    assert_eq!((line(&before, "SEQUENCE:"), line(&after, "SEQUENCE:")), ("0".into(), "1".into()));
    assert_eq!(line(&after, "DTSTAMP:"), "20270310T120100Z");
}

#[actix_web::test]
async fn long_feed_is_streamed() {
    let app = App::new().await;
    let author = app.user("editor");
    let now = app.clock.unix();
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..60).try_for_each(|_| {
            let planted = plant(db, author, (now, now + 60), &Links::default(), |event| {
                event.description = "x".repeat(80_000);
            });
            planted.map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    let feed = app.get("/ical").await.expect(200);
    assert_eq!(feed.header("content-length"), "", "it is longer than the limit of the cache");
    assert!(feed.text.len() > 4 << 20 && feed.text.ends_with("END:VCALENDAR\r\n"));
    assert_eq!(feed.text.matches("BEGIN:VEVENT").count(), 60);
    let again = send(app.request("", "GET", "/ical").header("If-None-Match", feed.header("etag")));
    assert_eq!(again.await.status, 304);
}

#[actix_web::test]
async fn feed_is_whole_and_reports_when_it_is_cut() {
    let app = App::new().await;
    let (author, now) = (app.user("editor"), app.clock.unix());
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..1_005).try_for_each(|_| {
            plant(db, author, (now, now + 60), &Links::default(), |_| {}).map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    for path in ["/calendar/events/v1/ical", "/events/?ical=1", "/events/month/2027-03/?ical=1"] {
        let feed = send(app.server.get(path)).await.expect(200);
        assert_eq!(feed.text.matches("BEGIN:VEVENT").count(), 1_005, "{path}");
        assert_eq!((feed.header("x-tec-total"), feed.header("x-tec-totalpages")), ("1005", "1"));
    }
    let app = App::with(&["--ical-items-max=2"]).await;
    for title in ["One", "Two", "Three"] {
        app.event(json!({"title": title})).await;
    }
    let feed = app.get("/ical").await.expect(200);
    assert_eq!(feed.text.matches("BEGIN:VEVENT").count(), 2);
    assert!(feed.text.contains("X-WR-CALDESC:2 of 3 events by Calendar"), "{}", feed.text);
    assert_eq!((feed.header("x-tec-total"), feed.header("x-tec-totalpages")), ("3", "2"));
    assert_eq!(app.get("/ical?page=2").await.text.matches("BEGIN:VEVENT").count(), 1);
    let limit = "A calendar file contains only the first 2 events";
    for path in ["/events/", "/events/month/2027-04/", "/events/month/2027-09/"] {
        assert!(page(&app, path).await.expect(200).text.contains(limit), "{path}");
    }
    assert!(!page(&app, "/events/?search=two").await.expect(200).text.contains(limit));
}

#[actix_web::test]
async fn carets_in_names_of_organizers_are_escaped() {
    let app = App::new().await;
    let organizer = json!({"organizer": "a^nb ^^ \"c\"", "email": "a@example.org"});
    app.event(json!({"title": "Talk", "organizer": organizer})).await;
    let feed = app.get("/ical").await.expect(200).text;
    let line = "\r\nORGANIZER;CN=\"a^^nb ^^^^ 'c'\":mailto:a@example.org\r\n";
    assert!(feed.contains(line), "{feed}");
    assert_eq!(counts(&app, &feed).await, [0, 0, 1, 0, 0]);
}

#[actix_web::test]
async fn subscription_keeps_past_events_for_some_days() {
    for (days, expected) in
        [(None, vec!["Recent", "Today", "Next"]), (Some(0), vec!["Today", "Next"])]
    {
        let setting = days.map(|days: i64| format!("--ical-past-days={days}"));
        let arguments: Vec<&str> = setting.iter().map(String::as_str).collect();
        let app = App::with(&arguments).await;
        app.make("/venues", json!({"venue": "Hall"})).await;
        for (title, day) in [
            ("Old", "2026-12-09"),
            ("Recent", "2026-12-10"),
            ("Today", "2027-03-10"),
            ("Next", "2027-05-01"),
        ] {
            let start = format!("{day} 08:00");
            app.event(
                json!({"title": title, "start_date": start, "end_date": start, "tags": ["a"],
                "venue": {"venue": "Hall"}}),
            )
            .await;
        }
        for path in
            ["/events/?ical=1", "/events/month/?ical=1", "/venue/hall/?ical=1", "/tag/a/?ical=1"]
        {
            let feed = page(&app, path).await.expect(200).text;
            let titles: Vec<&str> =
                feed.lines().filter_map(|line| line.strip_prefix("SUMMARY:")).collect();
            assert_eq!(titles, expected, "{path}");
        }
    }
}
