//! HTML in writes: sanitized, and rejected if it would multiply when parsed.

use serde_json::{Value, json};

use crate::app::App;

/// Builds unclosed formatting tags, followed by the same number of blocks in which a parser reopens
/// them.
fn tangle() -> String {
    let open: String = (0..1000).map(|number| format!("<b class={number}>")).collect();
    format!("<p>{open}</p>{}", "<p>x</p>".repeat(1000))
}

#[actix_web::test]
async fn markup_that_multiplies_when_parsed_gets_400() {
    let app = App::new().await;
    let event = |name: &str, value: Value| {
        let mut body = json!({"title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
        body[name] = value;
        body
    };
    for name in ["description", "excerpt"] {
        let text = tangle();
        for (path, body, fault) in [
            ("/events", event(name, json!(text)), name),
            ("/events", event("venue", json!({"venue": "x", name: text})), "venue"),
            ("/events", event("organizer", json!([{"organizer": "x", name: text}])), "organizer"),
            ("/venues", json!({"venue": "x", name: text}), name),
            ("/organizers", json!({"organizer": "x", name: text}), name),
        ] {
            let answer = app.post(path, &body).await.expect(400);
            assert_eq!(answer.code(), "rest_invalid_param");
            assert!(answer.json["data"]["params"][fault].is_string(), "{}", answer.text);
        }
    }
    assert_eq!((app.rows("events"), app.rows("venues"), app.rows("organizers")), (0, 0, 0));
    let id = app.event(json!({"description": "<p><b>a</b></p>".repeat(1000)})).await;
    let path = format!("/events/{id}");
    app.patch(&path, &json!({"description": tangle()})).await.expect(400);
    let kept = app.get(&path).await.json;
    assert_eq!(kept["description"].as_str().unwrap().matches("<b>").count(), 1000);
}
