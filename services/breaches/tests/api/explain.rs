//! The queries of the API use their indexes.

use breaches::store::{account, paste, stealer_log};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Integer, Text};
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};
use store::Db;

use crate::app::App;

struct OnSqlite<Q>(Q);
struct OnPostgres<Q>(Q);

impl<Q> Query for OnSqlite<Q> {
    type SqlType = (Integer, Integer, Integer, Text);
}

impl<Q> Query for OnPostgres<Q> {
    type SqlType = Text;
}

impl<Q: QueryFragment<Sqlite>> QueryFragment<Sqlite> for OnSqlite<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql("EXPLAIN QUERY PLAN ");
        self.0.walk_ast(out)
    }
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for OnPostgres<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql("EXPLAIN ");
        self.0.walk_ast(out)
    }
}

impl<Q> QueryId for OnSqlite<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> QueryId for OnPostgres<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> RunQueryDsl<SqliteConnection> for OnSqlite<Q> {}
impl<Q> RunQueryDsl<PgConnection> for OnPostgres<Q> {}

macro_rules! plan {
    ($db:expr, $query:expr) => {
        match $db {
            Db::Sqlite(conn) => OnSqlite($query)
                .load::<(i32, i32, i32, String)>(conn)
                .unwrap()
                .into_iter()
                .map(|row| row.3)
                .collect::<Vec<_>>()
                .join("\n"),
            Db::Pg(conn) => OnPostgres($query).load::<String>(conn).unwrap().join("\n"),
        }
    };
}

/// What a plan must say on either database, and that it scans no table.
fn assert_uses(plan: &str, sqlite: &[&str], postgres: &[&str]) {
    let wanted = if plan.contains("Plan") || plan.contains("cost=") { postgres } else { sqlite };
    for text in wanted {
        assert!(plan.contains(text), "{text} is not in\n{plan}");
    }
    assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN "), "{plan}");
}

/// PostgreSQL plans by what it knows of the tables: rows enough for an index to matter.
const FILL: [&str; 7] = [
    "INSERT INTO mail_domain (name, rname) SELECT 'd' || n || '.example', n FROM generate_series(1, 500) n",
    "INSERT INTO account SELECT (n * 900000000000000::NUMERIC - 9223372036854775808)::BIGINT, 0, 1 + n % 500, 'user' || n, '\\x0100' \
     FROM generate_series(1, 20000) n",
    "INSERT INTO stealer_log SELECT (n * 900000000000000::NUMERIC - 9223372036854775808)::BIGINT, 0, 1 + n % 499, 1 \
     FROM generate_series(1, 20000) n",
    "INSERT INTO paste_account SELECT (n * 900000000000000::NUMERIC - 9223372036854775808)::BIGINT, 0, 1 FROM generate_series(1, 20000) n",
    "ANALYZE",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
];

#[actix_web::test]
async fn every_lookup_uses_the_intended_index() {
    let app = App::start().await;
    let mut db = app.context.pools.connect().unwrap();
    if let Db::Pg(conn) = &mut db {
        for statement in FILL {
            diesel::sql_query(statement).execute(conn).unwrap();
        }
    }
    let point = plan!(&mut db, account::by_key(7));
    assert_uses(&point, &["SEARCH account USING PRIMARY KEY (k=?)"], &["_pkey", "k = "]);
    let range = plan!(&mut db, account::by_range(7, 9));
    assert_uses(&range, &["SEARCH account USING PRIMARY KEY (k>? AND k<?)"], &["_pkey", "k >= "]);
    let domain = plan!(&mut db, account::by_domain(7));
    assert_uses(&domain, &["USING INDEX account_domain (domain_id=?)"], &["domain_id_idx"]);
    let websites = plan!(&mut db, stealer_log::by_account(7, 0));
    assert_uses(&websites, &["SEARCH stealer_log USING PRIMARY KEY (k=? AND seq=?)"], &["_pkey"]);
    let website = plan!(&mut db, stealer_log::by_website(7));
    assert_uses(&website, &["stealer_log_website (website_id=?)"], &["website_id_idx"]);
    let captured = plan!(&mut db, stealer_log::by_domain(7));
    assert_uses(&captured, &["account_domain (domain_id=?)"], &["domain_id_idx"]);
    let pastes = plan!(&mut db, paste::by_account(7, 0));
    assert_uses(
        &pastes,
        &["SEARCH paste_account USING PRIMARY KEY (k=? AND seq=?)"],
        &["paste_account_pkey"],
    );
}
