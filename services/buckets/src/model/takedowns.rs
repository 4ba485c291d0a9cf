//! Files that removals hide until their data is erased.

/// The files in a bucket whose path starts with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenPaths {
    /// Bucket id.
    pub bucket: u64,
    /// Path prefix. Never empty.
    pub prefix: String,
}

/// Files to hide from searches because they are about to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Takedowns {
    /// Buckets hidden as a whole, in ascending order of id.
    pub buckets: Vec<u64>,
    /// Prefixes in other buckets.
    pub paths: Vec<HiddenPaths>,
}

impl Takedowns {
    /// Adds a removal. An empty prefix hides the whole bucket.
    pub fn add(&mut self, bucket: u64, prefix: &str) {
        if prefix.is_empty() {
            if let Err(place) = self.buckets.binary_search(&bucket) {
                self.buckets.insert(place, bucket);
            }
        } else {
            self.paths.push(HiddenPaths { bucket, prefix: prefix.to_owned() });
        }
    }

    /// Adds other removals, without duplicates.
    pub fn add_all(&mut self, others: &Self) {
        others.buckets.iter().for_each(|bucket| self.add(*bucket, ""));
        for paths in &others.paths {
            if !self.paths.contains(paths) {
                self.paths.push(paths.clone());
            }
        }
    }

    /// Returns `true` if the whole bucket is hidden.
    pub fn hides_bucket(&self, bucket: u64) -> bool {
        self.buckets.binary_search(&bucket).is_ok()
    }

    /// Returns `true` if the file is hidden.
    pub fn hides(&self, bucket: u64, path: &str) -> bool {
        let below = |hidden: &HiddenPaths| {
            hidden.bucket == bucket && path.starts_with(hidden.prefix.as_str())
        };
        self.hides_bucket(bucket) || self.paths.iter().any(below)
    }
}
