//! Metrics and log paths tell nothing of who was searched; the busy binary is searched in
//! `commands`.

use crate::app::{App, TEST, ZERO};

#[actix_web::test]
async fn metrics_hold_patterns_and_never_an_address_a_prefix_or_a_key() {
    let app = App::start().await;
    for path in [
        format!("/api/v3/breachedaccount/account-exists@{TEST}"),
        "/api/v3/breachedaccount/range/567159".to_owned(),
        format!("/api/v3/nowhere/account-exists@{TEST}"),
    ] {
        app.get_with(ZERO, &path).await;
    }
    let metrics = app.server.client().get(app.server.admin_url("/metrics"));
    let text = metrics.send().await.unwrap().text().await.unwrap();
    assert!(text.contains("/api/v3/breachedAccount/{email}"), "{text}");
    for secret in ["account-exists", "567159", ZERO] {
        assert!(!text.contains(secret), "{secret}");
    }
}
