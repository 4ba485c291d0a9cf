//! Sorts a partition's records, either in memory or with an external merge sort.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::{Merge, Record, Run, RunReader, RunWriter};

use crate::model::Entry;
use crate::model::{CountMerge, RECORD_BYTES, add_counts, merge_sorted, sort_and_add_up};

/// Number of entries that a merge passes on at once. Batches are extended to the end of their last
/// prefix.
const BATCH: usize = 1 << 16;
const READ_BUFFER: usize = 128 << 10;
const WRITE_BUFFER: usize = 256 << 10;
const UNREADABLE_RUN: &str = "cannot read a sorted run";

/// A partition's records, with one file per group.
pub struct Partition {
    /// The files in group order.
    pub files: Vec<RecordFile>,
    /// How to combine counts from several groups.
    pub merge: CountMerge,
    /// Maximum number of records in memory.
    pub limit: usize,
}

/// A file of records and its expected length. The length is checked because programs that clean up
/// temporary folders may delete or truncate the file while a command is running.
pub struct RecordFile {
    /// The path.
    pub path: PathBuf,
    /// Expected length in bytes, or 0 if there is no file.
    pub bytes: u64,
}

impl Partition {
    /// Returns the total length of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns whether all records fit in memory.
    pub fn fits(&self) -> bool {
        self.bytes() / RECORD_BYTES as u64 <= self.limit as u64
    }

    /// Loads and sorts all records and removes their files.
    pub fn load(&self) -> anyhow::Result<Vec<Entry>> {
        let mut merged: Vec<Entry> = Vec::new();
        for file in &self.files {
            let path = &file.path;
            let Some(mut records) = Records::open(file)? else { continue };
            let mut entries = Vec::with_capacity(records.left());
            while let Some(entry) = records.next().with_context(|| unreadable(path))? {
                entries.push(entry);
            }
            fs::remove_file(path).with_context(|| unremovable(path))?;
            sort_and_add_up(&mut entries);
            merged = if merged.is_empty() {
                entries
            } else {
                merge_sorted(&merged, &entries, self.merge)
            };
        }
        Ok(merged)
    }

    /// Sorts the records in runs of up to `limit` records, and merges the runs.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails, or any error from `consume`.
    pub fn merge(
        &self,
        mut consume: impl FnMut(Vec<Entry>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (mut runs, mut groups) = (Vec::new(), Vec::new());
        for (group, file) in self.files.iter().enumerate() {
            runs.extend(write_runs(file, self.limit)?);
            groups.resize(runs.len(), group);
        }
        let readers = runs.into_iter().map(|run| run.read(READ_BUFFER));
        let mut merge = Merge::new(readers).context(UNREADABLE_RUN)?;
        let mut batch: Vec<Entry> = Vec::with_capacity(BATCH);
        while let Some(entry) = next_merged(&mut merge, &groups, self.merge)? {
            let whole = batch.last().is_some_and(|last| last.prefix() != entry.prefix());
            if batch.len() >= BATCH && whole {
                consume(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
            }
            batch.push(entry);
        }
        if batch.is_empty() { Ok(()) } else { consume(batch) }
    }
}

#[derive(Clone, Copy)]
struct Sorted(Entry);

impl Default for Sorted {
    fn default() -> Self {
        Self(Entry { hash: [0; 20], count: 0 })
    }
}

impl Record for Sorted {
    fn compare(&self, other: &Self) -> Ordering {
        self.0.compare(&other.0)
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.0.to_record())
    }

    fn read_from(&mut self, input: &mut impl Read) -> io::Result<()> {
        let mut record = [0; RECORD_BYTES];
        input.read_exact(&mut record)?;
        self.0 = Entry::from_record(&record);
        Ok(())
    }
}

/// Splits a file of records into sorted runs and removes it. Within a run, counts of equal digests
/// are added up right away, so that frequent passwords don't take up much space.
fn write_runs(file: &RecordFile, limit: usize) -> anyhow::Result<Vec<Run<Sorted>>> {
    let (mut runs, path) = (Vec::new(), &file.path);
    let Some(mut records) = Records::open(file)? else { return Ok(runs) };
    let mut entries: Vec<Entry> = Vec::with_capacity(limit);
    loop {
        let next = records.next().with_context(|| unreadable(path))?;
        let ended = next.is_none();
        entries.extend(next);
        let full = entries.len() >= limit;
        if full || ended {
            sort_and_add_up(&mut entries);
        }
        if ended || full && entries.len() > limit / 2 {
            runs.push(write_run(path, &entries)?);
            entries.clear();
        }
        if ended {
            fs::remove_file(path).with_context(|| unremovable(path))?;
            return Ok(runs);
        }
    }
}

/// Writes a run next to its partition.
fn write_run(partition: &Path, entries: &[Entry]) -> anyhow::Result<Run<Sorted>> {
    let folder = partition.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<Run<Sorted>> {
        let mut run = RunWriter::create_in(folder, WRITE_BUFFER)?;
        entries.iter().try_for_each(|entry| run.push(&Sorted(*entry)))?;
        run.finish()
    };
    write().with_context(|| format!("cannot write a sorted run to {}", folder.display()))
}

/// Returns the next entry, which is the smallest digest in any run. Its counts are added up within
/// each group and merged between groups. `groups` contains the group of each run.
fn next_merged(
    runs: &mut Merge<RunReader<Sorted>>,
    groups: &[usize],
    merge: CountMerge,
) -> anyhow::Result<Option<Entry>> {
    let next = runs.next().context(UNREADABLE_RUN)?;
    let Some((Sorted(first), run)) = next.map(|(entry, run)| (*entry, run)) else {
        return Ok(None);
    };
    let (mut merged, mut of_group, mut group) = (None, first.count, groups[run]);
    while runs.peek().is_some_and(|next| next.0.hash == first.hash) {
        let Some((Sorted(next), run)) = runs.next().context(UNREADABLE_RUN)? else { break };
        if groups[run] == group {
            of_group = add_counts(of_group, next.count);
        } else {
            merged = Some(merged.map_or(of_group, |older| merge.counts(older, of_group)));
            (of_group, group) = (next.count, groups[run]);
        }
    }
    let count = merged.map_or(of_group, |older| merge.counts(older, of_group));
    Ok(Some(Entry { hash: first.hash, count }))
}

struct Records {
    reader: BufReader<File>,
    left: usize,
}

impl Records {
    /// Opens a file. Returns `None` if it has no records.
    fn open(file: &RecordFile) -> anyhow::Result<Option<Self>> {
        let RecordFile { path, bytes } = file;
        if *bytes == 0 {
            return Ok(None);
        }
        let file = File::open(path).with_context(|| unreadable(path))?;
        let there = file.metadata().with_context(|| unreadable(path))?.len();
        if there != *bytes {
            bail!("{} has {there} bytes, but {bytes} bytes were written to it", path.display());
        }
        let left = there as usize / RECORD_BYTES;
        Ok(Some(Self { reader: BufReader::with_capacity(READ_BUFFER, file), left }))
    }

    fn left(&self) -> usize {
        self.left
    }

    fn next(&mut self) -> io::Result<Option<Entry>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut record = [0; RECORD_BYTES];
        self.reader.read_exact(&mut record)?;
        self.left -= 1;
        Ok(Some(Entry::from_record(&record)))
    }
}

fn unreadable(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

fn unremovable(path: &Path) -> String {
    format!("cannot remove {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hash: u16, count: u32) -> Entry {
        let mut bytes = [0; 20];
        bytes[..2].copy_from_slice(&hash.to_be_bytes());
        Entry { hash: bytes, count }
    }

    fn write(path: &Path, entries: impl Iterator<Item = Entry>) {
        let bytes: Vec<u8> = entries.flat_map(|entry| entry.to_record()).collect();
        fs::write(path, bytes).unwrap();
    }

    fn both_ways(groups: &[Vec<Entry>], merge: CountMerge) -> Vec<Entry> {
        let folder = tempfile::tempdir().unwrap();
        let fill = || -> Vec<RecordFile> {
            let file = |(at, group): (usize, &Vec<Entry>)| {
                let path = folder.path().join(format!("g{at}"));
                if !group.is_empty() {
                    write(&path, group.iter().copied());
                }
                RecordFile { path, bytes: (group.len() * RECORD_BYTES) as u64 }
            };
            groups.iter().enumerate().map(file).collect()
        };
        let loaded = Partition { files: fill(), merge, limit: 1 << 20 };
        assert!(loaded.fits());
        let loaded = loaded.load().unwrap();
        for limit in [2, 3, 10, 1000] {
            let mut merged = Vec::new();
            let partition = Partition { files: fill(), merge, limit };
            let collect = |batch: Vec<Entry>| {
                merged.extend(batch);
                Ok(())
            };
            partition.merge(collect).unwrap();
            assert_eq!(merged, loaded, "limit {limit}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        loaded
    }

    #[test]
    fn sorting_in_runs_equals_sorting_in_memory() {
        let some = |salt: u32| -> Vec<Entry> {
            (0..200u32).map(|at| entry((at * salt % 61) as u16, at + 1)).collect()
        };
        for merge in [CountMerge::Sum, CountMerge::Max, CountMerge::Replace] {
            let merged = both_ways(&[some(7), Vec::new(), some(13)], merge);
            assert_eq!(merged.len(), 61);
        }
    }

    #[test]
    fn counts_of_a_group_are_added_before_groups_merge() {
        let groups = [vec![entry(1, 2), entry(1, 3)], vec![entry(1, 4)]];
        assert_eq!(both_ways(&groups, CountMerge::Sum), [entry(1, 9)]);
        assert_eq!(both_ways(&groups, CountMerge::Max), [entry(1, 5)]);
    }

    #[test]
    fn one_digest_repeated_without_end_stays_in_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g0");
        write(&path, (0..5000).map(|_| entry(9, 1)));
        let file = RecordFile { path, bytes: 5000 * RECORD_BYTES as u64 };
        let runs = write_runs(&file, 100).unwrap();
        assert_eq!((runs.len(), runs[0].records()), (1, 1));
    }

    #[test]
    fn missing_and_truncated_record_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes| RecordFile { path: folder.path().join(name), bytes };
        write(&folder.path().join("cut"), (1..3).map(|hash| entry(hash, 1)));
        let whole = 2 * RECORD_BYTES as u64;
        for file in [file("gone", whole), file("cut", whole + RECORD_BYTES as u64)] {
            assert!(write_runs(&file, 100).is_err());
            let partition = Partition { files: vec![file], merge: CountMerge::Sum, limit: 100 };
            assert!(partition.load().is_err());
        }
        assert_eq!(write_runs(&file("never made", 0), 100).unwrap().len(), 0);
    }
}
