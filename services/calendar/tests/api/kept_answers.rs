//! Cached responses match those of a server without a cache.

use std::collections::HashMap;

use calendar::{Calendar, State, publish_due};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Exchange, Program, Served, TestServer};

use crate::app::{Answer, App, Dice, NS, send, settings};

/// The host of all requests, so that both servers return the same URLs.
const HOST: &str = "events.example";

/// Anonymous, and three roles that see different events.
const CALLERS: [&str; 4] = ["", "reader", "author", "administrator"];

/// Two servers on one database. Only the first caches responses.
struct Pair {
    app: App,
    other: TestServer,
}

impl Pair {
    async fn new() -> Pair {
        let app = App::with(&["--render-cache-mb=4"]).await;
        let fixed = settings(&["--render-cache-mb=0"]);
        let (pools, media) = (app.state.pools.clone(), app.state.media.clone());
        let state = State::new(pools, app.clock.shared(), fixed, media);
        assert!(state.answers.is_none() && app.state.answers.is_some());
        Pair { app, other: TestServer::start(Calendar { state }).await }
    }

    async fn get(&self, keeps: bool, who: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let server = if keeps { &self.app.server } else { &self.other };
        let mut request = server.get(path).header("Host", HOST);
        if !who.is_empty() {
            request = request.header("X-API-Key", self.app.key(who));
        }
        send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
            .await
    }

    /// Writes through one of the servers and returns the status.
    async fn write(&self, keeps: bool, method: &str, path: &str, body: &Value) -> Answer {
        let server = if keeps { &self.app.server } else { &self.other };
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = server.request(method, &format!("{NS}{path}"));
        send(request.header("X-API-Key", self.app.key("administrator")).json(body)).await
    }
}

/// Returns the parts of a response that are the same for every identical request.
fn shown(answer: &Answer) -> (u16, Vec<(String, String)>, &[u8]) {
    let headers = answer.headers.iter().filter(|(name, _)| {
        !matches!(name.as_str(), "date" | "x-request-id" | "connection" | "keep-alive")
    });
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()));
    let mut headers: Vec<(String, String)> = headers.collect();
    headers.sort();
    (answer.status, headers, &answer.body)
}

const READS: [&str; 38] = [
    "/calendar/events/v1/events",
    "/calendar/events/v1/events?per_page=3&page=2",
    "/calendar/events/v1/events?search=fair",
    "/calendar/events/v1/events?categories=music&status=any",
    "/calendar/events/v1/events?tags=free&orderby=title&order=desc",
    "/calendar/events/v1/events?starts_after=now&strict_dates=true",
    "/calendar/events/v1/events?start_date=2027-03-01&end_date=2027-05-01&_fields=events.title,total",
    "/calendar/events/v1/events?modified_after=2027-03-01",
    "/calendar/events/v1/events?venue=VENUE",
    "/calendar/events/v1/events?password=secret",
    "/wp-json/tribe/events/v1/events",
    "/calendar/events/v1/events/EVENT",
    "/calendar/events/v1/events/EVENT?context=edit",
    "/calendar/events/v1/events/EVENT?_fields=id,title,status",
    "/calendar/events/v1/events/by-slug/fair-1",
    "/wp-json/tribe/events/v1/events/EVENT",
    "/calendar/events/v1/venues",
    "/calendar/events/v1/venues?only_with_upcoming=true",
    "/calendar/events/v1/venues?has_events=true",
    "/calendar/events/v1/venues/VENUE",
    "/calendar/events/v1/organizers",
    "/calendar/events/v1/organizers/ORGANIZER",
    "/calendar/events/v1/categories",
    "/calendar/events/v1/categories?hide_empty=0&orderby=count",
    "/calendar/events/v1/categories/CATEGORY",
    "/calendar/events/v1/tags",
    "/calendar/events/v1/tags?hide_empty=false",
    "/calendar/events/v1/ical",
    "/calendar/events/v1/ical?categories=music&outlook-ical=1",
    "/events/",
    "/events/?search=fair",
    "/events/?ical=1",
    "/events/month/",
    "/events/month/2027-03/",
    "/events/month/2027-03/?ical=1",
    "/event/fair-1/",
    "/venue/hall/",
    "/events/category/music/",
];

/// The ids that exist.
#[derive(Default)]
struct Ids {
    events: Vec<i64>,
    venues: Vec<i64>,
    organizers: Vec<i64>,
    categories: Vec<i64>,
}

impl Ids {
    fn path(&self, dice: &mut Dice) -> String {
        let path = *dice.pick(&READS);
        let mut path = path.to_owned();
        for (name, ids) in [
            ("EVENT", &self.events),
            ("VENUE", &self.venues),
            ("ORGANIZER", &self.organizers),
            ("CATEGORY", &self.categories),
        ] {
            // The first ids are read more often than the others.
            let most = 4.min(ids.len());
            path = path.replace(name, &dice.pick(&ids[..most]).to_string());
        }
        path
    }
}

/// Changes data shown in responses.
async fn change(pair: &Pair, dice: &mut Dice, ids: &mut Ids, round: usize) {
    let keeps = dice.roll(2) == 0;
    let event = *dice.pick(&ids.events);
    let venue = *dice.pick(&ids.venues);
    let organizer = *dice.pick(&ids.organizers);
    let category = *dice.pick(&ids.categories);
    let (at_event, at_venue) = (format!("/events/{event}"), format!("/venues/{venue}"));
    let (method, path, body) = match dice.roll(19) {
        0 | 1 => {
            let day = 5 + dice.roll(20);
            let status = *dice.pick(&["publish", "draft", "private", "publish", "future"]);
            let body = json!({
                "title": format!("Fair {round}"), "status": status, "venue": venue,
                "start_date": format!("2027-03-{day:02} 10:00"), "organizer": [organizer],
                "end_date": format!("2027-03-{day:02} 13:00"), "categories": [category],
                "tags": [*dice.pick(&["free", "late"])], "date": "2027-03-10 12:00:40",
            });
            let made = pair.write(keeps, "POST", "/events", &body).await.expect(201);
            ids.events.insert(usize::try_from(dice.roll(4)).unwrap(), made.id());
            return;
        }
        2 => ("PATCH", at_event, json!({"title": format!("Fair, part {round}")})),
        3 => ("PATCH", at_event, json!({"status": *dice.pick(&["publish", "draft", "private"])})),
        4 => ("PATCH", at_event, json!({"description": "x".repeat(round), "venue": venue})),
        5 => {
            let status = *dice.pick(&["cancelled", "postponed", "scheduled"]);
            ("PATCH", at_event, json!({"event_status": status, "event_status_reason": "Rain"}))
        }
        6 => ("PATCH", at_event, json!({"password": *dice.pick(&["secret", ""])})),
        7 => ("PATCH", at_event, json!({"image": format!("https://img.example/{round}.png")})),
        8 => ("DELETE", at_event, json!({})),
        9 => ("PATCH", at_event, json!({"tags": ["late"], "categories": [category]})),
        10 => ("PATCH", at_venue, json!({"venue": format!("Hall {round}")})),
        11 => ("PATCH", at_venue, json!({"status": *dice.pick(&["publish", "draft"])})),
        12 => ("PATCH", at_venue, json!({"image": format!("https://img.example/v{round}.png")})),
        13 => {
            ("PATCH", format!("/organizers/{organizer}"), json!({"phone": format!("+1 {round}")}))
        }
        14 => {
            let names = json!({"name": format!("Music {round}"), "description": "Loud"});
            ("PATCH", format!("/categories/{category}"), names)
        }
        15 => {
            let body = json!({"venue": format!("Room {round}")});
            ids.venues.push(pair.write(keeps, "POST", "/venues", &body).await.expect(201).id());
            return;
        }
        16 => {
            let body = json!({"name": format!("Art {round}"), "parent": category});
            let made = pair.write(keeps, "POST", "/categories", &body).await.expect(201);
            ids.categories.push(made.id());
            return;
        }
        17 => {
            pair.app.clock.advance(*dice.pick(&[1, 40, 3600]));
            publish_due(&pair.app.state).await;
            return;
        }
        _ => {
            pair.app.clock.advance(11 * 3600);
            return;
        }
    };
    // Some writes are rejected, such as those to a trashed event.
    pair.write(keeps, method, &path, &body).await;
}

async fn begin(pair: &Pair) -> Ids {
    let mut ids = Ids::default();
    let made = async |path: &str, body: Value| {
        pair.write(true, "POST", path, &body).await.expect(201).id()
    };
    for name in ["Hall", "Yard"] {
        ids.venues.push(made("/venues", json!({ "venue": name })).await);
        ids.organizers.push(made("/organizers", json!({ "organizer": name })).await);
    }
    for name in ["Music", "Theatre"] {
        ids.categories.push(made("/categories", json!({ "name": name })).await);
    }
    for number in 1..8 {
        let body = json!({
            "title": format!("Fair {number}"), "slug": format!("fair-{number}"),
            "start_date": format!("2027-03-{:02} 20:00", 8 + number), "categories": ["music"],
            "end_date": format!("2027-03-{:02} 02:00", 9 + number), "venue": ids.venues[0],
            "tags": ["free"], "organizer": ids.organizers.clone(),
        });
        ids.events.push(made("/events", body).await);
    }
    ids
}

/// Reads a path from both servers with the client's tag, and compares the responses.
async fn compare(pair: &Pair, who: &str, path: &str, tag: Option<&str>) -> Answer {
    let conditions: Vec<(&str, &str)> = tag.iter().map(|tag| ("If-None-Match", *tag)).collect();
    let kept = pair.get(true, who, path, &conditions).await;
    let made = pair.get(false, who, path, &conditions).await;
    assert_eq!(shown(&kept), shown(&made), "{who:?} {path} {tag:?}\n{}\n{}", kept.text, made.text);
    kept
}

#[actix_web::test]
async fn answers_from_memory_equal_new_ones_after_any_write() {
    let rounds = std::env::var("KEPT_ROUNDS").ok().and_then(|text| text.parse().ok());
    let pair = Pair::new().await;
    let mut dice = Dice(0x5eed);
    let mut ids = begin(&pair).await;
    let mut tags: HashMap<(usize, String), String> = HashMap::new();
    for round in 0..rounds.unwrap_or(25) {
        change(&pair, &mut dice, &mut ids, round).await;
        for _ in 0..6 {
            let caller = usize::try_from(dice.roll(4)).unwrap();
            let path = ids.path(&mut dice);
            let client = (caller, path.clone());
            let tag = tags.get(&client).filter(|_| dice.roll(2) == 0).cloned();
            // The second response is cached, unless the clock is read again.
            for _ in 0..2 {
                let answer = compare(&pair, CALLERS[caller], &path, tag.as_deref()).await;
                let given = answer.header("etag").to_owned();
                if !given.is_empty() {
                    tags.insert(client.clone(), given);
                }
            }
        }
    }
}

#[actix_web::test]
async fn compressed_answers_equal_new_ones_and_are_compressed_once() {
    let pair = Pair::new().await;
    let ids = begin(&pair).await;
    let bytes = || pair.app.state.answers.as_ref().unwrap().tidy();
    for path in ["/calendar/events/v1/events?per_page=5", "/events/month/2027-03/"] {
        let plain = compare(&pair, "", path, None).await;
        for (accepted, coding) in
            [("gzip", "gzip"), ("br", "br"), ("gzip, deflate, br", ""), ("deflate", "deflate")]
        {
            let before = bytes();
            let mut kept_bytes = Vec::new();
            for _ in 0..3 {
                let headers = [("Accept-Encoding", accepted)];
                let kept = pair.get(true, "", path, &headers).await;
                let made = pair.get(false, "", path, &headers).await;
                assert!(kept.header("content-encoding").contains(coding), "{accepted}");
                assert!(kept.body.len() < plain.body.len(), "{path} {accepted}");
                assert_eq!(shown(&kept), shown(&made), "{path} {accepted}");
                kept_bytes.push(bytes());
            }
            assert!(kept_bytes[0] > before, "{path} {accepted}");
            assert_eq!(kept_bytes, [kept_bytes[0]; 3], "{path} {accepted}");
        }
        // Few encodings are cached per response. Plain clients get plain bodies.
        let full = bytes();
        for accepted in ["gzip;q=0.9", "identity", "gzip, unknown"] {
            pair.get(true, "", path, &[("Accept-Encoding", accepted)]).await.expect(200);
            assert_eq!(bytes(), full, "{path} {accepted}");
        }
        compare(&pair, "", path, None).await;
        let event = format!("/events/{}", ids.events[0]);
        pair.write(false, "PATCH", &event, &json!({ "title": format!("New {full}") }))
            .await
            .expect(200);
        let headers = [("Accept-Encoding", "gzip")];
        for _ in 0..3 {
            let kept = pair.get(true, "", path, &headers).await;
            let made = pair.get(false, "", path, &headers).await;
            assert_eq!(shown(&kept), shown(&made), "{path}");
        }
    }
}

#[actix_web::test]
async fn answers_follow_the_clock() {
    let pair = Pair::new().await;
    let body = json!({
        "title": "Noon", "start_date": "2027-03-10 11:00", "end_date": "2027-03-10 12:00:05",
    });
    let event = pair.write(true, "POST", "/events", &body).await.expect(201);
    let page = format!("/event/{}/", event.json["slug"].as_str().unwrap());
    let paths = [
        "/events/",
        page.as_str(),
        "/calendar/events/v1/events?ends_after=now&strict_dates=1",
        "/embed/list",
        // Frames have no calendar file.
        "/embed/list?ical=1",
    ];
    let mut lists = Vec::new();
    for seconds in [0, 4, 1, 1, 1, 86_400, 86_400] {
        pair.app.clock.advance(seconds);
        for path in paths {
            compare(&pair, "", path, None).await;
            compare(&pair, "", path, None).await;
        }
        let list = compare(&pair, "", "/calendar/events/v1/events", None).await;
        lists.push(list.json["total"].as_i64().unwrap());
    }
    // The default list starts at midnight yesterday.
    assert_eq!(lists, [1, 1, 1, 1, 1, 1, 0]);
}

#[actix_web::test]
async fn roles_of_a_caller_take_effect_at_once() {
    let pair = Pair::new().await;
    let body = json!({"title": "Plan", "status": "draft", "start_date": "2027-04-01 10:00",
        "end_date": "2027-04-01 11:00"});
    let id = pair.write(true, "POST", "/events", &body).await.expect(201).id();
    let path = format!("{NS}/events/{id}");
    for (role, status) in [("editor", 200), ("reader", 403), ("editor", 200)] {
        let role = format!("update users set role = '{role}' where login = 'reader'");
        pair.app.execute(&role);
        for _ in 0..2 {
            compare(&pair, "reader", &path, None).await.expect(status);
        }
    }
}

#[actix_web::test]
async fn answers_from_memory_count_towards_the_rate_limit() {
    for path in ["/calendar/events/v1/tags", "/events/month/"] {
        let app = App::with(&["--render-cache-mb=4", "--rate-read-rpm=5"]).await;
        for reads in 0..7 {
            let answer = send(app.server.get(path)).await;
            assert_eq!(answer.status, if reads < 5 { 200 } else { 429 }, "{path} {reads}");
        }
    }
}

#[actix_web::test]
async fn wrong_key_is_rejected_even_if_the_answer_is_in_memory() {
    let app = App::with(&["--render-cache-mb=4"]).await;
    for path in ["/calendar/events/v1/tags", "/events/month/"] {
        for (key, status) in [("", 200), ("", 200), ("0".repeat(32).as_str(), 401), ("", 200)] {
            let request = app.server.get(path);
            let request = if key.is_empty() { request } else { request.header("X-API-Key", key) };
            send(request).await.expect(status);
        }
    }
}

const KEY: &str = "0123456789abcdef0123456789abcdef";

#[actix_web::test]
async fn answers_from_memory_are_counted_under_their_route() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("ADMIN_KEY", KEY);
    let served = program.serve(&[]);
    for (path, route) in [
        ("/events/month/2027-03/", "/events/month/{month}"),
        ("/events", "/events"),
        ("/wp-json/tribe/events/v1/tags/", "/calendar/events/v1/tags"),
    ] {
        let mut etag = "\"none\"".to_owned();
        for reads in 0..4 {
            let request = served.request(Method::GET, path).header("If-None-Match", &etag);
            let answer = request.answer().await;
            let is_known = reads > 0 && !answer.header("etag").is_empty();
            assert_eq!(answer.status, if is_known { 304 } else { 200 }, "{path}");
            answer.header("etag").clone_into(&mut etag);
        }
        let count = |status: u16| {
            format!("http_requests_total{{method=\"GET\",route=\"{route}\",status=\"{status}\"}}")
        };
        let mut total = served.metric(&count(200)).await;
        if !etag.is_empty() {
            total += served.metric(&count(304)).await;
        }
        assert!((total - 4.0).abs() < 0.1, "{path} {total}");
    }
}

async fn counts(served: &Served) -> [f64; 2] {
    let count = |source: &str| format!("calendar_kept_answers_total{{source=\"{source}\"}}");
    [served.metric(&count("memory")).await, served.metric(&count("made")).await]
}

#[actix_web::test]
async fn answers_are_made_once_for_each_state_of_the_content() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("ADMIN_KEY", KEY);
    let served = program.serve(&[]);
    let event =
        json!({"title": "Fair", "start_date": "2027-03-01 10:00", "end_date": "2027-03-01"});
    let get = async |path: &str, tag: &str| {
        let request = served.request(Method::GET, path).header("If-None-Match", tag);
        request.answer().await
    };
    let (list, feed) = (format!("{NS}/events?include=1"), format!("{NS}/ical"));
    let mut expected = [0.0, 0.0];
    for _ in 0..3 {
        let post = served.request(Method::POST, &format!("{NS}/events")).header("X-API-Key", KEY);
        assert_eq!(post.json(&event).answer().await.status, 201);
        for path in [&list, &feed] {
            for reads in 0..4 {
                assert_eq!(get(path, "\"none\"").await.status, 200, "{path}");
                expected[usize::from(reads == 0)] += 1.0;
                assert_eq!(counts(&served).await, expected, "{path}");
            }
        }
        let tag = get(&feed, "\"none\"").await.header("etag").to_owned();
        expected[0] += 1.0;
        for reads in 0..4 {
            assert_eq!(get(&feed, &tag).await.status, 304);
            expected[usize::from(reads == 0)] += 1.0;
            assert_eq!(counts(&served).await, expected);
        }
        // Responses with a password are not cached, nor counted.
        for name in ["password", "%70assword"] {
            get(&format!("{list}&{name}=x"), "\"none\"").await;
            assert_eq!(counts(&served).await, expected, "{name}");
        }
    }
}
