//! Messages whose server was killed, and mails in the form that large mail providers require.

use breaches::store::messages::{self, Claim};
use breaches::store::schema::outbox;
use diesel::{ExpressionMethods, QueryDsl, RunQueryDsl};
use outbound::CLAIM_SECONDS;
use serde_json::json;
use testkit::{Exchange, Mail, SmtpPeer};

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";
const CORP: &str = "corp@example.org";

async fn start() -> App {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app
}

/// Returns the value of a header.
fn header(mail: &Mail, name: &str) -> String {
    let text = mail.text.replace("\n ", " ");
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

impl App {
    /// Claims all due mails on behalf of another process.
    async fn claim_as(&self, owner: i64) -> usize {
        let now = self.context.clock.unix();
        let claim = Claim { owner, until: now + CLAIM_SECONDS };
        self.change(|db| messages::claim(db, None, 100, claim, now)).await.posted.len()
    }

    /// Returns the status of a request without cookies and without a user agent.
    async fn one_click(&self, link: &str, kind: &str, body: &str) -> u16 {
        let path = link.strip_prefix("https://breaches.example").unwrap();
        let request = self.server.post(path).header("content-type", kind).body(body.to_owned());
        request.answer().await.status
    }
}

#[actix_web::test]
async fn mail_of_a_dead_server_is_sent_within_a_minute() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    breaches::jobs::notify_listeners(&app.state).await.unwrap();
    assert_eq!(app.claim_as(7).await, 1);
    app.deliver_notices().await;
    assert!(app.mails().is_empty(), "another process works on it");
    app.clock.advance(50);
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 1);
}

#[actix_web::test]
async fn renewed_claim_is_kept_and_a_lost_one_changes_nothing() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    breaches::jobs::notify_listeners(&app.state).await.unwrap();
    assert_eq!(app.claim_as(7).await, 1);
    let id: i64 = app.change(|db| Ok(outbox::table.select(outbox::id).first(db)?)).await;
    let renew = |owner, at: i64| {
        app.change(move |db| messages::renew(db, id, Claim { owner, until: at + CLAIM_SECONDS }))
    };
    renew(7, NOW + 40).await;
    app.clock.advance(50);
    assert_eq!(app.claim_as(8).await, 0);
    app.clock.advance(35);
    assert_eq!(app.claim_as(8).await, 1);
    // The first process no longer owns it.
    renew(7, NOW + 10_000).await;
    let failure =
        outbound::Failure::new(1, &outbound::DeliveryError::permanent("no such recipient"));
    app.change(move |db| messages::failed(db, id, 7, &failure, NOW)).await;
    assert!(!app.change(move |db| messages::is_claimed(db, id, 7)).await);
    assert!(app.change(move |db| messages::is_claimed(db, id, 8)).await);
    app.clock.advance(CLAIM_SECONDS);
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 1);
}

#[actix_web::test]
async fn attempts_share_a_message_id_that_no_other_message_has() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    // The server was killed before it recorded that the mails were sent.
    app.change(|db| {
        let unsent = (outbox::sent_at.eq(None::<i64>), outbox::next_try.eq(NOW));
        Ok(diesel::update(outbox::table).set(unsent).execute(db)?)
    })
    .await;
    app.deliver_notices().await;
    let mut ids: Vec<String> = app.mails().iter().map(|mail| header(mail, "Message-ID")).collect();
    assert_eq!(ids.len(), 4);
    ids.sort();
    assert!(ids[0] == ids[1] && ids[1] != ids[2] && ids[2] == ids[3], "{ids:?}");
}

#[actix_web::test]
async fn mail_program_unsubscribes_with_one_request() {
    let multipart = "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n\
                     One-Click\r\n--x--\r\n";
    for (kind, body) in [
        ("application/x-www-form-urlencoded", "List-Unsubscribe=One-Click"),
        ("multipart/form-data; boundary=x", multipart),
    ] {
        let app = start().await;
        app.listener(OWNER).await;
        app.load("Alpha", &format!("{OWNER}\n")).await;
        app.deliver_notices().await;
        let mail = app.mails().remove(0);
        assert_eq!(header(&mail, "Auto-Submitted"), "auto-generated");
        assert_eq!(header(&mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        let link = header(&mail, "List-Unsubscribe");
        let link = link.strip_prefix('<').and_then(|link| link.strip_suffix('>')).unwrap();
        // Any other body needs the form's token, and any other link is not valid.
        assert_eq!(app.one_click(link, kind, "x=y").await, 403);
        app.load("Beta", &format!("{OWNER}\n")).await;
        app.deliver_notices().await;
        assert_eq!(app.mails().len(), 2);
        // Mail providers may repeat requests.
        for _ in 0..2 {
            assert_eq!(app.one_click(link, kind, body).await, 200);
        }
        app.import(&json!([entry("Gamma")])).await;
        app.load("Gamma", &format!("{OWNER}\n")).await;
        app.deliver_notices().await;
        assert_eq!(app.mails().len(), 2);
    }
}

#[actix_web::test]
async fn mails_about_a_domain_end_with_their_link_and_return_on_request() {
    let app = start().await;
    app.subscriber(CORP, "core1").await;
    app.verify(CORP, "corp.example").await;
    app.verify(CORP, "other.example").await;
    app.load("Alpha", "a@corp.example\n").await;
    app.deliver_notices().await;
    let link = header(&app.mails()[0], "List-Unsubscribe");
    let link = link.trim_matches(['<', '>']);
    let form = "application/x-www-form-urlencoded";
    assert_eq!(app.one_click(link, form, "List-Unsubscribe=One-Click").await, 200);
    app.load("Beta", "b@corp.example\nb@other.example\n").await;
    app.deliver_notices().await;
    let subject = header(&app.mails()[1], "Subject");
    assert_eq!((app.mails().len(), subject.as_str()), (2, "other.example is in The Beta breach"));
    let browser = Browser::new(&app);
    browser.sign_in(CORP).await;
    let page = "/account/notifications";
    let shown = browser.get(page).await;
    assert!(shown.text().contains("Turn on emails about corp.example"), "{}", shown.text());
    browser.post(page, page, &[("domain", "corp.example")]).await.must(303);
    assert!(!browser.get(page).await.text().contains("Turn on emails"));
    let before = app.mails().len();
    app.load("Beta", "c@corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), before + 1);
}

#[actix_web::test]
async fn notice_has_an_html_part_that_escapes_what_it_shows() {
    let app = start().await;
    let mut evil = entry("Evil");
    evil["Title"] = json!("<b>&\"Evil\"");
    app.import(&json!([evil])).await;
    app.listener(OWNER).await;
    app.load("Evil", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    let mail = app.mails().remove(0);
    assert!(header(&mail, "Content-Type").starts_with("multipart/alternative"), "{}", mail.text);
    let plain = mail.plain();
    let (text, html) = plain.split_once("<!DOCTYPE html>").unwrap();
    assert!(text.contains("is in the <b>&\"Evil\" breach.\n"), "{text}");
    assert!(html.contains("is in the &#60;b&#62;&#38;&#34;Evil&#34; breach."), "{html}");
    assert!(!html.contains("<b>"), "{html}");
}
