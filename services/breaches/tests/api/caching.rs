//! The responses that shared caches may store.

use breaches::{Access, Breaches, access};

use crate::app::App;

#[actix_web::test]
async fn only_keyless_answers_may_be_cached_by_others() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let shared =
        |operation: &shell::Operation| !matches!(access(operation.template()), Access::Keyed(_));
    for name in ["hibp-api-key", "breach-api-key"] {
        testkit::assert_caching::<Breaches>(&app.server, &[(name, &key)], shared).await;
    }
}

#[actix_web::test]
async fn pages_vary_by_cookie_and_files_do_not() {
    let app = App::start().await;
    let cookie = format!("session={0}; visitor={0}", "0".repeat(64));
    let shared = |operation: &shell::Operation| {
        let path = operation.template();
        access(path) != Access::Page || path == "/feed.xml" || path.starts_with("/assets/")
    };
    testkit::assert_caching::<Breaches>(&app.server, &[("cookie", &cookie)], shared).await;
}
