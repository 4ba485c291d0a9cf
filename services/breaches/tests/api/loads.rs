//! Loads: formats, skipped rows, repetition, memory.

use breaches::jobs::AccountsOptions;
use breaches::jobs::{Format, SkipReason};
use breaches::model::AccountKey;
use breaches::store::accounts::{self, domain_walk};
use breaches::store::{account_links, domain_accounts};
use diesel::RunQueryDsl;
use serde_json::{Value, json};

use crate::app::{App, entry};

fn options(app: &App, name: &str, content: impl AsRef<[u8]>, format: Format) -> AccountsOptions {
    AccountsOptions {
        breach: "Alpha".into(),
        files: vec![app.folder.write(name, content)],
        format,
        ..AccountsOptions::default()
    }
}

async fn with_alpha() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!([entry("Alpha")])).await;
    app
}

/// Returns all accounts with their lists.
async fn accounts(app: &App) -> Vec<(String, Vec<u8>)> {
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    rows.into_iter().map(|row| (row.address(), row.breaches)).collect()
}

#[actix_web::test]
async fn invalid_lines_are_reported_by_number_and_reason() {
    let app = with_alpha().await;
    let mut text =
        b"\xEF\xBB\xBFOne@Example.com\r\n  two@example.com\t\n\"three@example.com\"\n".to_vec();
    text.extend(b"ONE@EXAMPLE.COM\n\nno address\n\xFF@example.com\n");
    text.extend(vec![b'x'; 10 << 20]);
    text.extend(b"@example.com\nfour@b\xC3\xBCcher.example");
    let outcome =
        breaches::jobs::load_accounts(&app.context, &options(&app, "a.txt", text, Format::Lines))
            .unwrap();
    assert_eq!((outcome.read, outcome.accepted, outcome.skipped, outcome.added), (8, 5, 3, 4));
    assert_eq!(
        outcome.skips,
        [(6, SkipReason::Address), (7, SkipReason::Encoding), (8, SkipReason::TooLong)]
    );
    let mut found: Vec<String> = accounts(&app).await.into_iter().map(|row| row.0).collect();
    found.sort();
    assert_eq!(
        found,
        ["four@bücher.example", "one@example.com", "three@example.com", "two@example.com"]
    );
}

#[actix_web::test]
async fn all_formats_load_the_same_accounts_as_lines() {
    let documents =
        "[{\"user\": {\"email\": \"a@example.com\"}},\n{\"user\": {\"email\": \"b@example.com\"}}]";
    let lines = "{\"email\": \"a@example.com\"}\n{\"email\": \"b@example.com\", \"password\": \"x@y.example\"}\n";
    let dump = "INSERT INTO users (id, email) VALUES (1, 'a@example.com'), (2, 'b@example.com');";
    for (name, content, format) in [
        ("d.json", documents, Format::Json(Some("user.email".into()))),
        ("e.jsonl", lines, Format::Jsonl(None)),
        ("f.sql", dump, Format::Sql(Some("users.email".into()))),
        ("g.csv", "sep=;\r\nid;mail\r\n1;a@example.com\r\n2;b@example.com\r\n", Format::Csv(None)),
        ("a.csv", "id,mail\n1,a@example.com\n2,\"b@example.com\"\n", Format::Csv(None)),
        ("b.csv", "1;x,a@example.com\n2;y,b@example.com\n", Format::Csv(Some("2".into()))),
        ("c.txt", "<a@example.com>, (b@example.com) and a@example.com.", Format::Text),
    ] {
        let app = with_alpha().await;
        let outcome =
            breaches::jobs::load_accounts(&app.context, &options(&app, name, content, format))
                .unwrap();
        assert_eq!((outcome.added, outcome.skipped), (2, 0), "{name}");
        let found = accounts(&app).await;
        assert_eq!(found.len(), 2, "{name}");
    }
}

#[actix_web::test]
async fn second_load_adds_nothing_and_loads_set_the_published_count() {
    let app = with_alpha().await;
    app.import(&json!([entry("Beta")])).await;
    let lines: String = (0..12_000).map(|n| format!("user{n}@example{}.com\n", n % 7)).collect();
    let first = app.load("Alpha", &lines).await;
    assert_eq!(first.added, 12_000);
    let once = accounts(&app).await;
    let again = app.load("Alpha", &lines).await;
    assert_eq!((again.added, again.accepted), (0, 12_000));
    assert_ne!(again.job, first.job);
    assert_eq!(accounts(&app).await, once);
    let other = app.load("Beta", &lines[..lines.len() / 2]).await;
    assert!(other.added > 0);
    let both = accounts(&app).await;
    assert_eq!(both.len(), once.len() + usize::from(both.len() > once.len()));
    let breach: Value = app.get("/api/v3/breach/Alpha").await.json().await.unwrap();
    assert_eq!(breach["PwnCount"], 12_000);
    let found = breaches::jobs::examine(&app.context).unwrap();
    assert!(found.is_sound() && found.sampled > 900, "{found:?}");
}

#[actix_web::test]
async fn load_larger_than_its_memory_gives_the_same_tables() {
    let lines: String = (0..30_000).map(|n| format!("user{}@example.com\n", n % 20_000)).collect();
    let app = with_alpha().await;
    app.load("Alpha", &lines).await;
    let expected = accounts(&app).await;
    let mut small = with_alpha().await;
    small.context.settings.load_memory_mb = 0;
    let outcome = small.load("Alpha", &lines).await;
    assert_eq!((outcome.accepted, outcome.added), (30_000, 20_000));
    assert_eq!(accounts(&small).await, expected);
}

#[actix_web::test]
async fn addresses_with_colliding_keys_are_distinguished() {
    let app = with_alpha().await;
    app.import(&json!([entry("Beta")])).await;
    app.load("Alpha", "someone@example.com\n").await;
    let address = domain::EmailAddress::parse("someone@example.com").unwrap();
    let key = AccountKey::of(&address.sha1()).0;
    app.change(move |db| {
        account_links::merge_key(db, AccountKey(key))?;
        // Stores another address under the key of this one.
        diesel::sql_query(format!("UPDATE account SET local = 'another' WHERE k = {key}"))
            .execute(db)?;
        Ok(())
    })
    .await;
    app.load("Beta", "someone@example.com\n").await;
    assert_eq!(app.load("Beta", "someone@example.com\n").await.added, 0);
    app.change(move |db| account_links::merge_key(db, AccountKey(key))).await;
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 10)).await;
    let places: Vec<_> = rows.iter().map(|row| (row.k, row.seq, row.local.as_str())).collect();
    assert_eq!(places, [(key, 0, "another"), (key, 1, "someone")]);
    assert_eq!(app.load("Beta", "someone@example.com\n").await.added, 0);
    assert_eq!(filed(&app, "example.com").await, ["another", "someone"]);
}

/// Returns the local parts of the accounts at a domain, after checking that the index by domain is
/// complete.
async fn filed(app: &App, domain: &'static str) -> Vec<String> {
    let (rows, unfiled) = app
        .change(move |db| Ok((domain_walk::at_domain(db, domain)?, domain_accounts::unfiled(db)?)))
        .await;
    assert_eq!(unfiled, 0);
    let mut names: Vec<_> = rows.into_iter().map(|row| row.local).collect();
    names.sort();
    names
}

#[actix_web::test]
async fn index_by_domain_follows_added_and_removed_accounts() {
    let app = with_alpha().await;
    app.import(&json!([entry("Beta")])).await;
    let lines = |numbers: std::ops::Range<usize>| -> String {
        numbers.map(|n| format!("user{n}@{}.example\n", ["one", "two"][n % 2])).collect()
    };
    app.load("Alpha", &lines(0..300)).await;
    app.load("Beta", &lines(200..450)).await;
    app.change(|db| {
        let parse =
            |text| domain::EmailAddress::parse(text).map_err(database::DatabaseError::broken);
        account_links::link_one(db, &parse("single@one.example")?, 1)?;
        let leaving = account_links::find_merged(db, &parse("user0@one.example")?)?.unwrap();
        account_links::remove(db, (leaving.k, leaving.seq))
    })
    .await;
    let mut expected: Vec<_> = (1..225).map(|n| format!("user{}", n * 2)).collect();
    expected.push("single".to_owned());
    expected.sort();
    assert_eq!(filed(&app, "one.example").await, expected);
    assert_eq!(filed(&app, "two.example").await.len(), 225);
    assert!(breaches::jobs::examine(&app.context).unwrap().is_sound());
}

#[actix_web::test]
async fn unknown_breach_missing_file_and_missing_column_are_refused() {
    let app = with_alpha().await;
    let mut options = options(&app, "a.csv", "x,y\n1,2\n", Format::Csv(Some("mail".into())));
    let error = breaches::jobs::load_accounts(&app.context, &options).unwrap_err().to_string();
    assert!(
        error.contains("the CSV file does not have a column mail; its first row has 2 columns"),
        "{error}"
    );
    let failed = app.change(breaches::store::jobs::all).await.remove(0).error.unwrap();
    assert!(failed.ends_with("the CSV file does not have a column mail"), "{failed}");
    options.files = vec![options.files[0].with_file_name("missing.csv")];
    let error = breaches::jobs::load_accounts(&app.context, &options).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
    options.breach = "Nowhere".into();
    let error = breaches::jobs::load_accounts(&app.context, &options).unwrap_err().to_string();
    assert_eq!(error, "there is no breach Nowhere");
}

#[actix_web::test]
async fn record_of_a_failed_load_names_no_tables_of_the_dump() {
    let app = with_alpha().await;
    let dump = "INSERT INTO members (id, handle) VALUES (1, 'x');";
    let options = options(&app, "a.sql", dump, Format::Sql(None));
    let error = breaches::jobs::load_accounts(&app.context, &options).unwrap_err().to_string();
    assert!(
        error.contains("a column of addresses; the tables are members (id handle)."),
        "{error}"
    );
    let failed = app.change(breaches::store::jobs::all).await.remove(0).error.unwrap();
    assert!(failed.ends_with("no INSERT or COPY statement has a column of addresses"), "{failed}");
}

#[actix_web::test]
async fn load_activates_a_breach_and_keeps_its_count_on_request() {
    let app = with_alpha().await;
    app.set_breach("Alpha", |breach| breach.active = false).await;
    let mut options = options(&app, "a.txt", "a@example.com\n", Format::Lines);
    (options.activate, options.keep_count) = (true, true);
    breaches::jobs::load_accounts(&app.context, &options).unwrap();
    app.state.reload().await.unwrap();
    let breach: Value = app.get("/api/v3/latestbreach").await.json().await.unwrap();
    assert_eq!(breach["PwnCount"], 3);
    assert_eq!(breach["AddedDate"], "2026-03-01T12:00:00Z");
}

#[actix_web::test]
async fn pastes_are_updated_by_source_and_id_and_sorted_newest_first() {
    let app = with_alpha().await;
    let line = |source: &str, id: &str, date: Value| {
        json!({"Source": source, "Id": id, "Title": null, "Date": date, "Emails": ["A@example.com", "b@example.com"]})
            .to_string()
    };
    let text = [
        line("Pastebin", "old", json!("2014-01-01T00:00:01Z")),
        line("AdHocUrl", "undated", Value::Null),
        line("Ghostbin", "new", json!("2015-01-01T00:00:00Z")),
        line("OptOut", "mark", Value::Null),
        line("Bad source", "x", Value::Null),
        line("Pastebin", "a\0b", Value::Null),
        line("Pastebin", "a.\r\nCall this number", Value::Null),
        line("Pastebin", &"a".repeat(1_025), Value::Null),
        "not json".to_owned(),
    ];
    let outcome = app.load_pastes(&text.join("\n")).await;
    assert_eq!((outcome.accepted, outcome.skipped, outcome.added), (4, 5, 8));
    let again = app.load_pastes(&text[0].replace("null", "\"Named\"")).await;
    assert_eq!(again.added, 0);
    let key = app.subscriber("owner@example.org", "core1").await;
    let response = app.get_with(&key, "/api/v3/pasteaccount/a@example.com").await;
    let expected = r#"[{"Source":"Ghostbin","Id":"new","Date":"2015-01-01T00:00:00Z","EmailCount":2},{"Source":"Pastebin","Id":"old","Title":"Named","Date":"2014-01-01T00:00:01Z","EmailCount":2},{"Source":"AdHocUrl","Id":"undated","Date":null,"EmailCount":2}]"#;
    assert_eq!(response.text().await.unwrap(), expected);
}
