//! Deletion of an address at its owner's request. Only data needed for a plan or for requested
//! notices is kept.

use std::sync::mpsc;

use breaches::model::OptOut;
use breaches::store::schema::{admin_event, mail_token, notified, outbox, session, subscriber};
use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use serde_json::json;
use testkit::SmtpPeer;

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";

async fn start() -> App {
    let peers = Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() };
    let app = App::with_peers(peers).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", &format!("{OWNER}\n")).await;
    app
}

impl App {
    /// Returns all strings that may contain an address.
    async fn texts(&self) -> Vec<String> {
        self.change(|db| {
            let mut texts: Vec<String> = mail_token::table.select(mail_token::subject).load(db)?;
            texts.extend(subscriber::table.select(subscriber::email).load::<String>(db)?);
            texts.extend(admin_event::table.select(admin_event::subject).load::<String>(db)?);
            texts.extend(admin_event::table.select(admin_event::detail).load::<String>(db)?);
            texts.extend(outbox::table.select(outbox::payload).load::<String>(db)?);
            Ok(texts)
        })
        .await
    }

    /// Returns the number of transactions that wait for a lock. Only for PostgreSQL.
    pub fn waiting_for_locks(&self) -> i64 {
        let waiting = "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
            AND NOT granted \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
        let count = self.context.pools.read_blocking(|db| -> Result<i64, DatabaseError> {
            Ok(diesel::select(diesel::dsl::sql::<BigInt>(waiting)).get_result(db)?)
        });
        count.unwrap()
    }
}

#[actix_web::test]
async fn deletion_removes_every_trace_of_an_address() {
    for (kind, choice) in [("breaches", OptOut::Breaches), ("delete", OptOut::Delete)] {
        let app = start().await;
        let browser = Browser::new(&app);
        let email = EmailAddress::parse(OWNER).unwrap();
        // The operator added the owner, who then signed in and requested notices without confirming
        // them.
        app.change(|db| {
            breaches::add_subscriber(db, &email, false, NOW).map_err(DatabaseError::broken)
        })
        .await;
        browser.sign_in(OWNER).await;
        browser.post("/notify-me", "/notify-me", &[("email", OWNER)]).await.must(200);
        browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(200);
        assert!(app.texts().await.iter().any(|text| text.contains(OWNER)));
        let token = app.last_token("/opt-out/choose");
        let page = format!("/opt-out/choose?token={token}");
        let fields = [("token", token.as_str()), ("kind", kind)];
        let answer = browser.post(&page, "/opt-out/choose", &fields).await;
        let shown = answer.text().to_owned();
        answer.must(200);
        let says_so = shown.contains("Notices that you requested continue");
        assert_eq!(says_so, choice == OptOut::Delete, "{shown}");
        let texts = app.texts().await;
        assert!(!texts.iter().any(|text| text.contains("owner@")), "{choice:?}: {texts:?}");
        let sessions: i64 = app.change(|db| Ok(session::table.count().get_result(db)?)).await;
        assert_eq!(sessions, 0);
        let found = app.change(|db| breaches::store::accounts::find(db, &email)).await;
        assert!(found.is_none());
    }
}

#[actix_web::test]
async fn two_links_of_an_address_can_be_used_at_once() {
    let app = start().await;
    if app.database.file().is_some() {
        // SQLite has a single writer.
        return;
    }
    let browsers = [Browser::new(&app), Browser::new(&app)];
    let mut tokens = Vec::new();
    for browser in &browsers {
        browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(200);
        tokens.push(app.last_token("/opt-out/choose"));
    }
    // Both requests are running when another writer ends.
    let mut other = app.context.pools.connect().unwrap();
    other.batch_execute("BEGIN").unwrap();
    breaches::store::versions::lock_accounts(&mut other).unwrap();
    let choose = async |browser: &Browser<'_>, token: &str| {
        let page = format!("/opt-out/choose?token={token}");
        let fields = [("token", token), ("kind", "delete")];
        browser.post(&page, "/opt-out/choose", &fields).await.status
    };
    let end = async {
        testkit::until("both requests wait", async || app.waiting_for_locks() == 2).await;
        other.batch_execute("COMMIT").unwrap();
    };
    let (first, second, ()) = futures_util::join!(
        choose(&browsers[0], &tokens[0]),
        choose(&browsers[1], &tokens[1]),
        end
    );
    let mut statuses = [first, second];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400], "the second link was deleted with the address");
    let email = EmailAddress::parse(OWNER).unwrap();
    assert!(app.change(|db| breaches::store::accounts::find(db, &email)).await.is_none());
}

#[actix_web::test]
async fn requested_notices_survive_a_deletion_and_can_be_ended() {
    let app = start().await;
    app.listener(OWNER).await;
    app.deliver_notices().await;
    let mail = app.mails().remove(0);
    let email = EmailAddress::parse(OWNER).unwrap();
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Delete, NOW).map_err(DatabaseError::broken)
    })
    .await;
    app.change(|db| {
        // The links do not contain the address, and the record of notices is deleted.
        let links: Vec<String> = mail_token::table.select(mail_token::subject).load(db)?;
        assert_eq!(links, [""]);
        assert_eq!(outbox::table.count().get_result::<i64>(db)?, 0);
        Ok(())
    })
    .await;
    app.load("Beta", &format!("{OWNER}\n")).await;
    app.deliver_notices().await;
    assert_eq!(app.mails().len(), 2);
    // The unsubscribe link in the first mail still works.
    let link = mail.find("https://breaches.example/unsubscribe?token=").unwrap();
    let token = link.rsplit('=').next().unwrap();
    let page = format!("/unsubscribe?token={token}");
    let browser = Browser::new(&app);
    let answer = browser.post(&page, "/unsubscribe", &[("token", token)]).await;
    assert!(
        answer.text().contains(&format!("{OWNER} no longer receives notices")),
        "{}",
        answer.text()
    );
    // Now nothing needs the address.
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Delete, NOW).map_err(DatabaseError::broken)
    })
    .await;
    let texts = app.texts().await;
    assert!(!texts.iter().any(|text| text.contains("owner@")), "{texts:?}");
}

#[actix_web::test]
async fn subscriber_with_a_plan_survives_a_deletion() {
    let app = start().await;
    app.subscriber(OWNER, "core1").await;
    let email = EmailAddress::parse(OWNER).unwrap();
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Breaches, NOW).map_err(DatabaseError::broken)?;
        assert!(breaches::store::subscribers::id(db, &email)?.is_some());
        Ok(())
    })
    .await;
}

#[actix_web::test]
async fn notices_turned_on_during_a_removal_record_nothing_that_it_removes() {
    for removal in ["opt-out", "link"] {
        let app = start().await;
        if app.database.file().is_some() {
            // SQLite has a single writer.
            return;
        }
        // The plan keeps the subscriber.
        app.subscriber(OWNER, "core1").await;
        let browser = Browser::new(&app);
        browser.sign_in(OWNER).await;
        let alpha = app.change(|db| breaches::store::breaches::by_name(db, "Alpha")).await;
        let (email, alpha) = (EmailAddress::parse(OWNER).unwrap(), alpha.unwrap().id);
        let (begun, begins) = mpsc::channel::<()>();
        let (release, released) = mpsc::channel::<()>();
        let pools = app.context.pools.clone();
        let remove = std::thread::spawn(move || {
            pools.write_blocking(|db: &mut Db| {
                let removed = match removal {
                    "opt-out" => breaches::opt_out(db, &email, OptOut::Delete, NOW),
                    _ => breaches::remove_link(db, &email, alpha, NOW).map(drop),
                };
                removed.map_err(DatabaseError::broken)?;
                begun.send(()).unwrap();
                let _ = released.recv();
                Ok::<_, DatabaseError>(())
            })
        });
        begins.recv().unwrap();
        let page = "/account/notifications";
        let turn_on = async { browser.post(page, page, &[("notify", "on")]).await.status };
        let end = async {
            testkit::until("the request waits", async || app.waiting_for_locks() == 1).await;
            drop(release);
        };
        let (status, ()) = futures_util::join!(turn_on, end);
        remove.join().unwrap().unwrap();
        let recorded: i64 = app.change(|db| Ok(notified::table.count().get_result(db)?)).await;
        assert_eq!((status, recorded), (303, 0), "{removal}");
    }
}
