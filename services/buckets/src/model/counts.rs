//! Numbers of files and buckets.

/// Numbers of files and buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub files: u64,
    /// Buckets by type code.
    pub buckets: [u64; 5],
}
