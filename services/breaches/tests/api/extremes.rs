//! Extreme input: large numbers, dates with offsets, truncated files.

use std::io::Write;

use diesel::RunQueryDsl;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::app::{App, entry};
use crate::browser::Browser;
use crate::commands::{Operator, subscription};

#[actix_web::test]
async fn counts_whose_sum_overflows_do_not_break_the_home_page() {
    let app = App::start().await;
    let mut entries = [entry("Alpha"), entry("Beta")];
    for entry in &mut entries {
        entry["PwnCount"] = json!(i64::MAX);
    }
    app.import(&json!(entries)).await;
    let home = Browser::new(&app).get("/").await.expect(200);
    assert!(home.text().contains("9,223,372,036,854,775,807"), "{}", home.text());
}

#[test]
fn numbers_out_of_range_are_refused() {
    let operator = Operator::new();
    for flag in [
        "--max-domain-size=-1",
        "--max-domains=-1",
        "--kanon-cost=1001",
        "--max-domains=2147483648",
    ] {
        let output = operator.output(&["plans", "set", "pro1", flag]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
    }
    operator.run(&["plans", "set", "pro1", "--max-domain-size=2147483647", "--max-domains=0"]);
    let catalogue = operator.folder.write("c.json", json!([entry("Alpha")]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let file = operator.folder.write("a.csv", "ada@corp.example,x\n");
    let load = ["accounts", "load", "--breach", "Alpha", "--format", "csv", "--column"];
    for (column, code) in [("3", 1), ("0", 1), ("99999999999999999999", 1), ("1", 0)] {
        let arguments: Vec<&str> =
            load.into_iter().chain([column, file.to_str().unwrap()]).collect();
        assert_eq!(operator.output(&arguments).status.code(), Some(code), "{column}");
    }
}

#[test]
fn dates_with_an_offset_are_converted_in_every_input() {
    let operator = Operator::new();
    let mut alpha = entry("Alpha");
    alpha["AddedDate"] = json!("2020-01-02T10:00:00+05:00");
    alpha["ModifiedDate"] = json!("2020-01-02T10:00:00+05:00");
    let catalogue = operator.folder.write("c.json", json!([alpha]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let listed = operator.json(&["breach", "export"]);
    let alpha = listed.as_array().unwrap().iter().find(|breach| breach["Name"] == "Alpha").unwrap();
    assert_eq!(alpha["AddedDate"], "2020-01-02T05:00:00Z");
    let paste = json!({"Source": "Slexy", "Id": "1", "Date": "2020-01-02T10:00:00+05:00", "Emails": ["a@corp.example"]});
    let pastes = operator.folder.write("p.jsonl", paste.to_string());
    operator.run(&["pastes", "load", pastes.to_str().unwrap()]);
    let shown = operator.json(&["address", "show", "a@corp.example"]);
    assert_eq!(shown["pastes"][0]["Date"], "2020-01-02T05:00:00Z", "{shown}");
    operator.run(&["subscriber", "add", "owner@example.org"]);
    let mut until = subscription("owner@example.org", "pro1");
    until[6] = "2099-01-02T10:00:00+05:00";
    assert!(operator.run(&until).contains("2099-01-02T05:00:00"));
    for wrong in ["2099-01-02T10:00:00[Europe/Paris]", "2099-01-02T10:00:00+24:00"] {
        until[6] = wrong;
        assert_eq!(operator.output(&until).status.code(), Some(2), "{wrong}");
    }
    until[6] = "2020-01-02";
    let refused = operator.output(&until);
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("2020-01-03T00:00:00Z is in the past"), "{message}");
}

#[test]
fn truncated_compressed_file_fails_and_loads_nothing() {
    let operator = Operator::new();
    let catalogue = operator.folder.write("c.json", json!([entry("Alpha")]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let lines = |from: usize| -> String {
        (from..from + 300).map(|n| format!("user{n}@corp{}.example\n", n % 50)).collect()
    };
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let (first, second) = (packed(&lines(0)), packed(&lines(300)));
    let both = [first.clone(), second].concat();
    let zstd = zstd::encode_all(lines(0).as_bytes(), 3).unwrap();
    let ends = [
        ("half.gz", &both[..first.len() / 2]),
        ("no-checksum.gz", &first[..first.len() - 4]),
        ("second-header.gz", &both[..first.len() + 5]),
        ("second-half.gz", &both[..first.len() + 400]),
        ("half.zst", &zstd[..zstd.len() / 2]),
        ("no-end.zst", &zstd[..zstd.len() - 1]),
    ];
    let load = ["accounts", "load", "--breach", "Alpha"];
    for (name, bytes) in ends {
        let file = operator.folder.write(name, bytes);
        let output = operator.command(&load).arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert_eq!(operator.run(&["account", "export", "--breach", "Alpha"]), "", "{name}");
    }
    let file = operator.folder.write("whole.gz", &both);
    operator.run(&[&load[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(operator.run(&["account", "export", "--breach", "Alpha"]).lines().count(), 600);
}

#[test]
fn failed_export_says_that_its_output_is_incomplete() {
    let operator = Operator::new();
    let export = || operator.output(&["account", "export", "--breach", "Acmegram"]);
    assert!(export().status.success());
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let rename = "ALTER TABLE account RENAME TO missing";
    let renamed: Result<_, database::DatabaseError> =
        pools.write_blocking(|db| Ok(diesel::sql_query(rename).execute(db)?));
    renamed.unwrap();
    let failed = export();
    let errors = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the output is incomplete; run the command again: "), "{errors}");
}
