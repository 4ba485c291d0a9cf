//! File and bucket counts.

/// File and bucket counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of files.
    pub files: u64,
    /// Number of buckets, by type code.
    pub buckets: [u64; 5],
}
