//! How many files and buckets there are.

/// Numbers of files and buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub files: u64,
    /// Buckets by the code of their type.
    pub buckets: [u64; 5],
}
