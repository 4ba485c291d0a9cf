//! Events of an imported site that a password protects.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer};

use crate::import_site::{asked, call, counts, create, empty, import, program};

/// The state of the site: whether its events have a password, and whether users see that.
#[derive(Clone, Copy)]
struct Shown {
    is_protected: bool,
    has_passwords: bool,
}

fn details(id: i64) -> Value {
    json!({"id": id, "title": "Feast", "start_date": "2041-01-01 10:00:00",
        "end_date": "2041-01-01 11:00:00", "description": "<p>Bring cake</p>", "cost": "5",
        "all_day": false, "featured": true, "hide_from_listings": false})
}

/// Returns an event in the form that hides its details.
fn blank(id: i64) -> Value {
    let mut event = details(id);
    for (name, value) in [("description", json!("")), ("cost", json!(""))] {
        event[name] = value;
    }
    for name in ["all_day", "featured", "hide_from_listings"] {
        event[name] = Value::Null;
    }
    event
}

fn site(shown: &Arc<Mutex<Shown>>) -> HttpPeer {
    let shown = Arc::clone(shown);
    HttpPeer::start(move |request| {
        let (target, shown) = (request.target.as_str(), *shown.lock());
        let found = |body: Value| PeerAnswer::Body(200, body.to_string());
        let id = if target.contains("/71?") { 71 } else { 70 };
        if target.contains("/users/") {
            return found(json!({"id": 1, "slug": "admin"}));
        }
        if target.contains("/tribe_events/") {
            return match shown.has_passwords {
                true => found(json!({"password": "secret"})),
                false => PeerAnswer::Body(403, String::new()),
            };
        }
        match asked(target) {
            (name, 0) if name == "events" => found(details(id)),
            (name, _) if name == "events" => found(match shown.is_protected {
                true => json!({"events": [blank(70), blank(71)], "total_pages": 1}),
                false => json!({"events": [details(70)], "total_pages": 1}),
            }),
            (name, _) => empty(&name),
        }
    })
}

#[actix_web::test]
async fn protected_events_are_reported_until_a_user_may_read_them() {
    let shown = Arc::new(Mutex::new(Shown { is_protected: false, has_passwords: false }));
    let peer = site(&shown);
    let target = program().with_database();
    let url = peer.url("");
    assert_eq!(counts(&import(&target, &url, &[]), 0), [1, 0, 0, 0, 0]);
    let server = target.serve(&[]);
    let get = |path| call(&server, "GET", path, json!({}));
    let copy = get("/events/70").await;
    assert_eq!(copy["description"], "<p>Bring cake</p>");
    shown.lock().is_protected = true;
    for arguments in [vec![], vec!["--user", "admin"]] {
        let ran = import(&target, &url, &arguments);
        assert_eq!(counts(&ran, 1), [0, 0, 0, 0, 2]);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let faults = report["faults"].as_array().unwrap().iter();
        let faults: Vec<_> = faults.map(|one| (&one["list"], &one["id"])).collect();
        let events = json!("events");
        assert_eq!(faults, [(&events, &json!(70)), (&events, &json!(71))]);
        assert!(ran.out.contains("is protected by a password"), "{}", ran.out);
        assert_eq!(get("/events/70").await, copy);
        assert_eq!(get("/events?start_date=2040-01-01&end_date=2042-01-01").await["total"], 1);
    }
    shown.lock().has_passwords = true;
    let with_user = ["--user", "admin"];
    assert_eq!(counts(&import(&target, &url, &with_user), 0), [1, 1, 0, 0, 0]);
    let list = get("/events?start_date=2040-01-01&end_date=2042-01-01").await;
    assert_eq!(list["total"], 2);
    for (event, id) in list["events"].as_array().unwrap().iter().zip([70, 71]) {
        assert_eq!((&event["id"], &event["description"]), (&json!(id), &json!("")));
        let path = format!("/events/{id}?password=secret");
        let open = call(&server, "GET", &path, json!({})).await;
        assert_eq!(open["description"], copy["description"], "{id}");
    }
    assert_eq!(counts(&import(&target, &url, &with_user), 0), [0, 0, 2, 0, 0]);
    // The site removes the password of the first event.
    shown.lock().is_protected = false;
    for expected in [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]] {
        assert_eq!(counts(&import(&target, &url, &[]), 0), expected);
        let list = get("/events?start_date=2040-01-01&end_date=2042-01-01").await;
        let texts = [0_usize, 1].map(|number| &list["events"][number]["description"]);
        assert_eq!(texts, [&copy["description"], &json!("")]);
    }
}

#[actix_web::test]
async fn protected_event_of_this_program_is_imported_as_private() {
    let source = program();
    let old = source.serve(&[]);
    let event = json!({"title": "Feast", "start_date": "2041-01-01 10:00:00",
        "end_date": "2041-01-01 11:00:00", "description": "<p>Bring cake</p>", "password": "secret"});
    let id = create(&old, "/events", event).await;
    let (target, url) = (program().with_database(), format!("http://{}", old.http()));
    assert_eq!(counts(&import(&target, &url, &[]), 1), [0, 0, 0, 0, 1]);
    let with_user = ["--user", "admin"];
    let ran = import(&target, &url, &with_user);
    assert_eq!(counts(&ran, 0), [1, 0, 0, 0, 0]);
    assert!(ran.errors.contains(&format!("the password of event {id}")), "{}", ran.errors);
    assert_eq!(counts(&import(&target, &url, &with_user), 0), [0, 0, 1, 0, 0]);
    let server = target.serve(&[]);
    let list = "/events?status=any&start_date=2040-01-01&end_date=2042-01-01";
    let copy = &call(&server, "GET", list, json!({})).await["events"][0];
    let texts = (&copy["status"], &copy["description"]);
    assert_eq!(texts, (&json!("private"), &json!("<p>Bring cake</p>")));
}
