//! The fixed sizes of a corpus file.

use domain::HashPrefix;

/// Length of the header.
pub const HEADER_BYTES: usize = 4096;
/// The number of prefixes.
pub const PREFIXES: usize = HashPrefix::COUNT as usize;
/// Length of an index entry.
pub const INDEX_ENTRY_BYTES: usize = 16;
/// Length of the index region: one more entry than there are prefixes, so each bucket has an end.
pub const INDEX_BYTES: usize = (PREFIXES + 1) * INDEX_ENTRY_BYTES;
/// The offset of the data.
pub const DATA_START: u64 = (HEADER_BYTES + INDEX_BYTES) as u64;
