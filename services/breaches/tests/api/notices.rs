//! Notices: recipients, content, and webhooks that fail, hang and recover.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use breaches::model::OptOut;
use breaches::store::schema::{mail_token, outbox};
use database::DatabaseError;
use diesel::{QueryDsl, RunQueryDsl};
use outbound::WebhookSecret;
use serde_json::{Value, json};
use testkit::{HttpPeer, Mail, PeerAnswer, SmtpPeer, until_blocking};

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), webhooks: true, ..Peers::default() };
    let app = App::with_peers(peers).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app
}

impl App {
    /// Posts new notices and delivers them.
    pub async fn deliver_notices(&self) {
        let version = self.state.snapshot_versions();
        assert!(breaches::jobs::recount_domains(&self.state, version).await.unwrap());
        breaches::jobs::deliver_due(&self.state).await.unwrap();
    }

    /// Does what the server does after pastes are loaded.
    pub async fn deliver_listener_notices(&self) {
        breaches::jobs::notify_listeners(&self.state).await.unwrap();
        breaches::jobs::deliver_due(&self.state).await.unwrap();
    }

    /// Adds a webhook to a subscriber. Returns its secret.
    pub async fn webhook(&self, email: &str, url: &str) -> WebhookSecret {
        let email = domain::EmailAddress::parse(email).unwrap();
        let secret = WebhookSecret::generate().unwrap();
        let text = secret.text();
        self.change(|db| {
            let id = breaches::store::subscribers::id(db, &email)?.unwrap();
            breaches::store::webhooks::add(db, id, url, &text, NOW)
        })
        .await;
        secret
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.peers.smtp.as_ref().unwrap().mails()
    }

    pub async fn listener(&self, email: &str) {
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

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

#[actix_web::test]
async fn notices_wait_for_a_removal_of_the_same_data() {
    let app = start().await;
    if app.database.file().is_some() {
        // SQLite has a single writer.
        return;
    }
    app.subscriber(OWNER, "core1").await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    let (owner, state) = (domain::EmailAddress::parse(OWNER).unwrap(), app.state.clone());
    let begin = move || {
        std::thread::spawn(move || {
            let posted = breaches::jobs::notify_listeners(&state);
            actix_web::rt::System::new().block_on(posted).unwrap();
        })
    };
    let posting = app.change(|db| {
        breaches::opt_out(db, &owner, OptOut::Breaches, NOW).map_err(DatabaseError::broken)?;
        let posting = begin();
        until_blocking("the notices wait for the end of the removal", || {
            let waiting = "SELECT count(*) AS number FROM pg_locks WHERE locktype = 'advisory' \
                AND NOT granted \
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
            let found: Number = diesel::sql_query(waiting).get_result(db).unwrap();
            found.number == 1
        });
        Ok(posting)
    });
    posting.await.join().unwrap();
    let posted = app.change(|db| Ok(outbox::table.count().get_result::<i64>(db)?)).await;
    assert_eq!(posted, 0);
}

#[actix_web::test]
async fn owner_is_notified_once_of_each_new_breach() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", "someone@example.net\n").await;
    app.deliver_notices().await;
    assert!(app.mails().is_empty());
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    app.deliver_notices().await;
    let mail = app.mails().remove(0);
    assert_eq!((app.mails().len(), mail.to[0].as_str()), (1, OWNER));
    let plain = mail.plain();
    for part in [
        "Subject: Your address is in The Alpha breach",
        "Date: 2020-02-20",
        "Exposed: Email addresses, Names",
        "A made-up entry.",
        "https://breaches.example/breaches/Alpha",
        "https://breaches.example/unsubscribe?token=",
    ] {
        assert!(plain.contains(part), "{part} in {plain}");
    }
    // Neither the same file nor another address in the same breach triggers a notice.
    app.load("Alpha", &format!("{OWNER}\nmore@example.net\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 1);
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 2);
}

#[actix_web::test]
async fn second_confirmation_does_not_replace_a_due_notice() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    let browser = Browser::new(&app);
    browser.post("/notify-me", "/notify-me", &[("email", OWNER)]).await.must(200);
    let link = app.last_token("/notify-me/confirm");
    browser.post("/", "/notify-me/confirm", &[("token", &link)]).await.must(200);
    app.deliver_notices().await;
    let subject = "Subject: Your address is in The Alpha breach";
    assert!(app.mails().iter().any(|mail| mail.plain().contains(subject)));
}

#[actix_web::test]
async fn inactive_breach_is_announced_when_it_is_activated() {
    let app = start().await;
    app.listener(OWNER).await;
    app.set_breach("Alpha", |breach| breach.active = false).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert!(app.mails().is_empty());
    app.set_breach("Alpha", |breach| breach.active = true).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 1);
}

#[actix_web::test]
async fn domain_controller_is_notified_of_the_number_of_new_addresses() {
    let app = start().await;
    app.subscriber("corp@example.org", "core1").await;
    app.load("Alpha", "a@corp.example\n").await;
    app.deliver_notices().await;
    app.verify("corp@example.org", "corp.example").await;
    // Links from before the verification are not new. Those of the next load are.
    app.load("Alpha", "a@corp.example\nb@corp.example\nc@corp.example\n").await;
    app.deliver_notices().await;
    app.deliver_notices().await;
    let mail = app.mails().remove(0);
    assert_eq!((app.mails().len(), mail.to[0].as_str()), (1, "corp@example.org"));
    let plain = mail.plain();
    assert!(plain.contains("2 addresses at corp.example"), "{plain}");
    assert!(plain.contains("https://breaches.example/account/domains/corp.example"), "{plain}");
    assert!(!plain.contains("b@corp.example"), "{plain}");
    // The only link that works without signing in is the one that stops them.
    let links: Vec<(String, String)> = app
        .change(|db| {
            Ok(mail_token::table.select((mail_token::purpose, mail_token::subject)).load(db)?)
        })
        .await;
    assert_eq!(links, [("unsubscribe".to_owned(), "corp.example".to_owned())]);
}

#[actix_web::test]
async fn repeated_count_announces_the_addresses_added_since_the_first() {
    let app = start().await;
    app.subscriber("corp@example.org", "core1").await;
    app.verify("corp@example.org", "corp.example").await;
    app.deliver_notices().await;
    app.load("Alpha", "a@corp.example\nb@corp.example\n").await;
    app.deliver_notices().await;
    // A batch of a load that has not ended, and a round that failed at another domain.
    let added = domain::EmailAddress::parse("c@corp.example").unwrap();
    app.change(|db| {
        let alpha = breaches::store::breaches::by_name(db, "Alpha")?.unwrap();
        breaches::store::account_links::link_one(db, &added, alpha.id)?;
        breaches::store::versions::set(db, "domains_counted_at_change", 0)
    })
    .await;
    app.deliver_notices().await;
    app.deliver_notices().await;
    let mails: Vec<String> = app.mails().iter().map(Mail::plain).collect();
    assert_eq!(mails.len(), 2, "{mails:?}");
    assert!(mails[0].contains("2 addresses at corp.example"), "{mails:?}");
    assert!(mails[1].contains("1 address at corp.example"), "{mails:?}");
}

#[actix_web::test]
async fn end_of_a_subscription_stops_notices_about_domains() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start().await;
    let owner = domain::EmailAddress::parse("corp@example.org").unwrap();
    let end = |until: i64| {
        let owner = owner.clone();
        move |db: &mut database::Db| {
            let id = breaches::store::subscribers::id(db, &owner)?.unwrap();
            breaches::store::subscribers::subscribe(db, id, "core1", until, NOW)
        }
    };
    app.subscriber("corp@example.org", "core1").await;
    app.webhook("corp@example.org", &hook.url("/x")).await;
    app.verify("corp@example.org", "corp.example").await;
    let recount = async || {
        let version = app.state.snapshot_versions();
        assert!(breaches::jobs::recount_domains(&app.state, version).await.unwrap());
    };
    // One notice has been posted, and the next one must not be posted.
    app.load("Alpha", "a@corp.example\n").await;
    recount().await;
    app.change(end(NOW)).await;
    breaches::jobs::deliver_due(&app.state).await.unwrap();
    app.load("Alpha", "b@corp.example\n").await;
    app.deliver_notices().await;
    let paste = json!({ "Source": "Pastebin", "Id": "p1", "Emails": ["c@corp.example"] });
    app.load_pastes(&paste.to_string()).await;
    app.deliver_notices().await;
    assert_eq!((app.mails().len(), hook.requests().len()), (0, 0));
    // A new subscription starts with later links.
    app.change(end(NOW + 86_400)).await;
    app.load("Alpha", "d@corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!((app.mails().len(), hook.requests().len()), (1, 1));
    assert!(app.mails()[0].plain().contains("1 address at corp.example"));
}

#[actix_web::test]
async fn domain_controller_is_notified_of_pastes_when_their_load_ends() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start().await;
    app.subscriber("corp@example.org", "core1").await;
    let secret = app.webhook("corp@example.org", &hook.url("/x")).await;
    let paste = |source: &str, id: &str, emails: &[&str]| {
        json!({ "Source": source, "Id": id, "Emails": emails }).to_string()
    };
    let first = paste("Pastebin", "p1", &["a@corp.example"]);
    app.load_pastes(&first).await;
    app.verify("corp@example.org", "corp.example").await;
    // Earlier links, repeated pastes and opt-out marks are not new.
    let people = ["a@corp.example", "b@corp.example", "c@other.example"];
    let lines = [
        first,
        paste("OptOut", "o1", &["d@corp.example"]),
        paste("Pastebin", "p1", &people),
        paste("Ghostbin", "g1", &people),
    ];
    for _ in 0..2 {
        app.load_pastes(&lines.join("\n")).await;
        app.deliver_notices().await;
    }
    let mail = app.mails().remove(0);
    assert_eq!((app.mails().len(), mail.to[0].as_str()), (1, "corp@example.org"));
    let plain = mail.plain();
    for part in [
        "Subject: Addresses at corp.example are in pastes",
        "Pastes: 2;",
        "Ghostbin g1: 2",
        "Pastebin p1: 1",
    ] {
        assert!(plain.contains(part), "{part} in {plain}");
    }
    assert!(!plain.contains("b@corp.example"), "{plain}");
    let calls = hook.requests();
    assert_eq!(calls.len(), 1);
    let timestamp = calls[0].header("webhook-timestamp").parse().unwrap();
    let (id, signature) = (calls[0].header("webhook-id"), calls[0].header("webhook-signature"));
    assert!(secret.verifies(signature, id, timestamp, calls[0].body.as_bytes()));
    let body: Value = serde_json::from_str(&calls[0].body).unwrap();
    assert_eq!(
        body,
        json!({"event": "paste", "domain": "corp.example", "newPastes": 2,
            "pastes": [{"source": "Ghostbin", "id": "g1", "newAccounts": 2},
                {"source": "Pastebin", "id": "p1", "newAccounts": 1}],
            "sentAt": "2026-03-01T12:00:00Z"})
    );
}

#[actix_web::test]
async fn owner_is_notified_of_pastes_and_stealer_logs() {
    let app = start().await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([logs])).await;
    app.subscriber(OWNER, "pro1").await;
    app.verify(OWNER, "example.org").await;
    app.deliver_notices().await;
    app.listener(OWNER).await;
    app.load_pairs("Logs", &format!("email,url\n{OWNER},https://shop.example/login\n")).await;
    app.deliver_notices().await;
    let texts: Vec<String> = app.mails().iter().map(Mail::plain).collect();
    let page = "See the websites: https://breaches.example/account/";
    for (subject, page) in [
        ("Your address is in The Logs breach", format!("{page}stealer-logs")),
        ("example.org is in The Logs breach", format!("{page}domains/example.org")),
    ] {
        let found = texts.iter().any(|text| text.contains(subject) && text.contains(&page));
        assert!(found, "{subject} in {texts:?}");
    }
    let paste = json!({ "Source": "Pastebin", "Id": "p1", "Emails": [OWNER] });
    app.load_pastes(&paste.to_string()).await;
    app.deliver_listener_notices().await;
    let texts: Vec<String> = app.mails().iter().skip(2).map(Mail::plain).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("Subject: Your address is in a paste")));
    assert!(
        texts.iter().any(|text| text.contains("Subject: Addresses at example.org are in pastes"))
    );
}

#[actix_web::test]
async fn refused_mail_is_retried_and_sent_once() {
    let app = start().await;
    app.listener(OWNER).await;
    let smtp = app.peers.smtp.as_ref().unwrap();
    smtp.refuse(Some("451 later"));
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    smtp.refuse(None);
    app.deliver_notices().await;
    assert!(app.mails().is_empty(), "the next attempt is after a minute");
    app.clock.advance(60);
    app.deliver_notices().await;
    app.clock.advance(3600);
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 1);
}

#[actix_web::test]
async fn webhook_call_is_signed_retried_and_abandoned() {
    let status = Arc::new(AtomicU16::new(500));
    let shared = Arc::clone(&status);
    let hook = HttpPeer::start(move |_| match shared.load(Ordering::SeqCst) {
        0 => PeerAnswer::Close,
        status => PeerAnswer::Body(status, String::new()),
    });
    let app = start().await;
    app.subscriber("corp@example.org", "core1").await;
    app.verify("corp@example.org", "corp.example").await;
    let secret = app.webhook("corp@example.org", &hook.url("/x")).await;
    app.deliver_notices().await;
    app.load("Alpha", "a@corp.example\n").await;
    app.deliver_notices().await;
    status.store(0, Ordering::SeqCst);
    app.clock.advance(60);
    app.deliver_notices().await;
    status.store(204, Ordering::SeqCst);
    app.clock.advance(299);
    app.deliver_notices().await;
    assert_eq!(hook.requests().len(), 2);
    app.clock.advance(1);
    app.deliver_notices().await;
    app.clock.advance(86_400);
    app.deliver_notices().await;
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
    // The mail about the same breach was sent regardless.
    assert_eq!(app.mails().len(), 1);
    // After six attempts, the message is abandoned.
    status.store(500, Ordering::SeqCst);
    app.load("Beta", "a@corp.example\n").await;
    for _ in 0..10 {
        app.deliver_notices().await;
        app.clock.advance(12 * 3600);
    }
    assert_eq!(hook.requests().len(), 3 + 6);
}

#[actix_web::test]
async fn loads_update_sizes_and_add_subdomains() {
    let app = start().await;
    let key = app.subscriber("corp@example.org", "pro1").await;
    app.verify("corp@example.org", "corp.example").await;
    let lines: String = (0..12).map(|n| format!("u{n}@corp.example\n")).collect();
    app.load("Alpha", &format!("{lines}x@deep.corp.example\n")).await;
    app.deliver_notices().await;
    let listed = app.json_with(&key, "/api/v3/subscribeddomains").await;
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|row| &row["DomainName"]).collect();
    assert_eq!(names, ["corp.example", "deep.corp.example"]);
    let email = domain::EmailAddress::parse("corp@example.org").unwrap();
    let (larger, all) = app
        .change(|db| {
            let id = breaches::store::subscribers::id(db, &email)?.unwrap();
            let larger = breaches::store::domain_controls::larger_domains(db, id)?.len();
            Ok((larger, breaches::store::domain_controls::all(db, id)?))
        })
        .await;
    assert_eq!(larger, 1);
    let sizes: Vec<_> = all.iter().map(|control| control.size_now).collect();
    assert_eq!(sizes, [Some(12), Some(1)]);
    // Links from before the subdomain was added are not new. Later ones are.
    let earlier = app.mails().len();
    app.load("Beta", "y@deep.corp.example\n").await;
    app.deliver_notices().await;
    let mails = app.mails();
    assert_eq!(mails.len(), earlier + 1);
    assert!(
        mails[earlier].plain().contains("1 address at deep.corp.example"),
        "{:?}",
        mails[earlier]
    );
}

#[actix_web::test]
async fn concurrent_replicas_deliver_each_message_once() {
    let app = start().await;
    let people: Vec<String> = (0..12).map(|n| format!("user{n}@example.org")).collect();
    for email in &people {
        app.listener(email).await;
    }
    // The owner is also notified of a sensitive breach.
    app.set_breach("Alpha", |breach| breach.flags.sensitive = true).await;
    app.load("Alpha", &people.join("\n")).await;
    breaches::jobs::notify_listeners(&app.state).await.unwrap();
    let deliver = || breaches::jobs::deliver_due(&app.state);
    let (a, b, c) = futures_util::join!(deliver(), deliver(), deliver());
    assert_eq!(a.unwrap() + b.unwrap() + c.unwrap(), 12);
    let mut to: Vec<String> = app.mails().iter().map(|mail| mail.to[0].clone()).collect();
    to.sort();
    to.dedup();
    assert_eq!((app.mails().len(), to.len()), (12, 12));
}

#[actix_web::test]
async fn unsubscribe_link_ends_notices_only_by_its_button() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    let mail = app.mails().remove(0);
    let link = mail.find("https://breaches.example/unsubscribe?token=").unwrap();
    let token = link.rsplit('=').next().unwrap();
    let browser = Browser::new(&app);
    let page = format!("/unsubscribe?token={token}");
    browser.get(&page).await.must(200);
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 2, "opening the link has no effect");
    browser.post(&page, "/unsubscribe", &[("token", token)]).await.must(200);
    app.import(&json!([entry("Gamma")])).await;
    app.load("Gamma", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 2);
}
