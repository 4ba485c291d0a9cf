//! Operation 15: pastes of an address.

use breaches::jobs::{Forecast, PastesOptions, SkipReason, load_pastes};
use breaches::store::schema::outbox;
use breaches::store::{Layout, jobs};
use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use diesel::{QueryDsl, RunQueryDsl, TextExpressionMethods};
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
            .map_err(DatabaseError::broken)
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
    let loaded = load_pastes(&app.context, &options).unwrap();
    assert_eq!(loaded.added, forecast.new + forecast.known);
}

/// Makes the database reject an account.
fn refuse(db: &mut Db, local: &str) -> Result<(), DatabaseError> {
    let statements = match db {
        Db::Sqlite(_) => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON account WHEN NEW.local = '{local}' \
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
        Db::Pg(_) => format!(
            "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE 'refused'; END $$ LANGUAGE plpgsql; \
             CREATE TRIGGER refuse BEFORE INSERT ON account FOR EACH ROW \
             WHEN (NEW.local = '{local}') EXECUTE FUNCTION refuse()"
        ),
    };
    Ok(db.batch_execute(&statements)?)
}

#[actix_web::test]
async fn cancelled_load_announces_the_addresses_that_it_has_linked() {
    for (no_notify, messages) in [(false, 1), (true, 0)] {
        let app = App::start().await;
        if app.change(Layout::of).await.is_distributed() {
            return;
        }
        app.subscriber("corp@example.org", "pro1").await;
        app.verify("corp@example.org", "load.example").await;
        let emails: Vec<String> = (0..9_000).map(|n| format!("user{n:04}@load.example")).collect();
        let text = json!({"Source": "Slexy", "Id": "1", "Emails": emails}).to_string();
        let options = PastesOptions { file: app.folder.write("pastes.ndjson", text), no_notify };
        app.change(|db| refuse(db, "user8999")).await;
        assert!(load_pastes(&app.context, &options).is_err());
        let posted = async || {
            let posted = outbox::table.filter(outbox::key.like("pastes %")).count();
            app.change(|db| Ok(posted.get_result::<i64>(db)?)).await
        };
        assert_eq!(posted().await, 0);
        let job = app.change(jobs::all).await[0].id;
        breaches::jobs::cancel(&app.context, job).unwrap();
        assert_eq!(posted().await, messages, "{no_notify}");
    }
}

#[actix_web::test]
async fn long_paste_is_written_in_several_transactions() {
    let app = App::start().await;
    if app.change(Layout::of).await.is_distributed() {
        return;
    }
    let emails: Vec<String> = (0..9_000).map(|n| format!("user{n:04}@load.example")).collect();
    let text = json!({"Source": "Slexy", "Id": "1", "Emails": emails}).to_string();
    let options = PastesOptions { file: app.folder.write("pastes.ndjson", text), no_notify: false };
    app.change(|db| refuse(db, "user8999")).await;
    assert!(load_pastes(&app.context, &options).is_err());
    let added = app.change(jobs::all).await[0].added;
    assert!((5_000..9_000).contains(&added), "{added}");
    app.change(|db| {
        let table = if matches!(db, Db::Pg(_)) { " ON account" } else { "" };
        Ok(db.batch_execute(&format!("DROP TRIGGER refuse{table}"))?)
    })
    .await;
    let outcome = load_pastes(&app.context, &options).unwrap();
    assert_eq!(outcome.added, 9_000, "the first addresses are not counted twice");
}
