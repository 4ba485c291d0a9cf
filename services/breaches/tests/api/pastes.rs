//! Operation 15: pastes of an address.

use crate::app::{App, TEST, ZERO};

#[actix_web::test]
async fn answers_for_found_missing_and_invalid_addresses_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        format!("pasteAccount/account-exists@{TEST}"),
        format!("pasteAccount/multiple-breaches@{TEST}"),
        "pasteAccount/unknown".to_owned(),
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}
