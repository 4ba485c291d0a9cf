//! Measures the cluster engine: bytes per file, load rate, search times and removal times.
//!
//! `TEST_CLICKHOUSE_URL=… [TEST_CLICKHOUSE_CLUSTER=…] cargo bench -p buckets --bench cluster -- FILES`

use std::time::{Duration, Instant};

use buckets::engine::{
    Cluster, ClusterIndex, EngineError, FileIndex, Limits, Mode, NamedBucket, NewFile,
};
use buckets::model::{
    Attribute, Attributes, Expression, FileQuery, Keywords, Matching, Order, Position,
};

const GENERATION: u32 = 4_000_000_001;
const BATCH: u64 = 50_000;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(url) = std::env::var("TEST_CLICKHOUSE_URL") else {
        eprintln!("left out: TEST_CLICKHOUSE_URL is not set");
        return Ok(());
    };
    let named = std::env::args().filter_map(|argument| argument.parse().ok()).next();
    let files: u64 = named.unwrap_or(1_000_000);
    let cluster = Cluster::connect(&url, std::env::var("TEST_CLICKHOUSE_CLUSTER").ok().as_deref())?;
    cluster.remove(GENERATION, &())?;
    let index = cluster.open_or_create(GENERATION)?;
    load(&index, files)?;
    searches(&index, files)?;
    timed("removal of a bucket, down to the disk", || {
        index.writer(512)?.remove(1, 7, None, None).map(drop)
    })?;
    cluster.remove(GENERATION, &())?;
    Ok(())
}

/// Files of 20,000 buckets in listing order.
fn load(index: &ClusterIndex, files: u64) -> Result<(), EngineError> {
    let mut words = Words(1);
    let mut bytes = 0;
    let mut writer = index.writer(512)?;
    let started = Instant::now();
    writer.begin(1)?;
    let mut first = 0;
    while first < files {
        let last = (first + BATCH).min(files);
        let batch: Vec<NewFile> =
            (first..last).map(|n| words.file(n * 20_000 / files + 1)).collect();
        bytes += batch.iter().map(|file| file.path.len() as u64).sum::<u64>();
        writer.add(&batch)?;
        first = last;
    }
    writer.checkpoint(String::new())?;
    let loaded = started.elapsed().as_secs_f64();
    let buckets =
        (1..=20_000).map(|id| NamedBucket { id, truncated: false, partial: false }).collect();
    let counts = writer.publish(Mode::Replace, buckets, 1)?;
    drop(writer);
    let published = started.elapsed().as_secs_f64() - loaded;
    index.refresh()?;
    let disk = index.summary().disk_bytes;
    println!("{} files, {} duplicates, {bytes} bytes of paths", counts.added, counts.duplicates);
    println!("load {loaded:.1} s, {:.0} files/s; publish {published:.1} s", files as f64 / loaded);
    println!("{disk} bytes on disk, {:.1} per file", disk as f64 / files as f64);
    Ok(())
}

fn searches(index: &ClusterIndex, files: u64) -> Result<(), Box<dyn std::error::Error>> {
    let words = |text: &str| -> Result<FileQuery, Box<dyn std::error::Error>> {
        let matching = Matching::Words(Keywords::parse(text)?);
        Ok(FileQuery { matching, ..FileQuery::default() })
    };
    let expression = |text: &str| -> Result<FileQuery, Box<dyn std::error::Error>> {
        let matching = Matching::Expression(Expression::parse(text, true)?.into());
        Ok(FileQuery { matching, ..FileQuery::default() })
    };
    let deep = FileQuery { position: Position::Offset(files / 2), ..FileQuery::default() };
    let newest =
        FileQuery { order: Order::By(Attribute::LastModified), descending: true, ..words("w1")? };
    let cases = [
        ("common word", words("w1")?),
        ("rare word", words("w19999")?),
        ("two words", words("w1 w2")?),
        ("common word in a bucket", FileQuery { buckets: Some(vec![77]), ..words("w1")? }),
        ("common word in paths", FileQuery { full_path: true, ..words("w1")? }),
        ("common word, newest first", newest),
        ("extension", FileQuery { extensions: vec!["sql".to_owned()], ..FileQuery::default() }),
        ("offset of half of all files", deep),
        ("selective expression", expression("w1999[0-9].*sql")?),
        ("unselective expression", expression("w1[0-9]*_")?),
    ];
    for (name, query) in cases {
        let mut times = Vec::new();
        let mut total = 0;
        for round in 0..ROUNDS {
            // The limit varies, because totals of equal conditions are cached.
            let from = Some(-1 - round as i64);
            let mut query = query.clone();
            query.intervals[Attribute::Size].from = from;
            let started = Instant::now();
            total = index.search(&query, &limits())?.total;
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
        }
        times.sort_by(f64::total_cmp);
        println!("{name}: {total} files, median {:.0} ms", times[ROUNDS / 2]);
    }
    for (name, query) in [("a common word", words("w1")?), ("all files", FileQuery::default())] {
        let facets = format!("counts of {name} by bucket and extension");
        timed(&facets, || index.facets(&query, &limits()).map(drop))?;
        let download = format!("100,000 files of {name}, as a download");
        let query = FileQuery { limit: 100_000, ..query };
        timed(&download, || {
            let mut list = index.list(&query, &limits())?;
            while list.next(1_000, &limits())?.is_some() {}
            Ok(())
        })?;
    }
    Ok(())
}

fn timed(name: &str, work: impl FnOnce() -> Result<(), EngineError>) -> Result<(), EngineError> {
    let started = Instant::now();
    work()?;
    println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn limits() -> Limits {
    Limits::until(Instant::now() + Duration::from_secs(300), 2)
}

/// Words of very different frequency from a simple pseudo-random generator.
struct Words(u64);

impl Words {
    fn next(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// Smaller numbers are more frequent.
    fn word(&mut self) -> u64 {
        let reach = 1 + self.next(20_000);
        self.next(reach)
    }

    fn file(&mut self, bucket: u64) -> NewFile {
        const ENDINGS: [&str; 8] = ["jpg", "png", "txt", "pdf", "tar.gz", "sql", "html", "json"];
        let ending = ENDINGS[self.next(8) as usize];
        let folder = format!("f{}/w{}", self.next(40), self.next(200));
        let name = format!("w{}_w{}-{:08}", self.word(), self.word(), self.next(100_000_000));
        NewFile {
            bucket,
            kind: bucket % 5,
            path: format!("{folder}/{name}.{ending}"),
            attributes: Attributes::from_fn(|attribute| match attribute {
                Attribute::Size => self.next(10_000_000) as i64,
                Attribute::LastModified => 1_500_000_000 + self.next(200_000_000) as i64,
            }),
            is_changed: false,
        }
    }
}
