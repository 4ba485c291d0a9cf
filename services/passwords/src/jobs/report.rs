//! What a build, merge or export tells when it is done.

use std::io;
use std::path::PathBuf;

use batch::Output;
use serde::Serialize;

use crate::model::Header;
use crate::model::header::lower_hex;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Lines, empty ones included.
    pub lines: u64,
    /// Lines with count 0: padding that someone saved.
    pub dropped: u64,
    /// Lines that are no entry, skipped because `--lenient` was given.
    pub skipped: u64,
    /// Passwords whose bytes are no text in the encoding.
    pub not_text: u64,
    /// Empty passwords.
    pub empty: u64,
}

impl Tally {
    /// Adds what another piece of input held.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.dropped += other.dropped;
        self.skipped += other.skipped;
        self.not_text += other.not_text;
        self.empty += other.empty;
    }
}

/// A new corpus.
#[derive(Debug, Serialize)]
pub struct Built {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// Same content, same id.
    pub corpus_id: String,
    /// Where the file lies.
    pub path: PathBuf,
    /// How many digests.
    pub entries: u64,
    /// Length of the file.
    pub bytes: u64,
    /// Entries of the smallest bucket.
    pub smallest_bucket: u32,
    /// Entries of the largest bucket.
    pub largest_bucket: u32,
    /// The most memory that the command ever took, in bytes, where the system tells it.
    pub peak_memory: Option<u64>,
    /// Whether `CURRENT` names it now.
    pub activated: bool,
    /// What was read.
    pub read: Tally,
}

impl Built {
    /// Describes a finished file.
    pub fn new(path: PathBuf, header: &Header, activated: bool, read: Tally) -> Self {
        Self {
            kind: header.kind.name(),
            corpus_id: lower_hex(&header.corpus_id),
            path,
            entries: header.entries,
            bytes: header.file_length,
            smallest_bucket: header.smallest_bucket,
            largest_bucket: header.largest_bucket,
            peak_memory: peak_memory(),
            activated,
            read,
        }
    }

    /// Prints the report: one JSON object a line, or the path after a sentence on standard error.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(&self, output: Output) -> io::Result<()> {
        let Tally { lines, dropped, skipped, not_text, empty } = self.read;
        output.note(format_args!(
            "{}: {} digests from {lines} lines ({dropped} with count 0, {skipped} skipped, \
             {not_text} not in the encoding, {empty} empty){}",
            self.kind,
            self.entries,
            if self.activated { ", activated" } else { "" }
        ));
        output.print(self, self.path.display())
    }
}

/// A corpus written as lists.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// `sha1` or `ntlm`.
    pub kind: &'static str,
    /// The id of the corpus; a build of the export has the same.
    pub corpus_id: String,
    /// The file or folder that was written.
    pub path: PathBuf,
    /// How many digests.
    pub entries: u64,
    /// How many prefixes have any.
    pub prefixes: u32,
}

impl Exported {
    /// Describes a finished export.
    pub fn new(path: PathBuf, header: &Header, prefixes: u32) -> Self {
        let corpus_id = lower_hex(&header.corpus_id);
        Self { kind: header.kind.name(), corpus_id, path, entries: header.entries, prefixes }
    }

    /// Prints the report: one JSON object a line, or the path after a sentence on standard error.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(&self, output: Output) -> io::Result<()> {
        output.note(format_args!(
            "{}: {} digests in {} prefixes",
            self.kind, self.entries, self.prefixes
        ));
        output.print(self, self.path.display())
    }
}

/// The high-water mark of resident memory, as Linux keeps it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
