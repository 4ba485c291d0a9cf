//! The Rust files of the repository, parsed once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use crate::parse::{self, Contents};

/// The names of the services, which are the folders of `services`.
pub static SERVICES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let folders = folders(&root().join("services"));
    let name = |folder: PathBuf| folder.file_name()?.to_str().map(|name| &*name.to_owned().leak());
    folders.into_iter().filter_map(name).collect()
});

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The kind of target of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The library or the binary: `src`.
    Src,
    /// An integration test: `tests/NAME`.
    Tests,
    /// Benches, examples and fuzz targets.
    Other,
}

/// One Rust file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the crate or service.
    pub package: String,
    /// Folder of the target's root file: `services/calendar/src`.
    pub target: String,
    pub place: Place,
    /// The path from the root of the repository.
    pub path: String,
    /// Its module path; empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    pub lines: usize,
    /// Whether it is compiled only for tests.
    pub test: bool,
    pub contents: Contents,
}

impl Source {
    /// Returns whether it is part of a service rather than of a shared crate.
    pub fn is_service(&self) -> bool {
        self.path.starts_with("services/")
    }

    /// The file's name without `.rs`.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".rs").unwrap_or(name)
    }

    /// The room of a service's file: the first module, or the root file's own name.
    pub fn room(&self) -> &str {
        self.module.first().map_or_else(|| self.stem(), String::as_str)
    }
}

/// The names of the crates and services.
pub fn packages() -> BTreeSet<String> {
    sources().iter().map(|source| source.package.clone()).collect()
}

/// Every Rust file below `crates` and `services`.
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
        target.push_str("/main.rs"); // The binary sees the library as a crate of its own.
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

/// Marks files of modules under `#[cfg(test)]`, and those below them.
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

/// Returns the Rust files of a package, without build output.
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
