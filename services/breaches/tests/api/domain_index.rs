//! Large loads on SQLite, whose accounts are missing in the index by domain until the load ends.

use breaches::jobs::{
    AccountsOptions, examine, find_remains, index_domains, load_accounts, recount_domains,
    resume_index,
};
use breaches::model::OptOut;
use breaches::store::jobs::Job;
use breaches::store::{domain_accounts, domain_controls, jobs, mail_domains, unfiled_accounts};
use database::DatabaseError;
use domain::EmailAddress;
use serde_json::json;
use testkit::Database;

use crate::app::{App, NOW, answer, entry, failure};

const PATH: &str = "/api/v3/breacheddomain/example.com";
/// Enough accounts for a load into the table instead of a run.
const CROWD: i64 = 9_000;

/// Returns a load's lines: these, and those of many other people.
fn crowd(round: usize, lines: &str) -> String {
    let people = (1..=CROWD).map(|n| format!("user{n}@crowd{round}x{}.example\n", n % 50));
    people.chain([lines.to_owned()]).collect()
}

async fn app() -> App {
    let database = Database::in_file();
    let app = App::on(database, |settings| settings.seed_test_data = false, |_| ()).await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([entry("Alpha"), entry("Beta"), logs])).await;
    app
}

/// Makes loads postpone index entries while another load is running, and returns its job's id.
async fn postponed(app: &App) -> i64 {
    app.change(|db| {
        unfiled_accounts::postpone(db)?;
        jobs::begin(db, "accounts", "another", "{}", NOW)
    })
    .await
}

/// Ends the other load.
async fn end(app: &App, other: i64) {
    let now = app.context.clock.unix();
    assert!(app.change(|db| jobs::finish(db, other, now)).await);
}

async fn unfiled(app: &App) -> i64 {
    app.change(domain_accounts::unfiled).await
}

/// Returns the index jobs, newest first.
async fn index_jobs(app: &App) -> Vec<Job> {
    let all = app.change(jobs::all).await;
    all.into_iter().filter(|job| job.kind == "index").collect()
}

#[actix_web::test]
async fn domain_searches_fail_until_the_index_is_complete_and_then_find_everything() {
    let app = app().await;
    let lines = crowd(1, "ada@example.com\nbob@example.com\neve@example.org\n");
    let pairs = "email,website\nada@example.com,shop.example\n";
    let mut keys = Vec::new();
    for owner in ["one@example.net", "two@example.net"] {
        keys.push(app.subscriber(owner, "pro1").await);
        app.verify(owner, "example.com").await;
    }
    let other = postponed(&app).await;
    app.load("Alpha", &lines).await;
    app.load("Beta", "ada@example.com\n").await;
    app.load_pairs("Logs", pairs).await;
    assert_eq!((unfiled(&app).await, index_jobs(&app).await), (CROWD + 3, vec![]));
    assert!(!examine(&app.context).unwrap().is_sound());

    let captured = "/api/v3/stealerlogsbyemaildomain/example.com";
    for path in [PATH, captured] {
        let response = app.get_with(&keys[0], path).await;
        assert_eq!(response.headers()["retry-after"], "5", "{path}");
        let unavailable = failure(503, "The service is temporarily unavailable.");
        assert_eq!(answer(response).await, unavailable, "{path}");
    }
    let version = app.state.snapshot_versions();
    assert!(!recount_domains(&app.state, version).await.unwrap());
    let found = app.json_with(&keys[0], "/api/v3/breachedaccount/ada@example.com").await;
    assert_eq!(found, json!([{"Name": "Alpha"}, {"Name": "Beta"}, {"Name": "Logs"}]));
    let digest = EmailAddress::parse("eve@example.org").unwrap().sha1().to_string();
    let range = format!("/api/v3/breachedaccount/range/{}", &digest[..6]);
    assert_eq!(app.json_with(&keys[0], &range).await[0]["websites"], json!(["Alpha"]));

    end(&app, other).await;
    assert!(index_domains(&app.context).unwrap());
    let found = app.json_with(&keys[1], PATH).await;
    assert_eq!(found, json!({"ada": ["Alpha", "Beta", "Logs"], "bob": ["Alpha"]}));
    let found = app.json_with(&keys[1], captured).await;
    assert_eq!(found, json!({"ada": ["shop.example"]}));
    assert!(recount_domains(&app.state, version).await.unwrap());
    assert!(examine(&app.context).unwrap().is_sound());
    let done = index_jobs(&app).await;
    let state: Vec<_> = done.iter().map(|job| (job.state.as_str(), job.read, job.added)).collect();
    assert_eq!(state, [("done", CROWD + 3, CROWD + 3)]);
    assert!(index_domains(&app.context).unwrap(), "there is nothing left to do");
    assert_eq!(index_jobs(&app).await, done);
}

#[actix_web::test]
async fn last_load_completes_the_index_however_it_ends() {
    let app = app().await;
    let fail = |app: &App| {
        let missing = AccountsOptions { breach: "Missing".into(), ..Default::default() };
        assert!(load_accounts(&app.context, &missing).is_err());
    };
    let cancel = |app: &App| {
        let running = app.context.pools.write_blocking(|db| {
            jobs::begin(db, "accounts", "cancelled", r#"{"breach":"Alpha"}"#, NOW)
        });
        breaches::jobs::cancel(&app.context, running.unwrap()).unwrap();
    };
    let ends: [fn(&App); 2] = [fail, cancel];
    for (round, end_load) in ends.into_iter().enumerate() {
        let other = postponed(&app).await;
        app.load("Alpha", &crowd(round, "")).await;
        end_load(&app);
        assert_eq!(unfiled(&app).await, CROWD, "the other load is running");
        end(&app, other).await;
        end_load(&app);
        assert_eq!(unfiled(&app).await, 0);
        assert!(!app.change(unfiled_accounts::any).await);
    }
    // A successful load, too.
    let other = postponed(&app).await;
    app.load("Alpha", &crowd(2, "")).await;
    assert_eq!(unfiled(&app).await, CROWD);
    end(&app, other).await;
    app.load("Beta", "eve@example.com\n").await;
    assert_eq!(unfiled(&app).await, 0);
}

#[actix_web::test]
async fn server_completes_the_index_after_a_killed_load_or_build() {
    let app = app().await;
    let other = postponed(&app).await;
    app.load("Alpha", &crowd(1, "")).await;
    assert_eq!(unfiled(&app).await, CROWD);
    app.clock.advance(599);
    assert!(!resume_index(&app.context).unwrap(), "the load may be resumed");
    app.clock.advance(1);
    assert!(resume_index(&app.context).unwrap());
    assert_eq!(unfiled(&app).await, 0);
    assert!(!resume_index(&app.context).unwrap());
    end(&app, other).await;

    // A build whose process was killed, and one that failed.
    for (fails, wait) in [(false, 30), (true, 600)] {
        let now = app.context.clock.unix();
        let job = app.change(|db| {
            let job = jobs::begin(db, "index", "", "", now)?;
            unfiled_accounts::begin(db)?;
            if fails {
                jobs::fail(db, job, "no room", now)?;
            }
            Ok(job)
        });
        let job = job.await;
        app.clock.advance(wait - 1);
        assert!(!resume_index(&app.context).unwrap(), "{wait}");
        app.clock.advance(1);
        assert!(resume_index(&app.context).unwrap(), "{wait}");
        let newest = index_jobs(&app).await.remove(0);
        assert_eq!((newest.id, newest.state.as_str(), newest.error), (job, "done", None));
    }
}

#[actix_web::test]
async fn person_removed_before_the_index_is_complete_leaves_no_trace() {
    let app = app().await;
    let other = postponed(&app).await;
    app.load("Alpha", &crowd(1, "gone@alone.example\n")).await;
    let gone = EmailAddress::parse("gone@alone.example").unwrap();
    app.change(|db| {
        breaches::opt_out(db, &gone, OptOut::Delete, NOW).map_err(DatabaseError::broken)
    })
    .await;
    let domain = async || app.change(|db| mail_domains::id(db, "alone.example")).await;
    assert!(domain().await.is_some(), "the index cannot show that the domain is unused");
    end(&app, other).await;
    assert!(index_domains(&app.context).unwrap());
    assert_eq!((domain().await, unfiled(&app).await), (None, 0));
    // The file contains deleted bytes, which only the program's connections overwrite.
    let remains = find_remains(&app.context, &gone, &[]).unwrap();
    assert!(!remains.unused_domain && !remains.kept_digest, "{remains:?}");
}

#[actix_web::test]
async fn index_jobs_cannot_be_cancelled() {
    let app = app().await;
    let job = app.change(|db| jobs::begin(db, "index", "", "", NOW)).await;
    let refused = breaches::jobs::cancel(&app.context, job).unwrap_err().to_string();
    assert!(refused.contains("was not cancelled"), "{refused}");
    assert_eq!(index_jobs(&app).await[0].state, "running");
}

#[actix_web::test]
async fn verified_domain_counts_as_searchable_once_it_has_addresses() {
    let app = app().await;
    app.subscriber("owner@example.net", "pro1").await;
    app.verify("owner@example.net", "example.com").await;
    assert!(!app.change(domain_controls::any_with_addresses).await);
    app.load("Alpha", "ada@example.com\n").await;
    assert!(recount_domains(&app.state, app.state.snapshot_versions()).await.unwrap());
    assert!(app.change(domain_controls::any_with_addresses).await);
}
