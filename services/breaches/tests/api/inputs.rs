//! Input files: combo lists, delimiters, encodings, line ends, compression, and early stops.

use std::io::Write;

use breaches::jobs::{AccountsOptions, Forecast, Format, SkipReason, TextEncoding};
use breaches::store::{accounts, jobs};
use flate2::write::GzEncoder;
use serde_json::json;

use crate::app::{App, entry};

async fn with_alpha() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app
}

async fn addresses(app: &App) -> Vec<String> {
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    let mut found: Vec<String> = rows.into_iter().map(|row| row.address()).collect();
    found.sort();
    found
}

fn options(app: &App, content: impl AsRef<[u8]>) -> AccountsOptions {
    let files = vec![app.folder.write("list", content)];
    AccountsOptions { breach: "Alpha".into(), files, ..AccountsOptions::default() }
}

#[actix_web::test]
async fn encodings_compressions_and_delimiters_give_the_same_accounts() {
    let plain = "ada@bücher.example:hunter2\nbob@corp.example:x\n";
    let latin1: Vec<u8> = plain.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&utf16(&format!("\u{feff}{plain}"))).unwrap();
    for (content, encoding, delimiter) in [
        (plain.as_bytes().to_vec(), TextEncoding::Auto, None),
        (plain.replace('\n', "\r").into_bytes(), TextEncoding::Auto, None),
        (plain.replace(':', "=").into_bytes(), TextEncoding::Auto, Some("=")),
        (latin1, TextEncoding::Windows1252, None),
        (utf16(plain), TextEncoding::Utf16Le, Some(":")),
        (gzip.finish().unwrap(), TextEncoding::Auto, None),
        (zstd::encode_all(plain.as_bytes(), 3).unwrap(), TextEncoding::Auto, None),
    ] {
        let app = with_alpha().await;
        let options = AccountsOptions {
            format: Format::Combo,
            encoding,
            delimiter: delimiter.map(str::to_owned),
            ..options(&app, content)
        };
        let loaded = breaches::jobs::load_accounts(&app.context, &options).unwrap();
        assert_eq!((loaded.accepted, loaded.skipped), (2, 0), "{encoding:?}");
        assert_eq!(addresses(&app).await, ["ada@bücher.example", "bob@corp.example"]);
    }
}

#[actix_web::test]
async fn one_of_two_columns_with_the_same_title_is_chosen_by_its_number() {
    let app = with_alpha().await;
    let content = "email,name,Email\nada@corp.example,Ada,bob@corp.example\n";
    let load = |column: Option<&str>| {
        let format = Format::Csv(column.map(str::to_owned));
        let options = AccountsOptions { format, ..options(&app, content) };
        breaches::jobs::load_accounts(&app.context, &options)
    };
    for (column, message) in [
        (None, "columns 1 and 3 of the CSV file may contain the addresses"),
        (Some("email"), "columns 1 and 3 of the CSV file have the same title"),
    ] {
        let refused = load(column).unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
        assert!(refused.contains("--email-column"), "{refused}");
    }
    assert!(addresses(&app).await.is_empty());
    assert!(load(Some("3")).unwrap().columns.contains("column 3"));
    assert_eq!(addresses(&app).await, ["bob@corp.example"]);
}

#[actix_web::test]
async fn dry_run_reports_the_result_of_a_load_and_changes_nothing() {
    let app = with_alpha().await;
    app.load("Alpha", "linked@example.com\n").await;
    app.load("Beta", "known@example.com\n").await;
    app.change(|db| {
        let email = domain::EmailAddress::parse("gone@example.com").unwrap();
        breaches::opt_out(db, &email, breaches::model::OptOut::Breaches, 0)
            .map_err(database::DatabaseError::broken)
    })
    .await;
    let before = (addresses(&app).await, app.change(jobs::all).await.len());
    let text = "linked@example.com\nknown@example.com\nnew@example.com\nNEW@example.com\n\
                gone@example.com\nnot-an-address\n";
    let forecast = breaches::jobs::forecast(&app.context, &options(&app, text)).unwrap();
    let expected = Forecast {
        read: 6,
        accepted: 5,
        skipped: 1,
        new: 1,
        known: 1,
        linked: 1,
        opted_out: 1,
        reasons: [(SkipReason::Address, 1)].into(),
        skips: vec![(6, SkipReason::Address)],
        ..Forecast::default()
    };
    assert_eq!(forecast, expected);
    assert_eq!((addresses(&app).await, app.change(jobs::all).await.len()), before);
}

#[actix_web::test]
async fn load_stops_if_its_first_rows_are_invalid_or_unusual() {
    let app = with_alpha().await;
    let good: String = (0..4_900).map(|n| format!("user{n}@example.com\n")).collect();
    let refused: String = (0..5_200).map(|n| format!("bad{n}@example.com:hunter2\n")).collect();
    let odd: Vec<String> = (0..600).map(|n| format!("odd{n}@under_score{n}.example\n")).collect();
    let secrets = [good.as_str(), &refused, &good].concat();
    for (text, expected) in [
        (&secrets, "5100 of the first 10000 rows are rejected (5100 address)"),
        (
            &(good.clone() + &odd.concat()),
            "600 of the first 5500 addresses have a domain that is not",
        ),
    ] {
        let options = options(&app, text);
        let stopped =
            breaches::jobs::load_accounts(&app.context, &options).unwrap_err().to_string();
        assert!(stopped.contains(expected) && stopped.contains("--format combo"), "{stopped}");
        assert!(!stopped.contains("hunter2"));
        assert!(addresses(&app).await.is_empty());
        assert_eq!(app.change(jobs::all).await[0].state, "failed");
        let stopped = breaches::jobs::forecast(&app.context, &options).unwrap_err().to_string();
        assert!(stopped.contains(expected), "{stopped}");
    }
    let unchecked = AccountsOptions { unchecked: true, ..options(&app, &secrets) };
    let loaded = breaches::jobs::load_accounts(&app.context, &unchecked).unwrap();
    assert_eq!((loaded.accepted, loaded.skipped, loaded.added), (9_800, 5_200, 4_900));
    // Real leaks contain a few unusual domains.
    let few = options(&app, good + &odd[..100].concat());
    assert_eq!(breaches::jobs::load_accounts(&app.context, &few).unwrap().added, 100);
}

#[actix_web::test]
async fn hostile_file_is_refused_before_it_fills_the_memory() {
    let app = with_alpha().await;
    let columns: String = (0..60_000).map(|n| format!("c{n},")).collect();
    for text in [format!("CREATE TABLE t ({columns}"), format!("INSERT INTO t ({columns}")] {
        let options = AccountsOptions { format: Format::Sql(None), ..options(&app, text) };
        let refused = breaches::jobs::load_accounts(&app.context, &options).unwrap_err();
        assert!(refused.to_string().contains("too many columns"), "{refused}");
    }
}

#[test]
fn combo_list_is_loaded_without_its_secrets() {
    let operator = crate::commands::Operator::new();
    let catalogue = operator.folder.write("c.json", json!([entry("Alpha")]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let combo = operator.folder.write("a.txt", "ada@corp.example:hunter2\nbob@corp.example|x\n");
    let load = ["accounts", "load", "--breach", "Alpha", "--format", "combo"];
    let dry = operator.run(&[&load[..], &["--dry-run", combo.to_str().unwrap()]].concat());
    assert!(dry.contains("2 new") && dry.contains("nothing was changed"), "{dry}");
    operator.run(&[&load[..], &[combo.to_str().unwrap()]].concat());
    let exported = operator.run(&["account", "export", "--breach", "Alpha"]);
    assert_eq!(exported.lines().count(), 2);
    assert!(!exported.contains("hunter2"));
    let table = operator.folder.write("b.csv", "Name\tKontakt\nx\tkim@corp.example\n");
    let csv = ["accounts", "load", "--breach", "Alpha", "--format", "csv", "--delimiter", "tab"];
    operator.run(&[&csv[..], &["--email-column", "kontakt", table.to_str().unwrap()]].concat());
    let wrong =
        operator.output(&[&csv[..], &["--column", "mail", table.to_str().unwrap()]].concat());
    let errors = String::from_utf8(wrong.stderr).unwrap();
    assert!(errors.contains("its first row has 2 columns"), "{errors}");
    operator.run(&["accounts", "clean", "--dry-run"]);
}
