//! API keys that a server on PostgreSQL keeps in memory.

use diesel::RunQueryDsl;
use serde_json::json;

use crate::app::{App, entry};

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

/// Changes all keys without incrementing their version.
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
async fn a_transaction_increments_the_version_of_the_keys_once() {
    let Some((app, _)) = app().await else { return };
    let version = |app: &App| {
        let read = |db: &mut database::Db| breaches::store::versions::get(db, "keys_version");
        app.context.pools.read_blocking(read).unwrap().unwrap()
    };
    let before = version(&app);
    let update = "UPDATE subscription SET until = until + 1";
    run(&app, &[update, "UPDATE plan SET position = position", update]).await;
    assert_eq!(version(&app), before + 1);
    run(&app, &[update]).await;
    assert_eq!(version(&app), before + 2);
}
