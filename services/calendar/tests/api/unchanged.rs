//! Writes that change nothing, and bodies that are not JSON.

use calendar::add_webhook;
use serde_json::{Value, json};

use crate::app::{App, send};

/// Returns the numbers of recorded changes and of webhook messages.
fn recorded(app: &App) -> [i64; 2] {
    ["event_changes", "webhook_outbox"].map(|table| app.rows(table))
}

#[actix_web::test]
async fn write_that_changes_nothing_keeps_the_date_of_change() {
    let app = App::new().await;
    let add = |db: &mut database::Db| add_webhook(db, "http://127.0.0.1:1/", "secret", 0);
    app.state.pools.write_blocking(add).unwrap();
    let fields = json!({
        "title": "R & B", "description": "<p>Long</p>", "tags": ["live"], "categories": ["Talks"],
        "venue": {"venue": "Hall", "city": "Wien"}, "organizer": [{"organizer": "Ann"}],
        "cost": "5", "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00",
    });
    let event = format!("/events/{}", app.event(fields.clone()).await);
    let venue = app.get("/venues").await.json["venues"][0]["id"].clone();
    let organizer = app.get("/organizers").await.json["organizers"][0]["id"].clone();
    let linked = [
        (format!("/venues/{venue}"), json!({"venue": "Hall", "city": "Wien"})),
        (format!("/organizers/{organizer}"), json!({"organizer": "Ann"})),
    ];
    let before = recorded(&app);
    app.clock.advance(3600);
    for (path, fields) in linked.iter().chain([(event.clone(), fields.clone())].iter()) {
        let old = app.get(path).await.expect(200).json;
        for body in [fields.clone(), json!({})] {
            for method in ["PATCH", "PUT"] {
                app.call("editor", method, path, &body).await.expect(200);
                assert_eq!(app.get(path).await.json, old, "{method} {path}");
            }
        }
        assert_eq!(recorded(&app), before, "{path}");
    }
    // A change is recorded, even if it only affects a link.
    let mut modified = Vec::new();
    for body in [json!({"title": "Soul"}), json!({"tags": ["loud"]}), json!({"venue": []})] {
        app.clock.advance(60);
        app.patch(&event, &body).await.expect(200);
        let changed: Value = app.get(&event).await.json["modified_utc"].clone();
        assert!(!modified.contains(&changed), "{body}");
        modified.push(changed);
    }
    assert_eq!(recorded(&app)[1], before[1] + 3);
}

#[actix_web::test]
async fn json_is_read_from_application_types_only() {
    let app = App::new().await;
    let path = format!("/events/{}", app.event(json!({"title": "Old"})).await);
    for (kind, status) in [
        ("application/json", 200),
        ("application/merge-patch+json", 200),
        ("text/json", 415),
        ("text/json; charset=utf-8", 415),
        ("text/plain", 415),
    ] {
        let request = app.request("editor", "PATCH", &path).header("Content-Type", kind);
        let title = json!({"title": kind});
        send(request.body(title.to_string())).await.expect(status);
        let event = app.get(&path).await.json;
        assert_eq!(event["title"] == kind, status == 200, "{kind}");
    }
}
