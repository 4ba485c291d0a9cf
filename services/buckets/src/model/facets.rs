//! Counts of the files of a search by bucket and by extension.

use std::collections::BTreeMap;

/// Counts of all files that match a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Number of files, by bucket id.
    pub buckets: BTreeMap<u64, u64>,
    /// Number of files by their shortest extension. Files without an extension do not count.
    pub extensions: BTreeMap<String, u64>,
}

impl Facets {
    /// Returns the exact number of matching files.
    pub fn total(&self) -> u64 {
        self.buckets.values().sum()
    }
}
