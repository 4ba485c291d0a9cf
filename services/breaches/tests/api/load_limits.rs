//! Invalid input of any length affects only its own row.

use breaches::jobs::AccountsOptions;
use breaches::jobs::{Format, SkipReason};
use breaches::store::accounts;
use diesel::{QueryDsl, RunQueryDsl, TextExpressionMethods};
use serde_json::json;

use crate::app::{App, entry};

async fn with_logs() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([logs])).await;
    app
}

async fn number_of_accounts(app: &App) -> usize {
    app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await.len()
}

/// Builds rows. The third one opens a quote that is never closed.
fn with_a_stray_quote(header: &str, row: impl Fn(usize) -> String) -> String {
    let rows = (2..5_000).map(|line| match line {
        3 => format!("\"{}", row(line)),
        _ => row(line),
    });
    rows.fold(header.to_owned(), |text, row| text + "\r\n" + &row)
}

#[actix_web::test]
async fn unclosed_quote_in_an_account_csv_skips_one_row() {
    let app = with_logs().await;
    let text = with_a_stray_quote("email,name", |n| format!("user{n}@example.com,Name {n}"));
    let options = AccountsOptions {
        breach: "Logs".into(),
        files: vec![app.folder.write("a.csv", text + &"x".repeat(10 << 20) + "\n\"end")],
        format: Format::Csv(None),
        ..AccountsOptions::default()
    };
    let outcome = breaches::jobs::load_accounts(&app.context, &options).unwrap();
    let expected = [
        (3, SkipReason::UnclosedQuote),
        (4_999, SkipReason::TooLong),
        (5_000, SkipReason::UnclosedQuote),
    ];
    assert_eq!(outcome.skips, expected);
    assert_eq!((outcome.read, outcome.accepted, outcome.added), (4_998 + 1, 4_996, 4_996));
    assert_eq!(number_of_accounts(&app).await, 4_996);
    assert_eq!(serde_json::to_value(SkipReason::UnclosedQuote).unwrap(), "unclosed-quote");
}

#[actix_web::test]
async fn unclosed_quote_in_a_stealer_log_csv_skips_one_row() {
    let app = with_logs().await;
    let text = with_a_stray_quote("url,email", |n| {
        format!("https://www.site{}.example/login,user{n}@example.com", n % 9)
    });
    let outcome = app.load_pairs("Logs", &text).await;
    assert_eq!(outcome.skips, [(3, SkipReason::UnclosedQuote)]);
    assert_eq!((outcome.accepted, outcome.added), (4_997, 4_997));
    assert_eq!(number_of_accounts(&app).await, 4_997);
}

#[actix_web::test]
async fn paste_may_use_a_quarter_of_the_memory_and_invalid_addresses_do_not_count() {
    let mut app = with_logs().await;
    app.context.settings.load_memory_mb = 1;
    let paste = |id: &str, addresses: usize| {
        let mut emails: Vec<_> = (0..addresses).map(|n| format!("User{n}@{id}.example")).collect();
        emails.extend(["no address".to_owned(), "user0@".to_owned() + id + ".example"]);
        json!({"Source": "Pastebin", "Id": id, "Emails": emails}).to_string()
    };
    let lines =
        [paste("one", 4_000), paste("two", 4_000), paste("three", 20_000), paste("four", 1)];
    assert!(lines[0].len() > 64 * 1024 && lines[0].len() * 2 < 256 * 1024);
    assert!(lines[2].len() > 256 * 1024);
    let outcome = app.load_pastes(&lines.join("\n")).await;
    assert_eq!((outcome.accepted, outcome.added), (3, 8_001));
    assert_eq!(outcome.skips, [(3, SkipReason::TooLong)]);
    let key = app.subscriber("owner@example.org", "core1").await;
    let found = app.json_with(&key, "/api/v3/pasteaccount/user7@one.example").await;
    assert_eq!(found[0]["EmailCount"], 4_000);
}

#[actix_web::test]
async fn address_with_a_secret_is_refused_and_the_secret_is_not_stored() {
    let operator = crate::commands::Operator::new();
    let catalogue = operator.folder.write("c.json", json!([entry("Alpha")]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let lines = "ada@corp.example:hunter2\nbob@corp.example;hunter2\neve@corp.example|hunter@2.x\n\
                 <kim@corp.example>\nmailto:lea@corp.example\nzoe@corp.example\n";
    let file = operator.folder.write("a.txt", lines);
    let load = ["accounts", "load", "--breach", "Alpha", "--json", file.to_str().unwrap()];
    let loaded = operator.command(&load).output().unwrap();
    assert_eq!(loaded.status.code(), Some(3));
    let errors = String::from_utf8(loaded.stderr).unwrap();
    assert!(errors.contains("5 skipped: address"), "{errors}");
    let outcome: serde_json::Value = serde_json::from_slice(&loaded.stdout).unwrap();
    assert_eq!(outcome["reasons"], json!({ "address": 5 }));
    let exported = operator.run(&["account", "export", "--breach", "Alpha"]);
    assert_eq!(exported, "zoe@corp.example\n");
    let jobs = operator.run(&["job", "show", &outcome["job"].to_string()]);
    let pastes = operator.folder.write(
        "p.jsonl",
        r#"{"Source":"Pastebin","Id":"a","Emails":["ada@corp.example:hunter2","zoe@corp.example"]}"#,
    );
    operator.run(&["pastes", "load", pastes.to_str().unwrap()]);
    let database = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let domains: Vec<String> = database
        .read_blocking(|db| -> Result<_, database::DatabaseError> {
            use breaches::store::schema::mail_domain::dsl::{mail_domain, name};
            Ok(mail_domain.select(name).filter(name.like("%corp%")).load(db)?)
        })
        .unwrap();
    assert_eq!(domains, ["corp.example"]);
    assert!(!format!("{errors}{outcome}{jobs}").contains("hunter"));
}
