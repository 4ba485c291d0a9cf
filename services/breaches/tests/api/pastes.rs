//! Operation 15.

use crate::app::{App, TEST, ZERO};

#[actix_web::test]
async fn whole_answers() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        format!("pasteAccount/account-exists@{TEST}"),
        format!("pasteAccount/multiple-breaches@{TEST}"),
        "pasteAccount/nobody".to_owned(),
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}
