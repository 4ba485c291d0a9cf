//! Importing a site through its REST API.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Exchange, HttpPeer, PeerAnswer, Program, Ran, Served};

use crate::images::PNG;

const ADMIN_KEY: &str = "0123456789abcdef0123456789abcdef";
const ROOT: &str = "/calendar/events/v1";

pub fn program() -> Program {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).setting("ADMIN_KEY", ADMIN_KEY);
    program.setting("RATE_READ_RPM", "0").setting("RATE_WRITE_RPM", "0")
}

pub async fn call(server: &Served, method: &str, path: &str, body: Value) -> Value {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = server.request(method, &format!("{ROOT}{path}")).bearer_auth(ADMIN_KEY);
    let answer = request.json(&body).answer().await;
    assert!(answer.status < 300, "{path} is {}", answer.status);
    answer.json()
}

pub async fn create(server: &Served, path: &str, body: Value) -> i64 {
    call(server, "POST", path, body).await["id"].as_i64().unwrap()
}

pub fn import(target: &Program, url: &str, more: &[&str]) -> Ran {
    let arguments = ["import-site", url, "--allow-private", "--pause=1", "--json"];
    let mut command = target.command(&[&arguments[..], more].concat());
    command.env("SITE_PASSWORD", ADMIN_KEY);
    let ran = target.run_command(command);
    assert!(!ran.errors.contains(ADMIN_KEY) && !ran.out.contains(ADMIN_KEY), "{}", ran.errors);
    ran
}

/// Returns the numbers of created, updated, unchanged, skipped and failed items.
#[track_caller]
pub fn counts(ran: &Ran, code: i32) -> [i64; 5] {
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.errors);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    ["created", "updated", "unchanged", "skipped", "failed"]
        .map(|name| report[name].as_i64().unwrap())
}

/// Returns the fields of an item that must be equal on both sites.
fn alike(item: &Value) -> Value {
    let mut item = item.clone();
    let members = item.as_object_mut().unwrap();
    for name in [
        "modified",
        "modified_utc",
        "url",
        "rest_url",
        "global_id",
        "global_id_lineage",
        "json_ld",
        "urls",
        "_links",
    ] {
        members.remove(name);
    }
    let ids = |value: &Value| {
        let list = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        list.iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    for name in ["venue", "organizer", "categories", "tags"] {
        if let Some(value) = members.get(name).filter(|value| !value.is_string()) {
            let ids = ids(value);
            members.insert(name.to_owned(), ids.into());
        }
    }
    let size = members.get("image").map(|image| json!([image["width"], image["height"]]));
    members.insert("image".to_owned(), size.into());
    item
}

#[actix_web::test]
async fn site_is_imported_and_later_changes_follow() {
    let source = program();
    let old = source.serve(&[]);
    let upload = old.request(Method::POST, &format!("{ROOT}/images")).bearer_auth(ADMIN_KEY);
    let upload = upload.header("Content-Type", "image/png").body(PNG).answer().await.expect(201);
    let image = upload.json()["id"].as_i64().unwrap();
    let child = create(&old, "/categories", json!({"name": "Choirs"})).await;
    let parent = create(&old, "/categories", json!({"name": "Music"})).await;
    call(&old, "PATCH", &format!("/categories/{child}"), json!({"parent": parent})).await;
    let tag = create(&old, "/tags", json!({"name": "Open", "description": "for all"})).await;
    let mut venues = Vec::new();
    for description in ["north", "south"] {
        let venue = json!({"venue": "Hall", "description": description, "city": "Graz", "geo_lat": 47.07,
            "geo_lng": 15.43, "image": image});
        venues.push(create(&old, "/venues", venue).await);
    }
    let organizer = create(&old, "/organizers", json!({"organizer": "Choir", "phone": "1"})).await;
    let mut events = Vec::new();
    for (number, status) in ["publish", "publish", "draft", "private", "future"].iter().enumerate()
    {
        let event = json!({
            "title": format!("Event {number} & more"), "status": status, "timezone": "Europe/Vienna",
            "start_date": "2019-04-01 10:00:00", "end_date": "2019-04-01 12:00:00", "cost": "12",
            "venue": venues[number % 2], "organizer": [organizer], "categories": [child], "tags": [tag],
            "image": image, "description": "<p>Text</p>", "website": "https://club.example/",
            "date": if *status == "future" { "2044-01-01 08:00:00" } else { "2018-01-01 08:00:00" },
        });
        events.push(create(&old, "/events", event).await);
    }
    let target = program().with_database();
    let url = format!("http://{}", old.http());
    // Without a user, only published items are imported.
    assert_eq!(counts(&import(&target, &url, &[]), 0), [8, 0, 0, 0, 0]);
    let with_user = ["--user", "admin"];
    assert_eq!(counts(&import(&target, &url, &with_user), 0), [3, 0, 8, 0, 0]);
    assert_eq!(counts(&import(&target, &url, &with_user), 0), [0, 0, 11, 0, 0]);

    let new = target.serve(&[]);
    for (kind, ids) in [
        ("categories", vec![child, parent]),
        ("tags", vec![tag]),
        ("venues", venues.clone()),
        ("organizers", vec![organizer]),
        ("events", events.clone()),
    ] {
        for id in ids {
            let path = format!("/{kind}/{id}");
            let here = call(&new, "GET", &path, json!({})).await;
            let there = call(&old, "GET", &path, json!({})).await;
            assert_eq!(alike(&here), alike(&there), "{path}");
        }
    }
    // Ids are not reused.
    let event = json!({"title": "New", "start_date": "2041-01-01", "end_date": "2041-01-01"});
    let id = create(&new, "/events", event).await;
    assert!(id > *events.last().unwrap(), "{id}");
    let term = create(&new, "/tags", json!({"name": "New"})).await;
    assert!(term > tag, "{term}");

    // A second run copies changes from the site, and does not restore items that were removed here.
    call(
        &old,
        "PATCH",
        &format!("/events/{}", events[0]),
        json!({"slug": "moved", "title": "New title"}),
    )
    .await;
    call(&old, "PATCH", &format!("/events/{}", events[1]), json!({"title": "Gone"})).await;
    call(&new, "DELETE", &format!("/events/{}", events[1]), json!({})).await;
    assert_eq!(counts(&import(&target, &url, &with_user), 0), [0, 1, 9, 1, 0]);
    let event = call(&new, "GET", &format!("/events/{}", events[0]), json!({})).await;
    assert_eq!((&event["title"], &event["slug"]), (&json!("New title"), &json!("moved")));
    let redirect = new.get("/event/event-0-more/").answer().await;
    assert!(matches!(redirect.status, 301 | 308 | 200), "{}", redirect.status);
    assert_eq!(new.get("/event/moved/").answer().await.status, 200);
    new.stop();
    assert_eq!(target.json(&["doctor"])["is_sound"], json!(true));
}

#[actix_web::test]
async fn ids_and_slugs_that_are_taken_are_replaced() {
    let source = program();
    let old = source.serve(&[]);
    let event = json!({"title": "Concert", "start_date": "2041-01-01", "end_date": "2041-01-01"});
    let id = create(&old, "/events", event).await;
    let target = program().with_database();
    let line = json!({"type": "event", "title": "Concert", "start_date": "2041-02-02", "end_date": "2041-02-02"});
    assert_eq!(target.pipe(&["load", "-"], line.to_string().as_bytes()).code, Some(0));
    assert_eq!(
        counts(&import(&target, &format!("http://{}", old.http()), &[]), 0),
        [1, 0, 0, 0, 0]
    );
    let new = target.serve(&[]);
    let kept = call(&new, "GET", &format!("/events/{id}"), json!({})).await;
    assert!(kept["start_date"].as_str().unwrap().starts_with("2041-02-02"));
    let taken = call(&new, "GET", "/events/by-slug/concert-2", json!({})).await;
    assert!(taken["start_date"].as_str().unwrap().starts_with("2041-01-01"));
    new.stop();
    assert_eq!(
        counts(&import(&target, &format!("http://{}", old.http()), &[]), 0),
        [0, 0, 1, 0, 0]
    );
}

pub fn empty(name: &str) -> PeerAnswer {
    PeerAnswer::Body(200, json!({name: [], "total": 0, "total_pages": 0}).to_string())
}

/// Returns the name of the requested list and its page number.
pub fn asked(target: &str) -> (String, usize) {
    let name = target.split(['/', '?']).find(|part| {
        ["categories", "tags", "venues", "organizers", "events", "users"].contains(part)
    });
    let name = match name {
        Some("events") => target.split(['/', '?']).nth(5).unwrap_or_default(),
        name => name.unwrap_or_default(),
    };
    let page = target.split("&page=").nth(1).and_then(|rest| rest.split('&').next());
    (name.to_owned(), page.and_then(|page| page.parse().ok()).unwrap_or(0))
}

#[test]
fn failures_of_a_site_are_repeated_and_reported() {
    let calls = AtomicUsize::new(0);
    let peer = HttpPeer::start(move |request| {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        let (name, page) = asked(&request.target);
        let name = name.as_str();
        match (name, call) {
            // The recorded system responds with 404 to a list without items.
            ("categories", _) => {
                let body = json!({"code": "event-categories-not-found", "message": "", "data": {"status": 404}});
                PeerAnswer::Body(404, body.to_string())
            }
            ("tags", 1) => {
                let headers = vec![("Retry-After", "1".to_owned())];
                PeerAnswer::Full(429, headers, Vec::new())
            }
            ("tags", 2) => PeerAnswer::Body(503, String::new()),
            ("tags", 3) => PeerAnswer::Close,
            ("tags", 4) => PeerAnswer::Body(200, "{\"tags\": [".to_owned()),
            ("venues", _) => {
                let venue = json!({"id": page, "venue": format!("Hall {page}"), "author": "3"});
                let list = json!({"venues": [venue], "total": 3, "total_pages": 2});
                PeerAnswer::Body(200, list.to_string())
            }
            ("users", _) => PeerAnswer::Body(200, json!({"id": 3, "slug": "ann"}).to_string()),
            ("events", _) => {
                let good = json!({"id": "77", "title": "Fest", "start_date": "2041-01-01 10:00:00",
                    "end_date": "2041-01-01 11:00:00", "author": "3", "venue": {"id": 9, "venue": "Nested"},
                    "organizer": [], "categories": [{"id": 5, "name": "Music", "slug": "music"}], "tags": [],
                    "image": {"url": format!("http://{}/lost.png", request.header("host"))}});
                let wrong =
                    json!({"id": 78, "title": "Wrong", "start_date": "soon-ish", "end_date": ""});
                let list = json!({"events": [good, wrong, {"title": "no id"}], "total": 2, "total_pages": 1});
                PeerAnswer::Body(200, list.to_string())
            }
            ("", _) => PeerAnswer::Body(404, String::new()),
            (name, _) => empty(name),
        }
    });
    let target = program().with_database();
    target.done(&["users", "add", "ann", "--role", "author"]);
    let ran = import(&target, &peer.url(""), &[]);
    assert_eq!(counts(&ran, 1), [5, 0, 0, 0, 2]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&report["missing_images"], &report["incomplete"]), (&json!(1), &json!(1)));
    assert_eq!(report["faults"][0]["id"], json!(78));
    assert!(
        report["faults"][0]["message"].as_str().unwrap().contains("start_date must be a date"),
        "{report}"
    );
    assert!(ran.errors.contains("the site responded with 429; retrying in 1 s"), "{}", ran.errors);
    let requests = peer.requests();
    assert_eq!(requests.iter().filter(|one| one.target.contains("/users/")).count(), 1);
    assert!(requests.iter().all(|one| one.header("authorization").is_empty()));
    let line = target.done(&["export", "-"]);
    assert!(
        line.contains("\"title\":\"Fest\"") && line.contains("\"id\":77,\"author_id\":2"),
        "{line}"
    );
}

#[test]
fn site_that_loops_or_is_something_else_is_refused() {
    let looping = HttpPeer::start(|request| {
        let (name, _) = asked(&request.target);
        let item = json!({"id": 1, "name": "Music", "slug": "music"});
        PeerAnswer::Body(200, json!({name.as_str(): [item]}).to_string())
    });
    let page = HttpPeer::start(|_| {
        PeerAnswer::Full(200, vec![("Content-Type", "text/html".to_owned())], b"<p>hello".to_vec())
    });
    let other =
        HttpPeer::start(|_| PeerAnswer::Body(404, "{\"code\":\"rest_no_route\"}".to_owned()));
    let locked =
        HttpPeer::start(|_| PeerAnswer::Body(401, "{\"code\":\"rest_forbidden\"}".to_owned()));
    let down = HttpPeer::start(|_| PeerAnswer::Body(500, String::new()));
    let target = program().with_database();
    for (peer, message) in [
        (&looping, "page 2 of the list repeats the items of earlier pages"),
        (&page, "is a web page, not the REST API of The Events Calendar"),
        (&other, "does not provide the REST API of The Events Calendar: 404 rest_no_route"),
        (&locked, "the site rejected the user: 401 rest_forbidden"),
        (&down, "the site responded with 500, in 6 attempts"),
    ] {
        let ran = import(&target, &peer.url(""), &[]);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        assert!(ran.errors.contains(message), "{message}: {}", ran.errors);
    }
    // A private address requires an option, and a password requires TLS.
    let ran = target.run(&["import-site", &page.url(""), "--pause=1"]);
    assert!(ran.errors.contains("--allow-private permits it"), "{}", ran.errors);
    let ran = target.run(&["import-site", "http://old.example", "--user", "ann"]);
    assert!(ran.errors.contains("without TLS; use https"), "{}", ran.errors);
}

/// Starts a site with the given lists, which the test may change later.
pub fn site(lists: &Arc<Mutex<Value>>) -> HttpPeer {
    let lists = Arc::clone(lists);
    HttpPeer::start(move |request| {
        if request.target.contains("/users/") {
            return PeerAnswer::Body(401, json!({"code": "rest_not_logged_in"}).to_string());
        }
        let (name, _) = asked(&request.target);
        let items = lists.lock().get(&name).cloned().unwrap_or(json!([]));
        PeerAnswer::Body(200, json!({name.as_str(): items, "total_pages": 1}).to_string())
    })
}

#[actix_web::test]
async fn site_that_ignores_the_user_is_refused() {
    let peer = site(&Arc::default());
    let ran = import(&program().with_database(), &peer.url(""), &["--user", "ann"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains("the site did not accept the user (401"), "{}", ran.errors);
}

#[test]
fn site_without_a_list_of_users_is_judged_by_its_drafts() {
    for (status, code, message) in [
        (200, 0, "check that drafts were imported"),
        (400, 1, "the site does not show its drafts to the user (400 rest_invalid_param)"),
    ] {
        let peer = HttpPeer::start(move |request| {
            let (name, _) = asked(&request.target);
            if request.target.contains("/users/") {
                return PeerAnswer::Body(404, json!({"code": "rest_no_route"}).to_string());
            }
            match request.target.contains("&status=") && status == 400 {
                true => PeerAnswer::Body(400, json!({"code": "rest_invalid_param"}).to_string()),
                false => empty(&name),
            }
        });
        let ran = import(&program().with_database(), &peer.url(""), &["--user", "ann"]);
        assert_eq!(ran.code, Some(code), "{}", ran.errors);
        assert!(ran.errors.contains(message), "{message}: {}", ran.errors);
    }
}

/// How long a request waits for another run's.
const MEETING: Duration = Duration::from_secs(20);

#[test]
fn two_runs_at_once_write_each_item_once() {
    // Each run asks for an author after it has seen that the item is unknown, and waits for the
    // other run there.
    let met: Arc<(Mutex<HashMap<String, usize>>, Condvar)> = Arc::default();
    let meeting = Arc::clone(&met);
    let peer = HttpPeer::start(move |request| {
        if let Some((_, author)) = request.target.split_once("/users/") {
            let (counts, arrived) = &*meeting;
            let mut counts = counts.lock();
            *counts.entry(author.to_owned()).or_default() += 1;
            arrived.notify_all();
            arrived.wait_while_for(&mut counts, |counts| counts[author] < 2, MEETING);
            return PeerAnswer::Body(404, json!({"code": "rest_user_invalid_id"}).to_string());
        }
        let (name, _) = asked(&request.target);
        let item = match name.as_str() {
            "venues" => json!({"id": 50, "venue": "Hall", "author": 3}),
            "organizers" => json!({"id": 60, "organizer": "Choir", "author": 4}),
            "events" => json!({"id": 70, "title": "Fest", "author": 5, "venue": {"id": 50},
                "start_date": "2041-01-01 10:00:00", "end_date": "2041-01-01 11:00:00"}),
            _ => return empty(&name),
        };
        let list = json!({name.as_str(): [item], "total": 1, "total_pages": 1});
        PeerAnswer::Body(200, list.to_string())
    });
    let target = program().with_database();
    target.done(&["migrate"]);
    let runs: Vec<[i64; 5]> = thread::scope(|scope| {
        let run = || scope.spawn(|| counts(&import(&target, &peer.url(""), &[]), 0));
        [run(), run()].map(|run| run.join().unwrap()).to_vec()
    });
    let sum: Vec<i64> = (0..5).map(|at| runs[0][at] + runs[1][at]).collect();
    assert_eq!(sum, [3, 0, 3, 0, 0], "{runs:?}");
    assert!(met.0.lock().values().all(|count| *count == 2));
    let found = target.json(&["doctor"]);
    let rows = ["events", "venues", "organizers"].map(|name| found[name].as_i64().unwrap());
    assert_eq!((rows, &found["is_sound"]), ([1, 1, 1], &json!(true)));
}

#[actix_web::test]
async fn erased_items_do_not_become_items_of_another_site() {
    let event = json!({"id": 70, "title": "Fest", "start_date": "2041-01-01 10:00:00",
        "end_date": "2041-01-01 11:00:00", "venue": {"id": 50, "venue": "Old hall"}});
    let mut changed = event.clone();
    changed["title"] = json!("Feast");
    let lists = Arc::new(Mutex::new(json!({"venues": [{"id": 50, "venue": "Old hall"}],
        "categories": [{"id": 9, "name": "Old"}], "events": [event]})));
    let first = site(&lists);
    let other = json!({"venues": [{"id": 50, "venue": "New hall"}],
        "categories": [{"id": 9, "name": "New"}]});
    let second = site(&Arc::new(Mutex::new(other)));
    let target = program().with_database();
    assert_eq!(counts(&import(&target, &first.url(""), &[]), 0), [3, 0, 0, 0, 0]);
    let server = target.serve(&[]);
    for path in ["/venues/50?force=true", "/categories/9"] {
        call(&server, "DELETE", path, json!({})).await;
    }
    assert_eq!(counts(&import(&target, &second.url(""), &[]), 0), [2, 0, 0, 0, 0]);
    // Erased items stay erased, and an event is imported without its venue.
    *lists.lock() = json!({"venues": [{"id": 50, "venue": "Changed"}],
        "categories": [{"id": 9, "name": "Changed"}], "events": [changed]});
    assert_eq!(counts(&import(&target, &first.url(""), &[]), 0), [0, 1, 0, 2, 0]);
    let get = |path| call(&server, "GET", path, json!({}));
    assert_eq!(get("/venues/50").await["venue"], "New hall");
    assert_eq!(get("/categories/9").await["name"], "New");
    let event = get("/events/70").await;
    assert_eq!((&event["title"], &event["venue"]), (&json!("Feast"), &json!([])));
}

#[actix_web::test]
async fn parents_follow_changes_of_the_site_only() {
    let category = |id: i64, parent: i64| json!({"id": id, "name": format!("Category {id}"), "parent": parent});
    let categories = |items: &[Value]| json!({"categories": items});
    let start = categories(&[category(9, 8), category(8, 0), category(7, 0)]);
    let lists = Arc::new(Mutex::new(start));
    let peer = site(&lists);
    let target = program().with_database();
    let server = target.serve(&[]);
    let parent = || async {
        call(&server, "GET", "/categories/9", json!({})).await["parent"].as_i64().unwrap()
    };
    assert_eq!(counts(&import(&target, &peer.url(""), &[]), 0), [3, 0, 0, 0, 0]);
    assert_eq!(parent().await, 8);
    // A local change is kept.
    call(&server, "PATCH", "/categories/9", json!({"parent": 0})).await;
    assert_eq!(counts(&import(&target, &peer.url(""), &[]), 0), [0, 0, 3, 0, 0]);
    assert_eq!(parent().await, 0);
    *lists.lock() = categories(&[category(9, 7), category(8, 0), category(7, 0)]);
    import(&target, &peer.url(""), &[]);
    assert_eq!(parent().await, 7);
    // A parent that was removed here is not set.
    call(&server, "DELETE", "/categories/8", json!({})).await;
    *lists.lock() = categories(&[category(9, 8), category(8, 0), category(7, 0)]);
    import(&target, &peer.url(""), &[]);
    assert_eq!(parent().await, 7);
}

#[actix_web::test]
async fn image_requests_are_repeated_too() {
    let calls = AtomicUsize::new(0);
    let peer = HttpPeer::start(move |request| {
        let photo =
            |name: &str| json!({"url": format!("http://{}/{name}", request.header("host"))});
        if request.target.ends_with("/late.png") {
            return match calls.fetch_add(1, Ordering::SeqCst) {
                0 => PeerAnswer::Full(503, vec![("Retry-After", "1".to_owned())], Vec::new()),
                1 => PeerAnswer::Close,
                _ => {
                    let kind = vec![("Content-Type", "image/png".to_owned())];
                    PeerAnswer::Full(200, kind, PNG.to_vec())
                }
            };
        }
        if request.target.ends_with(".png") {
            let status = if request.target.ends_with("/gone.png") { 410 } else { 500 };
            return PeerAnswer::Body(status, String::new());
        }
        let (name, _) = asked(&request.target);
        let items = match name.as_str() {
            "venues" => ["late", "gone", "down", "down2"].iter().zip(50..).map(|(image, id)| {
                let image = photo(&format!("{image}.png"));
                json!({"id": id, "venue": format!("Hall {id}"), "image": image})
            }),
            _ => return empty(&name),
        };
        let list = json!({name.as_str(): items.collect::<Vec<_>>(), "total": 4, "total_pages": 1});
        PeerAnswer::Body(200, list.to_string())
    });
    let target = program().with_database();
    let ran = import(&target, &peer.url(""), &[]);
    assert_eq!(counts(&ran, 1), [4, 0, 0, 0, 0]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["missing_images"], json!(3));
    assert!(
        ran.errors.contains("late.png: the site responded with 503; retrying in 1 s"),
        "{}",
        ran.errors
    );
    let requests = peer.requests();
    let asked = |name: &str| requests.iter().filter(|one| one.target.ends_with(name)).count();
    // If all attempts for one image fail, its host is asked once for each other.
    let counts = ["/late.png", "/gone.png", "/down.png", "/down2.png"].map(asked);
    assert_eq!(counts, [3, 1, 6, 1]);
    let server = target.serve(&[]);
    let venue = call(&server, "GET", "/venues/50", json!({})).await;
    assert_eq!(venue["image"]["width"], json!(7));
}
