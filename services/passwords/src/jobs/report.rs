//! Reports of builds, merges and exports.

use std::path::PathBuf;

use serde::Serialize;

use super::tally::Tally;
use crate::model::{Header, lower_hex};

/// The file of a corpus.
#[derive(Debug, Serialize)]
pub struct CorpusFile {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// Depends only on the content.
    pub corpus_id: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The number of digests.
    pub entries: u64,
    /// Length of the file.
    pub bytes: u64,
}

impl CorpusFile {
    /// Describes a finished file.
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
    /// Its file.
    #[serde(flatten)]
    pub file: CorpusFile,
    /// Entries of the smallest bucket.
    pub smallest_bucket: u32,
    /// Entries of the largest bucket.
    pub largest_bucket: u32,
    /// Peak memory of the process in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// True if `CURRENT` names it.
    pub activated: bool,
    /// The totals of the inputs.
    pub read: Tally,
}

impl Built {
    /// Describes a finished build.
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

/// A corpus written as lists.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// The id of the corpus. Building from the export gives the same id.
    pub corpus_id: String,
    /// The written file or folder.
    pub path: PathBuf,
    /// The number of digests.
    pub entries: u64,
    /// The number of non-empty prefixes.
    pub prefixes: u32,
    /// The changes in the folder, if it was exported to one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// The changes in an exported folder, in ranges.
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
    /// Describes a finished export.
    pub fn new(path: PathBuf, header: &Header, prefixes: u32) -> Self {
        let corpus_id = lower_hex(&header.corpus_id);
        let (kind, entries) = (header.kind.name(), header.entries);
        Self { kind, corpus_id, path, entries, prefixes, changes: None }
    }
}

/// The peak resident memory, as reported by Linux.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
