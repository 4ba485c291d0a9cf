//! Limits on iCalendar files that would take much time or memory.

use calendar::extend_series;
use serde_json::json;
use testkit::Program;

use crate::app::App;
use crate::imports::{counts, event, post};

/// Maximum memory of an import in MiB.
const MOST_MIB: u64 = 160;

#[actix_web::test]
async fn daily_series_from_long_ago_is_expanded() {
    let app = App::new().await;
    let daily = |rule: &str| {
        event(&format!("UID:old\r\nDTSTART:00010101T100000Z\r\nSUMMARY:Old\r\nRRULE:{rule}"))
    };
    assert_eq!(counts(&app, daily("FREQ=DAILY")).await, [500, 0, 0, 0, 0]);
    assert_eq!(counts(&app, daily("FREQ=DAILY;INTERVAL=1")).await, [0, 0, 500, 0, 0]);
    for (day, expected) in [("0001-01-01", 1), ("0001-01-02", 0), ("2027-03-11", 1)] {
        let path = format!("/events?search=Old&start_date={day}&end_date={day}");
        assert_eq!(app.get(&path).await.ids().len(), expected, "{day}");
    }
}

#[actix_web::test]
async fn hostile_files_are_rejected_or_limited() {
    let app = App::new().await;
    // A folded line of a million bytes, deep nesting, an unclosed component, a zone with many
    // changes.
    let folded =
        event(&format!("UID:a\r\nDTSTART:20270401T100000Z\r\nX:{}", "\r\n x".repeat(1_000_000)));
    assert_eq!(counts(&app, &folded).await, [1, 0, 0, 0, 0]);
    let nested =
        event(&format!("UID:b\r\n{}DTSTART:20270401T100000Z", "BEGIN:X\r\n".repeat(300_000)));
    assert_eq!(counts(&app, &nested).await[4], 1);
    let endless = event(&format!("UID:c\r\n{}", "X:y\r\n".repeat(900_000)));
    assert_eq!(counts(&app, &endless).await, [0, 0, 0, 0, 1]);
    let rule = "BEGIN:STANDARD\nDTSTART:00010101T000000\nRRULE:FREQ=DAILY\nTZOFFSETTO:+0100\nEND:STANDARD\n";
    let zone = format!("BEGIN:VTIMEZONE\nTZID:odd\n{}END:VTIMEZONE\n", rule.repeat(10_000));
    let odd = event("UID:d\nDTSTART;TZID=odd:20270401T100000")
        .replace("BEGIN:VEVENT", &format!("{zone}BEGIN:VEVENT"));
    assert_eq!(counts(&app, &odd).await, [1, 0, 0, 0, 0]);
}

#[actix_web::test]
async fn zone_with_many_heavy_rules_costs_a_series_little() {
    let app = App::new().await;
    let times: Vec<String> = (0..60).map(|minute| minute.to_string()).collect();
    // Expanding this series would examine millions of clock changes for each occurrence.
    let rule = format!(
        "BEGIN:STANDARD\nDTSTART:20000101T000000\n\
         RRULE:FREQ=YEARLY;BYMONTH=1,12;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,6,12,18;BYMINUTE={}\n\
         TZOFFSETTO:+0100\nEND:STANDARD\n",
        times.join(",")
    );
    let zone = format!("BEGIN:VTIMEZONE\nTZID:odd\n{}END:VTIMEZONE\n", rule.repeat(100));
    let series = "RRULE:FREQ=DAILY\nRRULE:FREQ=DAILY;INTERVAL=2\nRRULE:FREQ=DAILY;INTERVAL=3";
    let entry = event(&format!("UID:e\nDTSTART;TZID=odd:20000101T100000\n{series}"));
    let file = entry.replace("BEGIN:VEVENT", &format!("{zone}BEGIN:VEVENT"));
    assert_eq!(counts(&app, &file).await, [500, 0, 0, 0, 0]);
}

#[actix_web::test]
async fn number_of_rules_of_an_event_is_limited() {
    let app = App::new().await;
    let rules = |number: usize| {
        let rules = "\r\nRRULE:FREQ=DAILY;COUNT=2".repeat(number);
        event(&format!("UID:r\r\nDTSTART:20270401T100000Z{rules}"))
    };
    assert_eq!(counts(&app, rules(20)).await, [2, 0, 0, 0, 0]);
    // The occurrences that are not known stay.
    assert_eq!(counts(&app, rules(21)).await, [0, 0, 1, 0, 0]);
    assert_eq!(app.get("/events?start_date=2027-04-01").await.ids().len(), 2);
    assert_eq!(counts(&app, rules(20)).await, [0, 0, 2, 0, 0]);
}

#[actix_web::test]
async fn an_event_that_misses_a_long_line_stays_unchanged() {
    let app = App::new().await;
    let dated = |dates: &str| event(&format!("UID:d\r\nDTSTART:20270401T100000Z\r\nRDATE:{dates}"));
    assert_eq!(counts(&app, dated("20270402T100000Z,20270403T100000Z")).await, [3, 0, 0, 0, 0]);
    let long = "20270402T100000Z,".repeat(20_000);
    assert_eq!(counts(&app, dated(&long)).await, [0, 0, 0, 0, 1]);
    assert_eq!(app.get("/events?start_date=2027-04-01").await.ids().len(), 3);
}

#[actix_web::test]
async fn large_attachments_and_alarms_are_left_out() {
    let app = App::new().await;
    let text = "\r\n QUJD".repeat(300_000);
    let twice = format!("ATTACH;ENCODING=BASE64;VALUE=BINARY:{text}\r\n").repeat(2);
    for lines in [
        format!("{twice}UID:a"),
        format!("UID:b\r\nBEGIN:VALARM\r\nACTION:AUDIO\r\n{twice}END:VALARM"),
    ] {
        let file = event(&format!("{lines}\r\nDTSTART:20270401T100000Z\r\nSUMMARY:A"));
        assert_eq!(counts(&app, &file).await, [1, 0, 0, 0, 0]);
    }
    // An event that is too large without them is reported with its UID.
    let file = event(&format!("DTSTART:20270401T100000Z\r\nDESCRIPTION:{text}{text}\r\nUID:c"));
    let report = post(&app, "editor", file).await.expect(200).json;
    assert_eq!((&report["failed"], &report["errors"][0]["uid"]), (&json!(1), &json!("c")));
}

#[actix_web::test]
async fn faulty_entries_count_towards_the_limit_of_a_request() {
    let app = App::new().await;
    let faulty = "BEGIN:VEVENT\r\nUID:a\r\nEND:VEVENT\r\n".repeat(20_100);
    let file = format!("BEGIN:VCALENDAR\r\n{faulty}END:VCALENDAR\r\n");
    // The first entry over the limit is reported together with all that follow.
    assert_eq!(counts(&app, file).await, [0, 0, 0, 0, 20_001]);
}

#[actix_web::test]
async fn expanding_long_rules_does_not_block_other_writers() {
    let app = App::new().await;
    let entry = |number: usize| {
        format!(
            "BEGIN:VEVENT\r\nUID:slow{number}\r\nDTSTART:15000101T100000Z\r\n\
             RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO\r\nEND:VEVENT\r\n"
        )
    };
    let entries: String = (0..10).map(entry).collect();
    let file = format!("BEGIN:VCALENDAR\r\n{entries}END:VCALENDAR\r\n");
    let importing = post(&app, "editor", file);
    let over = std::cell::Cell::new(false);
    let writing = async {
        let mut written = Vec::new();
        let body = json!({"title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
        while !over.get() {
            let answer = app.post("/events", &body).await;
            written.extend(answer.json["id"].as_i64());
        }
        written
    };
    let (done, written) = futures_util::join!(
        async {
            let done = importing.await;
            over.set(true);
            done
        },
        writing
    );
    // Ten files of 21 events each: the start, and 20 in five centuries.
    assert_eq!(done.expect(200).json["created"], 10 * 21);
    let imported =
        app.get("/events?start_date=1500-01-01&end_date=1500-01-01&per_page=50").await.ids();
    let (first, last) = (imported.iter().min().unwrap(), imported.iter().max().unwrap());
    let between = written.iter().filter(|id| (first..last).contains(id)).count();
    assert!(between > 0, "{written:?} outside of {first} to {last}");
}

/// Folds a line that is longer than a line of a file may be.
fn folded(line: &str) -> String {
    let lines: Vec<&str> =
        line.as_bytes().chunks(60_000).map(|bytes| std::str::from_utf8(bytes).unwrap()).collect();
    lines.join("\r\n ")
}

#[test]
fn long_uid_is_not_copied_for_each_excluded_date() {
    let days = (1000..1300).flat_map(|year| {
        (1..=12)
            .flat_map(move |month| (1..=28).map(move |day| format!("{year:04}{month:02}{day:02}")))
    });
    let days: Vec<String> = days.collect();
    // The longest UID that is accepted, and one that is refused.
    for (uid, dates) in [("🎵".repeat(500), days.len()), ("u".repeat(100_000), 10_000)] {
        let folded_uid =
            if uid.is_ascii() { folded(&format!("UID:{uid}")) } else { format!("UID:{uid}") };
        let excluded = folded(&format!("EXDATE;VALUE=DATE:{}", days[..dates].join(",")));
        let series = format!(
            "{folded_uid}\r\nDTSTART:20270401T100000Z\r\nRRULE:FREQ=DAILY;COUNT=2\r\nSEQUENCE:2\r\n{excluded}"
        );
        let moved = format!(
            "{folded_uid}\r\nDTSTART:20270402T120000Z\r\nRECURRENCE-ID:20270402T100000Z\r\nSEQUENCE:1"
        );
        let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
        let file = program.folder().join("long.ics");
        let entries = event(&format!("{series}\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\n{moved}"));
        std::fs::write(&file, entries).unwrap();
        let ran = program.run(&["import", file.to_str().unwrap()]);
        assert!(
            ran.peak_mib > 0 && ran.peak_mib < MOST_MIB,
            "{} MiB: {}",
            ran.peak_mib,
            ran.errors
        );
    }
}

#[actix_web::test]
async fn series_cut_off_by_the_request_limit_gets_its_other_dates_later() {
    let app = App::new().await;
    let faulty = "BEGIN:VEVENT\r\nUID:a\r\nEND:VEVENT\r\n".repeat(19_998);
    let series = "BEGIN:VEVENT\r\nUID:s\r\nDTSTART:20270401T100000Z\r\n\
        RRULE:FREQ=DAILY;COUNT=5\r\nEND:VEVENT\r\n";
    let file = format!("BEGIN:VCALENDAR\r\n{faulty}{series}END:VCALENDAR\r\n");
    assert_eq!(counts(&app, file).await, [2, 0, 0, 0, 19_999]);
    // At this time, the import could still be running.
    extend_series(&app.state).await;
    assert_eq!(app.rows("events"), 2);
    app.clock.advance(2 * 3600);
    extend_series(&app.state).await;
    assert_eq!(app.get("/events?start_date=2027-04-01").await.ids().len(), 5);
}
