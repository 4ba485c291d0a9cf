//! The index checked against itself and against the bucket table.

use std::collections::BTreeMap;

use super::LoadError;
use super::session::Workshop;
use crate::store::bucket;

/// Names every fault; none: all is well.
pub fn faults(shop: &Workshop) -> Result<Vec<String>, LoadError> {
    let index = shop.open_index()?;
    let mut faults = index.verify()?;
    let snapshot = index.snapshot();
    let buckets: BTreeMap<u64, bool> = shop
        .pools
        .read_blocking(bucket::all)?
        .into_iter()
        .map(|bucket| (bucket.id, bucket.first_indexed.is_some()))
        .collect();
    let just_published: Vec<u64> = snapshot
        .journal
        .published
        .iter()
        .flat_map(|published| published.buckets.iter().map(|bucket| bucket.id))
        .collect();
    for (id, count) in snapshot.counts.iter() {
        match buckets.get(id) {
            None => faults.push(format!("bucket {id} has {count} files but no row")),
            Some(false) if !just_published.contains(id) => {
                faults.push(format!("bucket {id} has {count} files but is not listed"));
            }
            Some(_) => {}
        }
    }
    Ok(faults)
}
