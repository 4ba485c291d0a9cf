//! Monthly mails with the counts of a domain.

use breaches::jobs::{MonthlyMails, Pass};
use breaches::store::versions;
use database::DatabaseError;
use diesel::RunQueryDsl;
use serde_json::json;
use testkit::{Mail, SmtpPeer};

use crate::app::{App, Peers};
use crate::browser::{Browser, Must};
use crate::commands::Operator;
use crate::reports::added;

const OWNER: &str = "owner@example.org";
const PAGE: &str = "/account/domains/corp.example/report";
const DAY: i64 = 86_400;

/// Starts a service with two breaches that were added in March, when it starts. Other notices are
/// not posted.
async fn start() -> App {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    app.import(&json!([
        added("Old", "2026-02-28"),
        added("March", "2026-03-01"),
        added("More", "2026-03-31"),
        added("April", "2026-04-01"),
    ]))
    .await;
    app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    app.load("Old", "anna@corp.example\n").await;
    app.load("March", "anna@corp.example\nbert@corp.example\n").await;
    app.load("More", "anna@corp.example\n").await;
    app.load("April", "dora@corp.example\n").await;
    app
}

async fn turn(app: &App, setting: &str) {
    let browser = Browser::new(app);
    browser.sign_in(OWNER).await;
    browser.post(PAGE, PAGE, &[("monthly", setting)]).await.must(303);
    let shown = browser.get(PAGE).await.expect(200);
    let state = format!("(but no addresses) is <strong>{setting}</strong>");
    assert!(shown.text().contains(&state), "{}", shown.text());
}

impl App {
    /// Writes the due monthly mails.
    async fn write_mails(&self) -> Pass {
        MonthlyMails::default().pass(&self.state, 100).await.unwrap()
    }

    /// Writes the due monthly mails, delivers them and returns all monthly mails so far.
    async fn monthly_mails(&self) -> Vec<Mail> {
        self.write_mails().await;
        breaches::jobs::deliver_due(&self.state).await.unwrap();
        let is_monthly = |mail: &Mail| mail.plain().contains(": new exposures in ");
        self.mails().into_iter().filter(is_monthly).collect()
    }
}

#[actix_web::test]
async fn mail_is_sent_once_after_each_month_to_those_who_want_it() {
    let app = start().await;
    assert!(app.monthly_mails().await.is_empty());
    app.clock.advance(31 * DAY);
    assert!(app.monthly_mails().await.is_empty(), "it is off by default");
    app.clock.advance(-31 * DAY);
    turn(&app, "on").await;
    assert!(app.monthly_mails().await.is_empty(), "the month has not ended");
    app.clock.advance(31 * DAY);
    // Several replicas look at once, and again later.
    futures_util::future::join_all((0..3).map(|_| app.write_mails())).await;
    app.monthly_mails().await;
    let mails = app.monthly_mails().await;
    assert_eq!((mails.len(), mails[0].to[0].as_str()), (1, OWNER));
    let plain = mails[0].plain();
    for part in [
        "Subject: corp.example: new exposures in March 2026",
        "Breaches: 2; with the number of addresses:",
        "Addresses: 2\nFor the first time: 1\nIn several breaches: 1\nThe March: 2\nThe More: 1\n",
        "https://breaches.example/account/domains/corp.example/report?since=2026-03-01",
        "Unsubscribe from monthly emails about corp.example: https://breaches.example/unsubscribe?",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ] {
        assert!(plain.contains(part), "{part} in {plain}");
    }
    for name in ["anna", "bert", "dora", "April", "The Old"] {
        assert!(!plain.contains(name), "{name} in {plain}");
    }
    // The next mail covers all months since, including links from the month in which nothing was
    // sent.
    app.clock.advance(61 * DAY);
    let mails = app.monthly_mails().await;
    assert_eq!(mails.len(), 2);
    let plain = mails[1].plain();
    assert!(plain.contains("new exposures in April 2026 to May 2026"), "{plain}");
    assert!(plain.contains("The April: 1"), "{plain}");
    app.clock.advance(30 * DAY);
    let quiet = app.monthly_mails().await.pop().unwrap().plain();
    assert!(quiet.contains("No address at corp.example is in a breach"), "{quiet}");
}

#[actix_web::test]
async fn mail_is_not_lost_when_a_server_dies_and_waits_for_its_lease() {
    let app = start().await;
    turn(&app, "on").await;
    app.clock.advance(31 * DAY);
    // A server took the lease and was killed before it posted.
    let until = app.context.clock.unix() + 300;
    app.change(|db| versions::set(db, "monthly_reports_until", until)).await;
    assert_eq!(app.write_mails().await, Pass::Elsewhere);
    assert!(app.monthly_mails().await.is_empty());
    app.clock.advance(301);
    assert_eq!(app.monthly_mails().await.len(), 1);
    assert_eq!(app.monthly_mails().await.len(), 1);
}

#[actix_web::test]
async fn each_pass_writes_a_limited_number_of_mails_and_continues_after_the_last_one() {
    let app = start().await;
    let domains = ["corp.example", "second.example", "third.example"];
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    for domain in domains {
        app.verify(OWNER, domain).await;
        let page = format!("/account/domains/{domain}/report");
        browser.post(&page, &page, &[("monthly", "on")]).await.must(303);
    }
    app.clock.advance(31 * DAY);
    let mut mails = MonthlyMails::default();
    for (pass, written) in [(Pass::More, 2), (Pass::Complete, 3), (Pass::Complete, 3)] {
        assert_eq!(mails.pass(&app.state, 2).await.unwrap(), pass);
        breaches::jobs::deliver_due(&app.state).await.unwrap();
        let sent = app.mails();
        let about = |domain: &&str| {
            let subject = format!("Subject: {domain}: new exposures in");
            sent.iter().any(|mail| mail.plain().contains(&subject))
        };
        assert_eq!(domains.iter().filter(|domain| about(domain)).count(), written);
    }
}

#[actix_web::test]
async fn unsubscribe_link_of_a_monthly_mail_ends_only_monthly_mails() {
    let app = start().await;
    turn(&app, "on").await;
    app.clock.advance(31 * DAY);
    let plain = app.monthly_mails().await.remove(0).plain();
    let link = plain.split("https://breaches.example/unsubscribe?token=").nth(1).unwrap();
    let token: String = link.chars().take_while(char::is_ascii_alphanumeric).collect();
    let one_click = async |token: &str| {
        let request = app.server.post(&format!("/unsubscribe?token={token}"));
        let form = "application/x-www-form-urlencoded";
        let request = request.header("content-type", form).body("List-Unsubscribe=One-Click");
        crate::app::answer(request.send().await.unwrap()).await
    };
    let (status, page) = one_click(&token).await;
    assert_eq!(status, 200);
    assert!(page.contains("You no longer receive monthly emails about corp.example."), "{page}");
    app.clock.advance(31 * DAY);
    assert_eq!(app.monthly_mails().await.len(), 1);
    // Notices continue. Their link stops both kinds of mail.
    app.deliver_notices().await;
    app.load("Old", "new@corp.example\n").await;
    app.deliver_notices().await;
    let notice = app.mails().pop().unwrap().plain();
    assert!(notice.contains("corp.example is in The Old breach"), "{notice}");
    turn(&app, "on").await;
    let link = notice.split("https://breaches.example/unsubscribe?token=").nth(1).unwrap();
    let token: String = link.chars().take_while(char::is_ascii_alphanumeric).collect();
    assert_eq!(one_click(&token).await.0, 200);
    app.clock.advance(31 * DAY);
    assert_eq!(app.monthly_mails().await.len(), 1);
}

#[actix_web::test]
async fn mail_is_dropped_when_its_reason_is_gone() {
    for change in ["off", "revoked", "ended", "retired", "hidden"] {
        let app = start().await;
        turn(&app, "on").await;
        app.clock.advance(31 * DAY);
        app.write_mails().await;
        match change {
            "off" => turn(&app, "off").await,
            "revoked" => {
                let browser = Browser::new(&app);
                browser.sign_in(OWNER).await;
                let page = "/account/domains/corp.example/remove";
                browser.post(page, page, &[]).await.must(303);
            }
            "ended" => {
                let owner = domain::EmailAddress::parse(OWNER).unwrap();
                let now = app.context.clock.unix();
                app.change(|db| {
                    let id = breaches::store::subscribers::id(db, &owner)?.unwrap();
                    breaches::store::subscribers::subscribe(db, id, "core1", now, now)
                })
                .await;
            }
            "retired" => app.set_breach("March", |breach| breach.flags.retired = true).await,
            _ => app.set_breach("March", |breach| breach.active = false).await,
        }
        let mails = app.monthly_mails().await;
        if matches!(change, "retired" | "hidden") {
            // The other breaches are listed, without counts, which would include the hidden one.
            let plain = mails[0].plain();
            assert!(plain.contains("The More: 1") && !plain.contains("The March"), "{plain}");
            assert!(!plain.contains("Addresses: 2"), "{plain}");
        } else {
            assert!(mails.is_empty(), "{change}");
        }
        if change == "revoked" {
            // A new verification starts without monthly mails.
            app.verify(OWNER, "corp.example").await;
            app.clock.advance(31 * DAY);
            assert!(app.monthly_mails().await.is_empty());
        }
    }
}

#[actix_web::test]
async fn mail_of_a_domain_that_the_plan_does_not_cover_is_not_written() {
    let app = start().await;
    let people: String = (0..30).map(|n| format!("user{n}@corp.example\n")).collect();
    app.load("March", &people).await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    browser.post("/account/domains", PAGE, &[("monthly", "on")]).await.must(303);
    browser.get(PAGE).await.must(403);
    app.clock.advance(31 * DAY);
    assert!(app.monthly_mails().await.is_empty());
}

#[test]
fn command_turns_the_monthly_mail_on_and_off() {
    let operator = Operator::new();
    operator.run(&["subscriber", "add", OWNER]);
    operator.run(&crate::commands::subscription(OWNER, "core1"));
    let setting = |word| ["domain", "monthly-mail", OWNER, "corp.example", word];
    let refused = operator.output(&setting("on"));
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not control corp.example"));
    operator.run(&["domain", "verify", OWNER, "corp.example"]);
    for (word, monthly) in [("on", true), ("off", false)] {
        assert_eq!(
            operator.json(&setting(word)),
            json!({ "domain": "corp.example", "monthly": monthly })
        );
        assert_eq!(operator.json(&["domain", "list", OWNER])[0]["monthly"], monthly);
    }
    assert_eq!(operator.output(&setting("maybe")).status.code(), Some(2));
    // The domain was inherited and now exceeds the plan's limit.
    operator.run(&setting("on"));
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let excess = diesel::sql_query("UPDATE domain_control SET state = 'no room'");
    pools.write_blocking(|db| Ok::<_, DatabaseError>(excess.execute(db)?)).unwrap();
    assert_eq!(operator.output(&setting("on")).status.code(), Some(1));
    assert_eq!(operator.json(&setting("off"))["monthly"], false);
}
