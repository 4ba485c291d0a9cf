//! Caching headers.

use ::buckets::Buckets;

use crate::app::Fixture;

#[actix_web::test]
async fn api_responses_are_not_cacheable() {
    let fixture = Fixture::with_samples();
    let app = fixture.serve("premium").await;
    let key = format!("Bearer {}", app.key);
    // The page and its assets are the same for all clients.
    let shared = |operation: &shell::Operation| !operation.template().starts_with("/api/");
    testkit::assert_caching::<Buckets>(&app.server, &[("authorization", &key)], shared).await;
}
