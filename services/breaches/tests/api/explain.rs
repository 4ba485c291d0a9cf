//! The queries of the API use their indexes.

use breaches::store::{accounts, key_holders, pastes, stealer_logs};
use database::Db;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Integer, Text};
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};

use crate::app::App;

struct OnSqlite<Q>(Q);

/// Displays a statement as PostgreSQL gets it.
struct PostgresText(String);

impl<Q> Query for OnSqlite<Q> {
    type SqlType = (Integer, Integer, Integer, Text);
}

impl Query for PostgresText {
    type SqlType = Text;
}

impl<Q: QueryFragment<Sqlite>> QueryFragment<Sqlite> for OnSqlite<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql("EXPLAIN QUERY PLAN ");
        self.0.walk_ast(out)
    }
}

impl QueryFragment<Pg> for PostgresText {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql(&self.0);
        Ok(())
    }
}

impl<Q> QueryId for OnSqlite<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryId for PostgresText {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> RunQueryDsl<SqliteConnection> for OnSqlite<Q> {}
impl RunQueryDsl<PgConnection> for PostgresText {}

/// Returns the query plan. For PostgreSQL, this is the generic plan that `serve` requests.
macro_rules! plan {
    ($db:expr, $query:expr, $values:expr) => {
        match $db {
            Db::Sqlite(conn) => OnSqlite($query)
                .load::<(i32, i32, i32, String)>(conn)
                .unwrap()
                .into_iter()
                .map(|row| row.3)
                .collect::<Vec<_>>()
                .join("\n"),
            Db::Pg(conn) => {
                generic_plan(conn, &diesel::debug_query::<Pg, _>(&$query).to_string(), $values)
            }
        }
    };
}

fn generic_plan(conn: &mut PgConnection, query: &str, values: &str) -> String {
    let query = query.split(" -- binds").next().unwrap();
    diesel::sql_query("SET plan_cache_mode = force_generic_plan").execute(conn).unwrap();
    diesel::sql_query(format!("PREPARE probe AS {query}")).execute(conn).unwrap();
    let plan =
        PostgresText(format!("EXPLAIN EXECUTE probe({values})")).load::<String>(conn).unwrap();
    diesel::sql_query("DEALLOCATE probe").execute(conn).unwrap();
    plan.join("\n")
}

/// Asserts that a plan contains these strings and does not scan a table.
fn assert_uses(plan: &str, sqlite: &[&str], postgres: &[&str]) {
    let wanted = if plan.contains("Plan") || plan.contains("cost=") { postgres } else { sqlite };
    for text in wanted {
        assert!(plan.contains(text), "{text} is not in\n{plan}");
    }
    assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN "), "{plan}");
}

/// Fills the tables, because PostgreSQL uses an index only if there are enough rows.
const FILL: [&str; 7] = [
    "INSERT INTO mail_domain (name, rname) SELECT 'd' || n || '.example', n FROM generate_series(1, 500) n",
    "INSERT INTO account SELECT (n * 900000000000000::NUMERIC - 9223372036854775808)::BIGINT, 0, n / 5, 1 + n % 500, 'user' || n, '\\x0100' \
     FROM generate_series(1, 20000) n",
    "INSERT INTO stealer_log SELECT (n * 900000000000000::NUMERIC - 9223372036854775808)::BIGINT, 0, n / 5, 1 + n % 499, 1 \
     FROM generate_series(1, 20000) n",
    "INSERT INTO paste_account SELECT (n * 900000000000000::NUMERIC - 9223372036854775808)::BIGINT, 0, n / 5, 1 FROM generate_series(1, 20000) n",
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
    let point = match db {
        Db::Sqlite(_) => plan!(&mut db, accounts::by_key(7), ""),
        Db::Pg(_) => plan!(&mut db, accounts::one_key(7), "2048::SMALLINT, 7"),
    };
    assert_uses(&point, &["SEARCH account USING PRIMARY KEY (k=?)"], &["_pkey", "k = "]);
    let holder = plan!(&mut db, key_holders::by_digest(&[0]), "'\\x00'");
    assert_uses(&holder, &["(digest=?)"], &["digest = "]);
    let own = plan!(&mut db, key_holders::by_owner("x"), "'x'");
    assert_uses(&own, &["api_key_owner (owner=?)"], &["api_key_owner"]);
    let range = match db {
        Db::Sqlite(_) => plan!(&mut db, accounts::by_range(7, 9), ""),
        // The first value is the `LIMIT` of the domain subquery.
        Db::Pg(_) => {
            plan!(&mut db, accounts::by_range_of_any_size(7, 9), "1, 2048::SMALLINT, 7, 9")
        }
    };
    assert_uses(&range, &["SEARCH account USING PRIMARY KEY (k>? AND k<?)"], &["_pkey", "k >= "]);
    let domain = match db {
        Db::Sqlite(_) => plan!(&mut db, accounts::by_domain(7), ""),
        Db::Pg(_) => plan!(&mut db, accounts::by_indexed_domain(7), "7"),
    };
    let by_domain = "SEARCH domain_account USING PRIMARY KEY (domain_id=?)";
    let its_account = "SEARCH account USING PRIMARY KEY (k=? AND seq=?)";
    assert_uses(&domain, &[by_domain, its_account], &["domain_id_idx"]);
    let websites = plan!(&mut db, stealer_logs::by_account(7, 0), "2048::SMALLINT, 7, 0::SMALLINT");
    assert_uses(&websites, &["SEARCH stealer_log USING PRIMARY KEY (k=? AND seq=?)"], &["_pkey"]);
    let website = plan!(&mut db, stealer_logs::by_website(7), "7");
    assert_uses(&website, &["stealer_log_website (website_id=?)"], &["website_id_idx"]);
    let captured = match db {
        Db::Sqlite(_) => plan!(&mut db, stealer_logs::by_domain(7), ""),
        Db::Pg(_) => plan!(&mut db, stealer_logs::by_indexed_domain(7), "7"),
    };
    let pairs = "SEARCH stealer_log USING PRIMARY KEY (k=? AND seq=?)";
    assert_uses(&captured, &[by_domain, pairs, its_account], &["domain_id_idx"]);
    let pastes = plan!(&mut db, pastes::by_account(7, 0), "2048::SMALLINT, 7, 0::SMALLINT");
    assert_uses(
        &pastes,
        &["SEARCH paste_account USING PRIMARY KEY (k=? AND seq=?)"],
        &["paste_account_pkey"],
    );
}

#[actix_web::test]
async fn domain_search_uses_the_index_that_a_job_completed() {
    let app = App::on(testkit::Database::in_file(), |_| (), |_| ()).await;
    app.change(|db| Ok(diesel::sql_query("DELETE FROM domain_account").execute(db)?)).await;
    app.change(breaches::store::unfiled_accounts::postpone).await;
    assert!(breaches::jobs::index_domains(&app.context).unwrap());
    assert_eq!(app.change(breaches::store::domain_accounts::unfiled).await, 0);
    let mut db = app.context.pools.connect().unwrap();
    let plan = plan!(&mut db, accounts::by_domain(7), "");
    assert_uses(&plan, &["SEARCH domain_account USING PRIMARY KEY (domain_id=?)"], &[]);
}
