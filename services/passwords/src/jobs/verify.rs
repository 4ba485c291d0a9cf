//! Reads a corpus file whole and reports every bucket that is not as it was written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use batch::{Output, ProgressReporter, Unit};
use domain::HashPrefix;
use serde::Serialize;

use super::pipeline::{Crew, in_order};
use crate::model::Bucket;
use crate::model::header::lower_hex;
use crate::model::index::{PREFIXES, bucket_digest};
use crate::store::corpus::BucketProblem;
use crate::store::{Corpus, CorpusError};

/// Prefixes that a thread checks at once.
const BLOCK: usize = 256;
/// Damaged prefixes that are printed.
const PRINTED: usize = 20;
/// Exit code for a damaged corpus.
const DAMAGED: u8 = 10;

/// Options of `verify`.
#[derive(Clone, Debug, clap::Args)]
pub struct Verify {
    /// Check header and index only
    #[arg(long)]
    pub quick: bool,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
    /// The corpus file
    pub file: PathBuf,
}

#[derive(Debug, Default, Serialize)]
struct Findings {
    file: PathBuf,
    good: bool,
    corpus_id: Option<String>,
    entries: Option<u64>,
    buckets_checked: usize,
    damaged: usize,
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
struct Problem {
    prefix: Option<String>,
    reason: String,
}

impl Verify {
    /// Checks the file and reports. Exit code 0 good, 10 damaged; unreadable is an error.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn run(&self, threads: usize) -> anyhow::Result<ExitCode> {
        let findings = self.findings(threads)?;
        Output::from_json_flag(self.json).print(&findings, &findings)?;
        Ok(if findings.good { ExitCode::SUCCESS } else { ExitCode::from(DAMAGED) })
    }

    fn findings(&self, threads: usize) -> anyhow::Result<Findings> {
        let mut findings = Findings { file: self.file.clone(), ..Findings::default() };
        let corpus = match Corpus::open(&self.file, 0) {
            Ok(corpus) => corpus,
            Err(error @ CorpusError::Unreadable { .. }) => return Err(error.into()),
            Err(error) => {
                findings.add(None, error.to_string());
                return Ok(findings);
            }
        };
        findings.corpus_id = Some(lower_hex(&corpus.header().corpus_id));
        findings.entries = Some(corpus.header().entries);
        if !self.quick {
            check_buckets(&corpus, &mut findings, threads)?;
        }
        findings.good = findings.damaged == 0;
        Ok(findings)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            let prefix = problem.prefix.as_deref().unwrap_or("file");
            writeln!(f, "{prefix}: {}", problem.reason)?;
        }
        match self.good {
            true => write!(f, "good: {} entries", self.entries.unwrap_or_default()),
            false => write!(f, "damaged: {} problems", self.damaged),
        }
    }
}

impl Findings {
    fn add(&mut self, prefix: Option<u32>, reason: String) {
        self.damaged += 1;
        if self.problems.len() < PRINTED {
            let prefix = prefix.map(|prefix| format!("{prefix:05X}"));
            self.problems.push(Problem { prefix, reason });
        }
    }
}

/// What a block of buckets adds up to.
struct Sums {
    entries: u64,
    smallest: u32,
    largest: u32,
    problems: Vec<(u32, BucketProblem)>,
}

fn check_buckets(corpus: &Corpus, findings: &mut Findings, threads: usize) -> anyhow::Result<()> {
    let progress =
        ProgressReporter::new("verifying", Unit::Bytes, Some(corpus.header().file_length));
    let mut blocks = (0..PREFIXES).step_by(BLOCK);
    let (mut entries, mut smallest, mut largest) = (0, u32::MAX, 0);
    in_order(
        Crew::of(threads),
        || Ok(blocks.next()),
        |first| Ok(check_block(corpus, first, &progress)),
        |sums| {
            entries += sums.entries;
            smallest = smallest.min(sums.smallest);
            largest = largest.max(sums.largest);
            findings.buckets_checked += BLOCK;
            for (prefix, problem) in sums.problems {
                findings.add(Some(prefix), problem.to_string());
            }
            Ok(())
        },
    )?;
    let header = corpus.header();
    let stated = (header.entries, header.smallest_bucket, header.largest_bucket);
    if findings.damaged == 0 && stated != (entries, smallest, largest) {
        findings.add(None, "the totals in the header do not fit the buckets".to_owned());
    }
    Ok(())
}

fn check_block(corpus: &Corpus, first: usize, progress: &ProgressReporter) -> Sums {
    let mut sums = Sums { entries: 0, smallest: u32::MAX, largest: 0, problems: Vec::new() };
    let mut buffer = Vec::new();
    let last = (first + BLOCK).min(PREFIXES);
    let bytes = match corpus.stretch(first, last, &mut buffer) {
        Ok(bytes) => bytes,
        Err(error) => {
            sums.problems.push((first as u32, error.into()));
            return sums;
        }
    };
    progress.add(bytes.len() as u64);
    let begin = corpus.index().offset(first);
    for value in first..last {
        let from = (corpus.index().offset(value) - begin) as usize;
        let to = (corpus.index().offset(value + 1) - begin) as usize;
        match check_bucket(corpus, value as u32, &bytes[from..to]) {
            Ok(entries) => {
                sums.entries += u64::from(entries);
                sums.smallest = sums.smallest.min(entries);
                sums.largest = sums.largest.max(entries);
            }
            Err(problem) => sums.problems.push((value as u32, problem)),
        }
    }
    sums
}

fn check_bucket(corpus: &Corpus, value: u32, bytes: &[u8]) -> Result<u32, BucketProblem> {
    let digest = HashPrefix::from_value(value).map(|prefix| corpus.digest(prefix));
    if digest != Some(bucket_digest(bytes)) {
        return Err(BucketProblem::Digest);
    }
    Ok(Bucket::parse(corpus.kind(), bytes)?.entries(value)?.len() as u32)
}

/// Opens a corpus and compares random buckets before it is activated.
///
/// # Errors
/// See [`CorpusError`].
pub fn quick(path: &Path) -> Result<Corpus, CorpusError> {
    let corpus = Corpus::open(path, 0)?;
    corpus.spot_check()?;
    Ok(corpus)
}
