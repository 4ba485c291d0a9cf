//! Delivery of messages whose subject was removed, hidden or changed after they were posted.

use breaches::State;
use breaches::store::schema::{domain_control, outbox, webhook};
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, RunQueryDsl};
use domain::{DomainName, EmailAddress};
use serde_json::json;
use testkit::{HttpPeer, PeerAnswer, SmtpPeer};

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";
const CORP: &str = "corp@example.org";

async fn start() -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), webhooks: true, ..Peers::default() };
    let app = App::with_peers(peers).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app
}

/// Starts a receiver that responds with a status.
fn receiver(status: u16) -> HttpPeer {
    HttpPeer::start(move |_| PeerAnswer::Body(status, String::new()))
}

fn address(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

impl App {
    /// Returns the number of pending messages.
    async fn waiting(&self) -> i64 {
        let waiting = outbox::sent_at.is_null().and(outbox::failed_at.is_null());
        self.change(|db| Ok(outbox::table.filter(waiting).count().get_result(db)?)).await
    }

    async fn remove_webhook(&self, email: &str, url: &str) {
        let email = address(email);
        let removed = self.change(|db| {
            let id = breaches::store::subscribers::id(db, &email)?.unwrap();
            breaches::store::webhooks::remove(db, id, url)
        });
        assert!(removed.await);
    }
}

#[actix_web::test]
async fn removing_a_webhook_deletes_its_messages() {
    let app = start().await;
    let (own, other) = (receiver(500), receiver(204));
    for email in [CORP, "other@example.org"] {
        app.subscriber(email, "core1").await;
    }
    app.verify(CORP, "corp.example").await;
    app.webhook(CORP, &own.url("/x")).await;
    app.load("Alpha", "a@corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!((own.requests().len(), app.waiting().await), (1, 1));
    app.remove_webhook(CORP, &own.url("/x")).await;
    assert_eq!(app.waiting().await, 0, "pending messages are deleted with their webhook");
    app.webhook("other@example.org", &other.url("/x")).await;
    app.clock.advance(60);
    app.deliver_notices().await;
    assert_eq!((own.requests().len(), other.requests().len()), (1, 0));
    // A message that refers to another subscriber's webhook is not sent either.
    app.webhook(CORP, &own.url("/y")).await;
    app.load("Beta", "b@corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!(own.requests().len(), 2);
    app.change(|db| {
        let url = webhook::url.eq(other.url("/x"));
        let id: i64 = webhook::table.filter(url).select(webhook::id).first(db)?;
        let waiting = outbox::table.filter(outbox::sent_at.is_null());
        Ok(diesel::update(waiting).set(outbox::webhook_id.eq(id)).execute(db)?)
    })
    .await;
    app.clock.advance(60);
    app.deliver_notices().await;
    assert_eq!((other.requests().len(), app.waiting().await), (0, 0));
}

#[actix_web::test]
async fn lost_domain_gets_no_more_notices() {
    for is_deleted in [true, false] {
        let app = start().await;
        let hook = receiver(500);
        app.subscriber(CORP, "core1").await;
        app.verify(CORP, "corp.example").await;
        app.webhook(CORP, &hook.url("/x")).await;
        let smtp = app.peers.smtp.as_ref().unwrap();
        smtp.refuse(Some("451 later"));
        app.load("Alpha", "a@corp.example\n").await;
        let paste = json!({ "Source": "Pastebin", "Id": "p1", "Emails": ["b@corp.example"] });
        app.load_pastes(&paste.to_string()).await;
        app.deliver_notices().await;
        assert_eq!((app.waiting().await, hook.requests().len()), (4, 2));
        if is_deleted {
            let (email, domain) = (address(CORP), DomainName::parse("corp.example").unwrap());
            let id = app.change(|db| breaches::store::subscribers::id(db, &email)).await.unwrap();
            app.change(|db| breaches::store::domain_inheritance::revoke(db, id, domain.as_str()))
                .await;
            assert_eq!(app.waiting().await, 0);
        } else {
            // The delivery checks control, however it was lost.
            app.change(|db| {
                let lost = domain_control::state.eq("pending");
                Ok(diesel::update(domain_control::table).set(lost).execute(db)?)
            })
            .await;
        }
        smtp.refuse(None);
        app.clock.advance(60);
        app.deliver_notices().await;
        assert!(app.mails().is_empty());
        assert_eq!((app.waiting().await, hook.requests().len()), (0, 2));
    }
}

#[actix_web::test]
async fn turning_notices_off_drops_pending_ones() {
    let app = start().await;
    app.listener(OWNER).await;
    let smtp = app.peers.smtp.as_ref().unwrap();
    smtp.refuse(Some("451 later"));
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.waiting().await, 1);
    let email = address(OWNER);
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        breaches::store::subscribers::set_notify(db, id, false)
    })
    .await;
    smtp.refuse(None);
    app.clock.advance(60);
    app.deliver_notices().await;
    assert_eq!((app.waiting().await, app.mails().len()), (0, 0));
}

#[actix_web::test]
async fn reactivated_breach_is_announced_once() {
    let app = start().await;
    let hook = receiver(204);
    app.listener(OWNER).await;
    app.subscriber(CORP, "core1").await;
    app.verify(CORP, "corp.example").await;
    app.webhook(CORP, &hook.url("/x")).await;
    app.load("Alpha", &format!("{OWNER}\na@corp.example\nb@corp.example\n")).await;
    app.deliver_notices().await;
    let sent = || (app.mails().len(), hook.requests().len());
    assert_eq!(sent(), (2, 1));
    for _ in 0..2 {
        for active in [false, true] {
            app.set_breach("Alpha", |breach| breach.active = active).await;
            app.deliver_notices().await;
            assert_eq!(sent(), (2, 1));
        }
    }
    // Only addresses that were loaded while the breach was hidden are new.
    app.set_breach("Alpha", |breach| breach.active = false).await;
    app.load("Alpha", "c@corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!(sent(), (2, 1));
    app.set_breach("Alpha", |breach| breach.active = true).await;
    app.deliver_notices().await;
    assert_eq!(sent(), (3, 2));
    assert!(hook.requests()[1].body.contains("\"newAccounts\":1"), "{:?}", hook.requests()[1]);
}

#[actix_web::test]
async fn message_about_a_hidden_breach_waits_for_its_activation() {
    let app = start().await;
    app.listener(OWNER).await;
    let smtp = app.peers.smtp.as_ref().unwrap();
    smtp.refuse(Some("451 later"));
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    smtp.refuse(None);
    app.set_breach("Alpha", |breach| breach.active = false).await;
    app.set_breach("Beta", |breach| breach.flags.retired = true).await;
    // More rounds than a message has attempts.
    for _ in 0..10 {
        app.clock.advance(3600);
        app.deliver_notices().await;
    }
    assert_eq!((app.waiting().await, app.mails().len()), (1, 0));
    app.set_breach("Alpha", |breach| breach.active = true).await;
    app.clock.advance(3600);
    app.deliver_notices().await;
    let mails = app.mails();
    assert_eq!((app.waiting().await, mails.len()), (0, 1));
    assert!(mails[0].plain().contains("The Alpha breach"));
}

#[actix_web::test]
async fn replica_with_an_older_catalogue_loses_no_notice() {
    let app = start().await;
    app.listener(OWNER).await;
    app.subscriber(CORP, "core1").await;
    app.verify(CORP, "corp.example").await;
    // The other replica never polls the catalogue.
    let older = State::new(
        app.context.pools.clone(),
        app.context.clock.clone(),
        app.context.settings.clone(),
        app.state.external().clone(),
    )
    .unwrap();
    app.import(&json!([entry("Gamma"), entry("Delta")])).await;
    for breach in ["Gamma", "Delta"] {
        app.load(breach, &format!("{OWNER}\na@corp.example\n")).await;
    }
    let version = app.state.snapshot_versions();
    assert!(breaches::jobs::recount_domains(&app.state, version).await.unwrap());
    assert_eq!(breaches::jobs::deliver_due(&older).await.unwrap(), 4);
    let mut subjects: Vec<String> = app
        .mails()
        .iter()
        .map(|mail| mail.find("Subject: ").unwrap_or_default().to_owned())
        .collect();
    subjects.sort();
    assert_eq!(subjects.len(), 4, "{subjects:?}");
    assert_eq!(app.waiting().await, 0);
    // It does not repeat notices that the first replica has sent.
    assert!(breaches::jobs::recount_domains(&older, older.snapshot_versions()).await.unwrap());
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 4);
}

#[actix_web::test]
async fn message_of_another_version_waits_without_delaying_others() {
    let app = start().await;
    app.listener(OWNER).await;
    let email = address(OWNER);
    let unknown = json!({ "kind": "hologram", "breach": "Alpha" }).to_string();
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        for number in 0..20 {
            let row = (
                outbox::key.eq(format!("hologram {number}")),
                outbox::subscriber_id.eq(id),
                outbox::payload.eq(&unknown),
                outbox::created_at.eq(NOW),
                outbox::next_try.eq(NOW - 1),
                outbox::tries.eq(0),
            );
            diesel::insert_into(outbox::table).values(row).execute(db)?;
        }
        Ok(())
    })
    .await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!((app.mails().len(), app.waiting().await), (1, 20));
    app.clock.advance(3600);
    app.deliver_notices().await;
    assert_eq!((app.mails().len(), app.waiting().await), (1, 20));
    // A version that can decode the messages delivers them.
    let known = json!({ "kind": "breach", "breach": "Alpha" }).to_string();
    app.change(|db| {
        let waiting = outbox::table.filter(outbox::sent_at.is_null());
        Ok(diesel::update(waiting).set(outbox::payload.eq(known)).execute(db)?)
    })
    .await;
    app.clock.advance(3600);
    app.deliver_notices().await;
    assert_eq!((app.mails().len(), app.waiting().await), (21, 0));
}

#[actix_web::test]
async fn removing_a_domain_invalidates_its_verification_link() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let (list, page) = ("/account/domains", "/account/domains/corp.example");
    let approve = "/domainVerification/approve";
    let add = async || browser.post(list, list, &[("domain", "corp.example")]).await.must(303);
    add().await;
    let fields = [("way", "email"), ("alias", "admin")];
    browser.post(page, &format!("{page}/verify"), &fields).await.must(200);
    let link = format!("{approve}?token={}", app.last_token(approve));
    browser.get(&link).await.must(200);
    let email = address(OWNER);
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        breaches::store::domain_inheritance::revoke(db, id, "corp.example")
    })
    .await;
    // If the domain is added again, it needs a new proof.
    add().await;
    let token = link.rsplit('=').next().unwrap();
    browser.post(list, approve, &[("token", token)]).await;
    assert!(app.change(breaches::store::domain_controls::verified_names).await.is_empty());
}
