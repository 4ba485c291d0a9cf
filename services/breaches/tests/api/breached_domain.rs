//! Operation 6: control and size of domains.

use breaches::store::domain_controls;
use database::DatabaseError;
use diesel::{RunQueryDsl, sql_query};
use serde_json::json;

use crate::app::{App, TEST, ZERO, answer, entry, failure};

const PATH: &str = "/api/v3/breacheddomain/example.com";

impl App {
    /// Waits until a domain search has saved this count, for which its response waits only briefly.
    pub async fn await_count(&self, count: i64) {
        let noted = async || {
            let controls = self.context.pools.read_blocking(domain_controls::with_subscribers);
            controls.unwrap().iter().any(|(_, control)| control.pwn_count == Some(count))
        };
        testkit::until("the search is recorded", noted).await;
    }
}

fn people(range: std::ops::Range<u32>, domain: &str) -> String {
    range.map(|n| format!("user{n}@{domain}\n")).collect()
}

#[actix_web::test]
async fn verified_domain_is_searched_without_its_subdomains() {
    let app = App::start().await;
    app.import(&json!([entry("beta"), entry("Alpha")])).await;
    app.load("beta", "B@example.com\na@example.com\nc@sub.example.com\n").await;
    app.load("Alpha", "b@example.com\n").await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let refused =
        failure(403, "Access denied, the domain has not been verified by this subscription.");
    assert_eq!(answer(app.get_with(&key, PATH).await).await, refused);
    app.verify("owner@example.org", "example.com").await;
    let found = answer(app.get_with(&key, PATH).await).await;
    assert_eq!(found, (200, r#"{"a":["beta"],"b":["Alpha","beta"]}"#.into()));
    let below = app.get_with(&key, "/api/v3/breacheddomain/sub.example.com").await;
    assert_eq!(answer(below).await, refused);
    app.verify("owner@example.org", "example.net").await;
    let none = app.get_with(&key, "/api/v3/breacheddomain/example.net").await;
    assert_eq!(answer(none).await, (404, String::new()));
}

#[actix_web::test]
async fn searches_and_reading_commands_do_not_wait_for_a_writer() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "a@example.com\n").await;
    let key = app.subscriber("owner@example.org", "core1").await;
    app.verify("owner@example.org", "example.com").await;
    let pools = app.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (end, may_end) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        pools.write_blocking(|db| -> Result<(), DatabaseError> {
            sql_query("UPDATE domain_control SET code = code").execute(db)?;
            begun.send(()).unwrap();
            may_end.recv().unwrap();
            Ok(())
        })
    });
    has_begun.recv().unwrap();
    let found = answer(app.get_with(&key, PATH).await).await;
    assert_eq!(found, (200, r#"{"a":["Alpha"]}"#.into()));
    breaches::jobs::first_start(&app.context).unwrap();
    end.send(()).unwrap();
    writer.join().unwrap().unwrap();
    // The count is written once the other writer has finished.
    app.await_count(1).await;
}

#[actix_web::test]
async fn plan_with_automatic_subdomains_adds_known_subdomains() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "a@example.com\nb@sub.example.com\nc@notexample.com\n").await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "example.com").await;
    let domains = app.json_with(&key, "/api/v3/subscribeddomains").await;
    let names: Vec<_> =
        domains.as_array().unwrap().iter().map(|d| d["DomainName"].clone()).collect();
    assert_eq!(names, ["example.com", "sub.example.com"]);
}

#[actix_web::test]
async fn domain_larger_than_the_plan_shows_subscription_free_breaches_only() {
    let app = App::start().await;
    let mut free = entry("Free");
    free["IsSubscriptionFree"] = json!(true);
    app.import(&json!([entry("Alpha"), free])).await;
    app.load("Alpha", &people(0..26, "example.com")).await;
    let key = app.subscriber("owner@example.org", "core1").await;
    app.verify("owner@example.org", "example.com").await;
    let refused = failure(
        403,
        "Access denied, the domain has 26 breached addresses and the subscription covers 25.",
    );
    assert_eq!(answer(app.get_with(&key, PATH).await).await, refused);
    app.await_count(26).await;
    let domains = app.json_with(&key, "/api/v3/subscribeddomains").await;
    assert_eq!(domains[0]["PwnCount"], 26);
    app.load("Free", "user1@example.com\n").await;
    let response = app.get_with(&key, PATH).await;
    assert_eq!(response.headers()["x-domain-search-limited"], "subscription-free");
    assert_eq!(answer(response).await, (200, r#"{"user1":["Free"]}"#.into()));
}

#[actix_web::test]
async fn grown_domain_is_searched_until_the_renewal() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &people(0..25, "example.com")).await;
    let key = app.subscriber("owner@example.org", "core1").await;
    app.verify("owner@example.org", "example.com").await;
    assert_eq!(app.get_with(&key, PATH).await.status(), 200);
    app.await_count(25).await;
    app.load("Alpha", &people(25..40, "example.com")).await;
    let grown = app.json_with(&key, PATH).await;
    assert_eq!(grown.as_object().unwrap().len(), 40);
    app.change(|db| {
        let email = domain::EmailAddress::parse("owner@example.org").unwrap();
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        let until = crate::app::NOW + 86_400 * 400;
        breaches::store::subscribers::subscribe(db, id, "core1", until, crate::app::NOW)
    })
    .await;
    assert_eq!(app.get_with(&key, PATH).await.status(), 403);
}

#[actix_web::test]
async fn too_many_large_domains_are_refused_and_small_ones_do_not_count() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    let lists = ["example.com", "example.net", "small.example"];
    let all: String = lists[..2].iter().map(|domain| people(0..11, domain)).collect();
    app.load("Alpha", &(all + &people(0..10, lists[2]))).await;
    let key = app.subscriber("owner@example.org", "core1").await;
    app.verify("owner@example.org", "example.com").await;
    app.verify("owner@example.org", "small.example").await;
    assert_eq!(app.get_with(&key, PATH).await.status(), 200);
    app.verify("owner@example.org", "example.net").await;
    let refused =
        failure(403, "Access denied, the subscription allows 1 breached domains and 2 are in use.");
    assert_eq!(answer(app.get_with(&key, PATH).await).await, refused);
    let small = app.get_with(&key, "/api/v3/breacheddomain/small.example").await;
    assert_eq!(small.status(), 200);
}

#[actix_web::test]
async fn unlimited_plan_covers_any_size() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &people(0..600, "example.com")).await;
    for plan in ["core4", "pro1"] {
        let owner = format!("{plan}@example.org");
        let key = app.subscriber(&owner, plan).await;
        app.verify(&owner, "example.com").await;
        let found = app.json_with(&key, PATH).await;
        assert_eq!(found.as_object().unwrap().len(), 600);
    }
}

#[actix_web::test]
async fn answers_for_verified_unverified_and_invalid_domains_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        format!("breachedDomain/{TEST}"),
        format!("breachedDomain/nowhere.{TEST}"),
        "breachedDomain/nowhere".to_owned(),
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}

#[actix_web::test]
async fn large_domain_is_streamed_in_alias_order() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    let lines: String = (0..12_000).map(|n| format!("person.number{n}@example.com\n")).collect();
    app.load("Alpha", &lines).await;
    let some: String = lines.lines().step_by(7).flat_map(|line| [line, "\n"]).collect();
    app.load("Beta", &some).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "example.com").await;
    let answer = app.get_with(&key, PATH).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.content_length(), None);
    assert_eq!(answer.headers()["content-type"], "application/json");
    let mut expected = std::collections::BTreeMap::new();
    for (n, line) in lines.lines().enumerate() {
        let alias = line.split('@').next().unwrap();
        let names = if n % 7 == 0 { vec!["Alpha", "Beta"] } else { vec!["Alpha"] };
        expected.insert(alias, names);
    }
    assert!(answer.text().await.unwrap() == serde_json::to_string(&expected).unwrap());
}

#[actix_web::test]
async fn alias_at_both_spellings_of_a_domain_has_the_breaches_of_both() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "a@bücher.example\nö.b@bücher.example\n").await;
    app.load("Beta", "a@xn--bcher-kva.example\n").await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "bücher.example").await;
    let found = app.get_with(&key, "/api/v3/breacheddomain/xn--bcher-kva.example").await;
    assert_eq!(answer(found).await, (200, r#"{"a":["Alpha","Beta"],"ö.b":["Alpha"]}"#.to_owned()));
}
