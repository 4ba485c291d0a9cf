//! Imports of overrides that are in other files than their series, that lack details, or that apply
//! to all later occurrences.

use serde_json::json;

use crate::app::App;
use crate::filtered_feeds::{entries, value};
use crate::import_standards::{calendar, texts};
use crate::imports::counts;

const PROPERTIES: [&str; 5] = ["DTSTART", "EXDATE", "RECURRENCE-ID", "SUMMARY", "STATUS"];

fn series(stamped: &str) -> String {
    let series = "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
        SUMMARY:Daily";
    calendar("", &[&format!("{series}\n{stamped}")])
}

fn overriding(day: u8, lines: &str) -> String {
    format!("UID:s\nRECURRENCE-ID:202704{day:02}T100000Z\n{lines}")
}

/// Returns the values of some properties of all entries of the feed.
async fn listed(app: &App) -> Vec<String> {
    let feed = app.get("/ical").await.expect(200).text;
    let values_of = |entry: &String| {
        let values =
            PROPERTIES.map(|name| value(entry, name)).into_iter().filter(|one| !one.is_empty());
        values.collect::<Vec<_>>().join(" ")
    };
    entries(&feed).iter().map(values_of).collect()
}

#[actix_web::test]
async fn override_imported_before_its_series_belongs_to_it() {
    let [first, second] =
        [1, 2].map(|day| format!("DTSTAMP:202703{day:02}T100000Z\nSEQUENCE:{day}"));
    for (day, stamped) in [(1, &second), (2, &second), (2, &first)] {
        let off = format!("DTSTART:202704{day:02}T100000Z\nSTATUS:CANCELLED\n{stamped}");
        let moved =
            format!("DTSTART:202704{day:02}T150000Z\nDURATION:PT1H\nSUMMARY:Moved\n{stamped}");
        let detailed = format!("{off}\nDURATION:PT1H\nSUMMARY:Daily");
        for (lines, created, shown, written) in [
            (moved, [2, 0, 0, 1, 0], "15 01 16 Moved", "T150000Z {id} Moved"),
            (detailed, [2, 0, 0, 1, 0], "10 01 11 Daily (off)", "T100000Z {id} Daily CANCELLED"),
            (off, [3, 0, 0, 0, 0], "10 01 11 Daily (off)", "T100000Z {id} Daily CANCELLED"),
        ] {
            let app = App::new().await;
            let alone = calendar("", &[&overriding(day, &lines)]);
            counts(&app, &alone).await;
            assert_eq!(counts(&app, series(&first)).await, created, "{alone}");
            let days = [1, 2, 3].map(|number| match number == day {
                true => format!("{number:02} {}", shown.replace("01", &format!("{day:02}"))),
                false => format!("{number:02} 10 {number:02} 11 Daily"),
            });
            assert_eq!(texts(&app).await, days, "{alone}");
            let id = format!("202704{day:02}T100000Z");
            let single = format!("202704{day:02}{}", written.replace("{id}", &id));
            let all = ["20270401T100000Z Daily".to_owned(), single];
            assert_eq!(listed(&app).await, all, "{alone}");
            // Their addresses have the name of the series.
            let list = app.get("/events?start_date=2027-04-01").await.expect(200).json;
            let list = list["events"].as_array().unwrap().iter();
            let slugs: Vec<&str> = list.map(|one| one["slug"].as_str().unwrap()).collect();
            let expected = [1, 2, 3].map(|number| format!("daily--2027-04-{number:02}"));
            assert_eq!(slugs, expected, "{alone}");
            // Further imports of the same files change nothing.
            app.clock.advance(60);
            let before = app.get("/ical").await.text;
            for file in [&alone, &series(&first), &alone] {
                assert_eq!(counts(&app, file).await[..2], [0, 0], "{alone}");
                assert_eq!(app.get("/ical").await.text, before);
            }
            // A later revision of the series replaces the override.
            let later = "DTSTAMP:20270303T100000Z\nSEQUENCE:3";
            counts(&app, series(later)).await;
            assert_eq!(listed(&app).await, all[..1], "{alone}");
        }
    }
}

#[actix_web::test]
async fn override_that_its_own_file_lacks_later_is_taken_back_unless_a_user_changed_it() {
    let stamped = "DTSTAMP:20270301T100000Z\nSEQUENCE:0";
    let without = series(stamped);
    for (day, is_changed) in [(1, false), (2, false), (1, true), (2, true)] {
        let lines = format!("DTSTART:202704{day:02}T150000Z\nDURATION:PT1H\nSUMMARY:Moved");
        let moved = overriding(day, &format!("{lines}\n{stamped}")).replace('\n', "\r\n");
        let moved = format!("BEGIN:VEVENT\r\n{moved}\r\nEND:VEVENT\r\n");
        let with = without.replace("END:VCALENDAR", &format!("{moved}END:VCALENDAR"));
        let app = App::new().await;
        counts(&app, &without).await;
        for expected in [[0, 1, 2, 0, 0], [0, 0, 3, 0, 0]] {
            assert_eq!(counts(&app, &with).await, expected, "{with}");
        }
        app.clock.advance(60);
        if is_changed {
            let id = app.get("/events?search=moved").await.ids()[0];
            app.patch(&format!("/events/{id}"), &json!({"title": "Mine"})).await.expect(200);
        }
        let after = match is_changed {
            true => [[0, 0, 2, 1, 0], [0, 0, 2, 1, 0]],
            false => [[0, 1, 2, 0, 0], [0, 0, 3, 0, 0]],
        };
        for expected in after {
            assert_eq!(counts(&app, &without).await, expected, "{day} {is_changed}");
        }
        let id = format!("202704{day:02}T100000Z");
        let mut all = vec!["20270401T100000Z Daily".to_owned()];
        if is_changed {
            all.push(format!("202704{day:02}T150000Z {id} Mine"));
        }
        assert_eq!(listed(&app).await, all, "{day} {is_changed}");
        assert_eq!(app.rows("imported_overrides"), i64::from(is_changed), "{day}");
    }
}

#[actix_web::test]
async fn override_of_the_first_occurrence_is_forgotten_with_its_event() {
    let [first, second] = [1, 2].map(|day| format!("DTSTAMP:202703{day:02}T100000Z"));
    let app = App::new().await;
    counts(&app, series(&first)).await;
    let moved = format!("DTSTART:20270401T150000Z\nDURATION:PT1H\nSUMMARY:Moved\n{second}");
    assert_eq!(counts(&app, calendar("", &[&overriding(1, &moved)])).await, [0, 1, 0, 0, 0]);
    let id = app.get("/events?search=moved").await.ids()[0];
    app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    // The date is imported again as part of the series, and not as a cancelled date.
    counts(&app, series(&first)).await;
    assert_eq!(listed(&app).await, ["20270401T100000Z Daily"]);
}

#[actix_web::test]
async fn override_that_names_only_the_day_is_forgotten_with_its_event() {
    let [first, second] = [1, 2].map(|day| format!("DTSTAMP:202703{day:02}T100000Z"));
    let app = App::new().await;
    counts(&app, series(&first)).await;
    let moved = format!(
        "UID:s\nRECURRENCE-ID;VALUE=DATE:20270402\nDTSTART:20270402T150000Z\nDURATION:PT1H\n\
         SUMMARY:Moved\n{second}"
    );
    assert_eq!(counts(&app, calendar("", &[&moved])).await, [0, 1, 0, 0, 0]);
    let id = app.get("/events?search=moved").await.ids()[0];
    app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    counts(&app, series(&first)).await;
    assert_eq!(listed(&app).await, ["20270401T100000Z Daily"]);
}

#[actix_web::test]
async fn cancelled_date_without_an_event_is_forgotten_with_the_last_event() {
    let [first, second] = [1, 2].map(|day| format!("DTSTAMP:202703{day:02}T100000Z"));
    let app = App::new().await;
    assert_eq!(counts(&app, series(&first)).await, [3, 0, 0, 0, 0]);
    let off = overriding(9, &format!("DTSTART:20270409T100000Z\nSTATUS:CANCELLED\n{second}"));
    assert_eq!(counts(&app, calendar("", &[&off])).await, [0, 0, 0, 1, 0]);
    for id in app.get("/events?search=daily").await.ids() {
        app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    }
    assert_eq!(app.rows("events"), 0);
    let longer = series(&first).replace("COUNT=3", "COUNT=10");
    assert_eq!(counts(&app, longer).await, [10, 0, 0, 0, 0]);
    assert_eq!(listed(&app).await, ["20270401T100000Z Daily"]);
}

#[actix_web::test]
async fn date_that_a_file_cancels_without_details_is_not_part_of_the_rule_in_feeds() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
        SUMMARY:Daily";
    let off = overriding(2, "DTSTART:20270402T100000Z\nSTATUS:CANCELLED");
    let file = calendar("", &[series, &off]);
    assert_eq!(counts(&app, &file).await, [2, 0, 0, 1, 0]);
    assert_eq!(listed(&app).await, ["20270401T100000Z 20270402T100000Z Daily"]);
    app.clock.advance(60);
    let before = app.get("/ical").await.text;
    assert_eq!(counts(&app, &file).await, [0, 0, 2, 1, 0]);
    assert_eq!(app.get("/ical").await.text, before);
    // Once the file has the details, the date is shown as cancelled.
    let detailed = format!("{off}\nDURATION:PT1H\nSUMMARY:Daily");
    assert_eq!(counts(&app, calendar("", &[series, &detailed])).await, [1, 0, 2, 0, 0]);
    let single = "20270402T100000Z 20270402T100000Z Daily CANCELLED";
    assert_eq!(listed(&app).await, ["20270401T100000Z Daily", single]);
    // The file no longer cancels the date.
    assert_eq!(counts(&app, calendar("", &[series])).await, [0, 1, 2, 0, 0]);
    assert_eq!(listed(&app).await, ["20270401T100000Z Daily"]);
}

/// A zone that only the file defines, with the clock changes of Vienna.
const CLUB: &str = "BEGIN:VTIMEZONE\nTZID:Club Time\nBEGIN:STANDARD\nDTSTART:19701025T030000\n\
    RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nEND:STANDARD\n\
    BEGIN:DAYLIGHT\nDTSTART:19700329T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\n\
    TZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:DAYLIGHT\nEND:VTIMEZONE";

#[actix_web::test]
async fn override_of_all_later_occurrences_keeps_local_times_across_clock_changes() {
    let autumn = ("20271029T220000", "20271030T220000");
    let spring = ("20270326T220000", "20270327T220000");
    for ((first, from), start, end, expected) in [
        (
            autumn,
            "20271030T230000",
            "DTEND;TZID={zone}:20271031T040000",
            ["10-30 21:00 10-31 03:00", "10-31 22:00 11-01 03:00", "11-01 22:00 11-02 03:00"],
        ),
        (
            autumn,
            "20271030T230000",
            "DURATION:PT5H",
            ["10-30 21:00 10-31 02:00", "10-31 22:00 11-01 03:00", "11-01 22:00 11-02 03:00"],
        ),
        (
            autumn,
            "20271030T230000",
            "DURATION:P1D",
            ["10-30 21:00 10-31 22:00", "10-31 22:00 11-01 22:00", "11-01 22:00 11-02 22:00"],
        ),
        (
            autumn,
            "20271031T050000",
            "DTEND;TZID={zone}:20271031T070000",
            ["10-31 04:00 10-31 06:00", "11-01 04:00 11-01 06:00", "11-02 04:00 11-02 06:00"],
        ),
        (
            spring,
            "20270327T230000",
            "DTEND;TZID={zone}:20270328T040000",
            ["03-27 22:00 03-28 02:00", "03-28 21:00 03-29 02:00", "03-29 21:00 03-30 02:00"],
        ),
        // The clocks skip the start of the first one.
        (
            spring,
            "20270328T023000",
            "DTEND;TZID={zone}:20270328T043000",
            ["03-28 01:30 03-28 02:30", "03-29 00:30 03-29 02:30", "03-30 00:30 03-30 02:30"],
        ),
        // The clocks skip the original start of the second one.
        (
            ("20270326T023000", "20270327T023000"),
            "20270327T100000",
            "DURATION:PT1H",
            ["03-27 09:00 03-27 10:00", "03-28 08:00 03-28 09:00", "03-29 08:00 03-29 09:00"],
        ),
    ] {
        for zone in ["Europe/Vienna", "Club Time"] {
            let series = format!(
                "UID:s\nDTSTART;TZID={zone}:{first}\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4\n\
                 SUMMARY:Night"
            );
            let end = end.replace("{zone}", zone);
            let later = format!(
                "UID:s\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID={zone}:{from}\n\
                 DTSTART;TZID={zone}:{start}\n{end}\nSUMMARY:Later"
            );
            let app = App::new().await;
            let file = calendar(CLUB, &[&series, &later]);
            assert_eq!(counts(&app, &file).await, [4, 0, 0, 0, 0], "{zone} {start} {end}");
            let list = app.get("/events?search=later").await.expect(200).json;
            let times = list["events"].as_array().unwrap().iter().map(|event| {
                let text = |name: &str| event[name].as_str().unwrap()[5..16].to_owned();
                format!("{} {}", text("utc_start_date"), text("utc_end_date"))
            });
            assert_eq!(times.collect::<Vec<_>>(), expected, "{zone} {start} {end}");
            assert_eq!(counts(&app, &file).await, [0, 0, 4, 0, 0], "{zone} {start} {end}");
        }
    }
}

#[actix_web::test]
async fn override_of_all_later_occurrences_can_name_only_the_day() {
    let series = "UID:s\nDTSTART:20270401T230000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
        SUMMARY:Daily";
    let later = "UID:s\nRECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20270402\n\
        DTSTART:20270402T150000Z\nDURATION:PT2H\nSUMMARY:Later";
    let app = App::new().await;
    let file = calendar("", &[series, later]);
    assert_eq!(counts(&app, &file).await, [3, 0, 0, 0, 0]);
    let expected = ["01 23 02 00 Daily", "02 15 02 17 Later", "03 15 03 17 Later"];
    assert_eq!(texts(&app).await, expected);
    assert_eq!(counts(&app, &file).await, [0, 0, 3, 0, 0]);
}

#[actix_web::test]
async fn override_of_a_day_with_another_length_is_in_the_feed() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART;VALUE=DATE:20270401\nRRULE:FREQ=WEEKLY;COUNT=2\nSUMMARY:Fair";
    let longer = "UID:s\nRECURRENCE-ID;VALUE=DATE:20270408\nDTSTART;VALUE=DATE:20270408\n\
        DTEND;VALUE=DATE:20270411\nSUMMARY:Fair";
    assert_eq!(counts(&app, &calendar("", &[series, longer])).await, [2, 0, 0, 0, 0]);
    let feed = app.get("/ical").await.expect(200).text;
    let ends: Vec<String> =
        entries(&feed).iter().map(|entry| value(entry, "DTEND").to_owned()).collect();
    assert_eq!(ends, ["20270402", "20270411"], "{feed}");
    assert_eq!(counts(&app, &feed).await, [0, 0, 2, 0, 0]);
}

#[actix_web::test]
async fn override_of_a_day_stays_unchanged_when_its_series_ends_before_it() {
    // The override is in UTC.
    for start in [":20270401T100000Z", ";TZID=America/New_York:20270401T210000"] {
        let app = App::new().await;
        let file = |count: u8| {
            let series = format!(
                "UID:s\nDTSTART{start}\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT={count}\n\
                 SUMMARY:Daily"
            );
            let moved = "UID:s\nRECURRENCE-ID;VALUE=DATE:20270404\nDTSTART:20270404T150000Z\n\
                DURATION:PT1H\nSUMMARY:Moved";
            calendar("", &[&series, moved])
        };
        for (count, expected) in [(4, [4, 0, 0, 0, 0]), (2, [0, 1, 3, 0, 0]), (2, [0, 0, 3, 0, 0])]
        {
            assert_eq!(counts(&app, file(count)).await, expected, "{start} {count}");
        }
    }
}

#[actix_web::test]
async fn override_of_the_first_day_belongs_to_its_series() {
    let app = App::new().await;
    let series = "UID:s\nDTSTART:20270401T100000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
        SUMMARY:Daily";
    let moved = "UID:s\nRECURRENCE-ID;VALUE=DATE:20270401\nDTSTART:20270401T150000Z\n\
        DURATION:PT1H\nSUMMARY:Moved";
    let file = calendar("", &[series, moved]);
    for expected in [[3, 0, 0, 0, 0], [0, 0, 3, 0, 0]] {
        assert_eq!(counts(&app, &file).await, expected);
        let all = ["20270401T100000Z Daily", "20270401T150000Z 20270401T100000Z Moved"];
        assert_eq!(listed(&app).await, all);
    }
    let feed = app.get("/ical").await.expect(200).text;
    assert_eq!(counts(&app, &feed).await, [0, 0, 3, 0, 0], "{feed}");
}
