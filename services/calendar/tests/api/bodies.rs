//! Snapshots of complete responses. They detect unintended changes of keys, values and headers.

use serde_json::json;
use testkit::Exchange;

use crate::app::App;

const HEADERS: [&str; 9] = [
    "content-type",
    "cache-control",
    "last-modified",
    "location",
    "link",
    "vary",
    "x-tec-total",
    "x-tec-totalpages",
    "x-wp-total",
];

impl App {
    /// Renders a response for a snapshot, hiding the port of the server.
    async fn shown(&self, who: &str, path: &str) -> String {
        let answer = self.request(who, "GET", path).answer().await;
        let base = self.server.url("");
        let host = base.split_once("://").map_or("", |(_, host)| host);
        format!("GET {path}\n{}\n", answer.shown(&HEADERS)).replace(host, "calendar.example")
    }
}

#[actix_web::test]
async fn responses_of_each_resource_match_their_snapshots() {
    let app = App::new().await;
    let venue = json!({
        "venue": "Town Hall", "address": "1 Main Street", "city": "Springfield", "country": "US",
        "state": "IL", "zip": "62701", "phone": "555", "website": "https://hall.example",
        "geo_lat": 39.8, "geo_lng": -89.6, "description": "Old & large",
    });
    let venue = app.make("/venues", venue).await;
    let organizer =
        json!({"organizer": "Ann Example", "phone": "556", "email": "ann@hall.example"});
    let organizer = app.make("/organizers", organizer).await;
    let category = app.make("/categories", json!({"name": "Music"})).await;
    let tag = app.make("/tags", json!({"name": "Live"})).await;
    let event = json!({
        "title": "Concert", "start_date": "2027-04-01 20:00", "end_date": "2027-04-01 22:00",
        "timezone": "Europe/Rome", "description": "First line\n\nSecond line", "cost": "$5 - $10",
        "venue": venue, "organizer": organizer, "categories": [category], "tags": [tag],
        "featured": true,
    });
    let event = app.make("/events", event).await;
    let secret = app.event(json!({"title": "Secret", "password": "hush"})).await;
    for (name, path) in [
        ("event", format!("/events/{event}")),
        ("events", "/events?per_page=1".to_owned()),
        ("protected_event", format!("/events/{secret}")),
        ("venue", format!("/venues/{venue}")),
        ("organizer", format!("/organizers/{organizer}")),
        ("category", format!("/categories/{category}")),
        ("tags", "/tags".to_owned()),
        ("invalid", "/events?page=0&status=x".to_owned()),
    ] {
        insta::assert_snapshot!(name, app.shown("", &path).await);
    }
}
