//! The loader and the samples.

use std::io::{self, BufReader, Cursor, Read};

use calendar::{Fault, LoadOptions, Loaded, Sql, load, load_file, load_table_file};
use database::{Backend, Db};
use serde_json::{Value, json};

use crate::app::App;

/// Loads lines and returns the numbers of created, updated, unchanged and failed lines.
fn counts(app: &App, lines: &str, options: LoadOptions) -> [u64; 4] {
    let loaded = load(&app.state, Cursor::new(lines), options).unwrap();
    [loaded.created, loaded.updated, loaded.unchanged, loaded.failed]
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn yoga(date: &str) -> Value {
    json!({"type": "event", "title": "Yoga class", "start_date": date, "end_date": date})
}

/// The error for an invalid external id.
const WRONG_ID: &str =
    "external_id must be a string of 1 to 200 characters without control characters";

const UPSERT: LoadOptions = LoadOptions { dry_run: false, upsert: true };
const PLAIN: LoadOptions = LoadOptions { dry_run: false, upsert: false };

#[actix_web::test]
async fn samples_load_once_with_dates_in_the_future() {
    let app = App::new().await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/calendar.ndjson");
    let lines = std::fs::read_to_string(path).unwrap();
    let count = lines.lines().count() as u64;
    assert_eq!(counts(&app, &lines, PLAIN), [count, 0, 0, 0]);
    let tables = ["events", "venues", "organizers", "terms", "event_terms", "entities"];
    let before: Vec<i64> = tables.iter().map(|table| app.rows(table)).collect();
    // On a later run, relative dates would refer to different days.
    app.clock.advance(10 * 24 * 3600);
    assert_eq!(counts(&app, &lines, PLAIN), [0, 0, count, 0]);
    let after: Vec<i64> = tables.iter().map(|table| app.rows(table)).collect();
    assert_eq!(before, after);
    let list = app.get("/events?per_page=50").await.expect(200);
    assert!(list.json["total"].as_i64().unwrap() > 20, "{}", list.json["total"]);
}

#[actix_web::test]
async fn venues_with_one_name_and_different_slugs_stay_apart() {
    let app = App::new().await;
    for (kind, title) in [("venue", "Town Hall"), ("organizer", "Choir")] {
        let line = |slug: &str, phone: &str| json!({"type": kind, kind: title, "slug": slug, "phone": phone});
        let graz = lines(&[line("graz", "1")]);
        assert_eq!(counts(&app, &graz, PLAIN), [1, 0, 0, 0]);
        let both = lines(&[line("linz", "2"), line("graz", "3")]);
        assert_eq!(counts(&app, &both, PLAIN), [1, 0, 1, 0], "{kind}");
        assert_eq!(counts(&app, &both, PLAIN), [0, 0, 2, 0], "{kind}");
        let phone = async |slug: &str| {
            let row = app.get(&format!("/{kind}s/by-slug/{slug}")).await.expect(200);
            row.json["phone"].as_str().unwrap().to_owned()
        };
        assert_eq!((phone("graz").await, phone("linz").await), ("1".into(), "2".into()));
        // Without a slug, the name decides.
        let named = lines(&[json!({"type": kind, kind: title, "phone": "4"})]);
        assert_eq!(counts(&app, &named, PLAIN), [0, 0, 1, 0], "{kind}");
        assert_eq!(counts(&app, &both, UPSERT), [0, 1, 1, 0], "{kind}");
        assert_eq!(phone("graz").await, "3");
    }
}

#[actix_web::test]
async fn name_that_looks_like_the_slug_of_a_namesake_is_another_venue() {
    let app = App::new().await;
    for kind in ["venue", "organizer"] {
        let namesake =
            |slug: &str| json!({"type": kind, kind: "Halle", "slug": slug, "phone": slug});
        assert_eq!(
            counts(&app, &lines(&[namesake("halle"), namesake("halle-2")]), PLAIN),
            [2, 0, 0, 0]
        );
        let second =
            |text: &str| lines(&[json!({"type": kind, kind: "Halle 2", "description": text})]);
        assert_eq!(counts(&app, &second("a"), PLAIN), [1, 0, 0, 0], "{kind}");
        assert_eq!(counts(&app, &second("a"), PLAIN), [0, 0, 1, 0], "{kind}");
        assert_eq!(counts(&app, &second("a"), UPSERT), [0, 0, 1, 0], "{kind}");
        assert_eq!(counts(&app, &second("b"), UPSERT), [0, 1, 0, 0], "{kind}");
        let list = app.get(&format!("/{kind}s?per_page=50")).await.expect(200);
        let rows = list.json[format!("{kind}s")].as_array().unwrap().iter();
        let mut names: Vec<(&str, &str)> = rows
            .map(|row| (row[kind].as_str().unwrap(), row["phone"].as_str().unwrap_or_default()))
            .collect();
        names.sort_unstable();
        assert_eq!(names, [("Halle", "halle"), ("Halle", "halle-2"), ("Halle 2", "")], "{kind}");
    }
}

#[actix_web::test]
async fn events_of_equal_title_are_distinguished_by_start() {
    let app = App::new().await;
    let three = lines(&[
        yoga("2027-04-01 18:00"),
        yoga("2027-04-08 18:00"),
        yoga("2027-04-15 18:00"),
        yoga("2027-04-08T18:00"),
    ]);
    assert_eq!(counts(&app, &three, PLAIN), [3, 0, 1, 0]);
    assert_eq!(counts(&app, &three, PLAIN), [0, 0, 4, 0]);
    let slug = json!({"type": "event", "title": "Other", "slug": "yoga-class",
        "start_date": "2027-05-01", "end_date": "2027-05-01"});
    assert_eq!(counts(&app, &lines(&[slug]), PLAIN), [0, 0, 1, 0]);
    assert_eq!(app.rows("events"), 3);
}

#[actix_web::test]
async fn events_of_equal_start_are_distinguished_by_title() {
    let app = App::new().await;
    let event = |title: &str| {
        json!({"type": "event", "title": title, "description": "Text\nof lines", "password": "",
            "start_date": "2027-04-01 18:00", "end_date": "2027-04-01 19:00",
            "password": if title.starts_with('K') { "secret" } else { "" }})
    };
    let long = "Ünïque ".repeat(40);
    let titles = ["Yoga", "Yoga 1", "<b>Fish</b> & chips", "Straße", "Éclair", "K", &long];
    let mut events: Vec<Value> = titles.iter().map(|title| event(title)).collect();
    events.push(event(&format!("{long} two")));
    assert_eq!(counts(&app, &lines(&events), PLAIN), [8, 0, 0, 0]);
    let again: Vec<Value> = titles.iter().map(|title| event(&title.to_uppercase())).collect();
    // The fourth line has a title in upper case, which is a different title.
    assert_eq!(counts(&app, &lines(&again), PLAIN), [1, 0, 6, 0]);
}

#[actix_web::test]
async fn upsert_updates_only_fields_that_differ() {
    let app = App::new().await;
    let named = |title: &str, city: &str| {
        lines(&[
            json!({"type": "event", "external_id": "feed/7", "title": title, "tags": ["live"],
                "start_date": "2027-04-01 18:00", "end_date": "2027-04-01 20:00"}),
            json!({"type": "venue", "venue": "Hall", "city": city}),
            json!({"type": "tag", "name": "Live", "description": city}),
        ])
    };
    let upsert = LoadOptions { upsert: true, ..PLAIN };
    assert_eq!(counts(&app, &named("One", "Graz"), upsert), [2, 1, 0, 0]);
    let first = app.get("/events").await;
    app.clock.advance(3600);
    assert_eq!(counts(&app, &named("One", "Graz"), upsert), [0, 0, 3, 0]);
    assert_eq!(app.get("/events").await.text, first.text, "the date of change is unchanged too");
    assert_eq!(counts(&app, &named("Two", "Linz"), PLAIN), [0, 0, 3, 0]);
    assert_eq!(counts(&app, &named("Two", "Linz"), upsert), [0, 3, 0, 0]);
    let list = app.get("/events").await;
    assert_eq!(list.json["events"][0]["title"], "Two");
    assert_eq!(list.json["total"], 1);
    assert_eq!(app.get("/venues").await.json["venues"][0]["city"], "Linz");
}

#[actix_web::test]
async fn dry_run_reports_the_counts_of_a_load() {
    let app = App::new().await;
    let text = lines(&[
        yoga("2027-04-01"),
        yoga("2027-04-01"),
        json!({"type": "event", "title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01",
            "venue": {"venue": "New hall"}}),
        json!({"type": "event"}),
    ]);
    let dry = LoadOptions { dry_run: true, ..PLAIN };
    assert_eq!(counts(&app, &text, dry), [2, 0, 1, 1]);
    for table in ["events", "venues", "entities", "event_changes"] {
        assert_eq!(app.rows(table), 0, "{table}");
    }
    assert_eq!(counts(&app, &text, PLAIN), [2, 0, 1, 1]);
}

#[actix_web::test]
async fn replaced_dates_are_loaded_with_a_warning() {
    let app = App::new().await;
    let event = |title: &str, start: &str, end: &str| {
        json!({"type": "event", "title": title,
        "start_date": start, "end_date": end})
    };
    let day = |title: &str, start: &str, end: &str| {
        let mut line = event(title, start, end);
        line["all_day"] = json!(true);
        line
    };
    let text = lines(&[
        event("Early", "2027-04-05 10:00", "2027-04-04 10:00"),
        event("Same", "2027-04-05 10:00", "2027-04-05 10:00"),
        event("Rolled", "2027-02-30 10:00", "30.02.2027 11:00"),
        day("Days", "2027-04-05 10:00", "2027-04-05"),
        day("Backwards", "2027-04-05", "2027-04-04"),
        event("Leap", "2028-02-29 10:00", "29 February 2028 12:00"),
    ]);
    let loaded = load(&app.state, text.as_bytes(), LoadOptions::default()).unwrap();
    assert_eq!((loaded.created, loaded.failed, loaded.warned), (6, 0, 4));
    let warnings = loaded.warnings.iter();
    let warnings: Vec<String> =
        warnings.map(|warning| format!("{} {}", warning.line, warning.message)).collect();
    assert_eq!(
        warnings,
        [
            "1 end_date is before start_date; the event ends at its start",
            "3 start_date 2027-02-30 10:00 does not exist; 2027-03-02 10:00:00 was used",
            "3 end_date 30.02.2027 11:00 does not exist; 2027-03-02 11:00:00 was used",
            "5 end_date is before start_date; the event ends at its start",
        ]
    );
    // Lines that change nothing have no warnings.
    for upsert in [false, true] {
        let options = LoadOptions { upsert, ..LoadOptions::default() };
        let again = load(&app.state, text.as_bytes(), options).unwrap();
        assert_eq!((again.unchanged, again.warned), (6, 0), "{upsert}");
    }
}

#[actix_web::test]
async fn load_updates_planner_statistics() {
    let app = App::new().await;
    let line = json!({"type": "event", "title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    load(&app.state, Cursor::new(line.to_string()), PLAIN).unwrap();
    let known = |db: &mut Db| match db {
        // -1: the table was never analyzed.
        Db::Pg(_) => {
            let text = "select count(*) as n from pg_class where reltuples >= 0 and relkind = 'r' \
                and relnamespace = current_schema()::regnamespace \
                and relname not in ('users', 'api_key', 'plan', '__diesel_schema_migrations')";
            Sql::new(db, text).number(db)
        }
        Db::Sqlite(_) => Ok(14),
    };
    assert_eq!(app.state.pools.read_blocking(known).unwrap(), 14);
}

#[actix_web::test]
async fn faulty_lines_are_reported_and_the_others_loaded() {
    let app = App::new().await;
    let body = json!({"type": "event", "title": "x", "start_date": "2027-04-01",
        "end_date": "2027-04-01"});
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body.to_string()
    };
    let faulty = [
        (
            json!({"type": "event", "title": "x"}).to_string(),
            "start_date is missing; end_date is missing",
        ),
        (
            json!({"type": "venue", "venue": "x", "website": "y"}).to_string(),
            "website must be an absolute URL",
        ),
        (
            json!({"type": "other"}).to_string(),
            "type must be event, venue, organizer, category or tag",
        ),
        (with("external_id", json!("")), WRONG_ID),
        (with("external_id", json!("a\u{0}b")), WRONG_ID),
        // The error occurs when the venue is created, after other rows have been written.
        (
            with("venue", json!([{"venue": "Left behind"}, {"venue": "<b></b>"}])),
            "the inline data is invalid",
        ),
        ("[]".to_owned(), "is not a JSON object"),
        ("{".to_owned(), "is not valid JSON: EOF while parsing an object at line 1 column 1"),
    ];
    let mut text = String::new();
    for (number, (line, _)) in faulty.iter().enumerate() {
        text += &format!("{line}\n\n{}\n", json!({"type": "tag", "name": format!("tag {number}")}));
    }
    let loaded = load(&app.state, Cursor::new(text), PLAIN).unwrap();
    let faults = (0..).zip(&faulty).map(|(number, (_, message))| Fault {
        line: 3 * number + 1,
        message: (*message).to_owned(),
    });
    let expected = Loaded { created: 8, failed: 8, faults: faults.collect(), ..Loaded::default() };
    assert_eq!(loaded, expected);
    assert_eq!((app.rows("terms"), app.rows("venues"), app.rows("events")), (8, 0, 0));
}

/// A reader that always fails.
struct Torn;

impl Read for Torn {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("torn"))
    }
}

#[actix_web::test]
async fn failed_load_reports_the_last_committed_line() {
    let app = App::new().await;
    let line = |number: u32| json!({"type": "tag", "name": format!("tag {number}")});
    let text = lines(&(0..300).map(line).collect::<Vec<Value>>());
    let torn = || Cursor::new(text.clone()).chain(BufReader::new(Torn));
    let failed = load(&app.state, torn(), PLAIN).unwrap_err();
    assert_eq!(
        format!("{failed:#}"),
        "all lines up to 250 are loaded (250 created, 0 updated, 0 unchanged, 0 failed); run the \
         same command to resume: cannot be read: torn"
    );
    assert_eq!(app.rows("terms"), 250);
    let dry = load(&app.state, torn(), LoadOptions { dry_run: true, ..PLAIN }).unwrap_err();
    assert_eq!(format!("{dry:#}"), "cannot be read: torn");
    assert_eq!(counts(&app, &text, PLAIN), [50, 0, 250, 0]);
}

/// A reader that calls a function when the loader has read all lines.
struct Watched<F>(Cursor<String>, F);

impl<F: FnMut()> Read for Watched<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        if read == 0 {
            (self.1)();
        }
        Ok(read)
    }
}

#[actix_web::test]
async fn file_is_loaded_in_one_transaction_unless_a_server_uses_the_database() {
    let app = App::new().await;
    let is_sqlite = app.state.pools.file().is_some();
    assert_eq!(is_sqlite, app.state.pools.backend() == Backend::Sqlite);
    let tags = |from: u32| {
        let line = |number: u32| json!({"type": "tag", "name": format!("tag {number}")});
        lines(&(from..from + 600).map(line).collect::<Vec<Value>>())
    };
    let seen = |text: String| {
        let mut rows = Vec::new();
        let watched = Watched(Cursor::new(text), || rows.push(app.rows("terms")));
        let loaded = load_file(&app.state, BufReader::new(watched), PLAIN).unwrap();
        assert_eq!((loaded.created, loaded.failed), (600, 0));
        rows[0]
    };
    assert_eq!(seen(tags(0)), if is_sqlite { 0 } else { 500 });
    assert_eq!(app.rows("terms"), 600);
    let row = |number: u32| format!("Event {number},2027-04-01 10:00,2027-04-01 11:00\n");
    let table: String = (0..600).map(row).collect();
    let mut events = Vec::new();
    let table = Cursor::new(format!("title,start_date,end_date\n{table}"));
    let watched = BufReader::new(Watched(table, || events.push(app.rows("events"))));
    let loaded = load_table_file(&app.state, watched, PLAIN, None).unwrap();
    assert_eq!((loaded.created, loaded.failed), (600, 0));
    assert_eq!(events[0], if is_sqlite { 0 } else { 500 });
    assert!(app.state.pools.register_server());
    assert_eq!(seen(tags(600)), 1_100);
    assert_eq!(app.rows("terms"), 1_200);
}

#[actix_web::test]
async fn failed_load_of_a_file_keeps_the_lines_before_the_failure() {
    let app = App::new().await;
    let line = |number: u32| json!({"type": "tag", "name": format!("tag {number}")});
    let text = lines(&(0..600).map(line).collect::<Vec<Value>>());
    let torn = Cursor::new(text.clone()).chain(BufReader::new(Torn));
    let failed = load_file(&app.state, torn, PLAIN).unwrap_err();
    assert_eq!(
        format!("{failed:#}"),
        "all lines up to 500 are loaded (500 created, 0 updated, 0 unchanged, 0 failed); run the \
         same command to resume: cannot be read: torn"
    );
    assert_eq!(app.rows("terms"), 500);
    let loaded = load_file(&app.state, Cursor::new(text), PLAIN).unwrap();
    assert_eq!((loaded.created, loaded.unchanged), (100, 500));
}

#[actix_web::test]
async fn load_succeeds_if_statistics_cannot_be_gathered() {
    let app = App::new().await;
    let hide = |db: &mut Db| Sql::new(db, "alter table images rename to pictures").execute(db);
    app.state.pools.write_blocking(hide).unwrap();
    let line = json!({"type": "tag", "name": "kept"}).to_string();
    assert_eq!(counts(&app, &line, PLAIN), [1, 0, 0, 0]);
}
