//! What shared caches may keep.

use breaches::{Access, Breaches, access};

use crate::app::App;

#[actix_web::test]
async fn only_operations_without_a_key_may_be_shared() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let shared =
        |operation: &shell::Operation| !matches!(access(operation.template()), Access::Keyed(_));
    for name in ["hibp-api-key", "breach-api-key"] {
        testkit::assert_caching::<Breaches>(&app.server, &[(name, &key)], shared).await;
    }
}

#[actix_web::test]
async fn pages_depend_on_the_cookie_and_files_do_not() {
    let app = App::start().await;
    let cookie = format!("session={0}; visitor={0}", "0".repeat(64));
    let shared = |operation: &shell::Operation| {
        let path = operation.template();
        access(path) != Access::Page || path == "/feed.xml" || path.starts_with("/assets/")
    };
    testkit::assert_caching::<Breaches>(&app.server, &[("cookie", &cookie)], shared).await;
}
