//! Compares deployment files and the handbook with the code: names, ports, settings, and
//! requirements for containers.
//!
//! `kubectl kustomize` renders the Kubernetes folders offline. Without kubectl, only the source
//! files are checked, and a message is printed to stderr.

mod compose;
mod fail2ban;
mod handbook;
mod image;
mod kubernetes;
mod monitoring;
mod settings;
mod systemd;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::source::{SERVICES, root};

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Parses the documents of a YAML text and resolves anchors and merge keys.
fn yaml(name: &str, text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the files below a folder that have this extension, sorted by name.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The ports in the `ServiceInfo` of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ports {
    http: u16,
    https: u16,
    admin: u16,
}

impl Ports {
    fn of(service: &str) -> Self {
        let source = read(format!("services/{service}/src/service.rs"));
        let (_, arguments) = source.split_once("ServiceInfo::new(").unwrap();
        let (arguments, _) = arguments.split_once(';').unwrap();
        let number = |word: &str| word.trim().parse::<u16>().ok();
        let http = arguments.split([',', ')']).find_map(number);
        let http = http.unwrap_or_else(|| panic!("{service} names no port"));
        let info = shell::ServiceInfo::new("", "", "", "", http);
        Self { http, https: info.https_port, admin: info.admin_port }
    }
}

fn has_database(service: &str) -> bool {
    read(format!("services/{service}/Cargo.toml")).contains("\ndatabase.workspace = true")
}

#[test]
fn a_database_is_detected_in_the_manifest() {
    assert!(has_database("calendar") && !has_database("passwords"));
}
