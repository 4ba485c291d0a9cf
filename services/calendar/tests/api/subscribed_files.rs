//! Subscriptions whose file is wrong or hostile, or reuses names that exist here.

use std::io::Cursor;
use std::time::Duration;

use calendar::{LoadOptions, extend_series, load};
use serde_json::{Value, json};
use testkit::PeerAnswer;

use crate::app::send;
use crate::subscribing::{Subscribing, calendar, counts, event, file_of, message};

/// Returns titles and starts of all public events, in order of id.
async fn shown(club: &Subscribing) -> Vec<String> {
    let list = club.app.get("/events?start_date=2020-01-01&per_page=50&orderby=id").await;
    let events = list.expect(200).json["events"].as_array().unwrap().clone();
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    events.iter().map(|one| format!("{} {}", text(one, "title"), text(one, "start_date"))).collect()
}

const ALL: [&str; 4] = ["a", "b", "c", "d"];

/// Subscribes to a file with four events that loses three of them, and accepts that.
async fn accepted() -> (Subscribing, i64) {
    let club = Subscribing::new().await;
    club.serves(&file_of(&ALL));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.serves(&file_of(&["a"]));
    let shown = club.run_now(id).await;
    assert_eq!(shown["last_run"]["lost"], 3, "{shown}");
    club.step(id, "accept").await;
    (club, id)
}

#[actix_web::test]
async fn acceptance_does_not_hold_for_a_file_that_lacks_more() {
    let (club, id) = accepted().await;
    club.answers(|_| PeerAnswer::Body(503, String::new()));
    assert_eq!(club.run(id).await["last_run"]["outcome"], "failed");
    club.serves(&file_of(&[]));
    let shown = club.run_now(id).await;
    assert_eq!((&shown["state"], &shown["last_run"]["lost"]), (&json!("stopped"), &json!(4)));
    assert_eq!(club.titles().await, ALL);
    // The acceptance has no further effect.
    club.serves(&file_of(&["a"]));
    club.step(id, "resume").await;
    assert_eq!(club.run(id).await["state"], "stopped");
    assert_eq!(club.titles().await, ALL);
}

#[actix_web::test]
async fn acceptance_holds_after_a_failure_for_a_file_that_lacks_no_more() {
    let (club, id) = accepted().await;
    club.answers(|_| PeerAnswer::Body(503, String::new()));
    assert_eq!(club.run(id).await["last_run"]["outcome"], "failed");
    club.serves(&file_of(&["b"]));
    assert_eq!(counts(&club.run_now(id).await, "imported")[5], 3);
    assert_eq!(club.titles().await, ["b"]);
}

#[actix_web::test]
async fn acceptance_covers_dates_that_scheduled_work_adds_to_a_missing_series() {
    for has_grown_before in [true, false] {
        let club = Subscribing::with(&["--series-ahead=3"], Duration::from_secs(30)).await;
        let other = event("a", 12, "");
        club.serves(&calendar(&[event("s", 5, "RRULE:FREQ=WEEKLY\r\n"), other.clone()]));
        let id = club.subscribe(json!({})).await;
        let before = club.run(id).await["events"].as_u64().unwrap();
        club.serves(&calendar(&[other]));
        let shown = club.run_now(id).await;
        assert_eq!(shown["last_run"]["lost"], before - 1, "{shown}");
        let grow = async || {
            club.app.clock.advance(30 * 86_400);
            extend_series(&club.state).await;
        };
        if has_grown_before {
            grow().await;
        }
        club.step(id, "accept").await;
        if !has_grown_before {
            club.answers(|_| PeerAnswer::Body(503, String::new()));
            assert_eq!(club.run(id).await["last_run"]["outcome"], "failed");
            grow().await;
            club.serves(&calendar(&[event("a", 12, "")]));
        }
        let grown = club.shown(id).await["events"].as_u64().unwrap();
        assert!(grown > before, "{grown} {before}");
        let shown = club.run_now(id).await;
        let trashed = i64::try_from(grown - 1).unwrap();
        assert_eq!(counts(&shown, "imported")[5], trashed, "{shown}");
        assert_eq!(club.titles().await, ["a"]);
    }
}

#[actix_web::test]
async fn message_of_a_stopped_subscription_names_events_that_users_changed() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b", "c", "d", "e"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    for uid in ["d", "e"] {
        let path = format!("/events/{}", club.event_of(uid));
        club.app.call("editor", "PATCH", &path, &json!({"title": "Mine"})).await.expect(200);
    }
    club.serves(&file_of(&["d"]));
    let shown = club.run_now(id).await;
    assert_eq!((&shown["state"], &shown["last_run"]["lost"]), (&json!("stopped"), &json!(3)));
    assert_eq!(
        message(&shown),
        "3 of 3 future events are missing from the file, not counting 2 that users changed; \
         nothing was changed. Accept it if they are gone, or resume once the file is complete"
    );
}

#[actix_web::test]
async fn series_that_loses_most_dates_stops_the_subscription_although_one_is_overridden() {
    let rule = |count: u8| format!("RRULE:FREQ=DAILY;COUNT={count}\r\n");
    let moved = event("s", 5, "RECURRENCE-ID:20270504T100000Z\r\n");
    let moved = moved.replace("20270501T1", "20270504T2");
    let file = |rule: &str| calendar(&[event("s", 5, rule), moved.clone()]);
    for is_new in [true, false] {
        for (rest, lost) in [(rule(2), 13), (String::new(), 14), (rule(4), 12)] {
            let club = Subscribing::new().await;
            let all = if is_new { calendar(&[event("s", 5, &rule(16))]) } else { file(&rule(16)) };
            club.serves(&all);
            let id = club.subscribe(json!({})).await;
            assert_eq!(counts(&club.run(id).await, "imported")[0], 16);
            club.serves(&file(&rest));
            let shown = club.run_now(id).await;
            let found = (&shown["state"], &shown["last_run"]["lost"]);
            assert_eq!(found, (&json!("stopped"), &json!(lost)), "{is_new} {rest}");
            assert_eq!(club.titles().await.len(), 16);
            // A file that keeps most dates is imported.
            club.serves(&file(&rule(9)));
            club.step(id, "resume").await;
            assert_eq!(counts(&club.run(id).await, "imported")[5], 7, "{is_new} {rest}");
            // So is one without the series itself, which trashes none of its dates.
            club.serves(&calendar(std::slice::from_ref(&moved)));
            assert_eq!(counts(&club.run_now(id).await, "imported")[5], 0, "{is_new} {rest}");
            assert_eq!(club.titles().await.len(), 9);
        }
    }
}

#[actix_web::test]
async fn pause_and_another_address_end_an_acceptance() {
    for address in [None, Some("/other.ics")] {
        let (club, id) = accepted().await;
        match address {
            None => {
                club.step(id, "pause").await;
                club.step(id, "resume").await;
            }
            Some(path) => {
                let body = json!({"url": club.peer.url(path)});
                let item = format!("/subscriptions/{id}");
                club.app.call("editor", "PATCH", &item, &body).await.expect(200);
            }
        }
        let shown = club.run(id).await;
        assert_eq!((&shown["state"], &shown["last_run"]["lost"]), (&json!("stopped"), &json!(3)));
        assert_eq!(club.titles().await, ALL);
    }
}

#[actix_web::test]
async fn missing_events_of_a_former_address_cannot_be_accepted() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&ALL));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.serves(&file_of(&["a"]));
    assert_eq!(club.run_now(id).await["awaits_acceptance"], true);
    let item = format!("/subscriptions/{id}");
    let change = json!({"url": club.peer.url("/other.ics")});
    let changed = club.app.call("editor", "PATCH", &item, &change).await.expect(200).json;
    assert_eq!(changed["awaits_acceptance"], false);
    let accept = format!("{item}/accept");
    club.app.call("editor", "POST", &accept, &json!({})).await.expect(400);
    assert_eq!(club.titles().await, ALL);
}

#[actix_web::test]
async fn subscription_that_adopts_does_not_take_over_events_that_were_made_here() {
    let club = Subscribing::new().await;
    let weekly = json!({"rrule": "FREQ=WEEKLY", "count": 3});
    let first = club.app.event(json!({"title": "Weekly", "recurrence": weekly})).await;
    let feed = club.app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
    let uid = feed.lines().find_map(|line| line.strip_prefix("UID:")).unwrap();
    let line = json!({"type": "event", "title": "Loaded", "start_date": "2027-04-01 10:00",
        "end_date": "2027-04-01 11:00", "external_id": "s1"});
    let options = LoadOptions { dry_run: false, upsert: false };
    load(&club.app.state, Cursor::new(line.to_string()), options).unwrap();
    let before = shown(&club).await;
    assert_eq!(before.len(), 4, "{before:?}");
    // Another program exports our events with their UIDs, without the mark of this calendar.
    for more in ["", "RRULE:FREQ=WEEKLY;COUNT=3\r\n", "STATUS:CANCELLED\r\n", "CLASS:PRIVATE\r\n"] {
        club.serves(&calendar(&[event(uid, 5, more), event("s1", 5, more)]));
        let url = club.peer.url(&format!("/{}", more.len()));
        let id = club.subscribe_to(&url, json!({"adopt": true})).await;
        let run = club.run(id).await;
        assert_eq!(counts(&run, "imported")[..2], [0, 0], "{run}");
        assert!(message(&run).contains("outside this subscription"), "{run}");
        assert_eq!((&run["events"], shown(&club).await), (&json!(0), before.clone()), "{more}");
    }
    // A series in the trash is not restored.
    let path = format!("/events/{first}?scope=all");
    send(club.app.request("editor", "DELETE", &path)).await.expect(200);
    let id = club.subscribe(json!({"adopt": true})).await;
    let run = club.run(id).await;
    assert!(!run["last_run"]["messages"].to_string().contains("set adopt"), "{run}");
    assert_eq!(shown(&club).await, before[3..]);
}

#[actix_web::test]
async fn uid_that_names_an_imported_event_by_its_number_does_not_take_it_over() {
    for adopts in [true, false] {
        let club = Subscribing::new().await;
        let id = club.subscribe(json!({"adopt": adopts})).await;
        // The event belongs to another import, or to the subscription itself.
        if adopts {
            let import = club.app.request("editor", "POST", "/import/ical");
            let import = import.header("content-type", "text/calendar").body(file_of(&["a"]));
            send(import).await.expect(200);
        } else {
            club.serves(&file_of(&["a"]));
            club.run(id).await;
        }
        let (event, before) = (club.event_of("a"), shown(&club).await);
        let feed = club.app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
        let calendar_id = feed.split("X-QUINTET-CALENDAR:").nth(1).unwrap();
        let uid = format!("event-{event}@{}", calendar_id.lines().next().unwrap());
        let kept: &[&str] = if adopts { &[] } else { &["a"] };
        club.serves(&file_of(&[kept, &[uid.as_str()]].concat()));
        let run = club.run_now(id).await;
        let unchanged = i64::from(!adopts);
        assert_eq!(counts(&run, "imported")[..4], [0, 0, unchanged, 1], "{adopts}: {run}");
        assert_eq!(shown(&club).await, before, "{adopts}");
    }
}

#[actix_web::test]
async fn subscription_that_adopts_takes_over_later_dates_of_an_imported_series() {
    let club = Subscribing::new().await;
    let endless = calendar(&[event("s", 4, "RRULE:FREQ=WEEKLY\r\n")]);
    let import = club.app.request("editor", "POST", "/import/ical");
    let import = import.header("content-type", "text/calendar").body(endless.clone());
    let imported = send(import).await.expect(200).json["created"].as_i64().unwrap();
    club.app.clock.advance(30 * 86_400);
    extend_series(&club.state).await;
    let all = club.app.rows("events");
    assert!(all > imported, "{all}");
    club.serves(&endless);
    let id = club.subscribe(json!({"adopt": true})).await;
    let run = club.run(id).await;
    assert_eq!((counts(&run, "imported"), &run["events"]), ([0, 0, all, 0, 0, 0], &json!(all)));
}

#[actix_web::test]
async fn events_get_the_category_and_the_venue_of_the_subscription_and_not_namesakes() {
    let club = Subscribing::new().await;
    let below = async |parent: &str| {
        let parent = club.app.make("/categories", json!({"name": parent})).await;
        club.app.make("/categories", json!({"name": "Kids", "parent": parent})).await
    };
    let (music, sport) = (below("Music").await, below("Sport").await);
    club.app.make("/venues", json!({"venue": "Hall", "city": "Graz"})).await;
    let hall = club.app.make("/venues", json!({"venue": "Hall"})).await;
    let more = ["", "CATEGORIES:Kids\r\n", "CATEGORIES:Dance\r\nLOCATION:Barn\r\n"];
    let uids = ["a", "b", "c"];
    let entries: Vec<String> =
        uids.iter().zip(more).map(|(uid, more)| event(uid, 5, more)).collect();
    club.serves(&calendar(&entries));
    let read = async |uid: &str| {
        let path = format!("/events/{}", club.event_of(uid));
        let event = club.app.get(&path).await.expect(200).json;
        let categories = event["categories"].as_array().unwrap();
        let ids = categories.iter().filter(|one| one["name"] == "Kids").map(|one| &one["id"]);
        (ids.cloned().collect::<Vec<Value>>(), event["venue"]["id"].clone())
    };
    let id = club.subscribe(json!({"category": sport, "venue": hall})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "imported"), [3, 0, 0, 0, 0, 0], "{run}");
    assert_eq!(read("a").await, (vec![json!(sport)], json!(hall)));
    assert_eq!(read("b").await, (vec![json!(sport)], json!(hall)));
    let (categories, venue) = read("c").await;
    assert!(categories == [json!(sport)] && venue != json!(hall), "{categories:?} {venue}");
    // Another category of the same name replaces the first one.
    let path = format!("/subscriptions/{id}");
    let change = json!({"category": music});
    club.app.call("editor", "PATCH", &path, &change).await.expect(200);
    assert_eq!(counts(&club.run_now(id).await, "imported"), [0, 3, 0, 0, 0, 0]);
    for uid in uids {
        assert_eq!(read(uid).await.0, [json!(music)], "{uid}");
    }
    assert_eq!(counts(&club.run_now(id).await, "imported"), [0, 0, 3, 0, 0, 0]);
}

#[actix_web::test]
async fn past_events_of_a_site_that_changes_its_uids_are_imported_once() {
    let club = Subscribing::new().await;
    let day = |uid: &str, day: u8| {
        let start = format!("DTSTART;VALUE=DATE:202703{day:02}\r\n");
        format!("BEGIN:VEVENT\r\nUID:{uid}\r\n{start}SUMMARY:{uid}\r\nEND:VEVENT\r\n")
    };
    let monthly = "RRULE:FREQ=MONTHLY;COUNT=2\r\n";
    let past = |answer: u8| {
        let series = event(&format!("s{answer}"), 1, monthly);
        [event(&format!("e{answer}"), 2, ""), series, day(&format!("d{answer}"), 9)]
    };
    club.serves(&calendar(&past(1)));
    let id = club.subscribe(json!({})).await;
    assert_eq!(counts(&club.run(id).await, "imported"), [4, 0, 0, 0, 0, 0]);
    club.serves(&calendar(&past(2)));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 0, 0, 3, 0, 0]);
    assert!(message(&run).contains("ended before the last import"), "{run}");
    // Events that ended since then are imported, although they were added late.
    club.app.clock.advance(2 * 86_400);
    let today = event("new", 3, "").replace("20270301T", "20270311T");
    club.serves(&calendar(&[today.clone(), day("today", 10), day("late", 8)]));
    assert_eq!(counts(&club.run_now(id).await, "imported"), [2, 0, 0, 1, 0, 0]);
    // They remain known, even if a user erases one.
    let path = format!("/events/{}?force=true", club.event_of("new"));
    club.app.delete(&path).await.expect(200);
    club.app.clock.advance(2 * 86_400);
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 0, 1, 2, 0, 0]);
    assert_eq!(run["last_run"]["messages"].as_array().unwrap().len(), 1, "{run}");
    // Another URL is a new start.
    let change = json!({"url": club.peer.url("/other.ics")});
    club.app.call("editor", "PATCH", &format!("/subscriptions/{id}"), &change).await.expect(200);
    assert_eq!(counts(&club.run(id).await, "imported"), [1, 0, 1, 1, 0, 0]);
}

#[actix_web::test]
async fn file_whose_rules_take_too_long_fails_and_changes_nothing() {
    // Receiving the file must not take this long, even on a busy machine.
    let club = Subscribing::with_time(Duration::from_secs(5)).await;
    // Such a day occurs once in 28 years, and a rule with COUNT is counted from its start.
    let rule = "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU;COUNT=99999\r\n";
    let entry = |number: u16| {
        format!(
            "BEGIN:VEVENT\r\nUID:{number}\r\nDTSTART:15000101T100000Z\r\n{rule}{rule}END:VEVENT\r\n"
        )
    };
    club.serves(&calendar(&(0..800).map(entry).collect::<Vec<_>>()));
    let id = club.subscribe(json!({})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "failed"), [0; 6], "{run}");
    assert_eq!(message(&run), "the file cannot be read within 5 seconds");
    assert_eq!((&run["failures"], club.app.rows("events")), (&json!(1), 0));
}

#[actix_web::test]
async fn event_that_cannot_be_read_stays_wherever_its_uid_is() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b", "c"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let long = format!("BEGIN:VEVENT\r\nDESCRIPTION:{}\r\nUID:b\r\n", "x".repeat(300_000));
    club.serves(&file_of(&["a", "b", "c"]).replace("BEGIN:VEVENT\r\nUID:b\r\n", &long));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 2, 0, 1, 0], "{shown}");
    assert_eq!(club.titles().await, ["a", "b", "c"]);
}
