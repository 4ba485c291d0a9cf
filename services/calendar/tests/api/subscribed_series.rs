//! Series of subscriptions: what users change in them, and dates that change in the file.

use calendar::{add_webhook, extend_series};
use database::Db;
use serde_json::{Value, json};

use crate::app::{App, send};
use crate::import_standards::mark;
use crate::imports;
use crate::subscribing::{Subscribing, calendar, counts, event, message};

/// Builds a weekly series of three events that starts on a day of May 2027 at an hour.
fn series(day: u8, hour: u8, more: &str) -> String {
    calendar(&[format!(
        "BEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20270101T000000Z\r\n\
         DTSTART;TZID=Europe/Vienna:202705{day:02}T{hour:02}0000\r\nDURATION:PT1H\r\n\
         RRULE:FREQ=WEEKLY;COUNT=3\r\nSUMMARY:Yoga\r\n{more}END:VEVENT\r\n"
    )])
}

/// Returns the slugs of all public events.
async fn slugs(club: &Subscribing) -> Vec<String> {
    let list = club.app.get("/events?start_date=2020-01-01&per_page=50").await.expect(200);
    let slug = |event: &Value| event["slug"].as_str().unwrap().to_owned();
    list.json["events"].as_array().unwrap().iter().map(slug).collect()
}

/// Returns how many messages of this type wait for webhooks.
fn notices(app: &App, kind: &str) -> i64 {
    app.rows(&format!("webhook_outbox where payload like '%\"type\":\"{kind}%'"))
}

/// Returns the ids, starts and titles of all public events.
async fn shown(club: &Subscribing) -> (Vec<i64>, Vec<String>) {
    let list = club.app.get("/events?start_date=2020-01-01&per_page=50").await.expect(200);
    let summary = |event: &Value| {
        let start = &event["start_date"].as_str().unwrap()[5..16];
        format!("{start} {}{}", event["title"].as_str().unwrap(), mark(event))
    };
    (list.ids(), list.json["events"].as_array().unwrap().iter().map(summary).collect())
}

async fn patch(club: &Subscribing, id: i64, body: Value) {
    club.app.call("editor", "PATCH", &format!("/events/{id}"), &body).await.expect(200);
}

/// Removes the subscription with its events, after which no event may be public.
async fn assert_nothing_stays(club: &Subscribing, id: i64) {
    let path = format!("/subscriptions/{id}?events=true");
    club.app.call("editor", "DELETE", &path, &json!({})).await.expect(200);
    club.app.clock.advance(1);
    calendar::run_due_subscriptions(&club.state).await;
    assert_eq!(shown(club).await.1, [""; 0]);
}

#[actix_web::test]
async fn title_changed_for_a_whole_series_stays() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    patch(&club, ids[0], json!({"scope": "all", "title": "Mine"})).await;
    assert_eq!(club.shown(id).await["changed_events"], 3);
    club.serves(&series(4, 18, "DESCRIPTION:New\r\n").replace("SUMMARY:Yoga", "SUMMARY:Theirs"));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 3, 0, 0, 0, 0]);
    let expected = ["05-04 18:00 Mine", "05-11 18:00 Mine", "05-18 18:00 Mine"].map(str::to_owned);
    assert_eq!(shown(&club).await, (ids.clone(), expected.to_vec()));
    // Another change applies to all of them again.
    patch(&club, ids[1], json!({"scope": "all", "title": "Ours"})).await;
    let expected = ["05-04 18:00 Ours", "05-11 18:00 Ours", "05-18 18:00 Ours"].map(str::to_owned);
    assert_eq!(shown(&club).await, (ids, expected.to_vec()));
    assert_nothing_stays(&club, id).await;
}

#[actix_web::test]
async fn series_moved_by_a_user_stays_and_is_not_doubled() {
    for (start, end, expected) in [
        ("2027-05-04 18:30", "2027-05-04 19:30", ["05-04 18:30", "05-11 18:30", "05-18 18:30"]),
        ("2027-05-11 18:00", "2027-05-11 19:00", ["05-11 18:00", "05-18 18:00", "05-25 18:00"]),
        ("2027-05-03 18:00", "2027-05-03 19:00", ["05-03 18:00", "05-10 18:00", "05-17 18:00"]),
    ] {
        let club = Subscribing::new().await;
        club.serves(&series(4, 18, ""));
        let id = club.subscribe(json!({})).await;
        club.run(id).await;
        let (ids, _) = shown(&club).await;
        patch(&club, ids[0], json!({"scope": "all", "start_date": start, "end_date": end})).await;
        club.serves(&series(4, 18, "").replace("SUMMARY:Yoga", "SUMMARY:New"));
        let run = club.run_now(id).await;
        assert_eq!(counts(&run, "imported"), [0, 3, 0, 0, 0, 0]);
        let expected: Vec<String> = expected.iter().map(|start| format!("{start} New")).collect();
        assert_eq!(shown(&club).await, (ids.clone(), expected));
        // Feeds have the dates of the site.
        let feed = club.app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
        let entries = feed.split("BEGIN:VEVENT").skip(1);
        let moved = entries.filter(|one| one.contains("RECURRENCE-ID")).count();
        assert_eq!(moved, 3, "{feed}");
        // So do the addresses of their pages.
        let day = &start[..10];
        assert_eq!(slugs(&club).await[0], format!("yoga--{day}"));
        // They move together again.
        let (start, end) = (start.replace(" 18:", " 20:"), end.replace(" 19:", " 21:"));
        patch(&club, ids[0], json!({"scope": "all", "start_date": start, "end_date": end})).await;
        let minutes = &start[13..];
        let together =
            shown(&club).await.1.iter().all(|one| one.contains(&format!("20{minutes} ")));
        assert!(together, "{:?}", shown(&club).await.1);
        assert_eq!(counts(&club.run_now(id).await, "imported"), [0, 0, 3, 0, 0, 0]);
        assert_nothing_stays(&club, id).await;
    }
}

#[actix_web::test]
async fn split_series_stays_with_its_subscription() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    patch(&club, ids[1], json!({"scope": "following", "title": "Mine"})).await;
    club.serves(&series(4, 18, "DESCRIPTION:New\r\n"));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 3, 0, 0, 0, 0]);
    let expected = ["05-04 18:00 Yoga", "05-11 18:00 Mine", "05-18 18:00 Mine"].map(str::to_owned);
    assert_eq!(shown(&club).await, (ids.clone(), expected.to_vec()));
    assert_eq!(club.app.rows("series"), 1);
    let last = club.app.get(&format!("/events/{}", ids[2])).await.expect(200).json;
    assert_eq!(last["series"]["changed"], json!(["title"]));
    assert_nothing_stays(&club, id).await;
}

#[actix_web::test]
async fn series_moved_in_the_file_moves_its_events() {
    let times = [(4, 19), (5, 18), (4, 1)];
    for (day, hour) in times {
        let club = Subscribing::new().await;
        club.serves(&series(4, 18, ""));
        let id = club.subscribe(json!({})).await;
        club.run(id).await;
        let (ids, _) = shown(&club).await;
        patch(&club, ids[1], json!({"title": "Mine"})).await;
        club.app.delete(&format!("/events/{}", ids[2])).await.expect(200);
        club.serves(&series(day, hour, "SEQUENCE:1\r\n"));
        let run = club.run_now(id).await;
        assert_eq!(counts(&run, "imported"), [0, 2, 0, 1, 0, 0], "{run}");
        let starts = [day, day + 7].map(|day| format!("05-{day:02} {hour:02}:00"));
        let expected = vec![format!("{} Yoga", starts[0]), format!("{} Mine", starts[1])];
        assert_eq!(shown(&club).await, (ids[..2].to_vec(), expected));
        assert_eq!((run["events"].clone(), club.app.rows("events")), (json!(3), 3));
        let day_of = |plus: u8| format!("yoga--2027-05-{:02}", day + plus);
        assert_eq!(slugs(&club).await, [day_of(0), day_of(7)]);
        let former = club.app.server.get("/event/yoga/2027-05-04/");
        assert_eq!(send(former).await.status, if day == 4 { 200 } else { 301 });
        // The date in the trash stays left out.
        let feed = club.app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
        let left_out = format!("EXDATE;TZID=Europe/Vienna:202705{}T{hour:02}0000", day + 14);
        assert!(feed.contains(&left_out), "{feed}");
        // The next run finds all of them.
        let run = club.run_now(id).await;
        assert_eq!(counts(&run, "imported"), [0, 0, 2, 1, 0, 0], "{run}");
        assert_nothing_stays(&club, id).await;
    }
}

#[actix_web::test]
async fn series_moved_and_cancelled_in_one_revision_keeps_its_events() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    let revisions = [
        (20, "STATUS:CANCELLED\r\n", " (off)"),
        (21, "STATUS:CANCELLED\r\n", " (off)"),
        (21, "", ""),
        (19, "STATUS:CANCELLED\r\n", " (off)"),
        (18, "", ""),
    ];
    for (number, (hour, more, off)) in revisions.into_iter().enumerate() {
        club.serves(&series(4, hour, &format!("SEQUENCE:{}\r\n{more}", number + 1)));
        for expected in [[0, 3, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0]] {
            let run = club.run_now(id).await;
            assert_eq!(counts(&run, "imported"), expected, "{number}: {run}");
            let days = ["04", "11", "18"];
            let texts = days.map(|day| format!("05-{day} {hour}:00 Yoga{off}")).to_vec();
            assert_eq!(shown(&club).await, (ids.clone(), texts), "{number}");
            assert_eq!(club.app.rows("events"), 3, "{number}");
        }
    }
}

#[actix_web::test]
async fn shifted_series_keeps_events_of_its_days_and_counts_what_it_trashes() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    club.serves(&series(11, 18, ""));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [1, 0, 2, 0, 0, 1], "{run}");
    let (now, starts) = shown(&club).await;
    assert_eq!(now[..2], ids[1..]);
    assert_eq!(starts, ["05-11 18:00 Yoga", "05-18 18:00 Yoga", "05-25 18:00 Yoga"]);
    // The first event returns to its day.
    club.serves(&series(4, 18, ""));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 1, 2, 0, 0, 1], "{run}");
    assert_eq!(shown(&club).await.0, ids);
}

#[actix_web::test]
async fn date_that_a_user_erased_does_not_return_at_another_time() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    club.app.delete(&format!("/events/{}?force=true", ids[1])).await.expect(200);
    for (hour, written) in [(19, [0, 2, 0, 1, 0, 0]), (19, [0, 0, 2, 1, 0, 0])] {
        club.serves(&series(4, hour, ""));
        let run = club.run_now(id).await;
        assert_eq!(counts(&run, "imported"), written, "{run}");
        assert_eq!(shown(&club).await.1, ["05-04 19:00 Yoga", "05-18 19:00 Yoga"]);
    }
}

#[actix_web::test]
async fn dates_that_are_over_stay_when_the_file_has_another_weekday() {
    let club = Subscribing::new().await;
    let file = |day: u8| {
        let five = series(day, 18, "").replace("202705", "202703");
        five.replace("COUNT=3", "COUNT=5")
    };
    // Today is Wednesday, 10 March.
    club.serves(&file(2));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    club.serves(&file(3));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [1, 4, 0, 0, 0, 0], "{run}");
    let (now, starts) = shown(&club).await;
    let days = ["03", "09", "10", "17", "24", "31"];
    assert_eq!(starts, days.map(|day| format!("03-{day} 18:00 Yoga")));
    assert_eq!([now[0], now[1], now[3], now[4], now[5]], ids[..]);
}

#[actix_web::test]
async fn new_dates_of_a_subscribed_series_belong_to_the_subscription() {
    let club = Subscribing::new().await;
    let endless = series(4, 18, "").replace(";COUNT=3", "");
    club.serves(&endless);
    let id = club.subscribe(json!({})).await;
    let before = club.run(id).await["events"].as_i64().unwrap();
    club.app.clock.advance(30 * 86_400);
    extend_series(&club.state).await;
    let events = club.shown(id).await["events"].as_i64().unwrap();
    assert!(events > before, "{events}");
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 0, events, 0, 0, 0], "{run}");
    assert_nothing_stays(&club, id).await;
}

#[actix_web::test]
async fn new_dates_by_schedule_keep_what_a_user_changed_for_all() {
    let club = Subscribing::new().await;
    let endless = series(4, 18, "").replace(";COUNT=3", "");
    club.serves(&endless);
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    patch(&club, ids[0], json!({"scope": "all", "title": "Mine"})).await;
    club.app.clock.advance(30 * 86_400);
    extend_series(&club.state).await;
    let events = club.shown(id).await["events"].as_i64().unwrap();
    club.serves(&endless.replace("SUMMARY:Yoga", "SUMMARY:Theirs"));
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 0, events, 0, 0, 0], "{run}");
    assert!(!club.app.get("/events?search=Theirs").await.expect(200).text.contains("Theirs\""));
}

#[actix_web::test]
async fn new_rule_for_a_series_of_a_subscription_is_400() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, before) = shown(&club).await;
    let longer = json!({"rrule": "FREQ=WEEKLY", "count": 4});
    for (event, scope) in [(ids[0], "all"), (ids[1], "following")] {
        let body = json!({"scope": scope, "title": "Mine", "recurrence": longer});
        let path = format!("/events/{event}");
        let refused = club.app.call("editor", "PATCH", &path, &body).await.expect(400);
        let text = refused.json["data"]["params"]["recurrence"].as_str().unwrap();
        assert!(text.contains(&format!("subscription {id} takes the rule")), "{text}");
    }
    assert_eq!(shown(&club).await, (ids.clone(), before));
    // Other fields change, even if the rule is sent back unmodified.
    let path = format!("/events/{}", ids[0]);
    let own = club.app.get_as("editor", &path).await.expect(200).json;
    let rule = &own["series"]["recurrence"];
    patch(&club, ids[0], json!({"scope": "all", "title": "Mine", "recurrence": rule})).await;
    let run = club.run_now(id).await;
    assert_eq!(counts(&run, "imported"), [0, 0, 3, 0, 0, 0], "{run}");
    let days = ["04", "11", "18"];
    assert_eq!(shown(&club).await.1, days.map(|day| format!("05-{day} 18:00 Mine")));
    // Without the subscription, the series gets another rule.
    let removed = format!("/subscriptions/{id}");
    club.app.call("editor", "DELETE", &removed, &json!({})).await.expect(200);
    calendar::run_due_subscriptions(&club.state).await;
    patch(&club, ids[0], json!({"scope": "all", "recurrence": longer})).await;
    assert_eq!(shown(&club).await.1.len(), 4);
}

#[actix_web::test]
async fn date_that_a_user_erased_stays_excluded_in_feeds() {
    for (erased, day) in [(0, "04"), (1, "11")] {
        let club = Subscribing::new().await;
        club.serves(&series(4, 18, ""));
        let id = club.subscribe(json!({})).await;
        club.run(id).await;
        let (mut ids, _) = shown(&club).await;
        let path = format!("/events/{}?force=true", ids.remove(erased));
        club.app.delete(&path).await.expect(200);
        for title in ["Yoga", "New"] {
            club.serves(&series(4, 18, "").replace("SUMMARY:Yoga", &format!("SUMMARY:{title}")));
            club.run_now(id).await;
            assert_eq!(shown(&club).await.0, ids);
            let feed = club.app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
            let excluded = format!("EXDATE;TZID=Europe/Vienna:202705{day}T180000");
            assert!(feed.contains(&excluded), "{feed}");
        }
    }
}

#[actix_web::test]
async fn cost_of_one_date_stays_its_own_after_an_import() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    patch(&club, ids[1], json!({"cost": "5"})).await;
    club.serves(&series(4, 18, "DESCRIPTION:New\r\n"));
    club.run_now(id).await;
    patch(&club, ids[0], json!({"cost": "9", "scope": "all"})).await;
    let mut costs = Vec::new();
    for event in &ids {
        let shown = club.app.get(&format!("/events/{event}")).await.expect(200).json;
        costs.push(shown["cost"].as_str().unwrap().to_owned());
    }
    assert!(costs[0].contains('9') && costs[1].contains('5') && costs[2] == costs[0], "{costs:?}");
}

#[actix_web::test]
async fn series_in_a_file_has_slugs_of_a_series_and_sends_one_message() {
    for subscribed in [true, false] {
        let club = Subscribing::new().await;
        let add = |db: &mut Db| add_webhook(db, "https://mirror.example/hook", "whsec_x", 0);
        club.state.pools.write_blocking(add).unwrap();
        let id = if subscribed { club.subscribe(json!({})).await } else { 0 };
        let take = async |file: String| match subscribed {
            true => {
                club.serves(&file);
                club.run_now(id).await;
            }
            false => {
                imports::counts(&club.app, &file).await;
            }
        };
        take(series(4, 18, "")).await;
        let days = ["04", "11", "18"];
        assert_eq!(slugs(&club).await, days.map(|day| format!("yoga--2027-05-{day}")));
        send(club.app.server.get("/event/yoga/2027-05-11/")).await.expect(200);
        let sent = |app: &App| {
            ["series.created", "series.changed", "event."].map(|kind| notices(app, kind))
        };
        assert_eq!(sent(&club.app), [1, 0, 0]);
        take(series(4, 18, "DESCRIPTION:New\r\n")).await;
        assert_eq!(sent(&club.app), [1, 1, 0]);
        // Changing a single date sends a message about an event.
        let moved = "BEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20270102T000000Z\r\nSUMMARY:Moved\r\n\
             RECURRENCE-ID;TZID=Europe/Vienna:20270511T180000\r\n\
             DTSTART;TZID=Europe/Vienna:20270511T190000\r\nDURATION:PT1H\r\nEND:VEVENT\r\n";
        let end = "END:VCALENDAR";
        let file = series(4, 18, "DESCRIPTION:New\r\n").replace(end, &format!("{moved}{end}"));
        take(file).await;
        assert_eq!((sent(&club.app), notices(&club.app, "event.changed")), ([1, 1, 1], 1));
        assert_eq!(slugs(&club).await, days.map(|day| format!("yoga--2027-05-{day}")));
    }
}

#[actix_web::test]
async fn override_of_a_new_series_has_the_slug_of_its_date() {
    let club = Subscribing::new().await;
    let moved = "BEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20270102T000000Z\r\nSUMMARY:Moved\r\n\
         RECURRENCE-ID;TZID=Europe/Vienna:20270511T180000\r\n\
         DTSTART;TZID=Europe/Vienna:20270512T190000\r\nDURATION:PT1H\r\nEND:VEVENT\r\n";
    let file = series(4, 18, "").replace("END:VCALENDAR", &format!("{moved}END:VCALENDAR"));
    assert_eq!(imports::counts(&club.app, &file).await, [3, 0, 0, 0, 0]);
    let days = ["04", "11", "18"];
    assert_eq!(slugs(&club).await, days.map(|day| format!("yoga--2027-05-{day}")));
}

#[actix_web::test]
async fn series_that_a_user_moved_is_not_doubled_by_an_import() {
    let club = Subscribing::new().await;
    let file = series(4, 18, "");
    assert_eq!(imports::counts(&club.app, &file).await, [3, 0, 0, 0, 0]);
    let (ids, before) = shown(&club).await;
    let dates =
        json!({"scope": "all", "start_date": "2027-05-04 18:30", "end_date": "2027-05-04 19:30"});
    patch(&club, ids[0], dates).await;
    assert_eq!(imports::counts(&club.app, &file).await, [0, 3, 0, 0, 0]);
    assert_eq!(shown(&club).await, (ids, before));
}

#[actix_web::test]
async fn events_in_the_trash_of_a_removed_subscription_are_named_and_adopted() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    assert_nothing_stays(&club, id).await;
    let id = club.subscribe(json!({})).await;
    let run = club.run(id).await;
    assert!(message(&run).contains("an event in the trash"), "{run}");
    assert!(message(&run).contains("set adopt and run the subscription"), "{run}");
    // Every message can be read, but not in the list.
    let other = event("t", 6, "RRULE:nonsense\r\n");
    club.serves(&series(4, 18, "").replace("END:VCALENDAR", &format!("{other}END:VCALENDAR")));
    let run = club.run_now(id).await["last_run"].clone();
    let messages = run["messages"].as_array().unwrap();
    let uids: Vec<&str> = messages.iter().map(|one| one["uid"].as_str().unwrap()).collect();
    assert!(uids.len() > 1 && uids.contains(&"s") && uids.contains(&"t"), "{run}");
    let trashed = messages.iter().find(|one| one["uid"] == "s").unwrap();
    assert!(trashed["message"].as_str().unwrap().contains("in the trash"), "{run}");
    let list = club.app.get_as("editor", "/subscriptions").await.expect(200).json;
    assert_eq!(list["subscriptions"][0]["last_run"]["messages"], Value::Null);
    let path = format!("/subscriptions/{id}");
    club.app.call("editor", "PATCH", &path, &json!({"adopt": true})).await.expect(200);
    club.run_now(id).await;
    let (now, starts) = shown(&club).await;
    assert_eq!((&now[..3], starts.len()), (&ids[..], 4), "{starts:?}");
}

#[actix_web::test]
async fn event_stays_subscribed_if_it_repeats_again_by_another_rule() {
    let club = Subscribing::new().await;
    let weekly = series(4, 18, "").replace("COUNT=3", "COUNT=2");
    club.serves(&weekly);
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (ids, _) = shown(&club).await;
    club.serves(&weekly.replace("RRULE:FREQ=WEEKLY;COUNT=2\r\n", ""));
    assert_eq!(counts(&club.run_now(id).await, "imported"), [0, 0, 1, 0, 0, 1]);
    club.serves(&weekly.replace("WEEKLY", "DAILY"));
    assert_eq!(counts(&club.run_now(id).await, "imported"), [1, 0, 1, 0, 0, 0]);
    let (daily, starts) = shown(&club).await;
    assert_eq!(starts, ["05-04 18:00 Yoga", "05-05 18:00 Yoga"]);
    assert_eq!(daily[0], ids[0]);
    assert_eq!(slugs(&club).await, ["yoga--2027-05-04", "yoga--2027-05-05"]);
    // The trashed event returns with its date.
    club.serves(&weekly);
    assert_eq!(counts(&club.run_now(id).await, "imported"), [0, 1, 1, 0, 0, 1]);
    assert_eq!(shown(&club).await.0, ids);
    assert_nothing_stays(&club, id).await;
}
