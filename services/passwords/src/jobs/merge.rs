//! Merges a corpus and lists into a new corpus.

use std::path::{Path, PathBuf};

use anyhow::Context;
use batch::{ProgressReporter, Unit};
use domain::{Clock, HashPrefix};

use super::report::Built;
use super::source::{Lists, Source};
use crate::model::{Bucket, CountMerge, Entry, PREFIXES, bucket_digest, merge_sorted};
use crate::store::{BucketProblem, Corpus, CorpusWriter, Encoded, KindFolder, activate_all};

/// Number of bytes of the base to copy at once.
const COPIED_AT_ONCE: u64 = 1 << 20;

/// Merge options.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The corpus to start from. It isn't modified.
    pub base: PathBuf,
    /// How to combine counts when a digest is in both the base and the lists.
    pub mode: CountMerge,
    /// The inputs and their formats.
    pub lists: Lists,
}

impl Merge {
    /// Merges the base and the lists into a new corpus.
    ///
    /// # Errors
    /// Returns an error if the base is damaged, the input is invalid or empty, the disk is full, or
    /// another build is running.
    pub fn run(&self, data_dir: &Path, clock: &dyn Clock) -> anyhow::Result<Built> {
        let base = Corpus::open(&self.base, 0)?;
        let kind = base.kind();
        // Counts from several inputs are combined in the same way as with the base.
        let mut source = Source::new(&self.lists, &[kind], self.mode, data_dir)?;
        if self.lists.note.is_none() {
            source.note = joined_note(&base.header().note, &source.note);
        }
        let folder = KindFolder::new(data_dir, kind);
        let lock = folder.lock()?;
        source.clear_up()?;
        let partitioned = source.partition_if_needed()?;
        let (writer, tally) = source.with_retry(partitioned.as_ref(), |entries| {
            let mut walk = Walk::new(&base, CorpusWriter::create(&folder, &lock)?, self.mode);
            let tally = entries.read(kind, Ok, |list| walk.add(&list))?;
            source.require_digests(kind, walk.has_additions, tally)?;
            walk.copy_to(PREFIXES)?;
            walk.progress.finish();
            Ok((walk.writer, tally))
        })?;
        let (path, header) = writer.complete(&source.note, clock.unix())?.name()?;
        if self.lists.activate {
            activate_all([(&folder, &lock, path.as_path())].into_iter())?;
        }
        Ok(Built::new(path, &header, self.lists.activate, tally))
    }
}

fn joined_note(old: &str, new: &str) -> String {
    if old.is_empty() { new.to_owned() } else { format!("{old} + {new}") }
}

/// Walks the base and the additions in lockstep, in prefix order.
struct Walk<'a> {
    base: &'a Corpus,
    writer: CorpusWriter,
    mode: CountMerge,
    has_additions: bool,
    next: usize,
    buffer: Vec<u8>,
    progress: ProgressReporter,
}

impl<'a> Walk<'a> {
    fn new(base: &'a Corpus, writer: CorpusWriter, mode: CountMerge) -> Self {
        let progress =
            ProgressReporter::new("merging", Unit::Bytes, Some(base.header().file_length));
        let (has_additions, next, buffer) = (false, 0, Vec::new());
        Self { base, writer, mode, has_additions, next, buffer, progress }
    }

    fn add(&mut self, additions: &[Entry]) -> anyhow::Result<()> {
        for additions in additions.chunk_by(|a, b| a.prefix() == b.prefix()) {
            let Some(first) = additions.first() else { continue };
            self.has_additions = true;
            let value = first.prefix();
            self.copy_to(value as usize)?;
            let old = self.old_entries(value).map_err(|cause| self.base.problem(value, cause))?;
            let merged = merge_sorted(&old, additions, self.mode);
            self.writer.append(&Encoded::of(self.base.kind(), &merged)?)?;
            self.next = value as usize + 1;
        }
        Ok(())
    }

    fn old_entries(&mut self, value: u32) -> Result<Vec<Entry>, BucketProblem> {
        let Some(prefix) = HashPrefix::from_value(value) else { return Ok(Vec::new()) };
        let bytes = self.base.sound_bytes(prefix, &mut self.buffer)?;
        self.progress.add(bytes.len() as u64);
        Ok(Bucket::parse(self.base.kind(), bytes)?.entries(value)?)
    }

    /// Copies the base's buckets up to `end` unchanged, after checking their digests.
    fn copy_to(&mut self, end: usize) -> anyhow::Result<()> {
        let index = self.base.index();
        while self.next < end {
            let begin = index.offset(self.next);
            let fits = |last: usize| index.offset(last) - begin <= COPIED_AT_ONCE;
            let last = (self.next + 1..=end).take_while(|last| fits(*last)).last();
            let last = last.unwrap_or(self.next + 1);
            let bytes = self.base.slice(self.next, last, &mut self.buffer);
            let bytes =
                bytes.with_context(|| format!("cannot read {}", self.base.path().display()))?;
            for value in self.next..last {
                let from = (index.offset(value) - begin) as usize;
                let to = (index.offset(value + 1) - begin) as usize;
                let Some(prefix) = HashPrefix::from_value(value as u32) else { continue };
                let (bucket, digest) = (&bytes[from..to], index.digest(prefix));
                if bucket_digest(bucket) != digest {
                    return Err(self.base.problem(value as u32, BucketProblem::Digest).into());
                }
                self.writer.copy(value as u32, bucket, digest)?;
            }
            self.progress.add(bytes.len() as u64);
            self.next = last;
        }
        Ok(())
    }
}
