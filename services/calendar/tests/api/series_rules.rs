//! Series whose rule or time changes: which dates move, leave and come back.

use calendar::extend_series;
use serde_json::{Value, json};
use testkit::Exchange as _;

use crate::app::App;
use crate::series::{course, events, patch, starts, texts};

/// Returns the ids of the events of a series.
async fn ids(app: &App, id: i64) -> Vec<i64> {
    events(app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

/// Returns the fields of each event that differ from its series.
async fn changed(app: &App, id: i64) -> Vec<Value> {
    events(app, id).await.iter().map(|one| one["series"]["changed"].clone()).collect()
}

#[actix_web::test]
async fn events_beyond_the_horizon_move_with_their_series() {
    let app = App::with(&["--series-ahead=1"]).await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=DAILY"}})).await;
    let before = ids(&app, id).await;
    assert_eq!(starts(&app, id).await.last().unwrap(), "04-09 18:00");
    let later =
        json!({"start_date": "2027-03-19 18:00", "end_date": "2027-03-19 19:30", "scope": "all"});
    patch(&app, id, later).await.expect(200);
    let after = starts(&app, id).await;
    assert_eq!((after[0].as_str(), after.last().unwrap().as_str()), ("03-19 18:00", "04-12 18:00"));
    assert_eq!(ids(&app, id).await, before);
    for event in events(&app, id).await {
        assert_eq!(event["start_date"], event["series"]["occurrence"]);
        let day = &event["start_date"].as_str().unwrap()[..10];
        assert_eq!(event["slug"], format!("yoga--{day}"));
    }
    // Scheduled work creates each of the next dates once.
    app.clock.advance(5 * 24 * 3600);
    extend_series(&app.state).await;
    let mut extended = starts(&app, id).await;
    assert_eq!(extended.last().unwrap(), "04-14 18:00");
    let number = extended.len();
    extended.dedup();
    assert_eq!(extended.len(), number);
}

#[actix_web::test]
async fn series_that_moves_years_ahead_leaves_no_event_behind() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 4}})).await;
    let far =
        json!({"start_date": "2031-03-11 18:00", "end_date": "2031-03-11 19:30", "scope": "all"});
    patch(&app, id, far).await.expect(200);
    assert_eq!(
        texts(&app, id, "start_date").await,
        [
            "2031-03-11 18:00:00",
            "2031-03-18 18:00:00",
            "2031-03-25 18:00:00",
            "2031-04-01 18:00:00"
        ]
    );
    // Months differ in length, so some dates are not dates of the rule and go to the trash.
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=MONTHLY", "count": 4}})).await;
    let far =
        json!({"start_date": "2030-02-16 18:00", "end_date": "2030-02-16 19:30", "scope": "all"});
    patch(&app, id, far).await.expect(200);
    let all = events(&app, id).await;
    assert!(all.iter().all(|event| event["start_date"] == event["series"]["occurrence"]));
    assert_eq!(app.rows("events where status <> 'trash' and start_utc < 1890000000"), 0);
}

#[actix_web::test]
async fn date_restored_after_a_change_of_all_agrees_with_its_series() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    patch(&app, all[2], json!({"title": "Guest"})).await.expect(200);
    for trashed in &all[1..] {
        app.delete(&format!("/events/{trashed}")).await.expect(200);
    }
    let new = json!({"title": "Pilates", "website": "https://example.org/",
        "start_date": "2027-03-23 20:00", "end_date": "2027-03-23 21:00", "scope": "all"});
    patch(&app, id, new).await.expect(200);
    for trashed in &all[1..] {
        patch(&app, *trashed, json!({"status": "publish"})).await.expect(200);
    }
    assert_eq!(ids(&app, id).await, all);
    assert_eq!(
        starts(&app, id).await,
        ["03-23 20:00", "03-30 20:00", "04-06 20:00", "04-13 20:00"]
    );
    assert_eq!(texts(&app, id, "title").await, ["Pilates", "Pilates", "Guest", "Pilates"]);
    assert_eq!(texts(&app, id, "website").await, vec!["https://example.org/"; 4]);
    assert_eq!(texts(&app, id, "slug").await[3], "yoga--2027-04-13");
    let none = json!([]);
    assert_eq!(changed(&app, id).await, [none.clone(), none.clone(), json!(["title"]), none]);
    let feed = app.get("/ical").await.text;
    assert!(!feed.contains("EXDATE") && feed.matches("RECURRENCE-ID").count() == 1, "{feed}");
    // The date of a request that restores it, moves with the others.
    app.delete(&format!("/events/{}", all[1])).await.expect(200);
    let back = json!({"status": "publish", "start_date": "2027-03-30 18:00",
        "end_date": "2027-03-30 19:00", "scope": "all"});
    patch(&app, all[1], back).await.expect(200);
    assert_eq!(
        starts(&app, id).await,
        ["03-23 18:00", "03-30 18:00", "04-06 18:00", "04-13 18:00"]
    );
}
