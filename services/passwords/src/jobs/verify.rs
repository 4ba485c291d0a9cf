//! Reads a whole corpus file and reports every damaged bucket.

use std::path::{Path, PathBuf};

use batch::{ProgressReporter, Unit};
use domain::HashPrefix;
use serde::Serialize;

use super::worker_pool::{WorkerPool, in_order};
use crate::model::{Bucket, PREFIXES, bucket_digest, lower_hex};
use crate::store::{BucketProblem, Corpus, CorpusError};

/// How many prefixes a thread checks at once.
const BLOCK: usize = 256;
/// Maximum number of problems to list.
const MOST_LISTED: usize = 20;

/// The result of a check.
#[derive(Debug, Default, Serialize)]
pub struct Findings {
    /// The corpus file.
    pub file: PathBuf,
    /// Whether the file is free of problems.
    pub good: bool,
    /// The corpus ID, which only depends on the content.
    pub corpus_id: Option<String>,
    /// The number of digests according to the header.
    pub entries: Option<u64>,
    /// Buckets read.
    pub buckets_checked: usize,
    /// The number of problems.
    pub damaged: usize,
    /// The first problems, up to a limit.
    pub problems: Vec<Problem>,
}

/// A damaged bucket, or a problem with the whole file.
#[derive(Debug, Serialize)]
pub struct Problem {
    /// The prefix, or `None` if the problem is with the whole file.
    pub prefix: Option<String>,
    /// The cause.
    pub reason: String,
}

/// Checks a file's header and index and, unless `quick` is true, every bucket.
///
/// # Errors
/// Returns an error if the file cannot be opened or read.
pub fn verify(file: &Path, quick: bool, threads: usize) -> anyhow::Result<Findings> {
    let mut findings = Findings { file: file.to_owned(), ..Findings::default() };
    let corpus = match Corpus::open(file, 0) {
        Ok(corpus) => corpus,
        Err(error @ CorpusError::Unreadable { .. }) => return Err(error.into()),
        Err(error) => {
            findings.add(None, error.to_string());
            return Ok(findings);
        }
    };
    findings.corpus_id = Some(lower_hex(&corpus.header().corpus_id));
    findings.entries = Some(corpus.header().entries);
    if !quick {
        check_buckets(&corpus, &mut findings, threads)?;
    }
    findings.good = findings.damaged == 0;
    Ok(findings)
}

impl Findings {
    fn add(&mut self, prefix: Option<u32>, reason: String) {
        self.damaged += 1;
        if self.problems.len() < MOST_LISTED {
            let prefix = prefix.map(|prefix| format!("{prefix:05X}"));
            self.problems.push(Problem { prefix, reason });
        }
    }
}

struct Totals {
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
        WorkerPool::of(threads),
        || Ok(blocks.next()),
        |first| Ok(check_block(corpus, first, &progress)),
        |totals| {
            entries += totals.entries;
            smallest = smallest.min(totals.smallest);
            largest = largest.max(totals.largest);
            findings.buckets_checked += BLOCK;
            for (prefix, problem) in totals.problems {
                findings.add(Some(prefix), problem.to_string());
            }
            Ok(())
        },
    )?;
    progress.finish();
    let header = corpus.header();
    let stated = (header.entries, header.smallest_bucket, header.largest_bucket);
    if findings.damaged == 0 && stated != (entries, smallest, largest) {
        findings.add(None, "the totals in the header do not match the buckets".to_owned());
    }
    Ok(())
}

fn check_block(corpus: &Corpus, first: usize, progress: &ProgressReporter) -> Totals {
    let mut totals = Totals { entries: 0, smallest: u32::MAX, largest: 0, problems: Vec::new() };
    let mut buffer = Vec::new();
    let last = (first + BLOCK).min(PREFIXES);
    let bytes = match corpus.slice(first, last, &mut buffer) {
        Ok(bytes) => bytes,
        Err(error) => {
            totals.problems.push((first as u32, error.into()));
            return totals;
        }
    };
    progress.add(bytes.len() as u64);
    let begin = corpus.index().offset(first);
    for value in first..last {
        let from = (corpus.index().offset(value) - begin) as usize;
        let to = (corpus.index().offset(value + 1) - begin) as usize;
        match check_bucket(corpus, value as u32, &bytes[from..to]) {
            Ok(entries) => {
                totals.entries += u64::from(entries);
                totals.smallest = totals.smallest.min(entries);
                totals.largest = totals.largest.max(entries);
            }
            Err(problem) => totals.problems.push((value as u32, problem)),
        }
    }
    totals
}

fn check_bucket(corpus: &Corpus, value: u32, bytes: &[u8]) -> Result<u32, BucketProblem> {
    let digest = HashPrefix::from_value(value).map(|prefix| corpus.digest(prefix));
    if digest != Some(bucket_digest(bytes)) {
        return Err(BucketProblem::Digest);
    }
    Ok(Bucket::parse(corpus.kind(), bytes)?.entries(value)?.len() as u32)
}
