//! Logs, metrics, errors and job records do not contain addresses that were searched for or loaded.

use std::fs::File;
use std::process::{Child, Command};

use breaches::store::jobs;
use domain::{EmailAddress, Sha1Digest};
use serde_json::json;

use crate::app::{App, TEST, ZERO};
use crate::commands::Operator;

#[actix_web::test]
async fn metrics_contain_route_patterns_but_no_address_prefix_or_key() {
    let app = App::start().await;
    for path in [
        format!("/api/v3/breachedaccount/account-exists@{TEST}"),
        "/api/v3/breachedaccount/range/567159".to_owned(),
        format!("/api/v3/nowhere/account-exists@{TEST}"),
    ] {
        app.get_with(ZERO, &path).await;
    }
    let metrics = app.server.client().get(app.server.admin_url("/metrics"));
    let text = metrics.send().await.unwrap().text().await.unwrap();
    assert!(text.contains("/api/v3/breachedAccount/{email}"), "{text}");
    for secret in ["account-exists", "567159", ZERO] {
        assert!(!text.contains(secret), "{secret}");
    }
}

/// An address that is loaded and searched for, and that cannot be confused with other text.
const ADDRESS: &str = "private.person@secret-domain.example";
const UNKNOWN: &str = "0123456789abcdef0123456789abcdef";

/// Runs a command, writing all of its output to a file.
fn logged(command: &mut Command, log: &File) -> Option<i32> {
    command.env("RUST_LOG", "debug");
    command.stdout(log.try_clone().unwrap()).stderr(log.try_clone().unwrap());
    command.status().unwrap().code()
}

/// Loads valid and invalid lines in every format.
fn load(operator: &Operator, log: &File) {
    let quoted = json!(ADDRESS);
    let catalogue = json!([
        { "Name": "Logs", "Title": "Logs", "BreachDate": "2020-01-01", "AddedDate": "2020-01-01T00:00:00Z", "IsStealerLog": true },
    ]);
    for (name, content, arguments, code) in [
        ("c.json", catalogue.to_string(), &["catalogue", "import"][..], 0),
        (
            "a.txt",
            format!("{ADDRESS}\n{ADDRESS} and more\nprivate.person@\n"),
            &["accounts", "load", "--breach", "Logs"],
            3,
        ),
        (
            "b.csv",
            format!("id,email\n1,{ADDRESS}\n2,{ADDRESS} x\n"),
            &["accounts", "load", "--breach", "Logs", "--format", "csv"],
            3,
        ),
        (
            "no-column.csv",
            format!("{ADDRESS},1\n"),
            &["accounts", "load", "--breach", "Logs", "--format", "csv", "--column", "mail"],
            1,
        ),
        (
            "pairs.csv",
            format!("email,website\n{ADDRESS},shop.example\n{ADDRESS},http://192.0.2.1/\n"),
            &["stealer-logs", "load", "--breach", "Logs"],
            3,
        ),
        (
            "pairs.json",
            format!("{{\"email\":{quoted},\"website\":\"shop.example\"}}\n{{\"email\":{quoted}\n"),
            &["stealer-logs", "load", "--breach", "Logs"],
            3,
        ),
        (
            "pastes.ndjson",
            format!(
                "{{\"Source\":\"Slexy\",\"Id\":\"1\",\"Emails\":[{quoted}]}}\n{{\"Source\":{quoted},\"Id\":\"2\"}}\n{{\"Emails\":[{quoted}\n"
            ),
            &["pastes", "load"],
            3,
        ),
    ] {
        let file = operator.folder.write(name, content);
        assert_eq!(logged(operator.command(arguments).arg(&file), log), Some(code), "{name}");
    }
    for arguments in [
        &["address", "opt-out", ADDRESS, "--kind", "public"][..],
        &["address", "opt-in", ADDRESS],
        &["doctor"],
        &["job", "list"],
    ] {
        assert_eq!(logged(&mut operator.command(arguments), log), Some(0), "{arguments:?}");
    }
}

/// Calls every operation with valid and invalid targets and with every kind of key.
async fn search(base: &str, key: &str) {
    let client = reqwest::Client::builder().user_agent("tests").build().unwrap();
    let hash = Sha1Digest::of(ADDRESS).to_string();
    let prefix = &hash[..6];
    let below = [
        format!("breachedaccount/{ADDRESS}"),
        format!("breachedaccount/{}", ADDRESS.replace('@', "%40")),
        format!("breachedaccount/{ADDRESS}?truncateResponse={ADDRESS}"),
        format!("breachedaccount/{ADDRESS}/x"),
        format!("breachedaccount/range/{prefix}"),
        format!("breachedaccount/range/{}", prefix.to_lowercase()),
        format!("breachedaccount/range/{hash}"),
        format!("breach/{ADDRESS}"),
        format!("breaches?Domain={ADDRESS}"),
        format!("breacheddomain/{ADDRESS}"),
        format!("pasteaccount/{ADDRESS}"),
        format!("pasteaccount/{ADDRESS}/x"),
        format!("stealerlogsbyemail/{ADDRESS}"),
        format!("stealerlogsbywebsitedomain/{ADDRESS}"),
        format!("stealerlogsbyemaildomain/{ADDRESS}"),
        format!("nowhere/{ADDRESS}"),
        format!("breachedaccount/range/{prefix}/"),
        format!("breachedaccount/range/{prefix}/x"),
        format!("breachedaccount//range/{prefix}"),
        format!("breachedaccount/%72ange/{prefix}"),
        format!("%62reachedaccount/range/{prefix}"),
        format!("range/{prefix}"),
    ];
    let elsewhere = [
        format!("/api/v3/breachedaccount/range/{prefix}"),
        format!("api//v3/breachedaccount/range/{prefix}"),
        format!("API/V2/breachedaccount/range/{prefix}"),
        format!("breachedaccount/range/{prefix}"),
        format!("docs/{ADDRESS}"),
        format!("docs/range/{prefix}"),
    ];
    for path in below.map(|path| format!("api/v3/{path}")).iter().chain(&elsewhere) {
        for key in [key, UNKNOWN, ZERO, ADDRESS] {
            let request = client.get(format!("{base}/{path}"));
            let body = request.header("breach-api-key", key).send().await.unwrap().text();
            assert!(!body.await.unwrap().contains(ADDRESS), "{path}");
        }
    }
}

struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[actix_web::test]
async fn logs_errors_and_jobs_contain_no_address_key_or_hash() {
    let operator = Operator::new();
    let path = operator.folder.join("log.txt");
    let log = File::create(&path).unwrap();
    load(&operator, &log);
    operator.run(&["subscriber", "add", "owner@example.org"]);
    operator.run(&crate::commands::subscription("owner@example.org", "pro1"));
    let key = operator.run(&["keys", "issue", "owner@example.org"]).trim().to_owned();

    let free = "127.0.0.1:0";
    let mut command = operator.command(&["serve", "--tls-mode", "off", "--bind", free]);
    command.args(["--admin-bind", free]).env("RUST_LOG", "debug").env("DB_WAIT_MS", "20000");
    let mut server = Serving(command.stderr(log.try_clone().unwrap()).spawn().unwrap());
    let mut address_after = |mark: &str| {
        let mut address = None;
        testkit::until_blocking("the server logs its addresses", || {
            assert!(server.0.try_wait().unwrap().is_none(), "the server ended");
            let text = std::fs::read_to_string(&path).unwrap();
            let line = text.split_once(mark).and_then(|(_, rest)| rest.split_once('\n'));
            address = line.map(|(address, _)| address.to_owned());
            address.is_some()
        });
        address.unwrap()
    };
    let http = address_after("breaches serves http://");
    let admin = address_after("health and metrics on http://");
    let base = format!("http://{http}");
    search(&base, &key).await;
    // Errors caused by clients are not logged as errors of the service.
    let long = reqwest::get(format!("{base}/{}", "a".repeat(50_000))).await.unwrap();
    assert_eq!(long.status(), 414);
    assert_eq!(long.json::<serde_json::Value>().await.unwrap()["statusCode"], 414);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("ERROR"));
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let jobs = pools.read_blocking(jobs::all).unwrap();
    // Errors of a failing database are logged too.
    pools
        .write_blocking(|db| -> Result<(), database::DatabaseError> {
            use diesel::RunQueryDsl;
            diesel::sql_query("ALTER TABLE account RENAME TO account_away").execute(db)?;
            Ok(())
        })
        .unwrap();
    search(&base, &key).await;
    let metrics = reqwest::get(format!("http://{admin}/metrics")).await.unwrap();
    let metrics = metrics.text().await.unwrap();
    drop(server);

    let text = std::fs::read_to_string(&path).unwrap();
    for sign in
        ["/api/v3/breachedAccount/{email}", "line 2: address", "ERROR", "does not have a column"]
    {
        assert!(text.contains(sign), "{sign} is not in\n{text}");
    }
    let digest = EmailAddress::parse(ADDRESS).unwrap().sha1();
    let hash = digest.to_string();
    let k = breaches::model::AccountKey::of(&digest).0.to_string();
    let written = [text, metrics, serde_json::to_string(&jobs).unwrap()].concat().to_lowercase();
    for secret in
        ["private.person", "secret-domain", &hash[..6], &hash[6..], &k, &key, UNKNOWN, ZERO]
    {
        assert!(!written.contains(&secret.to_lowercase()), "{secret} is in\n{written}");
    }
}
