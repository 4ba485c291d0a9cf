//! The metrics of the service. All tests share a registry, so counters are compared with a lower
//! bound.

use breaches::State;
use breaches::jobs;
use breaches::store::jobs as job_rows;
use database::Db;
use serde_json::json;
use testkit::{Program, SmtpPeer};

use crate::app::{App, NOW, Peers, entry};
use crate::browser::{Browser, Must};

const OWNER: &str = "owner@example.org";

async fn metrics(app: &App) -> String {
    app.server.admin("/metrics").send().await.unwrap().text().await.unwrap()
}

/// Returns the value of a metric.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
}

#[actix_web::test]
async fn counters_exist_from_the_start() {
    let app = App::start().await;
    let text = metrics(&app).await;
    for name in [
        "breaches_messages_failed_total{channel=\"mail\"}",
        "breaches_messages_failed_total{channel=\"webhook\"}",
        "breaches_sign_ins_total{outcome=\"signed_in\"}",
        "breaches_sign_ins_total{outcome=\"refused\"}",
        "breaches_domain_proofs_total{method=\"dns\",outcome=\"verified\"}",
        "breaches_domain_proofs_total{method=\"parent\",outcome=\"refused\"}",
        "breaches_opt_outs_total{kind=\"public\"}",
        "breaches_opt_outs_total{kind=\"breaches\"}",
        "breaches_opt_outs_total{kind=\"delete\"}",
    ] {
        assert!(value(&text, name) >= 0.0, "{name}");
    }
}

/// Otherwise no alert would fire if all replicas had it switched off.
#[actix_web::test]
async fn replicas_without_maintenance_measure_messages_and_jobs() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_breaches")).with_database().setting("MAINTENANCE", "off");
    let server = program.serve(&[]);
    let url = format!("http://{}/metrics", server.admin());
    testkit::until("messages and jobs are measured", async || {
        let text = reqwest::get(&url).await.unwrap().text().await.unwrap();
        ["message_overdue_seconds{channel=\"mail\"}", "jobs{state=\"failed\"}"]
            .iter()
            .all(|name| text.contains(&format!("\nbreaches_{name} 0\n")))
    })
    .await;
}

#[actix_web::test]
async fn sign_ins_and_opt_outs_are_counted_by_outcome_and_kind() {
    let peers = Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() };
    let app = App::with_peers(peers).await;
    let names = [
        "breaches_sign_ins_total{outcome=\"signed_in\"}",
        "breaches_sign_ins_total{outcome=\"refused\"}",
        "breaches_opt_outs_total{kind=\"public\"}",
    ];
    let read = |text: &str| names.map(|name| value(text, name));
    let before = read(&metrics(&app).await);
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let other = "/sign-in/confirm?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let used = app.last_token("/sign-in/confirm");
    let fields = [("token", used.as_str())];
    let refused = browser.post(other, "/sign-in/confirm", &fields).await;
    assert_ne!(refused.status, 303, "{}", refused.text());
    browser.post("/opt-out", "/opt-out", &[("email", OWNER)]).await.must(200);
    let token = app.last_token("/opt-out/choose");
    let page = format!("/opt-out/choose?token={token}");
    let fields = [("token", token.as_str()), ("kind", "public")];
    browser.post(&page, "/opt-out/choose", &fields).await.must(200);
    let after = read(&metrics(&app).await);
    for ((name, before), after) in names.iter().zip(before).zip(after) {
        assert!(after >= before + 1.0, "{name}: {before} to {after}");
    }
}

/// A single test measures the gauges, because servers of other tests in this process set them too.
/// It reads them immediately after measuring, and repeats that if another server interfered.
#[actix_web::test]
async fn gauges_show_accounts_jobs_and_waiting_messages() {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "a@corp.example\nb@corp.example\nc@corp.example\n").await;
    app.change(|db| {
        job_rows::begin(db, "accounts", "x", "{}", NOW - 300)?;
        let failed = job_rows::begin(db, "accounts", "y", "{}", NOW - 50)?;
        job_rows::fail(db, failed, "the disk is full", NOW - 40)
    })
    .await;
    let state: &State = &app.state;
    // On SQLite, a load as small as this is stored as a run.
    let runs = app.change(|db| Ok(f64::from(u8::from(matches!(db, Db::Sqlite(_)))))).await;
    let expected = [
        ("breaches_accounts", 3.0),
        ("breaches_runs", runs),
        ("breaches_jobs{state=\"done\"}", 1.0),
        ("breaches_jobs{state=\"running\"}", 0.0),
        ("breaches_jobs{state=\"interrupted\"}", 1.0),
        ("breaches_jobs{state=\"failed\"}", 1.0),
        ("breaches_jobs{state=\"cancelled\"}", 0.0),
        ("breaches_job_oldest_seconds{state=\"interrupted\"}", 300.0),
        ("breaches_job_oldest_seconds{state=\"failed\"}", 50.0),
        ("breaches_messages_waiting{channel=\"mail\"}", 0.0),
        ("breaches_messages_waiting{channel=\"webhook\"}", 0.0),
        ("breaches_message_oldest_seconds{channel=\"mail\"}", 0.0),
        ("breaches_message_overdue_seconds{channel=\"webhook\"}", 0.0),
    ];
    let mut found = Vec::new();
    for _ in 0..50 {
        jobs::measure_accounts(state).await.unwrap();
        jobs::measure_queues(state).await.unwrap();
        let text = metrics(&app).await;
        found = expected.map(|(name, _)| (name, value(&text, name))).to_vec();
        if found == expected {
            break;
        }
    }
    assert_eq!(found, expected);
    assert_eq!(value(&metrics(&app).await, "breaches_run_bytes") > 0.0, runs > 0.0);
    for name in ["breaches_catalogue_version", "breaches_breaches{state=\"active\"}"] {
        assert!(value(&metrics(&app).await, name) >= 0.0, "{name}");
    }
}
