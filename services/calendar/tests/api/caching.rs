//! What shared caches may keep.

use calendar::Calendar;

use crate::app::App;

#[actix_web::test]
async fn no_answer_of_the_interface_may_be_shared_with_a_caller_of_less_rights() {
    let app = App::new().await;
    let key = app.key("editor").to_owned();
    let bearer = format!("Bearer {key}");
    let credentials = [("x-api-key", key.as_str()), ("authorization", bearer.as_str())];
    // Pages and the feed show what everybody may see, whoever asks.
    let shared = |operation: &shell::Operation| operation.id().is_none_or(|id| id == "exportIcal");
    testkit::assert_caching::<Calendar>(&app.server, &credentials, shared).await;
}

#[actix_web::test]
async fn the_list_of_an_editor_is_private_and_the_public_one_varies() {
    let app = App::new().await;
    let list = app.get_as("editor", "/events").await.expect(200);
    assert_eq!(list.header("cache-control"), "private, no-cache");
    let list = app.get("/events").await.expect(200);
    assert_eq!(list.header("cache-control"), "");
}
