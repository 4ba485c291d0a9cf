//! Counts of the files of a search by bucket and by extension.

use std::collections::BTreeMap;

/// Counts of all files of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Files by bucket.
    pub buckets: BTreeMap<u64, u64>,
    /// Files by their shortest extension. Files without an extension are not included.
    pub extensions: BTreeMap<String, u64>,
}

impl Facets {
    /// Returns the exact number of matching files.
    pub fn total(&self) -> u64 {
        self.buckets.values().sum()
    }
}
