//! Searches by directory, which is faster than searching every path.
//!
//! The directory of a path is everything up to and including its last slash. Files in the same
//! directory are mostly next to each other, so the list of distinct directories is much shorter
//! than the list of paths. It is built from the path column on first use and dropped along with the
//! view.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use regex_automata::meta::Regex;

use super::column::PathColumn;
use super::hits::each_hit;
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;

/// Rows per part. Parts are small because each thread can exceed the memory limit by one part.
const PART: u64 = 16 * 1_024;
/// Memory limit for the directories, in bytes. If the directories need more, they can't be much
/// shorter than the paths.
const MOST_BYTES: usize = 128 << 20;

/// The directories of all paths.
#[derive(Debug, Default)]
pub(super) struct Directories {
    parts: Vec<Part>,
}

/// The directories for a range of rows.
#[derive(Debug, Default)]
struct Part {
    rows: Range<u64>,
    /// Directories with their trailing slash, each followed by a NUL.
    text: Vec<u8>,
    stretches: Vec<Stretch>,
}

/// Consecutive rows in the same directory.
#[derive(Debug)]
struct Stretch {
    /// The first row, relative to the part. The stretch ends where the next one starts.
    first: u32,
    /// End of the directory in the text, including its NUL.
    end: u32,
}

impl Directories {
    /// Collects the directories of all rows. Returns `None` if they take up too much memory.
    pub(super) fn gather(
        column: &PathColumn,
        limits: &Limits,
    ) -> Result<Option<Self>, EngineError> {
        let mut parts: Vec<Part> = (0..column.rows().div_ceil(PART))
            .map(|part| part * PART)
            .map(|first| Part { rows: first..(first + PART).min(column.rows()), ..Part::default() })
            .collect();
        let next = Mutex::new(parts.iter_mut());
        let stopped = AtomicBool::new(false);
        let bytes = AtomicUsize::new(0);
        let work = || {
            while bytes.load(Ordering::Relaxed) <= MOST_BYTES {
                let Some(part) = next.lock().next() else { return };
                if limits.check().is_err() {
                    return stopped.store(true, Ordering::Relaxed);
                }
                part.gather(column);
                bytes.fetch_add(part.bytes(), Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..limits.threads {
                scope.spawn(work);
            }
            work();
        });
        if stopped.load(Ordering::Relaxed) {
            return Err(EngineError::Stopped);
        }
        Ok((bytes.into_inner() <= MOST_BYTES).then_some(Self { parts }))
    }

    /// Returns the rows whose directory matches a core. Cores never match NULs.
    pub(super) fn rows_with(&self, core: &Regex, limits: &Limits) -> Result<Bitmap, EngineError> {
        let mut rows = Bitmap::new(self.parts.last().map_or(0, |part| part.rows.end));
        let mut cache = core.create_cache();
        for part in &self.parts {
            each_hit(core, &mut cache, &part.text, 0..part.text.len(), limits, |byte| {
                let place = part.stretch_at(byte);
                rows.insert_range(part.rows_of(place));
                Ok(part.stretches[place].end as usize)
            })?;
        }
        Ok(rows)
    }
}

impl Part {
    fn gather(&mut self, column: &PathColumn) {
        let mut last: Option<&[u8]> = None;
        for row in self.rows.clone() {
            let path = column.path(row);
            // Purged rows never match, so it doesn't matter to which directory they are assigned.
            if path.is_empty() || last.is_some_and(|last| is_directly_in(path, last)) {
                continue;
            }
            let directory = &path[..memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1)];
            self.text.extend_from_slice(directory);
            self.text.push(0);
            let first = (row - self.rows.start) as u32;
            self.stretches.push(Stretch { first, end: self.text.len() as u32 });
            last = Some(directory);
        }
        self.text.shrink_to_fit();
        self.stretches.shrink_to_fit();
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.stretches.len() * size_of::<Stretch>()
    }

    /// Finds the stretch whose directory contains byte `at` of the text.
    fn stretch_at(&self, at: usize) -> usize {
        self.stretches.partition_point(|stretch| stretch.end as usize <= at)
    }

    fn rows_of(&self, place: usize) -> Range<u64> {
        let first = |stretch: &Stretch| self.rows.start + u64::from(stretch.first);
        let end = self.stretches.get(place + 1).map_or(self.rows.end, first);
        first(&self.stretches[place])..end
    }
}

/// Returns `true` if a file is directly in the directory and not in a subdirectory.
fn is_directly_in(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| memchr::memchr(b'/', rest).is_none())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::column::ColumnWriter;
    use super::*;

    #[test]
    fn expressions_select_rows_of_directories() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ColumnWriter::open(folder.path(), 0, 0).unwrap();
        let paths = ["top", "a/1", "a/2", "a/b/3", "a/b/", "a/4", "c/1", "b", "a/b/a/x"];
        paths.iter().for_each(|path| assert!(writer.push(path, 1).is_ok()));
        writer.sync().unwrap();
        let (rows, bytes) = writer.size();
        let column = PathColumn::open(folder.path(), rows, bytes).unwrap();
        writer.purge(&column, &[1]).unwrap();
        let limits = Limits::until(Instant::now() + Duration::from_secs(60), 2);
        let directories = Directories::gather(&column, &limits).unwrap().unwrap();
        let found = |text: &str| {
            let rows = directories.rows_with(&Regex::new(text).unwrap(), &limits).unwrap();
            (0..9).filter(|&row| rows.contains(row) && row != 1).collect::<Vec<u64>>()
        };
        assert_eq!(found("a/"), [2, 3, 4, 5, 8]);
        assert_eq!(found("b"), [3, 4, 8]);
        assert_eq!(found("c/|/b/"), [3, 4, 6, 8]);
        assert_eq!(found("x|top|1"), [0u64; 0]);
    }
}
