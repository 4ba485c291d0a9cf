//! Pages: sign-in, opt-out, notices, domains, keys, webhooks.

use serde_json::json;
use testkit::{DnsPeer, HttpPeer, PeerAnswer, PeerRequest, SmtpPeer};

use crate::app::{App, Peers, entry};
use crate::browser::{Browser, Must, TRACE, hidden};

const OWNER: &str = "owner@example.org";

fn peers() -> Peers {
    Peers { smtp: Some(SmtpPeer::start()), dns: Some(DnsPeer::start()), ..Peers::default() }
}

async fn start() -> App {
    let app = App::with_peers(peers()).await;
    let mut secret = entry("Secret");
    secret["IsSensitive"] = json!(true);
    app.import(&json!([entry("Alpha"), secret])).await;
    app.load("Alpha", &format!("{OWNER}\nanna@corp.example\nbert@corp.example\n")).await;
    app.load("Secret", &format!("{OWNER}\nanna@corp.example\n")).await;
    app
}

#[actix_web::test]
async fn home_page_shows_public_breaches_within_limits() {
    let app = start().await;
    let browser = Browser::new(&app);
    let home = browser.get("/").await.expect(200);
    assert!(home.text().contains("Have I been exposed?") && home.text().contains("The Alpha"));
    assert!(home.header("content-security-policy").contains("script-src 'self'"));
    let found = browser.post("/", "/search", &[("email", &OWNER.to_uppercase())]).await.expect(200);
    assert!(found.text().contains("The Alpha") && !found.text().contains("Secret"));
    let none = browser.post("/", "/search", &[("email", "unknown@example.org")]).await.expect(200);
    assert!(none.text().contains("is not in any breach"));
    let bad = browser.post("/", "/search", &[("email", "<script>")]).await.expect(400);
    assert!(bad.text().contains("not in an acceptable format") && !bad.text().contains("<script>"));
    // The limit is ten per minute and client: the three above, and seven more.
    for _ in 0..8 {
        browser.post("/", "/search", &[("email", "unknown@example.org")]).await.must(200);
    }
    let limited = browser.post("/", "/search", &[("email", OWNER)]).await.expect(429);
    assert_eq!(limited.header("retry-after"), "6");
}

#[actix_web::test]
async fn title_of_a_search_says_exposed_if_only_a_paste_contains_the_address() {
    let app = start().await;
    let paste = json!({ "Source": "Pastebin", "Id": "p1", "Emails": ["pasted@example.org"] });
    app.load_pastes(&paste.to_string()).await;
    let browser = Browser::new(&app);
    let found = browser.post("/", "/search", &[("email", "pasted@example.org")]).await.expect(200);
    assert!(found.text().contains("<title>Exposed \u{b7}"), "{}", found.text());
}

#[actix_web::test]
async fn form_without_its_csrf_token_is_refused() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.send("/search", &[("email", OWNER)]).await.must(403);
    let csrf = hidden(browser.get("/").await.text(), "csrf");
    browser.send("/search", &[("email", OWNER), ("csrf", "x")]).await.must(403);
    browser.send("/search", &[("email", OWNER), ("csrf", &csrf)]).await.must(200);
    // The token of one browser is not valid in another.
    Browser::new(&app).send("/search", &[("email", OWNER), ("csrf", &csrf)]).await.must(403);
    browser.sign_in(OWNER).await;
    for action in [
        "/account/notifications",
        "/account/key",
        "/account/webhooks",
        "/account/webhooks/remove",
        "/account/domains",
        "/account/domains/corp.example/verify",
        "/account/domains/corp.example/remove",
        "/sign-out",
    ] {
        browser.send(action, &[("csrf", &csrf), ("notify", "on")]).await.must(403);
    }
}

#[actix_web::test]
async fn sign_in_link_works_once_and_only_by_its_button() {
    let app = start().await;
    let browser = Browser::new(&app);
    assert_eq!(browser.get("/account").await.expect(303).header("location"), "/sign-in");
    let known = browser.post("/sign-in", "/sign-in", &[("email", OWNER)]).await.expect(200);
    let token = app.last_token("/sign-in/confirm");
    let link = format!("/sign-in/confirm?token={token}");
    // A scanner opens the link twice. That does not sign anyone in.
    for _ in 0..2 {
        let page = browser.get(&link).await.expect(200);
        assert!(page.text().contains("<button type=\"submit\">Sign in</button>"));
    }
    browser.get("/account").await.must(303);
    browser.post(&link, "/sign-in/confirm", &[("token", &token)]).await.must(303);
    let own = browser.get("/account").await.expect(200);
    assert!(own.text().contains("The Secret"), "{}", own.text());
    let again = browser.post(&link, "/sign-in/confirm", &[("token", &token)]).await.expect(400);
    assert!(again.text().contains("does not work"));
    browser.post("/account", "/sign-out", &[]).await.must(303);
    browser.get("/account").await.must(303);
    // The response to an unknown address is the same.
    let other = Browser::new(&app);
    let unknown = other.post("/sign-in", "/sign-in", &[("email", "new@example.org")]).await;
    assert_eq!(unknown.expect(200).text(), known.text());
    let token = app.last_token("/sign-in/confirm");
    app.clock.advance(15 * 60);
    let late = other.post(&link, "/sign-in/confirm", &[("token", &token)]).await.expect(400);
    assert!(late.text().contains("does not work"));
    other.sign_in("new@example.org").await;
    app.clock.advance(24 * 3600);
    other.get("/account").await.must(303);
}

#[actix_web::test]
async fn mails_are_limited_by_address_and_client() {
    let app = start().await;
    let browser = Browser::new(&app);
    for _ in 0..3 {
        browser.post("/sign-in", "/sign-in", &[("email", OWNER)]).await.must(200);
    }
    // The limit per address applies to all kinds of mails together.
    browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(429);
    for n in 0..27 {
        let address = format!("user{n}@example.org");
        browser.post("/notify-me", "/notify-me", &[("email", &address)]).await.must(200);
    }
    let more = browser.post("/sign-in", "/sign-in", &[("email", "more@example.org")]).await;
    assert!(more.expect(429).text().contains("60 minutes"));
    assert_eq!(app.peers.smtp.as_ref().unwrap().mails().len(), 30);
    app.clock.advance(3600);
    browser.post("/sign-in", "/sign-in", &[("email", OWNER)]).await.must(200);
}

#[actix_web::test]
async fn owner_can_hide_remove_and_delete_an_address() {
    let app = start().await;
    let browser = Browser::new(&app);
    let search = async || {
        let page = browser.post("/", "/search", &[("email", OWNER)]).await.expect(200);
        page.text().contains("The Alpha")
    };
    let choose = async |kind: &str| {
        browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(200);
        let token = app.last_token("/opt-out/choose");
        let link = format!("/opt-out/choose?token={token}");
        assert!(browser.get(&link).await.expect(200).text().contains(OWNER));
        let fields = [("token", token.as_str()), ("kind", kind)];
        let done = browser.post(&link, "/opt-out/choose", &fields).await.expect(200);
        assert!(done.text().contains("Done"), "{}", done.text());
        let again = browser.post("/opt-out", "/opt-out/choose", &fields).await.expect(400);
        assert!(again.text().contains("does not work"));
        app.state.reload().await.unwrap();
    };
    assert!(search().await);
    choose("public").await;
    assert!(!search().await);
    browser.sign_in(OWNER).await;
    assert!(browser.get("/account").await.expect(200).text().contains("The Alpha"));
    app.clock.advance(3600);
    choose("delete").await;
    browser.get("/account").await.must(303);
    app.load("Alpha", &format!("{OWNER}\n")).await;
    assert!(search().await);
    app.clock.advance(3600);
    choose("breaches").await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    assert!(!search().await);
}

#[actix_web::test]
async fn notices_are_confirmed_and_turned_off() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.post("/notify-me", "/notify-me", &[("email", OWNER)]).await.must(200);
    let token = app.last_token("/notify-me/confirm");
    let link = format!("/notify-me/confirm?token={token}");
    let on = browser.post(&link, "/notify-me/confirm", &[("token", &token)]).await.expect(200);
    assert!(on.text().contains("Notices are on"));
    browser.sign_in(OWNER).await;
    let page = "/account/notifications";
    assert!(browser.get(page).await.text().contains("are <strong>on</strong>"));
    browser.post(page, page, &[("notify", "off")]).await.must(303);
    assert!(browser.get(page).await.text().contains("are <strong>off</strong>"));
    let fields = [("token", "invented")];
    let dead = browser.post("/unsubscribe", "/unsubscribe", &fields).await.expect(400);
    assert!(dead.text().contains("Use the link in the latest email"), "{}", dead.text());
}

#[actix_web::test]
async fn domain_is_added_verified_searched_exported_and_removed() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    let bad = browser.post(list, list, &[("domain", "gmail.com")]).await.expect(422);
    assert!(bad.text().contains("aria-invalid"));
    let added = browser.post(list, list, &[("domain", "Corp.Example")]).await.expect(303);
    let path = "/account/domains/corp.example";
    assert_eq!(added.header("location"), path);
    let page = browser.get(path).await.expect(200);
    let record = page.text().split("<pre>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let verify = format!("{path}/verify");
    let absent = browser.post(path, &verify, &[("way", "dns")]).await.expect(422);
    assert!(absent.text().contains("No breach-verify TXT records were found"));
    browser.get(&format!("{path}/export/json")).await.must(403);
    app.peers.dns.as_ref().unwrap().set_txt("corp.example", &[&record]);
    browser.post(path, &verify, &[("way", "dns")]).await.must(303);
    let page = browser.get(path).await.expect(200).text().to_owned();
    let anna = page.find("<td>anna</td>").unwrap();
    assert!(anna < page.find("<td>bert</td>").unwrap(), "most breaches first");
    assert!(page.contains("Alpha, Secret"));
    let filtered = browser.get(&format!("{path}?alias=BER")).await.expect(200);
    assert!(filtered.text().contains("bert") && !filtered.text().contains("<td>anna"));
    let json = browser.get(&format!("{path}/export/json")).await.expect(200);
    assert_eq!(json.json(), json!({"anna": ["Alpha", "Secret"], "bert": ["Alpha"]}));
    let csv = browser.get(&format!("{path}/export/csv")).await.expect(200);
    assert_eq!(
        csv.text(),
        "Address,Breaches,Sites\nanna@corp.example,2,Alpha Secret\nbert@corp.example,1,Alpha\n"
    );
    assert!(csv.header("content-disposition").contains("corp.example.csv"));
    // Another subscriber does not have access to the domain.
    let other = Browser::new(&app);
    other.sign_in("other@example.org").await;
    other.get(path).await.must(404);
    other.get(&format!("{path}/export/json")).await.must(403);
    browser.get(&format!("{path}/remove")).await.must(200);
    browser.post(path, &format!("{path}/remove"), &[]).await.must(303);
    browser.get(path).await.must(404);
}

#[actix_web::test]
async fn verification_link_works_only_by_its_form() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "corp.example")]).await.must(303);
    let path = "/account/domains/corp.example";
    let fields = [("way", "email"), ("alias", "security")];
    browser.post(path, &format!("{path}/verify"), &fields).await.must(200);
    let token = app.last_token("/domainVerification/approve");
    let approve = "/domainverification/approve";
    let link = format!("{approve}?token={token}");
    let stranger = Browser::new(&app);
    for _ in 0..2 {
        let page = stranger.get(&link).await.expect(200);
        assert!(page.text().contains("approve.") && page.text().contains("Approve</button>"));
    }
    assert!(!browser.get(list).await.text().contains("<td data-label=\"State\">verified"));
    let wrong = stranger.post(&link, approve, &[("token", &"0".repeat(64))]).await.expect(400);
    assert!(wrong.text().contains("This link does not exist"));
    let done = stranger.post(&link, approve, &[("token", &token)]).await.expect(200);
    assert!(done.text().contains("Verified"), "{}", done.text());
    assert!(browser.get(list).await.text().contains("<td data-label=\"State\">verified"));
    let again = stranger.post("/", approve, &[("token", &token)]).await.expect(400);
    assert!(again.text().contains("already used"));
    browser.post(list, list, &[("domain", "late.example")]).await.must(303);
    let path = "/account/domains/late.example";
    browser.post(path, &format!("{path}/verify"), &fields).await.must(200);
    let token = app.last_token("/domainVerification/approve");
    app.clock.advance(24 * 3600);
    let late = stranger.post("/", approve, &[("token", &token)]).await.expect(400);
    assert!(late.text().contains("has expired"));
}

#[actix_web::test]
async fn website_proves_control_without_foreign_redirects() {
    let mode = std::sync::Arc::new(parking_lot::Mutex::new((String::new(), String::new())));
    let shared = mode.clone();
    let site = HttpPeer::start(move |request| {
        let (kind, proof) = shared.lock().clone();
        let here = request.header("host") == "example.com";
        match kind.as_str() {
            "www" if here => {
                PeerAnswer::Redirect(format!("http://www.example.com{}", request.target))
            }
            "other" if here => {
                PeerAnswer::Redirect(format!("http://other.example{}", request.target))
            }
            "large" => PeerAnswer::Body(200, format!("{proof}{}", " ".repeat(64 * 1024))),
            "endless" => PeerAnswer::Endless,
            "error" => PeerAnswer::Body(500, proof),
            _ => PeerAnswer::Body(200, proof),
        }
    });
    let app = App::with_peers(Peers { site: Some(site), ..peers() }).await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "example.com")]).await.must(303);
    let path = "/account/domains/example.com";
    let page = browser.get(path).await.expect(200).text().to_owned();
    let proofs: Vec<String> = page
        .split("<pre>")
        .skip(1)
        .map(|part| part.split("</pre>").next().unwrap().replace("&#60;", "<"))
        .map(|part| part.replace("&#62;", ">").replace("&#34;", "\""))
        .collect();
    let (file, tag) = (proofs[1].clone(), proofs[2].clone());
    let verify = format!("{path}/verify");
    for (way, kind, proof, expected) in [
        ("file", "", "something else", "does not carry the expected value"),
        ("file", "error", &file, "the website responded with 500"),
        ("file", "large", &file, "too large"),
        ("file", "endless", &file, "too large"),
        ("file", "other", &file, "redirects to another host"),
        ("meta", "", "<html></html>", "No breach-verification meta tag"),
        ("meta", "endless", &tag, "No breach-verification meta tag"),
        ("meta", "other", &tag, "redirects to another host"),
    ] {
        *mode.lock() = (kind.to_owned(), proof.to_owned());
        let answer = browser.post(path, &verify, &[("way", way)]).await.expect(422);
        assert!(answer.text().contains(expected), "{way} {kind}: {}", answer.text());
    }
    *mode.lock() = ("www".to_owned(), format!("\n{file}\n"));
    browser.post(path, &verify, &[("way", "file")]).await.must(303);
    // If a domain is removed and added again, it gets a different code.
    browser.post(path, &format!("{path}/remove"), &[]).await.must(303);
    browser.post(list, list, &[("domain", "example.com")]).await.must(303);
    *mode.lock() = (String::new(), format!("<head>{tag}</head>"));
    browser.post(path, &verify, &[("way", "meta")]).await.must(422);
    let page = browser.get(path).await.expect(200).text().to_owned();
    let tag = page.rsplit("<pre>").next().unwrap().split("</pre>").next().unwrap();
    let tag = tag.replace("&#60;", "<").replace("&#62;", ">").replace("&#34;", "\"");
    *mode.lock() = (String::new(), format!("<head>{tag}</head>"));
    browser.post(path, &verify, &[("way", "meta")]).await.must(303);
    // The requests to the website are part of the browser's trace.
    let sent = app.peers.site.as_ref().unwrap().requests();
    let traced = |sent: &&PeerRequest| sent.header("traceparent").starts_with(TRACE);
    assert_eq!(sent.iter().filter(traced).count(), sent.len());
}

#[actix_web::test]
async fn website_at_a_private_address_is_not_contacted() {
    let site = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let app = App::with_peers(Peers { site: Some(site), guarded: true, ..peers() }).await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "example.com")]).await.must(303);
    let path = "/account/domains/example.com";
    for way in ["file", "meta"] {
        let answer = browser.post(path, &format!("{path}/verify"), &[("way", way)]).await;
        assert!(answer.expect(422).text().contains("did not respond"));
    }
    assert!(app.peers.site.as_ref().unwrap().requests().is_empty());
}

#[actix_web::test]
async fn secrets_of_keys_and_webhooks_are_shown_once() {
    let app = App::with_peers(Peers { webhooks: true, ..peers() }).await;
    let browser = Browser::new(&app);
    let key = app.subscriber(OWNER, "core1").await;
    browser.sign_in(OWNER).await;
    let page = browser.post("/account/key", "/account/key", &[]).await.expect(200);
    let new = page.text().split("class=\"once\">").nth(1).unwrap().split('<').next().unwrap();
    let new = new.to_owned();
    let status = "/api/v3/subscription/status";
    app.state.reload().await.unwrap();
    assert_eq!(app.get_with(&key, status).await.status(), 401);
    assert_eq!(app.get_with(&new, status).await.status(), 200);
    let page = browser.get("/account/key").await.expect(200);
    assert!(page.text().contains(&new[..6]) && !page.text().contains(&new));
    let hooks = "/account/webhooks";
    let url = "https://hooks.example/x";
    let page = browser.post(hooks, hooks, &[("url", url)]).await.expect(200);
    assert!(page.text().contains("whsec_"));
    assert!(!browser.get(hooks).await.text().contains("whsec_"));
    let twice = browser.post(hooks, hooks, &[("url", url)]).await.expect(422);
    assert!(twice.text().contains("already"));
    browser.post(hooks, hooks, &[("url", "ftp://hooks.example/")]).await.must(422);
    browser.post(hooks, "/account/webhooks/remove", &[("url", url)]).await.must(303);
    assert!(!browser.get(hooks).await.text().contains(url));
    for _ in 0..9 {
        browser.post("/account/key", "/account/key", &[]).await;
    }
    let refused = browser.post("/account/key", "/account/key", &[]).await.expect(429);
    assert!(refused.text().contains("Try again in 24 hours"));
    // Without a subscription, no key can be created.
    let free = Browser::new(&app);
    free.sign_in("free@example.org").await;
    assert!(free.get("/account/key").await.text().contains("does not include a key"));
    free.post("/account", "/account/key", &[]).await.must(403);
}

#[actix_web::test]
async fn catalogue_pages_and_feed_show_listed_breaches() {
    let app = start().await;
    let mut odd = entry("Odd");
    odd["Title"] = json!("A <b> & \"C\"");
    odd["Description"] = json!("<em>Fine</em> text.");
    app.import(&json!([odd])).await;
    let browser = Browser::new(&app);
    let list = browser.get("/breaches").await.expect(200);
    assert!(list.text().contains("A &#60;b&#62; &#38; &#34;C&#34;"));
    let filtered = browser.get("/breaches?q=alpha").await.expect(200);
    assert!(filtered.text().contains("The Alpha") && !filtered.text().contains("The Secret"));
    let page = browser.get("/breaches/ODD").await.expect(200);
    assert!(page.text().contains("<em>Fine</em> text."));
    browser.get("/breaches/none").await.must(404);
    let feed = browser.get("/feed.xml").await.expect(200);
    assert_eq!(feed.header("content-type"), "application/rss+xml; charset=utf-8");
    assert!(feed.text().contains("<pubDate>Fri, 15 May 2020 10:20:00 +0000</pubDate>"));
    assert!(feed.text().contains("https://breaches.example/breaches/Odd"));
    // Older versions accepted any text.
    app.set_breach("Odd", |breach| breach.title = "A\u{b}B\u{ffff}".to_owned()).await;
    let feed = browser.get("/feed.xml").await.expect(200);
    assert!(feed.text().contains("<title>A B </title>"), "{}", feed.text());
    assert!(!feed.text().contains(['\u{b}', '\u{ffff}']));
}
