//! Headers for shared caches.

use passwords::Passwords;

use crate::app::{App, Data};

#[actix_web::test]
async fn no_answer_depends_on_credentials() {
    let data = Data::new();
    let app = App::start(&data).await;
    let credentials = [("authorization", "Bearer x"), ("cookie", "a=b"), ("x-api-key", "x")];
    testkit::assert_caching::<Passwords>(app.server(), &credentials, |_| true).await;
}
