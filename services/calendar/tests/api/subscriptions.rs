//! Subscriptions to other calendars: settings, states, and what users change.

use serde_json::{Value, json};

use crate::app::{App, send};
use crate::subscribing::{Subscribing, calendar, counts, event, file_of, message};

#[actix_web::test]
async fn events_are_created_updated_and_trashed_by_uid() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b", "c"]));
    let id = club.subscribe(json!({})).await;
    let shown = club.shown(id).await;
    assert_eq!((&shown["state"], &shown["last_run"]), (&json!("active"), &Value::Null));
    assert_eq!(shown["next_run_utc"], "2027-03-10 12:00:00");
    let shown = club.run(id).await;
    assert_eq!(counts(&shown, "imported"), [3, 0, 0, 0, 0, 0]);
    assert_eq!((&shown["events"], &shown["failures"]), (&json!(3), &json!(0)));
    assert_eq!(shown["next_run_utc"], "2027-03-10 13:00:00");
    assert_eq!(club.titles().await, ["a", "b", "c"]);
    // Nothing is due before the interval has passed.
    club.app.clock.advance(3599);
    assert_eq!(calendar::run_due_subscriptions(&club.state).await, 0);
    club.app.clock.advance(1);
    let changed = calendar(&[event("a", 6, ""), event("b", 5, ""), event("d", 5, "")]);
    club.serves(&changed);
    let shown = club.run(id).await;
    assert_eq!(counts(&shown, "imported"), [1, 1, 1, 0, 0, 1]);
    assert_eq!(club.titles().await, ["a", "b", "d"]);
    let gone = club.event_of("c");
    assert_eq!(
        club.app.get(&format!("/events/{gone}")).await.expect(403).code(),
        "event-no-longer-available"
    );
    // An event that returns is restored.
    club.serves(&file_of(&["a", "b", "c", "d"]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 2, 2, 0, 0, 0]);
    assert_eq!((club.event_of("c"), club.titles().await.len()), (gone, 4));
}

#[actix_web::test]
async fn past_events_that_vanish_stay() {
    let club = Subscribing::new().await;
    club.serves(&calendar(&[event("past", 2, ""), event("a", 5, ""), event("b", 5, "")]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.serves(&file_of(&["a", "b"]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 2, 0, 0, 0]);
    assert_eq!(club.titles().await, ["past", "a", "b"]);
}

#[actix_web::test]
async fn new_events_get_author_status_category_and_venue_of_the_subscription() {
    let club = Subscribing::new().await;
    let category = club.app.make("/categories", json!({"name": "Clubs & more"})).await;
    let venue = club.app.make("/venues", json!({"venue": "Hall", "city": "Graz"})).await;
    let place = "LOCATION:Barn\r\nCATEGORIES:Dance\r\n";
    club.serves(&calendar(&[
        event("a", 5, ""),
        event("b", 5, place),
        event("c", 5, "CLASS:PRIVATE\r\n"),
    ]));
    let fields = json!({
        "category": category, "venue": venue, "status": "draft", "author": club.app.user("author2"),
    });
    let id = club.subscribe(fields).await;
    let shown = club.run(id).await;
    assert_eq!(counts(&shown, "imported"), [3, 0, 0, 0, 0, 0]);
    let read = async |uid: &str| {
        let path = format!("/events/{}", club.event_of(uid));
        club.app.get_as("editor", &path).await.expect(200).json
    };
    let (a, b, c) = (read("a").await, read("b").await, read("c").await);
    let author = json!(club.app.user("author2").to_string());
    assert_eq!((&a["status"], &a["author"]), (&json!("draft"), &author));
    assert_eq!((&b["status"], &c["status"]), (&json!("draft"), &json!("private")));
    assert_eq!((&a["venue"]["id"], &b["venue"]["venue"]), (&json!(venue), &json!("Barn")));
    let names = |event: &Value| {
        let list = event["categories"].as_array().unwrap().iter();
        let names = list.map(|one| one["name"].as_str().unwrap().replace("&amp;", "&"));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    assert_eq!(names(&a), ["Clubs & more"]);
    assert_eq!(names(&b), ["Clubs & more", "Dance"]);
    // The subscription has the same values as its events.
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 3, 0, 0, 0], "{shown}");
}

#[actix_web::test]
async fn part_that_a_user_changed_stays_until_it_is_released() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let (a, path) = (club.event_of("a"), format!("/events/{}", club.event_of("a")));
    let edit = json!({"title": "Ours", "venue": {"venue": "Barn"}});
    club.app.call("editor", "PATCH", &path, &edit).await.expect(200);
    let more = "LOCATION:Hall\r\nDESCRIPTION:New\r\nURL:https://club.example/\r\n";
    let theirs =
        calendar(&[event("a", 6, more).replace("SUMMARY:a", "SUMMARY:Theirs"), event("b", 5, "")]);
    club.serves(&theirs);
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 1, 1, 0, 0, 0]);
    assert_eq!(shown["changed_events"], 1);
    let read = async || club.app.get(&path).await.expect(200).json;
    let event = read().await;
    assert_eq!((&event["title"], &event["venue"]["venue"]), (&json!("Ours"), &json!("Barn")));
    assert_eq!(event["start_date"], "2027-06-01 10:00:00");
    assert!(event["description"].as_str().unwrap().contains("New"), "{event}");
    let list = format!("/subscriptions/{id}/events");
    let listed = club.app.get_as("editor", &format!("{list}?changed=true")).await.expect(200).json;
    assert_eq!(listed["total"], 1);
    let expected = json!({
        "id": a, "title": "Ours", "status": "publish", "start_date": "2027-06-01 10:00:00",
        "uid": "a", "changed": ["title", "venue"], "vanished": false,
    });
    assert_eq!(listed["events"][0], expected);
    assert_eq!(club.app.get_as("editor", &list).await.json["total"], 2);
    // One part is released, then the rest.
    let release = async |body: Value| {
        let path = format!("/subscriptions/{id}/release");
        club.app.call("editor", "POST", &path, &body).await
    };
    release(json!({"event": a, "fields": ["title"]})).await.expect(200);
    club.run(id).await;
    let event = read().await;
    assert_eq!((&event["title"], &event["venue"]["venue"]), (&json!("Theirs"), &json!("Barn")));
    release(json!({"event": a})).await.expect(200);
    let shown = club.run(id).await;
    assert_eq!(read().await["venue"]["venue"], "Hall");
    assert_eq!(shown["changed_events"], 0);
    for (body, name) in [
        (json!({"event": a, "fields": ["colour"]}), "fields"),
        (json!({"event": 99_999}), "event"),
        (json!({"event": a.to_string() + "x"}), "event"),
    ] {
        let refused = release(body).await.expect(400);
        assert!(refused.json["data"]["params"][name].is_string(), "{}", refused.text);
    }
    release(json!({})).await.expect(400);
}

#[actix_web::test]
async fn event_that_a_user_changed_stays_although_it_vanished() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b", "c", "d"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let path = format!("/events/{}", club.event_of("a"));
    club.app.call("editor", "PATCH", &path, &json!({"title": "Ours"})).await.expect(200);
    club.serves(&file_of(&["c", "d"]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 2, 0, 0, 1]);
    assert!(message(&shown).ends_with("because a user changed them: 1"), "{shown}");
    assert_eq!(club.titles().await, ["Ours", "c", "d"]);
}

#[actix_web::test]
async fn event_that_a_user_trashed_erased_or_restored_stays_unchanged() {
    let club = Subscribing::new().await;
    let all = ["a", "b", "c", "d", "e", "f"];
    club.serves(&file_of(&all));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let path = |uid: &str| format!("/events/{}", club.event_of(uid));
    let (trashed, erased, vanished) = (path("a"), path("b"), path("c"));
    club.app.delete(&trashed).await.expect(200);
    club.app.delete(&format!("{erased}?force=true")).await.expect(200);
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 4, 2, 0, 0]);
    assert_eq!(club.titles().await, ["c", "d", "e", "f"]);
    // An editor restores an event that the file lacks. It is not trashed a second time.
    club.serves(&file_of(&["a", "b", "d", "e", "f"]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported")[5], 1);
    club.app.patch(&vanished, &json!({"status": "publish"})).await.expect(200);
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported")[5], 0);
    assert_eq!(club.titles().await, ["c", "d", "e", "f"]);
    // The record of an erased event is deleted once the file lacks the event, which may then
    // return.
    club.serves(&file_of(&["a", "d", "e", "f"]));
    club.run_now(id).await;
    club.serves(&file_of(&["a", "b", "d", "e", "f"]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported")[0], 1);
}

#[actix_web::test]
async fn file_that_lacks_more_than_half_stops_the_subscription_until_it_is_accepted() {
    let club = Subscribing::new().await;
    let all = ["a", "b", "c", "d"];
    club.serves(&file_of(&all));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    for file in [file_of(&["a"]), file_of(&[])] {
        club.serves(&file);
        let shown = club.run_now(id).await;
        assert_eq!(counts(&shown, "stopped"), [0; 6]);
        assert_eq!((&shown["state"], &shown["next_run_utc"]), (&json!("stopped"), &Value::Null));
        assert!(message(&shown).contains(" are missing from the file"), "{shown}");
        assert_eq!(club.titles().await, all);
        club.app.clock.advance(7200);
        assert_eq!(calendar::run_due_subscriptions(&club.state).await, 0);
        // Resumed without being accepted, it stops again.
        club.step(id, "resume").await;
        assert_eq!(club.run(id).await["state"], "stopped");
        club.step(id, "resume").await;
    }
    club.run(id).await;
    let shown = club.step(id, "accept").await;
    assert_eq!(shown["state"], "active");
    let shown = club.run(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 0, 0, 0, 4]);
    assert!(club.titles().await.is_empty());
    // Acceptance holds for one file.
    club.serves(&file_of(&all));
    club.run_now(id).await;
    club.serves(&file_of(&["a"]));
    assert_eq!(club.run_now(id).await["state"], "stopped");
    let path = format!("/subscriptions/{id}/accept");
    club.step(id, "pause").await;
    club.app.call("editor", "POST", &path, &json!({})).await.expect(400);
}

#[actix_web::test]
async fn half_of_the_events_may_vanish() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.serves(&file_of(&["a"]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 1, 0, 0, 1]);
}

#[actix_web::test]
async fn series_that_loses_most_occurrences_stops_the_subscription() {
    let club = Subscribing::new().await;
    club.serves(&calendar(&[event("s", 5, "RRULE:FREQ=DAILY;COUNT=20\r\n"), event("a", 5, "")]));
    let id = club.subscribe(json!({})).await;
    let shown = club.run(id).await;
    assert_eq!(shown["events"], 21);
    club.serves(&calendar(&[event("s", 5, ""), event("a", 5, "")]));
    let shown = club.run_now(id).await;
    assert_eq!((&shown["state"], &shown["last_run"]["lost"]), (&json!("stopped"), &json!(19)));
    // A shorter series that keeps most occurrences loses the others.
    club.serves(&calendar(&[event("s", 5, "RRULE:FREQ=DAILY;COUNT=15\r\n"), event("a", 5, "")]));
    club.step(id, "resume").await;
    let shown = club.run(id).await;
    assert_eq!(shown["last_run"]["outcome"], "imported");
    assert_eq!(club.app.rows("events where status = 'trash'"), 5);
}

#[actix_web::test]
async fn events_of_others_are_not_written() {
    let club = Subscribing::new().await;
    let own = club.app.event(json!({"title": "Own"})).await;
    let file = calendar(&[event("imported", 5, "")]);
    let import = club.app.request("editor", "POST", "/import/ical");
    send(import.header("content-type", "text/calendar").body(file)).await.expect(200);
    let feed = club.app.get("/ical?start_date=2020-01-01").await.expect(200).text;
    let host =
        feed.split(&format!("UID:{own}@")).nth(1).unwrap().lines().next().unwrap().to_owned();
    club.serves(&file_of(&["a"]));
    let first = club.subscribe(json!({})).await;
    club.run(first).await;
    // The second calendar uses the UIDs of all of them.
    let theirs = ["imported", "a", &format!("{own}@{host}"), "z"];
    let theirs =
        theirs.map(|uid| event(uid, 7, "SEQUENCE:9\r\n").replace("SUMMARY:", "SUMMARY:x "));
    let theirs = calendar(&theirs);
    club.serves(&theirs);
    let second = club.subscribe_to(&club.peer.url("/other.ics"), json!({})).await;
    let shown = club.run(second).await;
    assert_eq!(counts(&shown, "imported"), [2, 0, 0, 2, 0, 0], "{shown}");
    assert!(message(&shown).contains("outside this subscription"), "{shown}");
    let titles = club.titles().await;
    assert_eq!(titles[..3], ["Own", "imported", "a"]);
    // The feed of this calendar itself changes nothing.
    club.serves(&feed);
    let third = club.subscribe_to(&club.peer.url("/own.ics"), json!({"adopt": true})).await;
    let shown = club.run(third).await;
    assert_eq!(counts(&shown, "imported")[..3], [0, 0, 0], "{shown}");
    assert_eq!(shown["events"], 0);
}

#[actix_web::test]
async fn subscription_that_adopts_takes_over_imported_events() {
    let club = Subscribing::new().await;
    let import = club.app.request("editor", "POST", "/import/ical");
    let import = import.header("content-type", "text/calendar").body(file_of(&["a", "b"]));
    send(import).await.expect(200);
    let before = club.event_of("a");
    club.serves(&calendar(&[event("a", 6, ""), event("b", 5, "")]));
    let id = club.subscribe(json!({"adopt": true})).await;
    let shown = club.run(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 1, 1, 0, 0, 0]);
    assert_eq!((&shown["events"], club.event_of("a")), (&json!(2), before));
}

#[actix_web::test]
async fn faulty_entry_is_reported_and_does_not_count_as_vanished() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let faulty = event("b", 5, "").replace("DTSTART:20270501T100000Z\r\n", "");
    club.serves(&calendar(&[event("a", 5, ""), faulty]));
    let shown = club.run_now(id).await;
    assert_eq!(counts(&shown, "imported"), [0, 0, 1, 0, 1, 0]);
    assert!(message(&shown).contains("DTSTART is missing"), "{shown}");
    assert_eq!(club.titles().await, ["a", "b"]);
}

#[actix_web::test]
async fn removed_subscription_leaves_its_events_or_takes_them_along() {
    let club = Subscribing::new().await;
    club.serves(&calendar(&[event("past", 2, ""), event("a", 5, "")]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let path = format!("/subscriptions/{id}");
    club.app.call("editor", "DELETE", &path, &json!({})).await.expect(200);
    club.app.get_as("editor", &path).await.expect(400);
    assert_eq!(club.titles().await, ["past", "a"]);
    assert_eq!((club.app.rows("subscriptions"), club.app.rows("subscribed_events")), (0, 0));
    let id = club.subscribe(json!({"adopt": true})).await;
    club.run(id).await;
    let path = format!("/subscriptions/{id}");
    let removed = send(club.app.request("editor", "DELETE", &format!("{path}?events=true"))).await;
    assert_eq!(removed.expect(200).json["state"], "removing");
    club.app.call("editor", "POST", &format!("{path}/resume"), &json!({})).await.expect(400);
    calendar::run_due_subscriptions(&club.state).await;
    club.app.get_as("editor", &path).await.expect(400);
    assert!(club.titles().await.is_empty());
    assert_eq!(club.app.rows("events where status = 'trash'"), 2);
}

#[actix_web::test]
async fn paused_subscription_does_not_run() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a"]));
    let id = club.subscribe(json!({})).await;
    assert_eq!(club.step(id, "pause").await["state"], "paused");
    club.app.clock.advance(86_400);
    assert_eq!(calendar::run_due_subscriptions(&club.state).await, 0);
    let run = format!("/subscriptions/{id}/run");
    club.app.call("editor", "POST", &run, &json!({})).await.expect(400);
    assert_eq!(club.step(id, "resume").await["state"], "active");
    assert_eq!(counts(&club.run(id).await, "imported")[0], 1);
}

#[actix_web::test]
async fn settings_are_validated() {
    let club = Subscribing::new().await;
    let url = club.peer.url("/club.ics");
    let venue = club.app.make("/venues", json!({"venue": "Hall"})).await;
    for (fields, name) in [
        (json!({"url": "ftp://club.example/a"}), "url"),
        (json!({"url": "https://me:word@club.example/a"}), "url"),
        (json!({"url": format!("https://club.example/{}", "x".repeat(2001))}), "url"),
        (json!({"url": url, "interval": 14}), "interval"),
        (json!({"url": url, "interval": 43_201}), "interval"),
        (json!({"url": url, "author": 9999}), "author"),
        (json!({"url": url, "status": "trash"}), "status"),
        (json!({"url": url, "category": venue}), "category"),
        (json!({"url": url, "venue": 9999}), "venue"),
        (json!({"url": url, "adopt": "maybe"}), "adopt"),
    ] {
        let refused = club.app.call("editor", "POST", "/subscriptions", &fields).await.expect(400);
        assert!(refused.json["data"]["params"][name].is_string(), "{name}: {}", refused.text);
    }
    let missing = club.app.call("editor", "POST", "/subscriptions", &json!({})).await.expect(400);
    assert_eq!(missing.json["data"]["params"], json!(["url"]));
    let fields = json!({"interval": 15, "venue": venue, "status": "pending"});
    let id = club.subscribe_to("webcal://club.example/c.ics", fields).await;
    let shown = club.shown(id).await;
    assert_eq!(shown["url"], "webcal://club.example/c.ics");
    assert_eq!(
        (&shown["interval"], &shown["author"]),
        (&json!(15), &json!(club.app.user("editor")))
    );
    let twice = json!({"url": "https://club.example/c.ics"});
    let twice = club.app.call("editor", "POST", "/subscriptions", &twice).await.expect(400);
    assert!(twice.text.contains(&format!("subscription {id}")), "{}", twice.text);
    let path = format!("/subscriptions/{id}");
    let change = json!({"venue": 0, "interval": 30});
    let changed = club.app.call("editor", "PATCH", &path, &change).await.expect(200).json;
    assert_eq!((&changed["venue"], &changed["interval"]), (&Value::Null, &json!(30)));
    assert_eq!(changed["status"], "pending");
    let list = club.app.get_as("editor", "/subscriptions").await.expect(200).json;
    assert_eq!(list["subscriptions"], json!([changed]));
}

#[actix_web::test]
async fn private_addresses_need_the_setting() {
    let app = App::new().await;
    for url in ["http://127.0.0.1/c.ics", "http://localhost/c.ics", "http://10.0.0.1/c.ics"] {
        let refused = app.call("editor", "POST", "/subscriptions", &json!({"url": url})).await;
        assert_eq!(
            refused.expect(400).json["data"]["params"]["url"].as_str().unwrap(),
            "url must be an http, https or webcal address on a public host."
        );
    }
}

#[actix_web::test]
async fn address_with_a_password_is_400_with_the_reason() {
    let app = App::with(&["--subscription-allow-private=on"]).await;
    let login = "url must not have a user name or a password.";
    for (url, expected) in [
        ("http://user:pw@club.example/c.ics", login),
        ("webcal://user@club.example?a", login),
        ("ftp://club.example/@", "url must be an http, https or webcal address on a public host."),
    ] {
        let refused = app.call("editor", "POST", "/subscriptions", &json!({"url": url})).await;
        assert_eq!(refused.expect(400).json["data"]["params"]["url"], expected, "{url}");
    }
    let path = json!({"url": "https://club.example/@user:pw/c.ics"});
    app.call("editor", "POST", "/subscriptions", &path).await.expect(201);
}

#[actix_web::test]
async fn subscriptions_are_only_for_editors() {
    let app = App::new().await;
    let body = json!({"url": "https://club.example/c.ics"});
    let id = app.call("editor", "POST", "/subscriptions", &body).await.expect(201).id();
    let event = json!({"event": 1});
    let item = format!("/subscriptions/{id}");
    let under = |name: &str| format!("{item}/{name}");
    let operations = [
        ("GET", "/subscriptions".to_owned(), json!({}), 200),
        ("POST", "/subscriptions".to_owned(), body, 400),
        ("GET", item.clone(), json!({}), 200),
        ("PATCH", item.clone(), json!({"interval": 90}), 200),
        ("GET", under("events"), json!({}), 200),
        ("POST", under("release"), event, 400),
        ("POST", under("run"), json!({}), 200),
        ("POST", under("pause"), json!({}), 200),
        ("POST", under("resume"), json!({}), 200),
        ("POST", under("accept"), json!({}), 400),
    ];
    for (method, path, body, allowed) in &operations {
        for (who, refused) in [("", 401), ("reader", 403), ("contributor", 403), ("author", 403)] {
            let answer = app.call(who, method, path, body).await;
            assert_eq!(answer.status, refused, "{method} {path} by {who:?}: {}", answer.text);
        }
        for who in ["editor", "administrator"] {
            let answer = app.call(who, method, path, body).await;
            assert_eq!(answer.status, *allowed, "{method} {path} by {who}: {}", answer.text);
        }
    }
    for (who, status) in
        [("", 401), ("reader", 403), ("contributor", 403), ("author", 403), ("administrator", 200)]
    {
        assert_eq!(app.call(who, "DELETE", &item, &json!({})).await.status, status, "{who}");
    }
}

#[actix_web::test]
async fn heir_of_a_removed_user_becomes_the_author_of_subscriptions() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a"]));
    let id = club.subscribe(json!({"author": club.app.user("author")})).await;
    calendar::remove_user(&club.state.pools, ("author", "author2"), 0).unwrap();
    assert_eq!(club.shown(id).await["author"], club.app.user("author2"));
    assert_eq!(counts(&club.run(id).await, "imported")[0], 1);
}
