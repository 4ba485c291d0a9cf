//! Imports of rarely used features of RFC 5545 and RFC 5546.

use serde_json::{Value, json};

use crate::app::App;
use crate::imports::{counts, post};

pub fn calendar(head: &str, entries: &[&str]) -> String {
    let entries: String =
        entries.iter().map(|lines| format!("BEGIN:VEVENT\n{lines}\nEND:VEVENT\n")).collect();
    format!("BEGIN:VCALENDAR\n{head}\n{entries}END:VCALENDAR\n").replace('\n', "\r\n")
}

/// Returns a mark for events with the status `cancelled`.
pub fn mark(event: &Value) -> &'static str {
    if event["event_status"] == "cancelled" { " (off)" } else { "" }
}

/// Returns the id, start, end and title of events since April 2027.
pub async fn shown(app: &App) -> Vec<(i64, String)> {
    let list = app.get("/events?start_date=2027-04-01&per_page=50").await.expect(200).json;
    let event = |event: &Value| {
        let text = |key: &str| event[key].as_str().unwrap().to_owned();
        let (start, end) = (text("start_date"), text("end_date"));
        (
            event["id"].as_i64().unwrap(),
            format!("{} {} {}{}", &start[8..13], &end[8..13], text("title"), mark(event)),
        )
    };
    list["events"].as_array().unwrap().iter().map(event).collect()
}

pub async fn texts(app: &App) -> Vec<String> {
    shown(app).await.into_iter().map(|(_, text)| text).collect()
}

/// Returns the line and message of all `errors` or `warnings`.
async fn reported(app: &App, file: &str, list: &str) -> Vec<(u64, String)> {
    let report = post(app, "editor", file.to_owned()).await.expect(200).json;
    let error = |error: &Value| {
        (error["line"].as_u64().unwrap(), error["message"].as_str().unwrap().to_owned())
    };
    report[list].as_array().unwrap().iter().map(error).collect()
}

#[actix_web::test]
async fn latest_revision_of_an_entry_wins() {
    let entry = |more: &str| format!("UID:a\nDTSTART:20270401T100000Z\nDURATION:PT1H\n{more}");
    let (old, new) = (entry("SUMMARY:Old\nSEQUENCE:2"), entry("SUMMARY:New\nSEQUENCE:10"));
    let dated = |title: &str, property: &str, day: u8| {
        entry(&format!("SUMMARY:{title}\n{property}:202703{day:02}T100000Z"))
    };
    for [first, second] in [
        [old.clone(), new.clone()],
        [new, old],
        [dated("Old", "DTSTAMP", 1), dated("New", "DTSTAMP", 2)],
        [dated("New", "DTSTAMP", 2), dated("Old", "DTSTAMP", 1)],
        [dated("New", "LAST-MODIFIED", 2), dated("Old", "LAST-MODIFIED", 1)],
        [entry("SUMMARY:Old"), entry("SUMMARY:New")],
    ] {
        let app = App::new().await;
        let file = calendar("", &[&first, &second]);
        assert_eq!(counts(&app, &file).await, [1, 0, 0, 1, 0], "{file}");
        assert_eq!(counts(&app, &file).await, [0, 0, 1, 1, 0], "{file}");
        assert_eq!(texts(&app).await, ["01 10 01 11 New"], "{file}");
    }
}

#[actix_web::test]
async fn latest_revision_of_an_occurrence_wins() {
    let app = App::new().await;
    let series =
        "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nSUMMARY:Daily";
    let moved = |title: &str, sequence: u8| {
        format!(
            "UID:s\nRECURRENCE-ID:20270402T100000Z\nDTSTART:20270402T120000Z\nSUMMARY:{title}\n\
             SEQUENCE:{sequence}"
        )
    };
    let file = calendar("", &[&moved("New", 3), &moved("Old", 1), series]);
    assert_eq!(counts(&app, &file).await, [2, 0, 0, 1, 0]);
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 1, 0]);
    assert_eq!(texts(&app).await, ["01 10 01 11 Daily", "02 12 02 12 New"]);
}

#[actix_web::test]
async fn rdate_periods_and_several_rules_are_imported() {
    let app = App::new().await;
    let file = calendar(
        "",
        &["UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:Show\n\
           RRULE:FREQ=DAILY;COUNT=2\nRRULE:FREQ=WEEKLY;COUNT=2\n\
           RDATE;VALUE=PERIOD:20270410T090000Z/PT3H,20270411T090000Z/20270411T150000Z"],
    );
    assert_eq!(counts(&app, &file).await, [5, 0, 0, 0, 0]);
    let expected = ["01 10 01 11", "02 10 02 11", "08 10 08 11", "10 09 10 12", "11 09 11 15"];
    assert_eq!(texts(&app).await, expected.map(|times| format!("{times} Show")));
    assert_eq!(counts(&app, &file).await, [0, 0, 5, 0, 0]);
}

#[actix_web::test]
async fn unsupported_features_drop_no_entry_and_are_reported_with_their_line() {
    let app = App::new().await;
    let series =
        "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nSUMMARY:Daily";
    let range =
        "UID:r\nRECURRENCE-ID;RANGE=THISANDFUTURE:20270402T100000Z\nDTSTART:20270402T120000Z";
    let excluded = "UID:x\nDTSTART:20270401T100000Z\nRRULE:FREQ=DAILY;COUNT=9\nEXRULE:FREQ=WEEKLY";
    let file = calendar("", &[series, range, excluded]);
    let expected = [
        (19, "EXRULE is not supported; only its first occurrence was imported"),
        (12, "RANGE=THISANDFUTURE was applied to this occurrence only"),
    ];
    let expected = expected.map(|(line, message)| (line, message.to_owned()));
    // Overrides follow all entries.
    assert_eq!(reported(&app, &file, "warnings").await, expected);
    assert_eq!(texts(&app).await, UNSUPPORTED);
    for method in ["REPLY", "ADD"] {
        let file = calendar(&format!("METHOD:{method}"), &["UID:s\nDTSTART:20270401T150000Z"]);
        let message = format!("METHOD:{method} is not supported; the entry was skipped");
        assert_eq!(reported(&app, &file, "errors").await, [(3, message)]);
    }
    assert_eq!(texts(&app).await, UNSUPPORTED);
}

const UNSUPPORTED: [&str; 4] =
    ["01 10 01 11 Daily", "01 10 01 10 Untitled", "02 10 02 11 Daily", "02 12 02 12 Untitled"];

#[actix_web::test]
async fn values_that_cannot_be_read_drop_no_entry() {
    let app = App::new().await;
    let begin = "DTSTART:20270401T100000Z\nDTEND:20270401T110000Z";
    let entries = [
        "UID:a\nDTSTART:20270401T100000Z\nSUMMARY:A\nDURATION:soon".to_owned(),
        "UID:b\nDTSTART:20270401T100000Z\nSUMMARY:B\nDTEND:later".to_owned(),
        format!("UID:c\n{begin}\nSUMMARY:C\nRDATE;VALUE=TIME:083000Z,093000Z"),
        format!("UID:d\n{begin}\nSUMMARY:D\nRDATE:20270402T100000Z,tomorrow"),
        format!("UID:e\n{begin}\nSUMMARY:E\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE:x"),
        format!("UID:f\n{begin}\nSUMMARY:F\nRRULE:FREQ=SECONDLY"),
        format!("UID:g\n{begin}\nSUMMARY:G\nRRULE:FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30"),
        format!("UID:h\n{begin}\nSUMMARY:H\nRDATE;VALUE=PERIOD:20270402/20270403"),
    ];
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let file = calendar("", &entries);
    let messages: Vec<String> =
        reported(&app, &file, "warnings").await.into_iter().map(|(_, message)| message).collect();
    let first = "only its first occurrence was imported";
    assert_eq!(
        messages,
        [
            "DURATION is not a duration; the end was set to the start",
            "DTEND is not a date; the end was set to the start",
            "RDATE is not a date: 083000Z; it was ignored",
            "RDATE is not a date: tomorrow; it was ignored",
            "EXDATE is not a date: x; it was ignored",
            &format!("the rule FREQ=SECONDLY is not supported; {first}"),
        ]
    );
    let shown = texts(&app).await;
    let expected = [
        "01 10 01 10 A",
        "01 10 01 10 B",
        "01 10 01 11 C",
        "01 10 01 11 D",
        "01 10 01 11 E",
        "01 10 01 11 F",
        "01 10 01 11 G",
        "01 10 01 11 H",
        "02 00 03 00 H",
        "02 10 02 11 D",
        "02 10 02 11 E",
    ];
    assert_eq!(shown, expected);
    assert_eq!(counts(&app, &file).await, [0, 0, 11, 0, 0]);
    // A rule that is not supported removes no occurrences of an earlier file.
    let unknown = calendar("", &[&format!("UID:e\n{begin}\nSUMMARY:E\nRRULE:FREQ=LUNAR")]);
    assert_eq!(counts(&app, &unknown).await, [0, 0, 1, 0, 0]);
    assert_eq!(texts(&app).await, expected);
}

#[actix_web::test]
async fn all_day_occurrences_are_overridden_by_midnights() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART;VALUE=DATE:20270401\nDTEND:20270402T000000\n\
        RRULE:FREQ=DAILY;COUNT=-1;UNTIL=20270403\nSUMMARY:Bin";
    let moved = |at: &str, to: u8| {
        format!("UID:s\nRECURRENCE-ID{at}\nDTSTART;VALUE=DATE:202704{to:02}\nSUMMARY:Moved")
    };
    let zoned = moved(";TZID=GMT Standard Time:20270402T000000", 12);
    let file = calendar("", &[series, &zoned, &moved(":20270403T000000Z", 13)]);
    assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0]);
    let expected = ["01 00 01 23 Bin", "12 00 12 23 Moved", "13 00 13 23 Moved"];
    assert_eq!(texts(&app).await, expected);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0]);
}

#[actix_web::test]
async fn later_series_removes_moved_occurrences_that_it_excludes() {
    let series = |more: &str| {
        format!("UID:s\nDTSTART:20270401T100000Z\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Daily{more}")
    };
    let moved = "UID:s\nRECURRENCE-ID:20270402T100000Z\nDTSTART:20270402T150000Z\nSEQUENCE:2";
    for (sequence, shown) in [(3, false), (2, true)] {
        let app = App::new().await;
        let excluding = format!("\nEXDATE:20270402T100000Z\nSEQUENCE:{sequence}");
        let file = calendar("", &[&series("\nSEQUENCE:1"), moved, &series(&excluding)]);
        counts(&app, &file).await;
        let texts = texts(&app).await;
        assert_eq!(texts.contains(&"02 15 02 15 Untitled".to_owned()), shown, "{texts:?}");
        assert_eq!(texts.len(), if shown { 3 } else { 2 });
        assert_eq!(counts(&app, &file).await[..2], [0, 0]);
    }
}

#[actix_web::test]
async fn series_of_overrides_only_is_unchanged_the_second_time() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART:20270401T100000Z\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Daily";
    let moved = |day: u8| {
        let at = format!("202704{day:02}T1");
        format!("UID:s\nRECURRENCE-ID:{at}00000Z\nDTSTART:{at}20000Z\nSUMMARY:Moved")
    };
    for days in [[1, 2, 3], [3, 1, 2]] {
        let file = calendar("", &[series, &*moved(days[0]), &moved(days[1]), &moved(days[2])]);
        let file = file.replace("UID:s", &format!("UID:{}", days[0]));
        assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0]);
        assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0]);
    }
}

#[actix_web::test]
async fn empty_lines_do_not_end_folded_lines() {
    let app = App::new().await;
    let file =
        calendar("", &["UID\n\n :a\nDTSTART\n\n ;VALUE=DATE\n\n :20270401\nSUMMARY\n\n :Day"]);
    assert_eq!(counts(&app, &file).await, [1, 0, 0, 0, 0]);
    assert_eq!(texts(&app).await, ["01 00 01 23 Day"]);
}

#[actix_web::test]
async fn reply_does_not_supersede_the_event_that_it_answers() {
    let app = App::new().await;
    let series = |more: &str| format!("UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\n{more}");
    let request = "DTSTAMP:20270301T100000Z\nRRULE:FREQ=DAILY;COUNT=2\nSUMMARY:Daily";
    let reply = series("DTSTAMP:20270302T100000Z");
    let of_occurrence = series("DTSTAMP:20270302T100000Z\nRECURRENCE-ID:20270402T100000Z");
    let file = calendar("METHOD:REQUEST", &[&series(request)])
        + &calendar("METHOD:REPLY", &[&reply, &of_occurrence]);
    assert_eq!(counts(&app, &file).await, [2, 0, 0, 0, 2]);
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 0, 2]);
    assert_eq!(texts(&app).await, ["01 10 01 11 Daily", "02 10 02 11 Daily"]);
}

#[actix_web::test]
async fn occurrences_that_a_file_lists_as_events_stay() {
    let app = App::new().await;
    let entry = |uid: &str, day: u8, more: &str| {
        format!("UID:{uid}\nDTSTART:202704{day:02}T100000Z\nDURATION:PT1H\nSUMMARY:Daily{more}")
    };
    counts(&app, calendar("", &[&entry("s", 1, "\nRRULE:FREQ=DAILY;COUNT=3")])).await;
    let [second, third] = [2, 3].map(|day| entry(&format!("s#202704{day:02}T100000Z"), day, ""));
    let file = |first: &str| calendar("", &[&second, first, &third]);
    assert_eq!(counts(&app, file(&entry("s", 1, ""))).await, [0, 0, 3, 0, 0]);
    let cancelled = file(&entry("s", 1, "\nSTATUS:CANCELLED"));
    assert_eq!(counts(&app, &cancelled).await, [0, 1, 2, 0, 0]);
    assert_eq!(counts(&app, &cancelled).await, [0, 0, 3, 0, 0]);
    let expected = ["01 10 01 11 Daily (off)", "02 10 02 11 Daily", "03 10 03 11 Daily"];
    assert_eq!(texts(&app).await, expected);
}

#[actix_web::test]
async fn method_cancel_cancels_an_event_an_occurrence_or_a_series() {
    let app = App::new().await;
    let series =
        "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Daily";
    let single = "UID:a\nDTSTART:20270405T100000Z\nDURATION:PT1H\nSUMMARY:Once";
    counts(&app, calendar("METHOD:REQUEST", &[series, single])).await;
    let cancel = |lines: &str| calendar("METHOD:CANCEL", &[lines]);
    assert_eq!(counts(&app, cancel("UID:a\nSEQUENCE:1")).await, [0, 1, 0, 0, 0]);
    let occurrence = "UID:s\nRECURRENCE-ID:20270402T100000Z\nDTSTART:20270402T100000Z";
    assert_eq!(counts(&app, cancel(occurrence)).await, [0, 1, 0, 0, 0]);
    let expected = [
        "01 10 01 11 Daily",
        "02 10 02 11 Daily (off)",
        "03 10 03 11 Daily",
        "05 10 05 11 Once (off)",
    ];
    assert_eq!(texts(&app).await, expected);
    assert_eq!(counts(&app, cancel("UID:s")).await, [0, 2, 0, 0, 0]);
    assert!(texts(&app).await.iter().all(|text| text.ends_with(" (off)")));
    assert_eq!(counts(&app, cancel("UID:s")).await, [0, 0, 1, 0, 0]);
    let unknown = "UID:unknown\nSUMMARY:New\nDTSTART:20270405T100000Z";
    assert_eq!(counts(&app, cancel(unknown)).await, [0, 0, 0, 1, 0]);
}

#[actix_web::test]
async fn broken_cancellation_of_an_occurrence_leaves_its_series() {
    let app = App::new().await;
    let series =
        "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nSUMMARY:x";
    counts(&app, calendar("", &[series])).await;
    for broken in [
        "RECURRENCE-ID;TZID=Europe/Vienna",
        "RECURRENCE-ID:",
        "RECURRENCE-ID:20270402T",
        "BEGIN:VALARM\nACTION:AUDIO\nRECURRENCE-ID:20270402T100000Z",
    ] {
        let file = calendar("METHOD:CANCEL", &[&format!("UID:s\n{broken}")]);
        assert_eq!(counts(&app, &file).await, [0, 0, 0, 0, 1], "{broken}");
        assert_eq!(texts(&app).await.len(), 2, "{broken}");
    }
}

#[actix_web::test]
async fn occurrences_keep_their_ids_when_the_first_date_is_excluded() {
    let series = |more: &str| {
        format!(
            "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
             SUMMARY:Daily{more}"
        )
    };
    let whole = calendar("", &[&series("")]);
    let without = calendar("", &[&series("\nEXDATE:20270401T100000Z")]);
    let app = App::new().await;
    counts(&app, &whole).await;
    let all = shown(&app).await;
    assert_eq!(counts(&app, &without).await, [0, 1, 2, 0, 0]);
    assert_eq!(shown(&app).await, all[1..]);
    assert_eq!(counts(&app, &without).await, [0, 0, 2, 0, 0]);
    assert_eq!(counts(&app, &whole).await, [0, 1, 2, 0, 0]);
    assert_eq!(shown(&app).await, all);
    // The same, but the first date is missing from the start.
    let app = App::new().await;
    assert_eq!(counts(&app, &without).await, [2, 0, 0, 0, 0]);
    let two = shown(&app).await;
    assert_eq!(counts(&app, &without).await, [0, 0, 2, 0, 0]);
    counts(&app, &whole).await;
    assert_eq!(shown(&app).await[1..], two);
    assert_eq!(counts(&app, &whole).await, [0, 0, 3, 0, 0]);
}

#[actix_web::test]
async fn exchange_zones_are_found_by_display_name() {
    let app = App::new().await;
    let known = "(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna";
    let entry = |uid: &str, zone: &str| {
        format!("UID:{uid}\nDTSTART;TZID={zone}:20270401T100000\nDURATION:PT1H\nSUMMARY:{uid}")
    };
    let quoted = entry("quoted", &format!("\"{known}\""));
    let unknown = entry("unknown", "\"(UTC+01:00) Atlantis\"");
    let file = calendar("", &[&quoted, &entry("bare", known), &unknown]);
    let message = "the time zone (UTC+01:00) Atlantis is unknown; UTC was used instead";
    let report = post(&app, "editor", file).await.expect(200).json;
    assert_eq!(report["warnings"], json!([{"uid": "unknown", "line": 17, "message": message}]));
    assert_eq!((&report["created"], &report["errors"]), (&json!(3), &json!([])));
    let list = app.get("/events?start_date=2027-04-01").await.expect(200).json;
    for event in list["events"].as_array().unwrap() {
        let expected = match event["title"] == "unknown" {
            true => ("UTC", "2027-04-01 10:00:00"),
            false => ("Europe/Berlin", "2027-04-01 08:00:00"),
        };
        assert_eq!(event["timezone"], json!(expected.0));
        assert_eq!(event["utc_start_date"], json!(expected.1));
    }
    assert_eq!(list["total"], 3);
}

#[actix_web::test]
async fn offset_zones_survive_export_and_import() {
    let app = App::new().await;
    for zone in ["UTC+2", "+02:00", "UTC-3:30"] {
        let fields = json!({"timezone": zone, "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00"});
        app.event(fields).await;
    }
    let feed = app.get("/ical").await.expect(200).text;
    assert!(feed.contains("DTSTART:20270401T080000Z\r\n"), "{feed}");
    assert_eq!(counts(&app, &feed).await, [0, 0, 3, 0, 0]);
    let other = App::new().await;
    counts(&other, feed.replace("@", "@elsewhere.")).await;
    let list = other.get("/events?start_date=2027-04-01").await.expect(200).json;
    let zones: Vec<&str> = list["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            assert_eq!(event["start_date"], "2027-04-01 10:00:00");
            event["timezone"].as_str().unwrap()
        })
        .collect();
    assert_eq!(zones, ["UTC+2", "+02:00", "UTC-3:30"]);
}
