//! `/api/v2/crawls`.

use std::cell::Cell;
use std::time::Duration;

use buckets::jobs::{
    CheckpointPolicy, CrawlOptions, CrawlOutcome, CrawlRequest, KeyLimits, RemoteOptions,
    add_crawls, list_crawls, run_crawls,
};
use buckets::model::{CrawlLists, Package};
use buckets::store::packages;
use buckets::{Settings, engine::RemovalLimit};
use database::{Backend, DatabaseError};
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::sql_types::Bool;
use reqwest::Method;
use rstest::rstest;
use serde_json::{Value, json};
use testkit::until;

use crate::app::{App, Fixture, NOW};
use crate::public_bucket::{Behaviour, PAGE, PublicBucket};

const URL: &str = "https://photos.s3.eu-west-1.amazonaws.com/";

impl App {
    /// Sends a request with a key and a JSON body. Returns the status and the JSON body.
    pub async fn send(&self, method: Method, path: &str, key: &str, body: Value) -> (u16, Value) {
        let mut request = self.server.request(method, path).bearer_auth(key);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub async fn add(&self, body: Value) -> (u16, Value) {
        self.send(Method::POST, "/api/v2/crawls", &self.key, body).await
    }
}

/// Runs a crawl. Listing a bucket blocks, which an async test's thread must not.
pub fn run_one(fixture: &Fixture, id: Option<i64>, options: &CrawlOptions) -> Vec<CrawlOutcome> {
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run_crawls(&fixture.context, id, options, checkpoints));
        run.join().unwrap().unwrap()
    })
}

#[actix_web::test]
async fn crawls_are_added_read_changed_and_removed() {
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    let posted = app.server.post("/api/v2/crawls").bearer_auth(&app.key);
    let posted = posted.json(&json!({"url": URL, "prefix": "backup/"})).send().await.unwrap();
    assert_eq!(posted.status(), 201);
    assert_eq!(posted.headers()["location"], "/api/v2/crawls/1");
    let crawl: Value = posted.json().await.unwrap();
    let expected = json!({
        "id": 1, "url": URL, "bucket": "photos.s3.eu-west-1.amazonaws.com", "prefix": "backup/",
        "everySeconds": 86_400, "until": null, "paused": false, "running": false,
        "pagesListed": 0, "dueAt": NOW, "lastAt": null, "outcome": "", "refusedSince": null,
        "hiddenSince": null, "owner": "tester",
    });
    assert_eq!(crawl, expected);
    assert_eq!(app.get("/api/v2/crawls/1").await, (200, expected.clone()));
    let list = json!({"meta": {"results": 1, "limit": 100}, "crawls": [expected]});
    assert_eq!(app.get("/api/v2/crawls").await, (200, list));

    let key = app.key.clone();
    let change = async |name: &str| {
        let path = format!("/api/v2/crawls/1/{name}");
        app.send(Method::POST, &path, &key, Value::Null).await
    };
    assert_eq!(change("pause").await.1["paused"], true);
    assert_eq!(change("resume").await.1["paused"], false);
    fixture.clock.advance(50);
    let (status, run) = change("run").await;
    assert_eq!((status, &run["dueAt"]), (200, &json!(NOW + 50)));
    let removed = app.send(Method::DELETE, "/api/v2/crawls/1", &app.key, Value::Null).await;
    assert_eq!(removed, (204, Value::Null));
    assert_eq!(app.get("/api/v2/crawls/1").await.0, 404);
    assert_eq!(app.get("/api/v2/crawls").await.1["meta"]["results"], 0);
}

#[actix_web::test]
async fn crawls_belong_to_live_keys_with_a_package() {
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    assert_eq!(app.add(json!({"url": URL})).await.0, 201);
    let other = fixture.key("other", "enterprise");
    let premium = fixture.key("premium", "premium");
    let requests = [
        (Method::GET, "/api/v2/crawls"),
        (Method::POST, "/api/v2/crawls"),
        (Method::GET, "/api/v2/crawls/1"),
        (Method::DELETE, "/api/v2/crawls/1"),
        (Method::POST, "/api/v2/crawls/1/pause"),
        (Method::POST, "/api/v2/crawls/1/resume"),
        (Method::POST, "/api/v2/crawls/1/run"),
    ];
    for (method, path) in requests {
        let is_new = path == "/api/v2/crawls" && method == Method::POST;
        let body = if is_new { json!({"url": "s3://another"}) } else { Value::Null };
        let of_key = async |key: &str| app.send(method.clone(), path, key, body.clone()).await;
        let (status, answer) = of_key("00112233445566778899aabbccddeeff").await;
        assert_eq!((status, &answer["code"]), (401, &json!("unauthorized")), "{method} {path}");
        let missing = app.server.request(method.clone(), path).send().await.unwrap();
        assert_eq!(missing.status(), 401, "{method} {path}");
        let (status, answer) = of_key(&premium).await;
        assert_eq!((status, &answer["code"]), (403, &json!("package_required")), "{method} {path}");
        assert_eq!(answer["package"], "enterprise");
        let (status, answer) = of_key(&other).await;
        match path {
            "/api/v2/crawls" if is_new => assert_eq!(status, 201),
            "/api/v2/crawls" => assert_eq!(answer["meta"]["results"], 0, "another key's crawl"),
            _ => {
                assert_eq!((status, &answer["code"]), (404, &json!("not_found")), "{method} {path}")
            }
        }
    }
    assert_eq!(app.get("/api/v2/crawls/1").await.1["paused"], false);
    for path in ["/api/v2/crawls/x", "/api/v2/crawls/-1", "/api/v2/crawls/99999999999999999999"] {
        assert_eq!(app.get(path).await.0, 404, "{path}");
    }
    let wrong = app.send(Method::PUT, "/api/v2/crawls/1", &app.key, Value::Null).await;
    assert_eq!(
        (wrong.0, &wrong.1["error"]),
        (405, &json!("only GET, HEAD and DELETE are allowed"))
    );
}

#[actix_web::test]
async fn package_for_operators_shows_all_crawls_but_does_not_change_them() {
    let fixture = Fixture::new();
    let show = |db: &mut database::Db| {
        let package = packages::of_plan(db, "premium")?;
        packages::put(db, &Package { all_crawls: true, ..package })
    };
    fixture.context.pools.write_blocking(show).unwrap();
    let app = fixture.serve("enterprise").await;
    let operator = fixture.key("operator", "premium");
    assert_eq!(app.add(json!({"url": URL})).await.0, 201);
    let url = "s3://reports".to_owned();
    let of_operator = CrawlRequest { url, every_seconds: 60, ..CrawlRequest::default() };
    add_crawls(&fixture.context, vec![of_operator]).unwrap();
    let all = app.send(Method::GET, "/api/v2/crawls", &operator, Value::Null).await.1;
    assert_eq!(all["meta"], json!({"results": 2, "limit": 0}));
    let owners = [&all["crawls"][0]["owner"], &all["crawls"][1]["owner"]];
    assert_eq!(owners, [&json!("tester"), &Value::Null]);
    assert_eq!(app.get("/api/v2/crawls").await.1["meta"]["results"], 1, "only its own");
    for (method, path) in [
        (Method::GET, "/api/v2/crawls/1"),
        (Method::DELETE, "/api/v2/crawls/1"),
        (Method::POST, "/api/v2/crawls/2/pause"),
    ] {
        let refused = app.send(method, path, &operator, Value::Null).await;
        assert_eq!((refused.0, &refused.1["code"]), (403, &json!("package_required")), "{path}");
    }
}

#[actix_web::test]
async fn bad_crawls_are_refused() {
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    let unknown = "the provider of url is unknown, so format and type are required";
    for (body, parameter, error) in [
        (json!({}), "url", "url must be the URL of a public bucket"),
        (json!({"url": "ftp://a"}), "url", "url must start with https://, http://, s3:// or gs://"),
        (
            json!({"url": "https://user@b.s3.amazonaws.com"}),
            "url",
            "url must be the plain address of a public bucket",
        ),
        (json!({"url": "https://files.example.org/a"}), "url", unknown),
        (json!({"url": "https://files.example.org/a", "type": "aws"}), "url", unknown),
        (
            json!({"url": URL, "everySeconds": 60}),
            "everySeconds",
            "everySeconds must be between 3600 and 31536000",
        ),
        (
            json!({"url": URL, "everySeconds": 4000.5}),
            "everySeconds",
            "everySeconds is a number, not a whole number",
        ),
        (json!({"url": URL, "until": NOW}), "until", "until must be in the future"),
        (json!({"url": URL, "format": "s3"}), "format", "format is only for unknown providers"),
    ] {
        let (status, answer) = app.add(body.clone()).await;
        let expected = json!({"error": error, "code": "invalid_parameter", "parameter": parameter});
        assert_eq!((status, answer), (400, expected), "{body}");
    }
    for url in [
        "https://files.example.org./a",
        "https://files.example.org:443/a",
        "https://files.example.org/%61",
        "https://files.example.org//a",
        "https://files.example.org/b/../a",
        "https://files.example.org/a//",
        "https://f\u{0131}les.example.org/a",
        "http://0x7f000001/a",
        "https://photos.s3.amazonaws.com:8443/",
        "https://photos.s3.amazonaws.com./",
    ] {
        let (status, answer) = app.add(json!({"url": url, "format": "s3", "type": "aws"})).await;
        let plain = json!("url must be the plain address of a public bucket");
        assert_eq!((status, &answer["error"]), (400, &plain), "{url}");
    }
    let broken = app.server.post("/api/v2/crawls").bearer_auth(&app.key);
    let broken = broken.header("content-type", "application/json").body("{\"url\":").send();
    assert_eq!(broken.await.unwrap().status(), 400);
    let form = app.server.post("/api/v2/crawls").bearer_auth(&app.key).body("url=a").send();
    let form: Value = form.await.unwrap().json().await.unwrap();
    assert_eq!(form["error"], "the body must be JSON: Content-Type: application/json");

    let own = json!({"url": "https://files.example.org/a", "format": "s3", "type": "aws"});
    let (status, own) = app.add(own).await;
    assert_eq!((status, &own["bucket"]), (201, &json!("files.example.org/a")));
    assert_eq!(app.add(json!({"url": "s3://same"})).await.0, 201);
    let (status, twice) = app.add(json!({"url": "https://same.s3.amazonaws.com/"})).await;
    assert_eq!((status, &twice["code"]), (409, &json!("conflict")));
}

#[actix_web::test]
async fn crawls_of_a_key_are_bounded_and_reach_no_private_address() {
    let fixture = Fixture::new();
    let few = |db: &mut database::Db| {
        let package = packages::of_plan(db, "enterprise")?;
        packages::put(db, &Package { crawls: 3, ..package })
    };
    fixture.context.pools.write_blocking(few).unwrap();
    let app = fixture.serve("enterprise").await;
    for number in 0..3 {
        let (status, answer) = app.add(json!({"url": format!("s3://box{number}")})).await;
        assert_eq!(status, 201, "{answer}");
    }
    let (status, full) = app.add(json!({"url": "s3://more"})).await;
    assert_eq!((status, &full["error"]), (409, &json!("the key has 3 of 3 crawls")));
    let path = "/api/v2/crawls/1";
    assert_eq!(app.send(Method::DELETE, path, &app.key, Value::Null).await.0, 204);
    let private = json!({"url": "http://127.0.0.1:9/a", "format": "s3", "type": "aws"});
    let (status, private) = app.add(private).await;
    assert_eq!(status, 201);

    let options = CrawlOptions {
        remote: RemoteOptions { allows_private: true, ..RemoteOptions::default() },
        removal_limit: Some(RemovalLimit::default()),
        lease_seconds: 30,
        lists: CrawlLists::default(),
        listing_bytes: CrawlOptions::LISTING_BYTES,
        turn: None,
        of_keys: KeyLimits::default(),
    };
    let id = private["id"].as_i64();
    let run = || run_one(&fixture, id, &options);
    let outcomes = run();
    assert_eq!(outcomes[0].outcome, "failed: the address is private");
    let revoked = fixture.context.pools.write_blocking(|db| auth::revoke_owner(db, "tester", NOW));
    assert_eq!(revoked.unwrap(), 1);
    let outcomes = run();
    assert!(outcomes[0].outcome.starts_with("paused: its key is revoked"), "{outcomes:?}");
    let paused = list_crawls(&fixture.context).unwrap().into_iter().filter(|crawl| crawl.paused);
    assert_eq!(paused.map(|crawl| crawl.id).collect::<Vec<_>>(), [id.unwrap()]);
}

#[actix_web::test]
async fn limits_of_a_key_hold_while_another_replica_adds() {
    let fixture = Fixture::new();
    let one = |db: &mut database::Db| {
        let package = packages::of_plan(db, "enterprise")?;
        packages::put(db, &Package { crawls: 1, alerts: 1, ..package })
    };
    let pools = &fixture.context.pools;
    pools.write_blocking(one).unwrap();
    let app = fixture.serve("enterprise").await;
    if pools.backend() == Backend::Sqlite {
        return; // It has a single writer.
    }
    let waits = || {
        let waits = "(SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                     AND datname = current_database())";
        let look = |db: &mut database::Db| -> Result<bool, DatabaseError> {
            Ok(diesel::select(diesel::dsl::sql::<Bool>(waits)).get_result(db)?)
        };
        pools.read_blocking(look).unwrap()
    };
    for (path, body, row) in [
        (
            "/api/v2/alerts",
            json!({"name": "a", "query": "keywords=backup"}),
            "INSERT INTO alert (key_id, name, query, since_generation, since_id, created_at) \
             VALUES (1, 'b', 'keywords=backup', 1, 0, 0)",
        ),
        (
            "/api/v2/crawls",
            json!({"url": "s3://photos"}),
            "INSERT INTO crawl (key_id, url, bucket, prefix, every_seconds, due_at) \
             VALUES (1, 's3://other', 'other.s3.amazonaws.com', '', 3600, 0)",
        ),
    ] {
        let mut other = pools.connect().unwrap();
        other.batch_execute("BEGIN").unwrap();
        auth::lock_key(&mut other, 1).unwrap();
        other.batch_execute(row).unwrap();
        let is_done = Cell::new(false);
        let add = async {
            let added = app.send(Method::POST, path, &app.key, body).await;
            is_done.set(true);
            added
        };
        let end = async {
            until("the request waits", async || is_done.get() || waits()).await;
            other.batch_execute("COMMIT").unwrap();
        };
        let ((status, answer), ()) = futures_util::join!(add, end);
        assert_eq!((status, &answer["code"]), (409, &json!("conflict")), "{path}");
    }
}

#[actix_web::test]
async fn crawl_of_a_key_does_not_block_others_from_its_bucket() {
    let fixture = Fixture::new();
    let app = fixture.serve("enterprise").await;
    let other = fixture.key("other", "enterprise");
    let body = json!({"url": "s3://photos"});
    let add = async |key: &str| app.send(Method::POST, "/api/v2/crawls", key, body.clone()).await;
    assert_eq!(add(&app.key).await.0, 201);
    let pause = "/api/v2/crawls/1/pause";
    assert_eq!(app.send(Method::POST, pause, &app.key, Value::Null).await.0, 200);
    let (status, twice) = add(&app.key).await;
    assert_eq!((status, &twice["code"]), (409, &json!("conflict")));
    assert_eq!(add(&other).await.0, 201);
    assert_eq!(add(&other).await.0, 409);
    let of_operator = || CrawlRequest {
        url: "s3://photos".to_owned(),
        every_seconds: 60,
        ..CrawlRequest::default()
    };
    assert_eq!(add_crawls(&fixture.context, vec![of_operator()]).unwrap(), [3]);
    let twice = add_crawls(&fixture.context, vec![of_operator()]).unwrap_err().to_string();
    assert_eq!(twice, "s3://photos: crawl 3 already lists this bucket");
}

/// Adds a crawl of a local bucket by a key. Returns options with which it may be listed.
pub async fn crawl_of_key(app: &App, bucket: &PublicBucket) -> CrawlOptions {
    let url = format!("{}/s3/", bucket.address);
    let (status, added) = app.add(json!({"url": url, "format": "s3", "type": "aws"})).await;
    assert_eq!(status, 201, "{added}");
    CrawlOptions {
        remote: RemoteOptions { rate: 1_000.0, first_pause: 0, ..RemoteOptions::default() },
        removal_limit: Some(RemovalLimit::default()),
        lease_seconds: 30,
        lists: CrawlLists::default(),
        listing_bytes: CrawlOptions::LISTING_BYTES,
        turn: None,
        of_keys: KeyLimits { allows_private: true, ..KeyLimits::default() },
    }
}

pub fn pages(count: usize) -> PublicBucket {
    let keys: Vec<String> = (0..count * PAGE).map(|number| format!("{number:06}.txt")).collect();
    PublicBucket::start(Behaviour { keys: keys.into(), ..Behaviour::default() })
}

#[actix_web::test]
async fn long_crawl_of_a_key_lets_others_run() {
    let (fixture, bucket) = (Fixture::new(), pages(3));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    options.of_keys.turn = Duration::ZERO;
    for listed in 1..3 {
        let [outcome] = &run_one(&fixture, None, &options)[..] else { panic!("it is due") };
        assert_eq!(outcome.outcome, "it will continue after other crawls have run");
        assert_eq!(app.get("/api/v2/crawls/1").await.1["pagesListed"], listed);
        assert!(run_one(&fixture, None, &options).is_empty(), "it waits");
        fixture.clock.advance(60);
    }
    assert_eq!(run_one(&fixture, None, &options)[0].outcome, "300 new, 0 changed, 0 gone");
    assert_eq!(bucket.requests(), 3);
}

#[actix_web::test]
async fn large_crawl_of_a_key_stops() {
    let (fixture, bucket) = (Fixture::new(), pages(15));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    options.of_keys.bytes = 100;
    let outcomes = run_one(&fixture, None, &options);
    let too_large = "failed: the stored pages of the key's crawls are too large";
    assert_eq!(outcomes[0].outcome, too_large);
    assert_eq!(bucket.requests(), 11, "the size is checked every ten pages");
    app.refresh();
    assert_eq!(app.results("").await, 0);
}

/// The number of files is stored with the pages, because each run only lists one page.
#[rstest]
#[case::limit(300, "300 new, 0 changed, 0 gone", 300)]
#[case::more(299, "failed: the listing has more than 299 files; use a prefix", 0)]
#[actix_web::test]
async fn crawl_of_a_key_with_too_many_files_publishes_nothing(
    #[case] most: u64,
    #[case] outcome: &str,
    #[case] results: u64,
) {
    let (fixture, bucket) = (Fixture::new(), pages(3));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    options.of_keys.turn = Duration::ZERO;
    options.of_keys.files = most;
    for _ in 1..3 {
        run_one(&fixture, None, &options);
        fixture.clock.advance(60);
    }
    assert_eq!(run_one(&fixture, None, &options)[0].outcome, outcome);
    let (_, crawl) = app.get("/api/v2/crawls/1").await;
    assert_eq!((&crawl["outcome"], &crawl["pagesListed"]), (&json!(outcome), &json!(0)));
    app.refresh();
    assert_eq!(app.results("").await, results);
}

#[actix_web::test]
async fn stored_pages_of_all_crawls_of_a_key_are_limited_together() {
    let (fixture, bucket) = (Fixture::new(), pages(2));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    let url = format!("{}/s3/", bucket.address);
    let second = json!({"url": url, "format": "s3", "type": "aws", "prefix": "0"});
    assert_eq!(app.add(second.clone()).await.0, 201);
    let other = fixture.key("other", "enterprise");
    let added = app.send(Method::POST, "/api/v2/crawls", &other, second).await;
    assert_eq!(added.0, 201);
    options.of_keys.bytes = 100;
    options.of_keys.turn = Duration::ZERO;
    let outcome = |id| run_one(&fixture, Some(id), &options)[0].outcome.clone();
    let outcomes = [outcome(1), outcome(2), outcome(3)];
    let waits = "it will continue after other crawls have run";
    let too_large = "failed: the stored pages of the key's crawls are too large";
    assert_eq!(outcomes, [waits, too_large, waits]);
}

#[test]
fn large_crawl_of_an_operator_stops() {
    let (fixture, bucket) = (Fixture::new(), pages(2));
    let request = crate::crawls::request(&bucket, "s3", "box.s3.amazonaws.com");
    add_crawls(&fixture.context, vec![request]).unwrap();
    let mut options = crate::crawls::options();
    options.listing_bytes = 100;
    let outcomes = run_one(&fixture, None, &options);
    assert_eq!(outcomes[0].outcome, "failed: the listing's pages are too large");
    let stored = |db: &mut database::Db| buckets::store::crawl_pages::bytes(db, 1);
    assert_eq!(fixture.context.pools.read_blocking(stored).unwrap(), 0);
}

#[actix_web::test]
async fn revoked_key_ends_its_running_crawl() {
    let (fixture, bucket) = (Fixture::new(), pages(30));
    let app = fixture.serve("enterprise").await;
    let mut options = crawl_of_key(&app, &bucket).await;
    options.remote.rate = 4.0;
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let outcomes = std::thread::scope(|scope| {
        let run = scope.spawn(|| run_crawls(&fixture.context, None, &options, checkpoints));
        testkit::until_blocking("the first page is listed", || bucket.requests() > 0);
        let revoke = |db: &mut database::Db| auth::revoke_owner(db, "tester", NOW);
        assert_eq!(fixture.context.pools.write_blocking(revoke).unwrap(), 1);
        run.join().unwrap().unwrap()
    });
    assert!(outcomes[0].outcome.contains("its key is revoked"), "{outcomes:?}");
    assert!(bucket.requests() < 30, "{} requests", bucket.requests());
}

#[actix_web::test]
async fn buckets_that_the_operator_excludes_are_refused() {
    let crawl_deny = vec!["*.amazonaws.com".parse().unwrap()];
    let settings = Settings { crawl_deny, ..Settings::for_tests() };
    let app = Fixture::new().serve_with("enterprise", settings).await;
    for url in [URL, "s3://photos", "http://s3.amazonaws.com/photos/"] {
        let (status, answer) = app.add(json!({"url": url})).await;
        let error = "the operator of this service excludes the bucket from crawls";
        let expected = json!({"error": error, "code": "invalid_parameter", "parameter": "url"});
        assert_eq!((status, answer), (400, expected), "{url}");
    }
    assert_eq!(app.add(json!({"url": "gs://photos"})).await.0, 201);
}
