//! List windows by each event's local time, and page links that keep their meaning.

use serde_json::json;

use crate::app::{Answer, App, NOW, NS};

#[actix_web::test]
async fn day_bounds_use_the_local_clock_of_each_event() {
    for site in ["UTC", "America/New_York", "Pacific/Auckland"] {
        let app = App::with(&[&format!("--site-timezone={site}")]).await;
        for zone in ["Asia/Tokyo", "America/Los_Angeles", "Europe/Vienna"] {
            let day = json!({"title": zone, "timezone": zone, "all_day": true,
                "start_date": "2027-09-02", "end_date": "2027-09-02"});
            app.event(day).await;
        }
        let titles = |answer: Answer| -> Vec<String> {
            let events = answer.json["events"].as_array().unwrap().clone();
            assert_eq!(answer.json["total"], events.len());
            events.iter().map(|event| event["title"].as_str().unwrap().to_owned()).collect()
        };
        for (day, count) in [("2027-09-01", 0), ("2027-09-02", 3), ("2027-09-03", 0)] {
            let list = app.get(&format!("/events?start_date={day}&end_date={day}")).await;
            assert_eq!(titles(list).len(), count, "{site}: {day}");
        }
        // First as local times, then as instants.
        let midnight = "start_date=2027-09-02%2000:00&end_date=2027-09-03&strict_dates=1";
        let list = app.get(&format!("/events?{midnight}")).await;
        assert_eq!(titles(list).len(), 3, "{site}");
        for (from, to, found) in [
            ("2027-09-01T15:00:00Z", "2027-09-02T14:59:59Z", "Asia/Tokyo"),
            ("2027-09-02T09:00:00%2B02:00", "1788245999", ""),
            ("2027-09-02T00:00:00%2B02:00", "1819922399", "Europe/Vienna"),
        ] {
            let query = format!("start_date={from}&end_date={to}&strict_dates=true");
            let list = app.get(&format!("/events?{query}")).await;
            assert_eq!(titles(list).join(" "), found, "{site}: {query}");
        }
    }
}

#[actix_web::test]
async fn page_links_fix_relative_dates() {
    let app = App::new().await;
    let mut ids = Vec::new();
    for hour in 9..21 {
        let start = format!("2027-03-10 {hour}:00");
        ids.push(app.event(json!({"start_date": start, "end_date": start})).await);
    }
    for (query, echo, first) in [
        ("start_date=now", "start_date=2027-03-10%2000%3A00%3A00", 0),
        (
            "start_date=2027-03-10&ends_before=2027-03-10",
            "ends_before=2027-03-10%2000%3A00%3A00",
            0,
        ),
        ("starts_after=yesterday", "starts_after=2027-03-09%2023%3A59%3A59", 0),
        ("start_date=now&strict_dates=1", "start_date=2027-03-10T12%3A00%3A00Z", 3),
        ("ends_after=now&strict_dates=1", "ends_after=2027-03-10T12%3A00%3A00Z", 4),
        ("start_date=-2%20hours&strict_dates=1", "start_date=2027-03-10T10%3A00%3A00Z", 1),
    ] {
        let mut seen = Vec::new();
        let path = format!("/events?per_page=4&{query}");
        let mut answer = app.get(&path).await.expect(200);
        loop {
            assert!(answer.json["rest_url"].as_str().unwrap().contains(echo), "{}", answer.text);
            seen.extend(answer.ids());
            // Time passes between the two pages, until after midnight.
            app.clock.advance(5 * 3600);
            let Some(next) = answer.json["next_rest_url"].as_str() else { break };
            let (_, path) = next.split_once(NS).unwrap();
            answer = app.get(path).await.expect(200);
        }
        assert_eq!(seen, &ids[first..], "{query}");
        app.clock.set(NOW.parse().unwrap());
    }
}
