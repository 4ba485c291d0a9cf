//! Rare but valid uses of subscriptions.

use calendar::run_due_subscriptions;
use serde_json::{Value, json};

use crate::imports;
use crate::series_revisions;
use crate::subscribed_edits::{changed, feed, ids, patch, public, series, shown};
use crate::subscribing::{Subscribing, calendar, counts, ics, message};

/// Returns the slugs of the categories of all public events.
async fn categories(club: &Subscribing) -> Vec<Vec<String>> {
    let slugs = |event: &Value| {
        let all = event["categories"].as_array().unwrap().iter();
        let mut all: Vec<String> =
            all.map(|one| one["slug"].as_str().unwrap().to_owned()).collect();
        all.sort_unstable();
        all
    };
    public(club).await.iter().map(slugs).collect()
}

#[actix_web::test]
async fn subscription_whose_category_and_venue_are_deleted_runs_without_them() {
    let club = Subscribing::new().await;
    let category = club.app.make("/categories", json!({"name": "Sport"})).await;
    let venue = club.app.make("/venues", json!({"venue": "Hall"})).await;
    club.serves(&series(3, 18, ""));
    let id = club.subscribe(json!({"category": category, "venue": venue})).await;
    club.run(id).await;
    assert_eq!(categories(&club).await, vec![vec!["sport"]; 3]);
    club.app.delete(&format!("/categories/{category}")).await.expect(200);
    club.app.delete(&format!("/venues/{venue}?force=true")).await.expect(200);
    club.serves(&series(4, 18, ""));
    for expected in [[1, 0, 3, 0, 0, 0], [0, 0, 4, 0, 0, 0]] {
        let run = club.run_now(id).await;
        assert_eq!(counts(&run, "imported"), expected, "{run}");
    }
    assert_eq!(categories(&club).await, vec![vec![""; 0]; 4]);
    assert_eq!((club.app.rows("venues"), club.app.rows("terms")), (0, 0));
    let shown = club.shown(id).await;
    assert_eq!((&shown["category"], &shown["venue"]), (&Value::Null, &Value::Null));
}

#[actix_web::test]
async fn subscription_to_the_own_feed_changes_nothing() {
    let club = Subscribing::new().await;
    let weekly = json!({"title": "Own", "timezone": "Europe/Vienna",
        "start_date": "2027-05-04 18:00", "end_date": "2027-05-04 19:00",
        "recurrence": {"rrule": "FREQ=WEEKLY", "count": 3}});
    let first = club.app.event(weekly).await;
    club.app.event(json!({"title": "Single"})).await;
    let before = public(&club).await;
    club.serves(&feed(&club).await);
    let id = club.subscribe(json!({"adopt": true})).await;
    let run = club.run(id).await;
    assert_eq!(counts(&run, "imported"), [0, 0, 0, 2, 0, 0], "{run}");
    assert!(message(&run).contains("it comes from this calendar"), "{run}");
    assert_eq!(public(&club).await, before);
    patch(&club, first, json!({"scope": "all", "title": "Mine"})).await;
    club.run_now(id).await;
    assert_eq!(club.shown(id).await["events"], 0);
    let path = format!("/subscriptions/{id}?events=true");
    club.app.call("editor", "DELETE", &path, &json!({})).await.expect(200);
    run_due_subscriptions(&club.state).await;
    assert_eq!((public(&club).await.len(), club.app.rows("subscriptions")), (4, 0));
}

#[actix_web::test]
async fn second_subscription_with_the_same_series_does_not_touch_it() {
    let club = Subscribing::new().await;
    club.serves(&series(3, 18, ""));
    let one = club.subscribe(json!({})).await;
    club.run(one).await;
    let before = ids(&club).await;
    let own = series(5, 20, "DESCRIPTION:Theirs\r\n");
    let other = testkit::HttpPeer::start(move |_| ics(&own));
    let two = club.subscribe_to(&other.url("/other.ics"), json!({})).await;
    for _ in 0..2 {
        let run = club.run_now(two).await;
        assert_eq!(counts(&run, "imported"), [0, 0, 0, 1, 0, 0], "{run}");
        let run = club.run_now(one).await;
        assert_eq!(counts(&run, "imported"), [0, 0, 3, 0, 0, 0], "{run}");
        assert_eq!(ids(&club).await, before);
    }
    let path = format!("/subscriptions/{two}?events=true");
    club.app.call("editor", "DELETE", &path, &json!({})).await.expect(200);
    run_due_subscriptions(&club.state).await;
    assert_eq!((ids(&club).await, club.app.rows("subscriptions")), (before, 1));
}

#[actix_web::test]
async fn series_that_a_user_made_of_an_event_of_a_file_stays() {
    for subscribes in [true, false] {
        let club = Subscribing::new().await;
        let file = |hour: u8, more: &str| {
            calendar(&[format!(
                "BEGIN:VEVENT\r\nUID:t\r\nDTSTAMP:20270101T000000Z\r\nSUMMARY:Yoga\r\n\
                 DTSTART;TZID=Europe/Vienna:20270504T{hour:02}0000\r\nDURATION:PT1H\r\n{more}\
                 END:VEVENT\r\n"
            )])
        };
        club.serves(&file(18, ""));
        let id = if subscribes { club.subscribe(json!({})).await } else { 0 };
        let take = async |file: String| match subscribes {
            true => {
                club.serves(&file);
                let run = club.run_now(id).await;
                assert_eq!(run["last_run"]["outcome"], "imported", "{run}");
            }
            false => drop(imports::counts(&club.app, &file).await),
        };
        take(file(18, "")).await;
        let first = club.event_of("t");
        let rule = json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 3}});
        patch(&club, first, rule).await;
        let days = ["05-04", "05-11", "05-18"];
        for more in ["", "DESCRIPTION:New\r\n"] {
            take(file(18, more)).await;
            let own = if more.is_empty() { "[]" } else { "[\"description\"]" };
            let expected = [own, "[]", "[]"];
            let expected: Vec<String> =
                (0..3).map(|at| format!("{} 18:00 Yoga {}", days[at], expected[at])).collect();
            assert_eq!(shown(&club).await, expected, "{subscribes} {more}");
        }
        // Another time in the file is that of its date only.
        take(file(20, "DESCRIPTION:New\r\n")).await;
        let shown = shown(&club).await;
        assert_eq!(shown[0], "05-04 20:00 Yoga [\"description\",\"dates\"]", "{subscribes}");
        assert_eq!(shown[1..], ["05-11 18:00 Yoga []", "05-18 18:00 Yoga []"], "{subscribes}");
        let feed = feed(&club).await;
        assert_eq!(feed.matches("RECURRENCE-ID").count(), 1, "{feed}");
        assert!(feed.contains("RRULE:FREQ=WEEKLY;COUNT=3"), "{feed}");
        // A rule of the file replaces it.
        let ruled = file(20, "RRULE:FREQ=WEEKLY;COUNT=2\r\n").replace("20270101", "20270102");
        take(ruled).await;
        assert_eq!(club.app.rows("series"), 1);
        take(file(20, "").replace("20270101", "20270103")).await;
        assert_eq!(club.app.rows("series"), 0, "{subscribes}");
    }
}

#[actix_web::test]
async fn removed_series_whose_file_changed_agrees_with_it_when_it_is_restored() {
    let club = Subscribing::new().await;
    club.serves(&series(3, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let all = ids(&club).await;
    club.app.delete(&format!("/events/{}?scope=all", all[1])).await.expect(200);
    for file in [series(3, 18, ""), series(4, 20, "LOCATION:Barn\r\n")] {
        club.serves(&file.replace("SUMMARY:Yoga", "SUMMARY:Stretching"));
        club.run_now(id).await;
        assert_eq!(public(&club).await.len(), 0);
    }
    for event in [all[0], all[2], all[1]] {
        patch(&club, event, json!({"status": "publish"})).await;
    }
    let days = ["04", "11", "18"];
    let expected = days.map(|day| format!("05-{day} 20:00 Stretching []"));
    assert_eq!(shown(&club).await, expected);
    assert_eq!(changed(&club, id).await, vec![json!([]); 3]);
    let text = feed(&club).await;
    assert_eq!(text.matches("BEGIN:VEVENT").count(), 1, "{text}");
    let other = crate::app::App::new().await;
    series_revisions::follow(&other, &text).await;
    assert_eq!(
        series_revisions::shown(&other).await,
        series_revisions::shown(&club.app).await,
        "{text}"
    );
    // The date that was added to the file in the meantime appears with the next run.
    club.run_now(id).await;
    assert_eq!(shown(&club).await.len(), 4);
}

#[actix_web::test]
async fn subscribed_series_that_is_split_twice_has_its_titles_in_feeds() {
    let club = Subscribing::new().await;
    club.serves(&series(6, 18, ""));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    let all = ids(&club).await;
    patch(&club, all[0], json!({"scope": "all", "title": "Mine"})).await;
    club.run_now(id).await;
    for (event, title) in [(all[2], "Two"), (all[4], "Three")] {
        patch(&club, event, json!({"scope": "following", "title": title})).await;
    }
    let titles = ["Mine", "Mine", "Two", "Two", "Three", "Three"];
    for more in ["", "DESCRIPTION:New\r\n", ""] {
        club.serves(&series(6, 18, more));
        club.run_now(id).await;
        let shown: Vec<String> = public(&club)
            .await
            .iter()
            .map(|event| event["title"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(shown, titles, "{more}");
        let other = crate::app::App::new().await;
        series_revisions::follow(&other, &feed(&club).await).await;
        assert_eq!(
            series_revisions::shown(&other).await,
            series_revisions::shown(&club.app).await,
            "{more}"
        );
    }
    assert_eq!(club.app.rows("series"), 1);
}
