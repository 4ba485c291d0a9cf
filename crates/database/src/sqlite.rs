//! SQLite tuning.

use std::time::Duration;

/// How long a command pauses between long SQLite transactions. This gives other writers, which poll
/// every 100 ms, a chance to get the lock.
pub const WRITERS_GAP: Duration = Duration::from_millis(120);

/// SQLite tuning options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Page size of new files in bytes. `None` means SQLite's default of 4096.
    pub page_size: Option<u32>,
    /// Size of each connection's page cache, in KiB.
    pub cache_kib: u32,
    /// Maximum number of bytes of the file to memory-map.
    pub mmap_bytes: u64,
    /// Whether to overwrite deleted rows with zeros.
    pub secure_delete: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { page_size: None, cache_kib: 16_384, mmap_bytes: 256 << 20, secure_delete: false }
    }
}
