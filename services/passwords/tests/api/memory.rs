//! Memory use of builds.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use passwords::model::Kind;

use crate::app::{Data, Numbers};

/// Returns the peak resident memory of a build in bytes, from its report.
fn peak(data: &Data, arguments: &[&str]) -> u64 {
    let output = data.run(arguments);
    assert!(output.code == Some(0), "{}", output.errors);
    let report: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    report["peak_memory"].as_u64().unwrap()
}

fn write_list(path: &Path, bytes: u64, ordered: bool) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let mut numbers = Numbers::new(77);
    let lines = bytes / 44;
    let mut line = String::new();
    for at in 0..lines {
        let top = if ordered { (u64::MAX / lines) * at } else { numbers.next() };
        line.clear();
        let (a, b) = (numbers.next(), numbers.next());
        writeln!(line, "{top:016X}{a:016X}{:08X}:{}", b as u32, 1 + b % 90).unwrap();
        out.write_all(line.as_bytes()).unwrap();
    }
    out.flush().unwrap();
}

#[test]
fn an_unordered_build_of_ten_times_its_memory_stays_within_bounds() {
    const MEMORY: u64 = 8 << 20;
    let data = Data::new();
    let list = data.path().join("list.txt");
    write_list(&list, 10 * MEMORY, false);
    let peak =
        peak(&data, &["build", "--unordered", "--memory", "8M", "--json", list.to_str().unwrap()]);
    assert!(peak > 0 && peak < MEMORY + (100 << 20), "{} MiB", peak >> 20);
}

#[test]
fn an_ordered_build_needs_less_than_64_mib() {
    let data = Data::new();
    let list = data.path().join("list.txt");
    write_list(&list, 96 << 20, true);
    let peak = peak(&data, &["build", "--json", list.to_str().unwrap()]);
    assert!(peak > 0 && peak < 64 << 20, "{} MiB", peak >> 20);
}

#[test]
fn frequent_password_is_sorted_in_runs() {
    let data = Data::new();
    let list = data.path().join("list.txt");
    std::fs::write(&list, "password\n".repeat(600_000)).unwrap();
    let arguments =
        ["build", "--input-format", "plaintext", "--kind", "sha1", "--memory", "1M", "--activate"];
    let output = data.run(&[&arguments[..], &[list.to_str().unwrap()]].concat());
    assert!(output.code == Some(0), "{}", output.errors);
    let found = data.pipe(&["check", "--kind", Kind::Sha1.name()], b"password");
    assert_eq!(found.out, "600000\n");
}
