//! Reports of builds, merges and exports.

use std::path::PathBuf;

use serde::Serialize;

use super::tally::Tally;
use crate::model::{Header, lower_hex};

/// The corpus file in a report.
#[derive(Debug, Serialize)]
pub struct CorpusFile {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// The id of the corpus, which depends only on its content.
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

/// A new corpus.
#[derive(Debug, Serialize)]
pub struct Built {
    /// The file of the corpus.
    #[serde(flatten)]
    pub file: CorpusFile,
    /// The number of entries in the smallest bucket.
    pub smallest_bucket: u32,
    /// The number of entries in the largest bucket.
    pub largest_bucket: u32,
    /// Peak memory of the process in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Whether `CURRENT` refers to this corpus.
    pub activated: bool,
    /// The totals of the inputs.
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

/// A corpus that was exported.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// The id of the corpus. A corpus built from the export has the same id.
    pub corpus_id: String,
    /// The written file or folder.
    pub path: PathBuf,
    /// The number of digests.
    pub entries: u64,
    /// The number of non-empty prefixes.
    pub prefixes: u32,
    /// The changes in the folder, if the corpus was exported to a folder.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// The changes in an exported folder, as numbers of ranges.
#[derive(Debug, Default, Serialize)]
pub struct Changes {
    /// The number of ranges that were written.
    pub written: u32,
    /// The number of ranges that were kept.
    pub unchanged: u32,
    /// The number of ranges that were removed because they are empty now.
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
