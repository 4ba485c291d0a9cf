//! The test harness: the service with loaded files, and a client with a key.

use std::path::PathBuf;
use std::sync::Arc;

use buckets::engine::{Folders, Mode, RemovalLimit};
use buckets::jobs::{
    CheckpointPolicy, JobContext, JobError, LoadOptions, MaxErrors, RemoteOptions, Report, load,
    sources_of,
};
use buckets::store::MIGRATIONS;
use buckets::{Buckets, Settings, State};
use domain::ManualClock;
use serde_json::Value;
use testkit::{Database, Folder, TestServer};

/// The time of the test clock: 2026-11-20T00:00:00Z.
pub const NOW: i64 = 1_795_132_800;

/// URL of the service in links.
pub const BASE: &str = "https://search.example/buckets";

/// Database, index and clock of a test.
#[derive(Clone)]
pub struct Fixture {
    database: Arc<Database>,
    pub folder: Arc<Folder>,
    pub clock: ManualClock,
    pub context: JobContext,
}

impl Fixture {
    pub fn new() -> Self {
        let database = Arc::new(Database::new());
        let folder = Arc::new(Folder::new());
        let clock = ManualClock::new(jiff::Timestamp::from_second(NOW).unwrap());
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        pools.write_blocking(buckets::seed_packages).unwrap();
        let generations = Arc::new(Folders::new(folder.join("index")));
        let context =
            JobContext { pools, clock: Arc::new(clock.clone()), generations, memory_mb: 64 };
        Self { database, folder, clock, context }
    }

    /// Creates a fixture into which the samples have been loaded.
    pub fn with_samples() -> Self {
        let fixture = Self::new();
        fixture.load(&[samples()]).unwrap();
        fixture
    }

    pub fn options(paths: &[PathBuf]) -> LoadOptions {
        LoadOptions {
            format: None,
            bucket: None,
            kind: None,
            mode: Mode::Replace,
            newer: None,
            replaces_rejected: false,
            max_errors: MaxErrors::Percent(1.0),
            reject: None,
            remote: RemoteOptions { rate: 1_000.0, first_pause: 0, ..RemoteOptions::default() },
            removal_limit: Some(RemovalLimit::default()),
            sources: sources_of(paths).unwrap(),
        }
    }

    pub fn load(&self, paths: &[PathBuf]) -> Result<Report, JobError> {
        self.run(&Self::options(paths))
    }

    pub fn run(&self, options: &LoadOptions) -> Result<Report, JobError> {
        load(&self.context, options, CheckpointPolicy::of(&Settings::for_tests()))
    }

    /// Loads NDJSON lines.
    pub fn load_lines(&self, lines: &[&str]) -> Report {
        let path = self.folder.write("lines.ndjson", lines.join("\n"));
        self.load(&[path]).unwrap()
    }

    /// Issues a key for an account with a package.
    pub fn key(&self, owner: &str, plan: &str) -> String {
        let issued =
            self.context.pools.write_blocking(|db| auth::issue(db, owner, Some(plan), None, NOW));
        let issued: Result<_, auth::KeyError> = issued;
        issued.unwrap().1
    }

    /// Starts the service, with a key that has a package. Rate limits are high.
    pub async fn serve(&self, plan: &str) -> App {
        self.serve_with(plan, Settings::for_tests()).await
    }

    pub async fn serve_with(&self, plan: &str, settings: Settings) -> App {
        let key = self.key("tester", plan);
        let JobContext { pools, clock, generations, .. } = self.context.clone();
        let state = buckets::open(pools, clock, generations, settings).unwrap();
        // Some tests start a download and read it after other work, which is slow on a busy
        // machine.
        let server = TestServer::start_with(Buckets::new(state.clone(), BASE), |settings| {
            settings.write_timeout = 3_600;
        })
        .await;
        let _kept = (Arc::clone(&self.database), Arc::clone(&self.folder));
        App { server, state, key, _kept }
    }
}

/// A running service, and a key for it.
pub struct App {
    pub server: TestServer,
    pub state: State,
    pub key: String,
    /// Keeps the database and the folder alive, because the fixture may be dropped before the
    /// server.
    _kept: (Arc<Database>, Arc<Folder>),
}

impl App {
    /// Looks for a newer snapshot.
    pub fn refresh(&self) {
        buckets::refresh(&self.state).unwrap();
    }

    /// Sends a GET request with the key. Returns the status and the JSON body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.text(path).await;
        (status, serde_json::from_str(&text).unwrap())
    }

    /// Sends a GET request with the key. Returns the status and the text.
    pub async fn text(&self, path: &str) -> (u16, String) {
        let response = self.server.get(path).bearer_auth(&self.key).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Returns the full paths of matching files.
    pub async fn paths(&self, query: &str) -> Vec<String> {
        let (status, body) = self.get(&format!("/api/v2/files?{query}")).await;
        assert_eq!(status, 200, "{query}: {body}");
        let files = body["files"].as_array().unwrap();
        files.iter().map(|file| file["fullPath"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the total of a search.
    pub async fn results(&self, query: &str) -> u64 {
        let (status, body) = self.get(&format!("/api/v2/files?{query}")).await;
        assert_eq!(status, 200, "{query}: {body}");
        body["meta"]["results"].as_u64().unwrap()
    }
}

/// Returns the folder of the samples.
pub fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples/buckets")
}

/// Returns an NDJSON line.
pub fn line(bucket: &str, path: &str, size: i64, modified: i64) -> String {
    serde_json::json!({
        "bucket": bucket, "fullPath": path, "size": size, "lastModified": modified,
    })
    .to_string()
}
