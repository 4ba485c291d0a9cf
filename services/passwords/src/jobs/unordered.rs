//! Reads unordered inputs by partitioning them and then sorting each partition.

use anyhow::anyhow;
use batch::{Input, ProgressReporter, TemporaryFolder, Unit};

use super::chunks::{Chunks, Cut};
use super::folder::{self, FolderPass};
use super::ordered::CHUNK;
use super::partition::{Partitions, Spread, partition_path};
use super::reading::{self, BadLine, InputFormat, Reading};
use super::sorted_runs::{Partition, RecordFile};
use super::tally::Tally;
use super::worker_pool::{WorkerPool, in_order};

use crate::model::lines::{self, Form, LineError};
use crate::model::plaintext::{self, Line};
use crate::model::{CountMerge, Entry, Kind, RECORD_BYTES};

/// Parameters for an unordered pass.
pub struct Partitioning<'a> {
    /// The lists.
    pub inputs: &'a [Input],
    /// Their format.
    pub format: InputFormat,
    /// The kinds to read: one for hash lists, one or both for password lists.
    pub kinds: &'a [Kind],
    /// How to read lines.
    pub reading: Reading,
    /// How to combine counts from several inputs.
    pub merge: CountMerge,
    /// Maximum memory for sorting, in bytes.
    pub memory: u64,
    /// The worker threads.
    pub pool: WorkerPool,
}

/// All entries on disk, partitioned by their leading bits.
pub struct Partitioned {
    folder: TemporaryFolder,
    /// The length of each file, by group, kind and partition.
    lengths: Vec<Vec<(Kind, Vec<u64>)>>,
    spread: Spread,
    merge: CountMerge,
    memory: u64,
    pool: WorkerPool,
}

impl Partitioning<'_> {
    /// Reads all inputs once.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, a line is invalid, or the disk is full.
    pub fn run(&self, folder: TemporaryFolder) -> anyhow::Result<(Partitioned, Tally)> {
        let spread = self.spread();
        // Counts within an input are always added up, so for any other merge mode, each input needs
        // its own group.
        let apart = self.merge != CountMerge::Sum;
        let mut total = Tally::default();
        let mut lengths = Vec::new();
        let groups = if apart { self.inputs.chunks(1) } else { self.inputs.chunks(usize::MAX) };
        for (group, inputs) in groups.enumerate() {
            let mut partitions: Vec<Partitions> =
                self.kinds.iter().map(|k| Partitions::new(&folder, *k, group, spread)).collect();
            for input in inputs {
                let spread = || self.spread_input(input, &mut partitions);
                total.add(reading::unchanged(input, spread)?);
            }
            let finished = partitions.into_iter().map(Partitions::finish);
            let finished = finished.collect::<anyhow::Result<Vec<_>>>()?;
            lengths.push(self.kinds.iter().copied().zip(finished).collect());
        }
        let Self { merge, memory, pool, .. } = *self;
        Ok((Partitioned { folder, lengths, spread, merge, memory, pool }, total))
    }

    fn spread(&self) -> Spread {
        let input: Option<u64> = self.inputs.iter().map(Input::length).sum();
        let bytes = input.unwrap_or(0);
        // A line is at least 32 characters long for hashes, and about 9 for passwords.
        let records = match self.format {
            InputFormat::Plaintext => bytes / 8 * RECORD_BYTES as u64,
            InputFormat::Hashes | InputFormat::Folder => bytes / 32 * RECORD_BYTES as u64,
        };
        let spread = Spread::choose(input, records, self.memory);
        Spread { buffers: spread.buffers / self.kinds.len().max(1), ..spread }
    }

    fn spread_input(&self, input: &Input, out: &mut [Partitions]) -> anyhow::Result<Tally> {
        let progress = ProgressReporter::new("reading", Unit::Bytes, input.length());
        let mut spread_out = |lists: Vec<Vec<Entry>>| -> anyhow::Result<()> {
            for (out, list) in out.iter_mut().zip(&lists) {
                list.iter().try_for_each(|entry| out.add(entry))?;
            }
            Ok(())
        };
        if let Input::Folder(path) = input {
            let Some(kind) = self.kinds.first().copied() else { return Ok(Tally::default()) };
            let (reading, pool) = (self.reading, self.pool);
            let pass = FolderPass { path, kind, reading, pool, progress: &progress };
            let tally = folder::read(pass, Ok, |entries| spread_out(vec![entries]))?;
            progress.finish();
            return Ok(tally);
        }
        let name = input.to_string();
        let mut chunks = Chunks::new(reading::open(input)?, &name, CHUNK, Cut::Line);
        let mut total = Tally::default();
        let work = |text: Vec<u8>| {
            progress.add(text.len() as u64);
            Ok(self.parse(&text))
        };
        let produce = || Ok(chunks.next_chunk()?.map(|chunk| chunk.text));
        in_order(self.pool, produce, work, |parsed| {
            let (tally, lists, error) = parsed;
            if let Some((line, cause)) = error {
                let line = total.lines + line + 1;
                return Err(BadLine { input: name.clone(), line, cause }.into());
            }
            total.add(tally);
            spread_out(lists)
        })?;
        progress.finish();
        Ok(total)
    }

    fn parse(&self, text: &[u8]) -> Pieces {
        match (self.format, self.kinds) {
            (InputFormat::Plaintext, _) => self.parse_passwords(text),
            (_, [kind, ..]) => {
                let parsed = lines::parse(text, *kind, Form::Whole, self.reading.lenient);
                (Tally::of(&parsed), vec![parsed.entries], parsed.error)
            }
            (_, []) => Pieces::default(),
        }
    }

    fn parse_passwords(&self, text: &[u8]) -> Pieces {
        let mut tally = Tally::default();
        let mut lists: Vec<Vec<Entry>> = self.kinds.iter().map(|_| Vec::new()).collect();
        for line in text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n') {
            tally.lines += 1;
            match plaintext::line(line, self.reading.dialect) {
                Line::Password { count: 0, .. } => tally.dropped += 1,
                Line::Password { bytes, text, count } => {
                    for (list, kind) in lists.iter_mut().zip(self.kinds) {
                        list.push(plaintext::entry(*kind, &bytes, &text, count));
                    }
                }
                Line::Empty => tally.empty += 1,
                Line::NotText(_) => tally.not_text += 1,
                Line::NoCount if self.reading.lenient => tally.skipped += 1,
                Line::NoCount => {
                    let error = Some((tally.lines - 1, LineError::NoCount));
                    return (tally, lists, error);
                }
            }
        }
        (tally, lists, None)
    }
}

type Pieces = (Tally, Vec<Vec<Entry>>, Option<(u64, LineError)>);

enum Sorted<T> {
    Done(T),
    TooLarge(Partition),
}

impl Partitioned {
    /// Reads all entries of a kind in order. See [`super::ordered::read`] for `finish` and
    /// `consume`.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails, or any error from `finish` or `consume`.
    pub fn read<T: Send>(
        &self,
        kind: Kind,
        finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
        mut consume: impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let pool = WorkerPool { window: self.pool.threads + 1, ..self.pool };
        // Each partition being processed needs memory for its records, and about as much again for
        // their encoded form.
        let limit = self.memory as usize / RECORD_BYTES / (2 * pool.window);
        let partitions = 1usize << self.spread.bits;
        let bytes = |partition| self.partition(kind, partition, 1).bytes();
        let progress =
            ProgressReporter::new("sorting", Unit::Bytes, Some((0..partitions).map(bytes).sum()));
        let mut next = 0..partitions;
        let work = |partition| {
            let partition = self.partition(kind, partition, limit.max(16));
            let bytes = partition.bytes();
            if partition.fits() {
                Ok((bytes, Sorted::Done(finish(partition.load()?)?)))
            } else {
                Ok((bytes, Sorted::TooLarge(partition)))
            }
        };
        in_order(
            pool,
            || Ok(next.next()),
            work,
            |(bytes, sorted)| {
                progress.add(bytes);
                match sorted {
                    Sorted::Done(done) => consume(done),
                    Sorted::TooLarge(partition) => {
                        partition.merge(|entries| consume(finish(entries)?))
                    }
                }
            },
        )?;
        progress.finish();
        Ok(())
    }

    fn partition(&self, kind: Kind, partition: usize, limit: usize) -> Partition {
        let file = |(group, lengths): (usize, &Vec<(Kind, Vec<u64>)>)| {
            let of_kind = lengths.iter().find(|(other, _)| *other == kind);
            let bytes = of_kind.and_then(|(_, lengths)| lengths.get(partition));
            let path = partition_path(self.folder.path(), kind, group, partition);
            RecordFile { path, bytes: bytes.copied().unwrap_or(0) }
        };
        let files = self.lengths.iter().enumerate().map(file).collect();
        Partition { files, merge: self.merge, limit }
    }
}

/// Rejects password lists that are folders.
///
/// # Errors
/// Returns an error if one of the inputs is a folder.
pub fn reject_folders(inputs: &[Input]) -> anyhow::Result<()> {
    match inputs.iter().find(|input| matches!(input, Input::Folder(_))) {
        Some(folder) => Err(anyhow!("{folder} is a folder, not a list of passwords")),
        None => Ok(()),
    }
}
