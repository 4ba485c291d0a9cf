//! Series of subscriptions whose file changes after users edited, removed or restored their dates.

use serde_json::{Value, json};

use crate::imports;
use crate::subscribing::{Subscribing, calendar, counts, event, message};

/// Builds a weekly series from 4 May 2027 on.
pub fn series(count: u8, hour: u8, more: &str) -> String {
    calendar(&[entry(count, hour, more)])
}

fn entry(count: u8, hour: u8, more: &str) -> String {
    format!(
        "BEGIN:VEVENT\r\nUID:s\r\nDTSTAMP:20270101T000000Z\r\n\
         DTSTART;TZID=Europe/Vienna:20270504T{hour:02}0000\r\nDURATION:PT1H\r\n\
         RRULE:FREQ=WEEKLY;COUNT={count}\r\nSUMMARY:Yoga\r\n{more}END:VEVENT\r\n"
    )
}

/// Returns all public events.
pub async fn public(club: &Subscribing) -> Vec<Value> {
    let list = club.app.get("/events?start_date=2020-01-01&per_page=50").await.expect(200).json;
    list["events"].as_array().unwrap().clone()
}

pub async fn ids(club: &Subscribing) -> Vec<i64> {
    public(club).await.iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

/// Returns the starts and titles of all public events, and the fields that are their own.
pub async fn shown(club: &Subscribing) -> Vec<String> {
    let summary = |event: &Value| {
        let start = &event["start_date"].as_str().unwrap()[5..16];
        let changed = match &event["series"]["changed"] {
            Value::Null => "alone".to_owned(),
            changed => changed.to_string(),
        };
        format!("{start} {} {changed}", event["title"].as_str().unwrap())
    };
    public(club).await.iter().map(summary).collect()
}

/// Returns the parts of the events of a subscription that users changed.
pub async fn changed(club: &Subscribing, id: i64) -> Vec<Value> {
    let path = format!("/subscriptions/{id}/events?per_page=50");
    let list = club.app.get_as("editor", &path).await.expect(200).json;
    list["events"].as_array().unwrap().iter().map(|one| one["changed"].clone()).collect()
}

pub async fn feed(club: &Subscribing) -> String {
    club.app.get("/ical?ends_after=2020-01-01").await.expect(200).text
}

pub async fn patch(club: &Subscribing, id: i64, body: Value) -> Value {
    club.app.call("editor", "PATCH", &format!("/events/{id}"), &body).await.expect(200).json
}

/// Subscribes to a file and runs the subscription.
async fn subscribed(file: &str) -> (Subscribing, i64, Vec<i64>) {
    let club = Subscribing::new().await;
    club.serves(file);
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let ids = ids(&club).await;
    (club, id, ids)
}

#[actix_web::test]
async fn date_restored_after_its_file_changed_agrees_with_the_file() {
    for subscribes in [true, false] {
        let (club, id, ids) = match subscribes {
            true => subscribed(&series(3, 18, "")).await,
            false => {
                let club = Subscribing::new().await;
                imports::counts(&club.app, &series(3, 18, "")).await;
                let ids = ids(&club).await;
                (club, 0, ids)
            }
        };
        let path = format!("/events/{}", ids[1]);
        let removed = club.app.delete(&path).await.expect(200).json;
        club.app.clock.advance(3600);
        let file = series(3, 19, "DESCRIPTION:New\r\nLOCATION:Hall\r\n");
        let file = file.replace("PT1H", "PT90M").replace("SUMMARY:Yoga", "SUMMARY:Stretching");
        for _ in 0..2 {
            match subscribes {
                true => {
                    club.serves(&file);
                    assert_eq!(counts(&club.run_now(id).await, "imported")[3], 1);
                }
                false => assert_eq!(imports::counts(&club.app, &file).await[3], 1),
            }
        }
        let path = format!("/events?include={}&status=trash", ids[1]);
        let trashed = club.app.get_as("editor", &path).await.expect(200).json;
        assert_eq!(trashed["events"][0]["modified_utc"], removed["modified_utc"]);
        let restored = patch(&club, ids[1], json!({"status": "publish"})).await;
        assert_eq!(restored["start_date"], "2027-05-11 19:00:00");
        assert_eq!(restored["end_date"], "2027-05-11 20:30:00");
        assert_eq!(
            (&restored["title"], &restored["slug"]),
            (&json!("Stretching"), &json!("yoga--2027-05-11"))
        );
        assert_eq!(restored["venue"]["venue"], "Hall");
        assert_eq!(restored["series"]["changed"], json!([]));
        assert_eq!(club.app.rows("venues"), 1);
    }
}

#[actix_web::test]
async fn part_that_a_user_changed_stays_in_the_trash_too() {
    let (club, id, ids) = subscribed(&series(3, 18, "")).await;
    patch(&club, ids[1], json!({"title": "Mine"})).await;
    club.app.delete(&format!("/events/{}", ids[1])).await.expect(200);
    club.serves(&series(3, 19, "").replace("SUMMARY:Yoga", "SUMMARY:Theirs"));
    club.run_now(id).await;
    let restored = patch(&club, ids[1], json!({"status": "publish"})).await;
    assert_eq!(restored["title"], "Mine");
    assert_eq!(restored["start_date"], "2027-05-11 19:00:00");
    assert_eq!(restored["series"]["changed"], json!(["title"]));
}

#[actix_web::test]
async fn date_that_returns_to_its_file_has_the_status_that_a_user_chose() {
    for status in ["private", "draft", "publish"] {
        let (club, id, ids) = subscribed(&series(3, 18, "")).await;
        patch(&club, ids[1], json!({"status": "draft"})).await;
        patch(&club, ids[1], json!({"status": status})).await;
        // An editor imports the file without this date.
        let without = series(3, 18, "EXDATE;TZID=Europe/Vienna:20270511T180000\r\n");
        imports::counts(&club.app, &without).await;
        assert_eq!(club.app.rows("events where status = 'trash'"), 1, "{status}");
        club.run_now(id).await;
        let event = format!("events where id = {} and status = '{status}'", ids[1]);
        assert_eq!(club.app.rows(&event), 1, "{status}");
        assert!(changed(&club, id).await[1].to_string().contains("status"), "{status}");
    }
}

#[actix_web::test]
async fn dates_that_their_file_makes_private_are_hidden_although_users_published_them() {
    let without = series(3, 18, "EXDATE;TZID=Europe/Vienna:20270511T180000\r\n");
    for (scope, is_trashed) in [("this", false), ("this", true), ("all", false)] {
        let (club, id, ids) = subscribed(&series(3, 18, "")).await;
        for status in ["draft", "publish"] {
            patch(&club, ids[1], json!({"status": status, "scope": scope})).await;
        }
        if is_trashed {
            // An editor imports the file without this date.
            imports::counts(&club.app, &without).await;
            assert_eq!(public(&club).await.len(), 2);
        }
        club.serves(&series(3, 18, "CLASS:PRIVATE\r\nDESCRIPTION:Knee\r\n"));
        club.run_now(id).await;
        assert_eq!(club.app.rows("events where status = 'private'"), 3, "{scope}");
        // The dates follow the file again.
        club.serves(&series(3, 18, ""));
        club.run_now(id).await;
        assert_eq!(public(&club).await.len(), 3, "{scope}");
        assert_eq!(changed(&club, id).await, vec![json!([]); 3], "{scope}");
    }
    // A status that hides more stays.
    let (club, id, ids) = subscribed(&series(3, 18, "")).await;
    patch(&club, ids[1], json!({"status": "draft"})).await;
    for more in ["CLASS:PRIVATE\r\n", ""] {
        club.serves(&series(3, 18, more));
        club.run_now(id).await;
        assert_eq!(club.app.rows("events where status = 'draft'"), 1, "{more}");
    }
}

#[actix_web::test]
async fn new_dates_of_a_file_get_what_was_changed_for_all() {
    let (club, id, ids) = subscribed(&series(3, 18, "")).await;
    let all = json!({"scope": "all", "title": "Mine", "cost": "9", "tags": ["calm"],
        "venue": {"venue": "Barn"}, "event_status": "postponed"});
    patch(&club, ids[0], all).await;
    patch(&club, ids[1], json!({"title": "Guest"})).await;
    let longer = series(5, 18, "LOCATION:Hall\r\nCATEGORIES:Sport\r\n");
    for (run, written) in [[2, 0, 3, 0, 0, 0], [0, 0, 5, 0, 0, 0]].into_iter().enumerate() {
        club.serves(&longer.replace("SUMMARY:Yoga", "SUMMARY:Theirs"));
        assert_eq!(counts(&club.run_now(id).await, "imported"), written, "{run}");
        let none = "[]";
        let days = [("04", "Mine"), ("11", "Guest"), ("18", "Mine"), ("25", "Mine")];
        let mut expected: Vec<String> = days
            .map(|(day, title)| {
                let own = if title == "Guest" { "[\"title\"]" } else { none };
                format!("05-{day} 18:00 {title} {own}")
            })
            .to_vec();
        expected.push("06-01 18:00 Mine []".to_owned());
        assert_eq!(shown(&club).await, expected, "{run}");
        let parts = json!(["title", "venue", "categories", "event_status"]);
        assert_eq!(changed(&club, id).await, vec![parts; 5]);
        for event in public(&club).await {
            assert!(event["cost"].as_str().unwrap().contains('9'), "{event}");
            assert_eq!(
                (&event["venue"]["venue"], &event["tags"][0]["name"]),
                (&json!("Barn"), &json!("calm"))
            );
            assert_eq!(
                (&event["categories"], &event["event_status"]),
                (&json!([]), &json!("postponed"))
            );
        }
    }
    assert_eq!(club.app.get("/venues?search=hall").await.ids(), [0; 0]);
    let feed = feed(&club).await;
    assert!(feed.contains("COUNT=5\r\nSUMMARY:Mine\r\n"), "{feed}");
    assert!(!feed.contains("Yoga") && !feed.contains("Theirs"), "{feed}");
    // Another change applies to the new dates as well.
    patch(&club, ids[0], json!({"scope": "all", "title": "Ours"})).await;
    let titles: Vec<String> = shown(&club).await.iter().map(|one| one[12..16].to_owned()).collect();
    assert_eq!(titles, ["Ours", "Gues", "Ours", "Ours", "Ours"]);
}

#[actix_web::test]
async fn new_dates_of_a_protected_or_private_series_are_not_public() {
    for (change, name) in
        [(json!({"password": "secret"}), "password"), (json!({"status": "private"}), "")]
    {
        let (club, id, ids) = subscribed(&series(3, 18, "DESCRIPTION:hidden\r\n")).await;
        let mut all = change.clone();
        all["scope"] = json!("all");
        patch(&club, ids[0], all).await;
        club.serves(&series(4, 18, "DESCRIPTION:hidden\r\n"));
        assert_eq!(counts(&club.run_now(id).await, "imported")[0], 1);
        for event in public(&club).await {
            assert!(!event.to_string().contains("hidden"), "{change}: {event}");
        }
        assert_eq!(public(&club).await.len(), if name.is_empty() { 0 } else { 4 }, "{change}");
    }
}

#[actix_web::test]
async fn date_in_the_trash_does_not_take_over_a_private_text() {
    let (club, id, ids) = subscribed(&series(3, 18, "")).await;
    club.app.delete(&format!("/events/{}", ids[1])).await.expect(200);
    let file = series(3, 18, "CLASS:PRIVATE\r\nDESCRIPTION:Knee\r\n");
    club.serves(&file.replace("SUMMARY:Yoga", "SUMMARY:Surgery"));
    club.run_now(id).await;
    let restored = patch(&club, ids[1], json!({"status": "publish"})).await;
    assert_eq!((&restored["title"], &restored["description"]), (&json!("Yoga"), &json!("")));
}

#[actix_web::test]
async fn date_in_the_trash_creates_no_venues_organizers_or_categories() {
    let (club, id, ids) = subscribed(&series(3, 18, "")).await;
    for event in &ids {
        club.app.delete(&format!("/events/{event}")).await.expect(200);
    }
    let more = "LOCATION:Spam\r\nORGANIZER;CN=Spam:mailto:spam@spam.example\r\nCATEGORIES:Spam\r\n";
    club.serves(&series(3, 18, more));
    club.run_now(id).await;
    let rows = ["venues", "organizers", "terms"].map(|table| club.app.rows(table));
    assert_eq!(rows, [0, 0, 0]);
}

#[actix_web::test]
async fn new_private_date_is_private_although_users_published_the_others() {
    let (club, id, _) = subscribed(&series(3, 18, "CLASS:PRIVATE\r\n")).await;
    let first = club.event_of("s");
    patch(&club, first, json!({"scope": "all", "status": "publish"})).await;
    club.serves(&series(4, 18, "CLASS:PRIVATE\r\n"));
    assert_eq!(counts(&club.run_now(id).await, "imported")[0], 1);
    assert_eq!(public(&club).await.len(), 3);
    assert!(!changed(&club, id).await[3].to_string().contains("status"));
}

#[actix_web::test]
async fn new_dates_of_a_moved_series_move_along() {
    for (start, end, days, time) in [
        ("2027-05-04 18:30", "2027-05-04 20:00", ["05-04", "05-11", "05-18", "05-25"], "18:30"),
        ("2027-05-05 09:00", "2027-05-05 10:00", ["05-05", "05-12", "05-19", "05-26"], "09:00"),
    ] {
        let (club, id, ids) = subscribed(&series(3, 18, "")).await;
        patch(&club, ids[1], json!({"title": "Guest"})).await;
        let dates = json!({"scope": "all", "start_date": start, "end_date": end});
        patch(&club, ids[0], dates).await;
        for written in [[1, 0, 3, 0, 0, 0], [0, 0, 4, 0, 0, 0]] {
            club.serves(&series(4, 18, ""));
            assert_eq!(counts(&club.run_now(id).await, "imported"), written, "{start}");
            let titles = ["Yoga", "Guest", "Yoga", "Yoga"];
            let own = ["[\"dates\"]", "[\"title\",\"dates\"]", "[\"dates\"]", "[\"dates\"]"];
            let expected: Vec<String> = (0..4)
                .map(|at| format!("{} {time} {} {}", days[at], titles[at], own[at]))
                .collect();
            assert_eq!(shown(&club).await, expected);
            assert_eq!(changed(&club, id).await[3], json!(["dates"]));
            let new = public(&club).await[3].clone();
            assert_eq!(new["slug"], format!("yoga--2027-{}", days[3]));
            assert_eq!(new["end_date"].as_str().unwrap()[11..16], end[11..]);
        }
        // Moving a single date does not move others.
        let (club, id, ids) = subscribed(&series(3, 18, "")).await;
        patch(
            &club,
            ids[2],
            json!({"start_date": "2027-05-18 20:00", "end_date": "2027-05-18 21:00"}),
        )
        .await;
        club.serves(&series(4, 18, ""));
        club.run_now(id).await;
        assert_eq!(shown(&club).await[3], "05-25 18:00 Yoga []");
    }
}

#[actix_web::test]
async fn released_date_differs_from_a_series_that_was_changed_for_all() {
    let (club, id, ids) = subscribed(&series(4, 18, "")).await;
    patch(&club, ids[0], json!({"scope": "all", "title": "Mine"})).await;
    let release = async |event: i64| {
        let path = format!("/subscriptions/{id}/release");
        club.app.call("editor", "POST", &path, &json!({"event": event})).await.expect(200);
        club.app.clock.advance(1);
        club.run(id).await;
    };
    release(ids[3]).await;
    let expected = [
        "05-04 18:00 Mine []",
        "05-11 18:00 Mine []",
        "05-18 18:00 Mine []",
        "05-25 18:00 Yoga [\"title\"]",
    ];
    assert_eq!(shown(&club).await, expected);
    let feed = feed(&club).await;
    assert!(feed.contains("COUNT=4\r\nSUMMARY:Mine\r\n"), "{feed}");
    assert_eq!(feed.matches("SUMMARY:Yoga").count(), 1, "{feed}");
    for event in &ids[..3] {
        release(*event).await;
    }
    let days = ["04", "11", "18", "25"];
    assert_eq!(shown(&club).await, days.map(|day| format!("05-{day} 18:00 Yoga []")));
}

#[actix_web::test]
async fn changed_dates_that_the_file_drops_stay_outside_the_series_and_are_reported() {
    for dropped in ["COUNT=2", "COUNT=4;EXDATE"] {
        let (club, id, ids) = subscribed(&calendar(&[entry(4, 18, ""), event("t", 6, "")])).await;
        patch(&club, ids[2], json!({"title": "Mine"})).await;
        patch(&club, club.event_of("t"), json!({"title": "Own"})).await;
        let entry = match dropped {
            "COUNT=2" => entry(2, 18, ""),
            _ => entry(4, 18, "EXDATE;TZID=Europe/Vienna:20270518T180000\r\n"),
        };
        let file = calendar(&[entry, event("u", 6, "")]);
        for _ in 0..2 {
            club.serves(&file);
            let run = club.run_now(id).await;
            assert!(message(&run).ends_with("because a user changed them: 2"), "{run}");
            let messages = run["last_run"]["messages"].as_array().unwrap();
            assert_eq!(messages.len(), 2, "{run}");
            let (date, single) = (&messages[0], &messages[1]);
            assert_eq!((&date["uid"], &date["line"]), (&json!("s#20270518T160000Z"), &json!(4)));
            let text = format!(
                "the file no longer has this date; event {} of 2027-05-18 18:00:00 is kept as a \
                 separate event, because a user changed it",
                ids[2]
            );
            assert_eq!(date["message"], text);
            assert_eq!((&single["uid"], &single["line"]), (&json!("t"), &json!(0)));
            assert!(
                single["message"].as_str().unwrap().contains("is kept, because a user changed it")
            );
            assert!(shown(&club).await.contains(&"05-18 18:00 Mine alone".to_owned()));
            // Feeds have it as a standalone event.
            let feed = feed(&club).await;
            assert!(feed.contains("UID:s#20270518T160000Z\r\n"), "{feed}");
            assert_eq!(feed.matches("SUMMARY:Mine").count(), 1, "{feed}");
        }
        // It returns to its series with the file.
        club.serves(&calendar(&[self::entry(4, 18, ""), event("u", 6, "")]));
        let run = club.run_now(id).await;
        assert_eq!(run["last_run"]["messages"].as_array().unwrap().len(), 1, "{run}");
        assert!(shown(&club).await.contains(&"05-18 18:00 Mine [\"title\"]".to_owned()));
    }
}

#[actix_web::test]
async fn adopted_event_is_reported_with_the_fields_that_the_file_replaced() {
    let (club, id, ids) = subscribed(&calendar(&[entry(3, 18, ""), event("t", 6, "")])).await;
    patch(&club, ids[1], json!({"title": "Mine", "venue": {"venue": "Barn"}})).await;
    let path = format!("/subscriptions/{id}");
    club.app.call("editor", "DELETE", &path, &json!({})).await.expect(200);
    let id = club.subscribe(json!({"adopt": true})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "imported"), [0, 1, 3, 0, 0, 0]);
    let text =
        format!("event {} \"Mine\" was taken over; the file replaced its title, venue", ids[1]);
    assert_eq!(run["last_run"]["messages"], json!([{"uid": "s", "line": 4, "message": text}]));
    assert_eq!(message(&run), format!("line 4: {text}"));
    assert_eq!(club.run_now(id).await["last_run"]["messages"], json!([]));
}
