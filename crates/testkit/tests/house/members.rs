//! Checks the permitted dependencies between members of the workspace.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::source::{SERVICES, root};

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the members of the workspace. Each is mapped to the members that it depends on outside
/// of its tests.
fn own_dependencies() -> BTreeMap<String, Vec<String>> {
    let metadata = cargo(&["metadata", "--format-version=1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: Vec<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    packages
        .iter()
        .map(|package| {
            let own = package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
                .filter(|name| names.contains(&name.as_str()))
                .collect();
            (package["name"].as_str().unwrap().to_owned(), own)
        })
        .collect()
}

#[test]
fn members_depend_only_on_the_members_below_them() {
    let above_all = &["auth", "batch", "database", "domain", "outbound", "shell"][..];
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("domain", &[][..]),
        ("database", &["domain"][..]),
        ("shell", &["domain"]),
        ("batch", &["domain"]),
        ("outbound", &["domain"]),
        ("auth", &["domain", "database", "shell"]),
        ("testkit", &["domain", "database", "shell"]),
        ("passwords", &["batch", "domain", "shell"]),
    ]);
    let members = own_dependencies();
    for (member, dependencies) in members.into_iter().filter(|(name, _)| !name.ends_with("-fuzz")) {
        let service = SERVICES.contains(&member.as_str());
        let below = allowed.get(member.as_str()).copied().or(service.then_some(above_all));
        let below = below.unwrap_or_else(|| panic!("what may {member} depend on?"));
        for dependency in dependencies {
            let may = below.contains(&dependency.as_str());
            assert!(may, "{member} may not depend on {dependency}");
        }
    }
}

/// `domain::shows_its_end` would reject complete HTTP/2 responses.
#[test]
fn http_clients_are_built_without_http2() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let client = lock.split("[[package]]").find(|package| package.contains("name = \"reqwest\""));
    assert!(!client.unwrap().contains("\"h2\""));
}

#[test]
fn passwords_is_built_without_a_database() {
    let tree = cargo(&["tree", "-p", "passwords", "-e", "normal", "--prefix", "none", "--offline"]);
    for banned in ["diesel", "libsqlite3-sys", "pq-sys", "r2d2"] {
        let found = tree.lines().any(|line| line.split(' ').next() == Some(banned));
        assert!(!found, "passwords is built with {banned}");
    }
}
