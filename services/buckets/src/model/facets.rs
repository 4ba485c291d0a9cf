//! Search result counts by bucket and by extension.

use std::collections::BTreeMap;

/// Counts over all of a search's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Number of files, by bucket id.
    pub buckets: BTreeMap<u64, u64>,
    /// Number of files, by shortest extension. Files without an extension aren't counted.
    pub extensions: BTreeMap<String, u64>,
}

impl Facets {
    /// Returns the exact total.
    pub fn total(&self) -> u64 {
        self.buckets.values().sum()
    }
}
