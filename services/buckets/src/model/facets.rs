//! Counts of search results by bucket and by extension.

use std::collections::BTreeMap;

/// Counts over all results of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Number of files, by bucket id.
    pub buckets: BTreeMap<u64, u64>,
    /// Number of files, by shortest extension. Files without an extension aren't counted.
    pub extensions: BTreeMap<String, u64>,
}

impl Facets {
    /// The exact total.
    pub fn total(&self) -> u64 {
        self.buckets.values().sum()
    }
}
