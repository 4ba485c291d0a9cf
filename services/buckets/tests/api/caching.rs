//! What shared caches may keep.

use ::buckets::Buckets;

use crate::app::Fixture;

#[actix_web::test]
async fn no_answer_of_the_interface_may_be_shared() {
    let fixture = Fixture::with_samples();
    let app = fixture.serve("premium").await;
    let key = format!("Bearer {}", app.key);
    // The page and its files are the same for everybody.
    let shared = |operation: &shell::Operation| !operation.template().starts_with("/api/");
    testkit::assert_caching::<Buckets>(&app.server, &[("authorization", &key)], shared).await;
}
