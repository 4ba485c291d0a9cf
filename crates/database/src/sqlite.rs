//! The tuning of SQLite.

use std::time::Duration;

/// How long a command rests between long transactions on SQLite, so that others have a turn: those who
/// wait for the write lock ask for it every tenth of a second.
pub const WRITERS_GAP: Duration = Duration::from_millis(120);

/// How SQLite is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Bytes of a page; heeded when the file is made, later ignored. `None`: SQLite's own 4096.
    pub page_size: Option<u32>,
    /// Kibibytes of page cache of each connection.
    pub cache_kib: u32,
    /// Bytes of the file that are mapped into memory.
    pub mmap_bytes: u64,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { page_size: None, cache_kib: 16_384, mmap_bytes: 256 << 20 }
    }
}
