//! New dates of subscribed series that users moved, ended or published.

use std::time::Duration;

use calendar::{extend_series, run_due_subscriptions};
use serde_json::{Value, json};

use crate::imports;
use crate::pages::page;
use crate::subscribed_edits::{changed, feed, ids, patch, public, series, shown};
use crate::subscribing::{Subscribing, calendar, counts, event};

const MONTH: i64 = 30 * 86_400;

/// Subscribes to a file of a calendar whose series have events for some months.
async fn following(file: &str, months: u8) -> (Subscribing, i64, Vec<i64>) {
    let ahead = format!("--series-ahead={months}");
    let club = Subscribing::with(&[&ahead], Duration::from_secs(30)).await;
    club.serves(file);
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let ids = ids(&club).await;
    (club, id, ids)
}

/// Builds a weekly series without an end from 4 May 2027 on. It has six events if SERIES_AHEAD is 3.
fn endless(more: &str) -> String {
    series(3, 18, more).replace(";COUNT=3", "")
}

/// Builds a file with one entry.
fn file(lines: &str) -> String {
    calendar(&[format!(
        "BEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20270101T000000Z\r\nSUMMARY:Yoga\r\n{lines}END:VEVENT\r\n"
    )])
}

/// Returns the starts of all public events.
async fn starts(club: &Subscribing) -> Vec<String> {
    shown(club).await.iter().map(|one| one[..11].to_owned()).collect()
}

/// Returns the days from the given one on, a week apart, with a time.
fn weekly(first: &str, number: usize, time: &str) -> Vec<String> {
    let first: jiff::civil::Date = first.parse().unwrap();
    let days = (0_i64..).take(number).map(|at| first + jiff::Span::new().days(7 * at));
    days.map(|day| format!("{} {time}", &day.to_string()[5..])).collect()
}

#[actix_web::test]
async fn scheduled_dates_of_a_moved_series_move_along() {
    for (start, end) in [
        ("2027-05-04 18:30", "2027-05-04 20:00"),
        ("2027-05-05 09:00", "2027-05-05 10:00"),
        ("2027-04-28 18:00", "2027-04-28 19:00"),
    ] {
        for has_run in [true, false] {
            let (club, id, ids) = following(&endless(""), 3).await;
            assert_eq!(ids.len(), 6);
            let dates = json!({"scope": "all", "start_date": start, "end_date": end});
            patch(&club, ids[0], dates).await;
            if has_run {
                club.run_now(id).await;
            }
            club.app.clock.advance(MONTH);
            extend_series(&club.state).await;
            let expected = starts(&club).await;
            let context = format!("{start} {has_run}");
            assert!(expected.len() >= 10, "{context}: {expected:?}");
            assert_eq!(expected, weekly(&start[..10], expected.len(), &start[11..]), "{context}");
            let last = public(&club).await.pop().unwrap();
            assert_eq!(last["end_date"].as_str().unwrap()[11..16], end[11..], "{context}");
            assert_eq!(last["slug"], format!("yoga--2027-{}", &expected[expected.len() - 1][..5]));
            // The next run finds the dates under the ids of the file.
            let run = club.run_now(id).await;
            let [created, updated, unchanged, _, failed, trashed] = counts(&run, "imported");
            assert_eq!([created, updated, failed, trashed], [0; 4], "{context}: {run}");
            assert!(unchanged >= 10, "{context}: {run}");
            assert_eq!(starts(&club).await, expected, "{context}");
            let parts = changed(&club, id).await;
            assert_eq!(parts, vec![json!(["dates"]); expected.len()], "{context}");
            // All of them move together again.
            let (day, time) = (&start[..10], "21:00");
            let later = json!({"scope": "all", "start_date": format!("{day} {time}")});
            patch(&club, ids[0], later).await;
            let moved = starts(&club).await;
            assert!(moved.len() >= expected.len(), "{context}: {moved:?}");
            assert_eq!(moved, weekly(day, moved.len(), time), "{context}");
        }
    }
}

#[actix_web::test]
async fn date_that_a_move_to_earlier_days_adds_is_not_doubled_by_the_file() {
    let (club, id, ids) = following(&endless(""), 3).await;
    let dates = json!({"scope": "all", "start_date": "2027-04-28 18:00"});
    patch(&club, ids[0], dates).await;
    assert_eq!(starts(&club).await, weekly("2027-04-28", 7, "18:00"));
    club.app.clock.advance(MONTH);
    for _ in 0..2 {
        club.run_now(id).await;
        assert_eq!(starts(&club).await, weekly("2027-04-28", 10, "18:00"));
    }
}

#[actix_web::test]
async fn new_dates_have_the_time_in_the_zone_that_users_chose() {
    let in_vienna = "DTSTART;TZID=Europe/Vienna:20270928T180000\r\nDURATION:PT1H\r\n\
         RRULE:FREQ=WEEKLY\r\n";
    let in_utc = "DTSTART:20270928T160000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=WEEKLY\r\n";
    // The clocks change on 31 October in Vienna, and on 7 November in New York.
    for (lines, zone, months, number) in
        [(in_vienna, "America/New_York", 7, 6), (in_utc, "Europe/Vienna", 9, 15)]
    {
        for by_schedule in [true, false] {
            let (club, id, ids) = following(&file(lines), months).await;
            let dates = json!({"scope": "all", "timezone": zone,
                "start_date": "2027-09-28 18:00", "end_date": "2027-09-28 19:00"});
            patch(&club, ids[0], dates).await;
            club.run_now(id).await;
            club.app.clock.advance(MONTH);
            match by_schedule {
                true => extend_series(&club.state).await,
                false => drop(club.run_now(id).await),
            }
            let expected = weekly("2027-09-28", number, "18:00");
            assert_eq!(starts(&club).await, expected, "{zone} {by_schedule}");
            for event in public(&club).await {
                assert_eq!(event["timezone"], zone, "{by_schedule}");
            }
            let run = club.run_now(id).await;
            let written = counts(&run, "imported");
            let unchanged = i64::try_from(number).unwrap();
            assert_eq!(written, [0, 0, unchanged, 0, 0, 0], "{zone} {by_schedule}");
            assert_eq!(starts(&club).await, expected, "{zone} {by_schedule}");
        }
    }
}

#[actix_web::test]
async fn series_in_utc_moves_as_a_whole_although_clocks_change() {
    let lines = "DTSTART:20270928T160000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=WEEKLY;COUNT=10\r\n";
    let zone = "PRODID:tests\r\nX-WR-TIMEZONE:Europe/Vienna\r\n";
    let shown_in = file(lines).replace("PRODID:tests\r\n", zone);
    let (club, id, ids) = following(&shown_in, 12).await;
    for (time, shown) in [("18:30", ["18:30", "17:30"]), ("20:00", ["20:00", "19:00"])] {
        let dates = json!({"scope": "all", "start_date": format!("2027-09-28 {time}")});
        patch(&club, ids[0], dates).await;
        club.run_now(id).await;
        let mut expected = weekly("2027-09-28", 5, shown[0]);
        expected.extend(weekly("2027-11-02", 5, shown[1]));
        assert_eq!(starts(&club).await, expected);
    }
}

#[actix_web::test]
async fn new_dates_of_whole_days_that_users_gave_times_have_them_too() {
    let days = "DTSTART;VALUE=DATE:20270504\r\nRRULE:FREQ=WEEKLY\r\n";
    for has_run in [true, false] {
        for by_schedule in [true, false] {
            let context = format!("{has_run} {by_schedule}");
            let (club, id, ids) = following(&file(days), 3).await;
            let dates = json!({"scope": "all", "all_day": false, "timezone": "Europe/Vienna",
                "start_date": "2027-05-04 10:00", "end_date": "2027-05-04 12:00"});
            patch(&club, ids[0], dates).await;
            if has_run {
                club.run_now(id).await;
            }
            club.app.clock.advance(MONTH);
            match by_schedule {
                true => extend_series(&club.state).await,
                false => drop(club.run_now(id).await),
            }
            let expected = starts(&club).await;
            assert!(expected.len() >= 10, "{context}: {expected:?}");
            assert_eq!(expected, weekly("2027-05-04", expected.len(), "10:00"), "{context}");
            let run = club.run_now(id).await;
            assert_eq!(counts(&run, "imported")[0], 0, "{context}: {run}");
            assert_eq!(starts(&club).await, expected, "{context}");
            for event in public(&club).await {
                let end = &event["end_date"].as_str().unwrap()[11..];
                assert_eq!((&event["all_day"], end), (&json!(false), "12:00:00"), "{context}");
            }
        }
    }
}

/// Creates the new dates of the next month, by a run or by scheduled work.
async fn after_a_month(club: &Subscribing, id: i64, by_schedule: bool) {
    club.app.clock.advance(1);
    club.run_now(id).await;
    club.app.clock.advance(MONTH);
    match by_schedule {
        true => extend_series(&club.state).await,
        false => drop(club.run_now(id).await),
    }
}

#[actix_web::test]
async fn series_that_users_ended_gets_no_new_dates() {
    for by_schedule in [true, false] {
        for (scope, left) in [("all", 0), ("all&force=true", 0), ("following", 2)] {
            let (club, id, ids) = following(&endless(""), 3).await;
            club.app.delete(&format!("/events/{}?scope={scope}", ids[2])).await.expect(200);
            for _ in 0..3 {
                after_a_month(&club, id, by_schedule).await;
                let expected = weekly("2027-05-04", left, "18:00");
                assert_eq!(starts(&club).await, expected, "{scope} {by_schedule}");
            }
            // If the last date returns, so do those after it.
            if scope == "following" {
                patch(&club, ids[5], json!({"status": "publish"})).await;
                after_a_month(&club, id, by_schedule).await;
                let last = starts(&club).await.pop().unwrap();
                assert!(last.as_str() > "08-01", "{last} {by_schedule}");
            }
        }
    }
}

#[actix_web::test]
async fn series_that_users_ended_excludes_its_trashed_dates_after_a_run_with_an_unchanged_file() {
    let (club, id, ids) = following(&endless(""), 3).await;
    club.app.delete(&format!("/events/{}?scope=following", ids[2])).await.expect(200);
    for _ in 0..2 {
        club.run_now(id).await;
        let shown = club.app.get(&format!("/events/{}", ids[0])).await.expect(200).json;
        let recurrence = &shown["series"]["recurrence"];
        assert_eq!(recurrence["until"], "2027-06-08 18:00:00", "{recurrence}");
        let removed = ["05-18", "05-25", "06-01", "06-08"];
        let removed = removed.map(|day| format!("2027-{day} 18:00:00"));
        assert_eq!(recurrence["exdates"], json!(removed), "{recurrence}");
        let page = page(&club.app, "/event/yoga/2027-05-04/").await.expect(200);
        assert!(page.text.contains("until 11 May 2027"), "{}", page.text);
        let excluded = "EXDATE;TZID=Europe/Vienna:20270518T180000";
        assert!(feed(&club).await.contains(excluded));
    }
}

#[actix_web::test]
async fn series_continues_although_users_removed_its_last_date() {
    for by_schedule in [true, false] {
        let (club, id, ids) = following(&endless(""), 3).await;
        club.app.delete(&format!("/events/{}", ids[5])).await.expect(200);
        after_a_month(&club, id, by_schedule).await;
        let mut expected = weekly("2027-05-04", 10, "18:00");
        expected.remove(5);
        assert_eq!(starts(&club).await, expected, "{by_schedule}");
    }
}

#[actix_web::test]
async fn withdrawn_series_gets_no_new_dates_until_one_returns() {
    for is_removed in [true, false] {
        let (club, id, ids) = following(&endless(""), 3).await;
        patch(&club, ids[0], json!({"title": "Own"})).await;
        if is_removed {
            let path = format!("/subscriptions/{id}?events=true");
            club.app.call("editor", "DELETE", &path, &json!({})).await.expect(200);
            run_due_subscriptions(&club.state).await;
        } else {
            // The date that users changed stays.
            club.serves(&calendar(&[]));
            club.run_now(id).await;
            club.step(id, "accept").await;
            club.run(id).await;
        }
        let left = starts(&club).await;
        assert_eq!(left, weekly("2027-05-04", usize::from(!is_removed), "18:00"));
        for _ in 0..4 {
            club.app.clock.advance(MONTH);
            extend_series(&club.state).await;
            assert_eq!((starts(&club).await, club.app.rows("events")), (left.clone(), 6));
        }
        if is_removed {
            patch(&club, ids[5], json!({"status": "publish"})).await;
            club.app.clock.advance(MONTH);
            extend_series(&club.state).await;
            assert!(starts(&club).await.len() > 10);
        }
    }
}

#[actix_web::test]
async fn scheduled_date_has_no_text_of_a_date_that_readers_may_not_see() {
    for by_schedule in [true, false] {
        let (club, id, ids) = following(&endless(""), 3).await;
        let code = json!({"scope": "all", "description": "code 1234"});
        patch(&club, ids[0], code).await;
        patch(&club, ids[5], json!({"password": "p"})).await;
        for event in &ids[..5] {
            patch(&club, *event, json!({"description": "Bring a mat"})).await;
        }
        after_a_month(&club, id, by_schedule).await;
        let all = public(&club).await;
        assert!(all.len() >= 10, "{all:?}");
        let text = serde_json::to_string(&all).unwrap();
        assert!(!text.contains("1234"), "{by_schedule}: {text}");
    }
}

#[actix_web::test]
async fn scheduled_date_of_a_private_file_is_private_although_users_published_the_others() {
    let (club, id, _) = following(&endless("CLASS:PRIVATE\r\n"), 3).await;
    assert_eq!(starts(&club).await, [""; 0]);
    let first = club.event_of("s");
    patch(&club, first, json!({"scope": "all", "status": "publish"})).await;
    assert_eq!(starts(&club).await.len(), 6);
    club.app.clock.advance(MONTH);
    extend_series(&club.state).await;
    assert_eq!((starts(&club).await.len(), club.app.rows("events")), (6, 10));
    club.run_now(id).await;
    assert_eq!(starts(&club).await.len(), 6);
}

#[actix_web::test]
async fn later_rounds_of_scheduled_dates_of_a_private_file_are_private_too() {
    let (club, id, _) = following(&endless("CLASS:PRIVATE\r\n"), 3).await;
    let first = club.event_of("s");
    patch(&club, first, json!({"scope": "all", "status": "publish"})).await;
    club.step(id, "pause").await;
    for events in [10, 14] {
        club.app.clock.advance(MONTH);
        extend_series(&club.state).await;
        assert!(club.app.rows("events") >= events, "{events}");
        assert_eq!(starts(&club).await.len(), 6, "{events}");
    }
    club.step(id, "resume").await;
    club.run_now(id).await;
    assert_eq!(starts(&club).await.len(), 6);
}

#[actix_web::test]
async fn scheduled_date_of_a_private_file_is_private_if_the_last_one_is_in_the_trash() {
    let (club, id, ids) = following(&endless(""), 3).await;
    club.app.delete(&format!("/events/{}", ids[5])).await.expect(200);
    club.serves(&endless("CLASS:PRIVATE\r\n"));
    club.run_now(id).await;
    assert_eq!(starts(&club).await, [""; 0]);
    for event in &ids[..5] {
        patch(&club, *event, json!({"status": "publish"})).await;
    }
    assert_eq!(starts(&club).await.len(), 5);
    club.app.clock.advance(MONTH);
    extend_series(&club.state).await;
    assert_eq!((starts(&club).await.len(), club.app.rows("events")), (5, 10));
}

#[actix_web::test]
async fn scheduled_dates_of_a_series_that_users_made_of_a_private_event_are_public() {
    for subscribes in [true, false] {
        let club = Subscribing::with(&["--series-ahead=3"], Duration::from_secs(30)).await;
        let file = calendar(&[event("s", 5, "CLASS:PRIVATE\r\n")]);
        if subscribes {
            club.serves(&file);
            let id = club.subscribe(json!({})).await;
            club.run(id).await;
        } else {
            imports::counts(&club.app, &file).await;
        }
        let first = club.event_of("s");
        patch(&club, first, json!({"status": "publish"})).await;
        patch(&club, first, json!({"recurrence": {"rrule": "FREQ=WEEKLY"}})).await;
        let before = starts(&club).await.len();
        club.app.clock.advance(MONTH);
        extend_series(&club.state).await;
        let after = starts(&club).await.len();
        assert!(before > 1 && after > before, "{subscribes}: {before} {after}");
    }
}

#[actix_web::test]
async fn new_season_of_a_series_is_created_although_users_removed_dates_that_were_over() {
    for is_forced in [false, true] {
        let season =
            |until: &str| series(3, 18, "").replace(";COUNT=3", &format!(";UNTIL={until}"));
        let (club, id, ids) = following(&season("20270518T160000Z"), 12).await;
        assert_eq!(ids.len(), 3);
        club.app.clock.advance(3 * MONTH);
        for event in &ids[1..] {
            let path = format!("/events/{event}?force={is_forced}");
            club.app.delete(&path).await.expect(200);
        }
        club.serves(&season("20270622T160000Z"));
        let run = club.run_now(id).await;
        // Five more dates follow the three of the first season.
        let run_counts = counts(&run, "imported");
        assert_eq!((run_counts[0], run_counts[3]), (5, 2), "{is_forced}: {run}");
        let mut expected = weekly("2027-05-04", 8, "18:00");
        expected.drain(1..3);
        assert_eq!(starts(&club).await, expected, "{is_forced}");
    }
}

#[actix_web::test]
async fn run_says_that_a_series_has_ended_and_still_creates_dates_before_its_end() {
    let (club, id, ids) = following(&series(3, 18, ""), 12).await;
    club.app.delete(&format!("/events/{}?scope=following", ids[1])).await.expect(200);
    let longer = series(5, 18, "");
    club.serves(&longer.replace("RRULE", "RDATE;TZID=Europe/Vienna:20270510T180000\r\nRRULE"));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported")[0], 1, "{run}");
    let messages = run["last_run"]["messages"].to_string();
    assert!(messages.contains("it has ended; later dates were skipped"), "{run}");
    assert_eq!(starts(&club).await, ["05-04 18:00", "05-10 18:00"]);
}

#[actix_web::test]
async fn series_whose_last_dates_were_erased_continues_after_a_release() {
    let (club, id, ids) = following(&series(3, 18, ""), 12).await;
    let path = format!("/events/{}?scope=following&force=true", ids[1]);
    club.app.delete(&path).await.expect(200);
    club.serves(&series(5, 18, ""));
    club.run_now(id).await;
    assert_eq!(starts(&club).await, ["05-04 18:00"]);
    let path = format!("/subscriptions/{id}/release");
    club.app.call("editor", "POST", &path, &json!({"event": ids[0]})).await.expect(200);
    club.app.clock.advance(1);
    club.run(id).await;
    assert_eq!(starts(&club).await, ["05-04 18:00", "05-25 18:00", "06-01 18:00"]);
}

#[actix_web::test]
async fn series_whose_dates_were_all_erased_continues_after_its_uid_is_released() {
    let (club, id, ids) = following(&series(3, 18, ""), 12).await;
    let path = format!("/events/{}?scope=all&force=true", ids[0]);
    club.app.delete(&path).await.expect(200);
    club.serves(&series(5, 18, ""));
    club.run_now(id).await;
    assert_eq!(starts(&club).await, [""; 0]);
    let path = format!("/subscriptions/{id}/release");
    let release = async |body: Value| club.app.call("editor", "POST", &path, &body).await;
    for body in [json!({}), json!({"uid": "x"}), json!({"uid": "s", "event": 1})] {
        release(body).await.expect(400);
    }
    release(json!({"uid": "s"})).await.expect(200);
    club.app.clock.advance(1);
    club.run(id).await;
    assert_eq!(starts(&club).await, ["05-25 18:00", "06-01 18:00"]);
    // Feeds exclude the dates that do not return.
    let text = feed(&club).await.replace("\r\n ", "");
    let erased = ["20270504T180000", "20270511T180000", "20270518T180000"].join(",");
    assert!(text.contains(&format!("EXDATE;TZID=Europe/Vienna:{erased}\r\n")), "{text}");
    release(json!({"uid": "s"})).await.expect(400);
}
