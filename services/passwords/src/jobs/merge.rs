//! Unites an old corpus with more lists into a new one.

use std::path::{Path, PathBuf};

use anyhow::Context;
use batch::{Output, ProgressReporter, Unit};
use domain::{Clock, HashPrefix};

use super::build::{Lists, Source};
use super::report::Built;
use crate::model::entry::{Unite, unite_sorted};
use crate::model::index::PREFIXES;
use crate::model::{Bucket, Entry};
use crate::store::corpus::BucketProblem;
use crate::store::writer::Encoded;
use crate::store::{Corpus, CorpusWriter, KindFolder};

/// How much of the base is copied at once.
const STRETCH: u64 = 1 << 20;

/// Options of `merge`.
#[derive(Clone, Debug, clap::Args)]
pub struct Merge {
    /// The old corpus, which stays as it is
    #[arg(long, value_name = "FILE")]
    pub base: PathBuf,
    /// What happens to the count of a digest that both have
    #[arg(long, value_enum, default_value = "sum")]
    pub mode: Unite,
    /// What is read and how
    #[command(flatten)]
    pub lists: Lists,
}

impl Merge {
    /// Merges and reports the new corpus.
    ///
    /// # Errors
    /// A damaged base, bad input, a full disk, or another build that is under way.
    pub fn run(&self, data_dir: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let base = Corpus::open(&self.base, 0)?;
        let kind = base.kind();
        // The inputs unite among themselves as they do with the base.
        let mut source = Source::new(&self.lists, &[kind], self.mode, data_dir)?;
        if self.lists.note.is_none() {
            source.note = joined_note(&base.header().note, &source.note);
        }
        let folder = KindFolder::new(data_dir, kind);
        let lock = folder.lock()?;
        let spread = source.spread_if_needed()?;
        let (writer, tally) = source.with_retry(spread.as_ref(), |entries| {
            let mut walk = Walk::new(&base, CorpusWriter::create(&folder, &lock)?, self.mode);
            let tally = entries.read(kind, Ok, |list| walk.add(&list))?;
            walk.copy_to(PREFIXES)?;
            Ok((walk.writer, tally))
        })?;
        let (path, header) = writer.finish(&source.note, clock.unix())?;
        if self.lists.activate {
            folder.activate(&path, &lock)?;
        }
        Built::new(path, &header, self.lists.activate, tally)
            .print(Output::from_json_flag(self.lists.json))?;
        Ok(())
    }
}

fn joined_note(old: &str, new: &str) -> String {
    if old.is_empty() { new.to_owned() } else { format!("{old} + {new}") }
}

/// Goes through base and additions together in prefix order.
struct Walk<'a> {
    base: &'a Corpus,
    writer: CorpusWriter,
    mode: Unite,
    next: usize,
    buffer: Vec<u8>,
    progress: ProgressReporter,
}

impl<'a> Walk<'a> {
    fn new(base: &'a Corpus, writer: CorpusWriter, mode: Unite) -> Self {
        let progress =
            ProgressReporter::new("merging", Unit::Bytes, Some(base.header().file_length));
        Self { base, writer, mode, next: 0, buffer: Vec::new(), progress }
    }

    fn add(&mut self, additions: &[Entry]) -> anyhow::Result<()> {
        for additions in additions.chunk_by(|a, b| a.prefix() == b.prefix()) {
            let Some(first) = additions.first() else { continue };
            let value = first.prefix();
            self.copy_to(value as usize)?;
            let old = self.old_entries(value).map_err(|cause| self.base.problem(value, cause))?;
            let united = unite_sorted(&old, additions, self.mode);
            self.writer.append(&Encoded::of(self.base.kind(), &united)?)?;
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

    /// Copies buckets as they are, with their digests.
    fn copy_to(&mut self, end: usize) -> anyhow::Result<()> {
        let index = self.base.index();
        while self.next < end {
            let begin = index.offset(self.next);
            let fits = |last: usize| index.offset(last) - begin <= STRETCH;
            let last = (self.next + 1..=end).take_while(|last| fits(*last)).last();
            let last = last.unwrap_or(self.next + 1);
            let bytes = self.base.stretch(self.next, last, &mut self.buffer);
            let bytes =
                bytes.with_context(|| format!("cannot read {}", self.base.path().display()))?;
            for value in self.next..last {
                let from = (index.offset(value) - begin) as usize;
                let to = (index.offset(value + 1) - begin) as usize;
                let Some(prefix) = HashPrefix::from_value(value as u32) else { continue };
                self.writer.copy(value as u32, &bytes[from..to], index.digest(prefix))?;
            }
            self.progress.add(bytes.len() as u64);
            self.next = last;
        }
        Ok(())
    }
}
