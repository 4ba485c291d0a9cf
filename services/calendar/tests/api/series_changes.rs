//! Changes of the dates and of the name of a series.

use serde_json::{Value, json};

use crate::app::App;
use crate::imports::{counts, post};
use crate::pages::page;
use crate::series::{course, events, patch, starts, texts};
use crate::subscribing::{calendar, event};

/// Returns a change of the rule of all events of a weekly course.
fn weekly(more: &Value) -> Value {
    let mut recurrence = json!({"rrule": "FREQ=WEEKLY;BYDAY=TU"});
    recurrence.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"scope": "all", "recurrence": recurrence})
}

#[actix_web::test]
async fn series_of_listed_dates_excludes_one_without_listing_the_others() {
    let app = App::new().await;
    let listed = json!({"recurrence": {"rdates": ["2027-03-20", "2027-04-01", "2027-05-01"]}});
    let id = course(&app, listed).await;
    let exclude = |day: &str| json!({"recurrence": {"exdates": [day]}, "scope": "all"});
    patch(&app, id, exclude("2027-04-01")).await.expect(200);
    let rest = ["03-16 18:00", "03-20 18:00", "05-01 18:00"];
    assert_eq!(starts(&app, id).await, rest);
    // A rule is not removed by leaving it out, and an empty list leaves nothing.
    let other = course(&app, json!({"title": "Weekly"})).await;
    let emptied = json!({"recurrence": {"rdates": []}, "scope": "all"});
    for (event, body) in [(other, exclude("2027-03-23")), (id, emptied)] {
        let refused = patch(&app, event, body).await.expect(400);
        let text = &refused.json["data"]["params"]["recurrence"];
        assert_eq!(text, "recurrence must have an rrule or rdates.", "{}", refused.text);
    }
    assert_eq!(starts(&app, other).await.len(), 4);
    assert_eq!(starts(&app, id).await, rest);
}

#[actix_web::test]
async fn added_dates_after_a_new_until_are_dropped() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let added = ["2027-03-18", "2027-05-01"];
    patch(&app, id, weekly(&json!({"until": "2027-04-06", "rdates": added}))).await.expect(200);
    let all =
        ["03-16 18:00", "03-18 18:00", "03-23 18:00", "03-30 18:00", "04-06 18:00", "05-01 18:00"];
    assert_eq!(starts(&app, id).await, all);
    // The same end keeps the date after it.
    let same = weekly(&json!({"until": "2027-04-06", "exdates": ["2027-03-23"]}));
    patch(&app, id, same).await.expect(200);
    let kept = [&all[..2], &all[3..]].concat();
    assert_eq!(starts(&app, id).await, kept);
    patch(&app, id, weekly(&json!({"until": "2027-03-30"}))).await.expect(200);
    assert_eq!(starts(&app, id).await, [&all[..2], &all[3..4]].concat());
    let shown = events(&app, id).await[0]["series"]["recurrence"].clone();
    assert_eq!(shown["rdates"], json!(["2027-03-18 18:00:00"]));
}

#[actix_web::test]
async fn deleting_an_added_date_after_the_rule_keeps_the_end_of_the_rule() {
    let ends = [
        (json!({"count": 3}), json!(3), json!(null)),
        (json!({"until": "2027-03-30"}), json!(null), json!("2027-03-30 23:59:59")),
    ];
    for (end, count, until) in ends {
        let app = App::new().await;
        let mut recurrence = json!({"rrule": "FREQ=WEEKLY;BYDAY=TU", "rdates": ["2027-05-20"]});
        recurrence.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
        let id = course(&app, json!({"recurrence": recurrence})).await;
        let all = events(&app, id).await;
        let added = all[3]["id"].as_i64().unwrap();
        app.delete(&format!("/events/{added}?scope=following")).await.expect(200);
        let ruled = ["03-16 18:00", "03-23 18:00", "03-30 18:00"];
        let recurrence = events(&app, id).await[0]["series"]["recurrence"].clone();
        assert_eq!((&recurrence["count"], &recurrence["until"]), (&count, &until), "{recurrence}");
        assert_eq!(recurrence["rdates"], json!([]));
        // A later change of all events adds none.
        let shorter = json!({"end_date": "2027-03-16 19:00", "scope": "all"});
        patch(&app, id, shorter).await.expect(200);
        assert_eq!(starts(&app, id).await, ruled);
        // Deleting from a date of the rule on still ends it earlier.
        let second = all[1]["id"].as_i64().unwrap();
        app.delete(&format!("/events/{second}?scope=following")).await.expect(200);
        assert_eq!(starts(&app, id).await, ruled[..1]);
    }
}

#[actix_web::test]
async fn date_in_a_skipped_hour_stays_deleted_when_the_others_move() {
    for end in [json!({"count": 3}), json!({"until": "2027-03-20"})] {
        let app = App::new().await;
        let mut recurrence = json!({"rrule": "FREQ=DAILY"});
        recurrence.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
        let fields = json!({"timezone": "America/New_York", "start_date": "2027-03-12 02:30",
            "end_date": "2027-03-12 03:00", "recurrence": recurrence});
        let id = course(&app, fields).await;
        let third = events(&app, id).await[2]["id"].as_i64().unwrap();
        app.delete(&format!("/events/{third}?scope=following")).await.expect(200);
        let moved = json!({"start_date": "2027-03-12 10:00", "end_date": "2027-03-12 10:30",
            "scope": "all"});
        patch(&app, id, moved).await.expect(200);
        assert_eq!(starts(&app, id).await, ["03-12 10:00", "03-13 10:00"], "{end}");
    }
}

/// Returns where a page redirects to.
async fn target(app: &App, path: &str) -> String {
    let answer = page(app, path).await;
    assert!(matches!(answer.status, 301 | 302), "{path}: {}", answer.status);
    answer.header("location").to_string()
}

#[actix_web::test]
async fn slug_for_all_renames_the_series_and_its_dates() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = events(&app, id).await;
    let event = |number: usize| all[number]["id"].as_i64().unwrap();
    patch(&app, event(1), json!({"slug": "special"})).await.expect(200);
    app.delete(&format!("/events/{}", event(2))).await.expect(200);
    // A slug from a response may be sent back.
    let same = json!({"slug": "yoga--2027-03-16", "title": "Pilates", "scope": "all"});
    patch(&app, id, same).await.expect(200);
    assert_eq!(texts(&app, id, "slug").await[0], "yoga--2027-03-16");
    let renamed = json!({"slug": "pilates", "scope": "all"});
    let renamed = patch(&app, id, renamed).await.expect(200).json;
    assert_eq!(renamed["slug"], "pilates--2027-03-16");
    let names = ["pilates--2027-03-16", "special", "pilates--2027-04-06"];
    assert_eq!(texts(&app, id, "slug").await, names);
    let old = "/event/yoga/2027-03-16/";
    assert!(target(&app, old).await.ends_with("/event/pilates/2027-03-16/"));
    for name in ["yoga", "pilates"] {
        let next = target(&app, &format!("/event/{name}/")).await;
        assert!(next.ends_with("/event/pilates/2027-03-16/"), "{name}: {next}");
        let file = page(&app, &format!("/event/{name}/?ical=1")).await.expect(200);
        assert_eq!(file.text.matches("RRULE:FREQ=WEEKLY").count(), 1, "{}", file.text);
    }
    // A restored date has the new name, and so do those that a longer rule adds.
    patch(&app, event(2), json!({"status": "publish"})).await.expect(200);
    patch(&app, id, weekly(&json!({"count": 5}))).await.expect(200);
    let slugs = texts(&app, id, "slug").await;
    assert_eq!(slugs[2..], ["pilates--2027-03-30", "pilates--2027-04-06", "pilates--2027-04-13"]);
    // The second part of a split series gets its own name, at another time.
    let body = json!({"slug": "evening", "start_date": "2027-04-06 20:00", "scope": "following"});
    let split = patch(&app, event(3), body).await.expect(200).json;
    assert_eq!(split["slug"], "evening--2027-04-06");
    assert_eq!(texts(&app, event(3), "slug").await[1], "evening--2027-04-13");
    assert_eq!(texts(&app, id, "slug").await[0], "pilates--2027-03-16");
    // A name without letters is refused, and one that another event has gets a number.
    let refused = patch(&app, id, json!({"slug": "!", "scope": "all"})).await.expect(400);
    assert!(refused.text.contains("must have letters or digits"), "{}", refused.text);
    app.event(json!({"title": "Choir"})).await;
    let taken = patch(&app, id, json!({"slug": "choir", "scope": "all"})).await.expect(200).json;
    assert_eq!(taken["slug"], "choir-2--2027-03-16");
}

#[actix_web::test]
async fn address_of_a_removed_series_leads_to_dates_that_were_restored_singly() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = events(&app, id).await;
    patch(&app, id, json!({"slug": "choir", "scope": "all"})).await.expect(200);
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    page(&app, "/event/choir/").await.expect(404);
    for number in [3, 2] {
        let event = all[number]["id"].as_i64().unwrap();
        patch(&app, event, json!({"status": "publish"})).await.expect(200);
        let date = &all[number]["start_date"].as_str().unwrap()[..10];
        for name in ["choir", "yoga"] {
            let next = target(&app, &format!("/event/{name}/")).await;
            assert!(next.ends_with(&format!("/event/choir/{date}/")), "{next}");
        }
    }
    // Erased events leave no redirect behind.
    app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    page(&app, "/event/choir/").await.expect(404);
    assert_eq!(app.rows("former_slugs where collection = 'series_dates'"), 0);
}

#[actix_web::test]
async fn redirect_from_the_name_of_a_series_keeps_the_query() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    for query in ["?from=mail", "?lang=de&from=mail", "?lang=de"] {
        let next = target(&app, &format!("/event/yoga/{query}")).await;
        assert_eq!(next, format!("/event/yoga/2027-03-16/{query}"));
    }
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    patch(&app, id, json!({"status": "publish"})).await.expect(200);
    let next = target(&app, "/event/yoga/?lang=de").await;
    assert_eq!(next, "/event/yoga/2027-03-16/?lang=de");
    let file = page(&app, "/event/yoga/?ical=1").await.expect(200);
    assert_eq!(file.header("content-type"), "text/calendar; charset=UTF-8");
    assert!(file.text.contains("DTSTART;TZID=Europe/Vienna:20270316T180000"), "{}", file.text);
}

#[actix_web::test]
async fn own_file_of_a_deleted_event_is_cancelled_for_thirty_days() {
    let app = App::new().await;
    let shown = app.event(json!({"title": "Shown"})).await;
    let renamed = app.event(json!({"title": "Former"})).await;
    patch(&app, renamed, json!({"slug": "renamed"})).await.expect(200);
    let unlisted = app.event(json!({"title": "Unlisted", "hide_from_listings": true})).await;
    let private = app.event(json!({"title": "Private", "status": "private"})).await;
    let hidden = app.event(json!({"title": "Hidden"})).await;
    patch(&app, hidden, json!({"status": "private"})).await.expect(200);
    let draft = json!({"title": "Draft", "status": "draft", "hide_from_listings": true});
    let draft = app.event(draft).await;
    let id = course(&app, json!({})).await;
    let second = events(&app, id).await[1]["id"].as_i64().unwrap();
    app.delete(&format!("/events/{second}")).await.expect(200);
    let single = page(&app, "/event/yoga/2027-03-23/?ical=1").await.expect(200).text;
    assert_eq!(single.matches("STATUS:CANCELLED").count(), 1, "{single}");
    for event in [shown, renamed, unlisted, private, hidden, draft] {
        app.delete(&format!("/events/{event}")).await.expect(200);
    }
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    let cancelled = [
        ("shown", 1),
        ("former", 1),
        ("renamed", 1),
        ("unlisted", 1),
        ("yoga/2027-03-16", 1),
        ("yoga", 4),
    ];
    for (name, number) in cancelled {
        let file = page(&app, &format!("/event/{name}/?ical=1")).await.expect(200);
        assert_eq!(file.header("content-type"), "text/calendar; charset=UTF-8");
        assert_eq!(file.text.matches("STATUS:CANCELLED").count(), number, "{name}: {}", file.text);
        assert_eq!(file.text.matches("BEGIN:VEVENT").count(), number, "{name}");
        page(&app, &format!("/event/{name}/")).await.expect(404);
    }
    for name in ["private", "hidden", "draft"] {
        page(&app, &format!("/event/{name}/?ical=1")).await.expect(404);
    }
    // The file of a series has the dates that were restored and those that were not.
    patch(&app, second, json!({"status": "publish"})).await.expect(200);
    let file = page(&app, "/event/yoga/?ical=1").await.expect(200).text;
    let counts = ["BEGIN:VEVENT", "STATUS:CANCELLED"].map(|line| file.matches(line).count());
    assert_eq!(counts, [4, 3], "{file}");
    app.delete(&format!("/events/{second}")).await.expect(200);
    app.clock.advance(32 * 24 * 3600);
    for (name, _) in cancelled {
        page(&app, &format!("/event/{name}/?ical=1")).await.expect(404);
    }
}

#[actix_web::test]
async fn address_of_an_event_that_became_a_series_leads_to_the_next_date() {
    let app = App::new().await;
    let daily = json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 3}});
    let dates = |more: Value| {
        let mut body = json!({"start_date": "2027-03-16 18:00", "end_date": "2027-03-16 19:00"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let id = app.event(dates(json!({"title": "Choir"}))).await;
    let became = patch(&app, id, daily.clone()).await.expect(200).json;
    assert_eq!(became["slug"], "choir--2027-03-16");
    page(&app, "/event/choir/2027-03-16/").await.expect(200);
    assert_eq!(target(&app, "/event/choir/").await, "/event/choir/2027-03-16/");
    app.delete(&format!("/events/{id}")).await.expect(200);
    assert_eq!(target(&app, "/event/choir/").await, "/event/choir/2027-03-17/");
    patch(&app, id, json!({"status": "publish"})).await.expect(200);
    // All dates get the new name.
    patch(&app, id, json!({"slug": "altchor", "scope": "all"})).await.expect(200);
    assert_eq!(texts(&app, id, "slug").await[0], "altchor--2027-03-16");
    for name in ["choir", "altchor"] {
        let next = target(&app, &format!("/event/{name}/")).await;
        assert_eq!(next, "/event/altchor/2027-03-16/", "{name}");
    }
    assert_eq!(target(&app, "/event/choir/2027-03-16/").await, "/event/altchor/2027-03-16/");
    // An unlisted series does not have its own path, so the path of the event leads to the event.
    let unlisted = json!({"title": "Quiet", "hide_from_listings": true});
    let unlisted = app.event(dates(unlisted)).await;
    patch(&app, unlisted, daily).await.expect(200);
    assert_eq!(target(&app, "/event/quiet/").await, "/event/quiet/2027-03-16/");
}

#[actix_web::test]
async fn event_of_which_a_file_makes_a_series_is_its_first_date() {
    let app = App::new().await;
    let file = |more: &str| calendar(&[event("Fair", 5, more)]);
    post(&app, "editor", file("")).await.expect(200);
    let first = app.get("/events?search=fair").await.ids()[0];
    // The series has the name of the event, whatever its title is.
    patch(&app, first, json!({"slug": "spring"})).await.expect(200);
    for _ in 0..2 {
        app.clock.advance(60);
        post(&app, "editor", file("RRULE:FREQ=DAILY;COUNT=2\r\n")).await.expect(200);
        let days = ["spring--2027-05-01", "spring--2027-05-02"];
        assert_eq!(texts(&app, first, "slug").await, days);
    }
    for name in ["fair", "spring"] {
        let next = target(&app, &format!("/event/{name}/")).await;
        assert_eq!(next, "/event/spring/2027-05-01/", "{name}");
    }
    patch(&app, first, json!({"slug": "market", "scope": "all"})).await.expect(200);
    let days = ["market--2027-05-01", "market--2027-05-02"];
    assert_eq!(texts(&app, first, "slug").await, days);
    for name in ["spring", "market"] {
        let next = target(&app, &format!("/event/{name}/")).await;
        assert_eq!(next, "/event/market/2027-05-01/", "{name}");
    }
}

#[actix_web::test]
async fn own_event_of_which_a_file_makes_a_series_is_its_first_date() {
    // Other programs do not keep the mark of this calendar.
    for mark in ["X-QUINTET-CALENDAR", "X-OTHER"] {
        let app = App::new().await;
        let id = app.event(json!({"title": "Fair"})).await;
        let file = app.get(&format!("/ical?include={id}")).await.expect(200).text;
        let uid = file.lines().find(|line| line.starts_with("UID:")).unwrap();
        let file = file.replace("X-QUINTET-CALENDAR", mark);
        let file = file.replace("SUMMARY:", "RRULE:FREQ=DAILY;COUNT=2\r\nSUMMARY:");
        assert_eq!(counts(&app, &file).await[0], 1, "{file}");
        assert_eq!(counts(&app, &file).await, [0, 0, 2, 0, 0], "{file}");
        let days = ["fair--2027-04-01", "fair--2027-04-02"];
        assert_eq!(texts(&app, id, "slug").await, days, "{mark}");
        assert_eq!(target(&app, "/event/fair/").await, "/event/fair/2027-04-01/");
        for path in ["/event/fair/?ical=1", "/event/fair/2027-04-01/?ical=1"] {
            let shown = page(&app, path).await.expect(200).text;
            assert!(shown.lines().any(|line| line == uid), "{uid} {shown}");
        }
    }
}

#[actix_web::test]
async fn slug_that_names_a_series_or_an_event_gets_a_number() {
    let app = App::new().await;
    let slug = async |id: i64| app.get(&format!("/events/{id}")).await.json["slug"].clone();
    course(&app, json!({"title": "Pilates"})).await;
    let sent = app.event(json!({"title": "Talk", "slug": "pilates"})).await;
    assert_eq!(slug(sent).await, "pilates-2");
    let changed = app.event(json!({"title": "Talk"})).await;
    let patched = patch(&app, changed, json!({"slug": "pilates"})).await.expect(200);
    assert_eq!(patched.json["slug"], "pilates-3");
    let next = target(&app, "/event/pilates/").await;
    assert!(next.ends_with("/event/pilates/2027-03-16/"), "{next}");
    // A restored event has another address if a series got its name.
    let trashed = app.event(json!({"title": "Choir"})).await;
    app.delete(&format!("/events/{trashed}")).await.expect(200);
    course(&app, json!({"title": "Choir"})).await;
    let restored = patch(&app, trashed, json!({"status": "publish"})).await.expect(200);
    assert_eq!(restored.json["slug"], "choir-2");
    // Series do not get the slug of an event.
    app.event(json!({"title": "Fair"})).await;
    for (sent, number) in [("fair", 2), ("fair--2027-03-16", 3)] {
        let id = course(&app, json!({"slug": sent})).await;
        assert_eq!(slug(id).await, format!("fair-{number}--2027-03-16"), "{sent}");
    }
    let file = calendar(&[event("Fair", 5, "RRULE:FREQ=DAILY;COUNT=2\r\n")]);
    post(&app, "editor", file).await.expect(200);
    assert_eq!(app.rows("events where slug = 'fair-4--2027-05-01'"), 1);
}

#[actix_web::test]
async fn next_date_of_a_series_is_one_that_is_not_cancelled() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = events(&app, id).await;
    let listed = "/events?collapse=series&search=yoga";
    for (number, next) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        let event = all[number]["id"].as_i64().unwrap();
        patch(&app, event, json!({"event_status": "cancelled"})).await.expect(200);
        let day = &all[next]["start_date"].as_str().unwrap()[..10];
        let shown = target(&app, "/event/yoga/").await;
        assert!(shown.ends_with(&format!("/event/yoga/{day}/")), "{shown}");
        for path in [listed, "/events?collapse=series"] {
            assert_eq!(app.get(path).await.ids(), [all[next]["id"].as_i64().unwrap()], "{path}");
        }
    }
    // A date that takes place again precedes cancelled ones.
    let event = all[1]["id"].as_i64().unwrap();
    patch(&app, event, json!({"event_status": "scheduled"})).await.expect(200);
    assert_eq!(app.get(listed).await.ids(), [event]);
}
