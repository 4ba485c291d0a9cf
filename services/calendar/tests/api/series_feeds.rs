//! Feeds of a calendar whose series change, imported into other calendars.

use serde_json::{Value, json};

use crate::app::{App, Dice};
use crate::filtered_feeds::{entries, value};
use crate::imports::{self, post};
use crate::pages::page;
use crate::series::{course, events, patch};
use crate::subscribing::{Subscribing, counts};

/// Returns the feed of a calendar on a different host than the importing one.
async fn feed(app: &App) -> String {
    let feed = app.get("/ical?ends_after=2020-01-01").await.expect(200).text;
    feed.replace('@', "@other-")
}

/// Imports a feed. Returns the numbers of created and updated events.
async fn take(app: &App, feed: &str) -> (i64, i64) {
    let done = post(app, "editor", feed.to_owned()).await.expect(200);
    assert_eq!((&done.json["failed"], &done.json["errors"]), (&json!(0), &json!([])));
    let number = |name: &str| done.json[name].as_i64().unwrap();
    (number("created"), number("updated"))
}

/// Returns the ids and the starts, ends and titles of all public events, except cancelled ones.
async fn shown(app: &App) -> (Vec<i64>, Vec<String>) {
    let path = "/events?start_date=2020-01-01&end_date=2040-01-01&per_page=50";
    let list = app.get(path).await.expect(200).json;
    let events = list["events"].as_array().unwrap().iter();
    let events: Vec<&Value> = events.filter(|one| one["event_status"] != "cancelled").collect();
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    let summary = |event: &&Value| {
        let (start, end) = (text(event, "start_date"), text(event, "end_date"));
        format!("{} {} {}", &start[5..16], &end[5..16], text(event, "title"))
    };
    let mut shown: Vec<String> = events.iter().map(summary).collect();
    shown.sort_unstable();
    (events.iter().map(|event| event["id"].as_i64().unwrap()).collect(), shown)
}

fn weekly(count: i64) -> Value {
    json!({"scope": "all", "recurrence": {"rrule": "FREQ=WEEKLY", "count": count}})
}

#[actix_web::test]
async fn shortened_series_has_its_dates_in_an_empty_calendar() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, weekly(6)).await;
    app.clock.advance(60);
    patch(&app, id, weekly(4)).await.expect(200);
    let feed = feed(&app).await;
    assert_eq!(feed.matches("STATUS:CANCELLED").count(), 2, "{feed}");
    assert_eq!(take(&other, &feed).await, (6, 0));
    let (ids, dates) = shown(&other).await;
    assert_eq!(dates, shown(&app).await.1);
    let first = ids[0];
    let all = events(&other, first).await;
    assert_eq!(all.len(), 4);
    for event in &all {
        assert_eq!(event["start_date"], event["series"]["occurrence"]);
        assert_eq!(
            event["slug"],
            format!("yoga--{}", &event["start_date"].as_str().unwrap()[..10])
        );
        assert_eq!(event["event_status"], Value::Null);
    }
    // The cancelled dates do not take the name of the series.
    let page = page(&other, "/event/yoga/").await.expect(302);
    assert_eq!(page.header("location"), "/event/yoga/2027-03-16/");
    for _ in 0..2 {
        assert_eq!(take(&other, &feed).await, (0, 0));
        assert_eq!((shown(&other).await, other.rows("events")), ((ids.clone(), dates.clone()), 6));
    }
    // The dates return.
    app.clock.advance(60);
    patch(&app, id, weekly(6)).await.expect(200);
    let feed = self::feed(&app).await;
    assert_eq!(take(&other, &feed).await, (0, 2));
    assert_eq!((shown(&other).await.1, other.rows("events")), (shown(&app).await.1, 6));
    assert_eq!(events(&other, first).await.len(), 6);
}

#[actix_web::test]
async fn series_that_is_deleted_and_created_again_is_followed_by_importers_of_its_feed() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, weekly(2)).await;
    // The rule has more revisions than its first event.
    for count in [3, 4, 5, 4] {
        app.clock.advance(60);
        patch(&app, id, weekly(count)).await.expect(200);
        take(&other, &feed(&app).await).await;
    }
    app.clock.advance(60);
    app.delete(&format!("/events/{id}?scope=all")).await.expect(200);
    take(&other, &feed(&app).await).await;
    assert_eq!(shown(&other).await.1, [""; 0]);
    // One date returns and gets a rule.
    for body in [json!({"status": "publish"}), weekly(3)] {
        app.clock.advance(60);
        patch(&app, id, body).await.expect(200);
        let file = feed(&app).await;
        take(&other, &file).await;
        assert_eq!(shown(&other).await.1, shown(&app).await.1, "{file}");
        assert_eq!(take(&other, &file).await, (0, 0));
    }
    // Another date becomes the first of a series that overlaps the former one.
    app.clock.advance(60);
    let second = shown(&app).await.0[1];
    app.delete(&format!("/events/{second}?scope=following")).await.expect(200);
    for body in [json!({"status": "publish"}), weekly(2)] {
        app.clock.advance(60);
        patch(&app, second, body).await.expect(200);
        let file = feed(&app).await;
        take(&other, &file).await;
        assert_eq!(shown(&other).await.1, shown(&app).await.1, "{file}");
        assert_eq!(take(&other, &file).await, (0, 0));
    }
}

#[actix_web::test]
async fn event_that_becomes_a_series_keeps_its_uid_in_feeds_and_in_its_own_file() {
    let (app, other, club) = (App::new().await, App::new().await, Subscribing::new().await);
    let dates = json!({"start_date": "2027-05-04 18:00", "end_date": "2027-05-04 19:00"});
    let id = app.event(dates).await;
    let own_file = async || {
        let file = page(&app, "/event/event/?ical=1").await.expect(200).text;
        file.replace('@', "@other-")
    };
    let mut subscription = 0;
    for body in [json!({"cost": "5"}), json!({"recurrence": {"rrule": "FREQ=DAILY", "count": 3}})] {
        app.clock.advance(60);
        patch(&app, id, body).await.expect(200);
        take(&other, &feed(&app).await).await;
        club.serves(&own_file().await);
        if subscription == 0 {
            subscription = club.subscribe(json!({})).await;
        }
        let run = club.run_now(subscription).await;
        assert_eq!(run["last_run"]["outcome"], "imported", "{run}");
        for calendar in [&other, &club.app] {
            let number = i64::try_from(shown(&app).await.1.len()).unwrap();
            assert_eq!(shown(calendar).await.1, shown(&app).await.1);
            assert_eq!(calendar.rows("events"), number);
        }
    }
    assert_eq!(shown(&app).await.1.len(), 3);
}

/// Makes a random change to a calendar's series.
async fn change(app: &App, dice: &mut Dice) -> String {
    let path = "/events?start_date=2020-01-01&end_date=2040-01-01&per_page=50&status=publish,trash";
    let list = app.get_as("editor", path).await.expect(200).json;
    let all: Vec<Value> = list["events"].as_array().unwrap().clone();
    let (gone, public): (Vec<&Value>, Vec<&Value>) =
        all.iter().partition(|event| event["status"] == "trash");
    let Some(event) = public.get(usize::try_from(dice.roll(20)).unwrap() % public.len().max(1))
    else {
        return format!("none of {}", all.len());
    };
    let at = |days: i64, hour: i64| {
        let start = event["start_date"].as_str().unwrap();
        let day: jiff::civil::Date = start[..10].parse().unwrap();
        let day = day.checked_add(jiff::Span::new().days(days)).unwrap();
        json!({"start_date": format!("{day} {hour:02}:00"), "end_date": format!("{day} {hour:02}:45")})
    };
    let recurrence = |dice: &mut Dice, event: &Value| {
        let mut rule = json!({"rrule": "FREQ=WEEKLY", "count": 2 + dice.roll(5)});
        if dice.roll(3) == 0 {
            let start = event["series"]["occurrence"].as_str().unwrap_or("2027-04-06 18:00:00");
            let day: jiff::civil::Date = start[..10].parse().unwrap();
            let day = day.checked_add(jiff::Span::new().days(7 * (1 + dice.roll(2)))).unwrap();
            rule["exdates"] = json!([day.to_string()]);
        }
        rule
    };
    let scope = *dice.pick(&["this", "following", "all", "all"]);
    let mut body = match dice.roll(7) {
        0 => json!({"title": format!("Title {}", dice.roll(100))}),
        1 => at(0, 8 + dice.roll(12)),
        2 => at(dice.roll(5) - 2, 18),
        3 => json!({"recurrence": recurrence(dice, event)}),
        4 => {
            let mut body = at(dice.roll(3), 10 + dice.roll(3));
            body["recurrence"] = recurrence(dice, event);
            body
        }
        5 if !gone.is_empty() => {
            let event = *dice.pick(&gone);
            let status = json!({"status": "publish"});
            let answer = patch(app, event["id"].as_i64().unwrap(), status).await;
            return format!("restore {} {}", event["start_date"], answer.status);
        }
        _ => {
            let path = format!("/events/{}?scope={scope}", event["id"]);
            let answer = match scope {
                "all" => app.delete(&format!("/events/{}", event["id"])).await,
                _ => app.delete(&path).await,
            };
            return format!("remove {scope} {} {}", event["start_date"], answer.status);
        }
    };
    if !(scope == "this" && body["recurrence"].is_null()) {
        body["scope"] = json!(if scope == "this" { "all" } else { scope });
    }
    let answer = patch(app, event["id"].as_i64().unwrap(), body.clone()).await;
    assert!([200, 400].contains(&answer.status), "{body}: {}", answer.text);
    format!("{} {body} {}", event["start_date"], answer.status)
}

/// Changes a series at random and imports the feed after each change.
async fn follows(seed: u64, changes: usize) {
    let (app, other) = (App::new().await, App::new().await);
    let mut dice = Dice(seed);
    course(&app, weekly(2 + dice.roll(5))).await;
    let mut story = Vec::new();
    for number in 0..changes {
        let file = feed(&app).await;
        let context = format!("seed {seed}: {story:#?}\n{file}");
        let expected = shown(&app).await.1;
        let fresh = if number % 4 == 3 { Some(App::new().await) } else { None };
        for calendar in [Some(&other), fresh.as_ref()].into_iter().flatten() {
            take(calendar, &file).await;
            let (ids, dates) = shown(calendar).await;
            let rows = calendar.rows("events");
            assert_eq!(dates, expected, "{context}");
            for _ in 0..2 {
                assert_eq!(take(calendar, &file).await, (0, 0), "{context}");
                assert_eq!(shown(calendar).await, (ids.clone(), dates.clone()), "{context}");
                assert_eq!(calendar.rows("events"), rows, "{context}");
            }
            let own = calendar.get("/ical?ends_after=2020-01-01").await.text;
            assert_eq!(take(calendar, &own).await, (0, 0), "{context}\n{own}");
        }
        app.clock.advance(60);
        story.push(change(&app, &mut dice).await);
    }
}

#[actix_web::test]
async fn feed_of_a_series_that_changes_at_random_is_followed_without_doubles() {
    for seed in seeds() {
        follows(seed * 7919, 12).await;
    }
}

/// Changes a series at random and runs a subscription to its feed after each change.
async fn is_subscribed(seed: u64, changes: usize) {
    let (app, club) = (App::new().await, Subscribing::new().await);
    let mut dice = Dice(seed);
    course(&app, weekly(2 + dice.roll(5))).await;
    let mut story = Vec::new();
    let mut subscription = None;
    for _ in 0..changes {
        let file = feed(&app).await;
        club.serves(&file);
        let context = format!("seed {seed}: {story:#?}\n{file}");
        let id = match subscription {
            Some(id) => id,
            None => club.subscribe(json!({})).await,
        };
        subscription = Some(id);
        let mut run = club.run_now(id).await;
        if run["awaits_acceptance"] == true {
            club.step(id, "accept").await;
            run = club.run(id).await;
        }
        assert_eq!(run["last_run"]["outcome"], "imported", "{context}");
        let before = shown(&club.app).await;
        assert_eq!(before.1, shown(&app).await.1, "{context}\n{run}");
        let run = club.run_now(id).await;
        let [created, updated, _, _, failed, trashed] = counts(&run, "imported");
        assert_eq!([created, updated, failed, trashed], [0; 4], "{context}\n{run}");
        assert_eq!(shown(&club.app).await, before, "{context}");
        app.clock.advance(60);
        story.push(change(&app, &mut dice).await);
    }
}

#[actix_web::test]
async fn subscription_to_a_series_that_changes_at_random_follows_it() {
    for seed in seeds() {
        is_subscribed(seed * 104_729, 12).await;
    }
}

/// Returns the seeds of random changes. `SEEDS=1..100` tries more of them.
fn seeds() -> std::ops::Range<u64> {
    let range = std::env::var("SEEDS").unwrap_or_else(|_| "1..3".to_owned());
    let (from, to) = range.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

#[actix_web::test]
async fn override_that_was_added_to_an_own_file_is_in_feeds() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let feed = app.get("/ical").await.expect(200).text;
    let uid = value(&entries(&feed)[0], "UID").to_owned();
    let guest = format!(
        "BEGIN:VEVENT\r\nUID:{uid}\r\nRECURRENCE-ID;TZID=Europe/Vienna:20270323T180000\r\n\
         DTSTART;TZID=Europe/Vienna:20270323T180000\r\n\
         DTEND;TZID=Europe/Vienna:20270323T193000\r\nSUMMARY:Guest\r\nEND:VEVENT\r\n"
    );
    let end = "END:VCALENDAR";
    let edited = feed.replace(end, &format!("{guest}{end}"));
    for expected in [[0, 1, 3, 0, 0], [0, 0, 4, 0, 0]] {
        assert_eq!(imports::counts(&app, &edited).await, expected, "{edited}");
        let second = events(&app, id).await.remove(1);
        assert_eq!(second["series"]["changed"], json!(["title"]));
        let feed = app.get("/ical").await.expect(200).text;
        let values = ["RECURRENCE-ID", "SUMMARY"];
        let shown: Vec<[String; 2]> = entries(&feed)
            .iter()
            .map(|one| values.map(|name| value(one, name).to_owned()))
            .collect();
        let expected = [["", "Yoga"], ["20270323T180000", "Guest"]];
        assert_eq!(shown, expected.map(|values| values.map(str::to_owned)));
    }
}

#[actix_web::test]
async fn series_stored_with_a_count_of_zero_has_a_valid_count_in_feeds_and_responses() {
    let app = App::new().await;
    let id = course(&app, weekly(1)).await;
    app.execute("update series set rule = 'FREQ=WEEKLY;COUNT=0'");
    let feed = app.get("/ical").await.expect(200).text;
    assert!(feed.contains("RRULE:FREQ=WEEKLY;COUNT=1\r\n"), "{feed}");
    assert_eq!(events(&app, id).await[0]["series"]["recurrence"]["count"], 1);
    assert_eq!(imports::counts(&app, &feed).await, [0, 0, 1, 0, 0]);
}
