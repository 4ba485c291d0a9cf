//! A subscriber's list of domains on the pages.

use breaches::store::domain_controls;
use breaches::store::schema::admin_event;
use diesel::prelude::*;
use serde_json::json;
use testkit::SmtpPeer;

use crate::app::{App, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";

/// Returns the text of the table cells, row by row.
fn cells(html: &str) -> Vec<Vec<String>> {
    let body = html.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let text = |cell: &str| {
        let cell = cell.split("</td>").next().unwrap().split('>').skip(1);
        cell.map(|part| part.split('<').next().unwrap()).collect::<String>()
    };
    body.split("<tr>").skip(1).map(|row| row.split("<td").skip(1).map(text).collect()).collect()
}

/// Starts a service with a mail server for signing in.
async fn start() -> App {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    let mut later = entry("Later");
    (later["AddedDate"], later["ModifiedDate"]) =
        (json!("2021-01-01T00:00:00Z"), json!("2021-01-01T00:00:00Z"));
    app.import(&json!([entry("Alpha"), later])).await;
    app
}

/// Builds addresses at one domain, one per line.
fn people(count: u32) -> String {
    (0..count).map(|n| format!("user{n}@corp.example\n")).collect()
}

#[actix_web::test]
async fn small_domain_is_searched_without_a_subscription() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    app.load("Alpha", &people(10)).await;
    app.verify(OWNER, "corp.example").await;
    let path = "/account/domains/corp.example";
    assert!(browser.get(path).await.text().contains("<dt>Breached addresses</dt><dd>10</dd>"));
    // Only a subscription locks the size in.
    app.load("Alpha", &people(30)).await;
    let page = browser.get(path).await.expect(200);
    assert!(page.text().contains("has 30 breached addresses"), "{}", page.text());
    browser.get(&format!("{path}/export/csv")).await.must(403);
}

#[actix_web::test]
async fn search_is_limited_to_the_latest_breach_on_request() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    app.verify(OWNER, "corp.example").await;
    app.load("Alpha", &people(3)).await;
    app.load("Later", "user1@corp.example\nuser7@corp.example\n").await;
    let path = "/account/domains/corp.example";
    let shown = |html: &str| cells(html).into_iter().map(|row| row.join(" ")).collect::<Vec<_>>();
    let page = browser.get(path).await.expect(200);
    assert_eq!(
        shown(page.text()),
        ["user1 2 Alpha, Later", "user0 1 Alpha", "user2 1 Alpha", "user7 1 Later"]
    );
    assert!(page.text().contains("Only Later, the latest"));
    let page = browser.get(&format!("{path}?latest=on")).await.expect(200);
    assert_eq!(shown(page.text()), ["user1 2 Alpha, Later", "user7 1 Later"]);
}

#[actix_web::test]
async fn count_of_a_domain_is_for_its_controllers_only() {
    let app = start().await;
    app.subscriber("other@example.org", "pro1").await;
    app.verify("other@example.org", "corp.example").await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "corp.example")]).await.must(303);
    app.load("Alpha", &people(3)).await;
    app.deliver_notices().await;
    let page = browser.get(list).await.expect(200);
    assert_eq!(
        cells(page.text()),
        [["corp.example", "not verified yet", "–", "–", "Verify · Remove"]]
    );
    let stored = app.change(|db| domain_controls::all(db, 2)).await;
    assert_eq!(stored[0].size_now, None);
}

#[actix_web::test]
async fn domain_list_counts_addresses_and_stealer_log_addresses() {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    let logs = |name: &str| {
        let mut logs = entry(name);
        logs["IsStealerLog"] = json!(true);
        logs
    };
    app.import(&json!([entry("Alpha"), logs("Logs"), logs("Hidden")])).await;
    app.subscriber(OWNER, "pro1").await;
    app.verify(OWNER, "corp.example").await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "later.example")]).await.must(303);
    app.set_breach("Hidden", |breach| breach.active = false).await;
    app.load("Alpha", "a@corp.example\nd@corp.example\n").await;
    app.load_pairs(
        "Logs",
        "email,website\na@corp.example,shop.example\na@corp.example,game.example\n",
    )
    .await;
    app.load_pairs(
        "Logs",
        "email,website\nb@corp.example,shop.example\nc@else.example,shop.example\n",
    )
    .await;
    app.load_pairs("Hidden", "email,website\nd@corp.example,shop.example\n").await;
    app.deliver_notices().await;
    let page = browser.get(list).await.expect(200).text().to_owned();
    assert_eq!(
        cells(&page),
        [
            ["corp.example", "verified", "3", "2", "Search · Remove"],
            ["later.example", "not verified yet", "–", "–", "Verify · Remove"],
        ]
    );
    let detail = "/account/domains/corp.example";
    assert!(browser.get(detail).await.text().contains("<dt>Captured by malware</dt><dd>2</dd>"));
    app.set_breach("Hidden", |breach| breach.active = true).await;
    app.deliver_notices().await;
    assert_eq!(cells(browser.get(list).await.text())[0][3], "3");
    // The next recount includes it, but a smaller plan does not show it.
    let email = domain::EmailAddress::parse(OWNER).unwrap();
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        let now = crate::app::NOW;
        breaches::store::subscribers::subscribe(db, id, "core1", now + 86_400, now)
    })
    .await;
    assert_eq!(cells(browser.get(list).await.text())[0][3], "– not in your plan");
    assert!(browser.get(detail).await.text().contains("<dd>– not in your plan</dd>"));
}

#[actix_web::test]
async fn domain_of_the_deny_list_that_the_operator_verified_is_opened_and_removed() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    app.verify(OWNER, "gmail.com").await;
    let (list, page) = ("/account/domains", "/account/domains/gmail.com");
    let remove = format!("{page}/remove");
    assert!(browser.get(page).await.expect(200).text().contains("gmail.com"));
    browser.get(&remove).await.must(200);
    browser.post(&remove, &remove, &[]).await.must(303);
    assert!(!browser.get(list).await.text().contains("gmail.com"));
    // The subscriber cannot add the domain again.
    let refused = browser.post(list, list, &[("domain", "gmail.com")]).await;
    assert!(refused.text().contains("This domain cannot be verified"), "{}", refused.text());
}

#[actix_web::test]
async fn subscriber_with_too_many_pending_domains_is_told_to_remove_some() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let email = domain::EmailAddress::parse(OWNER).unwrap();
    app.change(|db| {
        let id = breaches::store::subscribers::id(db, &email)?.unwrap();
        for n in 0..1_000 {
            let domain = format!("d{n}.example");
            assert!(domain_controls::begin(db, id, &domain, "code")?.is_some());
        }
        Ok(())
    })
    .await;
    let list = "/account/domains";
    let refused = browser.post(list, list, &[("domain", "one.more.example")]).await.expect(422);
    assert!(refused.text().contains("verify or remove some of them"), "{}", refused.text());
}

#[actix_web::test]
async fn only_removals_of_verified_domains_are_logged() {
    let app = start().await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    app.verify(OWNER, "corp.example").await;
    let list = "/account/domains";
    browser.post(list, list, &[("domain", "pending.example")]).await.must(303);
    for domain in ["pending.example", "corp.example"] {
        let page = format!("{list}/{domain}/remove");
        browser.post(&page, &page, &[]).await.must(303);
    }
    let removals = admin_event::table.filter(admin_event::action.eq("domain remove"));
    let subjects = removals.select(admin_event::subject);
    let logged: Vec<String> = app.change(|db| Ok(subjects.load(db)?)).await;
    assert_eq!(logged, ["corp.example"]);
}
