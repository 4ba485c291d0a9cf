//! Subdomains inherited from a verified parent domain.

use breaches::store::{domain_controls, domain_inheritance, plan_features};
use diesel::RunQueryDsl;
use futures_util::future::join;

use crate::app::{App, Peers, entry};
use crate::bulk_check::BULK;
use crate::domain_verification::{done, peers, people, subscriber, token, verify};

const OWNER: &str = "owner@example.org";

/// Returns the names of the verified domains.
async fn names(app: &App, key: &str) -> Vec<String> {
    let listed = app.json_with(key, "/api/v3/subscribeddomains").await;
    let rows = listed.as_array().unwrap().iter();
    rows.map(|row| row["DomainName"].as_str().unwrap().to_owned()).collect()
}

async fn prove(app: &App, key: &str, domain: &str) {
    let record = token(app, key, domain).await;
    app.peers.dns.as_ref().unwrap().set_txt(domain, &[&record]);
    assert_eq!(verify(app, key, domain).await, done());
}

async fn revoke(app: &App, domain: &str) {
    app.change(|db| domain_inheritance::revoke(db, 1, domain)).await;
}

async fn set_max_domains(app: &App, max: i32) {
    app.change(|db| {
        let mut features = plan_features::get(db, "pro1")?.unwrap();
        features.max_domains = max;
        plan_features::set(db, "pro1", &features)
    })
    .await;
}

#[actix_web::test]
async fn revoking_a_domain_revokes_inherited_subdomains() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    prove(&app, &key, "corp.example").await;
    for below in ["a.corp.example", "b.a.corp.example", "c.b.a.corp.example"] {
        assert_eq!(verify(&app, &key, below).await, done(), "{below}");
    }
    revoke(&app, "corp.example").await;
    assert!(names(&app, &key).await.is_empty());
    for below in ["b.a.corp.example", "d.b.a.corp.example"] {
        assert_eq!(verify(&app, &key, below).await.0, 400, "{below}");
    }
}

#[actix_web::test]
async fn subdomain_of_a_nearer_verified_parent_survives_a_revocation() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    prove(&app, &key, "corp.example").await;
    assert_eq!(verify(&app, &key, "b.a.corp.example").await, done());
    // Already verified. Verification by the operator turns it into a domain with its own proof.
    app.verify(OWNER, "a.corp.example").await;
    revoke(&app, "corp.example").await;
    assert_eq!(names(&app, &key).await, ["a.corp.example", "b.a.corp.example"]);
    revoke(&app, "a.corp.example").await;
    assert!(names(&app, &key).await.is_empty());
}

#[actix_web::test(flavor = "multi_thread")]
async fn inheritance_from_a_concurrently_revoked_domain_has_no_effect() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    let context = app.context.clone();
    for round in 0..15 {
        prove(&app, &key, "corp.example").await;
        let below = format!("sub{round}.corp.example");
        token(&app, &key, &below).await;
        let pools = context.pools.clone();
        let revoked = pools.write(|db| domain_inheritance::revoke(db, 1, "corp.example"));
        let (answer, revoked) = join(verify(&app, &key, &below), revoked).await;
        revoked.unwrap();
        assert!(matches!(answer.0, 200 | 400), "{answer:?}");
        assert!(names(&app, &key).await.is_empty(), "round {round}");
        app.clock.advance(60);
    }
}

#[actix_web::test(flavor = "multi_thread")]
async fn proof_of_a_concurrently_revoked_domain_has_no_effect() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    let (context, dns) = (app.context.clone(), app.peers.dns.as_ref().unwrap());
    for round in 0..15 {
        let domain = format!("round{round}.example");
        dns.set_txt(&domain, &[&token(&app, &key, &domain).await]);
        let (pools, name) = (context.pools.clone(), domain.clone());
        let revoked = pools.write(move |db| domain_inheritance::revoke(db, 1, &name));
        let (answer, revoked) = join(verify(&app, &key, &domain), revoked).await;
        revoked.unwrap();
        assert!(matches!(answer.0, 200 | 400), "{answer:?}");
        assert!(names(&app, &key).await.is_empty(), "round {round}");
        app.clock.advance(60);
    }
}

#[actix_web::test]
async fn verification_link_of_a_revoked_domain_has_no_effect() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    let body = serde_json::json!({ "DomainName": "example.com", "EmailAlias": "admin" });
    assert_eq!(app.post_with(&key, "/api/v3/domainVerification/sendEmail", &body).await, done());
    let link = app.last_token("/domainVerification/approve");
    revoke(&app, "example.com").await;
    let browser = crate::browser::Browser::new(&app);
    browser.post("/", "/domainVerification/approve", &[("token", &link)]).await;
    assert!(names(&app, &key).await.is_empty());
}

#[actix_web::test]
async fn inherited_subdomains_stay_within_the_plan() {
    let app = App::with_peers(Peers { smtp: Some(testkit::SmtpPeer::start()), ..peers() }).await;
    app.import(&serde_json::json!([entry("Alpha"), entry("Beta")])).await;
    let large = ["", "a.", "b.", "c."].map(|name| people(11, &format!("{name}corp.example")));
    app.load("Alpha", &(large.concat() + &people(10, "small.corp.example"))).await;
    let key = subscriber(&app).await;
    set_max_domains(&app, 2).await;
    let mut reported = app.verify(OWNER, "corp.example").await;
    reported.sort();
    let verified = names(&app, &key).await;
    assert_eq!((verified.len(), &reported), (3, &verified));
    let search = async |domain: &str| {
        app.get_with(&key, &format!("/api/v3/breacheddomain/{domain}")).await.status().as_u16()
    };
    assert_eq!(search("corp.example").await, 200);
    assert_eq!(search("small.corp.example").await, 200);
    // The next load does not add them either, and a subdomain that grows does not displace others.
    app.load("Beta", &people(12, "small.corp.example")).await;
    app.deliver_notices().await;
    let within = names(&app, &key).await;
    assert_eq!(within.len(), 2, "{within:?}");
    for domain in &within {
        assert_eq!(search(domain).await, 200, "{domain}");
    }
    // The error is reported for the parent domain.
    assert_eq!(verify(&app, &key, "c.corp.example").await.0, 403);
    let metrics = app.server.admin("/metrics").send().await.unwrap().text().await.unwrap();
    let refused = "breaches_domain_proofs_total{method=\"parent\",outcome=\"refused\"} ";
    let refused = metrics.lines().find_map(|line| line.strip_prefix(refused)).unwrap();
    assert_ne!(refused, "0");
    // A domain with its own proof takes precedence.
    prove(&app, &key, "c.corp.example").await;
    assert_eq!(names(&app, &key).await, ["c.corp.example", "corp.example"]);
    assert_eq!(search("c.corp.example").await, 200);
    // With a larger plan, the others are added.
    set_max_domains(&app, 10).await;
    app.load("Beta", "x@other.example\n").await;
    app.deliver_notices().await;
    let all = ["a.", "b.", "c.", "", "small."].map(|name| format!("{name}corp.example"));
    assert_eq!(names(&app, &key).await, all);
}

#[actix_web::test]
async fn subdomain_beyond_the_plan_can_still_be_proved_after_a_recount() {
    let app = App::with_peers(peers()).await;
    app.import(&serde_json::json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", &(people(11, "a.corp.example") + &people(11, "b.corp.example"))).await;
    let key = subscriber(&app).await;
    set_max_domains(&app, 1).await;
    app.verify(OWNER, "corp.example").await;
    let inherited = names(&app, &key).await;
    let both = ["a.corp.example", "b.corp.example"];
    let other = both.into_iter().find(|name| inherited.iter().all(|held| held != *name)).unwrap();
    let body = serde_json::json!({ "DomainName": other, "EmailAlias": "admin" });
    assert_eq!(app.post_with(&key, "/api/v3/domainVerification/sendEmail", &body).await, done());
    let link = app.last_token("/domainVerification/approve");
    app.load("Beta", "x@other.example\n").await;
    app.deliver_notices().await;
    let listed = app.change(|db| domain_controls::all(db, 1)).await;
    assert!(listed.iter().any(|control| control.domain == other), "{listed:?}");
    let browser = crate::browser::Browser::new(&app);
    let approved = browser.post("/", "/domainVerification/approve", &[("token", &link)]).await;
    assert_eq!(approved.status, 200);
    assert_eq!(names(&app, &key).await, [other, "corp.example"]);
}

#[actix_web::test]
async fn removed_subdomain_returns_only_when_its_parent_is_verified_again() {
    let app = App::with_peers(Peers { smtp: Some(testkit::SmtpPeer::start()), ..peers() }).await;
    app.import(&serde_json::json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "a@corp.example\nb@sub.corp.example\nc@deep.sub.corp.example\n").await;
    let key = subscriber(&app).await;
    app.verify(OWNER, "corp.example").await;
    assert_eq!(names(&app, &key).await.len(), 3);
    revoke(&app, "sub.corp.example").await;
    assert_eq!(names(&app, &key).await, ["corp.example"]);
    app.load("Beta", "d@sub.corp.example\ne@new.sub.corp.example\nf@new.corp.example\n").await;
    app.deliver_notices().await;
    assert_eq!(names(&app, &key).await, ["corp.example", "new.corp.example"]);
    // The parent domain no longer proves it. Its own proof still would.
    assert_eq!(verify(&app, &key, "sub.corp.example").await.0, 400);
    assert_eq!(verify(&app, &key, "x.sub.corp.example").await.0, 400);
    app.verify(OWNER, "corp.example").await;
    let all =
        ["", "deep.sub.", "new.", "new.sub.", "sub."].map(|name| format!("{name}corp.example"));
    assert_eq!(names(&app, &key).await, all);
    // Revoking the parent and proving it again counts as a new verification.
    revoke(&app, "sub.corp.example").await;
    revoke(&app, "corp.example").await;
    prove(&app, &key, "corp.example").await;
    assert_eq!(names(&app, &key).await, all);
}

#[actix_web::test]
async fn pending_domains_are_limited_to_1000() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    app.change(|db| {
        for n in 0..1_000 {
            assert!(domain_controls::begin(db, 1, &format!("d{n}.example"), "code")?.is_some());
        }
        Ok(())
    })
    .await;
    let body = serde_json::json!({ "DomainName": "one.more.example" });
    let (status, body) =
        app.post_with(&key, "/api/v3/domainVerification/generateDnsToken", &body).await;
    let text = "Access denied, too many domains await verification: verify or remove some of them.";
    assert_eq!((status, body), (403, serde_json::json!({ "message": text }).to_string()));
    token(&app, &key, "d7.example").await;
    prove(&app, &key, "d8.example").await;
    token(&app, &key, "one.more.example").await;
}

#[actix_web::test]
async fn subdomains_beyond_the_limit_of_a_request_are_counted_in_the_background() {
    let app = App::with_peers(peers()).await;
    app.import(&serde_json::json!([entry("Alpha")])).await;
    let lines: String = (0..30).map(|n| format!("a@sub{n}.corp.example\n")).collect();
    app.load("Alpha", &lines).await;
    let key = subscriber(&app).await;
    prove(&app, &key, "corp.example").await;
    let sizes = async || {
        let all = app.change(|db| domain_controls::all(db, 1)).await;
        let counted: Vec<i64> = all.iter().filter_map(|control| control.size_now).collect();
        (all.len(), counted.len(), counted.iter().sum::<i64>())
    };
    assert_eq!(sizes().await, (31, 21, 20));
    breaches::jobs::count_new_domains(&app.state).await.unwrap();
    assert_eq!(sizes().await, (31, 31, 30));
}

#[actix_web::test]
async fn bulk_check_counts_an_inherited_domain_that_was_not_counted() {
    let app = App::start().await;
    app.import(&serde_json::json!([entry("Alpha")])).await;
    let lines: String = (0..20).map(|n| format!("user{n}@large.corp.example\n")).collect();
    app.load("Alpha", &format!("a@corp.example\n{lines}")).await;
    let key = app.subscriber(OWNER, "pro1").await;
    app.verify(OWNER, "corp.example").await;
    app.change(|db| {
        let mut features = plan_features::get(db, "pro1")?.unwrap();
        features.max_domain_size = 15;
        plan_features::set(db, "pro1", &features)?;
        // Its count has failed.
        let sizes = "UPDATE domain_control SET size_now = NULL WHERE domain = 'large.corp.example'";
        Ok(diesel::sql_query(sizes).execute(db)?)
    })
    .await;
    let emails = serde_json::json!({ "emails": ["user1@large.corp.example", "a@corp.example"] });
    let (status, body) = app.post_with(&key, BULK, &emails).await;
    let found: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, &found[0]["error"]["statusCode"]),
        (200, &serde_json::json!(403)),
        "{body}"
    );
    assert_eq!(found[1]["breaches"].as_array().map(Vec::len), Some(1));
    let domain = ["large.corp.example"];
    let controls = app.change(|db| domain_controls::verified_of(db, 1, &domain)).await;
    assert_eq!(controls[0].size_now, Some(20));
}
