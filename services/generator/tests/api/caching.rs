//! Headers for shared caches.

use generator::Generator;

use crate::app::App;

#[actix_web::test]
async fn only_lists_that_are_the_same_for_everybody_may_be_shared() {
    let app = App::start().await;
    let (_, key) = app.issue_key();
    let shared = |operation: &shell::Operation| {
        let id = operation.id().unwrap_or("page");
        id.starts_with("list") || id == "readLicenses" || id == "page"
    };
    testkit::assert_caching::<Generator>(&app.server, &[("x-api-key", &key)], shared).await;
}
