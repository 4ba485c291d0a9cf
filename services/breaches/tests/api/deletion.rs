//! What is left of an address that its owner had deleted: nothing, unless a plan or notices that were
//! asked for need it.

use breaches::model::OptOut;
use breaches::store::schema::{admin_event, mail_token, outbox, session, subscriber};
use database::DatabaseError;
use diesel::{QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use serde_json::json;
use testkit::SmtpPeer;

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() };
    let app = App::with_peers(peers).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app
}

impl App {
    /// Texts that may hold an address.
    async fn texts(&self) -> Vec<String> {
        self.change(|db| {
            let mut texts: Vec<String> = mail_token::table.select(mail_token::subject).load(db)?;
            texts.extend(subscriber::table.select(subscriber::email).load::<String>(db)?);
            texts.extend(admin_event::table.select(admin_event::subject).load::<String>(db)?);
            texts.extend(admin_event::table.select(admin_event::detail).load::<String>(db)?);
            texts.extend(outbox::table.select(outbox::payload).load::<String>(db)?);
            Ok(texts)
        })
        .await
    }
}

#[actix_web::test]
async fn nothing_of_a_deleted_address_is_left() {
    for (kind, choice) in [("breaches", OptOut::Breaches), ("delete", OptOut::Delete)] {
        let app = start().await;
        let browser = Browser::new(&app);
        let email = EmailAddress::parse(OWNER).unwrap();
        // The operator added them, they signed in, and asked for notices without confirming.
        app.change(|db| {
            breaches::add_subscriber(db, &email, false, NOW).map_err(DatabaseError::broken)
        })
        .await;
        browser.sign_in(OWNER).await;
        browser.post("/notify-me", "/notify-me", &[("email", OWNER)]).await.must(200);
        browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(200);
        assert!(app.texts().await.iter().any(|text| text.contains(OWNER)));
        let token = app.last_token("/opt-out/choose");
        let page = format!("/opt-out/choose?token={token}");
        let fields = [("token", token.as_str()), ("kind", kind)];
        browser.post(&page, "/opt-out/choose", &fields).await.must(200);
        let texts = app.texts().await;
        assert!(!texts.iter().any(|text| text.contains("owner@")), "{choice:?}: {texts:?}");
        let sessions: i64 = app.change(|db| Ok(session::table.count().get_result(db)?)).await;
        assert_eq!(sessions, 0);
        let found = app.change(|db| breaches::store::accounts::find(db, &email)).await;
        assert!(found.is_none());
    }
}

#[actix_web::test]
async fn notices_that_were_asked_for_outlast_a_deletion_and_can_be_ended() {
    let app = start().await;
    app.listener(OWNER).await;
    app.tell().await;
    let mail = app.mails().remove(0);
    let email = EmailAddress::parse(OWNER).unwrap();
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Delete, NOW).map_err(DatabaseError::broken)
    })
    .await;
    app.change(|db| {
        // The links hold no address, and what was told is forgotten.
        let links: Vec<String> = mail_token::table.select(mail_token::subject).load(db)?;
        assert_eq!(links, [""]);
        assert_eq!(outbox::table.count().get_result::<i64>(db)?, 0);
        Ok(())
    })
    .await;
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.tell().await;
    assert_eq!(app.mails().len(), 2);
    // The link of the first mail still ends them.
    let link = mail.find("https://breaches.example/unsubscribe?token=").unwrap();
    let token = link.rsplit('=').next().unwrap();
    let page = format!("/unsubscribe?token={token}");
    let browser = Browser::new(&app);
    let answer = browser.post(&page, "/unsubscribe", &[("token", token)]).await;
    assert!(answer.text().contains(&format!("{OWNER} gets no more notices")), "{}", answer.text());
    // Now nothing needs the address any more.
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Delete, NOW).map_err(DatabaseError::broken)
    })
    .await;
    let texts = app.texts().await;
    assert!(!texts.iter().any(|text| text.contains("owner@")), "{texts:?}");
}

#[actix_web::test]
async fn an_account_with_a_plan_outlasts_a_deletion() {
    let app = start().await;
    app.subscriber(OWNER, "core1").await;
    let email = EmailAddress::parse(OWNER).unwrap();
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Breaches, NOW).map_err(DatabaseError::broken)?;
        assert!(breaches::store::subscribers::id(db, &email)?.is_some());
        Ok(())
    })
    .await;
}
