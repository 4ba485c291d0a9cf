//! Checks the tables of settings and ports in the documentation.

use std::collections::BTreeSet;

use super::{Ports, SERVICES, read, settings};

/// Returns the variables in the first column of the tables in the section `## Settings`.
fn documented(page: &str) -> BTreeSet<String> {
    page.lines()
        .skip_while(|line| !line.starts_with("## Settings"))
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .flat_map(|cell| cell.split(['`', ',', ' ']))
        .filter(|word| !word.is_empty() && word.bytes().all(is_of_a_variable))
        .map(str::to_owned)
        .collect()
}

fn is_of_a_variable(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
}

#[test]
fn the_handbook_lists_every_shared_setting_and_no_other() {
    let mut shared = settings::below("crates/shell/src");
    shared.extend(settings::below("crates/database/src"));
    shared.insert("RUST_LOG".to_owned());
    assert_eq!(documented(&read("docs/operations.md")), shared);
}

#[test]
fn the_readme_of_a_service_lists_its_own_settings_and_no_other() {
    for &service in SERVICES.iter() {
        let mut own = settings::below(&format!("services/{service}/src"));
        // Set by the system and not by the operator.
        own.remove("USER");
        let page = read(format!("services/{service}/README.md"));
        let documented = documented(&page);
        let lacking: Vec<_> = own.difference(&documented).collect();
        assert!(lacking.is_empty(), "{service}: the README lacks {lacking:?}");
        let known = settings::of(service);
        let unknown: Vec<_> = documented.difference(&known).collect();
        assert!(unknown.is_empty(), "{service}: no setting is called {unknown:?}");
    }
}

#[test]
fn the_handbook_has_the_ports_of_every_service() {
    let page = read("docs/operations.md");
    for &service in SERVICES.iter() {
        let Ports { http, https, admin } = Ports::of(service);
        let row = format!("| {service} | {http} | {https} | {admin} |");
        assert!(page.lines().any(|line| line == row), "no row {row}");
    }
}

#[test]
fn copies_of_databases_are_private() {
    for page in ["docs/operations.md", "docs/scaling.md", "docs/security.md"] {
        let page = read(page);
        let blocks = page.split("```sh").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks {
            let copied = ["VACUUM INTO", "pg_dump"].map(|copy| block.find(copy));
            let Some(at) = copied.into_iter().flatten().min() else { continue };
            assert!(block[..at].contains("umask 077"), "anyone can read this copy:{block}");
        }
    }
}
