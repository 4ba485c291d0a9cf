//! The path column stores every path, addressed by file id.
//!
//! | File | Content |
//! |---|---|
//! | `paths` | paths, each followed by a NUL |
//! | `ends` | end of each row in `paths`, including the NUL: 8 bytes, little endian |
//! | `owners` | bucket id of each row: 4 bytes, little endian |
//! | `sums` | [`checksums`](super::checksums) of the rows |
//!
//! Row `r` is the file with id `r + 1`. The files never shrink. Anything after the last commit is
//! overwritten by the next writer, and readers only look at the rows in their commit. Purging a row
//! overwrites its path with NULs, so a purged row starts with a NUL.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::checksums::{Checksums, RowHasher};
use crate::engine::error::EngineError;

const PATHS: &str = "paths";
const ENDS: &str = "ends";
const OWNERS: &str = "owners";

/// Read access to the column: memory-mapped files, cut off at a commit.
#[derive(Clone)]
pub(super) struct PathColumn {
    paths: OwnedBytes,
    ends: OwnedBytes,
    owners: OwnedBytes,
    rows: u64,
}

impl PathColumn {
    /// Maps the first `rows` rows.
    pub(super) fn open(folder: &Path, rows: u64, bytes: u64) -> Result<Self, EngineError> {
        let directory = MmapDirectory::open(folder)
            .map_err(|error| EngineError::Broken(format!("{}: {error}", folder.display())))?;
        let map = |name: &str, length: u64| -> Result<OwnedBytes, EngineError> {
            let length = usize::try_from(length)
                .map_err(|_| EngineError::Broken(format!("{name} is too long")))?;
            let file = directory
                .open_read(Path::new(name))
                .map_err(|error| EngineError::Broken(error.to_string()))?;
            let mapped = file.read_bytes()?;
            if mapped.len() < length {
                return Err(EngineError::Broken(format!("{name} is shorter than in its commit")));
            }
            Ok(mapped.slice(0..length))
        };
        Ok(Self {
            paths: map(PATHS, bytes)?,
            ends: map(ENDS, rows * 8)?,
            owners: map(OWNERS, rows * 4)?,
            rows,
        })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// All paths, each with its NUL.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.paths
    }

    /// Start of a row. For the row after the last row, this is the end of the data.
    pub(super) fn start(&self, row: u64) -> usize {
        if row == 0 { 0 } else { self.end(row - 1) }
    }

    /// End of a row, including its NUL.
    pub(super) fn end(&self, row: u64) -> usize {
        let at = row as usize * 8;
        let mut word = [0; 8];
        word.copy_from_slice(&self.ends[at..at + 8]);
        u64::from_le_bytes(word) as usize
    }

    /// The path in a row. Empty if the row was purged.
    pub(super) fn path(&self, row: u64) -> &[u8] {
        unpurged(self.path_with_end(row))
    }

    /// Returns `true` if only part of a row was purged, because the writer was killed meanwhile.
    pub(super) fn is_torn(&self, row: u64) -> bool {
        let path = self.path_with_end(row).split_last().map_or(&[][..], |(_, path)| path);
        memchr::memchr(0, path).is_some() && path.iter().any(|&byte| byte != 0)
    }

    /// The bytes of a row, including its NUL. Doesn't touch the mapped paths.
    pub(super) fn path_with_end(&self, row: u64) -> &[u8] {
        &self.paths[self.start(row)..self.end(row)]
    }

    /// The bucket that a row belongs to.
    pub(super) fn owner(&self, row: u64) -> u64 {
        u64::from(self.short_owner(row))
    }

    fn short_owner(&self, row: u64) -> u32 {
        let at = row as usize * 4;
        let mut word = [0; 4];
        word.copy_from_slice(&self.owners[at..at + 4]);
        u32::from_le_bytes(word)
    }

    /// Computes the checksum of a range of rows. Returns `None` if a row has an invalid end.
    pub(super) fn checksum(&self, rows: Range<u64>) -> Option<u32> {
        let mut hasher = RowHasher::default();
        for row in rows {
            let (start, end) = (self.start(row), self.end(row));
            hasher.add(self.paths.get(start..end)?, end as u64, self.short_owner(row));
        }
        Some(hasher.finish())
    }

    /// Finds the first row at or after `from` that ends past byte `at`.
    pub(super) fn row_at(&self, from: u64, at: usize) -> u64 {
        let mut step = 1;
        let mut low = from;
        while low + step < self.rows && self.end(low + step - 1) <= at {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(self.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.end(middle) <= at { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Checks the structure and describes each problem.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut start = 0;
        for row in 0..self.rows {
            let end = self.end(row);
            if end <= start || end > self.paths.len() || self.paths[end - 1] != 0 {
                return vec![format!("path column: row {row} has an invalid end")];
            }
            let path = &self.paths[start..end - 1];
            let purged = path.iter().all(|&byte| byte == 0);
            if !purged && (path.contains(&0) || std::str::from_utf8(path).is_err()) {
                return vec![format!("path column: row {row} is damaged")];
            }
            start = end;
        }
        if start == self.paths.len() {
            Vec::new()
        } else {
            vec!["path column: bytes after the last row".to_owned()]
        }
    }
}

/// Extracts the path from the bytes of a row. Empty if the row was purged.
pub(super) fn unpurged(row: &[u8]) -> &[u8] {
    match row.split_last() {
        Some((_, path)) if path.first() != Some(&0) => path,
        _ => &[],
    }
}

/// Finds the end of the piece that starts at `at`. A piece has at least `bytes` bytes and ends
/// after a NUL. Matches never span rows, so they never span pieces either.
pub(super) fn piece_end(text: &[u8], at: usize, bytes: usize, end: usize) -> usize {
    let least = at.saturating_add(bytes).min(end);
    memchr::memchr(0, &text[least..end]).map_or(end, |nul| least + nul + 1)
}

/// Write access to the column. There is only ever one writer.
pub(super) struct ColumnWriter {
    folder: PathBuf,
    paths: BufWriter<File>,
    ends: BufWriter<File>,
    owners: BufWriter<File>,
    sums: Checksums,
    rows: u64,
    bytes: u64,
}

impl ColumnWriter {
    /// Opens the column for appending after the last commit.
    pub(super) fn open(folder: &Path, rows: u64, bytes: u64) -> Result<Self, EngineError> {
        std::fs::create_dir_all(folder)?;
        let open = |name: &str, length: u64| -> Result<BufWriter<File>, EngineError> {
            let path = folder.join(name);
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(path)?;
            if file.metadata()?.len() < length {
                return Err(EngineError::Broken(format!("{name} is shorter than in its commit")));
            }
            file.seek(SeekFrom::Start(length))?;
            Ok(BufWriter::with_capacity(1 << 20, file))
        };
        let mut column = Self {
            folder: folder.to_owned(),
            paths: open(PATHS, bytes)?,
            ends: open(ENDS, rows * 8)?,
            owners: open(OWNERS, rows * 4)?,
            sums: Checksums::open(folder, rows)?,
            rows,
            bytes,
        };
        column.blank_tail()?;
        if column.sums.is_marked() {
            let erased = PathColumn::open(folder, rows, bytes)?;
            column.sums.settle(|rows| erased.checksum(rows))?;
        }
        Ok(column)
    }

    /// Overwrites everything after the last row with NULs. Chunks that already consist of NULs are
    /// not written again.
    ///
    /// The files can't be truncated, because readers that still have an earlier commit mapped would
    /// crash.
    fn blank_tail(&self) -> Result<(), EngineError> {
        let file = self.paths.get_ref();
        let (zeros, mut found) = (vec![0_u8; 1 << 20], vec![0_u8; 1 << 20]);
        let (mut at, end) = (self.bytes, file.metadata()?.len());
        while at < end {
            let length = (end - at).min(zeros.len() as u64) as usize;
            file.read_exact_at(&mut found[..length], at)?;
            if found[..length] != zeros[..length] {
                file.write_all_at(&zeros[..length], at)?;
            }
            at += length as u64;
        }
        Ok(())
    }

    /// Number of rows, and length of `paths` in bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.rows, self.bytes)
    }

    /// Appends a row and returns its file id.
    pub(super) fn push(&mut self, path: &str, bucket: u64) -> Result<u64, EngineError> {
        let owner = u32::try_from(bucket)
            .map_err(|_| EngineError::Broken("there are no more bucket ids".to_owned()))?;
        self.paths.write_all(path.as_bytes())?;
        self.paths.write_all(&[0])?;
        self.bytes += path.len() as u64 + 1;
        self.ends.write_all(&self.bytes.to_le_bytes())?;
        self.owners.write_all(&owner.to_le_bytes())?;
        self.sums.add(path.as_bytes(), self.bytes, owner);
        self.rows += 1;
        Ok(self.rows)
    }

    /// Makes all rows durable.
    pub(super) fn sync(&mut self) -> Result<(), EngineError> {
        for file in [&mut self.paths, &mut self.ends, &mut self.owners] {
            file.flush()?;
            file.get_ref().sync_data()?;
        }
        Ok(self.sums.sync()?)
    }

    /// Drops rows from the end. Their data must stay intact until the next commit, after which
    /// [`ColumnWriter::forget`] has to be called.
    pub(super) fn rewind(&mut self, rows: u64, bytes: u64) -> Result<(), EngineError> {
        self.sync()?;
        (self.rows, self.bytes) = (rows, bytes);
        Ok(())
    }

    /// Overwrites dropped rows with NULs so that the space can be reused.
    pub(super) fn forget(&mut self) -> Result<(), EngineError> {
        *self = Self::open(&self.folder, self.rows, self.bytes)?;
        Ok(())
    }

    /// Announces that these rows, in ascending order, will be purged, so that the change isn't
    /// mistaken for damage. Call this before committing the removal, because copies of the index
    /// made after the commit might contain purged rows.
    pub(super) fn announce_purge(
        &mut self,
        column: &PathColumn,
        rows: &[u64],
    ) -> Result<(), EngineError> {
        Ok(self.sums.mark(rows, |rows| column.checksum(rows))?)
    }

    /// Overwrites the paths in these rows with NULs and syncs the file. The rows must already be
    /// synced and the purge announced.
    pub(super) fn purge(&mut self, column: &PathColumn, rows: &[u64]) -> Result<(), EngineError> {
        let zeros = [0u8; 8_192];
        let file = self.paths.get_ref();
        for &row in rows {
            let (start, end) = (column.start(row), column.end(row));
            file.write_all_at(&zeros[..(end - start).min(zeros.len())], start as u64)?;
        }
        file.sync_data()?;
        Ok(self.sums.settle(|rows| column.checksum(rows))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_row_boundaries() {
        let rows = format!("{}\0", "x".repeat(1_000)).repeat(40);
        let text = rows.as_bytes();
        let (mut at, mut ends) = (0, Vec::new());
        while at < text.len() {
            at = piece_end(text, at, 16_384, text.len());
            ends.push(at);
        }
        assert_eq!(ends, [17 * 1_001, 34 * 1_001, 40 * 1_001]);
        assert_eq!(piece_end(text, 0, 16_384, 3 * 1_001), 3 * 1_001);
    }

    #[test]
    fn dropped_rows_are_kept_until_next_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ColumnWriter::open(folder.path(), 0, 0).unwrap();
        writer.push("kept.txt", 1).unwrap();
        let (rows, bytes) = writer.size();
        writer.push("secret.txt", 2).unwrap();
        writer.sync().unwrap();
        let committed = writer.size();
        writer.rewind(rows, bytes).unwrap();

        let reader = PathColumn::open(folder.path(), committed.0, committed.1).unwrap();
        assert_eq!(reader.path(1), b"secret.txt");
        writer.forget().unwrap();
        assert_eq!((reader.path(0), reader.path(1)), (&b"kept.txt"[..], &b""[..]));
        let all = std::fs::read(folder.path().join(PATHS)).unwrap();
        assert!(!all.windows(6).any(|part| part == b"secret"));

        assert_eq!(writer.push("next.txt", 3).unwrap(), 2);
        writer.sync().unwrap();
        let (rows, bytes) = writer.size();
        let reader = PathColumn::open(folder.path(), rows, bytes).unwrap();
        assert_eq!((reader.path(1), reader.owner(1)), (&b"next.txt"[..], 3));
        assert!(reader.faults().is_empty());
    }

    #[test]
    fn blank_tail_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ColumnWriter::open(folder.path(), 0, 0).unwrap();
        writer.push("secret.txt", 1).unwrap();
        writer.sync().unwrap();
        drop(writer);
        let path = folder.path().join(PATHS);
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
        let mut is_written = [false; 2];
        for is_written in &mut is_written {
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            file.set_modified(long_ago).unwrap();
            drop(file);
            drop(ColumnWriter::open(folder.path(), 0, 0).unwrap());
            *is_written = std::fs::metadata(&path).unwrap().modified().unwrap() != long_ago;
        }
        assert_eq!(is_written, [true, false]);
        assert_eq!(std::fs::read(&path).unwrap(), [0; 11]);
    }
}
