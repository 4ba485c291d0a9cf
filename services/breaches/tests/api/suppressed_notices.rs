//! Loads without notices: nobody hears of what they link, and everybody of what others link.

use serde_json::{Value, json};
use testkit::{HttpPeer, Mail, PeerAnswer, SmtpPeer};

use crate::app::{App, Peers, entry};

const OWNER: &str = "owner@example.org";
const CORP: &str = "corp@example.org";

/// Somebody who wants notices, and somebody with a domain and a webhook.
async fn start(hook: &HttpPeer) -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), webhooks: true, ..Peers::default() };
    let app = App::with_peers(peers).await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([entry("Alpha"), entry("Beta"), logs])).await;
    app.listener(OWNER).await;
    app.subscriber(CORP, "pro1").await;
    app.verify(CORP, "corp.example").await;
    app.webhook(CORP, &hook.url("/x")).await;
    app.tell().await;
    app
}

/// How many new accounts webhooks were told of.
fn called(hook: &HttpPeer) -> Vec<Value> {
    let bodies = hook.requests().into_iter();
    let bodies = bodies.map(|call| serde_json::from_str::<Value>(&call.body).unwrap());
    bodies.map(|body| body["newAccounts"].clone()).collect()
}

#[actix_web::test]
async fn every_kind_of_load_can_be_silent_and_the_next_ones_are_heard_of() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    let people = format!("{OWNER}\na@corp.example\nb@corp.example\n");
    let done = app.load_as("Alpha", &people, true).await;
    assert!(!done.notices && done.added == 3, "{done:?}");
    let pairs = format!("email,website\n{OWNER},shop.example\na@corp.example,shop.example\n");
    assert!(!app.load_pairs_as("Logs", &pairs, true).await.notices);
    let paste = |id: &str| {
        json!({ "Source": "Pastebin", "Id": id, "Emails": [OWNER, "a@corp.example"] }).to_string()
    };
    assert!(!app.load_pastes_as(&paste("p1"), true).await.notices);
    app.tell().await;
    app.tell_listeners().await;
    assert!(app.mails().is_empty() && hook.requests().is_empty());
    // The same files once more bring nothing new; a further address and a further breach do.
    assert!(app.load("Alpha", &people).await.notices);
    app.load_pairs("Logs", &pairs).await;
    app.load_pastes(&paste("p1")).await;
    app.tell().await;
    app.tell_listeners().await;
    assert!(app.mails().is_empty() && hook.requests().is_empty());
    app.load("Alpha", &format!("{people}c@corp.example\n")).await;
    app.tell().await;
    assert_eq!(called(&hook), [1]);
    app.load("Beta", &people).await;
    app.tell().await;
    assert_eq!(called(&hook), [1, 2]);
    app.load_pastes(&paste("p2")).await;
    app.tell_listeners().await;
    let to = |address: &str| app.mails().iter().filter(|mail| mail.to[0] == address).count();
    assert_eq!((to(OWNER), to(CORP)), (2, 3));
}

#[actix_web::test]
async fn what_was_linked_before_is_heard_of_although_a_silent_load_has_it_too() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    // The server was not there to tell of the first load.
    app.load("Alpha", &format!("{OWNER}\na@corp.example\n")).await;
    app.load_as("Alpha", &format!("{OWNER}\na@corp.example\nb@corp.example\n"), true).await;
    app.tell().await;
    assert_eq!(called(&hook), [1]);
    let to: Vec<String> = app.mails().iter().map(|mail: &Mail| mail.to[0].clone()).collect();
    assert!(to.len() == 2 && to.contains(&OWNER.to_owned()), "{to:?}");
}

#[actix_web::test]
async fn what_was_linked_silently_is_no_news_when_its_breach_is_activated() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    app.set_breach("Alpha", |breach| breach.active = false).await;
    app.load_as("Alpha", &format!("{OWNER}\na@corp.example\n"), true).await;
    app.tell().await;
    app.set_breach("Alpha", |breach| breach.active = true).await;
    app.tell().await;
    assert!(app.mails().is_empty() && hook.requests().is_empty());
}

#[actix_web::test]
async fn who_verifies_a_domain_again_hears_of_what_comes_then() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    let email = domain::EmailAddress::parse(CORP).unwrap();
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        breaches::store::domain_inheritance::revoke(db, id, "corp.example")
    })
    .await;
    app.load("Alpha", "a@corp.example\n").await;
    app.verify(CORP, "corp.example").await;
    app.tell().await;
    assert!(app.mails().is_empty());
    app.load("Alpha", "a@corp.example\nb@corp.example\n").await;
    app.tell().await;
    assert_eq!(called(&hook), [1]);
}
