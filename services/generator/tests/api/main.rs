//! The service over real sockets, on the database that `TEST_DATABASE_URL` names.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

mod access;
mod card;
mod contract;
mod finance;
mod name;
mod phone;
mod requests;
mod social;

use database::Pools;
use domain::ManualClock;
use generator::access::CallerSettings;
use generator::service::Generator;
use reqwest::Response;
use serde_json::Value;
use testkit::{Database, TestServer};

/// A running service with its database and a clock that stands still.
struct Fixture {
    server: TestServer,
    pools: Pools,
    clock: ManualClock,
    _database: Database,
}

impl Fixture {
    async fn start() -> Self {
        // Tests that do not look at limits must not meet them.
        let generous = CallerSettings {
            anonymous_rpm: 1_000_000,
            anonymous_burst: 1_000_000,
            ..CallerSettings::default()
        };
        Self::start_with(generous).await
    }

    async fn start_with(callers: CallerSettings) -> Self {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS]);
        let clock = ManualClock::new("2026-11-20T12:00:00Z".parse().unwrap());
        let service = Generator::new(pools.clone(), clock.shared(), &callers).unwrap();
        Self { server: TestServer::start(service).await, pools, clock, _database: database }
    }

    async fn get(&self, path: &str) -> Response {
        self.server.get(path).send().await.unwrap()
    }

    /// The body of a successful answer.
    async fn ok(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// The messages of a 400.
    async fn errors(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert_eq!(response.status(), 400, "{path}");
        response.json::<Value>().await.unwrap()["errors"].take()
    }

    fn issue_key(&self) -> (auth::Key, String) {
        use domain::Clock;
        let now = self.clock.unix();
        self.pools
            .write_blocking(|db| auth::issue(db, "tester", Some("standard"), None, now))
            .unwrap()
    }
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}
