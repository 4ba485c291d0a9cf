//! Headers for shared caches.

use calendar::Calendar;

use crate::app::App;

#[actix_web::test]
async fn api_responses_vary_by_credentials_or_are_private() {
    let app = App::new().await;
    let key = app.key("editor").to_owned();
    let bearer = format!("Bearer {key}");
    let credentials = [("x-api-key", key.as_str()), ("authorization", bearer.as_str())];
    // Pages and the feed are the same for all callers.
    let shared = |operation: &shell::Operation| operation.id().is_none_or(|id| id == "exportIcal");
    testkit::assert_caching::<Calendar>(&app.server, &credentials, shared).await;
}

#[actix_web::test]
async fn list_is_private_only_with_a_key() {
    let app = App::new().await;
    let list = app.get_as("editor", "/events").await.expect(200);
    assert_eq!(list.header("cache-control"), "private, no-cache");
    let list = app.get("/events").await.expect(200);
    assert_eq!(list.header("cache-control"), "");
}
