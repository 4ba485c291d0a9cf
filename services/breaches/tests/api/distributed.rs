//! Every write mentions the key of its rows, and the migration distributes the tables.

use breaches::jobs::{AccountsOptions, clean, retire};
use breaches::model::OptOut;
use breaches::store::{account_links, pastes};
use database::DatabaseError;
use diesel::RunQueryDsl;
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use domain::EmailAddress;
use parking_lot::Mutex;
use regex::Regex;
use serde_json::json;

use crate::app::{App, entry};
use crate::commands::command;

/// The statements of all of this process's connections, including other tests'.
static STATEMENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn recorder() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string().to_lowercase().replace(['"', '`'], "");
            if is_distributed_write(&text) {
                STATEMENTS.lock().push(text);
            }
        }
    }))
}

fn is_distributed_write(statement: &str) -> bool {
    let tables = r"(account|stealer_log|paste_account)\b";
    let write = r"(insert( or ignore)? into|update|delete\s+from)";
    Regex::new(&format!(r"^\s*{write}\s+{tables}")).unwrap().is_match(statement)
}

/// Returns whether a write mentions its keys: an insert in its columns, any other statement in a
/// condition.
fn names_key(statement: &str) -> bool {
    let columns = Regex::new(r"^\s*insert[^(]*\(([^)]*)\)").unwrap();
    if let Some(found) = columns.captures(statement) {
        return found[1].split(',').any(|column| column.trim() == "k");
    }
    let condition = statement.split_once(" where ").map_or("", |(_, condition)| condition);
    Regex::new(r"\bk\)?\s*(=|between\b|in\b)").unwrap().is_match(condition)
}

#[test]
fn writes_without_a_key_are_detected() {
    for (statement, expected) in [
        ("insert into account (seq, k) values ($1, $2)", true),
        ("insert into account (seq, local) values ($1, $2)", false),
        ("update account set breaches = $1 where ((account.k = $2) and (account.seq = $3))", true),
        ("update account set k = $1 where (account.domain_id = $2)", false),
        ("delete  from paste_account where (paste_account.paste_id = $1)", false),
        ("delete  from stealer_log where ((stealer_log.k between $1 and $2) and x = $3)", true),
    ] {
        assert!(is_distributed_write(statement));
        assert_eq!(names_key(statement), expected, "{statement}");
    }
    assert!(!is_distributed_write("insert into domain_account (domain_id, k) values ($1, $2)"));
}

/// Replaces the Citus extension, and records which tables are distributed.
const FAKE_EXTENSION: &str = "
    CREATE TABLE laid_out (name TEXT, key TEXT, colocated TEXT);
    CREATE FUNCTION create_distributed_table(name TEXT, key TEXT, colocate_with TEXT DEFAULT '') RETURNS void
        LANGUAGE sql AS 'INSERT INTO laid_out VALUES (name, key, colocate_with)';
    CREATE FUNCTION create_distributed_function(name TEXT) RETURNS void
        LANGUAGE sql AS 'SELECT NULL';
    CREATE FUNCTION create_reference_table(name TEXT) RETURNS void
        LANGUAGE sql AS 'INSERT INTO laid_out VALUES (name, NULL, NULL)';";

#[test]
fn migrate_distributes_by_key_if_the_extension_exists() {
    #[derive(diesel::QueryableByName)]
    struct LaidOut {
        #[diesel(sql_type = diesel::sql_types::Text)]
        text: String,
    }
    let (database, folder) = (testkit::Database::new(), testkit::Folder::new());
    let run = |arguments: &[&str]| command(&database, &folder, arguments).output().unwrap();
    let refused = run(&["migrate", "--distributed"]);
    let output = String::from_utf8_lossy(&refused.stderr).into_owned();
    let errors = output.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!((refused.status.code(), errors), (Some(1), 1), "{output}");
    if database.file().is_some() {
        assert!(output.contains("needs a PostgreSQL database"), "{output}");
        return;
    }
    assert!(output.contains("the citus extension is not installed"), "{output}");
    let execute = |db: &mut database::Db, statement: &str| {
        diesel::connection::SimpleConnection::batch_execute(db, statement)
    };
    // The migrations depend on the layout.
    let conn = <diesel::PgConnection as diesel::Connection>::establish(database.url()).unwrap();
    let mut db = database::Db::Pg(conn);
    execute(&mut db, FAKE_EXTENSION).unwrap();
    assert!(run(&["migrate", "--distributed"]).status.success());
    let found: Vec<LaidOut> =
        diesel::sql_query("SELECT concat_ws(' ', name, key, colocated) AS text FROM laid_out")
            .load(&mut db)
            .unwrap();
    let found: Vec<&str> = found.iter().map(|row| row.text.trim()).collect();
    let by_shard = [
        "account shard",
        "stealer_log shard account",
        "paste_account shard account",
        "staged shard account",
    ];
    assert_eq!(found, [&by_shard[..], &["mail_domain"]].concat());
    assert!(run(&["migrate", "--distributed"]).status.success());
    // It works like any other database, except that its staging table is not actually distributed.
    let shown = run(&["address", "show", "account-exists@breach-integration-tests.example"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Acmegram"));
    // A database on a single server stays there.
    let single = testkit::Database::new();
    let run = |arguments: &[&str]| command(&single, &folder, arguments).output().unwrap();
    assert!(run(&["migrate"]).status.success());
    let refused = run(&["migrate", "--distributed"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("are already on a single server"));
}

#[actix_web::test]
async fn account_partitions_leave_space_for_longer_lists() {
    #[derive(diesel::QueryableByName)]
    struct Parts {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        parts: i64,
    }
    let app = App::start().await;
    let mut db = app.context.pools.connect().unwrap();
    if let database::Db::Pg(conn) = &mut db {
        let query = "SELECT count(*) AS parts FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid \
                     WHERE inhparent = 'account'::regclass AND reloptions @> '{fillfactor=90}'";
        let found: Parts = diesel::sql_query(query).get_result(conn).unwrap();
        assert_eq!(found.parts, 16);
    }
}

#[actix_web::test]
async fn every_write_to_a_distributed_table_names_its_key() {
    set_default_instrumentation(recorder).unwrap();
    let app = App::start().await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([entry("Alpha"), entry("Beta"), logs])).await;
    let lines: String = (0..1_500).map(|n| format!("user{n}@example.com\n")).collect();
    app.load("Alpha", &lines[..lines.len() / 2]).await;
    app.load("Beta", &lines).await;
    app.folder.write("a.txt", "one@example.com\nuser1@example.com\n");
    let manifest = Some(app.folder.write("manifest", "Alpha a.txt\nBeta a.txt\n"));
    let options = AccountsOptions { manifest, ..AccountsOptions::default() };
    breaches::jobs::load_accounts(&app.context, &options).unwrap();
    app.load_pairs(
        "Logs",
        "email,website\nuser1@example.com,shop.example\nuser9@example.com,shop.example\n",
    )
    .await;
    let paste = json!({"Source": "Pastebin", "Id": "1", "Emails": ["user2@example.com"]});
    app.load_pastes(&paste.to_string()).await;
    app.change(|db| {
        let email = |text| EmailAddress::parse(text).map_err(DatabaseError::broken);
        breaches::opt_out(db, &email("user2@example.com")?, OptOut::Delete, 0)
            .map_err(DatabaseError::broken)?;
        account_links::link_one(db, &email("ada@corp.example:x")?, 1)?;
        account_links::ensure(db, &email("empty@example.com")?)?;
        pastes::remove(db, "Pastebin", "1")
    })
    .await;
    clean(&app.context, false).unwrap();
    retire(&app.context, "Alpha").unwrap();
    retire(&app.context, "Logs").unwrap();
    let statements = STATEMENTS.lock();
    for sign in [
        "into account",
        "update account",
        "from account",
        "into stealer_log",
        "from stealer_log",
        "into paste_account",
        "from paste_account",
    ] {
        assert!(statements.iter().any(|statement| statement.contains(sign)), "{sign}");
    }
    let without: Vec<_> = statements.iter().filter(|statement| !names_key(statement)).collect();
    assert!(without.is_empty(), "{without:#?}");
}
