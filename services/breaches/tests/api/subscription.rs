//! Operations 7 and 16.

use serde_json::json;
use testkit::SmtpPeer;

use crate::app::{App, NOW, Peers, ZERO, answer, entry, failure};
use crate::browser::Browser;

#[actix_web::test]
async fn status_of_core_1_is_as_published() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let status = answer(app.get_with(&key, "/api/v3/subscription/status").await).await;
    let expected = r#"{"SubscriptionName":"Core 1","Description":"Covers 1 domain with up to 25 breached addresses and 10 email searches per minute.","SubscribedUntil":"2027-03-01T12:00:00","Rpm":10,"DomainSearchMaxBreachedAccounts":25,"MaxBreachedDomains":1,"IncludesStealerLogs":false,"IncludesBulkDomainAdd":false,"IncludesAutoSubdomainVerification":false,"IncludesCustomerDomains":false,"IncludesKAnon":false}"#;
    assert_eq!(status, (200, expected.into()));
}

#[actix_web::test]
async fn subscribed_domains_are_sorted_and_have_the_counts_of_their_last_search() {
    let app = App::start().await;
    let mut spam = entry("Spam");
    spam["IsSpamList"] = json!(true);
    app.import(&json!([entry("Alpha"), spam])).await;
    app.load("Alpha", "a@example.com\nb@example.com\n").await;
    app.load("Spam", "b@example.com\nc@example.com\n").await;
    let key = app.subscriber("owner@example.org", "core2").await;
    assert_eq!(app.json_with(&key, "/api/v3/subscribeddomains").await, json!([]));
    app.verify("owner@example.org", "example.net").await;
    app.verify("owner@example.org", "example.com").await;
    let row = |name: &str, all: Option<i64>, no_spam: Option<i64>, locked: Option<i64>| {
        json!({"DomainName": name, "PwnCount": all, "PwnCountExcludingSpamLists": no_spam,
            "PwnCountExcludingSpamListsAtLastSubscriptionRenewal": locked,
            "NextSubscriptionRenewal": "2027-03-01T12:00:00"})
    };
    let before =
        json!([row("example.com", None, None, None), row("example.net", None, None, None)]);
    assert_eq!(app.json_with(&key, "/api/v3/subscribeddomains").await, before);
    app.json_with(&key, "/api/v3/breacheddomain/example.com").await;
    app.await_count(3).await;
    app.load("Alpha", "d@example.com\n").await;
    app.json_with(&key, "/api/v3/breacheddomain/example.com").await;
    app.await_count(4).await;
    let after = app.json_with(&key, "/api/v3/subscribeddomains").await;
    assert_eq!(after[0], row("example.com", Some(4), Some(3), Some(2)));
    app.change(|db| {
        let email = domain::EmailAddress::parse("owner@example.org").unwrap();
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        breaches::store::subscribers::subscribe(db, id, "core2", NOW + 86_400 * 365, NOW)
    })
    .await;
    let renewed = app.json_with(&key, "/api/v3/subscribeddomains").await;
    assert_eq!(renewed[0], row("example.com", Some(4), Some(3), Some(3)));
}

#[actix_web::test]
async fn answers_for_the_test_subscription_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in ["subscribedDomains", "subscription/status"] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}

#[actix_web::test]
async fn subscription_until_a_date_ends_on_that_date() {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    // This is how `--until 2026-03-31` is stored.
    let until: jiff::Timestamp = "2026-04-01T00:00:00Z".parse().unwrap();
    let end = until.as_second();
    app.change(|db| breaches::store::subscribers::subscribe(db, 1, "pro1", end, NOW)).await;
    let browser = Browser::new(&app);
    browser.sign_in("owner@example.org").await;
    let page = browser.get("/account/subscription").await.expect(200);
    assert!(page.text().contains("<dd>2026-03-31</dd>"), "{}", page.text());
    app.clock.set(until);
    let expected = failure(403, "Access denied, the subscription ended on 2026-03-31.");
    assert_eq!(answer(app.get_with(&key, "/api/v3/subscribeddomains").await).await, expected);
}
