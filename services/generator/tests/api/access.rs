use generator::Settings;
use shell::Switch;

use testkit::Exchange;

use crate::app::App;

fn tight(anonymous: Switch) -> Settings {
    Settings { anonymous, anonymous_rpm: 60, anonymous_burst: 3, ..Settings::default() }
}

#[actix_web::test]
async fn anonymous_callers_get_429_when_their_burst_is_used_up() {
    let app = App::start_with(tight(Switch::On)).await;
    for left in ["2", "1", "0"] {
        let response = app.get("/api/Card").await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("ratelimit-limit"), "3");
        assert_eq!(response.header("ratelimit-remaining"), left);
        assert_ne!(response.header("ratelimit-reset"), "");
    }
    let response = app.get("/api/Card").await;
    assert_eq!(response.status, 429);
    assert_eq!(response.header("retry-after"), "1");
    assert_eq!(response.header("ratelimit-remaining"), "0");
    assert_eq!(response.header("content-type"), "application/problem+json; charset=utf-8");
    let body = response.json();
    assert_eq!(body["title"], "Too Many Requests");
    assert_eq!(body["type"], "https://tools.ietf.org/html/rfc6585#section-4");
    app.clock.advance(1);
    assert_eq!(app.get("/api/Card").await.status, 200);
}

#[actix_web::test]
async fn unlimited_callers_get_no_rate_limit_headers() {
    let callers = Settings { anonymous_rpm: 0, ..Settings::default() };
    let app = App::start_with(callers).await;
    for path in ["/api/Card", "/api/Name"] {
        let response = app.get(path).await;
        for name in ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] {
            assert_eq!(response.header(name), "", "{path}");
        }
    }
}

#[actix_web::test]
async fn a_request_that_fails_validation_costs_one() {
    let app = App::start_with(tight(Switch::On)).await;
    assert_eq!(app.get("/api/Name").await.header("ratelimit-remaining"), "2");
}

#[actix_web::test]
async fn key_is_checked_before_the_parameters() {
    let app = App::start_with(tight(Switch::On)).await;
    let ask = async |key: &str| {
        let request = app.server.get("/api/Card?type=Monopoly").header("X-Api-Key", key);
        request.answer().await
    };
    assert_eq!(ask("0123456789abcdef0123456789abcdef").await.status, 401);
    let (_, text) = app.issue_key();
    let response = ask(&text).await;
    assert_eq!(response.status, 400);
    assert_eq!(response.header("ratelimit-remaining"), "299");
}

#[actix_web::test]
async fn a_key_has_the_limits_of_its_plan() {
    let app = App::start_with(tight(Switch::Off)).await;
    let (_, text) = app.issue_key();
    let request = app.server.get("/api/Card").header("X-Api-Key", text.to_uppercase());
    let response = request.answer().await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("ratelimit-limit"), "300");
}

#[actix_web::test]
async fn unknown_and_revoked_keys_are_401_and_never_anonymous() {
    let app = App::start_with(tight(Switch::On)).await;
    let (key, text) = app.issue_key();
    let now = domain::Clock::unix(&app.clock);
    app.pools.write_blocking(|db| auth::revoke(db, key.id, now)).unwrap();
    for key in [text.as_str(), "0123456789abcdef0123456789abcdef", "nonsense"] {
        let request = app.server.get("/api/Card").header("X-Api-Key", key);
        let response = request.answer().await;
        assert_eq!(response.status, 401, "{key}");
        assert_eq!(response.header("www-authenticate"), "ApiKey realm=\"generator\"");
        assert_ne!(response.header("ratelimit-remaining"), "");
        let body = response.json();
        assert_eq!(body["title"], "Unauthorized");
        assert!(body.get("errors").is_none());
    }
    // Three rejected requests have used up the burst of the address.
    let request = app.server.get("/api/Card").header("X-Api-Key", "nonsense");
    assert_eq!(request.answer().await.status, 429);
}

#[actix_web::test]
async fn missing_key_is_401_if_anonymous_callers_are_off() {
    let app = App::start_with(tight(Switch::Off)).await;
    assert_eq!(app.get("/api/Card").await.status, 401);
    let empty = app.server.get("/api/Card").header("X-Api-Key", "");
    assert_eq!(empty.answer().await.status, 401);
    assert_eq!(app.get("/licenses").await.status, 200);
    assert_eq!(app.get("/openapi.json").await.status, 200);
}

#[actix_web::test]
async fn two_key_headers_are_400() {
    let app = App::start().await;
    let request = app.server.get("/api/Card").header("X-Api-Key", "a").header("X-Api-Key", "b");
    let response = request.answer().await;
    assert_eq!(response.status, 400);
    let body = response.json();
    assert_eq!(body["errors"]["X-Api-Key"][0], "The X-Api-Key header must be sent only once.");
}
