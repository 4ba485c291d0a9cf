//! Operations 3, 4 and 5, and the verification methods with real servers on loopback.

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{DnsPeer, SmtpPeer};

use crate::app::{App, PUBLIC_URL, Peers, UNKNOWN, ZERO, entry, failure};

const TOKEN: &str = "/api/v3/domainVerification/generateDnsToken";
const VERIFY: &str = "/api/v3/domainverification/verifydnstoken";
const MAIL: &str = "/api/v3/domainVerification/sendEmail";

pub fn peers() -> Peers {
    Peers { smtp: Some(SmtpPeer::start()), dns: Some(DnsPeer::start()), ..Peers::default() }
}

pub async fn subscriber(app: &App) -> String {
    app.subscriber("owner@example.org", "pro1").await
}

fn message(text: &str) -> (u16, String) {
    (400, json!({ "message": text }).to_string())
}

pub async fn token(app: &App, key: &str, domain: &str) -> String {
    let (status, body) = app.post_with(key, TOKEN, &json!({ "DomainName": domain })).await;
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    body["txtRecordValue"].as_str().unwrap().to_owned()
}

pub async fn verify(app: &App, key: &str, domain: &str) -> (u16, String) {
    app.post_with(key, VERIFY, &json!({ "domainname": domain })).await
}

pub fn done() -> (u16, String) {
    (200, String::new())
}

#[actix_web::test]
async fn txt_record_verifies_a_domain_permanently() {
    let app = App::with_peers(peers()).await;
    let (key, dns) = (subscriber(&app).await, app.peers.dns.as_ref().unwrap());
    let record = token(&app, &key, "Example.COM.").await;
    let code = record.strip_prefix("breach-verify=dweb_").unwrap();
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    assert!(code.len() == 24 && code.chars().all(fits), "{code}");
    assert_eq!(token(&app, &key, "example.com").await, record);
    let absent = message("No breach-verify TXT records were found on the domain.");
    assert_eq!(verify(&app, &key, "example.com").await, absent);
    dns.set_txt("example.com", &["v=spf1 -all", "breach-verify=dweb_other"]);
    let other = "A breach-verify TXT record was found but it does not carry the expected value.";
    assert_eq!(verify(&app, &key, "example.com").await, message(other));
    let path = "/api/v3/breacheddomain/example.com";
    assert_eq!(app.get_with(&key, path).await.status(), 403);
    dns.set_txt("example.com", &["v=spf1 -all", &format!("\"{record}\"")]);
    assert_eq!(verify(&app, &key, "example.com").await, done());
    assert_eq!(app.get_with(&key, path).await.status(), 404);
    // Neither the record nor a lookup is needed any longer, and the token stays the same.
    dns.set_txt("example.com", &[]);
    let asked = dns.questions();
    assert_eq!(verify(&app, &key, "example.com").await, done());
    assert_eq!(dns.questions(), asked);
    assert_eq!(token(&app, &key, "example.com").await, record);
    // Another subscriber gets a different token.
    let other = app.subscriber("other@example.org", "pro1").await;
    assert_ne!(token(&app, &other, "example.com").await, record);
}

#[actix_web::test]
async fn failing_resolver_is_503() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    app.peers.dns.as_ref().unwrap().set_failing(true);
    let unavailable = failure(503, "The service is temporarily unavailable.");
    assert_eq!(verify(&app, &key, "example.com").await, unavailable);
}

#[actix_web::test]
async fn invalid_body_domain_or_alias_is_400_in_this_order() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    let bad = message("The DomainName field did not contain a valid domain.");
    for domain in ["", "localhost", "1.2.3.4", "a b.example", "gmail.com", "co.uk", "x@y.example"] {
        for path in [TOKEN, VERIFY] {
            let answer = app.post_with(&key, path, &json!({ "DomainName": domain })).await;
            assert_eq!(answer, bad, "{path} {domain}");
        }
        let body = json!({ "DomainName": domain, "EmailAlias": "admin" });
        assert_eq!(app.post_with(&key, MAIL, &body).await, bad, "{domain}");
    }
    assert_eq!(app.post_with(&key, TOKEN, &json!({ "DomainName": 7, "x": 1 })).await, bad);
    let alias = message(
        "The EmailAlias field did not contain a valid value. Acceptable values are: admin, hostmaster, info, security, webmaster.",
    );
    let body = json!({ "DomainName": "example.com", "EmailAlias": "postmaster" });
    assert_eq!(app.post_with(&key, MAIL, &body).await, alias);
    let not_json = message("The request body is not valid JSON.");
    let too_large = failure(413, "The body must not be larger than 16 KiB.");
    let large = format!("{{\"DomainName\":\"example.com\",\"x\":\"{}\"}}", "x".repeat(17_000));
    for (body, expected) in [("", &not_json), ("{", &not_json), (large.as_str(), &too_large)] {
        for path in [TOKEN, VERIFY, MAIL] {
            let request = app.server.post(path).header("user-agent", "tests");
            let request = request.header("breach-api-key", &key).body(body.to_owned());
            assert_eq!(
                crate::app::answer(request.send().await.unwrap()).await,
                *expected,
                "{path}"
            );
        }
    }
}

#[actix_web::test]
async fn verification_by_api_needs_bulk_domain_add() {
    let app = App::with_peers(peers()).await;
    let core = app.subscriber("core@example.org", "core5").await;
    let body = json!({ "DomainName": "example.com" });
    let plan = failure(403, "Access denied, the subscription does not include this resource.");
    let invalid = failure(401, "Access denied due to invalid breach-api-key.");
    for path in [TOKEN, VERIFY, MAIL] {
        assert_eq!(app.post_with(&core, path, &body).await, plan);
        assert_eq!(app.post_with(ZERO, path, &body).await, invalid);
        assert_eq!(app.post_with(UNKNOWN, path, &body).await, invalid);
    }
}

#[actix_web::test]
async fn verification_mail_is_sent_to_an_owner_within_limits() {
    let app = App::with_peers(peers()).await;
    let (key, smtp) = (subscriber(&app).await, app.peers.smtp.as_ref().unwrap());
    let send = async |domain: &str, alias: &str| {
        let body = json!({ "DomainName": domain, "emailalias": alias });
        app.post_with(&key, MAIL, &body).await
    };
    assert_eq!(send("example.com", "HostMaster").await, done());
    let mail = smtp.mails().remove(0);
    assert_eq!((mail.from.as_str(), mail.to.len()), ("no-reply@breaches.example", 1));
    assert_eq!(mail.to[0], "hostmaster@example.com");
    let plain = mail.plain();
    assert!(plain.contains("owner@example.org") && plain.contains("24 hours"), "{plain}");
    let link = mail.find("https://").unwrap();
    let token = link.strip_prefix(&format!("{PUBLIC_URL}/domainVerification/approve?token="));
    assert_eq!(token.unwrap().len(), 64);
    let limited = failure(429, "Rate limit is exceeded. Try again in 600 seconds.");
    assert_eq!(send("example.com", "hostmaster").await, limited);
    assert_eq!(send("example.com", "info").await, done());
    assert_eq!(send("example.net", "hostmaster").await, done());
    app.clock.advance(600);
    assert_eq!(send("example.com", "hostmaster").await, done());
    // The limit is twenty per day and domain, for all aliases together.
    for _ in 0..17 {
        app.clock.advance(600);
        assert_eq!(send("example.com", "admin").await, done());
    }
    app.clock.advance(600);
    let wait = 86_400 - 19 * 600;
    let limited = failure(429, &format!("Rate limit is exceeded. Try again in {wait} seconds."));
    assert_eq!(send("example.com", "security").await, limited);
    assert_eq!(smtp.mails().len(), 21);
    let unavailable = failure(503, "The service is temporarily unavailable.");
    // An email that was not sent does not count.
    for answer in ["451 later", "550 no such user"] {
        smtp.refuse(Some(answer));
        assert_eq!(send("example.net", "admin").await, unavailable);
    }
    smtp.refuse(None);
    assert_eq!(send("example.net", "admin").await, done());
}

#[actix_web::test]
async fn mail_and_domain_limits_hold_for_concurrent_requests() {
    let app = App::with_peers(peers()).await;
    app.import(&json!([entry("Alpha")])).await;
    let domains = ["a.example", "b.example", "c.example", "d.example"];
    app.load("Alpha", &domains.map(|domain| people(11, domain)).concat()).await;
    let (key, dns) = (subscriber(&app).await, app.peers.dns.as_ref().unwrap());
    app.change(|db| {
        let mut features = breaches::store::plan_features::get(db, "pro1")?.unwrap();
        features.max_domains = 1;
        breaches::store::plan_features::set(db, "pro1", &features)
    })
    .await;
    for domain in domains {
        dns.set_txt(domain, &[&token(&app, &key, domain).await]);
    }
    let statuses = |answers: Vec<(u16, String)>| {
        let mut statuses: Vec<u16> = answers.into_iter().map(|(status, _)| status).collect();
        statuses.sort_unstable();
        statuses
    };
    let verified = join_all(domains.map(|domain| verify(&app, &key, domain))).await;
    assert_eq!(statuses(verified), [200, 403, 403, 403]);
    let body = json!({ "DomainName": "example.com", "EmailAlias": "admin" });
    let sent = join_all((0..6).map(|_| app.post_with(&key, MAIL, &body))).await;
    assert_eq!(statuses(sent), [200, 429, 429, 429, 429, 429]);
    assert_eq!(app.peers.smtp.as_ref().unwrap().mails().len(), 1);
}

pub fn people(count: u32, domain: &str) -> String {
    (0..count).map(|n| format!("user{n}@{domain}\n")).collect()
}

#[actix_web::test]
async fn larger_domains_are_verified_up_to_the_plan_limit() {
    let app = App::with_peers(peers()).await;
    app.import(&json!([entry("Alpha")])).await;
    let lists = [people(11, "a.example"), people(11, "b.example"), people(10, "c.example")];
    app.load("Alpha", &lists.concat()).await;
    let (key, dns) = (subscriber(&app).await, app.peers.dns.as_ref().unwrap());
    app.change(|db| {
        let mut features = breaches::store::plan_features::get(db, "pro1")?.unwrap();
        features.max_domains = 1;
        breaches::store::plan_features::set(db, "pro1", &features)
    })
    .await;
    for domain in ["a.example", "b.example", "c.example"] {
        dns.set_txt(domain, &[&token(&app, &key, domain).await]);
    }
    assert_eq!(verify(&app, &key, "a.example").await, done());
    let text = "Access denied, the subscription allows 1 breached domains and 1 are in use.";
    let full = (403, json!({ "message": text }).to_string());
    assert_eq!(verify(&app, &key, "b.example").await, full);
    // Small domains do not count, and the rejected one is still pending.
    assert_eq!(verify(&app, &key, "c.example").await, done());
    let listed = app.json_with(&key, "/api/v3/subscribeddomains").await;
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|row| &row["DomainName"]).collect();
    assert_eq!(names, ["a.example", "c.example"]);
}

#[actix_web::test]
async fn subdomain_of_a_verified_domain_needs_no_record_if_the_plan_includes_it() {
    let app = App::with_peers(peers()).await;
    let (key, dns) = (subscriber(&app).await, app.peers.dns.as_ref().unwrap());
    dns.set_txt("example.com", &[&token(&app, &key, "example.com").await]);
    assert_eq!(verify(&app, &key, "example.com").await, done());
    assert_eq!(verify(&app, &key, "deep.sub.example.com").await, done());
    assert_eq!(verify(&app, &key, "notexample.com").await.0, 400);
    app.change(|db| {
        let mut features = breaches::store::plan_features::get(db, "pro1")?.unwrap();
        features.auto_subdomain = false;
        breaches::store::plan_features::set(db, "pro1", &features)
    })
    .await;
    assert_eq!(verify(&app, &key, "other.example.com").await.0, 400);
}

#[actix_web::test]
async fn revoking_a_domain_keeps_subdomains_with_their_own_proof() {
    let app = App::with_peers(peers()).await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "a@own.example.com\nb@pending.example.com\nc@known.example.com\n").await;
    let (key, dns) = (subscriber(&app).await, app.peers.dns.as_ref().unwrap());
    dns.set_txt("own.example.com", &[&token(&app, &key, "own.example.com").await]);
    assert_eq!(verify(&app, &key, "own.example.com").await, done());
    token(&app, &key, "pending.example.com").await;
    dns.set_txt("example.com", &[&token(&app, &key, "example.com").await]);
    assert_eq!(verify(&app, &key, "example.com").await, done());
    token(&app, &key, "asked.example.com").await;
    assert_eq!(verify(&app, &key, "asked.example.com").await, done());
    let names = async || -> Vec<String> {
        let listed = app.json_with(&key, "/api/v3/subscribeddomains").await;
        let rows = listed.as_array().unwrap().iter();
        rows.map(|row| row["DomainName"].as_str().unwrap().to_owned()).collect()
    };
    let below =
        ["asked.", "", "known.", "own.", "pending."].map(|name| format!("{name}example.com"));
    assert_eq!(names().await, below);
    app.change(|db| breaches::store::domain_inheritance::revoke(db, 1, "example.com")).await;
    assert_eq!(names().await, ["own.example.com"]);
}

#[actix_web::test]
async fn earlier_link_stays_valid_until_it_is_used() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    let mut tokens = Vec::new();
    for alias in ["admin", "info"] {
        let body = json!({ "DomainName": "example.com", "EmailAlias": alias });
        assert_eq!(app.post_with(&key, MAIL, &body).await, done());
        tokens.push(app.last_token("/domainVerification/approve"));
    }
    let browser = crate::browser::Browser::new(&app);
    let approve = async |token: &str| {
        let answer = browser.post("/", "/domainVerification/approve", &[("token", token)]).await;
        (answer.status, answer.text().contains("may now search example.com"))
    };
    assert_eq!(approve(&tokens[0]).await, (200, true));
    assert_eq!(approve(&tokens[0]).await, (400, false));
    assert_eq!(approve(&tokens[1]).await, (200, true));
}

#[actix_web::test]
async fn approval_link_beyond_the_plan_can_be_tried_thirty_times_a_minute() {
    let app = App::with_peers(peers()).await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &people(11, "example.com")).await;
    let key = subscriber(&app).await;
    app.change(|db| {
        let mut features = breaches::store::plan_features::get(db, "pro1")?.unwrap();
        features.max_domains = 0;
        breaches::store::plan_features::set(db, "pro1", &features)
    })
    .await;
    let body = json!({ "DomainName": "example.com", "EmailAlias": "admin" });
    assert_eq!(app.post_with(&key, MAIL, &body).await, done());
    let token = app.last_token("/domainVerification/approve");
    let browser = crate::browser::Browser::new(&app);
    let approve = async || {
        let fields = [("token", token.as_str())];
        browser.post("/", "/domainVerification/approve", &fields).await.status
    };
    for _ in 0..30 {
        assert_eq!(approve().await, 403);
    }
    assert_eq!(approve().await, 429);
    app.clock.advance(2);
    assert_eq!(approve().await, 403);
}

#[actix_web::test]
async fn expired_and_unknown_links_have_different_messages() {
    let app = App::with_peers(peers()).await;
    let key = subscriber(&app).await;
    let body = json!({ "DomainName": "example.com", "EmailAlias": "admin" });
    assert_eq!(app.post_with(&key, MAIL, &body).await, done());
    let token = app.last_token("/domainVerification/approve");
    let browser = crate::browser::Browser::new(&app);
    let look = async |token: &str| {
        let answer = browser.get(&format!("/domainVerification/approve?token={token}")).await;
        answer.expect(200).text().to_owned()
    };
    app.clock.advance(24 * 3600 - 1);
    assert!(look(&token).await.contains("owner@example.org wants to see"));
    app.clock.advance(1);
    let old = "This link was already used or has expired. Request a new email.";
    assert!(look(&token).await.contains(old));
    let sent = browser.post("/", "/domainVerification/approve", &[("token", &token)]).await;
    assert!(sent.expect(400).text().contains(old));
    assert!(look(&"0".repeat(64)).await.contains("This link does not exist."));
    let path = "/api/v3/breacheddomain/example.com";
    assert_eq!(app.get_with(&key, path).await.status(), 403);
}

#[actix_web::test]
async fn configured_deny_list_replaces_the_built_in_one() {
    let folder = testkit::Folder::new();
    let list = folder.write("deny.txt", "# ours\ncorp.example\n");
    let app = App::with(|settings| settings.verification.verify_deny = Some(list)).await;
    let key = subscriber(&app).await;
    let bad = message("The DomainName field did not contain a valid domain.");
    let body = json!({ "DomainName": "corp.example" });
    assert_eq!(app.post_with(&key, TOKEN, &body).await, bad);
    // The configured list replaces the built-in one.
    token(&app, &key, "gmail.com").await;
}
