//! `accounts clean` and `doctor`: accounts without data, and text that older versions stored as
//! addresses.

use breaches::jobs::{Cleaned, JobContext, JobError, clean, examine};
use breaches::store::{
    account_links, accounts, breaches as store_breaches, mail_domains, stealer_logs, versions,
};
use database::{Backend, DatabaseError, Db, transaction};
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{QueryableByName, RunQueryDsl, sql_query};
use domain::EmailAddress;
use serde_json::json;
use testkit::until_blocking;

use crate::app::{App, entry};

async fn addresses(app: &App) -> Vec<String> {
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000)).await;
    let mut found: Vec<String> = rows.into_iter().map(|row| row.address()).collect();
    found.sort();
    found
}

async fn app() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([entry("Alpha"), logs])).await;
    app
}

#[actix_web::test]
async fn retiring_a_breach_removes_accounts_without_other_data() {
    let app = app().await;
    app.load("Alpha", "alone@example.com\npasted@example.com\ncaptured@example.com\n").await;
    let pairs = "email,website\ncaptured@example.com,shop.example\nonly@example.com,shop.example\n";
    app.load_pairs("Logs", pairs).await;
    let paste = json!({"Source": "Pastebin", "Id": "1", "Emails": ["pasted@example.com"]});
    app.load_pastes(&paste.to_string()).await;
    breaches::jobs::retire(&app.context, "Alpha").unwrap();
    let left = ["captured@example.com", "only@example.com", "pasted@example.com"];
    assert_eq!(addresses(&app).await, left);
    assert!(examine(&app.context).unwrap().is_sound());
    breaches::jobs::retire(&app.context, "Logs").unwrap();
    assert_eq!(addresses(&app).await, ["pasted@example.com"]);
}

#[test]
fn removing_the_last_link_removes_the_account() {
    let operator = crate::commands::Operator::new();
    let address = "sensitive-breach@breach-integration-tests.example";
    operator.run(&["address", "remove", address, "--breach", "Duskmatch"]);
    assert_eq!(operator.json(&["address", "show", address])["stored"], false);
}

#[actix_web::test]
async fn leftovers_of_older_versions_are_counted_and_cleaned() {
    let app = app().await;
    app.load("Alpha", "kept@example.com\nada@corp.example\n").await;
    app.change(|db| {
        let parse = |text| EmailAddress::parse(text).map_err(DatabaseError::broken);
        for text in [
            "eve@corp.example:hunter2",
            "ada@corp.example;hunter2",
            "<bob@corp.example>",
            "mailto:lea@corp.example",
            "x@y:z.example",
        ] {
            account_links::link_one(db, &parse(text)?, 1)?;
            store_breaches::add_counts(db, 1, 1)?;
        }
        account_links::ensure(db, &parse("nothing@example.com")?)?;
        Ok(())
    })
    .await;
    let found = examine(&app.context).unwrap();
    assert_eq!((found.empty, found.odd_domains, found.odd_addresses), (1, 4, 5));
    assert!(!found.is_sound());
    let all = Cleaned { examined: 8, empty: 1, odd: 5, rescued: 4, domains: 4, websites: 0 };
    assert_eq!(clean(&app.context, true).unwrap(), all);
    assert_eq!(addresses(&app).await.len(), 8);
    let cleaned = clean(&app.context, false).unwrap();
    assert_eq!((cleaned.empty, cleaned.odd, cleaned.rescued, cleaned.domains), (1, 5, 4, 4));
    let left = [
        "ada@corp.example",
        "bob@corp.example",
        "eve@corp.example",
        "kept@example.com",
        "lea@corp.example",
    ];
    assert_eq!(addresses(&app).await, left);
    assert!(examine(&app.context).unwrap().is_sound());
    let alpha = app.change(|db| store_breaches::by_name(db, "Alpha")).await.unwrap();
    assert_eq!((alpha.loaded_count, alpha.pwn_count), (5, 5));
    assert_eq!(clean(&app.context, false).unwrap().odd, 0);
}

#[actix_web::test]
async fn interrupted_cleanup_changes_the_version_that_servers_watch() {
    let app = app().await;
    app.change(|db| {
        let odd = EmailAddress::parse("ada@corp.example;hunter2").map_err(DatabaseError::broken)?;
        account_links::link_one(db, &odd, 1)?;
        store_breaches::add_counts(db, 1, 1)?;
        Ok(())
    })
    .await;
    let before = app.change(versions::current).await;
    clean(&app.context, true).unwrap();
    assert_eq!(app.change(versions::current).await, before);
    let rename = async |from: &str, to: &str| {
        let rename = format!("ALTER TABLE {from} RENAME TO {to}");
        app.change(|db| Ok(sql_query(rename).execute(db)?)).await;
    };
    // The last transaction fails, as if the process had been killed before it.
    rename("admin_event", "missing").await;
    clean(&app.context, false).unwrap_err();
    rename("missing", "admin_event").await;
    assert_eq!(addresses(&app).await, ["ada@corp.example"]);
    assert!(app.change(versions::current).await.catalogue > before.catalogue);
}

#[actix_web::test]
async fn rescued_address_is_not_linked_to_a_retired_breach() {
    let app = app().await;
    app.import(&json!([entry("Beta")])).await;
    app.change(|db| {
        let odd = EmailAddress::parse("ada@corp.example;hunter2").map_err(DatabaseError::broken)?;
        for name in ["Alpha", "Beta"] {
            let id = store_breaches::by_name(db, name)?.ok_or(DatabaseError::NotFound)?.id;
            account_links::link_one(db, &odd, id)?;
            store_breaches::add_counts(db, id, 1)?;
        }
        Ok(())
    })
    .await;
    // Its purge is running.
    app.set_breach("Alpha", |breach| breach.flags.retired = true).await;
    assert_eq!(clean(&app.context, false).unwrap().rescued, 1);
    assert_eq!(addresses(&app).await, ["ada@corp.example"]);
    let mut loaded = Vec::new();
    for name in ["Alpha", "Beta"] {
        loaded.extend(app.change(|db| store_breaches::by_name(db, name)).await);
    }
    let found: Vec<i64> = loaded.iter().map(|breach| breach.loaded_count).collect();
    assert_eq!(found, [0, 1]);
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 10)).await;
    assert_eq!(rows[0].breaches, loaded[1].id.to_le_bytes());
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Returns the number of rows in the tables of accounts and domains, and the number of accounts in
/// runs.
async fn stored(app: &App) -> Vec<i64> {
    let count = |db: &mut Db| -> Result<Vec<i64>, DatabaseError> {
        let mut wanted =
            vec!["count(*) AS number FROM account", "count(*) AS number FROM mail_domain"];
        if matches!(db, Db::Sqlite(_)) {
            wanted.push("count(*) AS number FROM domain_account");
            wanted.push("coalesce(sum(accounts), 0) AS number FROM account_run");
        }
        let mut found = Vec::new();
        for wanted in wanted {
            let number: Number = sql_query(format!("SELECT {wanted}")).get_result(db)?;
            found.push(number.number);
        }
        Ok(found)
    };
    app.change(count).await
}

#[actix_web::test]
async fn dry_run_of_cleaning_keeps_runs_and_reports_the_real_counts() {
    let app = app().await;
    app.import(&json!([entry("Beta")])).await;
    let lines: String = (0..40).map(|n| format!("user{n}@example.com\n")).collect();
    app.load("Alpha", &lines).await;
    // On SQLite, these are in a run.
    app.load("Beta", "ada@odd.example\nbob@odd.example\nuser1@example.com\n").await;
    app.change(|db| {
        let renamed = "UPDATE mail_domain SET name = 'odd.example:x' WHERE name = 'odd.example'";
        sql_query(renamed).execute(db)?;
        Ok(())
    })
    .await;
    let before = stored(&app).await;
    let expected = Cleaned { examined: 42, empty: 0, odd: 2, rescued: 2, domains: 1, websites: 0 };
    assert_eq!(clean(&app.context, true).unwrap(), expected);
    assert_eq!(stored(&app).await, before);
    assert_eq!(clean(&app.context, false).unwrap(), expected);
    let left = addresses(&app).await;
    assert_eq!(left.len(), 42);
    assert!(left.contains(&"ada@odd.example".to_owned()), "{left:?}");
    assert!(examine(&app.context).unwrap().is_sound());
}

#[actix_web::test]
async fn passwords_stored_as_websites_are_removed() {
    let app = app().await;
    app.load_pairs(
        "Logs",
        "email,website\na@example.com,shop.example\nb@example.com,game.example\n",
    )
    .await;
    // An older version would have stored this text, taken from the column next to the address.
    app.change(|db| {
        let renamed = "UPDATE mail_domain SET name = 'correct.battery' WHERE name = 'game.example'";
        sql_query(renamed).execute(db)?;
        Ok(())
    })
    .await;
    let before = examine(&app.context).unwrap();
    assert_eq!((before.odd_websites, before.stealer_pairs, before.is_sound()), (1, 2, false));
    assert_eq!(clean(&app.context, true).unwrap().websites, 1);
    assert_eq!(examine(&app.context).unwrap(), before);
    assert_eq!(clean(&app.context, false).unwrap().websites, 1);
    let after = examine(&app.context).unwrap();
    assert_eq!((after.odd_websites, after.stealer_pairs, after.is_sound()), (0, 1, true));
    let names: Vec<String> = app
        .change(|db| {
            use breaches::store::schema::mail_domain::dsl::{mail_domain, name};
            Ok(diesel::QueryDsl::select(mail_domain, name).load(db)?)
        })
        .await;
    assert!(!names.contains(&"correct.battery".to_owned()), "{names:?}");
    // The account is kept, because its link to the breach is correct.
    assert_eq!(addresses(&app).await, ["a@example.com", "b@example.com"]);
}

/// The processes that wait for a table.
const WAITING: &str = "FROM pg_locks WHERE locktype = 'relation' AND NOT granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

fn number(db: &mut Db, query: &str) -> i64 {
    let found: Number = sql_query(query).get_result(db).unwrap();
    found.number
}

/// Does some work while a table is locked, and calls `meanwhile` once it waits for the table.
fn while_locked<T: Send + 'static>(
    app: &App,
    table: &str,
    work: fn(&JobContext) -> Result<T, JobError>,
    meanwhile: impl FnOnce(&mut Db),
) -> T {
    let context = app.context.clone();
    let mut db = app.context.pools.connect().unwrap();
    let working = transaction(&mut db, |db| {
        sql_query(format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).execute(db)?;
        let working = std::thread::spawn(move || work(&context));
        let waiting = format!("SELECT count(*) AS number {WAITING}");
        until_blocking("the work waits", || number(db, &waiting) == 1);
        meanwhile(db);
        Ok::<_, DatabaseError>(working)
    });
    working.unwrap().join().unwrap().unwrap()
}

/// Ends the connection that waits for a table.
fn end_waiting(db: &mut Db) {
    let lost = format!("SELECT count(pg_terminate_backend(pid)) AS number {WAITING}");
    assert_eq!(number(db, &lost), 1);
}

/// Returns whether the database is a single PostgreSQL server.
fn is_on_server(app: &App) -> bool {
    app.context.pools.backend() == Backend::Postgres && !app.state.layout().is_distributed()
}

#[actix_web::test]
async fn cleaning_continues_after_its_connection_was_lost() {
    let app = app().await;
    if !is_on_server(&app) {
        return;
    }
    app.change(|db| {
        let empty = EmailAddress::parse("nothing@example.com").map_err(DatabaseError::broken)?;
        account_links::ensure(db, &empty)
    })
    .await;
    let cleaned = while_locked(&app, "account", |context| clean(context, false), end_waiting);
    assert_eq!((cleaned.examined, cleaned.empty), (1, 1));
}

#[actix_web::test]
async fn doctor_continues_after_its_connection_was_lost() {
    let app = app().await;
    if !is_on_server(&app) {
        return;
    }
    app.load("Alpha", "ada@corp.example\n").await;
    let found = while_locked(&app, "account", examine, end_waiting);
    assert_eq!((found.accounts, found.sampled, found.is_sound()), (1, 1, true));
}

#[actix_web::test]
async fn cleaning_reads_names_without_holding_up_other_writers() {
    let app = app().await;
    if !is_on_server(&app) {
        return;
    }
    app.change(|db| {
        let website_id = mail_domains::ids(db, &["correct.battery"])?["correct.battery"];
        let pair = stealer_logs::NewPair { k: 1, seq: 0, website_id, breach_id: 1 };
        stealer_logs::add(db, &[pair])
    })
    .await;
    let clean = |context: &JobContext| clean(context, false);
    let cleaned = while_locked(&app, "stealer_log", clean, |db| {
        let held = "SELECT count(*) AS number FROM pg_locks WHERE objid = 7203591 AND granted \
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        assert_eq!(number(db, held), 0);
    });
    assert_eq!(cleaned.websites, 1);
}

#[actix_web::test]
async fn doctor_reports_structural_faults() {
    let app = app().await;
    assert!(examine(&app.context).unwrap().is_sound());
    let mut db = app.context.pools.connect().unwrap();
    let Db::Sqlite(conn) = &mut db else { return };
    conn.batch_execute(
        "PRAGMA foreign_keys = OFF; \
         INSERT INTO session (digest, subscriber_id, expires_at) VALUES (x'00', 999, 1)",
    )
    .unwrap();
    let found = examine(&app.context).unwrap();
    assert_eq!((found.structural_faults, found.is_sound()), (1, false));
}

#[actix_web::test]
async fn missing_domains_of_accounts_are_counted_and_named() {
    let app = app().await;
    app.import(&json!([entry("Beta")])).await;
    let lines: String = (0..40).map(|n| format!("user{n}@example.com\n")).collect();
    app.load("Alpha", &lines).await;
    // On SQLite, these are in a run.
    app.load("Beta", "ada@corp.example\nbob@corp.example\n").await;
    assert_eq!(examine(&app.context).unwrap().missing_domains, 0);
    app.change(|db| {
        let delete = "DELETE FROM mail_domain WHERE name IN ('example.com', 'corp.example')";
        Ok(sql_query(delete).execute(db)?)
    })
    .await;
    let found = examine(&app.context).unwrap();
    assert_eq!((found.missing_domains, found.is_sound()), (2, false));
    // PostgreSQL ignores such accounts.
    if app.context.pools.backend() == Backend::Sqlite {
        let failed = clean(&app.context, true).unwrap_err().to_string();
        assert!(failed.contains("row") && failed.contains("of mail_domain"), "{failed}");
    }
}
