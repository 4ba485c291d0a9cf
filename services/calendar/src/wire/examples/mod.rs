//! Example responses for the OpenAPI document, recorded from the running service.

use serde_json::{Value, json};

fn recorded(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// A single event.
pub fn event() -> Value {
    recorded(include_str!("event.json"))
}

/// A single venue.
pub fn venue() -> Value {
    recorded(include_str!("venue.json"))
}

/// A single organizer.
pub fn organizer() -> Value {
    recorded(include_str!("organizer.json"))
}

/// A single category.
pub fn term() -> Value {
    recorded(include_str!("term.json"))
}

/// A list page with `item` as its only element. List items don't include structured data.
pub fn list(kind: &str, mut item: Value) -> Value {
    if let Some(item) = item.as_object_mut() {
        item.remove("json_ld");
    }
    json!({
        kind: [item],
        "rest_url": format!("https://calendar.example/calendar/events/v1/{kind}?page=1&per_page=1"),
        "next_rest_url": format!("https://calendar.example/calendar/events/v1/{kind}?per_page=1&page=2"),
        "total": 2,
        "total_pages": 2,
    })
}
