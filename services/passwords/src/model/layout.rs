//! Fixed sizes in a corpus file.

use domain::HashPrefix;

/// Length of the header in bytes.
pub const HEADER_BYTES: usize = 4096;
/// Number of prefixes.
pub const PREFIXES: usize = HashPrefix::COUNT as usize;
/// Length of an index entry in bytes.
pub const INDEX_ENTRY_BYTES: usize = 16;
/// Length of the index region in bytes. It has one entry more than there are prefixes, so that the
/// last bucket has an end, too.
pub const INDEX_BYTES: usize = (PREFIXES + 1) * INDEX_ENTRY_BYTES;
/// The offset of the data in the file.
pub const DATA_START: u64 = (HEADER_BYTES + INDEX_BYTES) as u64;
