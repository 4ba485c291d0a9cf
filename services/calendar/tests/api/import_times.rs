//! Times in iCalendar files near clock changes.

use serde_json::{Value, json};

use crate::app::App;
use crate::imports::{counts, event};

/// Returns the start and end of every event in UTC, in ascending order.
async fn instants(app: &App) -> Vec<String> {
    let list = app.get("/events?start_date=2026-01-01&per_page=50").await.expect(200).json;
    let text = |event: &Value, key: &str| event[key].as_str().unwrap()[5..16].to_owned();
    let interval = |event: &Value| {
        format!("{} - {}", text(event, "utc_start_date"), text(event, "utc_end_date"))
    };
    list["events"].as_array().unwrap().iter().map(interval).collect()
}

#[actix_web::test]
async fn duration_hours_are_exact_and_days_follow_the_local_clock() {
    for (zone, start, duration, expected) in [
        ("Europe/Vienna", "20270327T220000", "PT8H", "03-27 21:00 - 03-28 05:00"),
        ("Europe/Vienna", "20271030T220000", "PT8H", "10-30 20:00 - 10-31 04:00"),
        ("Europe/Vienna", "20270327T220000", "P1D", "03-27 21:00 - 03-28 20:00"),
        ("Europe/Vienna", "20270327T220000", "PT24H", "03-27 21:00 - 03-28 21:00"),
        ("Europe/Vienna", "20270327T220000", "P1DT2H", "03-27 21:00 - 03-28 22:00"),
        ("Europe/Vienna", "20271024T120000", "P1W", "10-24 10:00 - 10-31 11:00"),
        ("America/New_York", "20270313T230000", "PT4H30M", "03-14 04:00 - 03-14 08:30"),
        ("Australia/Lord_Howe", "20270403T220000", "PT6H", "04-03 11:00 - 04-03 17:00"),
    ] {
        let app = App::new().await;
        let file = event(&format!("UID:a\r\nDTSTART;TZID={zone}:{start}\r\nDURATION:{duration}"));
        counts(&app, &file).await;
        assert_eq!(instants(&app).await, [expected], "{zone} {start} {duration}");
        assert_eq!(counts(&app, &file).await, [0, 0, 1, 0, 0], "{zone} {start} {duration}");
    }
}

#[actix_web::test]
async fn occurrences_with_a_duration_keep_it_across_a_clock_change() {
    let app = App::new().await;
    let nights = |length: &str| {
        event(&format!(
            "UID:a\r\nDTSTART;TZID=Europe/Vienna:20271029T220000\r\n{length}\r\nRRULE:FREQ=DAILY;COUNT=3"
        ))
    };
    counts(&app, nights("DURATION:PT8H")).await;
    let exact =
        ["10-29 20:00 - 10-30 04:00", "10-30 20:00 - 10-31 04:00", "10-31 21:00 - 11-01 05:00"];
    assert_eq!(instants(&app).await, exact);
    // With DTEND, every occurrence ends at the same local time.
    counts(&app, nights("DTEND;TZID=Europe/Vienna:20271030T060000")).await;
    let on_clock =
        ["10-29 20:00 - 10-30 04:00", "10-30 20:00 - 10-31 05:00", "10-31 21:00 - 11-01 05:00"];
    assert_eq!(instants(&app).await, on_clock);
}

#[actix_web::test]
async fn utc_series_repeats_in_utc_despite_the_zone_of_the_file() {
    let app = App::new().await;
    let file = event(
        "UID:a\r\nDTSTART:20271023T233000Z\r\nDTEND:20271024T003000Z\r\n\
         RRULE:FREQ=WEEKLY;BYDAY=SA;UNTIL=20271106T233000Z\r\nEXDATE:20271030T233000Z",
    );
    let file = file.replacen("VERSION", "X-WR-TIMEZONE:Europe/Vienna\r\nVERSION", 1);
    assert_eq!(counts(&app, &file).await, [2, 0, 0, 0, 0]);
    assert_eq!(instants(&app).await, ["10-23 23:30 - 10-24 00:30", "11-06 23:30 - 11-07 00:30"]);
    let list = app.get("/events?start_date=2027-10-01").await.json;
    let shown = |at: usize| (&list["events"][at]["timezone"], &list["events"][at]["start_date"]);
    assert_eq!(shown(0), (&json!("Europe/Vienna"), &json!("2027-10-24 01:30:00")));
    assert_eq!(shown(1), (&json!("Europe/Vienna"), &json!("2027-11-07 00:30:00")));
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 0, 0]);
}

#[actix_web::test]
async fn zone_of_a_calendar_applies_to_its_own_entries_only() {
    let app = App::new().await;
    let calendar = |uid: &str| event(&format!("UID:{uid}\r\nDTSTART:2027040{uid}T100000"));
    let vienna = "X-WR-TIMEZONE:Europe/Vienna\r\nVERSION";
    let new_york = "X-WR-TIMEZONE:America/New_York\r\nEND:VCALENDAR";
    let file = [
        calendar("1").replace("VERSION", vienna),
        calendar("2"),
        calendar("3").replace("END:VCALENDAR", new_york),
    ];
    let file = file.concat().replace("END:VEVENT", "DURATION:PT1H\r\nEND:VEVENT");
    assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0]);
    let expected =
        ["04-01 08:00 - 04-01 09:00", "04-02 10:00 - 04-02 11:00", "04-03 14:00 - 04-03 15:00"];
    assert_eq!(instants(&app).await, expected);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0]);
}

#[actix_web::test]
async fn each_calendar_in_a_file_uses_its_own_definition_of_a_zone() {
    let app = App::new().await;
    let calendar = |day: u8, zone: &str| {
        let times = format!("DTSTART;TZID=Ours:2027040{day}T100000\r\nDURATION:PT1H");
        let entry = event(&format!("UID:{day}\r\n{times}"));
        entry.replace("BEGIN:VEVENT", &format!("{zone}BEGIN:VEVENT"))
    };
    let zone = |offset: &str| {
        format!(
            "BEGIN:VTIMEZONE\r\nTZID:Ours\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n\
             TZOFFSETFROM:{offset}\r\nTZOFFSETTO:{offset}\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
        )
    };
    // The last calendar relies on an earlier one.
    let file = [calendar(1, &zone("+0200")), calendar(2, &zone("-0500")), calendar(3, "")].concat();
    assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0]);
    let expected =
        ["04-01 08:00 - 04-01 09:00", "04-02 15:00 - 04-02 16:00", "04-03 15:00 - 04-03 16:00"];
    assert_eq!(instants(&app).await, expected);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0]);
}

#[actix_web::test]
async fn clock_changes_of_a_zone_that_only_the_file_defines_apply() {
    let zone = "BEGIN:VTIMEZONE\r\nTZID:Ours\r\n\
        BEGIN:DAYLIGHT\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nDTSTART:19810329T020000\r\n\
        RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nEND:DAYLIGHT\r\n\
        BEGIN:STANDARD\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nDTSTART:19961027T030000\r\n\
        RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    let until = "DTEND;TZID=Ours:";
    for (start, rest, expected) in [
        // Nights, one of which has an additional hour.
        (
            "20271023T230000",
            format!("{until}20271024T060000\r\nRRULE:FREQ=WEEKLY;COUNT=3"),
            vec![
                "10-23 21:00 - 10-24 04:00",
                "10-30 21:00 - 10-31 05:00",
                "11-06 22:00 - 11-07 05:00",
            ],
        ),
        (
            "20271030T230000",
            format!("{until}20271031T060000\r\nRRULE:FREQ=WEEKLY;COUNT=2"),
            vec!["10-30 21:00 - 10-31 05:00", "11-06 22:00 - 11-07 05:00"],
        ),
        ("20271030T120000", "DURATION:P1D".to_owned(), vec!["10-30 10:00 - 10-31 11:00"]),
        // Times that clocks skip.
        ("20270328T023000", "DURATION:PT1H".to_owned(), vec!["03-28 01:30 - 03-28 02:30"]),
        ("20270328T023000", format!("{until}20270328T032000"), vec!["03-28 01:30 - 03-28 02:20"]),
        (
            "20270327T023000",
            "DURATION:PT1H\r\nRRULE:FREQ=DAILY;COUNT=2".to_owned(),
            vec!["03-27 01:30 - 03-27 02:30", "03-28 01:30 - 03-28 02:30"],
        ),
    ] {
        let app = App::new().await;
        let file = event(&format!("UID:a\r\nDTSTART;TZID=Ours:{start}\r\n{rest}"));
        let file = file.replace("BEGIN:VEVENT", &format!("{zone}BEGIN:VEVENT"));
        let number = i64::try_from(expected.len()).unwrap();
        assert_eq!(counts(&app, &file).await, [number, 0, 0, 0, 0], "{start}");
        assert_eq!(instants(&app).await, expected, "{start}");
        assert_eq!(counts(&app, &file).await, [0, 0, number, 0, 0], "{start}");
    }
}

#[actix_web::test]
async fn one_day_duration_from_a_utc_start_is_24_hours() {
    let app = App::new().await;
    let file = event("UID:a\r\nDTSTART:20271030T210000Z\r\nDURATION:P1D");
    let file = file.replacen("VERSION", "X-WR-TIMEZONE:Europe/Vienna\r\nVERSION", 1);
    counts(&app, &file).await;
    assert_eq!(instants(&app).await, ["10-30 21:00 - 10-31 21:00"]);
}

#[actix_web::test]
async fn series_with_a_skipped_local_start_keeps_its_other_days() {
    let app = App::new().await;
    let file = event(
        "UID:a\r\nDTSTART;TZID=Europe/Vienna:20270328T023000\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY;COUNT=2",
    );
    counts(&app, &file).await;
    assert_eq!(instants(&app).await, ["03-28 01:30 - 03-28 02:30", "03-29 00:30 - 03-29 01:30"]);
}

/// Events in the repeated hour: zone, start and end.
const REPEATED: [(&str, &str, &str); 6] = [
    ("Europe/Vienna", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z"),
    ("Europe/Vienna", "2027-10-31T01:30:00Z", "2027-10-31T01:45:00Z"),
    ("Europe/Vienna", "2027-10-31T01:30:00Z", "2027-10-31T03:00:00Z"),
    ("America/New_York", "2027-11-07T06:15:00Z", "2027-11-07T06:15:00Z"),
    ("Australia/Lord_Howe", "2027-04-03T15:15:00Z", "2027-04-03T16:15:00Z"),
    ("America/Santiago", "2027-04-04T02:30:00Z", "2027-04-04T03:30:00Z"),
];

#[actix_web::test]
async fn events_in_the_repeated_hour_survive_export_and_import() {
    let (app, other) = (App::new().await, App::new().await);
    for (zone, start, end) in REPEATED {
        app.event(json!({"timezone": zone, "start_date": start, "end_date": end})).await;
    }
    let feed = app.get("/ical").await.expect(200).text;
    // A local time refers to the first of the two instants, so the second one is written in UTC.
    assert!(feed.contains("DTSTART;TZID=Europe/Vienna:20271031T023000\r\nDTEND:20271031T013000Z"));
    assert!(feed.contains("DTSTART:20271031T013000Z\r\nDTEND:20271031T014500Z"));
    assert_eq!(counts(&app, &feed).await, [0, 0, 6, 0, 0]);
    assert_eq!(counts(&other, &feed.replace('@', "@other-")).await, [6, 0, 0, 0, 0]);
    assert_eq!(counts(&other, &feed.replace('@', "@other-")).await, [0, 0, 6, 0, 0]);
    let all = "/events?start_date=2027-01-01&_fields=events.timezone,events.start_date,\
               events.end_date,events.utc_start_date,events.utc_end_date";
    assert_eq!(other.get(all).await.json, app.get(all).await.json);
    assert_eq!(instants(&app).await.len(), 6);
}

#[actix_web::test]
async fn rdates_in_the_repeated_hour_keep_their_instant() {
    let app = App::new().await;
    let file = event(
        "UID:a\r\nDTSTART;TZID=Europe/Vienna:20271030T023000\r\nDURATION:PT15M\r\n\
         RRULE:FREQ=DAILY;COUNT=2\r\nRDATE:20271031T013000Z",
    );
    counts(&app, &file).await;
    let both =
        ["10-30 00:30 - 10-30 00:45", "10-31 00:30 - 10-31 00:45", "10-31 01:30 - 10-31 01:45"];
    assert_eq!(instants(&app).await, both);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0]);
    let without = file.replace("RDATE", "EXDATE:20271031T003000Z\r\nRDATE");
    counts(&app, &without).await;
    assert_eq!(instants(&app).await, [both[0], both[2]]);
}

#[actix_web::test]
async fn days_after_a_skipped_hour_have_the_written_length() {
    for (zone, first, start, end, expected) in [
        ("Europe/Berlin", "20270328", "0230", "0330", ["01:30 - 02:30", "00:30 - 01:30"]),
        ("Europe/Berlin", "20270328", "0200", "0300", ["01:00 - 02:00", "00:00 - 01:00"]),
        ("Europe/Berlin", "20270328", "0230", "0300", ["01:30 - 02:00", "00:30 - 01:00"]),
        ("Europe/Berlin", "20270328", "0230", "0400", ["01:30 - 02:00", "00:30 - 02:00"]),
        // The end is skipped.
        ("Europe/Berlin", "20270328", "0130", "0230", ["00:30 - 01:30", "23:30 - 00:30"]),
        ("America/New_York", "20270314", "0215", "0245", ["07:15 - 07:45", "06:15 - 06:45"]),
        // No clock change.
        ("Europe/Berlin", "20270321", "0230", "0330", ["01:30 - 02:30", "01:30 - 02:30"]),
    ] {
        let times = |text: &String| format!("{} - {}", &text[6..11], &text[20..]);
        let case = format!("{zone} {first} {start}-{end}");
        let app = App::new().await;
        let file = event(&format!(
            "UID:a\r\nDTSTART;TZID={zone}:{first}T{start}00\r\nDTEND;TZID={zone}:{first}T{end}00\r\n\
             RRULE:FREQ=DAILY;COUNT=3"
        ));
        assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0], "{case}");
        let imported = instants(&app).await;
        let [one, two] = expected;
        assert_eq!(imported.iter().map(times).collect::<Vec<_>>(), [one, two, two], "{case}");
        assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0], "{case}");

        // A series in the API has the same dates, as does its feed.
        let app = App::new().await;
        let date = |time: &str| {
            let (hour, minute) = time.split_at(2);
            format!("{}-{}-{} {hour}:{minute}", &first[..4], &first[4..6], &first[6..])
        };
        let fields = json!({"timezone": zone, "start_date": date(start), "end_date": date(end),
            "recurrence": {"rrule": "FREQ=DAILY", "count": 3}});
        app.event(fields).await;
        assert_eq!(instants(&app).await, imported, "{case}");
        let feed = app.get("/ical?ends_after=2027-01-01").await.expect(200).text;
        assert_eq!(counts(&app, &feed).await, [0, 0, 3, 0, 0], "{case}: {feed}");
        let other = App::new().await;
        counts(&other, &feed).await;
        assert_eq!(instants(&other).await, imported, "{case}: {feed}");
    }
}

#[actix_web::test]
async fn series_moved_from_or_to_a_skipped_hour_has_the_written_times() {
    for (from, to, expected) in [
        (("03-28 02:30", "03-28 03:30"), ("03-28 18:00", "03-28 19:00"), ["16:00 - 17:00"; 2]),
        (
            ("03-27 18:00", "03-27 19:00"),
            ("03-28 02:30", "03-28 03:30"),
            // The moved event keeps its length after the skipped hour.
            ["01:30 - 02:30", "00:30 - 01:30"],
        ),
    ] {
        let app = App::new().await;
        let dates = |(start, end): (&str, &str)| {
            json!({"timezone": "Europe/Berlin", "start_date": format!("2027-{start}"),
                "end_date": format!("2027-{end}")})
        };
        let mut fields = dates(from);
        fields["recurrence"] = json!({"rrule": "FREQ=DAILY", "count": 3});
        let id = app.event(fields).await;
        let mut change = dates(to);
        change["scope"] = json!("all");
        app.patch(&format!("/events/{id}"), &change).await.expect(200);
        let times = |text: &String| format!("{} - {}", &text[6..11], &text[20..]);
        let moved: Vec<String> = instants(&app).await.iter().map(times).collect();
        assert_eq!(moved, [expected[0], expected[1], expected[1]], "{to:?}");
    }
}

#[actix_web::test]
async fn series_moved_to_a_skipped_hour_keeps_its_length() {
    // The request has no end, or one in UTC.
    for end in [json!({}), json!({"end_date": "2027-03-28T01:30:00Z"})] {
        let app = App::new().await;
        let fields = json!({"timezone": "Europe/Berlin", "start_date": "2027-03-27 18:00",
            "end_date": "2027-03-27 19:00", "recurrence": {"rrule": "FREQ=DAILY", "count": 3}});
        let id = app.event(fields).await;
        let mut change = json!({"start_date": "2027-03-28 02:30", "scope": "all"});
        change.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
        app.patch(&format!("/events/{id}"), &change).await.expect(200);
        let expected =
            ["03-28 01:30 - 03-28 02:30", "03-29 00:30 - 03-29 01:30", "03-30 00:30 - 03-30 01:30"];
        assert_eq!(instants(&app).await, expected, "{end}");
    }
}

#[actix_web::test]
async fn event_that_moves_to_a_skipped_hour_and_repeats_keeps_its_length() {
    for (day, start, end) in [("2027-03-20", "18:00", "19:00"), ("2027-03-28", "00:30", "01:30")] {
        let app = App::new().await;
        let fields = json!({"timezone": "Europe/Berlin", "start_date": format!("{day} {start}"),
            "end_date": format!("{day} {end}")});
        let id = app.event(fields).await;
        let change = json!({"start_date": "2027-03-28 02:30",
            "recurrence": {"rrule": "FREQ=DAILY", "count": 3}});
        app.patch(&format!("/events/{id}"), &change).await.expect(200);
        let expected =
            ["03-28 01:30 - 03-28 02:30", "03-29 00:30 - 03-29 01:30", "03-30 00:30 - 03-30 01:30"];
        assert_eq!(instants(&app).await, expected, "{day}");
    }
}

#[actix_web::test]
async fn end_of_a_rule_is_published_in_the_form_that_all_programs_read() {
    let zone = "DTSTART;TZID=Europe/Vienna:20270401T180000";
    let day = "X-WR-TIMEZONE:America/New_York\r\nBEGIN:VEVENT";
    for (start, until, published) in [
        (zone, "20270403", "20270403T215959Z"),
        (zone, "20270403T180000", "20270403T160000Z"),
        (zone, "20270403T170000Z", "20270403T170000Z"),
        ("DTSTART;VALUE=DATE:20270401", "20270403", "20270403"),
        // The last second of 3 April in the zone of the file.
        ("DTSTART;VALUE=DATE:20270401", "20270404T035959Z", "20270403"),
        ("DTSTART;VALUE=DATE:20270401", "20270403T000000Z", "20270403"),
    ] {
        let app = App::new().await;
        let file = event(&format!("UID:a\r\n{start}\r\nRRULE:FREQ=DAILY;UNTIL={until}"));
        let file = file.replace("BEGIN:VEVENT", day);
        assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0], "{until}");
        assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0], "{until}");
        let feed = app.get("/ical").await.expect(200).text;
        let rule = format!("\nRRULE:FREQ=DAILY;UNTIL={published}\r");
        assert!(feed.contains(&rule), "{until}: {feed}");
    }
    // Programs write this day for rules without an end.
    let app = App::new().await;
    let file = event(&format!("UID:a\r\n{zone}\r\nRRULE:FREQ=YEARLY;UNTIL=99991231"));
    assert_eq!(counts(&app, &file).await[0], 2);
    let feed = app.get("/ical").await.expect(200).text;
    assert!(feed.contains("\nRRULE:FREQ=YEARLY\r"), "{feed}");
}

#[actix_web::test]
async fn midnight_in_utc_excludes_or_adds_that_day_in_any_zone() {
    let app = App::new().await;
    let file = event(
        "UID:a\r\nDTSTART;VALUE=DATE:20270401\r\nRRULE:FREQ=DAILY;COUNT=3\r\n\
         EXDATE:20270402T000000Z\r\nRDATE:20270405T000000Z,20270407T040000Z",
    );
    // In New York, 04:00 in UTC is midnight.
    counts(&app, file.replace("BEGIN:VEVENT", "X-WR-TIMEZONE:America/New_York\r\nBEGIN:VEVENT"))
        .await;
    let list = app.get("/events").await.expect(200).json;
    let days = list["events"].as_array().unwrap().iter();
    let days: Vec<&str> = days.map(|one| &one["start_date"].as_str().unwrap()[5..10]).collect();
    assert_eq!(days, ["04-01", "04-03", "04-05", "04-07"]);
}
