//! Finds wording in comments, documents, messages and names that reads as if it were translated.
//!
//! CONTRIBUTING.md ("Language") contains the rules. This test finds those shapes that a machine can
//! find, and prints a replacement.

use std::fs;
use std::path::Path;

use regex::{Regex, RegexBuilder};

use crate::source::root;

/// A pattern, its replacement, and an exception.
struct Shape {
    pattern: Regex,
    /// Exempts a match if this pattern matches the text that starts 12 bytes before the match.
    unless: Option<Regex>,
    instead: &'static str,
}

/// The patterns, their exceptions ("" for none), and their replacements.
const SHAPES: &[(&str, &str, &str)] = &[
    (
        r"\b(stands|stood)\b|\bstand (in|at|behind|beside|on|before|above|below)\b",
        "",
        "is in, follows, is at",
    ),
    (r"\b(nobody|somebody|whoever)\b", "", "the client, the operator, anyone; or the passive"),
    (
        r"\b(is|are|was|were) no\b",
        r"there (is|are|was|were) no\b|no (longer|more than|fewer|less|other|such|later|earlier)\b",
        "is not a, has no",
    ),
    (
        r"\blies\b|\blie (in|on|at|behind|between|beside|under|before)\b|\blay in\b",
        "",
        "is in, is stored in",
    ),
    (
        r"\bas (it|they) (is|are|was|were|came|come|comes)\b",
        r"\bas (it|they) (is|are|was|were) (being|\w+(ed|en|ing|read|sent|built|made))\b",
        "unchanged, verbatim, unmodified",
    ),
    (r"\b(so|that) many\b", "", "N, this number of, as many"),
    (r"\bin vain\b", "", "without effect, rejected"),
    (r"\bthe same (goes|holds) for\b", "", "likewise"),
    (r"\b(go|goes|went|going) on\b", "", "continues, resumes"),
    (r"\b(not|without) a word\b|\ba word of\b", "", "silently, without a message"),
    (r"\btells?\b", r"\btells?\b.{0,30}\bapart\b|tell whether", "reports, says, returns, prints"),
    (r"\bfor ever\b", "", "forever"),
    (r"\bbeside\b", "", "next to, alongside, in addition to, while"),
    (r"\b(a|one|two|three|every|each|no) \w+ more\b", r"more than|(one|two) or more", "one more X"),
    (r"\bmend(s|ed|ing)?\b", "", "fix"),
    (r"\banew\b", "", "again, from the start"),
    (r"\bgiven up\b", "", "abandoned"),
    (r"\breason why\b", "", "the reason"),
    (r"\bone a (line|minute|second)\b", "", "one per line"),
    (r"\bafter the other\b", "", "one after another"),
];

/// Matches the first line of a comment that is a noun clause, such as "What a load has read".
const OPENER: &str = r"^\s*//[/!] (What|Who|Whom|Whose|Where|Which)\b";

/// Text that contains a shape and is correct: where, the text, and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/outbound/src/dns.rs", "is_no_records_found", "a method of the resolver"),
    ("scripts/clients.d/faults", "nobody", "the Unix user"),
    ("scripts/lib/clickhouse.sh", "nobody", "the Unix user"),
    ("scripts/lib/postgres.sh", "nobody", "the Unix user"),
];

/// Folders of data, of generated files, and of text that other files produce.
const SKIPPED: &[&str] = &["target", "data", "samples", "fixtures", "snapshots", "corpus", "seeds"];

/// The extensions of text files that people write.
const ENDINGS: &[&str] =
    &["rs", "md", "html", "sh", "py", "toml", "yml", "yaml", "sql", "css", "js", "lua", "conf"];

fn shapes() -> Vec<Shape> {
    let compile =
        |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
    SHAPES
        .iter()
        .map(|&(pattern, unless, instead)| Shape {
            pattern: compile(pattern),
            unless: (!unless.is_empty()).then(|| compile(unless)),
            instead,
        })
        .collect()
}

impl Shape {
    /// Returns whether the line contains the shape, apart from its exceptions.
    fn found_in(&self, line: &str) -> bool {
        self.pattern.find_iter(line).any(|found| {
            let mut start = found.start().saturating_sub(12);
            while !line.is_char_boundary(start) {
                start -= 1;
            }
            self.unless.as_ref().is_none_or(|unless| {
                let inner = unless.find_iter(&line[start..]);
                !inner.into_iter().any(|exempt| {
                    start + exempt.start() <= found.end() && found.start() <= start + exempt.end()
                })
            })
        })
    }
}

/// Collects the text files below a folder, as paths relative to the root of the repository.
fn text_files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            text_files(&path, found);
            continue;
        }
        let shown = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let is_script = shown.starts_with("scripts/") && path.extension().is_none();
        let is_text = path
            .extension()
            .is_some_and(|ending| ENDINGS.iter().any(|listed| ending.eq_ignore_ascii_case(listed)));
        if is_text || is_script {
            found.push(shown);
        }
    }
}

#[test]
fn text_has_no_translated_shapes() {
    let mut files = Vec::new();
    text_files(&root(), &mut files);
    files.sort();
    let (shapes, opener) = (shapes(), Regex::new(OPENER).unwrap());
    let mut complaints = Vec::new();
    for file in files {
        if file == "crates/testkit/tests/house/language.rs" {
            continue;
        }
        let Ok(text) = fs::read_to_string(root().join(&file)) else { continue };
        let is_rust = file.ends_with(".rs");
        let mut previous = "";
        for (number, line) in text.lines().enumerate() {
            let allowed =
                ALLOWED.iter().any(|(path, text, _)| file == *path && line.contains(text));
            let mut complain = |instead: &str| {
                complaints.push(format!("{file}:{}: {}\n    {instead}", number + 1, line.trim()));
            };
            if !allowed {
                // Names of functions and tests are sentences, too.
                let words = if is_rust { line.replace('_', " ") } else { line.to_owned() };
                shapes
                    .iter()
                    .filter(|shape| shape.found_in(&words))
                    .for_each(|shape| complain(shape.instead));
                let continues =
                    previous.trim_start().starts_with("//") && !previous.trim_end().ends_with("//");
                if opener.is_match(line) && !continues {
                    complain("begin with a noun or a verb: \"The rows that …\", \"Returns …\"");
                }
            }
            previous = line;
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
