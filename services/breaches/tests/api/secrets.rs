//! Lists with a secret after each address. The secret must not be stored anywhere.

use std::path::Path;

use breaches::jobs::{AccountsOptions, Format, clean, examine};
use breaches::store::schema::mail_domain;
use breaches::store::{account_links, accounts, breaches as store_breaches};
use database::DatabaseError;
use diesel::{QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use serde_json::json;

use crate::app::{App, entry};
use crate::commands::Operator;

const DOMAINS: [&str; 4] = ["163.com", "qq.com", "mail.corp.example", "gmx.de"];

/// Separators that host names cannot contain.
const FOREIGN: [&str; 49] = [
    ":", ";", ",", "|", " ", "\t", "  ", ":::", " : ", " | ", "||", "::", "=", "==", "=>", "->",
    "--", "---", "----", "-----", "--------", " - ", "/", "//", "\\", "#", "$", "%", "&", "*", "+",
    "!", "?", "^", "~", "`", "'", "\"", "(", "[", "{", "<", ">", "\u{3001}", "\u{200b}",
    "\u{ff1a}", "\u{2014}", "\u{2192}", "\u{b7}",
];

/// Separators that may be part of host names.
const LEGAL: [&str; 11] =
    ["-", "_", ".", "__", "._", "_-_", "\u{4e28}", "\u{3163}", "\u{1c0}", "\u{aa}", "\u{2160}"];

fn address(n: usize) -> String {
    format!("person{n}@{}", DOMAINS[n % DOMAINS.len()])
}

/// Returns the stored addresses in order.
async fn stored(app: &App) -> Vec<String> {
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    let mut found: Vec<String> = rows.into_iter().map(|row| row.address()).collect();
    found.sort();
    found
}

async fn with_alpha() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!([entry("Alpha")])).await;
    app
}

fn load(app: &App, text: &str, format: Format) -> Result<i64, String> {
    let options = AccountsOptions {
        breach: "Alpha".into(),
        files: vec![app.folder.write("list", text)],
        format,
        ..AccountsOptions::default()
    };
    let loaded = breaches::jobs::load_accounts(&app.context, &options);
    loaded.map(|outcome| outcome.accepted).map_err(|error| error.to_string())
}

#[actix_web::test]
async fn no_separator_lets_a_secret_into_the_database() {
    let app = with_alpha().await;
    for separator in FOREIGN.iter().chain(&LEGAL) {
        // A long list, and short ones with too few rows to evaluate fractions.
        for (secrets, rows) in [("hunter", 120), ("Hunter2", 3), ("\u{5bc6}\u{7801}", 3)] {
            let letters = |n: usize| ["a", "b", "c", "d", "e"][n % 5].repeat(1 + n / 5);
            let row = |n: usize| format!("{}{separator}{secrets}{}\n", address(n), letters(n));
            let text: String = (0..rows).map(row).collect();
            for format in [Format::Combo, Format::Lines] {
                let loaded = load(&app, &text, format.clone());
                let wanted = FOREIGN.contains(separator) && format == Format::Combo;
                assert_eq!(loaded.is_ok(), wanted, "{separator:?} {secrets} {loaded:?}");
                if let Err(refused) = loaded {
                    assert!(refused.contains("nothing was loaded"), "{refused}");
                    assert!(!refused.contains(secrets), "{refused}");
                }
            }
        }
    }
    let mut expected: Vec<String> = (0..120).map(address).collect();
    expected.sort();
    assert_eq!(stored(&app).await, expected);
    let mut names: Vec<String> =
        app.change(|db| Ok(mail_domain::table.select(mail_domain::name).load(db)?)).await;
    names.sort();
    assert_eq!(names, ["163.com", "gmx.de", "mail.corp.example", "qq.com"]);
}

/// Writes a row of a list.
type Row = fn(usize) -> String;

/// Returns the files below a folder that contain a string.
fn containing(folder: &Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(containing(&path, text));
        } else if memchr::memmem::find(&std::fs::read(&path).unwrap(), text.as_bytes()).is_some() {
            found.push(path);
        }
    }
    found
}

#[test]
fn common_shapes_of_lists_leave_no_secret_on_disk() {
    let operator = Operator::new();
    let catalogue = operator.folder.write("c.json", json!([entry("Alpha")]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let lists = testkit::Folder::new();
    let shapes: [(&str, Row); 6] = [
        ("chinese", |n| format!("{}----hunter{n}x----nick{n}", address(n))),
        ("colon", |n| format!("{}:hunter{n}x", address(n))),
        ("hash", |n| format!("{}|5f4dcc3b5aa7hunter{n}x|salt", address(n))),
        ("hyphen", |n| format!("{}-hunter{n}x", address(n))),
        ("nick first", |n| format!("nick{n}----hunter{n}x----{}", address(n))),
        ("dump", |n| format!("({n}, '{}', 'hunter{n}x'),", address(n))),
    ];
    let database = operator.database.url();
    for (name, row) in shapes {
        let text: String = (0..12_000).map(|n| row(n) + "\n").collect();
        let file = lists.write(name, text);
        for format in ["combo", "lines", "csv", "text"] {
            let arguments = ["accounts", "load", "--breach", "Alpha", "--format", format];
            let mut command = operator.command(&arguments);
            command.env("LOAD_MEMORY_MB", "1").env("LOAD_TMP", operator.folder.path());
            let output = command.env("RUST_LOG", "trace").arg(&file).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            assert!(memchr::memmem::find(&said, b"hunter").is_none(), "{name} {format}");
        }
    }
    assert_eq!(containing(operator.folder.path(), "hunter"), [] as [std::path::PathBuf; 0]);
    if let Some(path) = database.strip_prefix("sqlite://") {
        let folder = Path::new(path).parent().unwrap();
        assert_eq!(containing(folder, "hunter"), [] as [std::path::PathBuf; 0]);
    }
    let exported = operator.run(&["account", "export", "--breach", "Alpha"]);
    assert_eq!(exported.lines().count(), 12_000);
    assert!(!exported.contains("hunter") && !exported.contains("--"));
}

#[actix_web::test]
async fn list_with_unusual_domains_or_local_parts_is_refused_with_the_reason() {
    let app = with_alpha().await;
    let single: String = (0..200).map(|n| format!("person{n}@163.com-{n}x.example\n")).collect();
    let refused = load(&app, &single, Format::Lines).unwrap_err();
    let expected = "200 of the first 200 addresses are the only ones at their domain";
    assert!(refused.contains(expected), "{refused}");
    for rows in [1, 200] {
        let typed: String = (0..rows).map(|n| format!("person{n}@163com{n}.hunter\n")).collect();
        let refused = load(&app, &typed, Format::Lines).unwrap_err();
        let expected = "have a domain that does not end in a top-level domain";
        assert!(refused.contains(expected), "{refused}");
    }
    for separator in ["=", "/", "#", "&", "!", "*", "~", "{", "\"", "(", "\\"] {
        for rows in [1, 40] {
            let row = |n: usize| format!("hunter{n}{separator}{}\n", address(n));
            let reversed: String = (0..rows).map(row).collect();
            let refused = load(&app, &reversed, Format::Lines).unwrap_err();
            assert!(refused.contains("nothing was loaded"), "{separator} {refused}");
        }
    }
    assert_eq!(stored(&app).await, [] as [String; 0]);
    // Ordinary lists contain a few mistyped domains, and companies with a single address each.
    let mut usual: String = (0..100).map(|n| address(n) + "\n").collect();
    usual += &(0..80).map(|n| format!("info@company{n}.example\n")).collect::<String>();
    usual += "a@gmail.con\nb@hotmail.comm\nsales/north@163.com\no'brien=x@qq.com\n";
    assert_eq!(load(&app, &usual, Format::Lines), Ok(184));
}

#[actix_web::test]
async fn file_whose_rows_are_all_refused_is_an_error_at_any_size() {
    let app = with_alpha().await;
    for rows in [1, 5, 150] {
        let text = "no address\n".repeat(rows);
        let refused = load(&app, &text, Format::Lines).unwrap_err();
        assert!(refused.contains(&format!("{rows} address)")), "{refused}");
        assert!(refused.contains("nothing was loaded"), "{refused}");
    }
    // The fraction is evaluated for 100 rows or more.
    let mixed = |good: usize, bad: usize| {
        (0..good).map(|n| address(n) + "\n").collect::<String>() + &"no address\n".repeat(bad)
    };
    assert_eq!(load(&app, &mixed(30, 60), Format::Lines), Ok(30));
    let refused = load(&app, &mixed(40, 60), Format::Lines).unwrap_err();
    assert!(refused.contains("60 of the first 100 rows are rejected (60 address)"), "{refused}");
    assert!(load(&app, "", Format::Lines).unwrap_err().contains("contains no data"));
    // One useless file among several stops the load.
    let options = AccountsOptions {
        breach: "Alpha".into(),
        files: vec![app.folder.write("good", mixed(30, 0)), app.folder.write("bad", "x\n")],
        ..AccountsOptions::default()
    };
    let refused = breaches::jobs::load_accounts(&app.context, &options).unwrap_err().to_string();
    assert!(refused.contains("bad: its only row is rejected (1 address)"), "{refused}");
}

#[actix_web::test]
async fn later_file_with_secrets_stops_a_load_whose_first_file_is_sound() {
    let app = with_alpha().await;
    let sound: String = (0..10_000).map(|n| address(n) + "\n").collect();
    // Some secrets end in a word that is also a top-level domain.
    let word =
        |n: usize| if n.is_multiple_of(4) { "football".to_owned() } else { format!("hunter{n}") };
    let row = |n: usize| format!("someone{n}@163.com.{}\n", word(n));
    let load = |name: &str, sound: &str, text: &str| {
        let options = AccountsOptions {
            breach: "Alpha".into(),
            files: vec![app.folder.write("sound", sound), app.folder.write(name, text)],
            ..AccountsOptions::default()
        };
        let loaded = breaches::jobs::load_accounts(&app.context, &options);
        loaded.map(|outcome| outcome.accepted).map_err(|error| error.to_string())
    };
    let secrets: String = (0..200).map(row).collect();
    // The first rows may end within the later file.
    let (shorter, _) = sound.split_at(sound.len() - address(9_999).len() - 1);
    for (sound, read) in [(sound.as_str(), 200), (shorter, 199)] {
        let refused = load("secrets", sound, &secrets).unwrap_err();
        assert!(refused.contains(&format!(" of the first {read} rows from ")), "{refused}");
        assert!(refused.contains("/secrets are rejected"), "{refused}");
    }
    assert_eq!(stored(&app).await, [] as [String; 0]);
    // A few rows are not enough to decide.
    assert_eq!(load("few", &sound, "someone@corp.internalnet\n"), Ok(10_001));
}

#[actix_web::test]
async fn secrets_that_older_loads_stored_are_found_and_removed() {
    let app = with_alpha().await;
    app.change(|db| {
        for text in [
            "a@163.com----hunter2",
            "b@163.com-hunter2",
            "c@163.com.hunter2",
            "d@163.com\u{4e28}hunter2",
            "e@163.com_hunter2",
            "nick----hunter2----f@163.com",
        ] {
            let address = EmailAddress::parse(text).map_err(DatabaseError::broken)?;
            account_links::link_one(db, &address, 1)?;
            store_breaches::add_counts(db, 1, 1)?;
        }
        Ok(())
    })
    .await;
    let found = examine(&app.context).unwrap();
    assert_eq!((found.odd_domains, found.odd_addresses, found.is_sound()), (5, 6, false));
    let cleaned = clean(&app.context, false).unwrap();
    assert_eq!((cleaned.odd, cleaned.rescued, cleaned.domains), (6, 6, 5));
    let expected = ["a", "b", "c", "d", "e", "f"].map(|local| format!("{local}@163.com"));
    assert_eq!(stored(&app).await, expected);
    assert!(examine(&app.context).unwrap().is_sound());
    // A secret in front of an address leaves no odd domain.
    app.change(|db| {
        let address = EmailAddress::parse("hunter2;g@163.com").map_err(DatabaseError::broken)?;
        account_links::link_one(db, &address, 1)?;
        store_breaches::add_counts(db, 1, 1)?;
        Ok(())
    })
    .await;
    let found = examine(&app.context).unwrap();
    assert_eq!((found.odd_domains, found.odd_addresses, found.is_sound()), (0, 1, false));
}

#[actix_web::test]
async fn advice_for_a_refused_list_does_not_name_its_own_format() {
    let app = with_alpha().await;
    for (format, is_named) in [(Format::Lines, true), (Format::Combo, false)] {
        let refused = load(&app, "no address\n", format).unwrap_err();
        assert_eq!(refused.contains("--format combo"), is_named, "{refused}");
        assert!(refused.contains("--dry-run predicts the result"), "{refused}");
    }
}
