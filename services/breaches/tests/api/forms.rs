//! Forms of the pages: input that is rejected.

use std::sync::mpsc;

use breaches::store::schema::mail_token;
use breaches::store::versions;
use database::{DatabaseError, Db};
use diesel::{QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use futures_util::future::join_all;
use serde_json::json;
use testkit::SmtpPeer;

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must, hidden};

const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), webhooks: true, ..Peers::default() };
    let app = App::with_peers(peers).await;
    app.import(&json!([entry("Alpha")])).await;
    app
}

#[actix_web::test]
async fn unsent_emails_neither_count_nor_leave_links() {
    let peers = Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() };
    let app = App::with_peers(peers).await;
    let (browser, smtp) = (Browser::new(&app), app.peers.smtp.as_ref().unwrap());
    let send = async || browser.post("/sign-in", "/sign-in", &[("email", OWNER)]).await.status;
    smtp.refuse(Some("451 later"));
    for _ in 0..4 {
        assert_eq!(send().await, 503);
    }
    let links =
        async || app.change(|db| Ok(mail_token::table.count().get_result::<i64>(db)?)).await;
    assert_eq!(links().await, 0);
    smtp.refuse(None);
    for status in [200, 200] {
        assert_eq!(send().await, status);
    }
    let sent = links().await;
    // A rejected recipient counts, so that clients can't try out addresses without limit.
    smtp.refuse(Some("550 no such user"));
    for status in [503, 429] {
        assert_eq!(send().await, status);
    }
    assert_eq!(links().await, sent);
}

#[actix_web::test]
async fn undeliverable_address_is_refused_as_invalid() {
    let app = start().await;
    let browser = Browser::new(&app);
    let invalid = "not in an acceptable format";
    for form in ["/sign-in", "/notify-me", "/opt-out"] {
        for address in [
            "a..b@x.example",
            ".a@x.example",
            "a;b@x.example",
            "<a>@x.example",
            "a(b)@x.example",
            "a@-x.example",
            "a@[127.0.0.1]",
            "a@b.example,c@d.example",
            "a@x.example\r\nbcc: b@x.example",
        ] {
            let answer = browser.post(form, form, &[("email", address)]).await;
            assert_eq!(answer.status, 400, "{form} {address}: {}", answer.text());
            assert!(answer.text().contains(invalid), "{form} {address}: {}", answer.text());
        }
    }
    assert!(app.mails().is_empty());
    // Rejected addresses do not count towards the client's limit of 30 mails per hour.
    browser.post("/sign-in", "/sign-in", &[("email", OWNER)]).await.must(200);
    assert_eq!(app.mails().len(), 1);
    // Such addresses may be in breaches, so looking them up must work.
    let found = browser.post("/", "/search", &[("email", "a..b@x.example")]).await.expect(200);
    assert!(found.text().contains("is not in any breach"));
}

#[actix_web::test]
async fn field_with_a_nul_is_refused_on_both_databases() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    for (page, form, field) in [
        ("/account/notifications", "/account/notifications", "domain"),
        ("/account/webhooks", "/account/webhooks/remove", "url"),
    ] {
        browser.post(page, form, &[(field, "x\0")]).await.must(400);
        browser.post(page, form, &[(field, "unknown")]).await.must(303);
    }
    browser.get("/sign-in/confirm?token=%00").await.must(400);
}

#[actix_web::test]
async fn form_of_a_mail_link_needs_the_csrf_token_of_its_page() {
    let app = start().await;
    let asking = Browser::new(&app);
    for (form, path, choice) in [
        ("/notify-me", "/notify-me/confirm", None),
        ("/opt-out", "/opt-out/choose", Some(("kind", "public"))),
        ("/sign-in", "/sign-in/confirm", None),
    ] {
        asking.post(form, form, &[("email", OWNER)]).await.must(200);
        let token = app.last_token(path);
        refused(&app, path, &token, choice).await;
    }
    asking.sign_in("corp@example.org").await;
    let list = "/account/domains";
    asking.post(list, list, &[("domain", "corp.example")]).await.must(303);
    let page = "/account/domains/corp.example";
    let fields = [("way", "email"), ("alias", "admin")];
    asking.post(page, &format!("{page}/verify"), &fields).await.must(200);
    let path = "/domainVerification/approve";
    refused(&app, path, &app.last_token(path), None).await;
}

#[actix_web::test]
async fn unsubscribe_form_needs_the_csrf_token_of_its_page() {
    let app = start().await;
    app.listener(OWNER).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    let mail = app.mails().remove(0);
    let link = mail.find("https://breaches.example/unsubscribe?token=").unwrap();
    refused(&app, "/unsubscribe", link.rsplit('=').next().unwrap(), None).await;
}

/// Sends the form of a link, first as a foreign site would, which must have no effect, and then as
/// its own page would.
async fn refused(app: &App, path: &str, token: &str, choice: Option<(&str, &str)>) {
    let link = format!("{path}?token={token}");
    let mut fields = vec![("token", token)];
    fields.extend(choice);
    // Without a cookie, with a cookie, and with another visitor's token.
    let attacker = Browser::new(app);
    let csrf = hidden(attacker.get(&link).await.expect(200).text(), "csrf");
    let forged = [&[("csrf", csrf.as_str())], fields.as_slice()].concat();
    let victim = Browser::new(app);
    for _ in 0..2 {
        for form in [&fields, &forged] {
            let answer = victim.send(path, form).await.expect(403);
            assert!(answer.text().contains("This form has expired"), "{path}: {}", answer.text());
            assert!(!answer.headers.contains_key("set-cookie"), "{path}");
        }
        victim.get("/").await.must(200);
    }
    victim.get("/account").await.must(303);
    let done = victim.post(&link, path, &fields).await;
    assert!(matches!(done.status, 200 | 303), "{path}: {}", done.status);
    for failed in ["does not work", "Not verified"] {
        assert!(!done.text().contains(failed), "{path}: {}", done.text());
    }
}

#[actix_web::test]
async fn webhook_url_with_control_characters_is_refused() {
    let app = start().await;
    let email = EmailAddress::parse(OWNER).unwrap();
    let id = app.change(|db| breaches::store::subscribers::add(db, &email, NOW)).await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let hooks = "/account/webhooks";
    for url in [
        "https://hooks.example/\r\nX: y",
        "https://hooks.example/\tx",
        "https://hooks\n.example/",
        "ht\ntps://hooks.example/",
        "https://hooks.example/\u{7f}",
    ] {
        let page = browser.post(hooks, hooks, &[("url", url)]).await.expect(422);
        assert!(page.text().contains("Enter an http or https URL"), "{url:?}");
        assert!(!page.text().contains("whsec_"), "{url:?}");
    }
    let stored = app.change(|db| breaches::store::webhooks::of_subscriber(db, id)).await;
    assert!(stored.is_empty());
    // Spaces and line breaks around the text are ignored.
    let page = browser.post(hooks, hooks, &[("url", " https://hooks.example/x\r\n")]).await;
    assert!(page.expect(200).text().contains("whsec_"));
    let stored = app.change(|db| breaches::store::webhooks::of_subscriber(db, id)).await;
    assert_eq!(stored[0].url, "https://hooks.example/x");
}

#[actix_web::test]
async fn concurrent_requests_add_at_most_ten_webhooks() {
    let app = start().await;
    let email = EmailAddress::parse(OWNER).unwrap();
    let id = app.change(|db| breaches::store::subscribers::add(db, &email, NOW)).await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let urls: Vec<String> = (0..12).map(|n| format!("https://hooks.example/{n}")).collect();
    join_all(urls.iter().map(|url| add_webhook(&browser, url))).await;
    let stored = app.change(|db| breaches::store::webhooks::of_subscriber(db, id)).await;
    assert_eq!(stored.len(), 10);
}

async fn add_webhook(browser: &Browser<'_>, url: &str) {
    let hooks = "/account/webhooks";
    let status = browser.post(hooks, hooks, &[("url", url)]).await.status;
    assert!(matches!(status, 200 | 422), "{status}");
}

#[actix_web::test]
async fn form_without_effect_reports_no_success() {
    let app = start().await;
    let browser = Browser::new(&app);
    for path in
        ["/sign-in/confirm", "/notify-me/confirm", "/unsubscribe", "/domainVerification/approve"]
    {
        let refused = browser.post("/", path, &[("token", "used")]).await;
        assert_eq!(refused.status, 400, "{path}: {}", refused.text());
    }
    let fields = [("token", "used"), ("kind", "public")];
    browser.post("/", "/opt-out/choose", &fields).await.must(400);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "no domain")]).await.must(422);
    browser.post(list, list, &[("domain", "corp.example")]).await.must(303);
}

#[actix_web::test]
async fn invented_opt_out_link_does_not_wait_for_a_load() {
    let app = start().await;
    let browser = Browser::new(&app);
    let (begun, begins) = mpsc::channel::<()>();
    let (release, released) = mpsc::channel::<()>();
    let pools = app.context.pools.clone();
    let load = std::thread::spawn(move || {
        pools.write_blocking(|db: &mut Db| {
            versions::lock_accounts(db)?;
            begun.send(()).unwrap();
            let _ = released.recv();
            Ok::<_, DatabaseError>(())
        })
    });
    begins.recv().unwrap();
    // Behind the lock, the answer would be 503.
    let fields = [("token", "invented"), ("kind", "delete")];
    browser.post("/", "/opt-out/choose", &fields).await.must(400);
    drop(release);
    load.join().unwrap().unwrap();
}

#[actix_web::test]
async fn approval_page_names_who_asks_before_its_script_sends_it() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let (list, page) = ("/account/domains", "/account/domains/corp.example");
    browser.post(list, list, &[("domain", "corp.example")]).await.must(303);
    let fields = [("way", "email"), ("alias", "admin")];
    browser.post(page, &format!("{page}/verify"), &fields).await.must(200);
    let path = "/domainVerification/approve";
    let shown = browser.get(&format!("{path}?token={}", app.last_token(path))).await;
    let text = shown.text();
    assert!(text.contains(&format!("May {OWNER} search corp.example?")), "{text}");
    assert!(text.contains(&format!("Approve only if you know {OWNER}")), "{text}");
    let script = text.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let script = app.get(&format!("/{}", script.trim_start_matches('/'))).await;
    // The script counts seconds before it submits the form.
    let script = script.text().await.unwrap();
    assert!(script.contains("setTimeout") && script.contains("if (seconds === 0) form.submit()"));
}
