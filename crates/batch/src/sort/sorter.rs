//! Sorts and deduplicates pairs of a key and a string using bounded memory.

use std::io;
use std::path::PathBuf;

use super::keyed_text::{KeyedText, write};
use super::merge::Merge;
use super::record::Source;
use super::run::{Run, RunReader, RunWriter};
use crate::sizes::ByteSize;

/// Maximum file buffer size in bytes.
const BUFFER: usize = 256 * 1024;
/// Maximum number of runs to merge at once, which also limits the number of open files.
const WIDTH: usize = 64;
/// Minimum memory budget in bytes.
const LEAST_BUDGET: usize = 64 * 1024;

/// A record in memory, which refers to its string by offset.
#[derive(Clone, Copy)]
struct Entry {
    key: i64,
    at: u32,
}

/// Collects pairs of a key and a string, then returns them without duplicates, ordered by key and
/// string.
///
/// Loaders use hashes as keys so that they update a table in key order, page by page. Records stay
/// in memory up to a budget. Once this is used up, sorted runs are written to unnamed files, up to
/// 64 of which are merged at once. All strings share one buffer, and are only compared if their
/// keys are equal.
///
/// ```
/// use batch::{ByteSize, Sorter};
///
/// let mut sorter = Sorter::new(std::env::temp_dir(), ByteSize::mib(1));
/// for (key, text) in [(2, "b"), (1, "c"), (2, "a"), (2, "b")] {
///     sorter.push(key, text.as_bytes())?;
/// }
/// let mut sorted = sorter.finish()?;
/// let mut found = Vec::new();
/// while let Some((key, text)) = sorted.next_record()? {
///     found.push((key, String::from_utf8_lossy(text).into_owned()));
/// }
/// assert_eq!(found, [(1, "c".to_owned()), (2, "a".to_owned()), (2, "b".to_owned())]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Sorter {
    folder: PathBuf,
    budget: usize,
    texts: Vec<u8>,
    entries: Vec<Entry>,
    /// The runs on disk, each with the number of times that it has been merged. The numbers are in
    /// descending order.
    runs: Vec<(u32, Run<KeyedText>)>,
}

impl Sorter {
    /// Creates a sorter that keeps about `budget` bytes in memory (64 KiB to 4 GiB), and spills the
    /// rest to unnamed files in `folder`.
    pub fn new(folder: PathBuf, budget: ByteSize) -> Self {
        let budget = budget.in_memory().clamp(LEAST_BUDGET, u32::MAX as usize);
        Self { folder, budget, texts: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Returns an error if the string is longer than 65,535 bytes, or if the disk is full or fails.
    pub fn push(&mut self, key: i64, text: &[u8]) -> io::Result<()> {
        let size = u16::try_from(text.len()).map_err(io::Error::other)?;
        let entry = size_of::<Entry>();
        let length = self.texts.len() + text.len() + 2;
        let is_full = length > self.texts.capacity()
            || self.entries.len() == self.entries.capacity()
            || length + (self.entries.len() + 1) * entry > self.budget;
        if is_full && !self.entries.is_empty() {
            self.spill()?;
        }
        // Merging frees the memory, so we might have to allocate it again.
        if self.texts.capacity() == 0 {
            // If the vectors grew by doubling, they would exceed the budget.
            self.texts.reserve_exact(self.budget * 3 / 5);
            self.entries.reserve_exact(self.budget * 2 / 5 / entry);
        }
        let at = u32::try_from(self.texts.len()).map_err(io::Error::other)?;
        self.texts.extend_from_slice(&size.to_le_bytes());
        self.texts.extend_from_slice(text);
        self.entries.push(Entry { key, at });
        Ok(())
    }

    /// Finishes adding records. Unless all records are in memory, frees the memory.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn finish(mut self) -> io::Result<Sorted> {
        if self.runs.is_empty() {
            self.sort();
            let memory = Memory { texts: self.texts, entries: self.entries, next: 0 };
            let merge = Merge::new([Texts::Memory(memory)])?;
            return Ok(Sorted { merge, in_memory: true });
        }
        self.spill()?;
        (self.texts, self.entries) = (Vec::new(), Vec::new());
        while self.runs.len() > WIDTH {
            // The last runs are the smallest. Merge just enough of them to end up with `WIDTH`
            // runs, but never more than `WIDTH` at once.
            self.merge_from((self.runs.len() - WIDTH).max(WIDTH - 1))?;
        }
        let runs = std::mem::take(&mut self.runs);
        Ok(Sorted { merge: self.merged(runs)?, in_memory: false })
    }

    fn sort(&mut self) {
        let texts = &self.texts;
        // Keys are hashes that rarely collide, so by sorting on the key first we seldom have to
        // look at a string.
        self.entries.sort_unstable_by_key(|entry| entry.key);
        for same_key in self.entries.chunk_by_mut(|a, b| a.key == b.key) {
            if same_key.len() > 1 {
                same_key.sort_unstable_by_key(|entry| text_at(texts, entry.at));
            }
        }
        self.entries
            .dedup_by(|a, b| a.key == b.key && text_at(texts, a.at) == text_at(texts, b.at));
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut run = self.new_run()?;
        for entry in &self.entries {
            run.push_with(|out| write(out, entry.key, text_at(&self.texts, entry.at)))?;
        }
        self.entries.clear();
        self.texts.clear();
        self.runs.push((0, run.finish()?));
        while let Some(start) = self.runs.len().checked_sub(WIDTH)
            && self.runs[start].0 == self.runs[self.runs.len() - 1].0
        {
            self.merge_from(start)?;
        }
        Ok(())
    }

    /// Merges all runs from `start` on into one. The merge buffers use the memory budget of the
    /// records.
    fn merge_from(&mut self, start: usize) -> io::Result<()> {
        (self.texts, self.entries) = (Vec::new(), Vec::new());
        let runs = self.runs.split_off(start);
        let times = runs.first().map_or(0, |(times, _)| times + 1);
        let mut merge = self.merged(runs)?;
        let mut run = self.new_run()?;
        while let Some(record) = merge.next_distinct()? {
            run.push(record)?;
        }
        self.runs.push((times, run.finish()?));
        Ok(())
    }

    fn merged(&self, runs: Vec<(u32, Run<KeyedText>)>) -> io::Result<Merge<Texts>> {
        Merge::new(runs.into_iter().map(|(_, run)| Texts::File(run.read(self.buffer()))))
    }

    fn new_run(&self) -> io::Result<RunWriter<KeyedText>> {
        RunWriter::create_in(&self.folder, self.buffer())
    }

    /// Returns the size of a file buffer. The budget is split between the files being merged and
    /// the one being written.
    fn buffer(&self) -> usize {
        (self.budget / (WIDTH + 1)).min(BUFFER)
    }
}

fn text_at(texts: &[u8], at: u32) -> &[u8] {
    let at = at as usize;
    let size = usize::from(u16::from_le_bytes([texts[at], texts[at + 1]]));
    &texts[at + 2..at + 2 + size]
}

struct Memory {
    texts: Vec<u8>,
    entries: Vec<Entry>,
    next: usize,
}

enum Texts {
    File(RunReader<KeyedText>),
    Memory(Memory),
}

impl Source for Texts {
    type Record = KeyedText;

    fn next(&mut self, record: &mut KeyedText) -> io::Result<bool> {
        match self {
            Self::File(run) => run.next(record),
            Self::Memory(memory) => {
                let Some(entry) = memory.entries.get(memory.next) else { return Ok(false) };
                memory.next += 1;
                record.key = entry.key;
                record.text.clear();
                record.text.extend_from_slice(text_at(&memory.texts, entry.at));
                Ok(true)
            }
        }
    }
}

/// The records from a [`Sorter`], ordered by key and string and without duplicates.
pub struct Sorted {
    merge: Merge<Texts>,
    in_memory: bool,
}

impl Sorted {
    /// Returns the next key and string, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the disk fails.
    pub fn next_record(&mut self) -> io::Result<Option<(i64, &[u8])>> {
        let record = self.merge.next_distinct()?;
        Ok(record.map(|record| (record.key, record.text.as_slice())))
    }

    /// Returns whether the records are in memory rather than on disk.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    type Records = Vec<(i64, Vec<u8>)>;

    fn sorted(records: &[(i64, Vec<u8>)], budget: ByteSize) -> Records {
        let mut sorter = Sorter::new(std::env::temp_dir(), budget);
        for (key, text) in records {
            sorter.push(*key, text).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        let mut found = Vec::new();
        while let Some((key, text)) = sorted.next_record().unwrap() {
            found.push((key, text.to_vec()));
        }
        found
    }

    fn distinct(records: &[(i64, Vec<u8>)]) -> Records {
        records.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn sorting_on_disk_and_in_memory_agree() {
        let records: Vec<_> = (0..40_000_i64)
            .map(|n| (n.wrapping_mul(0x5851_F42D_4C95_7F2D) >> 20, n.to_string().into_bytes()))
            .chain((0..100).map(|n| (n, b"twice".to_vec())))
            .chain((0..100).map(|n| (n, b"twice".to_vec())))
            .collect();
        let expected = distinct(&records);
        assert_eq!(sorted(&records, ByteSize(0)), expected);
        assert_eq!(sorted(&records, ByteSize::mib(64)), expected);
    }

    #[test]
    fn a_first_record_equal_to_the_default_is_kept() {
        let records = [(0, Vec::new()), (0, Vec::new()), (0, b"a".to_vec())];
        assert_eq!(sorted(&records, ByteSize(0)), distinct(&records));
    }

    #[test]
    fn runs_after_a_merge_use_the_whole_budget() {
        let mut sorter = Sorter::new(std::env::temp_dir(), ByteSize(0));
        let most = LEAST_BUDGET * 2 / 5 / size_of::<Entry>();
        for n in 0..(WIDTH + 3) * most {
            sorter.push(n as i64, b"text").unwrap();
            assert!(sorter.entries.capacity() >= most, "record {n}");
        }
        let merged: Vec<u32> = sorter.runs.iter().map(|(times, _)| *times).collect();
        assert_eq!(merged, [1, 0, 0]);
    }

    #[test]
    fn thousands_of_runs_keep_few_files_open_and_buffers_within_the_budget() {
        // Each record is long enough to fill a run.
        let record = |n: i64| (n.wrapping_mul(0x5851_F42D_4C95_7F2D), [n as u8; 600]);
        let count = i64::try_from(WIDTH * (WIDTH + 2) + 5).unwrap();
        let mut sorter = Sorter::new(std::env::temp_dir(), ByteSize(0));
        sorter.budget = 1_000;
        for n in 0..count {
            let (key, text) = record(n);
            sorter.push(key, &text).unwrap();
            assert!(sorter.runs.len() < 3 * WIDTH);
        }
        assert!(sorter.buffer() * (WIDTH + 1) <= sorter.budget);
        let mut sorted = sorter.finish().unwrap();
        assert!(!sorted.is_in_memory() && sorted.merge.sources() <= WIDTH);
        let mut expected: Vec<_> = (0..count).collect();
        expected.sort_by_key(|n| record(*n).0);
        for n in expected {
            let (key, text) = record(n);
            assert_eq!(sorted.next_record().unwrap(), Some((key, text.as_slice())));
        }
        assert_eq!(sorted.next_record().unwrap(), None);
    }

    proptest! {
        #[test]
        fn a_sorter_behaves_like_an_ordered_set(
            records in proptest::collection::vec(
                (-3_i64..3, proptest::collection::vec(any::<u8>(), 0..3)),
                0..50,
            ),
        ) {
            prop_assert_eq!(sorted(&records, ByteSize(0)), distinct(&records));
        }
    }
}
