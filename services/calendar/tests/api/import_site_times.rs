//! Times of events that are imported from a site.

use serde_json::json;

use crate::import_site::{call, counts, create, import, program};

#[actix_web::test]
async fn events_in_the_repeated_hour_keep_their_length() {
    let source = program();
    let old = source.serve(&[]);
    let mut ids = Vec::new();
    for (start, end) in [
        ("2027-10-31T02:50:00+02:00", "2027-10-31T02:10:00+01:00"),
        ("2027-10-31T02:10:00+02:00", "2027-10-31T02:30:00+01:00"),
        ("2027-10-31T02:10:00+01:00", "2027-10-31T02:30:00+01:00"),
        ("2027-10-31T02:10:00+02:00", "2027-10-31T02:30:00+02:00"),
    ] {
        let event = json!({"title": "Night", "timezone": "Europe/Vienna", "start_date": start,
            "end_date": end});
        ids.push(create(&old, "/events", event).await);
    }
    let target = program().with_database();
    let url = format!("http://{}", old.http());
    assert_eq!(counts(&import(&target, &url, &[]), 0), [4, 0, 0, 0, 0]);
    assert_eq!(counts(&import(&target, &url, &[]), 0), [0, 0, 4, 0, 0]);
    let new = target.serve(&[]);
    for id in ids {
        let path = format!("/events/{id}");
        let here = call(&new, "GET", &path, json!({})).await;
        let there = call(&old, "GET", &path, json!({})).await;
        for name in ["start_date", "end_date", "utc_start_date", "utc_end_date", "timezone"] {
            assert_eq!(here[name], there[name], "{name} of {id}");
        }
    }
}
