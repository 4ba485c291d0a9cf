//! API keys that a server on PostgreSQL keeps in memory.

use breaches::store::versions;
use diesel::RunQueryDsl;
use serde_json::json;

use crate::app::{App, entry};

/// Name of the version of the keys.
const VERSION: &str = "keys_version";

/// Starts a server with an address that is in a breach, and a key that may search for it. Returns
/// `None` on SQLite, where connections have their own caches.
async fn app() -> Option<(App, String)> {
    let app = App::start().await;
    if app.context.pools.file().is_some() {
        return None;
    }
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "someone@example.com\n").await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    Some((app, key))
}

async fn status(app: &App, key: &str) -> u16 {
    let path = "/api/v3/breachedaccount/someone@example.com";
    app.get_with(key, path).await.status().as_u16()
}

async fn run(app: &App, statements: &[&str]) {
    app.change(|db| {
        for statement in statements {
            diesel::sql_query(*statement).execute(db)?;
        }
        Ok(())
    })
    .await;
}

fn version(app: &App) -> i64 {
    let read = |db: &mut database::Db| versions::get(db, VERSION);
    app.context.pools.read_blocking(read).unwrap().unwrap()
}

/// Changes all keys without increasing their version.
async fn set_silently(app: &App, assignment: &str) {
    let update = format!("UPDATE api_key SET {assignment}");
    let without = "ALTER TABLE api_key DISABLE TRIGGER keys_of_api_key";
    let with = "ALTER TABLE api_key ENABLE TRIGGER keys_of_api_key";
    run(app, &[without, &update, with]).await;
}

/// Revokes the key once the server has cached it, in a way that the server does not notice.
async fn revoke_silently(app: &App, key: &str) {
    // A worker that is not connected yet caches nothing.
    for _ in 0..1_000 {
        app.clock.advance(60);
        set_silently(app, "revoked_at = NULL").await;
        assert_eq!(status(app, key).await, 200);
        set_silently(app, "revoked_at = 1").await;
        if status(app, key).await == 200 {
            return;
        }
    }
    panic!("the key is not cached");
}

#[actix_web::test]
async fn cached_key_is_read_again_after_every_change_that_it_depends_on() {
    let Some((app, key)) = app().await else { return };
    for change in [
        "UPDATE api_key SET revoked_at = revoked_at",
        "UPDATE subscriber SET email = email",
        "UPDATE subscription SET until = until",
        "UPDATE plan SET name = name",
        "UPDATE plan_feature SET kanon = kanon",
        "INSERT INTO plan (code, name, per_minute, burst, position) VALUES ('new', 'New', 1, 1, 1)",
        "TRUNCATE api_key",
    ] {
        revoke_silently(&app, &key).await;
        run(&app, &["UPDATE api_key SET last_used_at = 1"]).await;
        assert_eq!(status(&app, &key).await, 200, "{change}");
        run(&app, &[change]).await;
        assert_eq!(status(&app, &key).await, 401, "{change}");
    }
}

#[actix_web::test]
async fn key_is_cached_for_at_most_a_minute() {
    let Some((app, key)) = app().await else { return };
    revoke_silently(&app, &key).await;
    app.clock.advance(60);
    assert_eq!(status(&app, &key).await, 401);
}

#[actix_web::test]
async fn a_transaction_increases_the_version_of_the_keys_once() {
    let Some((app, _)) = app().await else { return };
    let update = "UPDATE subscription SET until = until + 1";
    let versions = app.change(|db| {
        // The triggers would otherwise run when the transaction ends.
        diesel::sql_query("SET CONSTRAINTS ALL IMMEDIATE").execute(db)?;
        let mut versions = vec![versions::get(db, VERSION)?];
        for statement in [update, "UPDATE plan SET position = position", update] {
            diesel::sql_query(statement).execute(db)?;
            versions.push(versions::get(db, VERSION)?);
        }
        Ok(versions)
    });
    let versions = versions.await;
    assert!(versions[0] < versions[1], "{versions:?}");
    assert_eq!(versions[1..], [versions[1]; 3]);
    run(&app, &[update]).await;
    assert!(Some(version(&app)) > versions[3]);
}

#[actix_web::test]
async fn truncated_table_increases_the_version_of_the_keys() {
    let Some((app, _)) = app().await else { return };
    for table in ["api_key", "plan_feature", "subscription", "subscriber", "plan"] {
        let before = version(&app);
        run(&app, &[&format!("TRUNCATE {table} CASCADE")]).await;
        assert!(version(&app) > before, "{table}");
    }
}

#[actix_web::test]
async fn version_of_the_keys_is_not_repeated_after_a_failover() {
    let Some((app, key)) = app().await else { return };
    let before = version(&app);
    run(&app, &["UPDATE plan SET position = position"]).await;
    revoke_silently(&app, &key).await;
    // The new server has lost the first change.
    run(&app, &[&format!("UPDATE meta SET value = {before} WHERE key = '{VERSION}'")]).await;
    run(&app, &["UPDATE api_key SET revoked_at = revoked_at"]).await;
    assert_eq!(status(&app, &key).await, 401);
}
