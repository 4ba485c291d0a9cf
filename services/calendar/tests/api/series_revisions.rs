//! SEQUENCE and cancellations of series in feeds, which must never mislead subscribers.

use std::collections::BTreeMap;

use calendar::{LoadOptions, PurgeOptions, empty_trash, load, purge};
use serde_json::{Value, json};

use crate::app::App;
use crate::imports::{counts, event, post};
use crate::series::{course, events, patch};
use crate::subscribed_edits::{self, series};
use crate::subscribing::Subscribing;

const DAY: i64 = 86_400;

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq)]
struct Listed {
    sequence: i64,
    is_cancelled: bool,
}

/// Returns the entries of a feed by UID and RECURRENCE-ID.
fn entries(feed: &str) -> BTreeMap<(String, String), Listed> {
    let mut found = BTreeMap::new();
    for entry in feed.split("BEGIN:VEVENT").skip(1) {
        let value = |name: &str| {
            let mut lines = entry.lines().filter_map(|line| line.split_once(':'));
            let found = lines.find(|(key, _)| key.split(';').next() == Some(name));
            found.map(|(_, value)| value.to_owned())
        };
        let key = (value("UID").unwrap(), value("RECURRENCE-ID").unwrap_or_default());
        let sequence = value("SEQUENCE").unwrap().parse().unwrap();
        let is_cancelled = value("STATUS").is_some_and(|status| status == "CANCELLED");
        let double = found.insert(key, Listed { sequence, is_cancelled });
        assert_eq!(double, None, "{feed}");
    }
    found
}

pub async fn feed(app: &App, more: &str) -> String {
    app.get(&format!("/ical?ends_after=2020-01-01{more}")).await.expect(200).text
}

/// Returns the entries of a feed with rules.
async fn ruled(app: &App) -> BTreeMap<(String, String), Listed> {
    entries(&feed(app, "").await)
}

/// Returns the entries of a feed that is limited to some days, so that each event is an entry of its
/// own.
async fn single(app: &App) -> BTreeMap<(String, String), Listed> {
    let feed = app.get("/ical?start_date=2020-01-01&end_date=2040-01-01").await.expect(200).text;
    entries(&feed)
}

/// Returns the entry with the rule, or the one under the UID of the series.
fn entry_of(entries: &BTreeMap<(String, String), Listed>, uid: &str) -> Listed {
    entries[&(uid.to_owned(), String::new())].clone()
}

/// Returns the UID of the only series in a feed.
async fn uid(app: &App) -> String {
    let feed = feed(app, "").await;
    let entry = feed.split("BEGIN:VEVENT").skip(1).find(|entry| entry.contains("RRULE:")).unwrap();
    let line = entry.lines().find(|line| line.starts_with("UID:")).unwrap();
    line["UID:".len()..].to_owned()
}

/// Imports a feed into a calendar with another host.
pub async fn follow(app: &App, feed: &str) {
    let done = post(app, "editor", feed.replace('@', "@other-")).await.expect(200);
    assert_eq!(done.json["failed"], 0, "{}", done.text);
}

/// Returns the starts and titles of events that take place, in order.
pub async fn shown(app: &App) -> Vec<String> {
    let path = "/events?start_date=2020-01-01&end_date=2040-01-01&per_page=50";
    let list = app.get(path).await.expect(200).json;
    let events = list["events"].as_array().unwrap().iter();
    let events = events.filter(|event| event["event_status"] != "cancelled");
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    let summary =
        |one: &Value| format!("{} {}", &text(one, "start_date")[5..16], text(one, "title"));
    let mut shown: Vec<String> = events.map(summary).collect();
    shown.sort_unstable();
    shown
}

pub async fn ids(app: &App, id: i64) -> Vec<i64> {
    events(app, id).await.iter().map(|event| event["id"].as_i64().unwrap()).collect()
}

/// Changes the time of an event of a day several times.
async fn revise(app: &App, id: i64, day: &str, times: i64) {
    for hour in 0..times {
        app.clock.advance(1);
        let start = format!("{day} {:02}:00", 8 + hour);
        let end = format!("{day} {:02}:30", 8 + hour);
        patch(app, id, json!({"start_date": start, "end_date": end})).await.expect(200);
    }
}

fn weekly(count: i64) -> Value {
    json!({"scope": "all", "recurrence": {"rrule": "FREQ=WEEKLY", "count": count, "exdates": []}})
}

#[actix_web::test]
async fn sequence_of_a_series_does_not_decrease_when_its_first_event_is_erased() {
    for way in ["force", "purge", "trash"] {
        let (app, other) = (App::new().await, App::new().await);
        let id = course(&app, json!({})).await;
        let second = ids(&app, id).await[1];
        let path = format!("/events/{id}");
        app.delete(&path).await.expect(200);
        revise(&app, id, "2027-03-16", 5).await;
        let name = uid(&app).await;
        let before = entry_of(&ruled(&app).await, &name);
        follow(&other, &feed(&app, "").await).await;
        match way {
            "force" => drop(app.delete(&format!("{path}?force=true")).await.expect(200)),
            "purge" => {
                let options = PurgeOptions { events: vec![id], ..PurgeOptions::default() };
                assert_eq!(purge(&app.state, &options).unwrap().events, 1);
            }
            _ => {
                app.clock.advance(31 * DAY);
                empty_trash(&app.state).await;
            }
        }
        app.get_as("administrator", &path).await.expect(404);
        app.clock.advance(1);
        assert!(entry_of(&ruled(&app).await, &name).sequence >= before.sequence, "{way}");
        patch(&app, second, json!({"scope": "all", "title": "New"})).await.expect(200);
        assert!(entry_of(&ruled(&app).await, &name).sequence >= before.sequence, "{way}");
        follow(&other, &feed(&app, "").await).await;
        assert_eq!(shown(&other).await, shown(&app).await, "{way}");
        assert!(shown(&other).await[0].ends_with("New"), "{way}");
    }
}

#[actix_web::test]
async fn date_that_returns_after_its_event_was_erased_does_not_decrease_sequences() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let second = ids(&app, id).await[1];
    revise(&app, second, "2027-03-23", 5).await;
    let before = [ruled(&app).await, single(&app).await];
    app.delete(&format!("/events/{second}?force=true")).await.expect(200);
    patch(&app, id, weekly(4)).await.expect(200);
    let after = [ruled(&app).await, single(&app).await];
    for (before, after) in before.iter().zip(&after) {
        for (key, listed) in after.iter().filter(|(key, _)| before.contains_key(*key)) {
            let least = before[key].sequence;
            assert!(listed.sequence >= least, "{key:?}: {before:?} {after:?}");
        }
    }
    // The new event has a UID of its own.
    let new = after[1].keys().filter(|key| !before[1].contains_key(*key)).count();
    assert_eq!((new, after[1].len()), (1, 4));
}

#[actix_web::test]
async fn sequence_follows_the_dates_when_a_series_moves_by_weeks() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    revise(&app, all[2], "2027-03-30", 5).await;
    for (from, to) in [("2027-03-16", "2027-03-23"), ("2027-03-23", "2027-03-09")] {
        let all_entries = async || {
            let mut found = ruled(&app).await;
            found.extend(single(&app).await);
            found
        };
        let before = all_entries().await;
        let dates = json!({"scope": "all", "start_date": format!("{to} 18:00")});
        patch(&app, all[0], dates).await.expect(200);
        let after = all_entries().await;
        for (key, listed) in after.iter().filter(|(key, _)| before.contains_key(*key)) {
            let least = before[key].sequence;
            assert!(listed.sequence >= least, "{from} {key:?}: {before:?} {after:?}");
        }
    }
}

#[actix_web::test]
async fn cancelled_series_whose_first_event_was_erased_has_a_higher_sequence() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, json!({})).await;
    let second = ids(&app, id).await[1];
    app.delete(&format!("/events/{id}?force=true")).await.expect(200);
    let name = uid(&app).await;
    let before = entry_of(&ruled(&app).await, &name);
    follow(&other, &feed(&app, "").await).await;
    assert_eq!(shown(&other).await.len(), 3);
    app.clock.advance(1);
    let status = json!({"scope": "all", "event_status": "cancelled"});
    patch(&app, second, status).await.expect(200);
    let after = entry_of(&ruled(&app).await, &name);
    assert!(after.is_cancelled && after.sequence > before.sequence, "{before:?} {after:?}");
    follow(&other, &feed(&app, "").await).await;
    assert_eq!(shown(&other).await, [""; 0]);
}

#[actix_web::test]
async fn removed_series_is_cancelled_for_thirty_days_with_higher_sequences() {
    for way in ["delete", "trash", "erase"] {
        let (app, other) = (App::new().await, App::new().await);
        let id = course(&app, json!({})).await;
        let all = ids(&app, id).await;
        revise(&app, all[2], "2027-03-30", 3).await;
        patch(&app, id, weekly(5)).await.expect(200);
        patch(&app, id, weekly(4)).await.expect(200);
        let name = uid(&app).await;
        let (before, alone) = (ruled(&app).await, single(&app).await);
        follow(&other, &feed(&app, "").await).await;
        app.clock.advance(60);
        match way {
            "delete" => drop(app.delete(&format!("/events/{id}?scope=all")).await.expect(200)),
            "trash" => {
                let trash = json!({"scope": "all", "status": "trash"});
                patch(&app, all[1], trash).await.expect(200);
            }
            _ => {
                let path = format!("/events/{id}?scope=all&force=true");
                app.delete(&path).await.expect(200);
                // Only the date that the shorter rule dropped is left.
                assert_eq!(ruled(&app).await.len(), 1);
                continue;
            }
        }
        for days in [0, 29, 1] {
            app.clock.advance(days * DAY);
            let after = ruled(&app).await;
            assert_eq!(after.len(), 5, "{way} {days}");
            assert!(after.values().all(|listed| listed.is_cancelled), "{way} {days}: {after:?}");
            let least = entry_of(&before, &name).sequence;
            assert!(entry_of(&after, &name).sequence > least, "{way}: {before:?} {after:?}");
            let after = single(&app).await;
            // The first date is cancelled under the UID of the series.
            let known = alone.iter().filter(|(key, _)| after.contains_key(*key));
            assert_eq!(known.clone().count(), alone.len() - 1, "{way}: {alone:?} {after:?}");
            for (key, listed) in known {
                let is_higher = listed.is_cancelled || after[key].sequence > listed.sequence;
                assert!(is_higher, "{way} {key:?}: {alone:?} {after:?}");
            }
        }
        follow(&other, &feed(&app, "").await).await;
        assert_eq!(shown(&other).await, [""; 0], "{way}");
        app.clock.advance(DAY);
        assert_eq!(ruled(&app).await.len(), 0, "{way}");
    }
}

#[actix_web::test]
async fn entries_that_return_after_everything_was_erased_have_higher_sequences() {
    let lines = "UID:talk\r\nSUMMARY:Talk\r\nDTSTART:20270401T100000Z";
    let single = event(lines);
    let daily = event(&format!("{lines}\r\nRRULE:FREQ=DAILY;COUNT=2"));
    for file in [&single, &daily] {
        let app = App::new().await;
        counts(&app, file).await;
        let all = app.get("/events").await.ids();
        revise(&app, all[0], "2027-04-01", 3).await;
        let erase = async || {
            for id in app.get("/events").await.ids() {
                app.delete(&format!("/events/{id}?force=true")).await.expect(200);
            }
        };
        let sequence = async || entry_of(&ruled(&app).await, "talk").sequence;
        let mut before = sequence().await;
        assert!(before >= 3, "{before}");
        erase().await;
        assert_eq!(counts(&app, file).await[0], i64::try_from(all.len()).unwrap());
        let after = sequence().await;
        assert!(after > before, "{before} {after}");
        before = after;
        erase().await;
        // A load of many lines stores its events together.
        let line = json!({"type": "event", "external_id": "talk", "title": "Talk",
            "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00"});
        let loaded = load(&app.state, line.to_string().as_bytes(), LoadOptions::default());
        assert_eq!(loaded.unwrap().created, 1);
        assert!(sequence().await > before, "{before}");
    }
}

#[actix_web::test]
async fn dates_that_return_after_their_series_was_erased_have_higher_sequences() {
    let app = App::new().await;
    let line = json!({"type": "event", "external_id": "talk", "title": "Talk",
        "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00",
        "recurrence": {"rrule": "FREQ=DAILY", "count": 3}});
    let mut sequences = Vec::new();
    for revisions in [3, 0] {
        let loaded = load(&app.state, line.to_string().as_bytes(), LoadOptions::default());
        assert_eq!(loaded.unwrap().created, 1);
        let all = app.get("/events").await.ids();
        revise(&app, all[1], "2027-04-02", revisions).await;
        // The second date leaves the series, and feeds list it under its own UID.
        app.delete(&format!("/events/{}?scope=following", all[1])).await.expect(200);
        patch(&app, all[1], json!({"status": "publish"})).await.expect(200);
        sequences.push(entry_of(&ruled(&app).await, "talk#20270402T100000Z").sequence);
        let options = PurgeOptions { events: all, ..PurgeOptions::default() };
        assert_eq!(purge(&app.state, &options).unwrap().events, 3);
    }
    assert!(sequences[1] > sequences[0], "{sequences:?}");
}

#[actix_web::test]
async fn removed_series_without_its_first_event_is_cancelled_under_its_uid() {
    for scope in ["all", "following"] {
        let (app, other) = (App::new().await, App::new().await);
        let id = course(&app, json!({})).await;
        let second = ids(&app, id).await[1];
        revise(&app, id, "2027-03-16", 4).await;
        app.delete(&format!("/events/{id}?force=true")).await.expect(200);
        let name = uid(&app).await;
        let before = entry_of(&ruled(&app).await, &name);
        follow(&other, &feed(&app, "").await).await;
        app.clock.advance(60);
        app.delete(&format!("/events/{second}?scope={scope}")).await.expect(200);
        assert_eq!(app.rows("series"), 0, "{scope}");
        let after = entry_of(&ruled(&app).await, &name);
        assert!(after.is_cancelled && after.sequence > before.sequence, "{before:?} {after:?}");
        follow(&other, &feed(&app, "").await).await;
        assert_eq!(shown(&other).await, [""; 0], "{scope}");
    }
}

#[actix_web::test]
async fn first_date_that_a_rule_excludes_does_not_cancel_the_series_in_feeds() {
    let (app, other) = (App::new().await, App::new().await);
    let id = course(&app, json!({})).await;
    follow(&other, &feed(&app, "").await).await;
    let second = ids(&app, id).await[1];
    let rule = |exdates: Value| {
        json!({"scope": "all",
            "recurrence": {"rrule": "FREQ=WEEKLY", "count": 4, "exdates": exdates}})
    };
    for excluded in [json!(["2027-03-16"]), json!([]), json!(["2027-03-16", "2027-03-30"])] {
        app.clock.advance(60);
        patch(&app, second, rule(excluded.clone())).await.expect(200);
        let number = 4 - excluded.as_array().unwrap().len();
        assert_eq!(shown(&app).await.len(), number);
        let all = ruled(&app).await;
        assert!(all.values().all(|listed| !listed.is_cancelled), "{excluded}: {all:?}");
        follow(&other, &feed(&app, "").await).await;
        assert_eq!(shown(&other).await, shown(&app).await, "{excluded}");
    }
    assert_eq!(app.rows("events"), 4);
}

#[actix_web::test]
async fn first_date_that_a_file_excludes_does_not_cancel_the_series_in_feeds() {
    for is_changed in [true, false] {
        let (club, other) = (Subscribing::new().await, App::new().await);
        club.serves(&series(4, 18, ""));
        let id = club.subscribe(json!({})).await;
        club.run(id).await;
        let first = club.event_of("s");
        if is_changed {
            revise(&club.app, first, "2027-05-04", 4).await;
        }
        let before = entry_of(&ruled(&club.app).await, "s");
        follow(&other, &feed(&club.app, "").await).await;
        let excluded = series(4, 18, "EXDATE;TZID=Europe/Vienna:20270504T180000\r\n");
        for file in [&excluded, &excluded, &series(4, 18, "DESCRIPTION:New\r\n"), &excluded] {
            club.app.clock.advance(60);
            club.serves(file);
            club.run_now(id).await;
            let after = ruled(&club.app).await;
            let listed = entry_of(&after, "s");
            assert!(!listed.is_cancelled && listed.sequence >= before.sequence, "{after:?}");
            let is_whole = !file.contains("EXDATE");
            let number = if is_whole || is_changed { 4 } else { 3 };
            assert_eq!(subscribed_edits::ids(&club).await.len(), number, "{is_changed} {file}");
            assert_eq!(club.app.rows("events"), 4);
            follow(&other, &feed(&club.app, "").await).await;
            assert_eq!(shown(&other).await, shown(&club.app).await, "{is_changed} {file}");
        }
    }
}

#[actix_web::test]
async fn sequence_stays_when_another_event_gets_the_uid_of_a_series_in_a_file() {
    let club = Subscribing::new().await;
    club.serves(&series(4, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let first = club.event_of("s");
    revise(&club.app, first, "2027-05-04", 6).await;
    let before = entry_of(&ruled(&club.app).await, "s");
    club.serves(&series(3, 18, "").replace("20270504T180000", "20270511T180000"));
    club.app.clock.advance(60);
    club.run_now(id).await;
    assert_ne!(club.event_of("s"), first);
    let after = entry_of(&ruled(&club.app).await, "s");
    assert!(after.sequence > before.sequence, "{before:?} {after:?}");
}
