//! Measures searches of an index without HTTP: median times with warm caches in milliseconds, and
//! exact totals. Then measures some of them again while the slowest expression or a common literal
//! runs on all cores.
//!
//! Usage: search_times GENERATION_FOLDER [ROUNDS]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use buckets::engine::{EmbeddedIndex, EngineError, FileIndex, Limits};
use buckets::model::{Attribute, Expression, FileQuery, Keywords, Matching, Order, Position};

/// An expression without literal text, so that every name is read.
const SLOWEST: &str = r"(\w+[-_ ])+\w+x$";
/// Searches that are measured while another one is running.
const MEASURED: [&str; 4] =
    ["rare word", "word + bucket", "common word, first page", "literal: 4,000 hits"];

/// Searches whose files are also counted by bucket and by extension.
const COUNTED: [&str; 8] = [
    "rare word",
    "two words",
    "phrase",
    "common word, first page",
    "most common word, first page",
    "everything, first page",
    "literal: 450,000 hits",
    "expression: unselective",
];

fn words(text: &str) -> Result<FileQuery, Box<dyn std::error::Error>> {
    let matching = Matching::Words(Keywords::parse(text)?);
    Ok(FileQuery { matching, ..FileQuery::default() })
}

fn expression(text: &str) -> Result<FileQuery, Box<dyn std::error::Error>> {
    let matching = Matching::Expression(Arc::new(Expression::parse(text, true)?));
    Ok(FileQuery { matching, ..FileQuery::default() })
}

fn searches() -> Result<Vec<(&'static str, FileQuery)>, Box<dyn std::error::Error>> {
    let order = Order::By(Attribute::LastModified);
    let newest = |query: FileQuery| FileQuery { order, descending: true, ..query };
    Ok(vec![
        ("rare word", words("sensor777")?),
        ("two words", words("invoice sensor")?),
        ("phrase", words("\"invoice report\"")?),
        ("word + extension", FileQuery { extensions: vec!["sql".to_owned()], ..words("budget")? }),
        ("word + bucket", FileQuery { buckets: Some(vec![17]), ..words("image")? }),
        ("word with exclusion", words("weather -station")?),
        ("common word, first page", words("photo")?),
        ("common word, newest first", newest(words("photo")?)),
        ("most common word, first page", words("image")?),
        ("most common word, newest first", newest(words("image")?)),
        ("everything, first page", FileQuery::default()),
        (
            "everything, offset 900000",
            FileQuery { position: Position::Offset(900_000), ..FileQuery::default() },
        ),
        (
            "most common word, offset 900000",
            FileQuery { position: Position::Offset(900_000), ..words("image")? },
        ),
        (
            ".jpg newest first, offset 900000",
            FileQuery {
                extensions: vec!["jpg".to_owned()],
                position: Position::Offset(900_000),
                ..newest(FileQuery::default())
            },
        ),
        ("literal: rare", expression("ensor777")?),
        ("literal: 4,000 hits", expression("heme19")?),
        ("literal: 4,000 hits, at the start", expression("theme19.*")?),
        ("literal: 250,000 hits", expression("final")?),
        ("literal: 450,000 hits", expression("backup")?),
        ("literal: 450,000 hits, newest first", newest(expression("backup")?)),
        ("literal: most common", expression("image")?),
        ("literal of three characters", expression("sql")?),
        ("expression: an extension", expression(r".*\.sql")?),
        ("expression: selective", expression("sensor77[0-9]")?),
        ("expression: literal and extension", expression(r"backup.*\.sql$")?),
        ("expression: alternation", expression(r"\.(env|pem|tar\.gz)")?),
        (
            "expression: selective, path",
            FileQuery { full_path: true, ..expression(r"weather7\d7/")? },
        ),
        ("literal: path", FileQuery { full_path: true, ..expression("sensor777")? }),
        (
            "expression: unselective, path",
            FileQuery { full_path: true, ..expression(r"backup.*\.sql$")? },
        ),
        ("expression: end", expression(r".*backup.*\.tar\.gz")?),
        ("expression: dates", expression(".*2018[\\-_\\. ]11.*")?),
        ("expression: unselective", expression("[0-9]{4}")?),
        ("expression: every row judged", expression(r"^[a-z]*[^0-9]*\d+\.\w+$")?),
        ("expression: nested repetition", expression(SLOWEST)?),
        (
            "expression + extension",
            FileQuery { extensions: vec!["sql".to_owned()], ..expression("budget")? },
        ),
    ])
}

/// Runs a search. Returns its total.
type Run = fn(&EmbeddedIndex, &FileQuery, &Limits) -> Result<u64, EngineError>;

fn search(index: &EmbeddedIndex, query: &FileQuery, limits: &Limits) -> Result<u64, EngineError> {
    Ok(index.search(query, limits)?.total)
}

fn facets(index: &EmbeddedIndex, query: &FileQuery, limits: &Limits) -> Result<u64, EngineError> {
    Ok(index.facets(query, limits)?.total())
}

/// Returns the median and the worst time, and the total.
fn timed(
    index: &EmbeddedIndex,
    query: &FileQuery,
    rounds: usize,
    run: Run,
) -> Result<(f64, f64, u64), Box<dyn std::error::Error>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut times = Vec::new();
    let mut total = 0;
    for round in 0..rounds + 2 {
        let limits = Limits::until(Instant::now() + Duration::from_secs(120), threads);
        let started = Instant::now();
        total = run(index, query, &limits)?;
        if round >= 2 {
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times.last().copied().unwrap_or_default(), total))
}

/// Measures searches while another one runs repeatedly.
fn concurrent(
    index: &EmbeddedIndex,
    slow: &FileQuery,
    names: &[&str],
    rounds: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let done = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let limits = Limits::until(Instant::now() + Duration::from_secs(120), threads);
                if let Err(error) = index.search(slow, &limits) {
                    eprintln!("the slow expression failed: {error}");
                }
            }
        });
        let timed = searches().and_then(|searches| {
            for (name, query) in searches.iter().filter(|(name, _)| names.contains(name)) {
                let (median, worst, total) = timed(index, query, rounds, search)?;
                println!("{name:<36} {total:>10} {median:>9.2} {worst:>9.2}");
            }
            Ok(())
        });
        done.store(true, Ordering::Relaxed);
        timed
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give the folder of a generation")?;
    let rounds: usize = arguments.next().map_or(Ok(15), |text| text.parse())?;
    let opened = Instant::now();
    let index = EmbeddedIndex::open(Path::new(&folder))?;
    let files: u64 = index.summary().counts.values().sum();
    println!("{files} files, opened in {:.0} ms", opened.elapsed().as_secs_f64() * 1_000.0);
    println!("{:<36} {:>10} {:>9} {:>9}", "search", "results", "median ms", "worst ms");
    for (name, query) in searches()? {
        let (median, worst, total) = timed(&index, &query, rounds, search)?;
        println!("{name:<36} {total:>10} {median:>9.2} {worst:>9.2}");
    }
    println!("facets:");
    for (name, query) in searches()?.iter().filter(|(name, _)| COUNTED.contains(name)) {
        let (median, worst, total) = timed(&index, query, rounds, facets)?;
        println!("{name:<36} {total:>10} {median:>9.2} {worst:>9.2}");
    }
    println!("during an expression that is not narrowed:");
    concurrent(&index, &expression(SLOWEST)?, &MEASURED, rounds)?;
    println!("during a literal with 250,000 hits:");
    concurrent(&index, &expression("final")?, &MEASURED, rounds)
}
