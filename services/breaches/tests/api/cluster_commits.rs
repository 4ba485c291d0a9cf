//! Rows that a server of a cluster had not committed when it failed, although the coordinator had.
//!
//! The tests do nothing unless they run on a Citus cluster; see `cluster.rs`.

use breaches::jobs::{AccountsOptions, clean, retire};
use breaches::model::{AccountKey, OptOut};
use breaches::store::{accounts, cluster, jobs};
use database::DatabaseError;
use diesel::RunQueryDsl;
use domain::EmailAddress;
use serde_json::json;

use crate::app::{App, entry};
use crate::cluster::{address, lines};

/// Deletes an account, and stores it again in a transaction that its server has only prepared,
/// although the coordinator has committed it.
async fn leave_uncommitted(app: &App, n: usize) {
    // Names are unique on a server, also across the databases of other tests.
    let name = format!("citus_0_1_4242_{n}");
    let statements = [
        format!(
            "CREATE TABLE kept AS SELECT *, \
             get_shard_id_for_distribution_column('account', shard) AS part \
             FROM account WHERE local = 'user{n}'"
        ),
        format!("DELETE FROM account WHERE local = 'user{n}'"),
        format!(
            "INSERT INTO pg_dist_transaction (groupid, gid) \
             SELECT groupid, '{name}' FROM pg_dist_placement JOIN kept ON shardid = part"
        ),
    ];
    app.change(|db| {
        statements.iter().try_for_each(|one| diesel::sql_query(one).execute(db).map(drop))?;
        Ok(())
    })
    .await;
    app.change(|db| {
        let prepare = format!(
            "SELECT count(*) FROM run_command_on_workers((SELECT format( \
             'BEGIN; INSERT INTO account_%s (k, seq, shard, domain_id, local, breaches) \
             VALUES (%s, %s, %s, %s, %L, %L); PREPARE TRANSACTION ''{name}''', \
             part, k, seq, shard, domain_id, local, breaches) FROM kept))"
        );
        diesel::sql_query(prepare).execute(db)?;
        Ok(())
    })
    .await;
    assert!(!is_stored(app, n).await);
}

async fn is_stored(app: &App, n: usize) -> bool {
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000)).await;
    rows.iter().any(|row| row.address() == address(n))
}

#[actix_web::test]
async fn a_removal_finds_rows_that_a_failed_server_has_not_committed_yet() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(0..1)).await;
    assert!(is_stored(&app, 0).await);
    leave_uncommitted(&app, 0).await;
    let removed = EmailAddress::parse(&address(0)).unwrap();
    app.change(|db| {
        breaches::opt_out(db, &removed, OptOut::Delete, 0)
            .map_err(|e| DatabaseError::broken(e.to_string()))
    })
    .await;
    // In the transaction of the removal, Citus could not complete any others.
    app.change(cluster::complete_commits).await;
    assert!(!is_stored(&app, 0).await);
}

#[actix_web::test]
async fn a_purge_finds_rows_that_a_failed_server_has_not_committed_yet() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(1..2)).await;
    assert!(is_stored(&app, 1).await);
    leave_uncommitted(&app, 1).await;
    retire(&app.context, "Alpha").unwrap();
    app.change(cluster::complete_commits).await;
    assert!(!is_stored(&app, 1).await);
}

#[actix_web::test]
async fn cleaning_finds_rows_that_a_failed_server_has_not_committed_yet() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(4..5)).await;
    app.change(|db| {
        diesel::sql_query("UPDATE account SET breaches = '' WHERE local = 'user4'").execute(db)?;
        Ok(())
    })
    .await;
    leave_uncommitted(&app, 4).await;
    clean(&app.context, false).unwrap();
    app.change(cluster::complete_commits).await;
    assert!(!is_stored(&app, 4).await);
}

#[actix_web::test]
async fn a_load_does_not_count_links_that_a_server_has_not_committed_yet() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(3..4)).await;
    leave_uncommitted(&app, 3).await;
    let files = vec![app.folder.write("again.txt", lines(3..4))];
    let options = AccountsOptions { breach: "Alpha".into(), files, ..AccountsOptions::default() };
    assert_eq!(breaches::jobs::load_accounts(&app.context, &options).unwrap().added, 0);
}

#[actix_web::test]
async fn a_load_ends_once_all_servers_have_committed() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    let files = vec![app.folder.write("list.txt", lines(5..6))];
    let options = AccountsOptions { breach: "Alpha".into(), files, ..AccountsOptions::default() };
    breaches::jobs::load_accounts(&app.context, &options).unwrap();
    leave_uncommitted(&app, 5).await;
    // As if the process had been killed after its last batch.
    app.change(|db| {
        let interrupt = r"UPDATE job SET state = 'failed', cursor = '\xffffffffffffff7f'";
        Ok(diesel::sql_query(interrupt).execute(db)?)
    })
    .await;
    breaches::jobs::load_accounts(&app.context, &options).unwrap();
    assert!(is_stored(&app, 5).await);
}

#[actix_web::test]
async fn a_cancelled_load_publishes_links_that_a_server_has_not_committed_yet() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(6..7)).await;
    leave_uncommitted(&app, 6).await;
    app.change(|db| Ok(diesel::sql_query("UPDATE job SET state = 'failed'").execute(db)?)).await;
    let job = app.change(jobs::all).await[0].id;
    breaches::jobs::cancel(&app.context, job).unwrap();
    assert!(is_stored(&app, 6).await);
}

#[actix_web::test]
async fn a_later_batch_does_not_count_links_that_a_server_has_not_committed_yet() {
    // The second batch of this load has 1,000 addresses.
    const ADDRESSES: usize = 6_000;
    let app = App::with(|settings| settings.load_memory_mb = 16).await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    let key = |n: &usize| AccountKey::of(&EmailAddress::parse(&address(*n)).unwrap().sha1()).0;
    let last = (0..ADDRESSES).max_by_key(key).unwrap();
    app.load("Alpha", &lines(last..last + 1)).await;
    // The lock that every batch takes.
    let lock = "SELECT pg_advisory_lock(7203591)";
    let mut before = app.context.pools.connect().unwrap();
    diesel::sql_query(lock).execute(&mut before).unwrap();
    let context = app.context.clone();
    let files = vec![app.folder.write("all.txt", lines(0..ADDRESSES))];
    let options = AccountsOptions { breach: "Alpha".into(), files, ..AccountsOptions::default() };
    let load = std::thread::spawn(move || breaches::jobs::load_accounts(&context, &options));
    testkit::until_blocking("the first batch waits", || app.waiting_for_locks() == 1);
    let mut between = app.context.pools.connect().unwrap();
    let lock_between = std::thread::spawn(move || {
        diesel::sql_query(lock).execute(&mut between).unwrap();
        between
    });
    testkit::until_blocking("the lock is requested again", || app.waiting_for_locks() == 2);
    drop(before);
    let between = lock_between.join().unwrap();
    leave_uncommitted(&app, last).await;
    drop(between);
    assert_eq!(load.join().unwrap().unwrap().added, 5_999);
}

#[actix_web::test]
async fn a_repeated_batch_does_not_count_links_that_a_server_has_not_committed_yet() {
    let app = App::start().await;
    if !app.state.layout().is_distributed() {
        return;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &lines(2..3)).await;
    leave_uncommitted(&app, 2).await;
    let mut operator = app.context.pools.connect().unwrap();
    let mut run = |statement: &str| diesel::sql_query(statement).execute(&mut operator).unwrap();
    // The lock that every batch takes.
    run("SELECT pg_advisory_lock(7203591)");
    let context = app.context.clone();
    let files = vec![app.folder.write("again.txt", lines(2..3))];
    let options = AccountsOptions { breach: "Alpha".into(), files, ..AccountsOptions::default() };
    let load = std::thread::spawn(move || breaches::jobs::load_accounts(&context, &options));
    testkit::until_blocking("the load loses its connection", || {
        run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND wait_event = 'advisory'")
            > 0
    });
    drop(operator);
    assert_eq!(load.join().unwrap().unwrap().added, 0);
}
