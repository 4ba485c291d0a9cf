//! Long searches leave connections for other requests.

use std::sync::mpsc;

use database::{DatabaseError, DatabaseSettings, Db};
use diesel::connection::SimpleConnection;
use testkit::TestServer;

use crate::app::{App, entry};
use crate::bulk_check::BULK;
use crate::processes::Cluster;

impl App {
    /// Occupies all connections for long searches, until the result is dropped.
    async fn occupy_long_reads(&self) -> Vec<mpsc::Sender<()>> {
        let mut releases = Vec::new();
        for _ in 0..2 {
            let (release, released) = mpsc::channel::<()>();
            let (began, begun) = tokio::sync::oneshot::channel();
            let pools = self.state.pools().clone();
            let walk = move |_: &mut Db| {
                began.send(()).unwrap();
                let _ = released.recv();
                Ok::<_, DatabaseError>(())
            };
            actix_web::rt::spawn(async move { pools.read_long(walk).await.unwrap() });
            begun.await.unwrap();
            releases.push(release);
        }
        releases
    }
}

#[actix_web::test]
async fn other_requests_do_not_wait_for_long_searches() {
    let app = App::start().await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = serde_json::json!(true);
    app.import(&serde_json::json!([logs])).await;
    app.load_pairs("Logs", "email,website\na@example.com,shop.example\n").await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    for domain in ["example.com", "shop.example"] {
        app.verify("owner@example.org", domain).await;
    }
    let releases = app.occupy_long_reads().await;
    let paths = [
        "breacheddomain/example.com",
        "stealerlogsbyemaildomain/example.com",
        "stealerlogsbywebsitedomain/shop.example",
    ];
    let search = |path: &str| {
        let request = app.request(&format!("/api/v3/{path}")).header("breach-api-key", &key);
        actix_web::rt::spawn(async move { request.send().await.unwrap().status().as_u16() })
    };
    let searches = paths.map(search);
    assert_eq!(app.get("/readyz").await.status(), 200);
    for path in ["subscription/status", "breachedaccount/a@example.com", "subscribeddomains"] {
        app.json_with(&key, &format!("/api/v3/{path}")).await;
    }
    // Requests that are not permitted are rejected immediately.
    for path in ["breacheddomain/other.example", "stealerlogsbyemaildomain/other.example"] {
        assert_eq!(app.get_with(&key, &format!("/api/v3/{path}")).await.status(), 403);
    }
    assert!(searches.iter().all(|search| !search.is_finished()));
    drop(releases);
    for search in searches {
        assert_eq!(search.await.unwrap(), 200);
    }
}

/// Starts a service with an inherited domain whose count has failed. Returns its owner's key.
async fn with_uncounted_domain() -> (App, String) {
    let app = App::start().await;
    app.import(&serde_json::json!([entry("Alpha")])).await;
    app.load("Alpha", "a@sub.example.com\n").await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "example.com").await;
    app.change(|db| {
        let sizes = "UPDATE domain_control SET size_now = NULL WHERE domain = 'sub.example.com'";
        Ok(db.batch_execute(sizes)?)
    })
    .await;
    (app, key)
}

#[actix_web::test]
async fn bulk_check_saves_a_count_although_other_writers_wait_for_a_load() {
    let (app, key) = with_uncounted_domain().await;
    if app.database.file().is_none() {
        // PostgreSQL has many writers.
        return;
    }
    let settings = DatabaseSettings { db_wait_ms: 500, ..app.database.settings() };
    let migrations = [&auth::MIGRATIONS, &breaches::store::MIGRATIONS];
    let pools = settings.open(app.database.folder(), "test", &migrations).unwrap();
    let (clock, settings) = (app.context.clock.clone(), app.context.settings.clone());
    let external = breaches::External::unavailable().unwrap();
    let state = breaches::State::new(pools.clone(), clock, settings, external).unwrap();
    let server = TestServer::start(breaches::Breaches::new(state)).await;
    let (release, released) = mpsc::channel::<()>();
    let (began, begun) = tokio::sync::oneshot::channel();
    let hold = move |_: &mut Db| {
        began.send(()).unwrap();
        let _ = released.recv();
        Ok::<_, DatabaseError>(())
    };
    actix_web::rt::spawn(async move { pools.write(hold).await.unwrap() });
    begun.await.unwrap();
    let timeouts = async || {
        let text = server.admin("/metrics").send().await.unwrap().text().await.unwrap();
        let is_counter = |line: &&str| line.contains(r#"pool_timeouts_total{pool="write"}"#);
        text.lines().find(is_counter).map(str::to_owned)
    };
    let before = timeouts().await;
    let emails = serde_json::json!({ "emails": ["a@sub.example.com"] });
    let check = server.post(BULK).header("user-agent", "tests").header("breach-api-key", &key);
    let check = check.body(emails.to_string()).send();
    let end = async {
        testkit::until("a write has timed out", async || timeouts().await != before).await;
        drop(release);
    };
    let (response, ()) = futures_util::join!(check, end);
    assert_eq!(response.unwrap().status(), 200);
}

#[actix_web::test]
async fn bulk_check_counts_a_domain_on_the_connections_for_long_searches() {
    let (app, key) = with_uncounted_domain().await;
    let releases = app.occupy_long_reads().await;
    let emails = serde_json::json!({ "emails": ["a@sub.example.com"] });
    let check = async || app.post_with(&key, BULK, &emails).await.0;
    assert_eq!(check().await, 503);
    drop(releases);
    assert_eq!(check().await, 200);
}

/// Returns SQL that inserts accounts at a domain, each of which was captured at a website.
fn pairs(accounts: usize, sign: &str, domain: u32, website: u32, bytes: &str) -> [String; 2] {
    let numbers = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {accounts})"
    );
    let local = format!("'{}' || i", "a".repeat(50));
    // These searches do not use the shard column, which only PostgreSQL has.
    let (columns, zeros) =
        if bytes.starts_with('x') { ("k, seq", "0") } else { ("k, seq, shard", "0, 0") };
    [
        format!(
            "INSERT INTO account ({columns}, domain_id, local, breaches) {numbers} \
             SELECT {sign} i * CAST(1000003 AS BIGINT), {zeros}, {domain}, {local}, {bytes} FROM n"
        ),
        format!(
            "INSERT INTO stealer_log ({columns}, website_id, breach_id) \
             SELECT k, {zeros}, {website}, (SELECT id FROM breach WHERE name = 'Logs') \
             FROM account WHERE domain_id = {domain}"
        ),
    ]
}

#[actix_web::test]
async fn stealer_log_search_streams_its_pairs_in_bounded_memory() {
    const PAIRS: usize = 300_000;
    let cluster = Cluster::new();
    cluster.run(&["migrate"]);
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = serde_json::json!(true);
    let catalogue = cluster.file("catalogue.json", &serde_json::json!([logs]).to_string());
    cluster.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let fill = |db: &mut Db| {
        for (id, name) in [(1001, "corp"), (1002, "shop"), (1003, "x"), (1004, "y"), (1005, "z")] {
            let rname: String = format!("{name}.example").chars().rev().collect();
            let values = format!("({id}, '{name}.example', '{rname}')");
            db.batch_execute(&format!(
                "INSERT INTO mail_domain (id, name, rname) VALUES {values}"
            ))?;
        }
        let bytes = if matches!(db, Db::Pg(_)) { "''::bytea" } else { "x''" };
        let of_domain = pairs(PAIRS, "", 1001, 1004, bytes);
        let of_website = pairs(PAIRS, "-", 1003, 1002, bytes);
        let one = pairs(1, "5 +", 1002, 1005, bytes);
        for statement in [of_domain, of_website, one].into_iter().flatten() {
            db.batch_execute(&statement)?;
        }
        if let Db::Sqlite(_) = db {
            db.batch_execute("INSERT INTO domain_account SELECT domain_id, k, seq FROM account WHERE domain_id > 1000")?;
        }
        Ok::<_, DatabaseError>(())
    };
    let pools = cluster.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    pools.write_blocking(fill).unwrap();
    cluster.run(&["subscriber", "add", "owner@example.org"]);
    cluster.run(&crate::commands::subscription("owner@example.org", "pro5"));
    for domain in ["corp.example", "shop.example", "x.example", "z.example"] {
        cluster.run(&["domain", "verify", "owner@example.org", domain]);
    }
    let key = cluster.run(&["keys", "issue", "owner@example.org"]);
    let server = cluster.serve();
    // A small search first, so that one-time setup is not measured.
    let first = cluster.ask(&server, &key, "stealerlogsbywebsitedomain/z.example").await;
    assert_eq!(first.0, 200, "{}", first.1);
    // Also fills the page cache of the database.
    for domain in ["corp.example", "x.example"] {
        assert_eq!(cluster.ask(&server, &key, &format!("breacheddomain/{domain}")).await.0, 404);
    }
    for (search, ends) in
        [("emaildomain/corp.example", "\"]"), ("websitedomain/shop.example", "@x.example\"")]
    {
        let before = server.peak_memory();
        let (status, body) = cluster.ask(&server, &key, &format!("stealerlogsby{search}")).await;
        let after = server.peak_memory();
        assert_eq!((status, body.matches(ends).count()), (200, PAIRS), "{search}");
        // Holding all pairs in memory would take more than twice as much. The page caches of newly
        // used connections take up to 16 MiB each.
        assert!(after.saturating_sub(before) < 42, "{search}: {before} {after} MiB");
    }
}
