//! Headers for shared caches.

use generator::{Generator, Settings};
use shell::Switch;
use testkit::Exchange;

use crate::app::App;

#[actix_web::test]
async fn only_lists_that_are_equal_for_all_callers_are_publicly_cacheable() {
    let app = App::start().await;
    let (_, key) = app.issue_key();
    let shared = |operation: &shell::Operation| {
        let id = operation.id().unwrap_or("page");
        id.starts_with("list") || id == "readLicenses" || id == "page"
    };
    testkit::assert_caching::<Generator>(&app.server, &[("x-api-key", &key)], shared).await;
}

#[actix_web::test]
async fn lists_are_private_where_a_key_is_required() {
    let app = App::start_with(Settings { anonymous: Switch::Off, ..Settings::default() }).await;
    let (_, key) = app.issue_key();
    let request = app.server.get("/api/Misc/Cultures").header("x-api-key", &key);
    let response = request.answer().await;
    assert_eq!((response.status, response.header("cache-control")), (200, "private, no-cache"));
    assert!(response.header("vary").to_lowercase().contains("x-api-key"));
}
