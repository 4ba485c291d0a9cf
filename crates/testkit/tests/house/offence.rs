//! Violations of a rule, and the lists of violations that are still allowed.
//!
//! `allowed/NAME.txt` lists the allowed violations of a package, and `allowed/documents.txt` those
//! in documents, one per line and without line numbers. The lists must only become shorter: an
//! entry whose violation no longer exists fails the test until it is removed. `HOUSE_SHRINK=1 cargo
//! test -p testkit --test house` removes such entries.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::source::{packages, root};

/// A violation of a rule in one place.
#[derive(Clone, Debug)]
pub struct Offence {
    /// The short name of the rule.
    pub rule: &'static str,
    /// The file, as a path relative to the root of the repository.
    pub file: String,
    pub line: usize,
    /// A description of the violation that does not depend on other lines of the file.
    pub what: String,
    /// A suggested fix.
    pub fix: String,
}

impl Offence {
    /// Returns the line for this violation in a list of allowed violations.
    fn key(&self) -> String {
        format!("{}: {}: {}", self.rule, self.file, self.what)
    }
}

fn list(package: &str) -> PathBuf {
    root().join("crates/testkit/tests/house/allowed").join(format!("{package}.txt"))
}

fn entries(package: &str) -> Vec<String> {
    let text = fs::read_to_string(list(package)).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Fails if a violation is not on a list, or if a list has a stale entry.
pub fn assert_obeyed(rules: &[&str], offences: Vec<Offence>) {
    let is_checked = |key: &String| rules.iter().any(|rule| key.split(": ").next() == Some(*rule));
    let mut complaints = Vec::new();
    let keys: BTreeSet<String> = offences.iter().map(Offence::key).collect();
    let mut allowed = BTreeSet::new();
    for package in packages().into_iter().chain(["documents".to_owned()]) {
        let entries = entries(&package);
        let (stale, kept): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|key| is_checked(key) && !keys.contains(key));
        if std::env::var_os("HOUSE_SHRINK").is_some() {
            shrink(&package, &stale);
        } else {
            complaints.extend(stale.iter().map(|key| {
                format!("allowed/{package}.txt: no longer needed, remove this line: {key}")
            }));
        }
        allowed.extend(kept);
    }
    for offence in offences {
        if !allowed.contains(&offence.key()) {
            complaints.push(format!(
                "{}:{}: {}: {}\n    {}",
                offence.file, offence.line, offence.rule, offence.what, offence.fix
            ));
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Removes the stale entries from a list. Tests that run concurrently do so one at a time.
fn shrink(package: &str, stale: &[String]) {
    static TURN: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    let _turn = TURN.lock();
    let kept: Vec<String> =
        entries(package).into_iter().filter(|entry| !stale.contains(entry)).collect();
    if kept.is_empty() {
        let _ = fs::remove_file(list(package));
    } else if !stale.is_empty() {
        fs::write(list(package), kept.join("\n") + "\n").unwrap();
    }
}
