//! Checksums for the path column, so that `verify` can find damaged paths.
//!
//! The file `sums` has an entry for each block of consecutive rows: the number of the row after the
//! block (8 bytes, little endian), and the CRC-32 of its rows (4 bytes, little endian). The CRC
//! covers each row's path, NUL, end and owner. A block ends after [`BLOCK_ROWS`] rows or at a
//! commit, so a commit never ends within a block.
//!
//! The file isn't mapped: only `verify` and the writer read it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crc32fast::Hasher;

/// Name of the checksum file.
pub(super) const SUMS: &str = "sums";
/// Maximum number of rows in a block. Erasing a row means reading its whole block.
const BLOCK_ROWS: u64 = 4_096;
/// Length of an entry in bytes.
const ENTRY: usize = 12;
/// Marks rows written by a version without checksums.
const ABSENT: u32 = 0;
/// Marks a block in which rows are being erased. If the writer is killed meanwhile, the next writer
/// computes the checksum.
const ERASING: u32 = 1;

/// A block of consecutive rows and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// The row after the block's last row.
    end: u64,
    sum: u32,
}

impl Block {
    fn of_bytes(entry: &[u8]) -> Self {
        let (mut end, mut sum) = ([0; 8], [0; 4]);
        end.copy_from_slice(&entry[..8]);
        sum.copy_from_slice(&entry[8..ENTRY]);
        Self { end: u64::from_le_bytes(end), sum: u32::from_le_bytes(sum) }
    }

    fn bytes(self) -> [u8; ENTRY] {
        let mut entry = [0; ENTRY];
        entry[..8].copy_from_slice(&self.end.to_le_bytes());
        entry[8..].copy_from_slice(&self.sum.to_le_bytes());
        entry
    }

    fn has_sum(self) -> bool {
        self.sum > ERASING
    }
}

/// Computes a block's checksum.
#[derive(Default)]
pub(super) struct RowHasher(Hasher);

impl RowHasher {
    /// Adds a row. The path includes its NUL.
    pub(super) fn add(&mut self, path_with_end: &[u8], end: u64, owner: u32) {
        self.0.update(path_with_end);
        let mut rest = [0; 12];
        rest[..8].copy_from_slice(&end.to_le_bytes());
        rest[8..].copy_from_slice(&owner.to_le_bytes());
        self.0.update(&rest);
    }

    /// Adds a new row. The path doesn't include a NUL yet.
    fn add_new(&mut self, path: &[u8], end: u64, owner: u32) {
        self.0.update(path);
        let mut rest = [0; 13];
        rest[1..9].copy_from_slice(&end.to_le_bytes());
        rest[9..].copy_from_slice(&owner.to_le_bytes());
        self.0.update(&rest);
    }

    /// Returns the checksum, which never equals `ABSENT` or `ERASING`.
    pub(super) fn finish(self) -> u32 {
        self.0.finalize().max(ERASING + 1)
    }
}

/// Reads the blocks of the first `rows` rows. Ignores anything that follows the last complete block
/// before `rows`.
fn stored(folder: &Path, rows: u64) -> io::Result<Vec<Block>> {
    Ok(read_blocks(folder, rows)?.0)
}

/// Reads the blocks of the first `rows` rows. Also returns `true` if they are followed by an entry
/// that is damaged: since a block ends at each commit, the next entry of an intact file ends at or
/// before `rows`, unless there are blocks for all rows.
fn read_blocks(folder: &Path, rows: u64) -> io::Result<(Vec<Block>, bool)> {
    let bytes = match std::fs::read(folder.join(SUMS)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let mut blocks: Vec<Block> = Vec::with_capacity(bytes.len() / ENTRY);
    for entry in bytes.chunks_exact(ENTRY) {
        let block = Block::of_bytes(entry);
        if block.end <= last_end(&blocks) || block.end > rows {
            let is_damaged = last_end(&blocks) < rows;
            return Ok((blocks, is_damaged));
        }
        blocks.push(block);
    }
    Ok((blocks, false))
}

/// If there are rows without checksums at the end, adds a block for them.
fn completed(mut blocks: Vec<Block>, rows: u64) -> Vec<Block> {
    if last_end(&blocks) < rows {
        blocks.push(Block { end: rows, sum: ABSENT });
    }
    blocks
}

fn last_end(blocks: &[Block]) -> u64 {
    blocks.last().map_or(0, |block| block.end)
}

/// Returns the rows in a block.
fn rows_in(blocks: &[Block], place: usize) -> Range<u64> {
    last_end(&blocks[..place])..blocks[place].end
}

/// Returns the number of rows without checksums.
pub(super) fn unchecked_rows(folder: &Path, rows: u64) -> io::Result<u64> {
    let blocks = completed(stored(folder, rows)?, rows);
    let absent = (0..blocks.len()).filter(|&place| blocks[place].sum == ABSENT);
    Ok(absent.map(|place| rows_in(&blocks, place)).map(|rows| rows.end - rows.start).sum())
}

/// Returns the blocks among the first `rows` rows that don't match their checksums, and the rows
/// whose checksums can't be read because an entry is damaged. `compute` returns the current checksum
/// of rows in the column, or `None` if their ends are invalid.
pub(super) fn damaged(
    folder: &Path,
    rows: u64,
    compute: impl Fn(Range<u64>) -> Option<u32>,
) -> io::Result<Vec<Range<u64>>> {
    let (blocks, is_damaged) = read_blocks(folder, rows)?;
    let unreadable = is_damaged.then(|| last_end(&blocks)..rows);
    let differs = |place: &usize| {
        let block = blocks[*place];
        block.has_sum() && compute(rows_in(&blocks, *place)) != Some(block.sum)
    };
    let found: Vec<usize> = (0..blocks.len()).filter(differs).collect();
    if found.is_empty() {
        return Ok(unreadable.into_iter().collect());
    }
    // Ignore entries that have changed: a removal might have erased rows since the checksums were
    // read.
    let now = stored(folder, rows)?;
    let is_unchanged = |place: &usize| now.get(*place) == Some(&blocks[*place]);
    let found = found.into_iter().filter(is_unchanged).map(|place| rows_in(&blocks, place));
    Ok(found.chain(unreadable).collect())
}

/// Write access to the checksums.
pub(super) struct Checksums {
    file: File,
    blocks: Vec<Block>,
    /// Number of blocks in the file.
    written: usize,
    /// Rows since the last block.
    hasher: RowHasher,
    rows: u64,
}

impl Checksums {
    /// Opens the checksums for appending after `rows` rows.
    pub(super) fn open(folder: &Path, rows: u64) -> io::Result<Self> {
        let path = folder.join(SUMS);
        let file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let blocks = stored(folder, rows)?;
        let written = blocks.len();
        file.set_len((written * ENTRY) as u64)?;
        let blocks = completed(blocks, rows);
        Ok(Self { file, blocks, written, hasher: RowHasher::default(), rows })
    }

    /// Adds a row.
    pub(super) fn add(&mut self, path: &[u8], end: u64, owner: u32) {
        self.hasher.add_new(path, end, owner);
        self.rows += 1;
        if self.rows - last_end(&self.blocks) >= BLOCK_ROWS {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let sum = std::mem::take(&mut self.hasher).finish();
        self.blocks.push(Block { end: self.rows, sum });
    }

    /// Ends the current block and makes all blocks durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.rows > last_end(&self.blocks) {
            self.end_block();
        }
        let new = &self.blocks[self.written..];
        if new.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = new.iter().flat_map(|block| block.bytes()).collect();
        self.file.write_all_at(&bytes, (self.written * ENTRY) as u64)?;
        self.written = self.blocks.len();
        self.file.sync_data()
    }

    /// Marks the blocks with rows that are about to be erased. The rows must be in ascending order.
    /// Damaged blocks aren't marked, so that they keep their checksum and `verify` still reports
    /// them.
    pub(super) fn mark(
        &mut self,
        rows: &[u64],
        compute: impl Fn(Range<u64>) -> Option<u32>,
    ) -> io::Result<()> {
        let mut marked: Vec<usize> = Vec::new();
        let mut last = None;
        for &row in rows {
            let place = self.blocks.partition_point(|block| block.end <= row);
            if last.replace(place) == Some(place) || place >= self.written {
                continue;
            }
            let block = self.blocks[place];
            let rows = rows_in(&self.blocks, place);
            if block.has_sum() && compute(rows) == Some(block.sum) {
                self.blocks[place].sum = ERASING;
                marked.push(place);
            }
        }
        self.store(&marked)
    }

    /// Returns `true` if blocks are marked.
    pub(super) fn is_marked(&self) -> bool {
        self.blocks.iter().any(|block| block.sum == ERASING)
    }

    /// Computes the checksums of marked blocks once their rows have been erased.
    pub(super) fn settle(&mut self, compute: impl Fn(Range<u64>) -> Option<u32>) -> io::Result<()> {
        let is_marked = |place: &usize| self.blocks[*place].sum == ERASING;
        let marked: Vec<usize> = (0..self.blocks.len()).filter(is_marked).collect();
        for &place in &marked {
            if let Some(sum) = compute(rows_in(&self.blocks, place)) {
                self.blocks[place].sum = sum;
            }
        }
        self.store(&marked)
    }

    fn store(&self, places: &[usize]) -> io::Result<()> {
        for &place in places {
            self.file.write_all_at(&self.blocks[place].bytes(), (place * ENTRY) as u64)?;
        }
        if places.is_empty() { Ok(()) } else { self.file.sync_data() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::{ColumnWriter, PathColumn};
    use super::*;

    const ROWS: u64 = 10_000;

    /// Writes rows in two commits. Returns the size of the column.
    fn written(folder: &Path) -> (u64, u64) {
        let mut writer = ColumnWriter::open(folder, 0, 0).unwrap();
        for row in 0..ROWS {
            writer.push(&format!("dir/{row}.txt"), row % 7).unwrap();
            if row == 99 {
                writer.sync().unwrap();
            }
        }
        writer.sync().unwrap();
        writer.size()
    }

    fn column(folder: &Path, (rows, bytes): (u64, u64)) -> PathColumn {
        PathColumn::open(folder, rows, bytes).unwrap()
    }

    /// Returns the damaged blocks.
    fn found(folder: &Path, column: &PathColumn) -> Vec<(u64, u64)> {
        let damaged = damaged(folder, column.rows(), |rows| column.checksum(rows)).unwrap();
        damaged.into_iter().map(|rows| (rows.start, rows.end)).collect()
    }

    /// Changes a bit of a file.
    fn flip(path: &Path, at: u64) {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    }

    #[test]
    fn changed_byte_is_found_in_its_block() {
        let folder = tempfile::tempdir().unwrap();
        let size = written(folder.path());
        let column = column(folder.path(), size);
        assert!(found(folder.path(), &column).is_empty());
        assert_eq!(unchecked_rows(folder.path(), size.0).unwrap(), 0);
        flip(&folder.path().join("paths"), column.start(5_000) as u64);
        assert_eq!(found(folder.path(), &column), [(4_196, 8_292)]);
        flip(&folder.path().join("owners"), 4);
        assert_eq!(found(folder.path(), &column), [(0, 100), (4_196, 8_292)]);
    }

    #[test]
    fn damaged_entry_is_reported_with_the_rows_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let size = written(folder.path());
        let column = column(folder.path(), size);
        // The highest byte of the second entry's row number.
        flip(&folder.path().join(SUMS), ENTRY as u64 + 7);
        assert_eq!(found(folder.path(), &column), [(100, ROWS)]);
        flip(&folder.path().join("owners"), 4);
        assert_eq!(found(folder.path(), &column), [(0, 100), (100, ROWS)]);
    }

    #[test]
    fn rows_from_a_version_without_checksums_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (rows, bytes) = written(folder.path());
        std::fs::remove_file(folder.path().join(SUMS)).unwrap();
        assert_eq!(unchecked_rows(folder.path(), rows).unwrap(), rows);
        let mut writer = ColumnWriter::open(folder.path(), rows, bytes).unwrap();
        writer.push("new.txt", 1).unwrap();
        writer.sync().unwrap();
        assert_eq!(unchecked_rows(folder.path(), rows + 1).unwrap(), rows);
        let column = column(folder.path(), writer.size());
        flip(&folder.path().join("paths"), column.start(rows) as u64);
        assert_eq!(found(folder.path(), &column), [(rows, rows + 1)]);
    }

    #[test]
    fn erased_rows_get_new_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let size = written(folder.path());
        let column = column(folder.path(), size);
        let mut writer = ColumnWriter::open(folder.path(), size.0, size.1).unwrap();
        writer.announce_purge(&column, &[5, 6, 9_000]).unwrap();
        writer.purge(&column, &[5, 6, 9_000]).unwrap();
        assert!(found(folder.path(), &column).is_empty());
        flip(&folder.path().join("paths"), column.start(7) as u64);
        writer.announce_purge(&column, &[8]).unwrap();
        writer.purge(&column, &[8]).unwrap();
        assert_eq!(found(folder.path(), &column), [(0, 100)], "it is still reported");
    }

    #[test]
    fn writer_killed_during_an_erasure_leaves_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        let size = written(folder.path());
        let column = column(folder.path(), size);
        let mut writer = ColumnWriter::open(folder.path(), size.0, size.1).unwrap();
        writer.announce_purge(&column, &[5]).unwrap();
        drop(writer);
        let paths = OpenOptions::new().write(true).open(folder.path().join("paths")).unwrap();
        paths.write_all_at(&[0; 3], column.start(5) as u64).unwrap();
        assert!(found(folder.path(), &column).is_empty());
        drop(ColumnWriter::open(folder.path(), size.0, size.1).unwrap());
        assert!(found(folder.path(), &column).is_empty());
        flip(&folder.path().join("paths"), column.start(6) as u64);
        assert_eq!(found(folder.path(), &column), [(0, 100)]);
    }

    #[test]
    fn checksums_of_dropped_rows_are_kept_until_next_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ColumnWriter::open(folder.path(), 0, 0).unwrap();
        writer.push("kept.txt", 1).unwrap();
        writer.sync().unwrap();
        let kept = writer.size();
        writer.push("dropped.txt", 1).unwrap();
        writer.sync().unwrap();
        let all = writer.size();
        writer.rewind(kept.0, kept.1).unwrap();
        assert_eq!(unchecked_rows(folder.path(), all.0).unwrap(), 0);
        writer.forget().unwrap();
        writer.push("next.txt", 1).unwrap();
        writer.sync().unwrap();
        let column = column(folder.path(), writer.size());
        assert!(found(folder.path(), &column).is_empty());
        assert_eq!(unchecked_rows(folder.path(), 2).unwrap(), 0);
    }
}
