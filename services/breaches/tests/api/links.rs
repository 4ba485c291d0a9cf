//! Mail links: a scanner that opens them changes nothing, forms do not reveal anything about an
//! address, and secrets are stored as digests.

use breaches::store::schema;
use diesel::{QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use serde_json::json;
use testkit::SmtpPeer;

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must, hidden};

const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app
}

/// Opens a link the way a mail scanner does, by GET and HEAD.
async fn scan(app: &App, path: &str, token: &str) {
    let link = format!("{path}?token={token}");
    for _ in 0..2 {
        Browser::new(app).get(&link).await.must(200);
        let url = app.request(&link).build().unwrap().url().clone();
        let looked = app.server.client().head(url).header("user-agent", "scanner");
        assert_eq!(looked.send().await.unwrap().status(), 200);
    }
}

#[actix_web::test]
async fn mail_scanner_triggers_no_action() {
    let app = start().await;
    let browser = Browser::new(&app);
    // For each purpose: the form that sends the mail, the page of its link, the fields of its
    // button, and the expected result.
    for (form, path, choice, done) in [
        ("/notify-me", "/notify-me/confirm", None, "Notices are on"),
        ("/opt-out", "/opt-out/choose", Some(("kind", "public")), "Done"),
        ("/sign-in", "/sign-in/confirm", None, ""),
    ] {
        browser.post(form, form, &[("email", OWNER)]).await.must(200);
        let token = app.last_token(path);
        scan(&app, path, &token).await;
        let email = EmailAddress::parse(OWNER).unwrap();
        app.state.reload().await.unwrap();
        let listening = app
            .change(|db| {
                let all = schema::subscriber::table.select(schema::subscriber::confirmed_at);
                Ok(all.load::<Option<i64>>(db)?.into_iter().any(|at| at.is_some()))
            })
            .await;
        let opted_out =
            app.change(|db| breaches::store::opt_outs::get(db, &email.sha1())).await.is_some();
        // Only the buttons pressed so far had an effect.
        assert_eq!((listening, opted_out), (form != "/notify-me", form == "/sign-in"), "{form}");
        let mut fields = vec![("token", token.as_str())];
        fields.extend(choice);
        let answer = browser.post(&format!("{path}?token={token}"), path, &fields).await;
        assert!(answer.text().contains(done), "{path}: {}", answer.text());
    }
    browser.get("/account").await.must(200);
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "corp.example")]).await.must(303);
    let fields = [("way", "email"), ("alias", "admin")];
    let page = "/account/domains/corp.example";
    browser.post(page, &format!("{page}/verify"), &fields).await.must(200);
    let token = app.last_token("/domainVerification/approve");
    let approve = "/domainVerification/approve";
    scan(&app, approve, &token).await;
    let verified =
        async || app.change(breaches::store::domain_controls::verified_names).await.len();
    assert_eq!(verified().await, 0);
    let link = format!("{approve}?token={token}");
    browser.post(&link, approve, &[("token", &token)]).await.must(200);
    assert_eq!(verified().await, 1);
}

#[actix_web::test]
async fn link_and_session_secrets_are_stored_as_digests() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(200);
    let token = app.last_token("/opt-out/choose");
    let stored: Vec<Vec<u8>> = app
        .change(|db| {
            let links = schema::mail_token::table.select(schema::mail_token::digest).load(db)?;
            let sessions = schema::session::table.select(schema::session::digest);
            Ok([links, sessions.load(db)?].concat())
        })
        .await;
    assert_eq!(stored.len(), 3);
    let secrets = [token, browser.secret("session")];
    for secret in &secrets {
        assert_eq!(secret.len(), 64);
        let bytes: Vec<u8> =
            (0..32).map(|n| u8::from_str_radix(&secret[2 * n..2 * n + 2], 16).unwrap()).collect();
        assert!(!stored.contains(&bytes) && !stored.contains(&secret.clone().into_bytes()));
    }
}

#[actix_web::test]
async fn forms_do_not_reveal_whether_an_address_is_known() {
    let app = start().await;
    let email = |text: &str| EmailAddress::parse(text).unwrap();
    app.load("Alpha", "gone@example.org\nhidden@example.org\n").await;
    app.change(|db| {
        let id = breaches::store::subscribers::add(db, &email("listener@example.org"), NOW)?;
        breaches::store::subscribers::confirm(db, id, NOW)?;
        for (who, kind) in [
            ("gone@example.org", breaches::model::OptOut::Breaches),
            ("hidden@example.org", breaches::model::OptOut::Public),
        ] {
            breaches::opt_out(db, &email(who), kind, NOW)
                .map_err(database::DatabaseError::broken)?;
        }
        Ok(())
    })
    .await;
    for form in ["/sign-in", "/notify-me", "/opt-out"] {
        let mut first = None;
        for who in ["owner", "listener", "gone", "hidden", "unknown"] {
            let before = app.peers.smtp.as_ref().unwrap().mails().len();
            let address = format!("{who}@example.org");
            let browser = Browser::new(&app);
            let answer = browser.post(form, form, &[("email", &address)]).await;
            let names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
            let seen = (answer.status, names, answer.text().to_owned());
            assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "{form} {who}");
            assert_eq!(app.peers.smtp.as_ref().unwrap().mails().len(), before + 1);
        }
        app.clock.advance(3600);
    }
    // The public search treats hidden addresses like unknown ones.
    let search = async |who: &str| {
        let address = format!("{who}@example.org");
        let found = Browser::new(&app).post("/", "/search", &[("email", &address)]).await;
        let page = found.expect(200).text().to_owned();
        page.replace(&hidden(&page, "csrf"), "").replace(&address, "")
    };
    let unknown = search("unknown").await;
    assert_eq!((search("gone").await, search("hidden").await), (unknown.clone(), unknown.clone()));
    assert_ne!(search("owner").await, unknown);
}
