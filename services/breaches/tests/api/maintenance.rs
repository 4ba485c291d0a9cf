//! Maintenance after loads continues even if part of it fails.

use breaches::jobs::recount_domains;
use breaches::store::{domain_controls, versions};
use database::{DatabaseError, Db};
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;

use crate::app::{App, entry};

/// Makes the database reject the size of a domain.
fn refuse(db: &mut Db, domain: &str) -> Result<(), DatabaseError> {
    let statements = match db {
        Db::Sqlite(_) => format!(
            "CREATE TRIGGER refuse BEFORE UPDATE ON domain_control WHEN NEW.domain = '{domain}' \
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
        Db::Pg(_) => format!(
            "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE 'refused'; END $$ LANGUAGE plpgsql; \
             CREATE TRIGGER refuse BEFORE UPDATE ON domain_control FOR EACH ROW \
             WHEN (NEW.domain = '{domain}') EXECUTE FUNCTION refuse()"
        ),
    };
    Ok(db.batch_execute(&statements)?)
}

#[actix_web::test]
async fn failing_domain_delays_neither_other_domains_nor_the_next_round() {
    let app = App::start().await;
    app.import(&serde_json::json!([entry("Alpha")])).await;
    app.subscriber("owner@example.org", "pro1").await;
    for domain in ["a.example", "b.example", "c.example"] {
        app.verify("owner@example.org", domain).await;
    }
    app.load("Alpha", "x@a.example\nx@b.example\nx@c.example\nx@new.c.example\n").await;
    app.change(|db| refuse(db, "b.example")).await;
    let version = app.state.snapshot_versions();
    let sizes = || {
        let all = app.context.pools.read_blocking(|db| domain_controls::all(db, 1)).unwrap();
        all.into_iter().map(|control| control.size_now.unwrap_or(-1)).collect::<Vec<_>>()
    };
    assert!(recount_domains(&app.state, version).await.is_err());
    assert_eq!(sizes(), [1, 0, 1, 1]);
    // The lease was released immediately.
    app.change(|db| {
        let table = if matches!(db, Db::Pg(_)) { " ON domain_control" } else { "" };
        diesel::sql_query(format!("DROP TRIGGER refuse{table}")).execute(db)?;
        Ok(())
    })
    .await;
    assert!(recount_domains(&app.state, version).await.unwrap());
    assert_eq!(sizes(), [1, 1, 1, 1]);
}

/// Makes the database give the lease to another replica when the count of a domain is written.
fn take_lease_away(db: &mut Db, domain: &str) -> Result<(), DatabaseError> {
    let take = "UPDATE meta SET value = 9999999999 WHERE key = 'maintenance_until'";
    let statements = match db {
        Db::Sqlite(_) => format!(
            "CREATE TRIGGER lose AFTER UPDATE ON domain_control WHEN NEW.domain = '{domain}' \
             BEGIN {take}; END"
        ),
        Db::Pg(_) => format!(
            "CREATE FUNCTION lose() RETURNS trigger AS $$ BEGIN {take}; RETURN NULL; END $$ LANGUAGE plpgsql; \
             CREATE TRIGGER lose AFTER UPDATE ON domain_control FOR EACH ROW \
             WHEN (NEW.domain = '{domain}') EXECUTE FUNCTION lose()"
        ),
    };
    Ok(db.batch_execute(&statements)?)
}

#[actix_web::test]
async fn replica_that_lost_the_lease_writes_no_count_and_leaves_the_lease() {
    let app = App::start().await;
    app.import(&serde_json::json!([entry("Alpha")])).await;
    app.subscriber("owner@example.org", "pro1").await;
    for domain in ["a.example", "b.example"] {
        app.verify("owner@example.org", domain).await;
    }
    app.load("Alpha", "x@a.example\nx@b.example\n").await;
    app.change(|db| take_lease_away(db, "a.example")).await;
    let version = app.state.snapshot_versions();
    assert!(!recount_domains(&app.state, version).await.unwrap());
    let all = app.context.pools.read_blocking(|db| domain_controls::all(db, 1)).unwrap();
    let sizes: Vec<_> = all.into_iter().map(|control| control.size_now.unwrap_or(-1)).collect();
    assert_eq!(sizes, [1, 0], "the other replica counts b.example");
    let until = app.change(|db| versions::get(db, "maintenance_until")).await;
    assert_eq!(until, Some(9_999_999_999), "the lease of the other replica");
}

#[actix_web::test]
async fn domains_are_counted_again_after_a_failover_that_lost_a_load() {
    let app = App::start().await;
    app.import(&serde_json::json!([entry("Alpha")])).await;
    app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "a.example").await;
    app.load("Alpha", "x@a.example\n").await;
    let lost = app.state.snapshot_versions();
    assert!(recount_domains(&app.state, lost).await.unwrap());
    // The new server has not seen that load, so the next one has the same catalogue version.
    app.clock.advance(60);
    app.load("Alpha", "y@a.example\nz@a.example\n").await;
    app.change(|db| versions::set(db, versions::CATALOGUE_VERSION, lost.catalogue)).await;
    let next = app.state.snapshot_versions();
    assert_eq!(next.catalogue, lost.catalogue);
    assert!(recount_domains(&app.state, next).await.unwrap());
    let all = app.context.pools.read_blocking(|db| domain_controls::all(db, 1)).unwrap();
    assert_eq!(all[0].size_now, Some(3));
}
