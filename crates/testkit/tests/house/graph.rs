//! Resolves paths in the code to the files that define the items.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::parse::Mention;
use crate::source::{Source, sources};

/// The external crates that have rules.
pub const LIBRARIES: [&str; 16] = [
    "actix_http",
    "actix_multipart",
    "actix_web",
    "auth",
    "batch",
    "clap",
    "database",
    "diesel",
    "diesel_migrations",
    "http",
    "prometheus",
    "reqwest",
    "shell",
    "tokio",
    "utoipa",
    "utoipa_actix_web",
];

/// The result of resolving a path.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// An item defined in this file.
    Item(&'static Source),
    /// A module and its file.
    Module(&'static Source),
    /// An external crate.
    Library(&'static str),
}

/// A compilation target: a library, a binary or an integration test.
#[derive(Debug, Default)]
pub struct Target {
    files: BTreeMap<Vec<String>, &'static Source>,
}

/// Returns the targets by the folder of their root file.
pub fn targets() -> &'static BTreeMap<String, Target> {
    static TARGETS: OnceLock<BTreeMap<String, Target>> = OnceLock::new();
    TARGETS.get_or_init(|| {
        let mut targets: BTreeMap<String, Target> = BTreeMap::new();
        for source in sources() {
            let target = targets.entry(source.target.clone()).or_default();
            target.files.insert(source.module.clone(), source);
        }
        targets
    })
}

impl Target {
    pub fn files(&self) -> impl Iterator<Item = &'static Source> {
        self.files.values().copied()
    }

    /// Returns the file of a module path, and the inline modules within the file.
    fn module(&self, path: &[String]) -> Option<(&'static Source, Vec<String>)> {
        for length in (0..=path.len()).rev() {
            let Some(source) = self.files.get(&path[..length]) else { continue };
            let inner = path[length..].to_vec();
            let declared = |name: &String, scope: &[String]| {
                source
                    .contents
                    .items
                    .iter()
                    .any(|item| item.kind == "mod" && item.name == *name && item.scope == scope)
            };
            let inline = (0..inner.len()).all(|at| declared(&inner[at], &inner[..at]));
            return inline.then_some((*source, inner));
        }
        None
    }

    /// Resolves a path in `source`. Returns `None` for crates without rules.
    pub fn resolve(&self, source: &'static Source, mention: &Mention) -> Option<Found> {
        let mut here = source.module.clone();
        here.extend(mention.scope.iter().cloned());
        let outside = if mention.binds.is_some() { Start::Use } else { Start::Code };
        self.follow(&here, &mention.segments, outside, 0)
    }

    fn follow(
        &self,
        here: &[String],
        segments: &[String],
        start: Start,
        depth: usize,
    ) -> Option<Found> {
        let (first, rest) = segments.split_first()?;
        if depth > 12 {
            return None;
        }
        match first.as_str() {
            "crate" => self.walk(&[], rest, depth),
            "self" => self.walk(here, rest, depth),
            "super" => {
                let mut above = here.to_vec();
                let mut rest = segments;
                while rest.first().is_some_and(|segment| segment == "super") {
                    above.pop();
                    rest = &rest[1..];
                }
                self.walk(&above, rest, depth)
            }
            name => {
                if start == Start::Code && segments.len() == 1 {
                    return None; // A single name: the `use` that imports it counts instead.
                }
                self.bound(here, name, rest, depth).or_else(|| {
                    let library = LIBRARIES.iter().find(|library| **library == name);
                    library.copied().map(Found::Library)
                })
            }
        }
    }

    /// Resolves a name in a module: to a child module or an import.
    fn bound(&self, here: &[String], name: &str, rest: &[String], depth: usize) -> Option<Found> {
        let (source, scope) = self.module(here)?;
        let mut child = here.to_vec();
        child.push(name.to_owned());
        if self.module(&child).is_some() {
            return self.walk(&child, rest, depth);
        }
        let imports = source.contents.mentions.iter().filter(|mention| mention.scope == scope);
        for mention in imports {
            let same = mention.segments.first().is_some_and(|segment| segment == name);
            if mention.binds.as_deref() == Some(name) && !(same && mention.segments.len() == 1) {
                let mut path = mention.segments.clone();
                path.extend(rest.iter().cloned());
                return self.follow(here, &path, Start::Use, depth + 1);
            }
        }
        None
    }

    /// Follows a path from a module, through re-exports, to the file that contains the definition.
    fn walk(&self, module: &[String], rest: &[String], depth: usize) -> Option<Found> {
        let (source, scope) = self.module(module)?;
        let Some((name, after)) = rest.split_first() else { return Some(Found::Module(source)) };
        let defined = |kind_is_module: bool| {
            source.contents.items.iter().any(|item| {
                item.name == *name && item.scope == scope && (item.kind == "mod") == kind_is_module
            })
        };
        if after.is_empty() && defined(false) {
            return Some(Found::Item(source));
        }
        if let Some(found) = self.bound(module, name, after, depth) {
            return Some(found);
        }
        if !defined(false) {
            let globs = source.contents.mentions.iter().filter(|mention| {
                mention.binds.as_deref() == Some("*") && mention.public && mention.scope == scope
            });
            for glob in globs {
                let mut path = glob.segments.clone();
                path.extend(rest.iter().cloned());
                let found = self.follow(module, &path, Start::Use, depth + 1);
                if let Some(Found::Item(file)) = found
                    && file.contents.items.iter().any(|item| item.name == *name)
                {
                    return found;
                }
            }
        }
        Some(Found::Item(source))
    }
}

/// The starting point for resolving a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Use,
    Code,
}
