//! The test harness: every test gets its own calendar, with a user of each role.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use calendar::{
    Calendar, Deadline, Event, EventFilter, IndexAccess, Links, ListError, Media, Paging, Role,
    Schedule, Settings, Stage, State, Status, Zone, add_user, allocate_event, insert_event,
    list_events, list_with_included,
};
use clap::Parser;
use database::{DatabaseError, DatabaseSettings, Db, Pools};
use diesel::Connection;
use diesel::connection::InstrumentationEvent;
use domain::{Clock, ManualClock};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::{Database, Exchange, TestServer};

/// Path prefix of the REST API.
pub const NS: &str = "/calendar/events/v1";

/// The time at which every test starts. It is a Wednesday.
pub const NOW: &str = "2027-03-10T12:00:00Z";

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    site: Settings,
}

/// Parses settings from command-line arguments. Rate limits are disabled and lists may take a minute
/// unless a test sets them.
pub fn settings(arguments: &[&str]) -> Settings {
    let fixed = ["calendar", "--rate-read-rpm=0", "--rate-write-rpm=0", "--list-time-ms=60000"];
    let given: Vec<&str> = fixed.iter().chain(arguments).copied().collect();
    // A flag given by a test replaces the default one.
    let mut last: Vec<&str> = Vec::new();
    for one in given {
        let name = one.split('=').next().unwrap_or(one);
        last.retain(|other| other.split('=').next() != Some(name));
        last.push(one);
    }
    Line::parse_from(last).site
}

/// A small seeded random number generator, so that failures can be reproduced.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.roll(i64::try_from(from.len()).unwrap())).unwrap()]
    }
}

/// Inserts a published event in UTC without going through HTTP. `change` edits it first.
pub fn plant(
    db: &mut Db,
    author: i64,
    (start, end): (i64, i64),
    links: &Links,
    change: impl FnOnce(&mut Event),
) -> Result<Event, DatabaseError> {
    let schedule = Schedule {
        zone: Zone::utc(),
        all_day: false,
        start_local: start,
        end_local: end,
        start_utc: start,
        end_utc: end,
    };
    let mut event = Event::draft(author, schedule, start, start);
    event.id = allocate_event(db)?;
    event.slug = format!("planted-{}", event.id);
    event.set_status(Status::of(Stage::Publish));
    change(&mut event);
    insert_event(db, &event, links)?;
    Ok(event)
}

/// Returns the ids of a page and the total, using the query that also loads included resources.
pub fn page_with_included(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), DatabaseError> {
    let (events, _, total) = list_with_included(db, access, filter, paging, usize::MAX).unwrap();
    Ok((events.iter().map(|event| event.id).collect(), total))
}

pub struct App {
    pub server: TestServer,
    pub state: State,
    pub clock: ManualClock,
    keys: HashMap<&'static str, String>,
    ids: HashMap<&'static str, i64>,
    pub database: Database,
}

/// A response with its body as text and as JSON (null if the body is not JSON).
#[derive(Debug)]
pub struct Answer {
    answer: testkit::Answer,
    pub text: String,
    pub json: Value,
}

impl Deref for Answer {
    type Target = testkit::Answer;

    fn deref(&self) -> &testkit::Answer {
        &self.answer
    }
}

impl Answer {
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    pub fn id(&self) -> i64 {
        self.json["id"].as_i64().unwrap_or_else(|| panic!("no id in {}", self.text))
    }

    /// Returns the ids of a list of any resource.
    pub fn ids(&self) -> Vec<i64> {
        let list = ["events", "venues", "organizers", "categories", "tags"]
            .iter()
            .find_map(|name| self.json[name].as_array())
            .unwrap_or_else(|| panic!("no list in {}", self.text));
        list.iter().filter_map(|item| item["id"].as_i64()).collect()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

pub async fn send(request: RequestBuilder) -> Answer {
    let answer = request.answer().await;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let json = serde_json::from_str(&text).unwrap_or(Value::Null);
    Answer { answer, text, json }
}

impl App {
    pub async fn new() -> App {
        App::with(&[]).await
    }

    pub async fn with(arguments: &[&str]) -> App {
        App::changed(arguments, |state| state).await
    }

    /// Starts the app with a state that `change` has edited.
    pub async fn changed(arguments: &[&str], change: impl FnOnce(State) -> State) -> App {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &calendar::MIGRATIONS]);
        let clock = ManualClock::new(NOW.parse().unwrap());
        let (keys, ids) = people(&pools, clock.unix());
        let settings = settings(arguments);
        let media = Media::new(settings.media_dir(database.folder()));
        let state = change(State::new(pools, clock.shared(), settings, media));
        let server = TestServer::start(Calendar { state: state.clone() }).await;
        App { server, state, clock, keys, ids, database }
    }

    /// Returns the key of a role. `author2` and `contributor2` are second users of that role.
    pub fn key(&self, who: &str) -> &str {
        &self.keys[who]
    }

    pub fn user(&self, who: &str) -> i64 {
        self.ids[who]
    }

    pub fn request(&self, who: &str, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.server.request(method, &format!("{NS}{path}"));
        match who {
            "" => request,
            who => request.header("X-API-Key", self.key(who)),
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        send(self.request("", "GET", path)).await
    }

    pub async fn get_as(&self, who: &str, path: &str) -> Answer {
        send(self.request(who, "GET", path)).await
    }

    pub async fn call(&self, who: &str, method: &str, path: &str, body: &Value) -> Answer {
        send(self.request(who, method, path).json(body)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("administrator", "POST", path, body).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.call("administrator", "PATCH", path, body).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        send(self.request("administrator", "DELETE", path)).await
    }

    /// Creates an event and returns its id.
    pub async fn event(&self, fields: Value) -> i64 {
        self.event_as("administrator", fields).await
    }

    pub async fn event_as(&self, who: &str, fields: Value) -> i64 {
        let mut body = json!({
            "title": "Event", "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 12:00",
        });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.call(who, "POST", "/events", &body).await.expect(201).id()
    }

    pub async fn make(&self, path: &str, body: Value) -> i64 {
        self.post(path, &body).await.expect(201).id()
    }

    /// Lists events without going through HTTP, from the in-memory index. Retries if a concurrent
    /// write made the connection outdated.
    pub fn list(&self, filter: &EventFilter, paging: Paging) -> (Vec<i64>, i64) {
        self.state.index.refresh(&mut self.state.pools.connect().unwrap()).unwrap();
        let access = self.access();
        loop {
            match self.state.pools.read_blocking(|db| list_events(db, access, filter, paging)) {
                Err(ListError::Outdated) => {}
                listed => return listed.unwrap(),
            }
        }
    }

    /// Returns access to the index in the form that list queries take.
    pub fn access(&self) -> IndexAccess<'_> {
        let deadline = Deadline(Instant::now() + Duration::from_secs(60));
        IndexAccess { index: &self.state.index, deadline }
    }

    /// Opens the database again, and counts the statements that `counts` accepts.
    pub async fn counted(&self, counts: fn(&str) -> bool) -> (Pools, Arc<AtomicUsize>) {
        let one = DatabaseSettings { db_pool: 1, ..self.database.settings() };
        let migrations = [&auth::MIGRATIONS, &calendar::MIGRATIONS];
        let pools = one.open(self.database.folder(), "test", &migrations).unwrap();
        let statements = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&statements);
        let instrument = move |db: &mut Db| -> Result<(), DatabaseError> {
            db.set_instrumentation(move |event: InstrumentationEvent<'_>| {
                if let InstrumentationEvent::StartQuery { query, .. } = event
                    && counts(&query.to_string())
                {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            });
            Ok(())
        };
        pools.read(instrument.clone()).await.unwrap();
        pools.write(instrument).await.unwrap();
        (pools, statements)
    }

    /// Returns the number of files in the media folder.
    pub fn media_files(&self) -> usize {
        std::fs::read_dir(self.database.folder().join("media")).map_or(0, Iterator::count)
    }

    /// Runs a statement without HTTP.
    pub fn execute(&self, statement: &str) {
        let run = |db: &mut Db| calendar::Sql::new(db, statement).execute(db);
        self.state.pools.write_blocking(run).unwrap();
    }

    /// Returns the number of rows in a table.
    pub fn rows(&self, table: &str) -> i64 {
        let count = |db: &mut Db| {
            let text = format!("select count(*) as n from {table}");
            calendar::Sql::new(db, &text).number(db)
        };
        self.state.pools.read_blocking(count).unwrap()
    }
}

type People = (HashMap<&'static str, String>, HashMap<&'static str, i64>);

fn people(pools: &Pools, now: i64) -> People {
    let names = [
        ("administrator", Role::Administrator),
        ("editor", Role::Editor),
        ("author", Role::Author),
        ("author2", Role::Author),
        ("contributor", Role::Contributor),
        ("contributor2", Role::Contributor),
        ("reader", Role::Reader),
    ];
    let make = |db: &mut Db| -> Result<People, DatabaseError> {
        let (mut keys, mut ids) = (HashMap::new(), HashMap::new());
        for (login, role) in names {
            ids.insert(login, add_user(db, login, login, role)?);
            let (_, text) = auth::issue(db, login, None, None, now)
                .map_err(|error| DatabaseError::broken(error.to_string()))?;
            keys.insert(login, text);
        }
        Ok((keys, ids))
    };
    pools.write_blocking(make).unwrap()
}
