//! Series of files: their rules come back from tables and clients, and tables change them.

use serde_json::{Value, json};
use testkit::Program;

use crate::app::App;
use crate::imports;
use crate::spreadsheet::{counts, load, program, table_of};
use crate::subscribing::{self, Subscribing};

const GOOGLE: &str = "FREQ=WEEKLY;WKST=MO;UNTIL=20200222T225959Z;BYDAY=TU";
const WITHOUT_FIRST: &str = "EXDATE;TZID=Europe/Vienna:20200107T100000\r\n";
const WITH_MOVED_FIRST: &str = "END:VEVENT\r\nBEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20190101T000000Z\r\n\
    RECURRENCE-ID;TZID=Europe/Vienna:20200107T100000\r\n\
    DTSTART;TZID=Europe/Vienna:20200108T100000\r\nDURATION:PT1H\r\nSUMMARY:Choir\r\n";

/// First day, rule and further lines of series, in forms that writes do not have or do not allow.
const SERIES: [(&str, &str, &str); 8] = [
    ("20200107", GOOGLE, ""),
    ("20200107", GOOGLE, WITHOUT_FIRST),
    ("20200107", GOOGLE, WITH_MOVED_FIRST),
    ("20200107", "freq=weekly;until=20200222;byday=tu;interval=1", WITHOUT_FIRST),
    // The start does not match the rule.
    ("20200106", "FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20200131T225959Z", ""),
    // The rule ends before the start.
    ("20200107", "FREQ=WEEKLY;UNTIL=20191231T225959Z", ""),
    // The rule has two ends.
    ("20200107", "FREQ=WEEKLY;COUNT=10;UNTIL=20200222T225959Z;BYDAY=TU", ""),
    ("20200107", "FREQ=WEEKLY;COUNT=10;UNTIL=20200222T225959Z;BYDAY=TU", WITHOUT_FIRST),
];

fn file((start, rule, more): (&str, &str, &str)) -> String {
    subscribing::calendar(&[format!(
        "BEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20190101T000000Z\r\n\
         DTSTART;TZID=Europe/Vienna:{start}T100000\r\nDURATION:PT1H\r\nRRULE:{rule}\r\n\
         SUMMARY:Choir\r\n{more}END:VEVENT\r\n"
    )])
}

/// Returns a program that has imported a file, and its table.
fn imported(series: (&str, &str, &str)) -> (Program, String) {
    let program = program();
    let ran = program.pipe(&["import", "-"], file(series).as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let table = table_of(&program);
    (program, table)
}

#[test]
fn untouched_tables_of_imported_series_change_nothing() {
    for series in SERIES {
        let (program, table) = imported(series);
        let rows = i64::try_from(table.matches(",Choir,").count()).unwrap();
        assert!(rows > 0, "{table}");
        let (code, report, errors) = load(&program, &table, &["--upsert"]);
        assert_eq!((code, counts(&report)), (Some(0), [0, 0, rows, 0]), "{errors}{report}{table}");
        assert_eq!(table_of(&program), table);
    }
}

#[actix_web::test]
async fn rules_of_files_sent_back_change_nothing() {
    for series in SERIES {
        let app = App::new().await;
        imports::counts(&app, file(series)).await;
        assert_sent_back_changes_nothing(&app).await;
    }
    // The rule of a subscription cannot change.
    let club = Subscribing::new().await;
    club.serves(&file(SERIES[0]).replace(":2020", ":2029").replace("=2020", "=2029"));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    assert_sent_back_changes_nothing(&club.app).await;
}

async fn assert_sent_back_changes_nothing(app: &App) {
    let list = app.get("/events?start_date=2020-01-01&per_page=50").await.expect(200);
    let (ids, changes) = (list.ids(), app.rows("event_changes"));
    assert!(!ids.is_empty());
    app.clock.advance(3600);
    for id in ids {
        let path = format!("/events/{id}");
        let shown = app.get(&path).await.expect(200).json;
        for (method, scope) in [("PUT", "this"), ("PATCH", "following"), ("POST", "all")] {
            let rule = &shown["series"]["recurrence"];
            let body =
                json!({"recurrence": rule, "start_date": shown["start_date"], "scope": scope});
            app.call("editor", method, &path, &body).await.expect(200);
            assert_eq!(app.get(&path).await.expect(200).json, shown, "{scope}");
        }
    }
    assert_eq!((app.rows("event_changes"), app.rows("series")), (changes, 1));
}

#[actix_web::test]
async fn feed_has_the_last_date_of_a_rule_whose_start_does_not_match() {
    for (start, rule, expected) in [
        ("20270317", "FREQ=WEEKLY;BYDAY=TU;COUNT=3", "FREQ=WEEKLY;BYDAY=TU;UNTIL=20270330T080000Z"),
        ("20270316", "FREQ=WEEKLY;BYDAY=TU;COUNT=3", "FREQ=WEEKLY;BYDAY=TU;COUNT=3"),
    ] {
        let app = App::new().await;
        let file = format!(
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20190101T000000Z\r\n\
             DTSTART;TZID=Europe/Vienna:{start}T100000\r\nDURATION:PT1H\r\nSUMMARY:Choir\r\n\
             RRULE:{rule}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        );
        let done = imports::post(&app, "editor", file).await.expect(200);
        assert_eq!(done.json["created"], 3, "{}", done.text);
        let feed = app.get("/ical").await.expect(200).text;
        assert!(feed.contains(&format!("RRULE:{expected}\r\n")), "{feed}");
    }
}

#[actix_web::test]
async fn feeds_have_rules_and_durations_in_the_form_of_the_standard() {
    let one = "RRULE:FREQ=DAILY;COUNT=2\r\nDURATION";
    for (lines, expected) in [
        (
            "RRULE:FREQ=WEEKLY; BYDAY=TU, TH;COUNT=4;\r\nDURATION:PT1H",
            "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4",
        ),
        ("RRULE:freq=monthly;count=-1\r\nDURATION:PT1H", "RRULE:FREQ=MONTHLY"),
        (
            "RRULE:FREQ=DAILY;COUNT=10;UNTIL=20270318T235959Z\r\nDURATION:PT1H",
            "RRULE:FREQ=DAILY;UNTIL=20270318T090000Z",
        ),
        (&*format!("{one}:1 hour 30 minutes"), "DURATION:PT1H30M"),
        (&*format!("{one}:PT90M"), "DURATION:PT90M"),
        (&*format!("{one}:-PT1H"), "DTEND;TZID=Europe/Vienna:20270316T100000"),
        (&*format!("{one}:P1M"), "DTEND;TZID=Europe/Vienna:20270416T100000"),
    ] {
        let app = App::new().await;
        let file = imports::event(&format!(
            "UID:s\r\nDTSTART;TZID=Europe/Vienna:20270316T100000\r\nSUMMARY:Choir\r\n{lines}"
        ));
        let done = imports::post(&app, "editor", file).await.expect(200);
        assert!(done.json["created"].as_i64() > Some(1), "{lines}: {}", done.text);
        let feed = app.get("/ical").await.expect(200).text;
        assert!(feed.contains(&format!("\r\n{expected}\r\n")), "{lines}: {feed}");
    }
}

#[actix_web::test]
async fn rule_until_the_year_9999_has_no_end() {
    for until in ["99991231T235959Z", "99991230T220000Z", "99991231T235959", "99991231"] {
        for start in ["TZID=America/New_York:20270401T190000", "VALUE=DATE:20270401"] {
            let app = App::new().await;
            let file = imports::event(&format!(
                "UID:s\r\nDTSTART;{start}\r\nSUMMARY:Choir\r\nRRULE:FREQ=MONTHLY;UNTIL={until}"
            ));
            let done = imports::post(&app, "editor", file.clone()).await.expect(200).json;
            assert_eq!((&done["created"], &done["warnings"]), (&json!(24), &json!([])), "{until}");
            assert_eq!(imports::counts(&app, &file).await, [0, 0, 24, 0, 0], "{until}");
            let feed = app.get("/ical").await.expect(200).text;
            assert!(feed.contains("RRULE:FREQ=MONTHLY\r\n"), "{feed}");
            let id = app.get("/events?start_date=2027-04-01").await.ids()[0];
            let shown =
                app.get(&format!("/events/{id}")).await.json["series"]["recurrence"].clone();
            assert_eq!(shown, json!({"rrule": "FREQ=MONTHLY", "exdates": [], "rdates": []}));
        }
        let app = App::new().await;
        let event = json!({"title": "Choir", "start_date": "2027-04-01 19:00",
            "end_date": "2027-04-01 20:00", "timezone": "America/New_York",
            "recurrence": {"rrule": "FREQ=MONTHLY", "until": until}});
        let event = app.post("/events", &event).await.expect(201).json;
        assert_eq!(event["series"]["recurrence"]["until"], Value::Null, "{until}");
        assert_eq!(app.rows("events"), 24, "{until}");
    }
}

#[actix_web::test]
async fn every_ignored_rule_is_reported() {
    let unsupported = |rule: &str| {
        format!("the rule {rule} is not supported; only its first occurrence was imported")
    };
    for (lines, expected) in [
        ("RRULE:FREQ=WEEKLY;COUNT=0", unsupported("FREQ=WEEKLY;COUNT=0")),
        ("RRULE:FREQ=WEEKLY;INTERVAL=0", unsupported("FREQ=WEEKLY;INTERVAL=0")),
        ("EXRULE:FREQ=WEEKLY", "EXRULE is ignored, because there is no RRULE".to_owned()),
        (
            "RECURRENCE-ID:20270316T100000Z\r\nRRULE:FREQ=WEEKLY",
            "RRULE is ignored, because there is a RECURRENCE-ID".to_owned(),
        ),
    ] {
        let app = App::new().await;
        let file =
            imports::event(&format!("UID:s\r\nDTSTART:20270316T100000Z\r\nSUMMARY:A\r\n{lines}"));
        let done = imports::post(&app, "editor", file).await.expect(200).json;
        let warnings: Vec<&Value> = done["warnings"].as_array().unwrap().iter().collect();
        assert_eq!((&done["created"], warnings.len()), (&json!(1), 1), "{done}");
        assert_eq!(warnings[0]["message"], expected);
        assert_eq!(app.rows("series"), 0, "{lines}");
        let feed = app.get("/ical").await.expect(200).text;
        assert!(!feed.contains("RRULE"), "{feed}");
        assert_eq!(imports::counts(&app, &feed).await, [0, 0, 1, 0, 0], "{lines}");
    }
}

#[test]
fn table_of_a_file_with_an_ignored_rule_is_loaded_again() {
    for rule in ["FREQ=WEEKLY;COUNT=0", "FREQ=WEEKLY;INTERVAL=0"] {
        let (program, table) = imported(("20200107", rule, ""));
        assert!(!table.contains("RRULE"), "{table}");
        let (code, report, errors) = load(&program, &table, &["--upsert"]);
        assert_eq!((code, counts(&report)), (Some(0), [0, 0, 1, 0]), "{errors}{report}{table}");
    }
}

#[actix_web::test]
async fn rule_with_two_ends_is_refused() {
    let app = App::new().await;
    let rule = json!({"rrule": "FREQ=DAILY;COUNT=3", "until": "2027-04-03"});
    let mut event = json!({"title": "Choir", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    event["recurrence"] = rule.clone();
    let refused = app.post("/events", &event).await.expect(400).json;
    let expected: Value = json!({"recurrence": "recurrence must have either until or count."});
    assert_eq!(refused["data"]["params"], expected);
    event["recurrence"] = json!("FREQ=DAILY;COUNT=3");
    let path = format!("/events/{}", app.post("/events", &event).await.expect(201).id());
    let body = json!({"scope": "all", "recurrence": rule});
    let refused = app.patch(&path, &body).await.expect(400).json;
    assert_eq!(refused["data"]["params"], expected);
}

#[test]
fn table_with_another_rule_or_time_keeps_the_events_of_its_rows() {
    for more in ["", WITHOUT_FIRST] {
        let (program, table) = imported(("20200107", GOOGLE, more));
        let rows = i64::try_from(table.matches(",Choir,").count()).unwrap();
        let later = table.replace(" 10:00:00,", " 10:30:00,");
        let longer = later.replace("20200222T225959Z", "20200229T225959Z");
        for (edited, rows_then) in [(&later, rows), (&longer, rows + 1)] {
            let (code, report, errors) = load(&program, edited, &["--upsert"]);
            let expected = (Some(0), [0, 1, rows - 1, 0]);
            assert_eq!((code, counts(&report)), expected, "{errors}{report}{edited}");
            let after = table_of(&program);
            assert_eq!(after.matches(" 10:30:00,").count(), after.matches(",Choir,").count());
            assert_eq!(i64::try_from(after.matches(",Choir,").count()), Ok(rows_then), "{after}");
        }
    }
}
