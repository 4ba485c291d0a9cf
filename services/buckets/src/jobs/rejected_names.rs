//! The files that bad lines name.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::fingerprint::fingerprint;

/// Maximum number of files. Every checkpoint contains them.
const MOST: usize = 5_000;

/// Indexed files that a run's bad lines name, by bucket, as fingerprints of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedNames(BTreeMap<u64, BTreeSet<u64>>);

impl RejectedNames {
    /// Adds a file. Returns `false` if there are too many.
    pub fn add(&mut self, bucket: u64, path: &str) -> bool {
        let name = fingerprint(path);
        if self.0.get(&bucket).is_some_and(|names| names.contains(&name)) {
            return true;
        }
        let count: usize = self.0.values().map(BTreeSet::len).sum();
        if count < MOST {
            self.0.entry(bucket).or_default().insert(name);
        }
        count < MOST
    }

    /// Drops a file, because the run contains it after all.
    pub fn forget(&mut self, bucket: u64, path: &str) {
        // Usually, there are none.
        if let Some(names) = self.0.get_mut(&bucket) {
            names.remove(&fingerprint(path));
        }
    }

    /// Drops all files of a bucket.
    pub fn forget_bucket(&mut self, bucket: u64) {
        self.0.remove(&bucket);
    }

    /// Returns the buckets that have such files.
    pub fn buckets(&self) -> impl Iterator<Item = u64> {
        self.0.iter().filter(|(_, names)| !names.is_empty()).map(|(&bucket, _)| bucket)
    }

    /// Returns `true` if a bad line names the file.
    pub fn contain(&self, bucket: u64, path: &str) -> bool {
        self.0.get(&bucket).is_some_and(|names| names.contains(&fingerprint(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_names_is_limited() {
        let mut names = RejectedNames::default();
        assert!((0..MOST).all(|n| names.add(n as u64 % 3, &n.to_string())));
        assert!(!names.add(7, "more"));
        assert!(names.add(0, "0"), "it is known");
        assert_eq!(names.buckets().collect::<Vec<_>>(), [0, 1, 2]);
        names.forget(0, "0");
        assert!(!names.contain(0, "0") && names.contain(1, "1") && !names.contain(1, "3"));
        names.forget_bucket(1);
        assert!(!names.contain(1, "1") && names.add(7, "more"));
    }
}
