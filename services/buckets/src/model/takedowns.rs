//! Files that removals hide before the data is erased.

/// The files of a bucket whose paths begin with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenPaths {
    /// Id of the bucket.
    pub bucket: u64,
    /// The prefix; never empty.
    pub prefix: String,
}

/// The files that searches hide because their removal is pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Takedowns {
    /// Buckets that are hidden as a whole, in ascending order of id.
    pub buckets: Vec<u64>,
    /// Parts of other buckets.
    pub paths: Vec<HiddenPaths>,
}

impl Takedowns {
    /// Adds a removal. An empty prefix means the whole bucket.
    pub fn add(&mut self, bucket: u64, prefix: &str) {
        if prefix.is_empty() {
            if let Err(place) = self.buckets.binary_search(&bucket) {
                self.buckets.insert(place, bucket);
            }
        } else {
            self.paths.push(HiddenPaths { bucket, prefix: prefix.to_owned() });
        }
    }

    /// Returns true if a whole bucket is hidden.
    pub fn hides_bucket(&self, bucket: u64) -> bool {
        self.buckets.binary_search(&bucket).is_ok()
    }

    /// Returns true if a file is hidden.
    pub fn hides(&self, bucket: u64, path: &str) -> bool {
        let below = |hidden: &HiddenPaths| {
            hidden.bucket == bucket && path.starts_with(hidden.prefix.as_str())
        };
        self.hides_bucket(bucket) || self.paths.iter().any(below)
    }
}
