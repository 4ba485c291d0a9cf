//! Imports of files in the dialects of other programs.

use serde_json::{Value, json};

use crate::app::App;
use crate::import_standards::{calendar, shown, texts};
use crate::imports::{counts, post};

/// Imports a file and returns the lines and messages of its warnings.
async fn warnings(app: &App, file: impl Into<reqwest::Body>) -> Vec<(u64, String)> {
    let report = post(app, "editor", file).await.expect(200).json;
    assert_eq!(report["errors"], json!([]));
    let warning = |warning: &Value| {
        (warning["line"].as_u64().unwrap(), warning["message"].as_str().unwrap().to_owned())
    };
    report["warnings"].as_array().unwrap().iter().map(warning).collect()
}

const OUTDATED: &str = "an earlier file had a later revision of it; it was skipped";

#[actix_web::test]
async fn older_file_does_not_revert_a_later_revision() {
    let entry = |title: &str, more: &str| {
        format!("UID:a\nDTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:{title}\n{more}")
    };
    let days = "DTSTAMP:20270303T100000Z\nLAST-MODIFIED";
    for (old, new) in [
        ("SEQUENCE:1".to_owned(), "SEQUENCE:2".to_owned()),
        ("DTSTAMP:20270301T100000Z".to_owned(), "DTSTAMP:20270302T100000Z".to_owned()),
        (format!("{days}:20270301T100000Z"), format!("{days}:20270302T100000Z")),
    ] {
        let app = App::new().await;
        let (old, new) =
            (calendar("", &[&entry("Old", &old)]), calendar("", &[&entry("New", &new)]));
        counts(&app, &old).await;
        assert_eq!(counts(&app, &new).await, [0, 1, 0, 0, 0], "{new}");
        assert_eq!(counts(&app, &old).await, [0, 0, 0, 1, 0], "{new}");
        assert_eq!(warnings(&app, old).await, [(3, OUTDATED.to_owned())]);
        assert_eq!(texts(&app).await, ["01 10 01 11 New"]);
        assert_eq!(counts(&app, &new).await, [0, 0, 1, 0, 0], "{new}");
        // A file without a revision is accepted.
        let bare = calendar("", &[&entry("Bare", "CLASS:PUBLIC")]);
        assert_eq!(counts(&app, &bare).await, [0, 1, 0, 0, 0]);
    }
}

#[actix_web::test]
async fn older_file_does_not_restore_what_a_later_one_cancelled_or_moved() {
    let app = App::new().await;
    let series = |day: u8| {
        format!(
            "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4\n\
             SUMMARY:Daily\nDTSTAMP:202703{day:02}T100000Z"
        )
    };
    let file = calendar("METHOD:REQUEST", &[&series(1)]);
    counts(&app, &file).await;
    let cancelled = "UID:s\nRECURRENCE-ID:20270402T100000Z\nSEQUENCE:1\nDTSTAMP:20270302T100000Z";
    assert_eq!(counts(&app, calendar("METHOD:CANCEL", &[cancelled])).await, [0, 1, 0, 0, 0]);
    let moved = |hour: u8, day: u8| {
        format!(
            "UID:s\nRECURRENCE-ID:20270401T100000Z\nDTSTART:20270401T{hour}0000Z\nDURATION:PT1H\n\
             SUMMARY:Moved\nDTSTAMP:202703{day:02}T100000Z"
        )
    };
    counts(&app, calendar("METHOD:REQUEST", &[&moved(15, 3)])).await;
    let expected =
        ["01 15 01 16 Moved", "02 10 02 11 Daily (off)", "03 10 03 11 Daily", "04 10 04 11 Daily"];
    assert_eq!(texts(&app).await, expected);
    // Two occurrences have overrides from a later file.
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 2, 0]);
    assert_eq!(texts(&app).await, expected);
    let older = calendar("", &[&series(1), &moved(12, 1)]);
    assert_eq!(counts(&app, older).await, [0, 0, 2, 2, 0]);
    assert_eq!(texts(&app).await, expected);
    // A later file without overrides removes the earlier ones.
    assert_eq!(counts(&app, calendar("", &[&series(9)])).await, [0, 2, 2, 0, 0]);
    assert!(texts(&app).await.iter().all(|text| text.ends_with("11 Daily")));
    // The series is cancelled. An older file does not restore any of it.
    let off = "UID:s\nSTATUS:CANCELLED\nDTSTART:20270401T100000Z\nDTSTAMP:20270310T100000Z";
    counts(&app, calendar("", &[off])).await;
    let older = calendar("", &[&series(9), &moved(12, 9)]);
    assert_eq!(counts(&app, older).await, [0, 0, 0, 2, 0]);
    let off = texts(&app).await;
    assert!(off.len() == 4 && off.iter().all(|text| text.ends_with(" (off)")), "{off:?}");
}

#[actix_web::test]
async fn cancellation_by_day_cancels_the_occurrence_of_that_local_day() {
    let app = App::new().await;
    // In Auckland, 08:00 is still the previous day in UTC.
    let series = "UID:s\nDTSTART;TZID=Pacific/Auckland:20270401T080000\nDURATION:PT1H\n\
        RRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Daily";
    counts(&app, calendar("", &[series])).await;
    let cancel = |day: u8| {
        calendar("METHOD:CANCEL", &[&format!("UID:s\nRECURRENCE-ID;VALUE=DATE:202704{day:02}")])
    };
    assert_eq!(counts(&app, cancel(9)).await, [0, 0, 0, 1, 0]);
    assert_eq!(counts(&app, cancel(2)).await, [0, 1, 0, 0, 0]);
    let second = ["01 08 01 09 Daily", "02 08 02 09 Daily (off)", "03 08 03 09 Daily"];
    assert_eq!(texts(&app).await, second);
    assert_eq!(counts(&app, cancel(1)).await, [0, 1, 0, 0, 0]);
    assert_eq!(texts(&app).await[0], "01 08 01 09 Daily (off)");
    // An override that names only the day keeps the event and its id.
    let ids: Vec<i64> = shown(&app).await.into_iter().map(|(id, _)| id).collect();
    let moved = "UID:s\nRECURRENCE-ID;VALUE=DATE:20270403\nSUMMARY:Moved\nDURATION:PT1H\n\
        DTSTART;TZID=Pacific/Auckland:20270403T120000";
    assert_eq!(counts(&app, calendar("", &[moved])).await, [0, 1, 0, 0, 0]);
    assert_eq!(shown(&app).await[2], (ids[2], "03 12 03 13 Moved".to_owned()));
    assert_eq!(counts(&app, calendar("", &[series, moved])).await, [0, 2, 1, 0, 0]);
    assert_eq!(shown(&app).await[2], (ids[2], "03 12 03 13 Moved".to_owned()));
    assert!(texts(&app).await.iter().all(|text| !text.ends_with(" (off)")));
}

#[actix_web::test]
async fn events_without_uid_are_imported_once() {
    let app = App::new().await;
    let entry = |title: &str| format!("DTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:{title}");
    let stamped = |title: &str, day: u8| {
        format!("{}\nDTSTAMP:202703{day:02}T100000Z\nSEQUENCE:{day}", entry(title))
    };
    let empty = format!("UID:\n{}", entry("Empty"));
    let overrides = format!("RECURRENCE-ID:20270401T100000Z\n{}", entry("Override"));
    let all = [entry("One"), entry("Two"), empty, overrides];
    let file = calendar("", &all.each_ref().map(String::as_str));
    assert_eq!(counts(&app, &file).await, [4, 0, 0, 0, 0]);
    assert_eq!(counts(&app, &file).await, [0, 0, 4, 0, 0]);
    // The time of the export does not matter.
    let [first, second] = [1, 2].map(|day| calendar("", &[&stamped("One", day)]));
    assert_eq!(counts(&app, first).await, [0, 0, 1, 0, 0]);
    assert_eq!(counts(&app, second).await, [0, 0, 1, 0, 0]);
    let off = format!("{}\nSTATUS:CANCELLED", entry("Two"));
    assert_eq!(counts(&app, calendar("", &[&off])).await, [0, 1, 0, 0, 0]);
    assert_eq!(texts(&app).await.iter().filter(|text| text.ends_with(" (off)")).count(), 1);
}

#[actix_web::test]
async fn files_in_utf_16_and_with_bare_returns_are_imported() {
    let entry = "UID:a\nDTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:Größe\n  東京 🎷";
    let file = calendar("", &[entry]);
    let units: Vec<u16> = std::iter::once(0xfeff).chain(file.encode_utf16()).collect();
    for bytes in [
        units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        file.replace("\r\n", "\r").into_bytes(),
    ] {
        let app = App::new().await;
        assert_eq!(counts(&app, bytes).await, [1, 0, 0, 0, 0]);
        assert_eq!(texts(&app).await, ["01 10 01 11 Größe 東京 🎷"]);
    }
}

#[actix_web::test]
async fn zones_of_exchange_and_unknown_zones_are_accepted() {
    let app = App::with(&["--site-timezone=Asia/Tokyo"]).await;
    let custom = "BEGIN:VTIMEZONE\nTZID:tzone://Microsoft/Custom\nBEGIN:STANDARD\n\
        DTSTART:16010101T000000\nTZOFFSETFROM:+0300\nTZOFFSETTO:+0300\nEND:STANDARD\nEND:VTIMEZONE";
    let names = [
        ("tzone://Microsoft/Utc", "10"),
        ("tzone://Microsoft/Custom", "07"),
        ("(UTC+01:00) Amsterdam\\, Berlin\\, Bern\\, Rome\\, Stockholm\\, Vienna", "08"),
        ("\"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna\"", "08"),
        ("W. Europe Standard Time", "08"),
        ("Atlantis", "01"),
    ];
    let entries: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(n, (zone, _))| {
            format!("UID:{n}\nDTSTART;TZID={zone}:20270401T100000\nDURATION:PT1H\nSUMMARY:{n}")
        })
        .collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let message = "the time zone Atlantis is unknown; Asia/Tokyo was used instead".to_owned();
    let line = 5 + 7 + 5 * 6;
    assert_eq!(warnings(&app, calendar(custom, &entries)).await, [(line, message)]);
    for (number, (zone, hour)) in names.iter().enumerate() {
        let list = app.get(&format!("/events?search={number}&start_date=2027-04-01")).await.json;
        let start = list["events"][0]["utc_start_date"].as_str().unwrap_or_default();
        assert_eq!(start, format!("2027-04-01 {hour}:00:00"), "{zone}");
    }
}

#[actix_web::test]
async fn end_before_the_start_is_accepted_with_a_warning() {
    let app = App::new().await;
    let exchanged = "it ends before it starts; its start and end were exchanged";
    let message = "it ends before it starts; its end was set to its start";
    let period = "an RDATE period ends before it starts; its end was set to its start";
    // A property is reported by the line on which it ends.
    for (number, (lines, expected)) in [
        ("DTSTART:20270401T100000Z\nDTEND:20270401T090000Z", exchanged),
        ("DTSTART;VALUE=DATE:20270401\nDTEND;VALUE=DATE:20270331", message),
        ("DTSTART:20270401T100000Z\nDURATION:-PT1H", message),
        ("DTSTART:20270401T100000Z\nRDATE;VALUE=PERIOD:20270401T100000Z/20270401T080000Z", period),
    ]
    .into_iter()
    .enumerate()
    {
        let file = calendar("", &[&format!("UID:{number}\nSUMMARY:{number}\n{lines}")]);
        assert_eq!(warnings(&app, file.clone()).await, [(7, expected.to_owned())], "{lines}");
        assert_eq!(counts(&app, file).await, [0, 0, 1, 0, 0], "{lines}");
    }
    let mut texts = texts(&app).await;
    texts.sort_unstable();
    assert_eq!(texts, ["01 00 01 23 1", "01 09 01 10 0", "01 10 01 10 2", "01 10 01 10 3"]);
}

#[actix_web::test]
async fn own_feed_changes_nothing_under_another_address() {
    let app = App::new().await;
    app.event(json!({"title": "Show", "venue": {"venue": "Hall"}})).await;
    let feed = app.get("/ical").await.expect(200).text;
    let host = app.server.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let moved = feed.replace(&host, "calendar.example");
    assert_ne!(moved, feed);
    assert_eq!(counts(&app, &moved).await, [0, 0, 1, 0, 0]);
    assert_eq!(app.rows("event_changes"), 1);
    // Another calendar creates these events.
    let other = App::new().await;
    assert_eq!(counts(&other, &moved).await, [1, 0, 0, 0, 0]);
}

#[actix_web::test]
async fn event_of_another_calendar_with_the_number_of_an_own_one_is_created() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Show"})).await;
    let feed = app.get("/ical").await.expect(200).text;
    let created = feed.lines().find(|line| line.starts_with("CREATED:")).unwrap().to_owned();
    // The file also contains a second calendar.
    let club = format!("UID:{id}@club.example\nDTSTART:20270401T100000Z\nSUMMARY:Club\n{created}");
    let file = format!("{feed}{}", calendar("", &[&club]));
    assert_eq!(counts(&app, &file).await, [1, 0, 1, 0, 0]);
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 0, 0]);
    // A copy of this calendar later used the same id for another event.
    let host = app.server.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let copy = feed
        .replace(&host, "copy.example")
        .replace(&created, "CREATED:20270311T070000Z")
        .replace("SUMMARY:Show", "SUMMARY:Other");
    assert_eq!(counts(&app, &copy).await, [1, 0, 0, 0, 0]);
    assert_eq!(app.get(&format!("/events/{id}")).await.expect(200).json["title"], "Show");
}

#[actix_web::test]
async fn later_file_without_a_number_is_not_older() {
    let app = App::new().await;
    let entry = |title: &str, more: &str| {
        let entry = format!("UID:a\nDTSTART:20270401T100000Z\nSUMMARY:{title}\n{more}");
        calendar("", &[&entry])
    };
    let numbered = entry("Old", "SEQUENCE:2\nDTSTAMP:20270301T100000Z");
    assert_eq!(counts(&app, &numbered).await, [1, 0, 0, 0, 0]);
    let later = entry("New", "DTSTAMP:20270302T100000Z");
    assert_eq!(counts(&app, &later).await, [0, 1, 0, 0, 0]);
    assert_eq!(counts(&app, &numbered).await, [0, 0, 0, 1, 0]);
    // The sequence number from the first file is still known.
    let earlier = entry("Older", "SEQUENCE:1");
    assert_eq!(counts(&app, earlier).await, [0, 0, 0, 1, 0]);
    let cancelled = entry("New", "STATUS:CANCELLED\nDTSTAMP:20270303T100000Z");
    assert_eq!(counts(&app, cancelled).await, [0, 1, 0, 0, 0]);
}

#[actix_web::test]
async fn rules_that_programs_write_differently_are_accepted() {
    let app = App::new().await;
    let day = |uid: &str, more: &str| {
        format!("UID:{uid}\nSUMMARY:{uid}\nDTSTART:20270401T100000Z\nDURATION:PT1H\n{more}")
    };
    let expected = |uid: &str, days: &[&str]| {
        days.iter().map(|day| format!("{day} {uid}")).collect::<Vec<String>>()
    };
    for (uid, more, days) in [
        ("empty", "RRULE:", &["01 10 01 11"][..]),
        ("escaped", "RRULE:FREQ=DAILY\\;COUNT=2", &["01 10 01 11", "02 10 02 11"]),
        (
            "hours",
            "RRULE:FREQ=DAILY;BYHOUR=10,12;COUNT=3",
            &["01 10 01 11", "01 12 01 13", "02 10 02 11"],
        ),
        ("hourly", "RRULE:FREQ=HOURLY;INTERVAL=3;COUNT=2", &["01 10 01 11", "01 13 01 14"]),
        ("week", "RRULE:FREQ=YEARLY;BYWEEKNO=13;COUNT=1", &["01 10 01 11"]),
        ("days", "RDATE;VALUE=DATE:20270403", &["01 10 01 11", "03 10 03 11"]),
    ] {
        assert_eq!(warnings(&app, calendar("", &[&day(uid, more)])).await, []);
        let list = texts(&app).await;
        let shown: Vec<String> = list.into_iter().filter(|text| text.ends_with(uid)).collect();
        assert_eq!(shown, expected(uid, days), "{more}");
    }
    // An excluded time without a zone is in the zone of the series.
    let app = App::new().await;
    let series = "UID:s\nSUMMARY:s\nDTSTART;TZID=Asia/Tokyo:20270401T100000\nDURATION:PT1H\n\
        RRULE:FREQ=DAILY;COUNT=2\nEXDATE:20270402T100000";
    counts(&app, calendar("", &[series])).await;
    assert_eq!(texts(&app).await, ["01 10 01 11 s"]);
    // A file may consist of a bare event.
    let bare = format!("BEGIN:VEVENT\n{}\nEND:VEVENT\n", day("bare", "CLASS:PUBLIC"));
    assert_eq!(counts(&app, bare).await, [1, 0, 0, 0, 0]);
}

#[actix_web::test]
async fn events_that_share_a_uid_are_all_imported() {
    let app = App::new().await;
    let entry =
        |day: u8| format!("UID:same\nSUMMARY:x\nDTSTART:202704{day:02}T100000Z\nDURATION:PT1H");
    let file = calendar("", &[&entry(1), &entry(2), &entry(3), &entry(2)]);
    assert_eq!(counts(&app, &file).await, [3, 0, 0, 1, 0]);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 1, 0]);
    assert_eq!(texts(&app).await, ["01 10 01 11 x", "02 10 02 11 x", "03 10 03 11 x"]);
}

#[actix_web::test]
async fn events_that_share_a_uid_are_found_again_in_any_order() {
    let app = App::new().await;
    let [one, two] = [(1, "One"), (2, "Two")].map(|(day, title)| {
        format!("UID:same\nSUMMARY:{title}\nDTSTART:202704{day:02}T100000Z\nDURATION:PT1H")
    });
    assert_eq!(counts(&app, calendar("", &[&one, &two])).await, [2, 0, 0, 0, 0]);
    assert_eq!(counts(&app, calendar("", &[&two])).await, [0, 0, 1, 0, 0]);
    assert_eq!(counts(&app, calendar("", &[&two, &one])).await, [0, 0, 2, 0, 0]);
    assert_eq!(texts(&app).await, ["01 10 01 11 One", "02 10 02 11 Two"]);
    let off = format!("{two}\nSTATUS:CANCELLED");
    assert_eq!(counts(&app, calendar("", &[&off, &one])).await, [0, 1, 1, 0, 0]);
    assert_eq!(texts(&app).await, ["01 10 01 11 One", "02 10 02 11 Two (off)"]);
}

#[actix_web::test]
async fn override_of_all_later_occurrences_moves_or_cancels_them() {
    let series = "UID:s\nDTSTART;TZID=Europe/Vienna:20270401T100000\nDURATION:PT1H\n\
        RRULE:FREQ=DAILY;COUNT=4\nSUMMARY:Daily";
    let later = "UID:s\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Vienna:20270402T100000\n\
        DTSTART;TZID=Europe/Vienna:20270402T150000\nDURATION:PT2H\nSUMMARY:Later";
    let single = "UID:s\nRECURRENCE-ID;TZID=Europe/Vienna:20270403T100000\n\
        DTSTART;TZID=Europe/Vienna:20270403T200000\nDURATION:PT1H\nSUMMARY:Single";
    let app = App::new().await;
    let file = calendar("", &[later, series, single]);
    assert_eq!(counts(&app, &file).await, [4, 0, 0, 0, 0]);
    let shown =
        ["01 10 01 11 Daily", "02 15 02 17 Later", "03 20 03 21 Single", "04 15 04 17 Later"];
    assert_eq!(texts(&app).await, shown);
    assert_eq!(counts(&app, &file).await, [0, 0, 4, 0, 0]);
    let off = later.replace("SUMMARY:Later", "STATUS:CANCELLED");
    counts(&app, calendar("", &[series, &off])).await;
    let cancelled = [
        "01 10 01 11 Daily",
        "02 15 02 17 Later (off)",
        "03 20 03 21 Single (off)",
        "04 15 04 17 Later (off)",
    ];
    assert_eq!(texts(&app).await, cancelled);
    assert_eq!(counts(&app, calendar("", &[series, &off])).await, [0, 0, 4, 0, 0]);
    assert_eq!(counts(&app, &file).await, [0, 3, 1, 0, 0]);
    assert_eq!(texts(&app).await, shown);
    // Without its series it changes one occurrence.
    let alone = later.replace("T150000", "T170000");
    let report = post(&app, "editor", calendar("", &[&alone])).await.expect(200).json;
    assert_eq!((&report["updated"], &report["failed"]), (&json!(1), &json!(0)));
    assert_eq!(
        report["warnings"][0]["message"],
        "RANGE=THISANDFUTURE was applied to this occurrence only"
    );
    assert_eq!(texts(&app).await[1..], ["02 17 02 19 Later", shown[2], shown[3]]);
}

#[actix_web::test]
async fn surplus_overrides_of_all_later_occurrences_change_one() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART:20270401T100000Z\nRRULE:FREQ=HOURLY;COUNT=110\nSUMMARY:Hourly";
    let range = |number: usize| {
        let (day, hour) = (1 + (number + 10) / 24, (number + 10) % 24);
        let at = format!("202704{day:02}T{hour:02}0000Z");
        format!("UID:s\nRECURRENCE-ID;RANGE=THISANDFUTURE:{at}\nDTSTART:{at}\nSUMMARY:{number}")
    };
    let ranges: Vec<String> = (1..=101).map(range).collect();
    let entries: Vec<&str> =
        std::iter::once(series).chain(ranges.iter().map(String::as_str)).collect();
    assert_eq!(counts(&app, calendar("", &entries)).await, [110, 0, 0, 0, 0]);
    for (title, number) in [("100", 9), ("101", 1)] {
        let path = format!("/events?search={title}&start_date=2027-04-01&per_page=50");
        assert_eq!(app.get(&path).await.ids().len(), number, "{title}");
    }
    // Of two revisions, the later one is applied.
    let app = App::new().await;
    let [new, old] = [2, 1].map(|number| {
        range(1).replace("SUMMARY:1", &format!("SUMMARY:Revision {number}\nSEQUENCE:{number}"))
    });
    for file in [calendar("", &[series, &new, &old]), calendar("", &[series, &old, &new])] {
        assert_eq!(counts(&app, file).await[3..], [1, 0]);
        assert_eq!(texts(&app).await[1], "01 11 01 11 Revision 2");
    }
}

#[actix_web::test]
async fn every_ignored_part_of_a_file_is_named_with_its_line() {
    let app = App::new().await;
    let categories: Vec<String> = (0..51).map(|number| format!("c{number}")).collect();
    let entry = format!(
        "UID:a\nDTSTART:20270401T100000Z\nDTEND:20270401T110000Z\nDURATION:PT2H\nSUMMARY:A\nSUMMARY:B\n\
         GEO:here\nURL:tel:1\nORGANIZER:\nORGANIZER:urn:x\nCATEGORIES:{}\nATTACH:cid:1\n\
         LOCATION:{}\nSTATUS:TENTATIVE\nATTENDEE:mailto:a@example.org\nATTENDEE:mailto:b@example.org\n\
         RRULE:FREQ=DAILY\nRDATE:20500101T100000Z\nBEGIN:VALARM\nTRIGGER:-PT1H\nEND:VALARM",
        categories.join(","),
        "x".repeat(1001),
    );
    let file = calendar("VERSION:2.0\nBEGIN:VTODO\nEND:VTODO", &[&entry]);
    let warnings = warnings(&app, file).await;
    let expected: Vec<(u64, &str)> = vec![
        (20, "ATTENDEE is ignored, here and 1 other times"),
        (24, "VALARM is ignored"),
        (3, "VTODO is ignored"),
        (23, "1 RDATE dates are more than 24 months ahead; they were not imported"),
        (
            22,
            "the series has more than 500 occurrences; the first and those nearest to today were imported",
        ),
        (15, "ORGANIZER is repeated; only its first value is used"),
        (11, "SUMMARY is repeated; only its first value is used"),
        (9, "DURATION is ignored, because there is a DTEND"),
        (18, "LOCATION has more than 1000 characters and was shortened"),
        (12, "GEO is not a latitude and a longitude; it was ignored"),
        (13, "URL is not a web address; it was ignored"),
        (19, "STATUS TENTATIVE is ignored"),
        (16, "only 50 of 51 categories were imported"),
        (17, "ATTACH is not the URL of an image; it was ignored"),
    ];
    let warnings: Vec<(u64, &str)> = warnings.iter().map(|(line, text)| (*line, &**text)).collect();
    assert_eq!(warnings, expected);
}

#[actix_web::test]
async fn rest_of_a_series_that_a_later_revision_ended_is_skipped() {
    let series = "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nSUMMARY:Daily\nSEQUENCE:2\n\
        RRULE:FREQ=DAILY;UNTIL=20270402T100000Z";
    let rest = "UID:s\nRECURRENCE-ID:20270403T100000Z\nDTSTART:20270403T100000Z\nDURATION:PT1H\n\
        SUMMARY:Rest\nSEQUENCE:1\nRRULE:FREQ=DAILY";
    let daily = ["01 10 01 11 Daily", "02 10 02 11 Daily"];
    for entries in [[series, rest], [rest, series]] {
        let app = App::new().await;
        let file = calendar("", &entries);
        assert_eq!(counts(&app, &file).await, [2, 0, 0, 1, 0]);
        assert_eq!(texts(&app).await, daily);
        assert_eq!(counts(&app, &file).await, [0, 0, 2, 1, 0]);
    }
    for (old, new) in [
        // The same or a later revision, without a rule of its own, within the series.
        ("SEQUENCE:1", "SEQUENCE:2"),
        ("SEQUENCE:1", "SEQUENCE:3"),
        ("\nRRULE:FREQ=DAILY", ""),
        ("RECURRENCE-ID:20270403T", "RECURRENCE-ID:20270402T"),
    ] {
        let app = App::new().await;
        let file = calendar("", &[series, &rest.replace(old, new)]);
        assert_eq!(counts(&app, &file).await[3..], [0, 0], "{new}");
        let texts = texts(&app).await;
        assert_eq!(texts.last().map(String::as_str), Some("03 10 03 11 Rest"), "{new}");
    }
}

#[actix_web::test]
async fn end_of_a_series_without_zone_is_in_the_zone_of_its_start() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART;TZID=America/New_York:20270401T190000\nDURATION:PT1H\n\
        SUMMARY:Daily\nSEQUENCE:2\nRRULE:FREQ=DAILY;UNTIL=20270402T190000";
    let last = "UID:s\nRECURRENCE-ID;TZID=America/New_York:20270402T190000\n\
        DTSTART;TZID=America/New_York:20270402T200000\nDURATION:PT1H\nSUMMARY:Late\nSEQUENCE:1\n\
        RRULE:FREQ=DAILY;UNTIL=20270402T190000";
    counts(&app, calendar("", &[series, last])).await;
    assert_eq!(texts(&app).await, ["01 19 01 20 Daily", "02 20 02 21 Late"]);
}

#[actix_web::test]
async fn excluded_dates_are_compared_although_the_file_has_many_series_with_ends() {
    let app = App::new().await;
    let more = "a".repeat(200 << 10);
    let ended = |number: u8| {
        format!(
            "UID:e{number}\nDTSTART:20270501T100000Z\nSEQUENCE:1\nSUMMARY:Other\n\
             RRULE:FREQ=DAILY;UNTIL=20270501T100000Z;X-A={more}"
        )
    };
    let series = "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\n\
        SUMMARY:Daily\nSEQUENCE:2\nEXDATE:20270402T100000Z";
    let moved = "UID:s\nRECURRENCE-ID:20270402T100000Z\nDTSTART:20270402T120000Z\nSUMMARY:Moved\n\
        SEQUENCE:1";
    let mut entries: Vec<String> = (0..6).map(ended).collect();
    entries.extend([series, moved].map(str::to_owned));
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    counts(&app, calendar("", &entries)).await;
    assert!(texts(&app).await.iter().all(|text| !text.contains("Moved")));
}
