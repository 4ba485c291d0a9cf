//! Distributes entries to temporary files by their leading bits.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use batch::TemporaryFolder;

use crate::model::{Entry, Kind, RECORD_BYTES};

/// Maximum number of partitions per kind.
pub const MOST: usize = 4096;
/// The number and size of a kind's partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Base-2 logarithm of the number of partitions.
    pub bits: u32,
    /// Total size of all write buffers in bytes.
    pub buffers: usize,
}

impl Spread {
    /// Chooses the number of partitions so that several of them fit in `memory` at once.
    ///
    /// `input` is the total size of the inputs in bytes, if known, and `records` the total size of
    /// their records.
    pub fn choose(input: Option<u64>, records: u64, memory: u64) -> Self {
        let wanted = match input {
            Some(input) => (4 * input).max(8 * records).div_ceil(memory.max(1)),
            None => 1024,
        };
        let partitions = wanted.clamp(1, MOST as u64).next_power_of_two();
        Self { bits: partitions.trailing_zeros(), buffers: (memory / 8) as usize }
    }

    fn partition(self, entry: &Entry) -> usize {
        let leading = u32::from(entry.hash[0]) << 8 | u32::from(entry.hash[1]);
        (leading >> (16 - self.bits)) as usize
    }

    fn partitions(self) -> usize {
        1 << self.bits
    }
}

/// Distributes the entries of one kind, from one group of inputs, to partitions.
pub struct Partitions {
    folder: PathBuf,
    kind: Kind,
    group: usize,
    spread: Spread,
    room: usize,
    buffers: Vec<Vec<u8>>,
    /// The length of each file.
    written: Vec<u64>,
}

impl Partitions {
    /// Creates empty partitions for `group`.
    pub fn new(folder: &TemporaryFolder, kind: Kind, group: usize, spread: Spread) -> Self {
        let room = (spread.buffers / spread.partitions()).clamp(RECORD_BYTES * 16, 256 << 10);
        let folder = folder.path().to_owned();
        let buffers = (0..spread.partitions()).map(|_| Vec::new()).collect();
        let written = vec![0; spread.partitions()];
        Self { folder, kind, group, spread, room, buffers, written }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn add(&mut self, entry: &Entry) -> anyhow::Result<()> {
        let partition = self.spread.partition(entry);
        let buffer = &mut self.buffers[partition];
        if buffer.is_empty() {
            buffer.reserve_exact(self.room);
        }
        buffer.extend_from_slice(&entry.to_record());
        if buffer.len() + RECORD_BYTES > self.room {
            self.write_out(partition)?;
        }
        Ok(())
    }

    fn write_out(&mut self, partition: usize) -> anyhow::Result<()> {
        let path = partition_path(&self.folder, self.kind, self.group, partition);
        // The file is opened for each write, because keeping thousands of partitions open would
        // exceed the open file limit.
        let written = OpenOptions::new().create(true).append(true).open(&path);
        let written = written.and_then(|mut file| file.write_all(&self.buffers[partition]));
        self.written[partition] += self.buffers[partition].len() as u64;
        self.buffers[partition].clear();
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Flushes all buffers and returns each file's length.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn finish(mut self) -> anyhow::Result<Vec<u64>> {
        for partition in 0..self.buffers.len() {
            if !self.buffers[partition].is_empty() {
                self.write_out(partition)?;
            }
        }
        Ok(self.written)
    }
}

pub fn partition_path(folder: &Path, kind: Kind, group: usize, partition: usize) -> PathBuf {
    folder.join(format!("{kind}-{group}-{partition:04}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_partitions_follows_input_and_memory() {
        let bits = |input, records, memory| Spread::choose(input, records, memory).bits;
        assert_eq!(bits(Some(0), 0, 1 << 30), 0);
        assert_eq!(bits(Some(160 << 20), 80 << 20, 16 << 20), 6);
        assert_eq!(bits(Some(u64::MAX / 8), 0, 1), 12);
        assert_eq!(bits(None, 0, 1 << 30), 10);
    }
}
