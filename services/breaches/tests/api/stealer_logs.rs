//! Operations 12 to 14 and the loader of stealer logs.

use breaches::jobs::{Forecast, SkipReason, StealerLogsOptions};
use serde_json::json;

use crate::app::{App, TEST, ZERO, answer, entry, failure};

async fn app() -> (App, String) {
    let app = App::start().await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([logs, entry("Plain")])).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "example.com").await;
    app.verify("owner@example.org", "shop.example").await;
    (app, key)
}

#[actix_web::test]
async fn pairs_are_loaded_without_passwords_from_csv_and_json() {
    let (app, key) = app().await;
    let csv = "url,password,email\r\n\
        https://www.Shop.example:8443/login,\"se,cret\",B@Example.com\r\n\
        http://192.0.2.1/,x,b@example.com\r\n\
        nonsense,x,b@example.com\r\n\
        https://a.example,x,no address\r\n\
        https://mail.example.com,x,b@example.com\r\n";
    let outcome = app.load_pairs("Logs", csv).await;
    assert_eq!((outcome.read, outcome.accepted, outcome.skipped, outcome.added), (5, 2, 3, 2));
    let lines: Vec<u64> = outcome.skips.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [3, 4, 5]);
    let json =
        "{\"email\":\"a@example.com\",\"website\":\"shop.example\",\"password\":\"x\"}\n{}\n";
    let outcome = app.load_pairs("Logs", json).await;
    assert_eq!((outcome.accepted, outcome.skipped), (1, 1));
    for (path, expected) in [
        ("stealerlogsbyemail/b@example.com", json!(["mail.example.com", "shop.example"])),
        ("stealerlogsbywebsitedomain/shop.example", json!(["a@example.com", "b@example.com"])),
        (
            "stealerlogsbyemaildomain/example.com",
            json!({"a": ["shop.example"], "b": ["mail.example.com", "shop.example"]}),
        ),
        ("breachedaccount/a@example.com", json!([{"Name": "Logs"}])),
    ] {
        assert_eq!(app.json_with(&key, &format!("/api/v3/{path}")).await, expected, "{path}");
    }
}

#[actix_web::test]
async fn dry_run_counts_pairs_and_changes_nothing() {
    let (app, key) = app().await;
    app.load_pairs("Logs", "email,website\nb@example.com,shop.example\n").await;
    app.load("Plain", "plain@example.com\n").await;
    let rows = [
        "b@example.com,https://shop.example/",
        "b@example.com,a.example",
        "plain@example.com,a.example",
        "new@example.com,a.example",
        "NEW@example.com,a.example",
        // An address's own domain counts if there is another website. If it is the only one, it is
        // dropped.
        "new@example.com,example.com",
        "own@example.com,example.com",
        "nonsense,a.example",
    ];
    let options = StealerLogsOptions {
        breach: "Logs".into(),
        file: app.folder.write("pairs", format!("email,website\n{}\n", rows.join("\n"))),
        drop_self: true,
        ..StealerLogsOptions::default()
    };
    let forecast = breaches::jobs::forecast_stealer_logs(&app.context, &options).unwrap();
    let expected = Forecast {
        read: 8,
        accepted: 7,
        skipped: 1,
        new: 2,
        known: 2,
        linked: 1,
        opted_out: 0,
        reasons: [(SkipReason::Address, 1)].into(),
        skips: vec![(9, SkipReason::Address)],
        ..Forecast::default()
    };
    assert_eq!(forecast, expected);
    let stored = app.json_with(&key, "/api/v3/stealerlogsbyemaildomain/example.com").await;
    assert_eq!(stored, json!({"b": ["shop.example"]}));
    let loaded = breaches::jobs::load_stealer_logs(&app.context, &options).unwrap();
    assert_eq!(loaded.added, forecast.new + forecast.known);
}

#[actix_web::test]
async fn address_captured_only_at_its_own_domain_is_dropped() {
    let (app, key) = app().await;
    app.load_pairs("Logs", "email,website\na@example.com,https://example.com/\n").await;
    let found = app.get_with(&key, "/api/v3/stealerlogsbyemail/a@example.com").await;
    assert_eq!(answer(found).await, (404, String::new()));
    let found = app.get_with(&key, "/api/v3/breachedaccount/a@example.com").await;
    assert_eq!(found.status(), 404);
}

#[actix_web::test]
async fn stealer_logs_of_unverified_domains_are_refused() {
    let (app, key) = app().await;
    let refused =
        failure(403, "Access denied, the domain has not been verified by this subscription.");
    for path in [
        "stealerlogsbyemail/a@example.net",
        "stealerlogsbywebsitedomain/www.shop.example",
        "stealerlogsbyemaildomain/sub.example.com",
    ] {
        let found = answer(app.get_with(&key, &format!("/api/v3/{path}")).await).await;
        assert_eq!(found, refused, "{path}");
    }
}

#[actix_web::test]
async fn breach_that_is_not_a_stealer_log_accepts_no_pairs() {
    let (app, _) = app().await;
    let options = StealerLogsOptions {
        breach: "Plain".into(),
        file: app.folder.write("pairs", "a@example.com,shop.example\n"),
        drop_self: true,
        ..Default::default()
    };
    let error = breaches::jobs::load_stealer_logs(&app.context, &options).unwrap_err();
    assert_eq!(error.to_string(), "Plain is not a stealer log");
}

#[actix_web::test]
async fn answers_of_each_stealer_log_search_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        format!("stealerLogsByEmail/stealer-log@{TEST}"),
        format!("stealerLogsByWebsiteDomain/shop.{TEST}"),
        format!("stealerLogsByEmailDomain/{TEST}"),
        format!("stealerLogsByEmail/unknown@{TEST}"),
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}

#[actix_web::test]
async fn csv_columns_are_found_by_common_names_or_by_flags() {
    let (app, _) = app().await;
    let load = |name: &str, text: &str, columns: [Option<&str>; 2], delimiter: Option<&str>| {
        let [email_column, website_column] = columns.map(|column| column.map(str::to_owned));
        let options = StealerLogsOptions {
            breach: "Logs".into(),
            file: app.folder.write(name, text),
            email_column,
            website_column,
            delimiter: delimiter.map(str::to_owned),
            ..Default::default()
        };
        breaches::jobs::load_stealer_logs(&app.context, &options)
    };
    let plain = "url,username,password\nhttps://one.example/x,k1@example.org,hunter2\n\
                 https://one.example,someone,hunter2\n";
    let found = load("a.csv", plain, [None, None], None).unwrap();
    assert_eq!((found.accepted, found.skipped, found.added), (1, 1, 1));
    let named = "host;who;where\nnot this;k2@example.org;two.example\n";
    let found = load("b.csv", named, [Some("WHO"), Some("3")], Some(";")).unwrap();
    assert_eq!((found.accepted, found.added), (1, 1));
    let error = load("c.csv", named, [Some("2"), Some("page")], Some(";")).unwrap_err().to_string();
    assert!(error.contains("column page; its first row has 3 columns."), "{error}");
    let held = |text: &str| {
        let email = domain::EmailAddress::parse(text).unwrap();
        let read = |db: &mut database::Db| -> Result<_, database::DatabaseError> {
            let row = breaches::store::accounts::find(db, &email)?.unwrap();
            let pairs = breaches::store::stealer_logs::websites(db, (row.k, row.seq))?;
            Ok(pairs.into_iter().map(|(website, _)| website).collect::<Vec<_>>())
        };
        app.context.pools.read_blocking(read).unwrap()
    };
    assert_eq!(held("k1@example.org"), ["one.example"]);
    assert_eq!(held("k2@example.org"), ["two.example"]);
}

/// Returns the error from loading pairs, after checking that nothing was stored.
async fn refusal(app: &App, text: &str, column: Option<&str>) -> String {
    refusal_of(app, text, column, 1)
}

fn refusal_of(app: &App, text: &str, column: Option<&str>, pairs: i64) -> String {
    let options = StealerLogsOptions {
        breach: "Logs".into(),
        file: app.folder.write("refused.csv", text),
        website_column: column.map(str::to_owned),
        ..Default::default()
    };
    let refused = breaches::jobs::load_stealer_logs(&app.context, &options).unwrap_err();
    assert_eq!(breaches::jobs::examine(&app.context).unwrap().stealer_pairs, pairs, "{text}");
    refused.to_string()
}

#[actix_web::test]
async fn password_column_is_not_read_as_websites() {
    let (app, key) = app().await;
    for (text, column, expected) in [
        (
            "Login Name,Password\na@example.com,my.dog\n",
            None,
            "has 2 columns. --website-column names",
        ),
        (
            "email,password\na@example.com,my.dog\n",
            Some("password"),
            "column 2 of the CSV file contains secrets",
        ),
        (
            "email,my pwd\na@example.com,my.dog\n",
            Some("2"),
            "column 2 of the CSV file contains secrets",
        ),
        ("email,note\na@example.com,my.dog\n", None, "has 2 columns. --website-column names"),
        ("a@example.com,my.dog\n", None, "has 2 columns. --website-column names"),
    ] {
        let text = refusal(&app, text, column).await;
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("my.dog"), "{text}");
    }
    // Exports of password managers and browsers, and files without a header.
    for (text, site) in [
        (
            "Account,Login Name,Password,Web Site\nx,a@example.com,my.dog,https://one.example/\n",
            "one",
        ),
        ("username,password,origin_url\na@example.com,my.dog,https://two.example/\n", "two"),
        ("a@example.com,my.dog,https://three.example/\n", "three"),
        ("https://me@four.example/,a@example.com,my.dog\na@example.com,my.dog,my.cat\n", "four"),
        ("email,site\na@example.com,five.example\na@example.com,my.secret\n", "five"),
    ] {
        assert_eq!(app.load_pairs("Logs", text).await.accepted, 1, "{text}");
        let found = app.json_with(&key, "/api/v3/stealerlogsbyemail/a@example.com").await;
        let found: Vec<_> =
            found.as_array().unwrap().iter().map(|site| site.as_str().unwrap()).collect();
        assert!(found.contains(&format!("{site}.example").as_str()), "{text}: {found:?}");
        assert!(found.iter().all(|site| site.ends_with(".example")), "{text}: {found:?}");
    }
}

#[actix_web::test]
async fn file_with_invalid_first_rows_is_refused() {
    let (app, _) = app().await;
    let rows: String = (0..1_500).map(|n| format!("user{n},https://shop.example/\n")).collect();
    let text = refusal(&app, &format!("username,url\n{rows}"), None).await;
    assert!(text.contains("all 1500 rows are rejected (1500 address)"), "{text}");
    let half: String =
        (0..1_500).map(|n| format!("user{n}@example.com,https://shop.example/\n")).collect();
    let outcome = app.load_pairs("Logs", &format!("username,url\n{rows}{half}")).await;
    assert_eq!(outcome.accepted, 1_500);
}

#[actix_web::test]
async fn website_column_of_a_file_without_a_header_is_found_by_its_rows() {
    let (app, key) = app().await;
    app.load_pairs("Logs", "a@example.com,x,https://first.example/\n").await;
    // A password that looks like a URL precedes the website, in the first row or in a later one.
    let rows: String =
        (0..20).map(|n| format!("b@example.com,x{n},https://two.example/\n")).collect();
    let text = format!(
        "b@example.com,https://secret.example,https://one.example/\n{rows}\
         b@example.com,https://hidden.example,https://three.example/\n\
         b@example.com,pass,https://part.example,https://four.example/\n"
    );
    let outcome = app.load_pairs("Logs", &text).await;
    assert_eq!((outcome.accepted, outcome.skipped), (22, 1));
    let found = app.json_with(&key, "/api/v3/stealerlogsbyemail/b@example.com").await;
    assert_eq!(found, json!(["one.example", "three.example", "two.example"]));
    for text in [
        "c@example.com,https://secret.example/\n",
        "https://secret.example/,c@example.com\n",
        "c@example.com,https://secret.example,https://one.example/\n",
        "c@example.com,https://secret.example,one.example\n",
        "one.example,c@example.com,https://secret.example\n",
        "one.example,c@example.com,https://secret.example\none.example,c@example.com,hunter2\n",
        "c@example.com,https://secret.example,https://one.example/\n\
         c@example.com,https://hidden.example,https://one.example/\n\
         c@example.com,hunter2,https://one.example/\n",
    ] {
        let refused = refusal_of(&app, text, None, 5);
        assert!(
            refused.contains("columns of the CSV file may contain websites or passwords"),
            "{refused}"
        );
        assert!(!refused.contains("secret"), "{refused}");
    }
    let mostly = "c@example.com,https://secret.example,x\n".to_owned()
        + &"c@example.com,hunter2,x\n".repeat(3);
    let refused = refusal_of(&app, &mostly, None, 5);
    assert!(refused.contains("does not have a known website column"), "{refused}");
}

#[test]
fn lines_of_url_login_and_secret_are_loaded_without_the_secret() {
    let operator = crate::commands::Operator::new();
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    let catalogue = operator.folder.write("c.json", json!([logs]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let lines = "https://one.example/login:a@example.com:my.dog\n\
                 https://two.example:8443/x:a@example.com:hunter@2.example\n\
                 https://three.example/:someone:x@y.example\n\
                 android://h_a-sh==@com.example.Katana/:a@example.com:x\n\
                 four.example|a@example.com|x\n";
    let file = operator.folder.write("logs.txt", lines);
    let load = ["stealer-logs", "load", "--breach", "Logs"];
    let refused = operator.output(&[&load[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert!(errors.contains("--format ulp") && !errors.contains("hunter"), "{errors}");
    let ulp = [&load[..], &["--format", "ulp", "--json", file.to_str().unwrap()]].concat();
    let loaded = operator.output(&ulp);
    assert_eq!(loaded.status.code(), Some(3));
    let outcome: serde_json::Value = serde_json::from_slice(&loaded.stdout).unwrap();
    assert_eq!((&outcome["accepted"], &outcome["reasons"]), (&json!(4), &json!({"address": 1})));
    let shown = operator.json(&["address", "show", "a@example.com"]).to_string();
    for site in ["one.example", "two.example", "four.example", "com.example.katana"] {
        assert!(shown.contains(site), "{shown}");
    }
    assert!(!shown.contains("hunter") && !shown.contains("my.dog"), "{shown}");
}

#[actix_web::test]
async fn refusal_of_a_file_with_one_column_names_the_delimiter_flag() {
    let (app, _) = app().await;
    let refused = refusal(&app, "a@example.com;x;https://one.example/\n", None).await;
    assert!(refused.contains("its first row has 1 column"), "{refused}");
    assert!(refused.contains("--delimiter"), "{refused}");
}
