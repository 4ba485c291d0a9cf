//! Reports on builds, merges and exports.

use std::path::PathBuf;

use serde::Serialize;

use super::tally::Tally;
use crate::model::{Header, lower_hex};

/// The corpus file in a report.
#[derive(Debug, Serialize)]
pub struct CorpusFile {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// The corpus ID, which only depends on the content.
    pub corpus_id: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The number of digests.
    pub entries: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
}

impl CorpusFile {
    /// Describes a completed file.
    pub fn new(path: PathBuf, header: &Header) -> Self {
        Self {
            kind: header.kind.name(),
            corpus_id: lower_hex(&header.corpus_id),
            path,
            entries: header.entries,
            bytes: header.file_length,
        }
    }
}

/// The report on a new corpus.
#[derive(Debug, Serialize)]
pub struct Built {
    /// The corpus file.
    #[serde(flatten)]
    pub file: CorpusFile,
    /// Entries in the smallest bucket.
    pub smallest_bucket: u32,
    /// Entries in the largest bucket.
    pub largest_bucket: u32,
    /// The process's peak memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Whether `CURRENT` points to this corpus.
    pub activated: bool,
    /// Totals for the inputs.
    pub read: Tally,
}

impl Built {
    /// Describes a completed build.
    pub fn new(path: PathBuf, header: &Header, activated: bool, read: Tally) -> Self {
        Self {
            file: CorpusFile::new(path, header),
            smallest_bucket: header.smallest_bucket,
            largest_bucket: header.largest_bucket,
            peak_memory: peak_memory(),
            activated,
            read,
        }
    }
}

/// The report on an exported corpus.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// The corpus ID. Building a corpus from the export yields the same ID.
    pub corpus_id: String,
    /// The file or folder that was written.
    pub path: PathBuf,
    /// The number of digests.
    pub entries: u64,
    /// The number of non-empty prefixes.
    pub prefixes: u32,
    /// Changes in the folder, if the corpus was exported to one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// How many ranges changed in an exported folder.
#[derive(Debug, Default, Serialize)]
pub struct Changes {
    /// Ranges that were written.
    pub written: u32,
    /// Ranges that were kept.
    pub unchanged: u32,
    /// Ranges that were removed because they are empty now.
    pub removed: u32,
}

impl Exported {
    /// Describes a completed export.
    pub fn new(path: PathBuf, header: &Header, prefixes: u32) -> Self {
        let corpus_id = lower_hex(&header.corpus_id);
        let (kind, entries) = (header.kind.name(), header.entries);
        Self { kind, corpus_id, path, entries, prefixes, changes: None }
    }
}

/// Returns the peak resident memory in bytes, as reported by Linux.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
