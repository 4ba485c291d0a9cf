//! Sorting more records than memory holds: sorted runs on disk, merged as they are read.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::PathBuf;

/// A record in memory: its key and where its text lies.
#[derive(Clone, Copy)]
struct Entry {
    key: i64,
    at: u32,
}

/// Bytes of a buffer in front of a file, where memory allows.
const BUFFER: usize = 256 * 1024;

/// Runs that are merged at once, and so how many files of a size are open.
const WIDTH: usize = 64;

/// Collects records and gives them back by key, then by text, without repetitions.
pub struct Sorter {
    folder: PathBuf,
    budget: usize,
    texts: Vec<u8>,
    entries: Vec<Entry>,
    /// Runs on disk with how often they were merged, which nowhere increases.
    runs: Vec<(u32, File)>,
}

impl Sorter {
    /// Keeps about `budget` bytes in memory and the rest in unnamed files in `folder`, which vanish
    /// with the process.
    pub fn new(folder: PathBuf, budget: usize) -> Self {
        let budget = budget.clamp(64 * 1024, u32::MAX as usize);
        Self { folder, budget, texts: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Adds a record; a text has at most 65535 bytes.
    pub fn push(&mut self, key: i64, text: &[u8]) -> io::Result<()> {
        let size = u16::try_from(text.len()).map_err(io::Error::other)?;
        let entry = size_of::<Entry>();
        if self.texts.len() + text.len() + 2 + (self.entries.len() + 1) * entry > self.budget {
            self.spill()?;
        }
        if self.texts.capacity() == 0 {
            // Reserved once: growing by doubling would pass the budget.
            self.texts.reserve_exact(self.budget * 3 / 5);
            self.entries.reserve_exact(self.budget * 2 / 5 / entry);
        }
        let full = self.texts.len() + text.len() + 2 > self.texts.capacity()
            || self.entries.len() == self.entries.capacity();
        if full && !self.entries.is_empty() {
            self.spill()?;
        }
        let at = u32::try_from(self.texts.len()).map_err(io::Error::other)?;
        self.texts.extend_from_slice(&size.to_le_bytes());
        self.texts.extend_from_slice(text);
        self.entries.push(Entry { key, at });
        Ok(())
    }

    fn sort(&mut self) {
        let texts = &self.texts;
        // Keys are hashes and nearly always differ: sorting by them alone touches no text.
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
        let mut out = self.new_run()?;
        for entry in &self.entries {
            write(&mut out, entry.key, text_at(&self.texts, entry.at))?;
        }
        self.entries.clear();
        self.texts.clear();
        self.runs.push((0, rewound(out)?));
        while let Some(start) = self.runs.len().checked_sub(WIDTH)
            && self.runs[start].0 == self.runs[self.runs.len() - 1].0
        {
            self.merge_from(start)?;
        }
        Ok(())
    }

    /// Makes one run of the last ones, with buffers in the place of the records in memory.
    fn merge_from(&mut self, start: usize) -> io::Result<()> {
        (self.texts, self.entries) = (Vec::new(), Vec::new());
        let runs = self.runs.split_off(start);
        let times = runs.first().map_or(0, |(times, _)| times + 1);
        let mut merge = self.merged(runs)?;
        let mut out = self.new_run()?;
        while let Some((key, text)) = merge.next_record()? {
            write(&mut out, key, text)?;
        }
        self.runs.push((times, rewound(out)?));
        Ok(())
    }

    /// Ends collecting; memory is given back unless everything fitted into it.
    pub fn finish(mut self) -> io::Result<Merge> {
        if self.runs.is_empty() {
            self.sort();
            let memory = Memory { texts: self.texts, entries: self.entries, next: 0 };
            return Merge::new(vec![Run::Memory(memory)]);
        }
        self.spill()?;
        (self.texts, self.entries) = (Vec::new(), Vec::new());
        while self.runs.len() > WIDTH {
            // The last ones are the least, and no more of them than it takes.
            self.merge_from((self.runs.len() - WIDTH).max(WIDTH - 1))?;
        }
        let runs = std::mem::take(&mut self.runs);
        self.merged(runs)
    }

    fn merged(&self, runs: Vec<(u32, File)>) -> io::Result<Merge> {
        let files = runs.into_iter().map(|(_, file)| file);
        let buffered = |file| Run::File(BufReader::with_capacity(self.buffer(), file));
        Merge::new(files.map(buffered).collect())
    }

    fn new_run(&self) -> io::Result<BufWriter<File>> {
        Ok(BufWriter::with_capacity(self.buffer(), tempfile::tempfile_in(&self.folder)?))
    }

    /// The share of a file: as many as are merged and the one that is written take the budget at most.
    fn buffer(&self) -> usize {
        (self.budget / (WIDTH + 1)).min(BUFFER)
    }
}

fn write(out: &mut impl Write, key: i64, text: &[u8]) -> io::Result<()> {
    out.write_all(&key.to_le_bytes())?;
    out.write_all(&u16::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(text)
}

/// A written file, to be read from its start.
fn rewound(out: BufWriter<File>) -> io::Result<File> {
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
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

enum Run {
    File(BufReader<File>),
    Memory(Memory),
}

impl Run {
    /// Reads the next record into `text`; its key, or none at the end.
    fn read(&mut self, text: &mut Vec<u8>) -> io::Result<Option<i64>> {
        text.clear();
        match self {
            Self::Memory(memory) => {
                let Some(entry) = memory.entries.get(memory.next) else { return Ok(None) };
                memory.next += 1;
                text.extend_from_slice(text_at(&memory.texts, entry.at));
                Ok(Some(entry.key))
            }
            Self::File(file) => {
                let mut head = [0; 10];
                match file.read_exact(&mut head) {
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                    other => other?,
                }
                let (key, size) = head.split_at(8);
                let size = u16::from_le_bytes([size[0], size[1]]);
                text.resize(usize::from(size), 0);
                file.read_exact(text)?;
                Ok(Some(i64::from_le_bytes(key.try_into().map_err(io::Error::other)?)))
            }
        }
    }
}

/// The first record of a run that is not given out yet.
struct Head {
    key: i64,
    text: Vec<u8>,
    run: Run,
}

impl Ord for Head {
    /// The least record is the greatest head: a heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.key, &other.text).cmp(&(self.key, &self.text))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

/// Records by key, then by text, each once.
pub struct Merge {
    heads: BinaryHeap<Head>,
    last: Option<(i64, Vec<u8>)>,
    in_memory: bool,
}

impl Merge {
    fn new(runs: Vec<Run>) -> io::Result<Self> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        let in_memory = runs.iter().any(|run| matches!(run, Run::Memory(_)));
        for mut run in runs {
            let mut text = Vec::new();
            if let Some(key) = run.read(&mut text)? {
                heads.push(Head { key, text, run });
            }
        }
        Ok(Self { heads, last: None, in_memory })
    }

    /// Whether the records lie in memory rather than on disk.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// The next record.
    pub fn next_record(&mut self) -> io::Result<Option<(i64, &[u8])>> {
        loop {
            let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
            let (key, text) = self.last.get_or_insert_with(|| (head.key ^ 1, Vec::new()));
            let repeated = *key == head.key && *text == head.text;
            *key = head.key;
            std::mem::swap(text, &mut head.text);
            let Head { key, text, run } = &mut *head;
            match run.read(text)? {
                Some(next) => *key = next,
                None => drop(PeekMut::pop(head)),
            }
            if !repeated {
                break;
            }
        }
        Ok(self.last.as_ref().map(|(key, text)| (*key, text.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn sorted(records: &[(i64, Vec<u8>)], budget: usize) -> Vec<(i64, Vec<u8>)> {
        let mut sorter = Sorter::new(std::env::temp_dir(), budget);
        for (key, text) in records {
            sorter.push(*key, text).unwrap();
        }
        let mut merge = sorter.finish().unwrap();
        let mut found = Vec::new();
        while let Some((key, text)) = merge.next_record().unwrap() {
            found.push((key, text.to_vec()));
        }
        found
    }

    #[test]
    fn many_runs_give_what_memory_gives() {
        let records: Vec<_> = (0..40_000_i64)
            .map(|n| (n.wrapping_mul(0x5851_F42D_4C95_7F2D) >> 20, n.to_string().into_bytes()))
            .chain((0..100).map(|n| (n, b"twice".to_vec())))
            .chain((0..100).map(|n| (n, b"twice".to_vec())))
            .collect();
        let expected: Vec<_> =
            records.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(sorted(&records, 64 * 1024), expected);
        assert_eq!(sorted(&records, 64 << 20), expected);
    }

    #[test]
    fn thousands_of_runs_keep_few_files_open_and_buffers_within_the_budget() {
        // Records so large that each is a run.
        let record = |n: i64| (n.wrapping_mul(0x5851_F42D_4C95_7F2D), [n as u8; 600]);
        let count = i64::try_from(WIDTH * (WIDTH + 2) + 5).unwrap();
        let mut sorter = Sorter::new(std::env::temp_dir(), 0);
        sorter.budget = 1_000;
        for n in 0..count {
            let (key, text) = record(n);
            sorter.push(key, &text).unwrap();
            assert!(sorter.runs.len() < 3 * WIDTH);
        }
        assert!(sorter.buffer() * (WIDTH + 1) <= sorter.budget);
        let mut merge = sorter.finish().unwrap();
        assert!(merge.heads.len() <= WIDTH);
        let mut expected: Vec<_> = (0..count).collect();
        expected.sort_by_key(|n| record(*n).0);
        for n in expected {
            let (key, text) = record(n);
            assert_eq!(merge.next_record().unwrap(), Some((key, text.as_slice())));
        }
        assert_eq!(merge.next_record().unwrap(), None);
    }

    proptest! {
        #[test]
        fn a_sorter_is_an_ordered_set(records in proptest::collection::vec((-3_i64..3, proptest::collection::vec(any::<u8>(), 0..3)), 0..50)) {
            let expected: Vec<_> = records.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
            prop_assert_eq!(sorted(&records, 0), expected);
        }
    }
}
