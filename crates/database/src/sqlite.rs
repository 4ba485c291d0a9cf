//! The tuning of SQLite.

use std::time::Duration;

/// The pause of a command between long transactions on SQLite, so that other writers, which poll
/// every 100 ms, can take the lock.
pub const WRITERS_GAP: Duration = Duration::from_millis(120);

/// The tuning of SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// The page size of a new file in bytes. `None` for SQLite's default of 4096.
    pub page_size: Option<u32>,
    /// The page cache of each connection in KiB.
    pub cache_kib: u32,
    /// The number of bytes of the file that are memory-mapped.
    pub mmap_bytes: u64,
    /// Whether deleted rows are overwritten with zeros.
    pub secure_delete: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { page_size: None, cache_kib: 16_384, mmap_bytes: 256 << 20, secure_delete: false }
    }
}
