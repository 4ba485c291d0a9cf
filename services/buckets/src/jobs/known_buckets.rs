//! The buckets of a run by their addresses.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use database::{DatabaseError, Pools};

use crate::model::address::{Address, AddressError, BucketType};
use crate::store::buckets;

/// The bucket of an address.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its id.
    pub id: u64,
    /// Its type.
    pub kind: BucketType,
    /// Its normalised address.
    pub address: String,
}

/// Maximum number of cached spellings of addresses, and their maximum length in bytes.
const MOST_WRITTEN: usize = 20_000;
const LONGEST_WRITTEN: usize = 512;

/// Assigns addresses to buckets.
pub struct KnownBuckets {
    /// Buckets by the fingerprints of their addresses, because a million addresses take 100 MiB.
    known: HashMap<(u64, u64), (u64, BucketType)>,
    hashers: (RandomState, RandomState),
    written: HashMap<(String, String), Result<Target, String>>,
    next: u64,
    /// Buckets that are not in SQL yet.
    pub new: Vec<(u64, String, BucketType)>,
}

impl KnownBuckets {
    /// Reads all buckets. New ones get ids above `largest` and above all ids in SQL.
    pub fn read(pools: &Pools, largest: u64) -> Result<Self, DatabaseError> {
        let hashers = (RandomState::new(), RandomState::new());
        let (known, in_sql) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let mut known = HashMap::new();
            buckets::each(db, |bucket| {
                known.insert(fingerprint(&hashers, &bucket.address), (bucket.id, bucket.kind));
            })?;
            Ok((known, buckets::largest_id(db)?))
        })?;
        let next = largest.max(in_sql) + 1;
        Ok(Self { known, hashers, written: HashMap::new(), next, new: Vec::new() })
    }

    /// Returns the bucket of an address, which may be new, or the reason the address is bad.
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
        let address = address.as_str().to_owned();
        let fingerprint = fingerprint(&self.hashers, &address);
        if let Some(&(id, kind)) = self.known.get(&fingerprint) {
            return Ok(Target { id, kind, address });
        }
        let id = self.next;
        self.next += 1;
        self.known.insert(fingerprint, (id, kind));
        self.new.push((id, address.clone(), kind));
        Ok(Target { id, kind, address })
    }
}

/// Returns 128 bits that practically identify an address. The hashers are random, so equal
/// fingerprints cannot be constructed.
fn fingerprint(hashers: &(RandomState, RandomState), address: &str) -> (u64, u64) {
    (hashers.0.hash_one(address), hashers.1.hash_one(address))
}
