//! The Rust files of the repository. Each is parsed only once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use crate::parse::{self, Contents};

/// The names of the services, taken from the folders in `services`.
pub static SERVICES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let folders = folders(&root().join("services"));
    let name = |folder: PathBuf| folder.file_name()?.to_str().map(|name| &*name.to_owned().leak());
    folders.into_iter().filter_map(name).collect()
});

/// Returns the root folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The kind of target that a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The library or the binary, in `src`.
    Src,
    /// An integration test, in `tests/NAME`.
    Tests,
    /// Benches, examples and fuzz targets.
    Other,
}

/// One Rust file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the crate or service.
    pub package: String,
    /// The folder of the target's root file, such as `services/calendar/src`.
    pub target: String,
    pub place: Place,
    /// The path relative to the root of the repository.
    pub path: String,
    /// The module path. Empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    pub lines: usize,
    /// Whether the file is compiled only for tests.
    pub test: bool,
    pub contents: Contents,
}

impl Source {
    /// Returns whether the file belongs to a service and not to a shared crate.
    pub fn is_service(&self) -> bool {
        self.path.starts_with("services/")
    }

    /// Returns the file name without `.rs`.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".rs").unwrap_or(name)
    }

    /// Returns the room of a file in a service: its first module, or the name of the root file.
    pub fn room(&self) -> &str {
        self.module.first().map_or_else(|| self.stem(), String::as_str)
    }
}

/// Returns the names of all crates and services.
pub fn packages() -> BTreeSet<String> {
    sources().iter().map(|source| source.package.clone()).collect()
}

/// Returns all Rust files below `crates` and `services`.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(read)
}

fn read() -> Vec<Source> {
    let mut sources = Vec::new();
    for group in ["crates", "services"] {
        for package in folders(&root().join(group)) {
            for path in rust_files(&package) {
                sources.push(source(group, &package, &path));
            }
        }
    }
    mark_test_files(&mut sources);
    sources
}

fn source(group: &str, package: &Path, path: &Path) -> Source {
    let name = package.file_name().unwrap().to_string_lossy().into_owned();
    let inner: Vec<String> = path
        .strip_prefix(package)
        .unwrap()
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let (place, depth) = match (inner[0].as_str(), inner.len()) {
        ("src", _) => (Place::Src, 1),
        ("tests", 3..) => (Place::Tests, 2),
        ("tests", _) => (Place::Tests, 1),
        _ => (Place::Other, inner.len() - 1),
    };
    let mut module: Vec<String> = inner[depth..].to_vec();
    let file = module.pop().unwrap_or_default();
    let stem = file.trim_end_matches(".rs");
    let is_root = module.is_empty() && (stem == "lib" || stem == "main");
    if !is_root && stem != "mod" {
        module.push(stem.to_owned());
    }
    let text = fs::read_to_string(path).unwrap();
    let shown = format!("{group}/{name}/{}", inner.join("/"));
    let mut target = format!("{group}/{name}/{}", inner[..depth].join("/"));
    if place == Place::Src && stem == "main" && is_root {
        target.push_str("/main.rs"); // The binary uses the library like an external crate.
    }
    Source {
        package: name,
        target,
        place,
        module,
        lines: text.lines().count(),
        test: false,
        contents: parse::contents(&shown, &text),
        path: shown,
    }
}

/// Marks the files of modules under `#[cfg(test)]`, including nested ones.
fn mark_test_files(sources: &mut [Source]) {
    let mut tests: BTreeSet<(String, Vec<String>)> = BTreeSet::new();
    for source in sources.iter() {
        for item in source.contents.items.iter().filter(|item| item.kind == "mod" && item.test) {
            let mut module = source.module.clone();
            module.extend(item.scope.iter().cloned());
            module.push(item.name.clone());
            tests.insert((source.target.clone(), module));
        }
    }
    for source in sources {
        let target = source.target.clone();
        source.test = (1..=source.module.len())
            .any(|length| tests.contains(&(target.clone(), source.module[..length].to_vec())));
    }
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.join("Cargo.toml").exists()).collect();
    found.sort();
    found
}

/// Returns the Rust files of a package. Build output is skipped.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
