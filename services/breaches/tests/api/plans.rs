//! Which plan includes which operation.

use serde_json::json;

use crate::app::{App, answer, entry, failure};

/// Operations 1, 2, 6, 7, 12, 13, 14, 15, 16 with targets that the subscriber controls.
const PATHS: [&str; 9] = [
    "breachedaccount/someone@example.com",
    "breachedaccount/range/abcdef",
    "breacheddomain/example.com",
    "subscribeddomains",
    "stealerlogsbyemail/someone@example.com",
    "stealerlogsbywebsitedomain/example.com",
    "stealerlogsbyemaildomain/example.com",
    "pasteaccount/someone@example.com",
    "subscription/status",
];

#[actix_web::test]
async fn every_pair_of_plan_and_operation_is_let_through_or_refused() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "someone@example.com\n").await;
    let core = [true, false, true, true, false, false, false, true, true];
    let pro = [true; 9];
    let high = [true, true, false, false, false, false, false, true, true];
    let free = [false; 9];
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
            // A full bucket for each request: the free plan has one token.
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
async fn a_subscriber_without_a_subscription_has_nothing() {
    let app = App::start().await;
    let refused = failure(403, "Access denied, the subscription does not include this resource.");
    let key = app
        .change(|db| {
            let email = domain::EmailAddress::parse("owner@example.org").unwrap();
            breaches::store::subscriber::add(db, &email, crate::app::NOW)?;
            auth::issue(db, email.as_str(), None, None, crate::app::NOW)
                .map_err(store::StoreError::broken)
        })
        .await
        .1;
    for path in PATHS {
        app.clock.advance(60);
        let found = answer(app.get_with(&key, &format!("/api/v3/{path}")).await).await;
        assert_eq!(found, refused, "{path}");
    }
}
