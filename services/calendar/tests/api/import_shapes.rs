//! Files in the shapes that other programs write, each with its expected occurrences.

use serde_json::{Value, json};

use crate::app::App;
use crate::import_standards::{calendar, texts};
use crate::imports::counts;

/// Builds an event at 10:00 on 1 April 2027, a Thursday, with additional lines.
fn entry(more: &str) -> String {
    format!("UID:a\nDTSTART:20270401T100000Z\nDTEND:20270401T110000Z\nSUMMARY:A\n{more}")
}

/// Builds an event with the same start, in the zone of Vienna.
fn vienna(more: &str) -> String {
    let zone = "TZID=Europe/Vienna:20270401T";
    format!("UID:a\nDTSTART;{zone}100000\nDTEND;{zone}110000\nSUMMARY:A\n{more}")
}

#[actix_web::test]
async fn every_shape_has_its_occurrences_and_a_second_import_changes_nothing() {
    let days = |days: &[u8]| -> Vec<String> {
        days.iter().map(|day| format!("{day:02} 10 {day:02} 11 A")).collect()
    };
    let times =
        |times: &[&str]| -> Vec<String> { times.iter().map(|time| format!("{time} A")).collect() };
    let moved =
        "UID:a\nRECURRENCE-ID:20270402T100000Z\nDTSTART:20270402T150000Z\nDURATION:PT1H\nSUMMARY:A";
    let cases: Vec<(&str, Vec<String>, Vec<String>)> = vec![
        ("no UID", vec![entry("").replace("UID:a\n", "")], days(&[1])),
        ("empty rule", vec![entry("RRULE:")], days(&[1])),
        ("escaped semicolon", vec![entry("RRULE:FREQ=DAILY\\;COUNT=2")], days(&[1, 2])),
        (
            "two rules",
            vec![entry("RRULE:FREQ=DAILY;COUNT=2\nRRULE:FREQ=WEEKLY;COUNT=2")],
            days(&[1, 2, 8]),
        ),
        (
            "period",
            vec![entry("RDATE;VALUE=PERIOD:20270403T100000Z/PT2H")],
            times(&["01 10 01 11", "03 10 03 12"]),
        ),
        (
            "period with end",
            vec![entry("RDATE;VALUE=PERIOD:20270403T100000Z/20270403T130000Z")],
            times(&["01 10 01 11", "03 10 03 13"]),
        ),
        (
            "lists",
            vec![entry(
                "RDATE:20270402T100000Z,20270403T100000Z\nEXDATE:20270402T100000Z,20270405T100000Z",
            )],
            days(&[1, 3]),
        ),
        ("day for a timed event", vec![entry("RDATE;VALUE=DATE:20270403")], days(&[1, 3])),
        (
            "excluded day of a timed event",
            vec![entry("RRULE:FREQ=DAILY;COUNT=3\nEXDATE;VALUE=DATE:20270402")],
            days(&[1, 3]),
        ),
        (
            "excluded without zone",
            vec![vienna("RRULE:FREQ=DAILY;COUNT=3\nEXDATE:20270402T100000")],
            days(&[1, 3]),
        ),
        (
            "excluded in UTC",
            vec![vienna("RRULE:FREQ=DAILY;COUNT=3\nEXDATE:20270402T080000Z")],
            days(&[1, 3]),
        ),
        (
            "moved without the zone of its start",
            vec![
                vienna("RRULE:FREQ=DAILY;COUNT=2"),
                vienna("RECURRENCE-ID:20270402T100000").replace("20270401T1", "20270403T1"),
            ],
            days(&[1, 3]),
        ),
        (
            "moved and excluded",
            vec![entry("RRULE:FREQ=DAILY;COUNT=3\nEXDATE:20270402T100000Z"), moved.to_owned()],
            times(&["01 10 01 11", "02 15 02 16", "03 10 03 11"]),
        ),
        ("until in UTC", vec![vienna("RRULE:FREQ=DAILY;UNTIL=20270402T080000Z")], days(&[1, 2])),
        (
            "until a second earlier",
            vec![vienna("RRULE:FREQ=DAILY;UNTIL=20270402T075959Z")],
            days(&[1]),
        ),
        ("until a day", vec![vienna("RRULE:FREQ=DAILY;UNTIL=20270402")], days(&[1, 2])),
        (
            "end before start",
            vec![entry("").replace("DTEND:20270401T11", "DTEND:20270401T09")],
            times(&["01 09 01 10"]),
        ),
        (
            "end without the zone of its start",
            vec![
                entry("")
                    .replace("DTSTART:", "DTSTART;TZID=Europe/Vienna:")
                    .replace("0000Z", "0000"),
            ],
            days(&[1]),
        ),
        (
            "day as start of an end at a time",
            vec!["UID:a\nDTSTART;VALUE=DATE:20270401\nDTEND:20270401T180000\nSUMMARY:A".to_owned()],
            times(&["01 00 01 18"]),
        ),
        (
            "start that its rule does not match",
            vec![entry("RRULE:FREQ=WEEKLY;BYDAY=FR;COUNT=3")],
            days(&[1, 2, 9]),
        ),
        (
            "times declared as days",
            vec![
                entry("")
                    .replace("DTSTART:", "DTSTART;VALUE=DATE:")
                    .replace("DTEND:", "DTEND;VALUE=DATE:"),
            ],
            days(&[1]),
        ),
        (
            "several rules, one of which the start does not match",
            vec![entry("RRULE:FREQ=DAILY;COUNT=2\nRRULE:FREQ=WEEKLY;BYDAY=SA;COUNT=2")],
            days(&[1, 2, 3, 10]),
        ),
        (
            "midnight declared as a day, with an end at a time",
            vec![
                "UID:a\nDTSTART;VALUE=DATE:20270401T000000\nDTEND;VALUE=DATE:20270401T010000\n\
                 SUMMARY:A"
                    .to_owned(),
            ],
            times(&["01 00 01 01"]),
        ),
        (
            "midnight written as a day, with an end at a time",
            vec![
                "UID:a\nDTSTART;VALUE=DATE-TIME:20270401\nDTEND:20270401T130000\nSUMMARY:A"
                    .to_owned(),
            ],
            times(&["01 00 01 13"]),
        ),
        (
            "display name with a spelt-out ampersand",
            vec![
                vienna("").replace("Europe/Vienna", "\"(UTC-05:00) Eastern Time (US and Canada)\""),
            ],
            days(&[1]),
        ),
        ("unknown zone", vec![vienna("").replace("Europe/Vienna", "Atlantis")], days(&[1])),
        ("same UID", vec![entry(""), entry("").replace("20270401", "20270405")], days(&[1, 5])),
        (
            "week number",
            vec![entry("RRULE:FREQ=YEARLY;BYWEEKNO=13,14;BYDAY=TH;COUNT=2")],
            days(&[1, 8]),
        ),
        (
            "day of the year",
            vec![entry("RRULE:FREQ=YEARLY;BYYEARDAY=91,93;COUNT=2")],
            days(&[1, 3]),
        ),
        (
            "hours",
            vec![entry("RRULE:FREQ=DAILY;BYHOUR=10,14;COUNT=3")],
            times(&["01 10 01 11", "01 14 01 15", "02 10 02 11"]),
        ),
        (
            "minutes",
            vec![entry("RRULE:FREQ=HOURLY;INTERVAL=3;COUNT=2")],
            times(&["01 10 01 11", "01 13 01 14"]),
        ),
        (
            "all later occurrences",
            vec![
                entry("RRULE:FREQ=DAILY;COUNT=3"),
                moved.replace("-ID:", "-ID;RANGE=THISANDFUTURE:"),
            ],
            times(&["01 10 01 11", "02 15 02 16", "03 15 03 16"]),
        ),
    ];
    for (name, entries, expected) in cases {
        let app = App::new().await;
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let file = calendar("VERSION:2.0", &entries);
        let first = counts(&app, &file).await;
        assert_eq!(texts(&app).await, expected, "{name}");
        assert_eq!((first[3], first[4]), (0, 0), "{name}: {first:?}");
        let again = counts(&app, &file).await;
        assert_eq!((again[0], again[1], again[4]), (0, 0, 0), "{name}: {again:?}");
        assert_eq!(texts(&app).await, expected, "{name}");
    }
    // Events without an enclosing calendar, and obsolete line endings.
    for file in [
        format!("BEGIN:VEVENT\n{}\nEND:VEVENT\n", entry("")),
        calendar("", &[&entry("")]).replace("\r\n", "\r"),
    ] {
        let app = App::new().await;
        counts(&app, &file).await;
        assert_eq!(texts(&app).await, days(&[1]));
    }
}

#[actix_web::test]
async fn producer_of_a_calendar_is_not_that_of_the_next_one() {
    let app = App::new().await;
    let one = |product: &str, title: &str| {
        let entry =
            format!("UID:{title}\nDTSTART:20270401T100000Z\nSUMMARY:{title}\nSTATUS:TENTATIVE");
        calendar(&format!("PRODID:{product}"), &[&entry])
    };
    let file = one("-//Quintet//Calendar//EN", "Alpha") + &one("-//Other//EN", "Bravo");
    assert_eq!(counts(&app, &file).await, [2, 0, 0, 0, 0]);
    // Only this software writes postponed events as tentative.
    for (title, expected) in [("Alpha", json!("postponed")), ("Bravo", Value::Null)] {
        let path = format!("/events?search={title}&start_date=2027-04-01");
        let list = app.get(&path).await.expect(200).json;
        assert_eq!(list["events"][0]["event_status"], expected, "{list}");
    }
}
