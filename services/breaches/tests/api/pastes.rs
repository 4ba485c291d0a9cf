//! Operation 15: pastes of an address.

use breaches::jobs::{Forecast, PastesOptions, SkipReason};
use serde_json::json;

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

#[actix_web::test]
async fn dry_run_counts_links_and_changes_nothing() {
    let app = App::start().await;
    let paste = |id: &str, emails: &[&str]| {
        json!({"Source": "Slexy", "Id": id, "Emails": emails}).to_string() + "\n"
    };
    app.load_pastes(&paste("1", &["linked@example.com"])).await;
    app.change(|db| {
        let email = domain::EmailAddress::parse("gone@example.com").unwrap();
        breaches::opt_out(db, &email, breaches::model::OptOut::Breaches, 0)
            .map_err(database::DatabaseError::broken)
    })
    .await;
    let before = app.change(breaches::store::pastes::count).await;
    let text = paste("1", &["linked@example.com", "new@example.com", "gone@example.com"])
        + &paste("1", &["new@example.com"])
        + &paste("2", &["linked@example.com"])
        + "no paste\n";
    let file = app.folder.write("pastes.ndjson", text);
    let options = PastesOptions { file, no_notify: false };
    let forecast = breaches::jobs::forecast_pastes(&app.context, &options).unwrap();
    let expected = Forecast {
        read: 4,
        accepted: 3,
        skipped: 1,
        new: 1,
        known: 1,
        linked: 1,
        opted_out: 1,
        reasons: [(SkipReason::Json, 1)].into(),
        skips: vec![(4, SkipReason::Json)],
        ..Forecast::default()
    };
    assert_eq!(forecast, expected);
    assert_eq!(app.change(breaches::store::pastes::count).await, before);
    let loaded = breaches::jobs::load_pastes(&app.context, &options).unwrap();
    assert_eq!(loaded.added, forecast.new + forecast.known);
}
