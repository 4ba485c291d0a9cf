//! Metrics of a real process, because tests in one process share theirs.

use reqwest::Method;
use serde_json::json;
use testkit::{Exchange, Program, Served};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Waits until a metric has a value.
async fn until(served: &Served, name: &str, value: f64) {
    while served.metric(name).await != value {
        actix_web::rt::task::yield_now().await;
    }
}

#[actix_web::test]
async fn metrics_exist_from_the_start_and_follow_events_and_imports() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("ADMIN_KEY", KEY);
    let served = program.serve(&[]);
    let events = |status: &str| format!("calendar_events{{status=\"{status}\"}}");
    let imports = |outcome: &str| format!("calendar_imports_total{{outcome=\"{outcome}\"}}");
    for status in ["publish", "future", "draft", "pending", "private", "trash", "other"] {
        assert_eq!(served.metric(&events(status)).await, 0.0, "{status}");
    }
    for outcome in ["whole", "partial", "refused"] {
        assert_eq!(served.metric(&imports(outcome)).await, 0.0, "{outcome}");
    }
    for name in [
        "index_behind_changes",
        "costly_lists_waiting",
        "costly_lists_refused_total",
        "webhooks_waiting",
    ] {
        assert_eq!(served.metric(&format!("calendar_{name}")).await, 0.0, "{name}");
    }
    for state in ["active", "failing", "paused", "stopped"] {
        let name = format!("calendar_subscriptions{{state=\"{state}\"}}");
        assert_eq!(served.metric(&name).await, 0.0, "{name}");
    }
    for outcome in ["imported", "not_modified", "failed", "stopped"] {
        let name = format!("calendar_subscription_runs_total{{outcome=\"{outcome}\"}}");
        assert_eq!(served.metric(&name).await, 0.0, "{name}");
    }
    let post = |path: &str| {
        served.request(Method::POST, &format!("/calendar/events/v1{path}")).header("X-API-Key", KEY)
    };
    for status in ["publish", "draft", "draft", "proof read"] {
        let event = json!({
            "title": "Fair", "status": status,
            "start_date": "2027-03-01 10:00:00", "end_date": "2027-03-01 11:00:00",
        });
        assert_eq!(post("/events").json(&event).answer().await.status, 201);
    }
    until(&served, &events("draft"), 2.0).await;
    until(&served, &events("publish"), 1.0).await;
    until(&served, &events("other"), 1.0).await;
    let calendar = |entries: &str| format!("BEGIN:VCALENDAR\r\n{entries}END:VCALENDAR\r\n");
    let good = "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20270301T100000Z\r\nSUMMARY:a\r\nEND:VEVENT\r\n";
    let bad = "BEGIN:VEVENT\r\nUID:2\r\nSUMMARY:b\r\nEND:VEVENT\r\n";
    for (file, outcome) in [
        (calendar(good), "whole"),
        (calendar(&format!("{good}{bad}")), "partial"),
        ("not a calendar".to_owned(), "refused"),
    ] {
        let sent = post("/import/ical").header("content-type", "text/calendar").body(file);
        let _ = sent.answer().await;
        assert_eq!(served.metric(&imports(outcome)).await, 1.0, "{outcome}");
    }
    assert!(served.metric("calendar_index_build_seconds").await > 0.0);
    assert!(served.metric("calendar_index_bytes").await > 0.0);
}
