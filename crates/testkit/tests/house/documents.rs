//! Checks that all files, items, scripts and commands in backticks in documents exist.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::offence::{Offence, assert_obeyed};
use crate::source::{SERVICES, packages, root, sources};

/// The change log may mention things that were removed.
const SKIPPED: [&str; 1] = ["CHANGELOG.md"];

/// The maximum number of words in all documents, apart from measured figures.
const MOST_WORDS: usize = 35_000;

/// Folders of generated or downloaded files.
const BUILT: [&str; 4] = ["target", "node_modules", "__pycache__", "artifacts"];

/// The extensions of source files. Files with other extensions, such as `.csv` and `.db`, may be
/// created by a program.
const ENDINGS: [&str; 13] = [
    ".rs", ".md", ".toml", ".sql", ".html", ".css", ".js", ".mjs", ".py", ".sh", ".lua", ".yaml",
    ".yml",
];

/// A span of text in backticks.
struct Span {
    file: String,
    line: usize,
    text: String,
}

/// The files of the repository.
struct Tree {
    /// The paths of all files, relative to the root.
    files: BTreeSet<String>,
    /// Every sequence of components of those paths, such as `a/b.rs`, `a` and `b.rs`.
    parts: HashSet<String>,
}

impl Tree {
    fn read() -> Self {
        let mut files = BTreeSet::new();
        let mut folders = vec![root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if path.is_dir() {
                    if name != ".git" && !BUILT.contains(&name.as_str()) {
                        folders.push(path);
                    }
                } else if let Ok(inner) = path.strip_prefix(root()) {
                    files.insert(inner.to_string_lossy().into_owned());
                }
            }
        }
        let mut parts = HashSet::new();
        for file in &files {
            let names: Vec<&str> = file.split('/').collect();
            for first in 0..names.len() {
                for last in first..names.len() {
                    parts.insert(names[first..=last].join("/"));
                }
            }
        }
        Self { files, parts }
    }

    fn documents(&self) -> impl Iterator<Item = &String> {
        self.files.iter().filter(|file| file.ends_with(".md") && !SKIPPED.contains(&file.as_str()))
    }

    /// Returns whether there is a file or folder with this path, or whose path ends with it. A word
    /// in capitals, such as `NAME`, and `*` match any part of a name.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        if self.parts.contains(path) {
            return true;
        }
        static PLACEHOLDER: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\\\*|[A-Z]{4,}").unwrap());
        let escaped = regex::escape(path);
        if !PLACEHOLDER.is_match(&escaped) {
            return false;
        }
        let pattern = format!("^{}$", PLACEHOLDER.replace_all(&escaped, "[^/]*"));
        let pattern = Regex::new(&pattern).unwrap();
        self.parts.iter().any(|part| pattern.is_match(part))
    }
}

/// Returns the code spans of a document, and those lines of its fenced blocks that begin with a
/// script or a service.
fn spans(file: &str, text: &str) -> Vec<Span> {
    static SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new("`([^`]+)`").unwrap());
    let mut spans = Vec::new();
    let mut is_fenced = false;
    // A span may continue on the next line, so whole paragraphs are searched.
    let mut paragraph = (1, String::new());
    let search = |spans: &mut Vec<Span>, (first, text): &(usize, String)| {
        for found in SPAN.captures_iter(text) {
            let line = first + text[..found.get(1).unwrap().start()].matches('\n').count();
            let text = found[1].split_whitespace().collect::<Vec<_>>().join(" ");
            spans.push(Span { file: file.to_owned(), line, text });
        }
    };
    for (number, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        // Later words may be names that are specific to the example.
        let words: Vec<&str> = line.split_whitespace().skip_while(|word| *word == "$").collect();
        let first = words.first().copied().unwrap_or_default();
        if is_fenced && (first.starts_with("scripts/") || SERVICES.contains(&first)) {
            let text = words[..words.len().min(2)].join(" ");
            spans.push(Span { file: file.to_owned(), line: number + 1, text });
        }
        is_fenced ^= fence;
        if fence || is_fenced || line.trim().is_empty() {
            search(&mut spans, &paragraph);
            paragraph = (number + 2, String::new());
        } else {
            paragraph.1 += line;
            paragraph.1.push('\n');
        }
    }
    search(&mut spans, &paragraph);
    spans
}

/// Returns the words and paths of the Rust files of each package. Those of all packages are under
/// `crate`.
fn code() -> &'static BTreeMap<String, HashSet<String>> {
    static CODE: LazyLock<BTreeMap<String, HashSet<String>>> = LazyLock::new(|| {
        let mut code: BTreeMap<String, HashSet<String>> = BTreeMap::new();
        // This file contains names that do not exist.
        for source in sources().iter().filter(|source| !source.path.ends_with("/documents.rs")) {
            let text = fs::read_to_string(root().join(&source.path)).unwrap();
            for key in [source.package.as_str(), "crate"] {
                let all = code.entry(key.to_owned()).or_default();
                all.extend(words(&text).chain(words(&source.path)).map(str::to_owned));
            }
        }
        code
    });
    &CODE
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the name in a span that does not exist. `None` if all names exist or cannot be checked.
fn fault(
    span: &Span,
    tree: &Tree,
    commands: &BTreeMap<String, BTreeSet<String>>,
) -> Option<String> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\.{0,2}[\w*.@-]*(/[\w*.@-]+)*/?$").unwrap());
    static ITEM: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[A-Za-z_]\w*(::\w+)+!?(\(\))?$").unwrap());
    let text = span.text.as_str();
    let first = text.split(' ').next().unwrap_or_default();
    if let Some(script) = first.trim_start_matches("./").strip_prefix("scripts/") {
        return script_fault(script, text, tree);
    }
    if ITEM.is_match(text) {
        return item_fault(text);
    }
    if PATH.is_match(text) && is_path(text, tree) {
        let folder = Path::new(&span.file).parent().unwrap().to_string_lossy().into_owned();
        let sibling = format!("{folder}/{text}");
        let found = tree.has(text) || root().join(&sibling).exists();
        return (!found).then(|| format!("the path `{text}`"));
    }
    command_fault(text, commands)
}

/// Returns whether a string is meant as a file or folder in the repository, and not as a URL or a
/// media type.
fn is_path(text: &str, tree: &Tree) -> bool {
    let top = text.split('/').next().unwrap_or_default();
    let is_below_top = text.contains('/')
        && (tree.files.iter().any(|file| file.starts_with(&format!("{top}/"))))
        && !top.is_empty();
    let is_name_of_ending = text.starts_with('.') && !text.contains('/');
    is_below_top || !is_name_of_ending && ENDINGS.iter().any(|ending| text.ends_with(ending))
}

fn script_fault(script: &str, text: &str, tree: &Tree) -> Option<String> {
    let path = format!("scripts/{script}");
    if !tree.has(&path) {
        return Some(format!("the script `{path}`"));
    }
    // The first argument must be a word in the script, or a file in the folder of the script.
    let argument = text.split(' ').nth(1)?;
    let is_name = argument.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if !is_name || argument.starts_with('-') || SERVICES.contains(&argument) {
        return None;
    }
    let body = fs::read_to_string(root().join(&path)).unwrap_or_default();
    let is_written = body.split([' ', '|', ')', '(', '\n', '"', '\'']).any(|word| word == argument);
    let found = is_written || tree.has(&format!("scripts/{script}.d/{argument}"));
    (!found).then(|| format!("`{argument}` of the script `{path}`"))
}

fn item_fault(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.trim_end_matches("()").trim_end_matches('!').split("::").collect();
    let is_foreign = ["std", "core", "alloc"].contains(&parts[0]) || is_dependency(parts[0]);
    if is_foreign && !packages().contains(parts[0]) {
        return None;
    }
    let code = code().get(parts[0]).unwrap_or(&code()["crate"]);
    let missing = parts.iter().find(|part| **part != "crate" && !code.contains(**part))?;
    Some(format!("`{missing}` of `{text}`"))
}

fn is_dependency(name: &str) -> bool {
    static LOCK: LazyLock<String> =
        LazyLock::new(|| fs::read_to_string(root().join("Cargo.lock")).unwrap());
    [name.to_owned(), name.replace('_', "-")]
        .iter()
        .any(|name| LOCK.contains(&format!("name = \"{name}\"\n")))
}

fn command_fault(text: &str, commands: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let mut words = text.split(' ');
    let service = words.next()?;
    let known: Vec<&BTreeSet<String>> = match service {
        "NAME" => commands.values().collect(),
        service => vec![commands.get(service)?],
    };
    for word in words {
        if !word.chars().all(|c| c.is_ascii_lowercase() || c == '-') || word.starts_with('-') {
            return None;
        }
        if !known.iter().any(|known| known.contains(word)) {
            return Some(format!("the command `{text}`"));
        }
    }
    None
}

/// Returns the subcommands of each service, including nested ones.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let shared = subcommands(|path| {
        ["crates/auth/src/commands/", "crates/database/src/command.rs", "crates/shell/src/cli.rs"]
            .iter()
            .any(|shared| path.starts_with(shared))
    });
    let own = |service: &str| {
        let folder = format!("services/{service}/src/cli/");
        let mut names = subcommands(|path| path.starts_with(&folder));
        names.extend(shared.iter().cloned());
        (service.to_owned(), names)
    };
    SERVICES.iter().map(|service| own(service)).collect()
}

/// Returns the variants of all enums in the selected files, in kebab case.
fn subcommands(chosen: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let variant = Regex::new(r"^ {4}([A-Z]\w*)( \{|\(|,|$)").unwrap();
    let name = Regex::new(r#"command\(name = "([\w-]+)""#).unwrap();
    let mut names = BTreeSet::new();
    for source in sources().iter().filter(|source| chosen(&source.path)) {
        let text = fs::read_to_string(root().join(&source.path)).unwrap();
        names.extend(name.captures_iter(&text).map(|found| found[1].to_owned()));
        for line in text.lines() {
            if let Some(found) = variant.captures(line) {
                let mut kebab = String::new();
                for c in found[1].chars() {
                    if c.is_ascii_uppercase() && !kebab.is_empty() {
                        kebab.push('-');
                    }
                    kebab.push(c.to_ascii_lowercase());
                }
                names.insert(kebab);
            }
        }
    }
    names.insert("help".to_owned());
    names
}

#[test]
fn documents_name_what_exists() {
    let (tree, commands) = (Tree::read(), commands());
    let mut offences = Vec::new();
    for file in tree.documents() {
        let text = fs::read_to_string(root().join(file)).unwrap();
        for span in spans(file, &text) {
            if let Some(what) = fault(&span, &tree, &commands) {
                offences.push(Offence {
                    rule: "document",
                    file: span.file,
                    line: span.line,
                    what: format!("{what} does not exist"),
                    fix: "name its replacement, or omit it".to_owned(),
                });
            }
        }
    }
    assert_obeyed(&["document"], offences);
}

#[test]
fn documents_stay_short() {
    let tree = Tree::read();
    let written = tree.documents().filter(|file| !file.starts_with("docs/figures/"));
    let words: usize = written
        .map(|file| {
            let text = fs::read_to_string(root().join(file)).unwrap();
            text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
        })
        .sum();
    assert!(words <= MOST_WORDS, "{words} words: shorten a document");
}

#[test]
fn missing_names_are_found_and_others_are_accepted() {
    let (tree, commands) = (Tree::read(), commands());
    let fault = |text: &str| {
        let span = Span { file: "docs/x.md".to_owned(), line: 1, text: text.to_owned() };
        fault(&span, &tree, &commands)
    };
    for missing in [
        "app/no_such_file.rs",
        "crates/no_such_crate",
        "services/NAME/no_such_folder",
        "scripts/no-such-script",
        "scripts/bench no-such-bench",
        "shell::pages::NoSuchType",
        "store::no_such_table",
        "calendar no-such-command",
        "NAME no-such-command",
        "breaches domain no-such-command",
    ] {
        assert!(fault(missing).is_some(), "{missing}");
    }
    for present in [
        "src/routes.rs",
        "testing.md",
        "services/NAME/src/cli/",
        "docs/decisions/NNNN-*.md",
        "scripts/bench calendar",
        "./scripts/test --fast",
        "shell::pages::Site",
        "std::no::such::thing",
        "breaches domain list",
        "NAME keys issue OWNER",
        "/readyz",
        "text/csv",
        "a.b.example",
        ".gz",
    ] {
        assert_eq!(fault(present), None);
    }
}
