//! Failing engines, and clients that disconnect.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use buckets::Settings;
use buckets::engine::{
    EmbeddedIndex, EngineError, FileIndex, FileList, FileWriter, Generations, HeldLock,
    IndexSummary, Limits, Mode, NamedBucket, NewFile, WriteLock,
};
use buckets::model::{Attributes, Expression, Facets, FileQuery, Found, Matching};
use buckets::store::load_runs;
use diesel::connection::SimpleConnection;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::app::{App, Fixture, line};

type Search = dyn Fn(&Limits) -> Result<Found, EngineError> + Send + Sync;

/// An engine whose search function is given.
struct Fake(Box<Search>);

impl FileIndex for Fake {
    fn search(&self, _: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        (self.0)(limits)
    }

    fn list(&self, _: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        let found = (self.0)(limits)?;
        assert_eq!(found.total, 0, "this engine has no list");
        Err(EngineError::Broken("a test".to_owned()))
    }

    fn facets(&self, _: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        (self.0)(limits).map(|_| Facets::default())
    }

    fn summary(&self) -> Arc<IndexSummary> {
        Arc::default()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    fn writer(&self, _: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        Err(EngineError::Locked("a test".to_owned()))
    }
}

struct One(Arc<dyn FileIndex>);

impl Generations for One {
    fn lock(&self, _: &str) -> Result<WriteLock, EngineError> {
        Err(EngineError::Locked("a test".to_owned()))
    }

    fn open(&self, _: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::clone(&self.0))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        self.open(generation)
    }

    fn discard(&self, _: u32, _: &dyn HeldLock) -> Result<(), EngineError> {
        Ok(())
    }

    fn sweep(&self, _: u32) -> Result<bool, EngineError> {
        Ok(true)
    }
}

async fn serve(
    settings: Settings,
    search: impl Fn(&Limits) -> Result<Found, EngineError> + Send + Sync + 'static,
) -> App {
    let mut fixture = Fixture::new();
    fixture.context.generations = Arc::new(One(Arc::new(Fake(Box::new(search)))));
    fixture.serve_with("premium", settings).await
}

const FILES: &str = "/api/v2/files?keywords=a";

#[actix_web::test]
async fn broken_index_is_500_without_cause() {
    let app = serve(Settings::for_tests(), |_| {
        Err(EngineError::Broken("row 7 of /secret/folder is damaged".to_owned()))
    })
    .await;
    let (status, text) = app.text(FILES).await;
    assert_eq!((status, text.as_str()), (500, r#"{"error":"internal error","code":"internal"}"#));
}

#[actix_web::test]
async fn panicking_search_is_500_and_next_one_succeeds() {
    let calls = AtomicUsize::new(0);
    let app = serve(Settings::for_tests(), move |_| {
        assert!(calls.fetch_add(1, Ordering::SeqCst) > 0, "a bug with a secret");
        Ok(Found::default())
    })
    .await;
    let (status, text) = app.text(FILES).await;
    assert_eq!((status, text.as_str()), (500, r#"{"error":"internal error","code":"internal"}"#));
    assert_eq!(app.text(FILES).await.0, 200);
}

#[actix_web::test]
async fn panicking_expression_releases_slot() {
    let settings = Settings { regexp_running: 1, regexp_waiting: 0, ..Settings::for_tests() };
    let app = serve(settings, |_| panic!("a bug")).await;
    for _ in 0..3 {
        assert_eq!(app.text(&format!("{FILES}&regexp=1")).await.0, 500);
    }
}

/// An index that counts the searches for totals, and fails them on request.
struct Uncountable {
    inner: EmbeddedIndex,
    counts: AtomicUsize,
    fails: AtomicBool,
}

impl FileIndex for Uncountable {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        if query.limit == 0 {
            self.counts.fetch_add(1, Ordering::SeqCst);
            assert!(query.hidden.iter().all(|paths| query.buckets == Some(vec![paths.bucket])));
            if self.fails.load(Ordering::SeqCst) {
                return Err(EngineError::Broken("a test".to_owned()));
            }
        }
        self.inner.search(query, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        self.inner.list(query, limits)
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        self.inner.facets(query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.inner.summary()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        self.inner.refresh()
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.inner.verify()
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.inner.writer(memory_mb)
    }
}

#[actix_web::test]
async fn pending_removals_hide_files_before_they_are_counted() {
    const A: &str = "a.s3.amazonaws.com";
    const B: &str = "b.s3.amazonaws.com";
    let mut fixture = Fixture::new();
    let files = [(A, "x/1"), (A, "y/1"), (A, "z"), (B, "x/1"), (B, "z")];
    let lines = files.map(|(bucket, path)| line(bucket, path, 1, 1));
    fixture.load_lines(&lines.each_ref().map(String::as_str));
    let index = Arc::new(Uncountable {
        inner: EmbeddedIndex::open(&fixture.folder.join("index/generation-1")).unwrap(),
        counts: AtomicUsize::new(0),
        fails: AtomicBool::new(true),
    });
    fixture.context.generations = Arc::new(One(Arc::<Uncountable>::clone(&index)));
    let app = fixture.serve("free").await;
    // A removal that another command has requested but not carried out yet.
    let request = |address: &str, prefix: &str| {
        let sql = format!(
            "INSERT INTO removal (address, prefix, reason, operator, requested_at) \
             VALUES ('{address}', '{prefix}', 'asked', 'tester', 1); \
             UPDATE index_state SET version = version + 1"
        );
        let pools = &fixture.context.pools;
        pools
            .write_blocking(|db| -> Result<(), database::DatabaseError> {
                Ok(db.batch_execute(&sql)?)
            })
            .unwrap();
    };
    for (address, prefix) in [(A, "x/"), (A, "y/"), (B, "x/")] {
        request(address, prefix);
    }
    app.refresh();
    assert_eq!(app.paths("").await, ["z", "z"], "the count fails");
    index.fails.store(false, Ordering::SeqCst);
    request(B, "none/");
    index.counts.store(0, Ordering::SeqCst);
    app.refresh();
    assert_eq!(index.counts.load(Ordering::SeqCst), 4, "two searches for each bucket");
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["filesCount"], 2);
}

/// An index that blocks the first check for a newer state until it is released.
struct HeldUp {
    inner: EmbeddedIndex,
    entered: Sender<()>,
    let_on: Mutex<Option<Receiver<()>>>,
}

impl FileIndex for HeldUp {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        self.inner.search(query, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        self.inner.list(query, limits)
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        self.inner.facets(query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.inner.summary()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        let first = self.let_on.lock().take();
        if let Some(let_on) = first {
            self.entered.send(()).unwrap();
            let_on.recv().unwrap();
        }
        self.inner.refresh()
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.inner.verify()
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.inner.writer(memory_mb)
    }
}

#[actix_web::test]
async fn stale_refresh_does_not_show_a_removed_bucket_again() {
    const A: &str = "a.s3.amazonaws.com";
    let mut fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "x", 1, 1)]);
    let (entered, enters) = channel();
    let (let_on, waits) = channel();
    let inner = EmbeddedIndex::open(&fixture.folder.join("index/generation-1")).unwrap();
    let index = HeldUp { inner, entered, let_on: Mutex::new(Some(waits)) };
    fixture.context.generations = Arc::new(One(Arc::new(index)));
    let app = fixture.serve("free").await;
    assert_eq!(app.paths("").await, ["x"]);
    let pools = &fixture.context.pools;
    let change = |sql: &str| {
        let changed: Result<(), database::DatabaseError> =
            pools.write_blocking(|db| Ok(db.batch_execute(sql)?));
        changed.unwrap();
    };
    // The first check has read the new package, but nothing about the removal.
    change("UPDATE package SET depth = depth + 1 WHERE code = 'free'");
    let refresh = || {
        let state = app.state.clone();
        let (end, ends) = channel();
        std::thread::spawn(move || end.send(buckets::refresh(&state).is_ok()));
        ends
    };
    let first = refresh();
    enters.recv().unwrap();
    change(&format!(
        "INSERT INTO removal (address, reason, operator, requested_at) \
         VALUES ('{A}', 'asked', 'tester', 1); \
         UPDATE index_state SET version = version + 1"
    ));
    let second = refresh();
    // It ends here unless it waits for the first check.
    let ended = second.recv_timeout(Duration::from_millis(500)).is_ok();
    let_on.send(()).unwrap();
    assert!(first.recv().unwrap());
    assert!(ended || second.recv().unwrap());
    assert_eq!(app.paths("").await, Vec::<String>::new());
}

/// An index whose state a search refreshes before the server looks for it.
struct Ahead(EmbeddedIndex);

impl FileIndex for Ahead {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        self.0.search(query, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        self.0.list(query, limits)
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        self.0.facets(query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.0.summary()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        self.0.refresh()?;
        Ok(false)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.0.verify()
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.0.writer(memory_mb)
    }
}

#[actix_web::test]
async fn snapshot_follows_state_refreshed_by_search() {
    let mut fixture = Fixture::new();
    fixture.load_lines(&[&line("a.s3.amazonaws.com", "a", 1, 1)]);
    let index = EmbeddedIndex::open(&fixture.folder.join("index/generation-1")).unwrap();
    let index: Arc<dyn FileIndex> = Arc::new(Ahead(index));
    fixture.context.generations = Arc::new(One(Arc::clone(&index)));
    let app = fixture.serve("free").await;
    // Simulates a loader that was killed before it updated the database.
    let pools = &fixture.context.pools;
    let run = pools.write_blocking(|db| load_runs::begin(db, 1, "append", "{}", 1));
    let run: Result<u64, database::DatabaseError> = run;
    let mut writer = index.writer(64).unwrap();
    writer.begin(run.unwrap()).unwrap();
    let attributes = Attributes::from_fn(|_| 1);
    writer
        .add(&[NewFile { bucket: 1, kind: 0, path: "b".to_owned(), attributes, is_changed: false }])
        .unwrap();
    let bucket = NamedBucket { id: 1, truncated: false, partial: false };
    writer.publish(Mode::Append, vec![bucket], 1).unwrap();
    app.refresh();
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["filesCount"], 2);
}

#[actix_web::test]
async fn missing_index_is_503_with_retry_after() {
    let app = serve(Settings::for_tests(), |_| Err(EngineError::Missing("/x".to_owned()))).await;
    let response = app.server.get(FILES).bearer_auth(&app.key).send().await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "1");
    assert_eq!(response.headers()["content-type"], "application/json; charset=utf-8");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body, json!({"error": "the index is not ready", "code": "index_not_ready"}));
}

#[actix_web::test]
async fn unsupported_expression_is_400() {
    let app =
        serve(Settings::for_tests(), |_| Err(EngineError::Unsupported("no \\b{start}".to_owned())));
    let (status, body) = app.await.get(&format!("{FILES}&regexp=1")).await;
    assert_eq!((status, &body["code"]), (400, &"invalid_regexp".into()));
}

/// Sends a request. Returns its connection, which is closed on drop.
fn ask(app: &App, target: &str) -> TcpStream {
    let address = app.server.url("").trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", app.key);
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Returns a search that runs until it is stopped, and that reports its start and end.
fn endless()
-> (impl Fn(&Limits) -> Result<Found, EngineError> + Send + Sync, Receiver<&'static str>) {
    let (sender, heard): (Sender<&'static str>, _) = channel();
    let sender = Mutex::new(sender);
    let say = move |what| sender.lock().send(what).unwrap_or_default();
    let search = move |limits: &Limits| {
        say("begins");
        let ended = loop {
            if let Err(stopped) = limits.check() {
                break stopped;
            }
            std::thread::yield_now();
        };
        say("ends");
        Err(ended)
    };
    (search, heard)
}

async fn next(heard: &Receiver<&'static str>) -> &'static str {
    let mut event = None;
    testkit::until("the search begins or ends", async || {
        event = heard.try_recv().ok();
        event.is_some()
    })
    .await;
    event.unwrap()
}

#[actix_web::test]
async fn search_stops_after_disconnect() {
    let (search, heard) = endless();
    // The time limit exceeds the duration of the test, so only the disconnect can end the search.
    let settings = Settings { search_timeout: 3_600, regexp_running: 1, ..Settings::for_tests() };
    let app = serve(settings, search).await;
    let snapshot = app.state.snapshot();
    let query = FileQuery {
        matching: Matching::Expression(Arc::new(Expression::parse("a", true).unwrap())),
        ..FileQuery::default()
    };
    for _ in 0..2 {
        // The second search gets the slot of the first one.
        let waiting = buckets::search(&app.state, &snapshot, "tester", query.clone());
        // A client that leaves drops its search, as this does once the search has begun.
        tokio::select! {
            _ = waiting => panic!("the search ended"),
            event = next(&heard) => assert_eq!(event, "begins"),
        }
        assert_eq!(next(&heard).await, "ends");
    }
}

#[actix_web::test]
async fn expression_slot_is_released_after_disconnect() {
    let (search, heard) = endless();
    let settings = Settings {
        search_timeout: 1,
        regexp_running: 1,
        regexp_waiting: 0,
        ..Settings::for_tests()
    };
    let app = serve(settings, search).await;
    let target = format!("{FILES}&regexp=1");
    for _ in 0..2 {
        let client = ask(&app, &target);
        assert_eq!(next(&heard).await, "begins");
        drop(client);
        assert_eq!(next(&heard).await, "ends");
        // Requests would be limited, so the test does not repeat one until the slot is free.
        let is_free = async || app.state.slots().shares.lock().is_empty();
        testkit::until("the slot is released", is_free).await;
        let (status, answer) = app.get(&target).await;
        assert_eq!((status, &answer["code"]), (503, &"search_timeout".into()));
        assert_eq!((next(&heard).await, next(&heard).await), ("begins", "ends"));
    }
}
