//! Rate limits on a manual clock.

use serde_json::json;

use crate::app::{App, NOW, TEST, UNKNOWN, ZERO, answer, entry, failure};

const ACCOUNT: &str = "/api/v3/breachedaccount/someone@example.com";

#[actix_web::test]
async fn burst_of_rpm_requests_passes_and_the_next_one_must_wait() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "core1").await;
    for n in 0..10 {
        let path = if n % 2 == 0 { ACCOUNT } else { "/api/v3/pasteaccount/bad" };
        assert!(matches!(app.get_with(&key, path).await.status().as_u16(), 404 | 400));
    }
    let refused = app.get_with(&key, ACCOUNT).await;
    assert_eq!(refused.headers()["retry-after"], "6");
    assert_eq!(
        answer(refused).await,
        failure(429, "Rate limit is exceeded. Try again in 6 seconds.")
    );
    app.clock.advance(5);
    assert_eq!(app.get_with(&key, ACCOUNT).await.headers()["retry-after"], "1");
    app.clock.advance(1);
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 404);
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 429);
}

#[actix_web::test]
async fn address_and_range_searches_share_a_quota() {
    let app = App::with(|settings| settings.kanon_cost = 2).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    for _ in 0..249 {
        assert_eq!(app.get_with(&key, "/api/v3/breachedaccount/range/abcdef").await.status(), 200);
    }
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 404);
    assert_eq!(app.get_with(&key, "/api/v3/breachedaccount/range/abcdef").await.status(), 429);
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 404);
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 429);
}

#[actix_web::test]
async fn stealer_log_searches_by_domain_have_a_separate_lower_limit() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "pro5").await;
    for n in 0..10 {
        let kind = if n % 2 == 0 { "website" } else { "email" };
        let path = format!("/api/v3/stealerlogsby{kind}domain/example.com");
        assert_eq!(app.get_with(&key, &path).await.status(), 403);
    }
    let refused = app.get_with(&key, "/api/v3/stealerlogsbyemaildomain/example.com").await;
    assert_eq!(
        (refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()),
        (429, "6")
    );
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 404);
    assert_eq!(app.get_with(&key, "/api/v3/stealerlogsbyemail/a@example.com").await.status(), 403);
}

#[actix_web::test]
async fn domain_search_is_limited_until_the_catalogue_changes() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    let key = app.subscriber("owner@example.org", "core1").await;
    for domain in ["example.com", "example.net"] {
        app.verify("owner@example.org", domain).await;
    }
    let path = "/api/v3/breacheddomain/example.com";
    for _ in 0..10 {
        assert_eq!(app.get_with(&key, path).await.status(), 404);
    }
    let refused = app.get_with(&key, path).await;
    assert_eq!(
        (refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()),
        (429, "60")
    );
    assert_eq!(app.get_with(&key, "/api/v3/breacheddomain/EXAMPLE.net").await.status(), 404);
    app.set_breach("Alpha", |breach| breach.title = "New title".into()).await;
    assert_eq!(app.get_with(&key, path).await.status(), 404);
    let test = format!("/api/v3/breacheddomain/{TEST}");
    for _ in 0..12 {
        assert_eq!(app.get_with(&key, &test).await.status(), 403);
    }
}

#[actix_web::test]
async fn unverified_domains_share_one_limit() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let ask = async |n: u32| {
        let path = format!("/api/v3/breacheddomain/domain{n}.example");
        app.get_with(&key, &path).await.status().as_u16()
    };
    for n in 0..120 {
        assert_eq!(ask(n).await, 403, "{n}");
    }
    assert_eq!(ask(120).await, 429);
}

#[actix_web::test]
async fn management_is_limited_to_120_a_minute() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "core1").await;
    for n in 0..120 {
        let path = if n % 2 == 0 { "subscription/status" } else { "subscribeddomains" };
        assert_eq!(app.get_with(&key, &format!("/api/v3/{path}")).await.status(), 200);
    }
    assert_eq!(app.get_with(&key, "/api/v3/subscription/status").await.status(), 429);
}

#[actix_web::test]
async fn unknown_keys_of_a_client_share_one_quota() {
    let app = App::with(|settings| settings.test_keys_rpm = 3).await;
    let path = format!("/api/v3/breachedaccount/account-exists@{TEST}");
    for key in [ZERO, UNKNOWN, "ffffffffffffffffffffffffffffffff"] {
        assert_eq!(app.get_with(key, &path).await.status(), 200);
    }
    let refused = app.get_with(ZERO, &path).await;
    assert_eq!(refused.headers()["retry-after"], "20");
    assert_eq!(app.get_with(ZERO, "/api/v3/subscription/status").await.status(), 429);
}

#[actix_web::test]
async fn configured_keyless_limit_is_enforced() {
    let app = App::with(|settings| settings.keyless_rpm_per_ip = 2).await;
    for path in ["breaches", "dataclasses"] {
        assert_eq!(app.get(&format!("/api/v3/{path}")).await.status(), 200);
    }
    let refused = app.get("/api/v3/latestbreach").await;
    assert_eq!(refused.headers()["access-control-allow-origin"], "*");
    assert_eq!(
        answer(refused).await,
        failure(429, "Rate limit is exceeded. Try again in 30 seconds.")
    );
}

#[actix_web::test]
async fn replicas_share_the_refill_and_keep_the_burst() {
    let app = App::with(|settings| settings.rate_replicas = 2).await;
    let key = app.subscriber("owner@example.org", "core1").await;
    for _ in 0..10 {
        assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 404);
    }
    assert_eq!(app.get_with(&key, ACCOUNT).await.headers()["retry-after"], "12");
    assert!(app.context.clock.unix() == NOW);
}

#[actix_web::test]
async fn new_key_does_not_refill_the_quota() {
    let app = App::start().await;
    let mut key = app.subscriber("owner@example.org", "core1").await;
    let mut answered = 0;
    for _ in 0..4 {
        for _ in 0..5 {
            answered += usize::from(app.get_with(&key, ACCOUNT).await.status() == 404);
        }
        let issue = |db: &mut database::Db| {
            auth::issue_only(db, "owner@example.org", None, None, None, NOW)
                .map_err(database::DatabaseError::broken)
        };
        key = app.change(issue).await.1;
    }
    assert_eq!(answered, 10, "the plan allows ten in a minute");
    assert_eq!(app.get_with(&key, ACCOUNT).await.status(), 429);
}
