//! The operations that each plan includes.

use breaches::store::{plan_features, subscribers};
use serde_json::json;

use crate::app::{App, NOW, answer, entry, failure};

/// Operations 1, 2, 6, 7, 12, 13, 14, 15, 16 and reports, with targets that the subscriber
/// controls.
const PATHS: [&str; 10] = [
    "breachedaccount/someone@example.com",
    "breachedaccount/range/abcdef",
    "breacheddomain/example.com",
    "subscribeddomains",
    "stealerlogsbyemail/someone@example.com",
    "stealerlogsbywebsitedomain/example.com",
    "stealerlogsbyemaildomain/example.com",
    "pasteaccount/someone@example.com",
    "subscription/status",
    "domainreport/example.com?since=2020-01-01",
];

#[actix_web::test]
async fn each_plan_allows_exactly_its_operations() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "someone@example.com\n").await;
    let core = [true, false, true, true, false, false, false, true, true, true];
    let pro = [true; 10];
    let high = [true, true, false, false, false, false, false, true, true, false];
    let free = [false; 10];
    let plans = [("core", core), ("pro", pro)]
        .iter()
        .flat_map(|(name, expected)| {
            (1..=5).map(move |level| (format!("{name}{level}"), *expected))
        })
        .chain([4000, 8000, 12000].map(|rpm| (format!("highrpm{rpm}"), high)))
        .chain([("free".to_owned(), free)])
        .collect::<Vec<_>>();
    assert_eq!(plans.len(), 14);
    let refused = failure(403, "Access denied, the subscription does not include this resource.");
    for (plan, expected) in plans {
        let owner = format!("{plan}@example.org");
        let key = app.subscriber(&owner, &plan).await;
        app.verify(&owner, "example.com").await;
        for (path, included) in PATHS.iter().zip(expected) {
            // Refills the quota for each request, because the free plan allows one request per
            // minute.
            app.clock.advance(60);
            let (status, body) = answer(app.get_with(&key, &format!("/api/v3/{path}")).await).await;
            if included {
                assert!(matches!(status, 200 | 404), "{plan} {path}: {status}");
            } else {
                assert_eq!((status, body), refused, "{plan} {path}");
            }
        }
    }
}

#[actix_web::test]
async fn subscriber_without_a_subscription_is_refused_everything() {
    let app = App::start().await;
    let refused = failure(403, "Access denied, the subscription does not include this resource.");
    let key = app
        .change(|db| {
            let email = domain::EmailAddress::parse("owner@example.org").unwrap();
            subscribers::add(db, &email, NOW)?;
            auth::issue(db, email.as_str(), None, None, NOW)
                .map_err(database::DatabaseError::broken)
        })
        .await
        .1;
    for path in PATHS {
        app.clock.advance(60);
        let found = answer(app.get_with(&key, &format!("/api/v3/{path}")).await).await;
        assert_eq!(found, refused, "{path}");
    }
}

/// Builds addresses of one domain, one per line.
fn people(count: u32) -> String {
    (0..count).map(|n| format!("user{n}@example.com\n")).collect()
}

const DOMAIN: &str = "/api/v3/breacheddomain/example.com";

#[actix_web::test]
async fn plan_of_size_zero_covers_domains_with_up_to_ten_addresses() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &people(10)).await;
    app.change(|db| {
        let mut features = plan_features::get(db, "core1")?.unwrap();
        (features.max_domain_size, features.max_domains) = (0, 0);
        plan_features::set(db, "core1", &features)
    })
    .await;
    let key = app.subscriber("owner@example.org", "core1").await;
    app.verify("owner@example.org", "example.com").await;
    let status = app.json_with(&key, "/api/v3/subscription/status").await;
    assert_eq!(status["DomainSearchMaxBreachedAccounts"], 0);
    assert_eq!(status["MaxBreachedDomains"], 0);
    let found = app.json_with(&key, DOMAIN).await;
    assert_eq!(found.as_object().unwrap().len(), 10);
    app.verify("owner@example.org", "example.net").await;
    app.load("Alpha", &people(11).replace("example.com", "example.net")).await;
    let larger = app.get_with(&key, "/api/v3/breacheddomain/example.net").await;
    let refused = failure(
        403,
        "Access denied, the domain has 11 breached addresses and the subscription covers 0.",
    );
    assert_eq!(answer(larger).await, refused);
}

#[actix_web::test]
async fn domain_larger_than_its_plan_is_limited_from_the_renewal_on() {
    let app = App::start().await;
    let mut free = entry("Free");
    free["IsSubscriptionFree"] = json!(true);
    app.import(&json!([entry("Alpha"), free])).await;
    app.load("Alpha", &people(25)).await;
    let key = app.subscriber("owner@example.org", "core1").await;
    app.verify("owner@example.org", "example.com").await;
    assert_eq!(app.get_with(&key, DOMAIN).await.status(), 200);
    app.await_count(25).await;
    app.load("Alpha", &people(40)).await;
    app.load("Free", "user1@example.com\nuser39@example.com\n").await;
    let grown = app.get_with(&key, DOMAIN).await;
    assert!(grown.headers().get("x-domain-search-limited").is_none());
    let all = grown.json::<serde_json::Value>().await.unwrap();
    assert_eq!(all.as_object().unwrap().len(), 40);
    assert_eq!(all["user1"], json!(["Alpha", "Free"]));
    app.change(|db| {
        let email = domain::EmailAddress::parse("owner@example.org").unwrap();
        let id = subscribers::id(db, &email)?.unwrap();
        subscribers::subscribe(db, id, "core1", NOW + 86_400 * 400, NOW)
    })
    .await;
    let renewed = app.get_with(&key, DOMAIN).await;
    assert_eq!(renewed.headers()["x-domain-search-limited"], "subscription-free");
    let expected = r#"{"user1":["Free"],"user39":["Free"]}"#;
    assert_eq!(answer(renewed).await, (200, expected.to_owned()));
}
