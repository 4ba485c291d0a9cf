//! Cancelled, postponed and rescheduled events.

use calendar::{Links, Stage, Status};
use database::{DatabaseError, Db};
use domain::Clock;
use serde_json::{Value, json};

use crate::app::{App, plant, send};
use crate::imports::counts;

const DATES: [(&str, &str); 2] =
    [("start_date", "2027-04-01 10:00"), ("end_date", "2027-04-01 11:00")];

/// Creates an event in April 2027 and returns its id.
async fn event(app: &App, status: &str) -> i64 {
    let mut fields = json!({"title": "Show", "event_status": status, "event_status_reason": "Ill"});
    for (name, date) in DATES {
        fields[name] = json!(date);
    }
    app.event(fields).await
}

#[actix_web::test]
async fn status_is_shown_in_answers_and_pages() {
    let app = App::new().await;
    for (given, name, term, word) in [
        ("canceled", "cancelled", "EventCancelled", "Cancelled"),
        ("postponed", "postponed", "EventPostponed", "Postponed"),
        ("rescheduled", "rescheduled", "EventRescheduled", "Rescheduled"),
    ] {
        let id = event(&app, given).await;
        let path = format!("/events/{id}");
        let shown = app.get(&path).await.expect(200).json;
        assert_eq!(
            (&shown["event_status"], &shown["event_status_reason"]),
            (&json!(name), &json!("Ill"))
        );
        assert_eq!(shown["json_ld"]["eventStatus"], json!(format!("https://schema.org/{term}")));
        let list =
            app.get(&format!("/events?include={id}&start_date=2027-04-01")).await.expect(200);
        assert_eq!(list.json["events"][0]["event_status"], json!(name));
        let page =
            send(app.server.get(&format!("/event/{}/", shown["slug"].as_str().unwrap()))).await;
        let page = page.expect(200).text;
        assert!(page.contains(&format!("<strong>{word}.</strong> Ill")), "{page}");
        assert!(page.contains(&format!("schema.org/{term}")), "{page}");
        for address in ["/events/?date=2027-04-01", "/events/month/2027-04/"] {
            let page = send(app.server.get(address)).await.expect(200).text;
            assert!(page.contains(word), "{address}: {page}");
        }
        // Sending a response back as a write changes nothing.
        app.call("administrator", "PUT", &path, &shown).await.expect(200);
        assert_eq!(app.get(&path).await.expect(200).json, shown);
        let back = app.patch(&path, &json!({"event_status": "scheduled"})).await.expect(200).json;
        assert_eq!(
            (&back["event_status"], &back["event_status_reason"]),
            (&json!(null), &json!(null))
        );
        app.delete(&path).await.expect(200);
    }
    let wrong = app.patch("/events/1", &json!({"event_status": "maybe"})).await;
    assert!(wrong.status == 400 || wrong.status == 404);
}

#[actix_web::test]
async fn rescheduled_event_names_its_former_start() {
    let app = App::new().await;
    let id = event(&app, "scheduled").await;
    let path = format!("/events/{id}");
    let previous = async || {
        let shown = app.get(&path).await.expect(200).json;
        let former = shown["json_ld"]["previousStartDate"].as_str().unwrap_or_default().to_owned();
        let page = send(app.server.get("/event/show/")).await.expect(200).text;
        let on_page = page.split_once("\"previousStartDate\":\"");
        let on_page =
            on_page.and_then(|(_, rest)| rest.split_once('"')).map_or("", |(date, _)| date);
        (former, on_page.to_owned())
    };
    let both = |date: &str| (date.to_owned(), date.to_owned());
    let move_to = async |day: &str, status: &str| {
        let dates = json!({"start_date": format!("{day} 10:00"), "end_date": format!("{day} 11:00"),
            "event_status": status});
        app.patch(&path, &dates).await.expect(200);
    };
    move_to("2027-04-08", "rescheduled").await;
    assert_eq!(previous().await, both("2027-04-01T10:00:00+00:00"));
    app.patch(&path, &json!({"title": "Other"})).await.expect(200);
    assert_eq!(previous().await, both("2027-04-01T10:00:00+00:00"));
    move_to("2027-04-09", "scheduled").await;
    assert_eq!(previous().await, both(""));
    // The date may change before the status does.
    app.patch(&path, &json!({"event_status": "rescheduled"})).await.expect(200);
    assert_eq!(previous().await, both("2027-04-08T10:00:00+00:00"));
    app.patch(&path, &json!({"all_day": true})).await.expect(200);
    assert_eq!(previous().await.1, "2027-04-09");
    let moved = json!({"start_date": "2027-04-20", "end_date": "2027-04-20",
        "timezone": "Pacific/Auckland"});
    app.patch(&path, &moved).await.expect(200);
    assert_eq!(previous().await.1, "2027-04-09");
    // Another zone does not move an all-day event.
    app.patch(&path, &json!({"timezone": "Europe/Berlin"})).await.expect(200);
    assert_eq!(previous().await.1, "2027-04-09");
}

#[actix_web::test]
async fn former_start_of_whole_days_stays_in_a_zone_with_the_same_present_start() {
    let app = App::new().await;
    let day = |day: &str| json!({"start_date": day, "end_date": day});
    let id = event(&app, "rescheduled").await;
    let path = format!("/events/{id}");
    // Both zones have the same offset in December, but not in July.
    let zone = json!({"all_day": true, "timezone": "Europe/Berlin"});
    for change in [zone, day("2027-07-10"), day("2027-12-10"), json!({"timezone": "Africa/Lagos"})]
    {
        app.patch(&path, &change).await.expect(200);
    }
    let page = send(app.server.get("/event/show/")).await.expect(200).text;
    assert!(page.contains("\"previousStartDate\":\"2027-07-10\""), "{page}");
}

#[actix_web::test]
async fn new_dates_of_a_series_have_no_former_start() {
    let app = App::new().await;
    let recurrence = json!({"rrule": "FREQ=DAILY", "count": 2});
    let id = event(&app, "scheduled").await;
    let path = format!("/events/{id}");
    app.patch(
        &path,
        &json!({"event_status": "rescheduled", "start_date": "2027-04-02 10:00",
        "end_date": "2027-04-02 11:00"}),
    )
    .await
    .expect(200);
    app.patch(&path, &json!({"recurrence": recurrence, "scope": "all"})).await.expect(200);
    let mut former = Vec::new();
    for id in app.get("/events?start_date=2027-04-01").await.expect(200).ids() {
        let event = app.get(&format!("/events/{id}")).await.expect(200).json;
        assert_eq!(event["event_status"], "rescheduled");
        former.push(event["json_ld"]["previousStartDate"].clone());
    }
    assert_eq!(former, [json!("2027-04-01T10:00:00+00:00"), Value::Null]);
}

#[actix_web::test]
async fn subscribers_see_cancelled_events_and_those_in_the_trash() {
    let app = App::new().await;
    let id = event(&app, "scheduled").await;
    let path = format!("/events/{id}");
    let feed = async || app.get("/ical?start_date=2027-04-01").await.expect(200).text;
    let first = feed().await;
    assert!(!first.contains("STATUS:") && first.contains("SEQUENCE:0\r\n"), "{first}");
    app.patch(&path, &json!({"event_status": "cancelled"})).await.expect(200);
    let cancelled = feed().await;
    assert!(cancelled.contains("STATUS:CANCELLED\r\n"), "{cancelled}");
    assert!(cancelled.contains("SEQUENCE:1\r\n"), "{cancelled}");
    // Importing the calendar's own feed changes nothing.
    assert_eq!(counts(&app, &cancelled).await, [0, 0, 1, 0, 0]);
    app.patch(&path, &json!({"event_status": "scheduled", "description": "Secret"}))
        .await
        .expect(200);
    app.delete(&path).await.expect(200);
    let trashed = feed().await;
    assert!(
        trashed.contains("STATUS:CANCELLED\r\n") && trashed.contains("SEQUENCE:3\r\n"),
        "{trashed}"
    );
    assert!(!trashed.contains("Secret"), "{trashed}");
    assert!(!app.get("/ical?start_date=2028-04-01").await.expect(200).text.contains("STATUS"));
    assert_eq!(counts(&app, &trashed).await, [0, 0, 0, 1, 0]);
    app.clock.advance(31 * 24 * 3600);
    let later = feed().await;
    assert!(!later.contains("STATUS"), "{later}");
}

#[actix_web::test]
async fn feed_cancels_all_events_of_a_large_trash() {
    let app = App::new().await;
    let (author, now) = (app.user("editor"), app.clock.unix());
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..1_001).try_for_each(|_| {
            let trashed = plant(db, author, (now, now + 60), &Links::default(), |event| {
                event.set_status(Status::of(Stage::Trash));
            });
            trashed.map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    app.execute(&format!(
        "insert into event_tombstones (event_id, withdrawn_utc, was_public, author_id) \
         select id, {now}, true, author_id from events where true \
         on conflict (event_id) do update set was_public = true, withdrawn_utc = {now}"
    ));
    let feed = app.get("/ical").await.expect(200).text;
    assert_eq!(feed.matches("STATUS:CANCELLED\r\n").count(), 1_001);
    let limited = App::with(&["--ical-items-max=2"]).await;
    for status in ["scheduled", "postponed", "cancelled"] {
        let id = event(&limited, status).await;
        limited.delete(&format!("/events/{id}")).await.expect(200);
    }
    let feed = limited.get("/ical").await.expect(200).text;
    assert_eq!(feed.matches("STATUS:CANCELLED\r\n").count(), 2, "{feed}");
}

#[actix_web::test]
async fn subscribers_see_postponed_events_as_tentative_and_rescheduled_ones_as_revised() {
    let app = App::new().await;
    let id = event(&app, "scheduled").await;
    let path = format!("/events/{id}");
    let feed = async || app.get("/ical?start_date=2027-04-01").await.expect(200).text;
    app.patch(&path, &json!({"event_status": "postponed"})).await.expect(200);
    let postponed = feed().await;
    assert!(postponed.contains("STATUS:TENTATIVE\r\n"), "{postponed}");
    assert!(postponed.contains("SEQUENCE:1\r\n"), "{postponed}");
    assert_eq!(counts(&app, &postponed).await, [0, 0, 1, 0, 0]);
    let new = json!({
        "event_status": "rescheduled", "start_date": "2027-04-08 10:00",
        "end_date": "2027-04-08 11:00",
    });
    app.patch(&path, &new).await.expect(200);
    let rescheduled = feed().await;
    assert!(!rescheduled.contains("STATUS:"), "{rescheduled}");
    assert!(rescheduled.contains("SEQUENCE:2\r\n"), "{rescheduled}");
    assert!(rescheduled.contains("DTSTART:20270408T100000Z\r\n"), "{rescheduled}");
    assert_eq!(counts(&app, &rescheduled).await, [0, 0, 1, 0, 0]);
    // A status change alone also raises SEQUENCE.
    app.patch(&path, &json!({"event_status": "scheduled"})).await.expect(200);
    app.patch(&path, &json!({"event_status": "rescheduled"})).await.expect(200);
    assert!(feed().await.contains("SEQUENCE:4\r\n"));
    // Moving a postponed event to the trash cancels it too.
    app.patch(&path, &json!({"event_status": "postponed"})).await.expect(200);
    app.delete(&path).await.expect(200);
    let trashed = feed().await;
    assert!(trashed.contains("STATUS:CANCELLED\r\n"), "{trashed}");
    assert!(!trashed.contains("TENTATIVE"), "{trashed}");
}

#[actix_web::test]
async fn hidden_events_are_not_announced_as_cancelled() {
    let app = App::new().await;
    for fields in [
        json!({"status": "private"}),
        json!({"hide_from_listings": true}),
        json!({"status": "draft"}),
    ] {
        let id = event(&app, "scheduled").await;
        app.patch(&format!("/events/{id}"), &fields).await.expect(200);
        app.delete(&format!("/events/{id}")).await.expect(200);
    }
    let feed = app.get("/ical?start_date=2027-04-01").await.expect(200).text;
    assert!(!feed.contains("VEVENT"), "{feed}");
}

#[actix_web::test]
async fn tag_of_a_feed_follows_every_change_that_it_shows() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let id = app.event(json!({"venue": venue, "categories": ["Music"]})).await;
    let tag = async |path: &str| app.get(path).await.expect(200).header("etag").to_owned();
    let again =
        async |tag: &str| send(app.request("", "GET", "/ical").header("if-none-match", tag)).await;
    let mut last = tag("/ical").await;
    assert_ne!(last, tag("/ical?outlook-ical=1").await);
    assert_ne!(last, tag("/ical?per_page=2").await);
    assert_eq!(last, tag("/ical").await);
    let known = again(&last).await;
    assert_eq!((known.status, known.text.as_str()), (304, ""));
    let category = app.get("/categories").await.json["categories"][0]["id"].clone();
    for (path, fields) in [
        (format!("/events/{id}"), json!({"title": "Other"})),
        (format!("/events/{id}"), json!({"event_status": "postponed"})),
        (format!("/venues/{venue}"), json!({"venue": "Barn"})),
        (format!("/categories/{category}"), json!({"name": "Jazz"})),
    ] {
        app.patch(&path, &fields).await.expect(200);
        let now = tag("/ical").await;
        assert_ne!(last, now, "{path} {fields}");
        again(&last).await.expect(200);
        last = now;
    }
    app.delete(&format!("/categories/{category}")).await.expect(200);
    assert_ne!(last, tag("/ical").await);
}
