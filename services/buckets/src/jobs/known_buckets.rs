//! Looks up buckets by address.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use database::{DatabaseError, Pools};

use crate::model::address::{Address, AddressError, BucketType};
use crate::store::buckets;

/// The bucket for an address.
#[derive(Clone, Debug)]
pub struct Target {
    pub id: u64,
    pub kind: BucketType,
    /// Normalised address.
    pub address: String,
    /// A key that all of the bucket's addresses have in common.
    pub key: String,
}

/// Maximum number of address spellings to cache, and their maximum length in bytes.
const MOST_WRITTEN: usize = 20_000;
const LONGEST_WRITTEN: usize = 512;

/// Maps addresses to buckets.
pub struct KnownBuckets {
    known: BucketTable,
    hashers: (RandomState, RandomState),
    written: HashMap<(String, String), Result<Target, String>>,
    next: u64,
    /// Buckets that aren't in SQL yet.
    pub new: Vec<(u64, String, BucketType)>,
}

impl KnownBuckets {
    /// Loads all buckets. New ones get ids above `largest` and above all ids in SQL.
    pub fn read(pools: &Pools, largest: u64) -> Result<Self, DatabaseError> {
        let hashers = (RandomState::new(), RandomState::new());
        let (known, in_sql) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let (mut known, mut all) = (BucketTable::default(), Ok(()));
            buckets::each(db, |bucket| {
                let fingerprint = fingerprint(&hashers, &bucket.address);
                if all.is_ok() {
                    all = known.insert(fingerprint, bucket.id, bucket.kind);
                }
            })?;
            all.map_err(DatabaseError::broken)?;
            Ok((known, buckets::largest_id(db)?))
        })?;
        let next = largest.max(in_sql) + 1;
        Ok(Self { known, hashers, written: HashMap::new(), next, new: Vec::new() })
    }

    /// Returns the id of the bucket for an address, unless the bucket is new.
    pub fn find(&self, written: &str) -> Option<u64> {
        let address = Address::parse(written).ok()?;
        let (id, _) = self.known.get(fingerprint(&self.hashers, address.as_str()))?;
        Some(id)
    }

    /// Returns the bucket for an address, creating it if necessary. Returns an error message if the
    /// address is invalid.
    pub fn target(&mut self, written: &str, kind: Option<&str>) -> Result<Target, String> {
        if written.len() > LONGEST_WRITTEN || kind.is_some_and(|kind| kind.len() > LONGEST_WRITTEN)
        {
            return self.resolve(written, kind);
        }
        let key = (written.to_owned(), kind.unwrap_or_default().to_owned());
        if let Some(known) = self.written.get(&key) {
            return known.clone();
        }
        let found = self.resolve(written, kind);
        if self.written.len() >= MOST_WRITTEN {
            self.written.clear();
        }
        self.written.insert(key, found.clone());
        found
    }

    fn resolve(&mut self, written: &str, kind: Option<&str>) -> Result<Target, String> {
        let kind = kind.filter(|kind| !kind.is_empty()).map(str::parse).transpose();
        let kind = kind.map_err(|error: AddressError| error.to_string())?;
        let (address, kind) =
            Address::parse_typed(written, kind).map_err(|error| error.to_string())?;
        let (key, address) = (address.bucket_key(), address.as_str().to_owned());
        let fingerprint = fingerprint(&self.hashers, &address);
        if let Some((id, kind)) = self.known.get(fingerprint) {
            return Ok(Target { id, kind, address, key });
        }
        let id = self.next;
        self.known.insert(fingerprint, id, kind)?;
        self.next += 1;
        self.new.push((id, address.clone(), kind));
        Ok(Target { id, kind, address, key })
    }
}

/// 96 bits. In practice, that's enough to identify an address.
type Fingerprint = [u32; 3];

/// Computes the fingerprint of an address. The hashers have random keys, so attackers can't
/// construct collisions.
fn fingerprint(hashers: &(RandomState, RandomState), address: &str) -> Fingerprint {
    let (first, second) = (hashers.0.hash_one(address), hashers.1.hash_one(address));
    [first as u32, (first >> 32) as u32, second as u32]
}

/// Number of maps in a [`BucketTable`].
const SHARDS: usize = 64;

/// Buckets by fingerprint. For a million addresses, this takes less than half of the 100 MiB that
/// the addresses themselves would need. It is split into many small maps because a growing map
/// briefly needs twice the memory.
struct BucketTable {
    shards: Vec<HashMap<Fingerprint, (u32, BucketType)>>,
}

impl Default for BucketTable {
    fn default() -> Self {
        Self { shards: vec![HashMap::new(); SHARDS] }
    }
}

impl BucketTable {
    fn get(&self, fingerprint: Fingerprint) -> Option<(u64, BucketType)> {
        let &(id, kind) = self.shards[shard_of(fingerprint)].get(&fingerprint)?;
        Some((u64::from(id), kind))
    }

    /// Adds a bucket.
    ///
    /// # Errors
    /// Returns an error if the id is too large for the index.
    fn insert(&mut self, key: Fingerprint, id: u64, kind: BucketType) -> Result<(), String> {
        let id = u32::try_from(id).map_err(|_| "there are no more bucket ids".to_owned())?;
        self.shards[shard_of(key)].insert(key, (id, kind));
        Ok(())
    }
}

fn shard_of(fingerprint: Fingerprint) -> usize {
    fingerprint[0] as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_buckets_are_small() {
        assert!(size_of::<(Fingerprint, (u32, BucketType))>() <= 20);
    }

    #[test]
    fn buckets_are_found_by_fingerprint() {
        let hashers = (RandomState::new(), RandomState::new());
        let mut table = BucketTable::default();
        for id in 0..5_000 {
            let key = fingerprint(&hashers, &format!("b{id}.s3.amazonaws.com"));
            table.insert(key, id, BucketType::Aws).unwrap();
        }
        for id in 0..5_000 {
            let key = fingerprint(&hashers, &format!("b{id}.s3.amazonaws.com"));
            assert_eq!(table.get(key), Some((id, BucketType::Aws)));
        }
        assert_eq!(table.get(fingerprint(&hashers, "c.s3.amazonaws.com")), None);
        let key = fingerprint(&hashers, "d.s3.amazonaws.com");
        assert!(table.insert(key, 1 << 32, BucketType::Aws).is_err());
    }
}
