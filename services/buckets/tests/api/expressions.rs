//! Compares random expressions with a naive implementation that matches one name at a time.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use buckets::engine::{EmbeddedIndex, EngineError, FileIndex, Limits, Mode, NamedBucket, NewFile};
use buckets::model::path::file_name;
use buckets::model::{Attributes, Expression, FileQuery, Matching};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use rstest::rstest;

/// Number of expressions in the long run: `EXPRESSIONS=200000 cargo test -p buckets -- --ignored
/// --nocapture`.
const LONG_RUN: &str = "EXPRESSIONS";
/// The bucket whose files remain after the additional filter of a case.
const NARROW_BUCKET: u64 = 7;

fn paths() -> Vec<String> {
    let folders = ["", "a/", "Report/2021/", "b c/é/", "x/"];
    let starts = ["a", "ab", "report", "BACKUP", "dump", "IMG", "é", "Straße", "to\u{212a}en", "-"];
    let middles = ["", "b", "-2021", "_03 ", "ſ", "\n", "\u{1}"];
    let ends = ["", ".sql", ".tar.gz", ".", "ab", ".ks"];
    let mut paths = Vec::new();
    for folder in folders {
        for start in starts {
            for middle in middles {
                paths.extend(ends.map(|end| format!("{folder}{start}{middle}{end}")));
            }
        }
    }
    paths.push(format!("long/{}", "ab-".repeat(300)));
    paths.push(".env".to_owned());
    paths.push("folder/".to_owned());
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

fn files() -> Vec<NewFile> {
    let bucket = |place: u64| if place.is_multiple_of(40) { NARROW_BUCKET } else { 1 + place % 3 };
    let file = |(place, path)| NewFile {
        bucket: bucket(place),
        kind: 0,
        path,
        attributes: Attributes::from_fn(|_| 1),
        is_changed: false,
    };
    (0..).zip(paths()).map(file).collect()
}

/// Fills an index with the files, in two publishes. Their ids are their positions, starting at 1.
pub fn filled(index: &dyn FileIndex) -> Vec<NewFile> {
    let files = files();
    let (first, second) = files.split_at(files.len() / 3);
    for (run, part) in (1..).zip([first, second]) {
        let mut writer = index.writer(64).unwrap();
        writer.begin(run).unwrap();
        writer.add(part).unwrap();
        let ids: BTreeSet<u64> = part.iter().map(|file| file.bucket).collect();
        let named = |id| NamedBucket { id, truncated: false, partial: false };
        writer.publish(Mode::Append, ids.into_iter().map(named).collect(), 1).unwrap();
    }
    index.refresh().unwrap();
    files
}

/// Generates expressions with parts that cannot match, empty branches, NULs, anchors and Unicode.
fn text() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "ab",
        "report",
        "BACKUP",
        "dump",
        "2021",
        "sql",
        "\\.sql",
        "\\.gz",
        "ks",
        "-",
        "_",
        " ",
        "é",
        "ß",
        "ſ",
        "\u{212a}",
        "Straße",
        "\\n",
        "\\x01",
        "\"a.b\"",
        "\\x{53}",
        "/",
        "a/",
        "[^/]",
        ".*",
        ".*",
        ".*",
        ".*?",
        ".+",
        ".",
        "(?-s:.)",
        "(?s:.*)",
        "[a-c]",
        "[^a]",
        "[0-9]{2}",
        "\\w",
        "\\w+",
        "\\W",
        "\\d+",
        "\\s",
        "\\pL",
        "\\p{Greek}",
        "[[:alpha:]]",
        "[\\w&&\\d]",
        "[a-z&&[^b]]",
        "[\\x00-\\x1f]",
        "[^\\x00]",
        "[^\\x00]*",
        "[\\x00a]",
        "[\\x00ab]+",
        "[\\pL--a]",
        "\\x00",
        "\\x00",
        "\\x00ab",
        "ab\\x00",
        "[a&&b]",
        "[^\\s\\S]",
        "(?:)",
        "()",
        "",
        "^",
        "$",
        "\\A",
        "\\z",
        "\\b",
        "\\B",
        "(?m:^)",
        "(?m:$)",
        "(?-u:\\b)",
        "(?-u:\\w)",
        "\\b{start}",
        "\\b{end-half}",
        "(?-i:Report)",
        "(?-i:[a-z])",
        "(?i:dump)",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 16, 4, |inner| {
        let many = || prop::collection::vec(inner.clone(), 0..4);
        let repeat = prop::sample::select(vec![
            "?", "*", "+", "{0}", "{2}", "{0,2}", "{2,}", "{1,3}", "*?", "+?", "??",
        ]);
        let group = prop::sample::select(vec!["(", "(?:", "(?s:", "(?-i:", "(?m:"]);
        let repeated = (group, inner.clone(), repeat)
            .prop_map(|(open, part, repeat)| format!("{open}{part}){repeat}"));
        prop_oneof![
            4 => many().prop_map(|parts| parts.concat()),
            2 => many().prop_map(|branches| format!("(?:{})", branches.join("|"))),
            1 => many().prop_map(|branches| format!("(?:|{})", branches.join("|"))),
            1 => many().prop_map(|branches| branches.join("|")),
            2 => repeated,
        ]
    })
}

/// Text, whether it is corrected, whether it is matched against paths, and whether the search is
/// limited to one bucket.
pub type Case = (String, bool, bool, bool);

pub fn case() -> impl Strategy<Value = Case> {
    (text(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2))
}

fn query(expression: Expression, full_path: bool, narrow: bool) -> FileQuery {
    FileQuery {
        matching: Matching::Expression(Arc::new(expression)),
        full_path,
        buckets: narrow.then(|| vec![NARROW_BUCKET]),
        limit: 10_000,
        ..FileQuery::default()
    }
}

/// Returns the ids of the matching files according to a naive implementation.
fn naive(files: &[NewFile], expression: &Expression, query: &FileQuery) -> BTreeSet<u64> {
    let syntax = syntax::Config::new().case_insensitive(true).dot_matches_new_line(true);
    let whole = format!(r"\A(?:{})\z", expression.pattern());
    let judge = Regex::builder().syntax(syntax).build(&whole).unwrap();
    let text = |file: &NewFile| match query.full_path {
        true => file.path.clone(),
        false => file_name(&file.path).to_owned(),
    };
    let wanted =
        |file: &NewFile| query.buckets.as_ref().is_none_or(|ids| ids.contains(&file.bucket));
    let matching = (1..).zip(files).filter(|(_, file)| wanted(file) && judge.is_match(&text(file)));
    matching.map(|(id, _)| id).collect()
}

/// Searches, and compares the result. Returns false for strings that are not valid expressions of
/// the engine.
pub fn agrees(index: &dyn FileIndex, files: &[NewFile], case: &Case) -> bool {
    let (text, correct, full_path, narrow) = case;
    let Ok(expression) = Expression::parse(text, *correct) else { return false };
    let query = query(expression.clone(), *full_path, *narrow);
    let limits = Limits::until(Instant::now() + Duration::from_secs(60), 2);
    let found = match index.search(&query, &limits) {
        Err(EngineError::Unsupported(_)) => return false,
        found => found.unwrap(),
    };
    let ids: BTreeSet<u64> = found.rows.iter().map(|row| row.id).collect();
    let expected = naive(files, &expression, &query);
    let wrong: Vec<&str> = ids
        .symmetric_difference(&expected)
        .take(5)
        .map(|id| files[*id as usize - 1].path.as_str())
        .collect();
    let (total, most) = (found.total, expected.len());
    assert!(wrong.is_empty() && total == most as u64, "{case:?}: {total} of {most}, {wrong:?}");
    true
}

/// Runs cases. Returns the number of valid expressions.
pub fn run(cases: u32, mut each: impl FnMut(&Case) -> bool) -> u32 {
    let compared = std::cell::RefCell::new((0, &mut each));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let tested = TestRunner::new(config).run(&case(), |case| {
        let (count, each) = &mut *compared.borrow_mut();
        *count += u32::from(each(&case));
        Ok(())
    });
    tested.unwrap();
    let (count, _) = compared.into_inner();
    count
}

#[test]
fn random_expressions_match_naive_results() {
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
    let files = filled(&index);
    let compared = run(2_000, |case| agrees(&index, &files, case));
    assert!(compared > 1_000, "{compared} expressions");
}

/// Combinations of branches that match nothing with branches that match the empty string.
pub const HOSTILE: [&str; 12] = [
    r"|\x00",
    r"a?|.*?\x00",
    "|[a&&b]",
    r"(?:)|[^\s\S]",
    "[a&&b]*",
    r"(?:\x00)?",
    r"(?:\x00ab)*a?",
    r".*\x00ab.*",
    r"ab\x00.*",
    r".*(?:\x00|/)ab.*",
    r"[\x00a]b.*",
    r"[^\x00]*ab[^\x00]*",
];

pub fn hostile_cases() -> impl Iterator<Item = Case> {
    HOSTILE.into_iter().flat_map(|text| {
        [(true, true), (true, false), (false, true), (false, false)]
            .map(|(correct, full_path)| (text.to_owned(), correct, full_path, false))
    })
}

#[test]
fn branch_without_matches_terminates_and_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
    let files = filled(&index);
    for case in hostile_cases() {
        assert!(agrees(&index, &files, &case), "{case:?}");
    }
}

#[rstest]
#[case("", false)]
#[case(r"|\x00", true)]
fn empty_index_answers_every_expression(#[case] text: &str, #[case] full_path: bool) {
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
    assert!(agrees(&index, &[], &(text.to_owned(), false, full_path, false)));
}

/// Compares a large number of expressions, and reports by how much searches exceed their time
/// limits.
#[test]
#[ignore = "minutes; the figures are for a report"]
fn random_expressions_match_naive_results_in_a_long_run() {
    let cases = std::env::var(LONG_RUN).map_or(20_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
    let files = filled(&index);
    let (mut searched, mut slowest, mut beyond) = (0u64, Duration::ZERO, Duration::ZERO);
    let compared = run(cases, |case| {
        let began = Instant::now();
        let compared = agrees(&index, &files, case);
        // Timing: the time is printed, not compared.
        slowest = slowest.max(began.elapsed());
        if let Ok(expression) = Expression::parse(&case.0, case.1) {
            let limit = Duration::from_micros(searched % 2_000);
            searched += 1;
            let query = query(expression, case.2, case.3);
            let began = Instant::now();
            let limits = Limits::until(began + limit, 2);
            let ended = index.search(&query, &limits);
            assert!(matches!(ended, Ok(_) | Err(EngineError::Stopped)), "{ended:?}");
            // Timing: searches must end at their time limit.
            beyond = beyond.max(began.elapsed().saturating_sub(limit));
        }
        compared
    });
    println!(
        "{cases} texts, {compared} expressions compared, slowest {slowest:?}; {searched} searches \
         with short limits, {beyond:?} beyond them at most"
    );
}
