//! Imports of iCalendar files.

use calendar::{ImportOptions, import};
use serde_json::{Value, json};

use crate::app::{Answer, App, send};

const GOOGLE: &str = include_str!("calendars/google.ics");
/// Contains a line that is folded inside a multi-byte character.
const APPLE: &[u8] = include_bytes!("calendars/apple.ics");
const OUTLOOK: &str = include_str!("calendars/outlook.ics");

pub async fn post(app: &App, who: &str, file: impl Into<reqwest::Body>) -> Answer {
    let request = app.request(who, "POST", "/import/ical");
    send(request.header("Content-Type", "text/calendar; charset=utf-8").body(file)).await
}

/// Imports a file and returns the numbers of created, updated, unchanged, skipped and failed
/// events.
pub async fn counts(app: &App, file: impl AsRef<[u8]>) -> [i64; 5] {
    let done = post(app, "editor", file.as_ref().to_owned()).await.expect(200);
    let names = ["created", "updated", "unchanged", "skipped", "failed"];
    names.map(|name| done.json[name].as_i64().unwrap_or_else(|| panic!("{}", done.text)))
}

pub fn event(lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

/// Returns the relevant fields of all events of any status.
async fn shown(app: &App) -> Vec<Value> {
    let list = app
        .get_as(
            "editor",
            "/events?per_page=50&start_date=2026-01-01&end_date=2035-01-01&status=any",
        )
        .await
        .expect(200);
    let events = list.json["events"].as_array().unwrap();
    let shown = events.iter().map(|event| {
        let names = |key: &str, name: &str| {
            let items = match &event[key] {
                Value::Array(items) => items.clone(),
                one => vec![one.clone()],
            };
            let names = items.iter().filter_map(|item| item[name].as_str());
            names.collect::<Vec<_>>().join(" | ")
        };
        json!([
            event["title"],
            format!(
                "{} – {} {} ({}){}",
                event["start_date"].as_str().unwrap(),
                event["end_date"].as_str().unwrap(),
                event["timezone"].as_str().unwrap(),
                event["utc_start_date"].as_str().unwrap(),
                if event["all_day"] == true { " all day" } else { "" }
            ),
            event["description"],
            names("venue", "venue"),
            names("organizer", "organizer"),
            names("categories", "name"),
            event["status"],
        ])
    });
    shown.collect()
}

#[actix_web::test]
async fn exports_of_common_programs_are_imported_once() {
    let app = App::with(&["--site-timezone=Europe/Berlin"]).await;
    assert_eq!(counts(&app, GOOGLE).await, [6, 0, 0, 0, 0]);
    assert_eq!(counts(&app, APPLE).await, [427, 0, 0, 0, 0]);
    let outlook = post(&app, "editor", OUTLOOK).await.expect(200);
    assert_eq!(
        outlook.json,
        json!({"created": 7, "updated": 0, "unchanged": 0, "skipped": 0, "failed": 0, "errors": [],
            "warnings": [{"uid": "lost", "line": 69, "message":
                "the time zone Nowhere at all is unknown; Europe/Berlin was used instead"}]})
    );
    app.clock.advance(3600);
    assert_eq!(counts(&app, GOOGLE).await, [0, 0, 6, 0, 0]);
    assert_eq!(counts(&app, APPLE).await, [0, 0, 427, 0, 0]);
    assert_eq!(counts(&app, OUTLOOK).await, [0, 0, 7, 0, 0]);
    let mut shown = shown(&app).await;
    // Apple's birthday series begin in 1604.
    shown.retain(|event| event[0] != "Birthday of Ben");
    insta::assert_json_snapshot!("imported", shown);
    let child = app.get("/events?search=Choir&start_date=2027-05-06&end_date=2027-05-06").await;
    let first =
        app.get("/events?search=Choir&start_date=2027-04-22&end_date=2027-04-22").await.ids()[0];
    let children = app.get(&format!("/events?post_parent={first}")).await.ids();
    assert!(children.contains(&child.ids()[0]) && children.len() == 3, "{children:?}");
}

#[actix_web::test]
async fn import_of_an_export_changes_nothing() {
    let app = App::new().await;
    let venue =
        json!({"venue": "Hall; of, clocks", "city": "Wien", "geo_lat": 48.2, "geo_lng": 16.37});
    let organizer = json!({"organizer": "Ann \"A\"", "phone": "1"});
    for (zone, start, end) in [
        ("Europe/Vienna", "2027-10-31 01:30", "2027-10-31T02:30:00+01:00"),
        ("Asia/Kathmandu", "2027-05-05 10:00", "2027-06-05 10:00"),
        ("UTC-3:30", "2027-05-05 10:00", "2027-05-05 10:00"),
        ("UTC", "2027-05-05 10:00", "2027-05-05 12:00"),
        ("America/St_Johns", "2027-03-14 02:30", "2027-03-14 04:00"),
    ] {
        app.event(json!({
            "title": "R & B <b>night</b> &amp; \"more\"", "timezone": zone, "start_date": start, "end_date": end,
            "venue": venue, "organizer": [organizer, {"organizer": "Second"}], "tags": ["späť", "2027"],
            "categories": ["Talks, and more", "9"], "cost": "5", "website": "https://example.org/",
            "description": "<p>First; <b>second</b>, \\ third</p><ul><li>a &lt;b&gt;</li><li>c</li></ul>\n\nÜber 東京 🎷\n&nbsp;x",
            "image": "https://cdn.example/night.png",
        }))
        .await;
    }
    app.event(json!({"title": "Days", "timezone": "Asia/Tokyo", "all_day": true,
        "start_date": "2027-09-02", "end_date": "2027-09-03"}))
        .await;
    app.event(json!({"title": "Protected", "password": "x", "description": "hidden",
        "categories": ["Talks, and more"], "venue": {"venue": "Secret"}}))
        .await;
    counts(&app, GOOGLE).await;
    counts(&app, OUTLOOK).await;
    let all = app.get("/ical?per_page=5000").await.expect(200);
    // A series is one entry.
    assert_eq!(all.text.matches("BEGIN:VEVENT").count(), 17);
    assert_eq!(all.header("x-tec-total"), "19");
    let before: Vec<i64> = ["events", "venues", "organizers", "terms", "event_changes"]
        .iter()
        .map(|table| app.rows(table))
        .collect();
    app.clock.advance(3600);
    assert_eq!(counts(&app, &all.text).await, [0, 0, 19, 0, 0]);
    let after: Vec<i64> = ["events", "venues", "organizers", "terms", "event_changes"]
        .iter()
        .map(|table| app.rows(table))
        .collect();
    assert_eq!(before, after);
    assert_eq!(app.get("/ical?per_page=5000").await.text, all.text);
}

#[actix_web::test]
async fn second_import_updates_only_changed_events() {
    let app = App::new().await;
    let id = app
        .event(json!({"title": "Old", "description": "<p>Rich <b>text</b></p>", "cost": "5",
            "tags": ["live", "gone"], "categories": ["Talks"], "venue": {"venue": "Hall"},
            "organizer": {"organizer": "Ann", "email": "ann@example.org"}}))
        .await;
    let feed = app.get("/ical").await.text;
    let file = feed
        .replace("SUMMARY:Old", "SUMMARY:New")
        .replace("CATEGORIES:Talks,", "CATEGORIES:Walks,")
        .replace(",gone", "")
        .replace("gone,", "")
        .replace("LOCATION:Hall", "LOCATION:Barn\\, Graz");
    assert_eq!(counts(&app, &file).await, [0, 1, 0, 0, 0]);
    let event = app.get(&format!("/events/{id}")).await.expect(200).json;
    assert_eq!(event["title"], "New");
    assert_eq!(event["description"], "<p>Rich <b>text</b></p>");
    assert_eq!((&event["cost"], &event["venue"]["venue"]), (&json!("$5"), &json!("Barn, Graz")));
    assert_eq!((&event["tags"][0]["name"], &event["tags"][1]), (&json!("live"), &Value::Null));
    assert_eq!(event["categories"][0]["name"], "Walks");
    assert_eq!(counts(&app, &file).await, [0, 0, 1, 0, 0]);
}

#[actix_web::test]
async fn series_is_updated_from_its_changed_file() {
    let app = App::new().await;
    let series = |more: &str| {
        event(&format!(
            "UID:s\r\nDTSTART:20270401T100000Z\r\nDTEND:20270401T110000Z\r\n\
             RRULE:FREQ=DAILY;COUNT=5\r\nSUMMARY:Daily{more}"
        ))
    };
    assert_eq!(counts(&app, &series("")).await, [5, 0, 0, 0, 0]);
    // One day is excluded, a second one moved, a third one cancelled.
    let moved = "BEGIN:VEVENT\r\nUID:s\r\nRECURRENCE-ID:20270403T100000Z\r\nSUMMARY:Moved\r\n\
        DTSTART:20270403T150000Z\r\nEND:VEVENT\r\n";
    let off = "BEGIN:VEVENT\r\nUID:s\r\nRECURRENCE-ID;VALUE=DATE:20270404\r\nSTATUS:CANCELLED\r\n\
        DTSTART:20270404T100000Z\r\nEND:VEVENT\r\n";
    let file = series("\r\nEXDATE:20270402T100000Z")
        .replace("END:VCALENDAR", &format!("{moved}{off}END:VCALENDAR"));
    assert_eq!(counts(&app, &file).await, [0, 3, 2, 0, 0]);
    let list = app.get("/events?start_date=2027-04-01").await.json;
    let events: Vec<String> = list["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            format!(
                "{} {}",
                event["start_date"].as_str().unwrap(),
                event["title"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        events,
        [
            "2027-04-01 10:00:00 Daily",
            "2027-04-03 15:00:00 Moved",
            "2027-04-04 10:00:00 Daily",
            "2027-04-05 10:00:00 Daily"
        ]
    );
    assert_eq!(list["events"][2]["event_status"], "cancelled");
    assert_eq!(counts(&app, &file).await, [0, 0, 4, 0, 0]);
    // A trashed event stays in the trash.
    let id = list["events"][3]["id"].as_i64().unwrap();
    app.delete(&format!("/events/{id}")).await.expect(200);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 1, 0]);
}

#[actix_web::test]
async fn endless_series_creates_its_next_occurrences() {
    let app = App::new().await;
    let daily = |uid: &str, start: &str| {
        event(&format!("UID:{uid}\r\nDTSTART:{start}\r\nSUMMARY:{uid}\r\nRRULE:FREQ=DAILY"))
    };
    let running = daily("running", "20200101T180000Z");
    assert_eq!(counts(&app, &running).await, [500, 0, 0, 0, 0]);
    assert_eq!(counts(&app, daily("coming", "20270601T180000Z")).await, [500, 0, 0, 0, 0]);
    assert_eq!(counts(&app, &running).await, [0, 0, 500, 0, 0]);
    for (title, day, expected) in [
        ("running", "2020-01-01", 1),
        ("running", "2027-03-09", 0),
        ("running", "2027-03-10", 1),
        ("running", "2027-03-11", 1),
        ("coming", "2027-06-02", 1),
        ("coming", "2028-12-01", 0),
    ] {
        let path = format!("/events?search={title}&start_date={day}&end_date={day}");
        assert_eq!(app.get(&path).await.ids().len(), expected, "{title} {day}");
    }
    // A later run adds occurrences that have come into range. Past ones stay.
    app.clock.advance(2 * 86_400);
    assert_eq!(counts(&app, &running).await, [2, 0, 498, 0, 0]);
    let past = app.get("/events?search=running&start_date=2027-03-10&end_date=2027-03-10").await;
    assert_eq!(past.ids().len(), 1);
}

#[actix_web::test]
async fn faulty_entries_are_reported_and_the_others_imported() {
    let app = App::new().await;
    let faulty = [
        ("UID:a", "DTSTART is missing"),
        ("UID:b\r\nDTSTART:tomorrow", "DTSTART is not a date"),
        ("UID:c\r\nDTSTART:20271301T100000Z", "DTSTART is not a date"),
        (
            "UID:g\r\nDTSTART:20270401T100000Z\r\nRRULE:FREQ=DAILY;COUNT=1\r\nEXDATE:20270401T100000Z",
            "has no occurrences",
        ),
        (
            "UID:h\r\nDTSTART;VALUE=DATE:99990101",
            "start_date must be a date; end_date must be a date",
        ),
    ];
    let mut file = "BEGIN:VCALENDAR\r\n".to_owned();
    for (lines, _) in &faulty {
        file += &format!("BEGIN:VEVENT\r\nSUMMARY:x\r\n{lines}\r\nEND:VEVENT\r\n");
    }
    file +=
        "BEGIN:VEVENT\r\nUID:good\r\nDTSTART:20270401T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let done = post(&app, "editor", file).await.expect(200);
    let messages: Vec<&str> = done.json["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect();
    assert_eq!(messages, faulty.map(|(_, message)| message));
    assert_eq!((&done.json["created"], &done.json["failed"]), (&json!(1), &json!(5)));
    assert_eq!(app.rows("events"), 1);
    assert_eq!(app.get("/events").await.json["events"][0]["title"], "Untitled");
}

#[actix_web::test]
async fn truncated_file_is_reported_and_trashes_nothing() {
    let app = App::new().await;
    let complete =
        event("UID:a\r\nDTSTART:20270401T100000Z\r\nSUMMARY:Show\r\nDESCRIPTION:All of it");
    assert_eq!(counts(&app, &complete).await, [1, 0, 0, 0, 0]);
    let at = complete.find(" of it").unwrap();
    let done = post(&app, "editor", complete[..at].to_owned()).await.expect(200);
    assert_eq!(done.json["errors"][0]["message"], "END:VEVENT is missing, the file is truncated");
    assert_eq!(counts(&app, &complete).await, [0, 0, 1, 0, 0]);
}

#[actix_web::test]
async fn import_of_another_format_or_without_permission_is_rejected() {
    let app = App::new().await;
    let file = event("UID:a\r\nDTSTART:20270401T100000Z");
    for (who, status) in [("", 401), ("reader", 403), ("contributor", 403), ("author", 403)] {
        post(&app, who, file.clone()).await.expect(status);
    }
    let wrong = post(&app, "editor", "hello").await.expect(400);
    assert_eq!(wrong.json["data"]["params"]["file"], "file must be an iCalendar file.");
    let json = app.call("editor", "POST", "/import/ical", &json!({"file": file})).await.expect(415);
    assert_eq!(json.code(), "rest_unsupported_media_type");
    let empty = post(&app, "editor", "").await.expect(400);
    assert_eq!(
        (empty.code(), &empty.json["data"]["params"]),
        ("rest_missing_callback_param", &json!(["file"]))
    );
    let large = post(&app, "editor", vec![b'x'; (5 << 20) + 1]).await.expect(413);
    assert_eq!(large.code(), "rest_payload_too_large");
    assert_eq!(app.rows("events"), 0);
    let form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.ics\"\r\n\r\n";
    let request = app.request("editor", "POST", "/import/ical");
    let request = request.header("Content-Type", "multipart/form-data; boundary=b");
    let done = send(request.body(format!("{form}{file}\r\n--b--\r\n"))).await.expect(200);
    assert_eq!(done.json["created"], 1);
}

#[actix_web::test]
async fn dry_run_of_a_pipe_writes_nothing() {
    let app = App::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outlook.ics");
    std::fs::write(&path, OUTLOOK).unwrap();
    let input = batch::Input::at(&path).unwrap();
    let dry = ImportOptions { dry_run: true };
    let report = import(&app.state, &input, dry).unwrap();
    assert_eq!((report.created, report.skipped, report.failed, app.rows("events")), (7, 0, 0, 0));
    let done = import(&app.state, &input, ImportOptions::default()).unwrap();
    assert_eq!((done.created, app.rows("events")), (7, 7));
    // A feed of this calendar is recognised even without its public URL.
    let feed = folder.path().join("feed.ics");
    app.event(json!({})).await;
    std::fs::write(&feed, app.get("/ical").await.text).unwrap();
    let own = batch::Input::at(&feed).unwrap();
    let done = import(&app.state, &own, ImportOptions::default()).unwrap();
    assert_eq!((done.unchanged, app.rows("events"), app.rows("event_changes")), (8, 8, 8));
    std::fs::write(&path, "nothing").unwrap();
    assert!(import(&app.state, &input, ImportOptions::default()).is_err());
}

#[actix_web::test]
async fn angle_brackets_in_places_and_categories_return() {
    let app = App::new().await;
    let lines = "DTSTART:20270501T100000Z\r\nSUMMARY:Call\r\n\
        LOCATION:Hall <North>\\, 2nd floor\r\nCATEGORIES:A <b> C,R & D";
    let file = event(&format!("UID:brackets\r\n{lines}"));
    assert_eq!(counts(&app, &file).await, [1, 0, 0, 0, 0]);
    let list = app.get("/events?start_date=2027-05-01").await.expect(200);
    let shown = &list.json["events"][0];
    assert_eq!(shown["venue"]["venue"], "Hall &lt;North&gt;, 2nd floor");
    assert_eq!(shown["categories"][0]["name"], "A &lt;b&gt; C");
    assert_eq!(shown["categories"][1]["name"], "R &amp; D");
    let feed = app.get("/ical").await.expect(200).text;
    for line in lines.split("\r\n").skip(1) {
        assert!(feed.contains(&format!("\r\n{line}\r\n")), "{line}: {feed}");
    }
    for file in [&file, &feed] {
        assert_eq!(counts(&app, file).await, [0, 0, 1, 0, 0]);
    }
}
