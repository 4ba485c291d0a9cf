//! Times searches of an index without HTTP: warm medians in milliseconds, with exact totals.
//!
//! Usage: search_times GENERATION_FOLDER [ROUNDS]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use buckets::engine::{EmbeddedIndex, FileIndex, Limits};
use buckets::model::{Expression, FileQuery, Keywords, Matching, Order, Position};

fn words(text: &str) -> Result<FileQuery, Box<dyn std::error::Error>> {
    let matching = Matching::Words(Keywords::parse(text)?);
    Ok(FileQuery { matching, ..FileQuery::default() })
}

fn expression(text: &str) -> Result<FileQuery, Box<dyn std::error::Error>> {
    let matching = Matching::Expression(Arc::new(Expression::parse(text, true)?));
    Ok(FileQuery { matching, ..FileQuery::default() })
}

fn searches() -> Result<Vec<(&'static str, FileQuery)>, Box<dyn std::error::Error>> {
    let newest =
        |query: FileQuery| FileQuery { order: Order::LastModified, descending: true, ..query };
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
        ("literal: less rare", expression("eather77")?),
        ("literal: common", expression("backup")?),
        ("literal: common, newest first", newest(expression("backup")?)),
        ("literal: most common", expression("image")?),
        ("literal of three characters", expression("sql")?),
        ("expression: an extension", expression(r".*\.sql")?),
        ("expression: selective", expression("sensor77[0-9]")?),
        (
            "expression: selective, path",
            FileQuery { full_path: true, ..expression(r"weather7\d7/")? },
        ),
        ("expression: end", expression(r".*backup.*\.tar\.gz")?),
        ("expression: dates", expression(".*2018[\\-_\\. ]11.*")?),
        ("expression: unselective", expression("[0-9]{4}")?),
        ("expression: every row judged", expression(r"^[a-z]*[^0-9]*\d+\.\w+$")?),
        ("expression: nested repetition", expression(r"(\w+[-_ ])+\w+x$")?),
        (
            "expression + extension",
            FileQuery { extensions: vec!["sql".to_owned()], ..expression("budget")? },
        ),
    ])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give the folder of a generation")?;
    let rounds: usize = arguments.next().map_or(Ok(15), |text| text.parse())?;
    let opened = Instant::now();
    let index = EmbeddedIndex::open(Path::new(&folder))?;
    let files: u64 = index.summary().counts.values().sum();
    println!("{files} files, opened in {:.0} ms", opened.elapsed().as_secs_f64() * 1_000.0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{:<36} {:>10} {:>9} {:>9}", "search", "results", "median ms", "worst ms");
    for (name, query) in searches()? {
        let mut times = Vec::new();
        let mut total = 0;
        for round in 0..rounds + 2 {
            let limits = Limits::until(Instant::now() + Duration::from_secs(120), threads);
            let started = Instant::now();
            total = index.search(&query, &limits)?.total;
            if round >= 2 {
                times.push(started.elapsed().as_secs_f64() * 1_000.0);
            }
        }
        times.sort_by(f64::total_cmp);
        let worst = times.last().copied().unwrap_or_default();
        println!("{name:<36} {total:>10} {:>9.2} {worst:>9.2}", times[times.len() / 2]);
    }
    Ok(())
}
