//! Loads with suppressed notices. Their links do not cause notices, while those of other loads do.

use breaches::model::OptOut;
use breaches::store::breaches as catalogue;
use breaches::store::schema::{notified, outbox};
use database::DatabaseError;
use diesel::{QueryDsl, RunQueryDsl, TextExpressionMethods};
use domain::EmailAddress;
use serde_json::{Value, json};
use testkit::{HttpPeer, Mail, PeerAnswer, SmtpPeer};

use crate::app::{App, NOW, Peers, entry};

const OWNER: &str = "owner@example.org";
const CORP: &str = "corp@example.org";

/// Starts a service with a listener, and with a subscriber who has a domain and a webhook.
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
    app.deliver_notices().await;
    app
}

/// Returns the numbers of new accounts that the webhook received.
fn called(hook: &HttpPeer) -> Vec<Value> {
    let bodies = hook.requests().into_iter();
    let bodies = bodies.map(|call| serde_json::from_str::<Value>(&call.body).unwrap());
    bodies.map(|body| body["newAccounts"].clone()).collect()
}

#[actix_web::test]
async fn load_without_notices_sends_none_and_later_loads_do() {
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
    app.deliver_notices().await;
    app.deliver_listener_notices().await;
    assert!(app.mails().is_empty() && hook.requests().is_empty());
    // Repeating the files does not add anything new. Another address and another breach do.
    assert!(app.load("Alpha", &people).await.notices);
    app.load_pairs("Logs", &pairs).await;
    app.load_pastes(&paste("p1")).await;
    app.deliver_notices().await;
    app.deliver_listener_notices().await;
    assert!(app.mails().is_empty() && hook.requests().is_empty());
    app.load("Alpha", &format!("{people}c@corp.example\n")).await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [1]);
    app.load("Beta", &people).await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [1, 2]);
    app.load_pastes(&paste("p2")).await;
    app.deliver_listener_notices().await;
    let to = |address: &str| app.mails().iter().filter(|mail| mail.to[0] == address).count();
    assert_eq!((to(OWNER), to(CORP)), (2, 3));
}

#[actix_web::test]
async fn earlier_links_are_announced_despite_a_later_load_without_notices() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    // The server was not running after the first load.
    app.load("Alpha", &format!("{OWNER}\na@corp.example\n")).await;
    app.load_as("Alpha", &format!("{OWNER}\na@corp.example\nb@corp.example\n"), true).await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [1]);
    let to: Vec<String> = app.mails().iter().map(|mail: &Mail| mail.to[0].clone()).collect();
    assert!(to.len() == 2 && to.contains(&OWNER.to_owned()), "{to:?}");
}

#[actix_web::test]
async fn activating_a_breach_does_not_announce_links_without_notices() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    app.set_breach("Alpha", |breach| breach.active = false).await;
    app.load_as("Alpha", &format!("{OWNER}\na@corp.example\n"), true).await;
    app.deliver_notices().await;
    app.set_breach("Alpha", |breach| breach.active = true).await;
    app.deliver_notices().await;
    assert!(app.mails().is_empty() && hook.requests().is_empty());
}

#[actix_web::test]
async fn domain_verified_again_is_notified_of_later_links() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    let email = EmailAddress::parse(CORP).unwrap();
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        breaches::store::domain_inheritance::revoke(db, id, "corp.example")
    })
    .await;
    app.load("Alpha", "a@corp.example\n").await;
    app.verify(CORP, "corp.example").await;
    app.deliver_notices().await;
    assert!(app.mails().is_empty());
    app.load("Alpha", "a@corp.example\nb@corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [1]);
}

async fn opt_out(app: &App, email: &str, choice: OptOut) {
    let email = EmailAddress::parse(email).unwrap();
    let set = |db: &mut database::Db| breaches::opt_out(db, &email, choice, NOW);
    app.change(|db| set(db).map_err(DatabaseError::broken)).await;
}

/// Unlinks an address from a breach, as `address remove` does. Returns whether it was linked.
async fn unlink(app: &App, email: &str, breach: &str) -> bool {
    let email = EmailAddress::parse(email).unwrap();
    app.change(|db| {
        let id = catalogue::by_name(db, breach)?.unwrap().id;
        breaches::remove_link(db, &email, id, NOW).map_err(DatabaseError::broken)
    })
    .await
}

#[actix_web::test]
async fn addresses_after_removals_of_others_are_announced() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    let people = |names: &str| -> String {
        names.chars().map(|name| format!("{name}@corp.example\n")).collect()
    };
    app.load("Alpha", &people("abcd")).await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [4]);
    opt_out(&app, "a@corp.example", OptOut::Delete).await;
    opt_out(&app, "b@corp.example", OptOut::Breaches).await;
    assert!(unlink(&app, "c@corp.example", "Alpha").await);
    app.deliver_notices().await;
    assert_eq!(called(&hook), [4], "removals are not announced");
    app.load("Alpha", &people("def")).await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [4, 2]);
    // Links without notices, some of which are removed.
    app.load_as("Beta", &people("def"), true).await;
    assert!(unlink(&app, "d@corp.example", "Beta").await);
    opt_out(&app, "e@corp.example", OptOut::Delete).await;
    app.load("Beta", &people("fgh")).await;
    app.deliver_notices().await;
    assert_eq!(called(&hook), [4, 2, 2]);
}

#[actix_web::test]
async fn unlinked_owner_is_notified_of_a_later_link() {
    let hook = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let app = start(&hook).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 1);
    assert!(unlink(&app, OWNER, "Alpha").await);
    let traces = app.change(|db| {
        let notified = notified::table.count().get_result::<i64>(db)?;
        let named = outbox::table.filter(outbox::key.like("breach %")).count();
        Ok((notified, named.get_result::<i64>(db)?))
    });
    assert_eq!(traces.await, (0, 0), "no record shows that the owner was in the breach");
    assert!(!unlink(&app, OWNER, "Alpha").await);
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 2);
}
