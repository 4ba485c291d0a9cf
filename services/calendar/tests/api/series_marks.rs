//! Fields that differ between the events of a series, until they agree again.

use serde_json::{Value, json};

use crate::app::App;
use crate::series::{course, events, patch, starts, texts};

async fn ids(app: &App, id: i64) -> Vec<i64> {
    events(app, id).await.iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

/// Returns the fields of each event that differ from its series.
async fn changed(app: &App, id: i64) -> Vec<Value> {
    events(app, id).await.iter().map(|one| one["series"]["changed"].clone()).collect()
}

#[actix_web::test]
async fn change_of_all_reaches_a_date_whose_own_change_was_undone() {
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let all = ids(&app, id).await;
    for (field, own, shared, new) in [
        ("event_status", "cancelled", "scheduled", "cancelled"),
        ("title", "Guest teacher", "Yoga", "Pilates"),
    ] {
        let one = patch(&app, all[1], json!({ field: own })).await.expect(200).json;
        assert_eq!(one["series"]["changed"], json!([field]));
        let one = patch(&app, all[1], json!({ field: shared })).await.expect(200).json;
        assert_eq!(one["series"]["changed"], json!([]), "{field}");
        patch(&app, id, json!({ field: new, "scope": "all" })).await.expect(200);
        assert_eq!(texts(&app, id, field).await, vec![new; 4]);
    }
    // The time too.
    let at = |hour: u8| {
        json!({"start_date": format!("2027-03-23 {hour}:00"),
            "end_date": format!("2027-03-23 {hour}:30")})
    };
    let planned = json!({"start_date": "2027-03-23 18:00", "end_date": "2027-03-23 19:30"});
    for (body, expected) in [(at(20), json!(["dates"])), (planned, json!([]))] {
        let one = patch(&app, all[1], body).await.expect(200).json;
        assert_eq!(one["series"]["changed"], expected);
    }
    let later = json!({"start_date": "2027-03-16 17:00", "scope": "all"});
    patch(&app, id, later).await.expect(200);
    assert_eq!(starts(&app, id).await[1], "03-23 17:00");
}

#[actix_web::test]
async fn field_is_shared_again_when_all_events_get_its_value() {
    let app = App::new().await;
    let id = course(&app, json!({"status": "draft"})).await;
    let all = ids(&app, id).await;
    patch(&app, all[1], json!({"status": "publish", "title": "Guest"})).await.expect(200);
    let moved = json!({"start_date": "2027-03-23 19:00", "end_date": "2027-03-23 20:30"});
    patch(&app, all[1], moved).await.expect(200);
    assert_eq!(changed(&app, id).await[1], json!(["title", "status", "dates"]));
    patch(&app, id, json!({"status": "publish", "scope": "all"})).await.expect(200);
    assert_eq!(changed(&app, id).await[1], json!(["title", "dates"]));
    patch(&app, id, json!({"start_date": "2027-03-16 19:00", "scope": "all"})).await.expect(200);
    assert_eq!(changed(&app, id).await[1], json!(["title"]));
    // The whole series is withdrawn.
    patch(&app, id, json!({"status": "draft", "scope": "all"})).await.expect(200);
    assert_eq!(texts(&app, id, "status").await, vec!["draft"; 4]);
    assert_eq!(changed(&app, id).await[1], json!(["title"]));
}

#[actix_web::test]
async fn new_rule_keeps_the_dates_of_the_event_through_which_it_is_sent() {
    let moved = json!({"start_date": "2027-03-25 20:00", "end_date": "2027-03-25 21:00"});
    let later = ["03-30 18:00", "04-06 18:00", "04-13 18:00", "04-20 18:00"];
    for (scope, count) in [("all", 6), ("following", 5)] {
        // The dates of the event may be sent along.
        for dates in [json!({}), moved.clone()] {
            let app = App::new().await;
            let id = course(&app, json!({})).await;
            let second = ids(&app, id).await[1];
            patch(&app, second, moved.clone()).await.expect(200);
            let recurrence = json!({"rrule": "FREQ=WEEKLY;BYDAY=TU", "count": count});
            let mut body = json!({"scope": scope, "recurrence": recurrence});
            body.as_object_mut().unwrap().extend(dates.as_object().unwrap().clone());
            let changed = patch(&app, second, body).await.expect(200).json;
            assert_eq!(changed["end_date"], "2027-03-25 21:00:00", "{scope} {dates}");
            assert_eq!(changed["series"]["changed"], json!(["dates"]), "{scope} {dates}");
            assert_eq!(changed["series"]["occurrence"], "2027-03-23 18:00:00");
            let all = starts(&app, second).await;
            let first = all.iter().position(|start| start == "03-25 20:00").unwrap();
            assert_eq!(all[first + 1..], later, "{scope} {dates}");
        }
    }
    // A new start still moves it with the others.
    let app = App::new().await;
    let id = course(&app, json!({})).await;
    let second = ids(&app, id).await[1];
    patch(&app, second, moved).await.expect(200);
    let rule = json!({"rrule": "FREQ=WEEKLY;BYDAY=WE", "count": 2});
    let body = json!({"scope": "all", "recurrence": rule, "start_date": "2027-03-24 19:00"});
    patch(&app, second, body).await.expect(200);
    assert_eq!(starts(&app, id).await, ["03-17 19:00", "03-24 19:00"]);
}
