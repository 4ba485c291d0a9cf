//! What requests read without asking the database: buckets with their counts, and packages.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db};

use crate::engine::{FileIndex, Snapshot};
use crate::model::address::Address;
use crate::model::package::{Capability, Package};
use crate::store::bucket::{self, Bucket};
use crate::store::{package, run};

/// Buckets, packages and the index that belong together.
pub struct Catalog {
    /// The index.
    pub index: Arc<dyn FileIndex>,
    /// Its state when the catalog was read.
    pub snapshot: Arc<Snapshot>,
    /// Generation of the index.
    pub generation: u32,
    /// Version of the SQL rows.
    pub version: i64,
    /// Packages, cheapest first.
    pub packages: Vec<Package>,
    buckets: Vec<Bucket>,
    by_address: HashMap<String, usize>,
}

/// Numbers of files and buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub files: u64,
    /// Buckets by the code of their type.
    pub buckets: [u64; 5],
}

impl Catalog {
    /// Reads buckets and packages for a state of the index.
    pub fn read(
        db: &mut Db,
        index: Arc<dyn FileIndex>,
        generation: u32,
        version: i64,
    ) -> Result<Self, DatabaseError> {
        let snapshot = index.snapshot();
        let mut buckets = bucket::all(db)?;
        // A publish is in force before its SQL rows say so.
        if let Some(published) = &snapshot.journal.published
            && run::find(db, published.run)?.is_some_and(|run| run.state != "published")
        {
            for named in &published.buckets {
                if let Ok(place) = buckets.binary_search_by_key(&named.id, |bucket| bucket.id) {
                    buckets[place].first_indexed.get_or_insert(published.at);
                }
            }
        }
        let addresses = buckets.iter().enumerate();
        let by_address = addresses.map(|(place, b)| (b.address.clone(), place)).collect();
        let packages = package::all(db)?;
        Ok(Self { index, snapshot, generation, version, packages, buckets, by_address })
    }

    /// The same buckets with other packages.
    pub fn with_packages(&self, packages: Vec<Package>) -> Self {
        Self {
            index: Arc::clone(&self.index),
            snapshot: Arc::clone(&self.snapshot),
            generation: self.generation,
            version: self.version,
            packages,
            buckets: self.buckets.clone(),
            by_address: self.by_address.clone(),
        }
    }

    /// A bucket by its id.
    pub fn bucket(&self, id: u64) -> Option<&Bucket> {
        let place = self.buckets.binary_search_by_key(&id, |bucket| bucket.id).ok()?;
        self.buckets.get(place)
    }

    /// The ids behind the parts of a bucket filter, ascending; unknown parts give none.
    pub fn bucket_ids(&self, parts: &[String]) -> Vec<u64> {
        let mut ids: Vec<u64> = parts.iter().filter_map(|part| self.bucket_id(part)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn bucket_id(&self, part: &str) -> Option<u64> {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            return part.parse().ok();
        }
        let address = Address::parse(part).ok()?;
        self.by_address.get(address.as_str()).map(|&place| self.buckets[place].id)
    }

    /// Listed buckets by ascending id; with `since`, those first indexed by then.
    pub fn listed(&self, since: Option<i64>) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().filter(move |bucket| {
            let first = bucket.first_indexed;
            first.is_some_and(|first| since.is_none_or(|since| first <= since))
        })
    }

    /// Buckets first indexed after `since`, by ascending id.
    pub fn young(&self, since: i64) -> Vec<u64> {
        let young = |bucket: &&Bucket| bucket.first_indexed.is_none_or(|first| first > since);
        self.buckets.iter().filter(young).map(|bucket| bucket.id).collect()
    }

    /// Files of a bucket.
    pub fn file_count(&self, id: u64) -> u64 {
        self.snapshot.counts.get(&id).copied().unwrap_or(0)
    }

    /// Numbers over listed buckets; with `since`, those first indexed by then.
    pub fn counts(&self, since: Option<i64>) -> Counts {
        let mut counts = Counts::default();
        for bucket in self.listed(since) {
            counts.files += self.file_count(bucket.id);
            counts.buckets[bucket.kind as usize] += 1;
        }
        counts
    }

    /// The package of a plan; a key without a plan has the cheapest.
    pub fn package(&self, plan: Option<&str>) -> Package {
        let named = self.packages.iter().find(|package| Some(package.code.as_str()) == plan);
        let [free, ..] = Package::seeds();
        named.or(self.packages.first()).cloned().unwrap_or(free)
    }

    /// The cheapest package with a capability.
    pub fn cheapest_with(&self, capability: Capability) -> Option<&Package> {
        self.packages.iter().find(|package| package.allows(capability))
    }
}
