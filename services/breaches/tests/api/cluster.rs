//! A database whose accounts are on several servers gives the same responses as SQLite.
//!
//! If `TEST_CITUS_WORKERS` is set, the tests run on a Citus cluster, otherwise on the database of
//! the other tests.

use std::collections::BTreeMap;

use breaches::jobs::{AccountsOptions, clean, examine, retire};
use breaches::model::{AccountKey, OptOut};
use breaches::store::accounts::{
    AccountWriter, Linked, NewAccount, Placement, StripStatements, StripStep, one_key, one_page,
    one_range, placement_in_table,
};
use breaches::store::{
    Layout, accounts, breaches as store_breaches, cluster, load_connections, mail_domains, pastes,
    stealer_logs,
};
use database::{DatabaseError, Db};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::Text;
use diesel::{PgConnection, QueryResult, RunQueryDsl};
use domain::EmailAddress;
use serde_json::{Value, json};
use testkit::Database;

use crate::app::{App, entry};

/// Explains a query for its actual values.
struct Explained<Q>(Q);

impl<Q> Query for Explained<Q> {
    type SqlType = Text;
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for Explained<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql("EXPLAIN ");
        self.0.walk_ast(out)
    }
}

impl<Q> QueryId for Explained<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> RunQueryDsl<PgConnection> for Explained<Q> {}

fn assert_asks_one_server(conn: &mut PgConnection, query: impl QueryFragment<Pg>) {
    let plan: Vec<String> = Explained(query).load(conn).unwrap();
    let plan = plan.join("\n");
    assert!(plan.contains("Task Count: 1\n"), "{plan}");
}

#[actix_web::test]
async fn a_key_a_range_a_page_and_a_purge_ask_one_server_each() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    let mut db = app.context.pools.connect().unwrap();
    let Db::Pg(conn) = &mut db else { panic!("this is PostgreSQL") };
    assert_asks_one_server(conn, one_key(7));
    let (low, high) = (7 << 40, (8 << 40) - 1);
    assert_asks_one_server(conn, one_range(low, high));
    assert_asks_one_server(conn, one_page(low, (1 << 52) - 1, 5_000));
    assert_asks_one_server(conn, stealer_logs::by_account(7, 0));
    assert_asks_one_server(conn, pastes::by_account(7, 0));
    let StripStatements { pairs, count, accounts, links } =
        StripStatements::new(Layout::Distributed, 1, (0, (1 << 52) - 1), StripStep::Everything);
    for statement in [pairs, count, accounts, links] {
        assert_asks_one_server(conn, diesel::dsl::sql::<Text>(&statement));
    }
}

#[actix_web::test]
async fn no_table_prevents_parts_from_moving_to_another_server() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    // Citus moves the parts of all tables together, by logical replication.
    let mut db = app.context.pools.connect().unwrap();
    let Db::Pg(conn) = &mut db else { panic!("this is PostgreSQL") };
    let fixed = "SELECT relname::TEXT FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid \
                 WHERE partmethod = 'h' AND (relpersistence <> 'p' OR relreplident <> 'f' AND NOT EXISTS \
                 (SELECT 1 FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary))";
    let fixed: Vec<String> = diesel::dsl::sql::<Text>(fixed).load(conn).unwrap();
    assert!(fixed.is_empty(), "{fixed:?}");
}

#[actix_web::test]
async fn loads_look_up_domains_by_index() {
    let app = App::start().await;
    let mut db = load_connections::connect(&app.context.pools).unwrap();
    let Db::Pg(conn) = &mut db else { return };
    // A plan does not help here: Citus explains on a separate connection.
    let scans: String = diesel::dsl::sql::<Text>("SHOW enable_seqscan").get_result(conn).unwrap();
    assert_eq!(scans, "off");
}

/// A service's stored data: every address with its breaches, pastes and websites, and the counts.
type Content = (BTreeMap<String, (Vec<u8>, Vec<String>, Vec<String>)>, Vec<(String, i64, i64)>);

async fn content(app: &App) -> Content {
    app.change(|db| {
        let mut found = BTreeMap::new();
        for row in accounts::after(db, (i64::MIN, -1), 1_000_000)? {
            let place = (row.k, row.seq);
            let mut of_account: Vec<String> =
                pastes::of_account(db, place)?.into_iter().map(|paste| paste.id).collect();
            of_account.sort();
            let mut websites: Vec<String> =
                stealer_logs::websites(db, place)?.into_iter().map(|(site, _)| site).collect();
            websites.sort();
            found.insert(row.address(), (row.breaches, of_account, websites));
        }
        let breaches = store_breaches::all(db)?.into_iter();
        let counts = breaches.map(|breach| (breach.name, breach.loaded_count, breach.pwn_count));
        Ok((found, counts.collect()))
    })
    .await
}

/// Returns the responses about some addresses, ranges and domains.
async fn answers(app: &App, key: &str) -> Vec<(String, u16, Value)> {
    let mut paths: Vec<String> = Vec::new();
    for n in (0..3_200).step_by(40) {
        paths.push(format!("/api/v3/breachedaccount/{}", address(n)));
        paths.push(format!("/api/v3/pasteaccount/{}", address(n)));
        let prefix = &EmailAddress::parse(&address(n)).unwrap().sha1().to_string()[..6];
        paths.push(format!("/api/v3/breachedaccount/range/{prefix}"));
    }
    let mut found = Vec::new();
    for path in paths {
        // The server may close an idle connection between two rounds.
        let request =
            app.request(&path).header("breach-api-key", key).header("connection", "close");
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.json().await.unwrap_or(Value::Null);
        found.push((path, status, body));
    }
    found
}

/// Returns one of many addresses at 40 domains.
pub fn address(n: usize) -> String {
    format!("user{n}@d{}.example", n % 40)
}

/// Returns the lines of a file with some of these addresses.
pub fn lines(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|n| address(n) + "\n").collect()
}

/// Runs loads of all kinds: a first load, loads of half-known addresses, loads of breaches with
/// lower ids, and a manifest.
async fn fill(app: &App) -> String {
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([entry("Early"), entry("Alpha"), entry("Beta"), logs])).await;
    app.load("Beta", &lines(0..2_000)).await;
    app.load("Alpha", &lines(1_000..3_000)).await;
    app.load("Early", &lines(500..1_500)).await;
    app.load("Alpha", &lines(0..100)).await;
    app.folder.write("a.txt", lines(2_900..3_100));
    app.folder.write("b.txt", lines(2_950..3_050));
    let manifest = Some(app.folder.write("manifest", "Beta a.txt\nEarly b.txt\nAlpha a.txt\n"));
    let options = AccountsOptions { manifest, ..AccountsOptions::default() };
    let outcome = breaches::jobs::load_accounts(&app.context, &options).unwrap();
    assert_eq!(outcome.added, 200 + 100 + 100);
    let pairs: String =
        (0..600).map(|n| format!("{},shop{}.example\n", address(n * 5 % 3_200), n % 7)).collect();
    app.load_pairs("Logs", &format!("email,website\n{pairs}")).await;
    let texts: Vec<String> = (0..30)
        .map(|n| {
            let emails: Vec<String> =
                (0..20).map(|m| address((n * 131 + m * 17) % 3_200)).collect();
            json!({"Source": "Pastebin", "Id": format!("p{n}"), "Emails": emails}).to_string()
        })
        .collect();
    app.load_pastes(&texts.join("\n")).await;
    app.subscriber("pro@corp.example", "pro1").await
}

#[actix_web::test]
async fn data_and_answers_after_loads_and_removals_equal_those_of_sqlite() {
    let (app, sqlite) = (App::start().await, App::on(Database::in_file(), |_| (), |_| ()).await);
    let (key, other) = (fill(&app).await, fill(&sqlite).await);
    assert_eq!(content(&app).await, content(&sqlite).await);
    assert_eq!(answers(&app, &key).await, answers(&sqlite, &other).await);
    for app in [&app, &sqlite] {
        app.change(|db| {
            let email = |n| EmailAddress::parse(&address(n)).map_err(DatabaseError::broken);
            for (n, choice) in
                [(5, OptOut::Delete), (1_005, OptOut::Breaches), (80, OptOut::Public)]
            {
                breaches::opt_out(db, &email(n)?, choice, 0)
                    .map_err(|e| DatabaseError::broken(e.to_string()))?;
            }
            let beta = store_breaches::by_name(db, "Beta")?.unwrap().id;
            breaches::remove_link(db, &email(40)?, beta, 0)
                .map_err(|e| DatabaseError::broken(e.to_string()))?;
            Ok(())
        })
        .await;
        retire(&app.context, "Alpha").unwrap();
        retire(&app.context, "Logs").unwrap();
        clean(&app.context, false).unwrap();
        assert!(examine(&app.context).unwrap().is_sound());
    }
    assert_eq!(content(&app).await, content(&sqlite).await);
    assert_eq!(answers(&app, &key).await, answers(&sqlite, &other).await);
}

#[actix_web::test]
async fn addresses_with_the_same_key_are_stored_apart() {
    let app = App::start().await;
    let (alpha, beta) = (1_u16.to_le_bytes(), 2_u16.to_le_bytes());
    let added = app
        .change(|db| {
            let ids = mail_domains::ids(db, &["a.example"])?;
            let new = |local, breaches| NewAccount {
                k: 77,
                domain_id: ids["a.example"],
                local,
                breaches,
            };
            let mut added = Vec::new();
            for accounts in [
                &[new("one", &beta[..]), new("two", &beta)][..],
                &[new("two", &alpha), new("three", &alpha)],
                &[new("two", &alpha)],
            ] {
                let mut linked = Linked::default();
                let placement = placement_in_table(db)?;
                let mut writer = AccountWriter::new(db, placement, true)?;
                writer.write(db, accounts, &mut linked)?;
                writer.finish(db, &mut linked)?;
                let added_links = linked.added.into_iter().filter(|(_, links)| *links > 0);
                added.push(added_links.collect::<Vec<_>>());
            }
            Ok(added)
        })
        .await;
    assert_eq!(added, [vec![(2, 2)], vec![(1, 2)], vec![]]);
    let rows = app
        .change(|db| {
            let key = AccountKey(77);
            accounts::in_table(db, key)
        })
        .await;
    let found: Vec<_> =
        rows.iter().map(|row| (row.seq, row.local.as_str(), row.breaches.as_slice())).collect();
    let both = [alpha, beta].concat();
    assert_eq!(found.len(), 3);
    for expected in [(0, "one", &beta[..]), (1, "two", &both), (2, "three", &alpha)] {
        assert!(found.contains(&expected), "{expected:?} is not in {found:?}");
    }
}

#[actix_web::test]
async fn addresses_of_living_servers_are_answered_while_one_is_down() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        assert_eq!(app.context.pools.read_blocking(placement_in_table).unwrap(), Placement::Table);
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(0..200)).await;
    let key = app.subscriber("pro@corp.example", "pro1").await;
    // Points one server to a port that nothing listens on.
    let lost: i32 = 2;
    app.change(|db| {
        let update =
            "SELECT citus_update_node(nodeid, nodename, 1) FROM pg_dist_node WHERE groupid =";
        diesel::sql_query(format!("{update} {lost}")).execute(db)?;
        Ok(())
    })
    .await;
    let states = app.context.pools.read_blocking(cluster::workers).unwrap();
    assert_eq!(states.iter().filter(|worker| worker.is_up).count(), states.len() - 1);
    // A purge waits, because this server might have transactions to complete.
    let mut db = app.context.pools.connect().unwrap();
    assert!(cluster::complete_all_commits(&mut db).unwrap_err().is_busy());
    let (mut answered, mut refused) = (0, 0);
    for n in 0..60 {
        let response = app.get_with(&key, &format!("/api/v3/breachedaccount/{}", address(n))).await;
        // A removal waits only for the server of its address.
        let digest = EmailAddress::parse(&address(n)).unwrap().sha1();
        let completed = cluster::complete_commits_of(&mut db, AccountKey::of(&digest).0);
        match response.status().as_u16() {
            200 => {
                completed.unwrap();
                answered += 1;
            }
            503 => {
                assert!(completed.unwrap_err().is_busy());
                assert_eq!(response.headers()["retry-after"], "5");
                refused += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert!(answered > 5 && refused > 5, "{answered} answered, {refused} refused");
    let unknown = app.get_with(&key, "/api/v3/breach/Alpha").await;
    assert_eq!(unknown.status(), 200);
}
