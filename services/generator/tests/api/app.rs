//! Test harness: a running service with its database and a fixed clock.

use database::Pools;
use domain::{Clock, ManualClock};
use generator::{Generator, Settings};
use serde_json::Value;
use testkit::{Answer, Database, Exchange, TestServer};

/// A running service.
pub struct App {
    pub server: TestServer,
    pub pools: Pools,
    pub clock: ManualClock,
    _database: Database,
}

impl App {
    /// Starts a service with limits that are too high for any test to reach.
    pub async fn start() -> Self {
        let generous = Settings {
            anonymous_rpm: 1_000_000,
            anonymous_burst: 1_000_000,
            ..Settings::default()
        };
        Self::start_with(generous).await
    }

    pub async fn start_with(settings: Settings) -> Self {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &generator::MIGRATIONS]);
        let clock = ManualClock::new("2026-11-20T12:00:00Z".parse().unwrap());
        let service = Generator::new(pools.clone(), clock.shared(), &settings).unwrap();
        Self { server: TestServer::start(service).await, pools, clock, _database: database }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.server.get(path).answer().await
    }

    /// Returns the body of a successful response.
    pub async fn ok(&self, path: &str) -> Value {
        self.get(path).await.expect(200).json()
    }

    /// Returns the messages of a 400 response.
    pub async fn errors(&self, path: &str) -> Value {
        self.get(path).await.expect(400).json()["errors"].take()
    }

    /// Creates a key with the standard plan.
    pub fn issue_key(&self) -> (auth::Key, String) {
        let now = self.clock.unix();
        let issued = |db: &mut _| auth::issue(db, "tester", Some("standard"), None, now);
        self.pools.write_blocking(issued).unwrap()
    }

    /// Formats the status, the headers in the contract and the body, without the parts that differ
    /// between runs.
    pub fn shown(answer: &Answer) -> String {
        let shown = answer.shown(&HEADERS);
        match shown.split_once("\"traceId\": \"") {
            None => shown,
            Some((before, rest)) => {
                let (trace, after) = rest.split_once('"').unwrap();
                assert!(is_trace_id(trace), "{trace}");
                format!("{before}\"traceId\": \"[trace]\"{after}")
            }
        }
    }
}

/// The headers in the contract. Those of the rate limit are tested in access.rs.
const HEADERS: [&str; 9] = [
    "content-type",
    "cache-control",
    "etag",
    "allow",
    "retry-after",
    "www-authenticate",
    "x-seed",
    "x-ref-date",
    "x-data-version",
];

/// Returns whether a string is `00-`, 32 hexadecimal digits, `-`, 16 hexadecimal digits and `-00`.
fn is_trace_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    lengths == [2, 32, 16, 2]
        && parts.concat().bytes().all(hex)
        && [parts[0], parts[3]] == ["00", "00"]
}
