//! The service behind a proxy that serves it below a path.

use serde_json::json;
use testkit::{DnsPeer, Exchange, SmtpPeer, links_below};

use crate::app::{App, Peers, entry};
use crate::browser::{Browser, Must};

const URL: &str = "https://host.example/breaches";
const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let peers =
        Peers { smtp: Some(SmtpPeer::start()), dns: Some(DnsPeer::start()), ..Peers::default() };
    let app = App::with_peers_below(URL, peers).await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &format!("{OWNER}\nanna@corp.example\n")).await;
    app
}

#[actix_web::test]
async fn visitor_links_stay_below_the_path_of_the_public_url() {
    let app = start().await;
    let get = async |path: &str| {
        // The proxy removes the path below which it serves the service.
        app.request(path).header("accept", "text/html").answer().await
    };
    let starts = ["/", "/docs", "/docs/swagger-initializer.js", "/openapi.json", "/account"];
    let seen = links_below(URL, &starts, get).await;
    for path in ["/breaches", "/breaches/Alpha", "/sign-in", "/feed.xml", "/docs/index.css"] {
        assert!(seen.contains(path), "{path} is not among {seen:?}");
    }
}

#[actix_web::test]
async fn subscriber_links_stay_below_the_path_of_the_public_url() {
    let app = start().await;
    app.subscriber(OWNER, "core-1").await;
    let browser = Browser::new(&app);
    browser.post("/sign-in", "/sign-in", &[("email", OWNER)]).await.must(200);
    let token = app.last_token("/sign-in/confirm");
    let link = format!("/sign-in/confirm?token={token}");
    let done = browser.post(&link, "/sign-in/confirm", &[("token", &token)]).await.expect(303);
    assert_eq!(done.header("location"), "/breaches/account");
    assert!(done.header("set-cookie").contains("; Path=/breaches/;"), "{done:?}");
    app.verify(OWNER, "corp.example").await;
    let starts = ["/account", "/account/domains/unknown.example", "/notify-me/confirm?token=x"];
    let seen = links_below(URL, &starts, async |path| browser.get(path).await).await;
    for path in ["/account/key", "/account/domains/corp.example", "/account/webhooks"] {
        assert!(seen.contains(path), "{path} is not among {seen:?}");
    }
    let forged = browser.send("/account/key", &[("csrf", "x")]).await.expect(403);
    assert!(forged.text().contains("href=\"/breaches/\""));
}
