//! Limits how many files a publish is allowed to remove.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Limits the number of files that a publish is allowed to remove from a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovalLimit {
    /// Buckets with at most this number of files are exempt.
    pub files: u64,
    /// Maximum percentage of files that a larger bucket is allowed to lose.
    pub percent: u64,
}

impl Default for RemovalLimit {
    fn default() -> Self {
        Self { files: 1_000, percent: 50 }
    }
}

/// Number of files that a publish removes from a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketLoss {
    /// Files that aren't in the run.
    pub removed: u64,
    /// Files before the run.
    pub before: u64,
}

impl RemovalLimit {
    /// Returns the buckets that would lose too many files.
    pub(super) fn exceeded(self, losses: BTreeMap<u64, BucketLoss>) -> Vec<(u64, BucketLoss)> {
        let is_too_much = |loss: &BucketLoss| {
            let share = u128::from(loss.before) * u128::from(self.percent);
            loss.before > self.files && u128::from(loss.removed) * 100 > share
        };
        losses.into_iter().filter(|(_, loss)| is_too_much(loss)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_losses_of_large_buckets_exceed() {
        let limit = RemovalLimit::default();
        let exceeds = |removed, before| {
            !limit.exceeded(BTreeMap::from([(1, BucketLoss { removed, before })])).is_empty()
        };
        assert!(!exceeds(1_000, 1_000));
        assert!(exceeds(501, 1_001) && !exceeds(500, 1_001));
        assert!(exceeds(1_001, 2_000) && !exceeds(1_000, 2_000));
        assert!(exceeds(u64::MAX, u64::MAX));
    }
}
