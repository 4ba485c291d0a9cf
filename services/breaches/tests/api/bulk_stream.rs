//! How bulk checks are streamed: batches, a single connection, and clients that disconnect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use breaches::{Breaches, External, State};
use database::{DatabaseError, DatabaseSettings, Db};
use diesel::Connection;
use diesel::connection::InstrumentationEvent;
use reqwest::Response;
use serde_json::{Value, json};
use testkit::TestServer;

use crate::app::{App, entry};
use crate::bulk_check::BULK;

const BREACHES: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta"];
/// 20 batches of 50 addresses.
const BATCHES: usize = 20;

/// A server with a single connection. Its account queries are counted.
struct Counted {
    app: App,
    server: TestServer,
    state: State,
    key: String,
    queries: Arc<AtomicUsize>,
}

impl Counted {
    /// Loads 1,000 addresses whose complete results exceed 40 KiB each.
    async fn start() -> Self {
        let app = App::start().await;
        let entries = BREACHES.map(|name| {
            let mut entry = entry(name);
            entry["Description"] = json!("word ".repeat(2_048));
            entry
        });
        app.import(&json!(entries)).await;
        let lines: String = emails().iter().map(|email| format!("{email}\n")).collect();
        for breach in BREACHES {
            app.load(breach, &lines).await;
        }
        let key = app.subscriber("owner@example.org", "pro2").await;
        app.verify("owner@example.org", "corp.example").await;
        let settings = DatabaseSettings { db_pool: 1, ..app.database.settings() };
        let migrations = [&auth::MIGRATIONS, &breaches::store::MIGRATIONS];
        let pools = settings.open(app.database.folder(), "test", &migrations).unwrap();
        let context = &app.context;
        let state = State::new(
            pools.clone(),
            context.clock.clone(),
            context.settings.clone(),
            External::unavailable().unwrap(),
        )
        .unwrap();
        let queries = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&queries);
        let count = move |event: InstrumentationEvent<'_>| {
            if let InstrumentationEvent::StartQuery { query, .. } = event {
                let text = query.to_string().replace(['"', '`'], "");
                counter.fetch_add(usize::from(text.contains("account.k")), Ordering::Relaxed);
            }
        };
        let instrument = move |db: &mut Db| -> Result<(), DatabaseError> {
            db.set_instrumentation(count);
            Ok(())
        };
        pools.read(instrument).await.unwrap();
        let server = TestServer::start(Breaches::new(state.clone())).await;
        Self { app, server, state, key, queries }
    }

    async fn post(&self, query: &str) -> Response {
        let request = self.server.post(&format!("{BULK}{query}")).header("user-agent", "tests");
        let request = request.header("breach-api-key", &self.key);
        // If compressed, the whole response would fit into the buffers of the connection.
        let request = request.header("accept-encoding", "identity");
        request.body(json!({ "emails": emails() }).to_string()).send().await.unwrap()
    }

    fn queries(&self) -> usize {
        self.queries.load(Ordering::Relaxed)
    }
}

fn emails() -> Vec<String> {
    (0..1_000).map(|n| format!("user{n}@corp.example")).collect()
}

#[actix_web::test]
async fn thousand_addresses_are_looked_up_in_batches_on_one_connection() {
    let counted = Counted::start().await;
    let response = counted.post("").await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let found: Vec<Value> = response.json().await.unwrap();
    assert_eq!(counted.queries(), BATCHES);
    for (email, entry) in emails().iter().zip(&found) {
        assert_eq!(entry["email"], *email);
        assert_eq!(entry["breaches"].as_array().unwrap().len(), BREACHES.len(), "{email}");
    }
    assert_eq!(found.len(), 1_000);
}

#[actix_web::test]
async fn client_that_leaves_ends_the_look_ups() {
    let counted = Counted::start().await;
    let catalogue = Arc::downgrade(&counted.state.snapshot().answers);
    let mut response = counted.post("?truncateResponse=false").await;
    let first = response.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(br#"[{"email":"user0@corp.example","#));
    // The catalogue is unchanged, so only the response holds the old snapshot from here on.
    counted.state.reload().await.unwrap();
    assert!(catalogue.strong_count() > 1);
    drop(response);
    testkit::until("the response ends", async || catalogue.strong_count() == 1).await;
    let queries = counted.queries();
    assert!((1..BATCHES).contains(&queries), "{queries}");
}

#[actix_web::test]
async fn slow_client_gets_no_breach_that_was_hidden_since_its_request() {
    let counted = Counted::start().await;
    let mut response = counted.post("?truncateResponse=false").await;
    let mut text = response.chunk().await.unwrap().unwrap().to_vec();
    counted.app.set_breach("Alpha", |breach| breach.active = false).await;
    counted.state.reload().await.unwrap();
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.extend_from_slice(&chunk);
    }
    let found: Vec<Value> = serde_json::from_slice(&text).unwrap();
    let count = |entry: &Value| entry["breaches"].as_array().unwrap().len();
    assert_eq!(found.len(), 1_000);
    assert_eq!(count(&found[0]), BREACHES.len());
    assert_eq!(count(&found[999]), BREACHES.len() - 1);
    for (email, entry) in emails().iter().zip(&found) {
        assert_eq!(entry["email"], *email);
    }
}
