//! Who may import whom (docs/architecture.md, section 1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub const SERVICES: [&str; 5] = ["generator", "buckets", "breaches", "passwords", "calendar"];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The members of the workspace with the members that each depends on outside its tests.
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
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("domain", &[][..]),
        ("store", &["domain"][..]),
        ("web", &["domain"]),
        ("auth", &["domain", "store", "web"]),
        ("testkit", &["domain", "store", "web"]),
        ("passwords", &["domain", "web"]),
        ("generator", &["auth", "domain", "store", "web"]),
        ("buckets", &["auth", "domain", "store", "web"]),
        ("breaches", &["auth", "domain", "store", "web"]),
        ("calendar", &["auth", "domain", "store", "web"]),
    ]);
    let found = own_dependencies();
    assert_eq!(found.keys().collect::<Vec<_>>(), allowed.keys().collect::<Vec<_>>());
    for (member, dependencies) in found {
        for dependency in dependencies {
            let may = allowed[member.as_str()].contains(&dependency.as_str());
            assert!(may, "{member} may not depend on {dependency}");
        }
    }
}

#[test]
fn passwords_is_built_without_a_database() {
    let tree = cargo(&["tree", "-p", "passwords", "-e", "normal", "--prefix", "none", "--offline"]);
    for banned in ["diesel", "libsqlite3-sys", "pq-sys", "r2d2"] {
        let found = tree.lines().any(|line| line.split(' ').next() == Some(banned));
        assert!(!found, "passwords is built with {banned}");
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Lines that name one of the words as the start of a path, outside comments.
fn mentions(path: &Path, words: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| {
        words.iter().any(|word| {
            line.match_indices(word).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
            })
        })
    })
    .map(str::to_owned)
    .collect()
}

#[test]
fn modules_of_a_service_import_only_the_layers_below_them() {
    let rules: [(&str, &[&str]); 4] = [
        (
            "model",
            &[
                "actix_web::",
                "diesel::",
                "diesel_migrations::",
                "shell::",
                "store::",
                "auth::",
                "crate::store",
                "crate::wire",
                "crate::handlers",
                "crate::jobs",
                "utoipa::",
            ],
        ),
        ("store", &["actix_web::", "shell::", "crate::wire", "crate::handlers", "crate::jobs"]),
        ("wire", &["diesel::", "store::", "crate::store", "crate::handlers", "crate::jobs"]),
        ("handlers", &["diesel::", "sql_query"]),
    ];
    let mut broken = Vec::new();
    for service in SERVICES {
        for (layer, banned) in rules {
            let mut files = Vec::new();
            sources(&root().join("services").join(service).join("src").join(layer), &mut files);
            for file in files {
                for line in mentions(&file, banned) {
                    broken.push(format!("{}: {}", file.display(), line.trim()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "layers are crossed:\n{}", broken.join("\n"));
}
