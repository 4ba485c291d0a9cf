//! `catalogue import`: what needs confirmation, what missing members mean, and what a dry run
//! predicts.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::app::entry;
use crate::commands::Operator;

/// Imports a catalogue. Returns the exit code, the printed lines and the error.
fn import(operator: &Operator, catalogue: &Value, flags: &[&str]) -> (Option<i32>, String, String) {
    let file = operator.folder.write("catalogue.json", catalogue.to_string());
    let arguments = [&["catalogue", "import", file.to_str().unwrap()][..], flags].concat();
    let output = operator.output(&arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns an active breach of the catalogue.
fn exported(operator: &Operator, name: &str) -> Value {
    let export = operator.json(&["breach", "export"]);
    export.as_array().unwrap().iter().find(|breach| breach["Name"] == name).unwrap().clone()
}

#[test]
fn import_retires_a_breach_with_links_only_on_confirmation() {
    let operator = Operator::new();
    let (mut alpha, mut beta) = (entry("Alpha"), entry("Beta"));
    assert_eq!(import(&operator, &json!([alpha, beta]), &[]).0, Some(0));
    let list = operator.folder.write("list.txt", "a@corp.example\nb@corp.example\n");
    operator.run(&["accounts", "load", "--breach", "Alpha", list.to_str().unwrap()]);
    // A retired entry without links has nothing to lose.
    (beta["IsRetired"], alpha["IsRetired"]) = (json!(true), json!(true));
    assert_eq!(import(&operator, &json!([beta]), &[]).0, Some(0));
    let (code, lines, error) = import(&operator, &json!([alpha]), &[]);
    assert_eq!((code, lines.as_str()), (Some(1), ""));
    assert!(error.contains("2 links would be removed permanently; nothing was changed"), "{error}");
    assert!(error.contains("--yes"), "{error}");
    assert_eq!(exported(&operator, "Alpha")["IsRetired"], false);
    let warning = "x Alpha: retired, 2 links are removed permanently\n";
    for flag in ["--dry-run", "--yes"] {
        let (code, lines, error) = import(&operator, &json!([alpha]), &[flag]);
        assert_eq!((code, lines.ends_with(warning)), (Some(0), true), "{flag}: {lines}{error}");
        assert_eq!(exported(&operator, "Alpha")["IsRetired"], flag == "--yes");
    }
}

#[test]
fn import_keeps_flags_that_an_entry_lacks() {
    let operator = Operator::new();
    let mut alpha = entry("Alpha");
    alpha["IsSensitive"] = json!(true);
    assert_eq!(import(&operator, &json!([alpha]), &[]).0, Some(0));
    let before = exported(&operator, "Alpha");
    alpha.as_object_mut().unwrap().retain(|member, _| !member.starts_with("Is"));
    let (code, lines, _) = import(&operator, &json!([alpha]), &[]);
    assert_eq!((code, lines.as_str()), (Some(0), ""));
    assert_eq!(exported(&operator, "Alpha"), before);
}

#[test]
fn dry_run_fails_where_the_import_does() {
    let operator = Operator::new();
    operator.run(&["job", "list"]);
    let mut taken = entry("Alpha");
    taken["Title"] = json!("Acmegram");
    for flags in [&["--dry-run"][..], &[]] {
        let (code, _, error) = import(&operator, &json!([entry("Beta"), taken]), flags);
        assert_eq!(code, Some(1));
        assert!(error.contains("Alpha: another breach has the title Acmegram"), "{error}");
    }
}

#[test]
fn titles_can_be_swapped_and_rotated_in_any_order() {
    let operator = Operator::new();
    let titled = |name: &str, title: &str| {
        let mut entry = entry(name);
        entry["Title"] = json!(title);
        entry
    };
    let (alpha, beta) = (titled("Alpha", "one"), titled("Beta", "two"));
    assert_eq!(import(&operator, &json!([alpha, beta]), &[]).0, Some(0));
    for (first, second, is_reversed) in
        [("two", "one", false), ("three", "two", true), ("two", "four", false)]
    {
        let mut entries = vec![titled("Alpha", first), titled("Beta", second)];
        if is_reversed {
            entries.reverse();
        }
        let (code, lines, error) = import(&operator, &json!(entries), &[]);
        assert_eq!(code, Some(0), "{error}");
        assert!(lines.contains("~ Alpha: Title") && lines.contains("~ Beta: Title"), "{lines}");
        assert_eq!(exported(&operator, "Alpha")["Title"], first);
        assert_eq!(exported(&operator, "Beta")["Title"], second);
    }
    let same = json!([titled("Alpha", "five"), titled("Beta", "five")]);
    let (code, _, error) = import(&operator, &same, &[]);
    assert_eq!(code, Some(1));
    assert!(error.contains("another breach has the title five"), "{error}");
    assert_eq!(exported(&operator, "Alpha")["Title"], "two");
}

#[test]
fn compressed_and_utf16_catalogues_are_imported() {
    let operator = Operator::new();
    let text = |name: &str| json!([entry(name)]).to_string();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text("Alpha").as_bytes()).unwrap();
    let marked = format!("\u{feff}{}", text("Beta"));
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let zstd = zstd::encode_all(text("Gamma").as_bytes(), 1).unwrap();
    for (name, bytes) in [("Alpha", gzip.finish().unwrap()), ("Beta", utf16), ("Gamma", zstd)] {
        let file = operator.folder.write("catalogue", bytes);
        operator.run(&["catalogue", "import", file.to_str().unwrap()]);
        assert_eq!(exported(&operator, name)["Name"], name);
    }
}
