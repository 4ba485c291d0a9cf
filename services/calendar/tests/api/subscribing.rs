//! A calendar with a subscription to an HTTP server on loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use calendar::{CalendarFetcher, State, run_due_subscriptions};
use outbound::Reach;
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer, PeerRequest};

use crate::app::App;

/// Maximum size of a file in the tests.
pub const LIMIT: usize = 1 << 20;

/// Returns an event of a file in the given month of 2027.
pub fn event(uid: &str, month: u8, more: &str) -> String {
    format!(
        "BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20270101T000000Z\r\nDTSTART:2027{month:02}01T100000Z\r\n\
         DTEND:2027{month:02}01T110000Z\r\nSUMMARY:{uid}\r\n{more}END:VEVENT\r\n"
    )
}

pub fn calendar(events: &[String]) -> String {
    let events = events.concat();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:tests\r\n{events}END:VCALENDAR\r\n")
}

/// Returns a file with these events in May 2027.
pub fn file_of(uids: &[&str]) -> String {
    calendar(&uids.iter().map(|uid| event(uid, 5, "")).collect::<Vec<_>>())
}

/// Returns a response with a calendar.
pub fn ics(file: &str) -> PeerAnswer {
    let kind = vec![("content-type", "text/calendar; charset=utf-8".to_owned())];
    PeerAnswer::Full(200, kind, file.as_bytes().to_vec())
}

type Answer = Arc<dyn Fn(&PeerRequest) -> PeerAnswer + Send + Sync>;

/// A calendar that may fetch files from loopback, and a server whose response a test can change.
pub struct Subscribing {
    pub app: App,
    pub state: State,
    pub peer: HttpPeer,
    answer: Arc<Mutex<Answer>>,
}

/// Enables fetching from any address.
pub fn with_fetcher(state: State, time: Duration) -> State {
    state.with_calendar_fetcher(CalendarFetcher::new(Reach::anywhere(), LIMIT, time).unwrap())
}

impl Subscribing {
    pub async fn new() -> Subscribing {
        Subscribing::with_time(Duration::from_secs(30)).await
    }

    /// Starts with a time limit for files.
    pub async fn with_time(time: Duration) -> Subscribing {
        Subscribing::with(&[], time).await
    }

    /// Starts with more settings and a time limit for files.
    pub async fn with(settings: &[&str], time: Duration) -> Subscribing {
        Subscribing::changed(settings, time, |state| state).await
    }

    /// Starts under a public URL.
    pub async fn at(url: &str) -> Subscribing {
        let time = Duration::from_secs(30);
        let url = Some(url.to_owned());
        Subscribing::changed(&[], time, |state| state.with_public_url(url)).await
    }

    async fn changed(
        settings: &[&str],
        time: Duration,
        change: impl FnOnce(State) -> State,
    ) -> Subscribing {
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Arc::new(|_| PeerAnswer::Close)));
        let own = answer.clone();
        let peer = HttpPeer::start(move |request| {
            let answer = own.lock().clone();
            answer(request)
        });
        // The server itself does not fetch, so that tests decide when subscriptions run.
        let settings = [&["--subscription-allow-private=on"], settings].concat();
        let app = App::changed(&settings, change).await;
        let state = with_fetcher(app.state.clone(), time);
        Subscribing { app, state, peer, answer }
    }

    /// Sets the response of the server.
    pub fn answers(&self, answer: impl Fn(&PeerRequest) -> PeerAnswer + Send + Sync + 'static) {
        *self.answer.lock() = Arc::new(answer);
    }

    /// Makes the server respond with a file.
    pub fn serves(&self, file: &str) {
        let file = file.to_owned();
        self.answers(move |_| ics(&file));
    }

    /// Subscribes to the server and returns the id.
    pub async fn subscribe(&self, fields: Value) -> i64 {
        self.subscribe_to(&self.peer.url("/club.ics"), fields).await
    }

    pub async fn subscribe_to(&self, url: &str, fields: Value) -> i64 {
        let mut body = json!({"url": url});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.app.call("editor", "POST", "/subscriptions", &body).await.expect(201).id()
    }

    /// Runs what is due and returns the subscription.
    pub async fn run(&self, id: i64) -> Value {
        run_due_subscriptions(&self.state).await;
        self.shown(id).await
    }

    /// Makes a subscription due, runs it and returns it.
    pub async fn run_now(&self, id: i64) -> Value {
        self.app.clock.advance(1);
        self.step(id, "run").await;
        self.run(id).await
    }

    pub async fn step(&self, id: i64, step: &str) -> Value {
        let path = format!("/subscriptions/{id}/{step}");
        self.app.call("editor", "POST", &path, &json!({})).await.expect(200).json
    }

    pub async fn shown(&self, id: i64) -> Value {
        self.app.get_as("editor", &format!("/subscriptions/{id}")).await.expect(200).json
    }

    /// Returns the titles of public events in order of id.
    pub async fn titles(&self) -> Vec<String> {
        let list = self.app.get("/events?start_date=2020-01-01&per_page=50&orderby=id").await;
        let events = list.expect(200).json["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the id of the event with a UID.
    pub fn event_of(&self, uid: &str) -> i64 {
        let find = |db: &mut database::Db| {
            let text = format!("select id from events where ical_uid = '{uid}'");
            calendar::Sql::new(db, &text).load_ids(db)
        };
        self.state.pools.read_blocking(find).unwrap()[0]
    }

    pub fn address(&self) -> SocketAddr {
        self.peer.address()
    }
}

/// Returns the numbers of created, updated, unchanged, skipped, failed and trashed events of the last
/// run, which must have this outcome.
#[track_caller]
pub fn counts(shown: &Value, outcome: &str) -> [i64; 6] {
    let run = &shown["last_run"];
    assert_eq!(run["outcome"], outcome, "{shown}");
    ["created", "updated", "unchanged", "skipped", "failed", "trashed"]
        .map(|name| run[name].as_i64().unwrap())
}

#[track_caller]
pub fn message(shown: &Value) -> &str {
    shown["last_run"]["message"].as_str().unwrap()
}
