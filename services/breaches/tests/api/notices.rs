//! Notices: who is told of what, once; webhooks that fail, stall and recover.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use outbound::WebhookSecret;
use serde_json::{Value, json};
use testkit::{HttpPeer, Mail, PeerAnswer, SmtpPeer};

use crate::app::{App, NOW, Peers, entry};

const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), webhooks: true, ..Peers::default() };
    let app = App::with_peers(peers).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app
}

impl App {
    /// Compares what is known with what was told, and delivers.
    async fn tell(&self) {
        let version = self.state.snapshot_version();
        assert!(breaches::jobs::recount_domains(&self.state, version).await.unwrap());
        breaches::jobs::deliver_due(&self.state).await.unwrap();
    }

    fn mails(&self) -> Vec<Mail> {
        self.peers.smtp.as_ref().unwrap().mails()
    }

    async fn listener(&self, email: &str) {
        let address = domain::EmailAddress::parse(email).unwrap();
        self.change(|db| {
            let id = match breaches::store::subscribers::id(db, &address)? {
                Some(id) => id,
                None => breaches::store::subscribers::add(db, &address, NOW)?,
            };
            breaches::store::subscribers::confirm(db, id, NOW)?;
            breaches::store::subscribers::set_notify(db, id, true)
        })
        .await;
    }
}

#[actix_web::test]
async fn owners_hear_once_of_each_new_breach_of_their_address() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", "someone@example.net\n").await;
    app.tell().await;
    assert!(app.mails().is_empty());
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.tell().await;
    app.tell().await;
    let mail = app.mails().remove(0);
    assert_eq!((app.mails().len(), mail.to[0].as_str()), (1, OWNER));
    let plain = mail.plain();
    for part in [
        "Subject: Your address is in the breach of The Alpha",
        "Date: 2020-02-20",
        "Exposed: Email addresses, Names",
        "A made-up entry.",
        "https://breaches.example/breaches/Alpha",
        "https://breaches.example/unsubscribe?token=",
    ] {
        assert!(plain.contains(part), "{part} in {plain}");
    }
    // Neither the same file again nor a further one into the same breach is news.
    app.load("Alpha", &format!("{OWNER}\nmore@example.net\n")).await;
    app.tell().await;
    assert_eq!(app.mails().len(), 1);
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.tell().await;
    assert_eq!(app.mails().len(), 2);
}

#[actix_web::test]
async fn an_inactive_breach_is_told_of_when_it_is_activated() {
    let app = start().await;
    app.listener(OWNER).await;
    app.set_breach("Alpha", |breach| breach.active = false).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.tell().await;
    assert!(app.mails().is_empty());
    app.set_breach("Alpha", |breach| breach.active = true).await;
    app.tell().await;
    assert_eq!(app.mails().len(), 1);
}

#[actix_web::test]
async fn those_who_control_a_domain_hear_how_many_addresses_are_new() {
    let app = start().await;
    app.subscriber("corp@example.org", "core1").await;
    app.load("Alpha", "a@corp.example\n").await;
    app.verify("corp@example.org", "corp.example").await;
    // What was there before is no news.
    app.change(|db| breaches::store::versions::bump_catalogue(db, NOW)).await;
    app.tell().await;
    app.load("Alpha", "a@corp.example\nb@corp.example\nc@corp.example\n").await;
    app.tell().await;
    app.tell().await;
    let mail = app.mails().remove(0);
    assert_eq!((app.mails().len(), mail.to[0].as_str()), (1, "corp@example.org"));
    let plain = mail.plain();
    assert!(plain.contains("2 addresses at corp.example"), "{plain}");
    assert!(plain.contains("https://breaches.example/account/domains/corp.example"), "{plain}");
    assert!(!plain.contains("b@corp.example"), "{plain}");
}

#[actix_web::test]
async fn mails_wait_for_a_mail_server_that_refuses_them_and_are_sent_once() {
    let app = start().await;
    app.listener(OWNER).await;
    let smtp = app.peers.smtp.as_ref().unwrap();
    smtp.refuse(Some("451 later"));
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.tell().await;
    smtp.refuse(None);
    app.tell().await;
    assert!(app.mails().is_empty(), "the next attempt is in a minute");
    app.clock.advance(60);
    app.tell().await;
    app.clock.advance(3600);
    app.tell().await;
    assert_eq!(app.mails().len(), 1);
}

#[actix_web::test]
async fn webhooks_are_signed_retried_and_given_up() {
    let status = Arc::new(AtomicU16::new(500));
    let shared = Arc::clone(&status);
    let hook = HttpPeer::start(move |_| match shared.load(Ordering::SeqCst) {
        0 => PeerAnswer::Close,
        status => PeerAnswer::Body(status, String::new()),
    });
    let app = start().await;
    app.subscriber("corp@example.org", "core1").await;
    app.verify("corp@example.org", "corp.example").await;
    let email = domain::EmailAddress::parse("corp@example.org").unwrap();
    let secret = WebhookSecret::generate().unwrap();
    let (url, text) = (hook.url("/x"), secret.text());
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        breaches::store::webhooks::add(db, id, &url, &text, NOW)
    })
    .await;
    app.tell().await;
    app.load("Alpha", "a@corp.example\n").await;
    app.tell().await;
    status.store(0, Ordering::SeqCst);
    app.clock.advance(60);
    app.tell().await;
    status.store(204, Ordering::SeqCst);
    app.clock.advance(299);
    app.tell().await;
    assert_eq!(hook.requests().len(), 2);
    app.clock.advance(1);
    app.tell().await;
    app.clock.advance(86_400);
    app.tell().await;
    let calls = hook.requests();
    assert_eq!(calls.len(), 3);
    for call in &calls {
        let (id, timestamp) = (call.header("webhook-id"), call.header("webhook-timestamp"));
        let signature = call.header("webhook-signature");
        let timestamp = timestamp.parse().unwrap();
        assert!(secret.verifies(signature, id, timestamp, call.body.as_bytes()));
        assert_eq!(id, calls[0].header("webhook-id"));
    }
    let body: Value = serde_json::from_str(&calls[0].body).unwrap();
    assert_eq!(
        body,
        json!({"event": "breach", "breachName": "Alpha", "domain": "corp.example",
            "newAccounts": 1, "catalogueVersion": body["catalogueVersion"],
            "sentAt": "2026-03-01T12:00:00Z"})
    );
    // The mail about the same went its own way.
    assert_eq!(app.mails().len(), 1);
    // Six attempts, then it is given up.
    status.store(500, Ordering::SeqCst);
    app.load("Beta", "a@corp.example\n").await;
    for _ in 0..10 {
        app.tell().await;
        app.clock.advance(12 * 3600);
    }
    assert_eq!(hook.requests().len(), 3 + 6);
}

#[actix_web::test]
async fn sizes_and_subdomains_follow_loads_by_themselves() {
    let app = start().await;
    let key = app.subscriber("corp@example.org", "pro1").await;
    app.verify("corp@example.org", "corp.example").await;
    let lines: String = (0..12).map(|n| format!("u{n}@corp.example\n")).collect();
    app.load("Alpha", &format!("{lines}x@deep.corp.example\n")).await;
    app.tell().await;
    let listed = app.json_with(&key, "/api/v3/subscribeddomains").await;
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|row| &row["DomainName"]).collect();
    assert_eq!(names, ["corp.example", "deep.corp.example"]);
    let email = domain::EmailAddress::parse("corp@example.org").unwrap();
    let larger = app
        .change(|db| {
            let id = breaches::store::subscribers::id(db, &email)?.unwrap();
            breaches::store::domain_controls::larger_domains(db, id)
        })
        .await;
    assert_eq!(larger, 1);
}
