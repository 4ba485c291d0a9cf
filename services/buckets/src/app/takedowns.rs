//! Reads the removals that hide files. Files are hidden as soon as their removal is pending, and
//! erased later.

use std::collections::BTreeMap;

use database::{DatabaseError, Db};

use crate::engine::{EngineError, FileIndex, Limits};
use crate::model::file_query::FileQuery;
use crate::model::takedowns::{HiddenPaths, Takedowns};
use crate::state::Snapshot;
use crate::store::{buckets, removals};

/// Reads the pending removals, skipping unknown buckets.
pub fn pending_takedowns(db: &mut Db) -> Result<Takedowns, DatabaseError> {
    let mut takedowns = Takedowns::default();
    for removal in removals::pending(db)? {
        if let Some(bucket) = buckets::by_address(db, &removal.address)? {
            takedowns.add(bucket.id, &removal.prefix);
        }
    }
    Ok(takedowns)
}

/// Reads all removals in force, pending or completed, of the buckets in a snapshot. An index from
/// before a rebuild needs all of them, because removals are only carried out in the current index.
pub fn takedowns_in_force(db: &mut Db, snapshot: &Snapshot) -> Result<Takedowns, DatabaseError> {
    let mut takedowns = Takedowns::default();
    for removal in removals::in_force(db)? {
        if let Some(bucket) = snapshot.bucket_at(&removal.address) {
            takedowns.add(bucket.id, &removal.prefix);
        }
    }
    Ok(takedowns)
}

/// Counts hidden files in buckets that are only partly hidden.
pub fn count_hidden(
    index: &dyn FileIndex,
    takedowns: &Takedowns,
) -> Result<BTreeMap<u64, u64>, EngineError> {
    let mut counts = BTreeMap::new();
    for paths in &takedowns.paths {
        if counts.contains_key(&paths.bucket) {
            continue;
        }
        let is_own = |other: &&HiddenPaths| other.bucket == paths.bucket;
        let own = takedowns.paths.iter().filter(is_own).cloned().collect();
        let count = |hidden: Vec<HiddenPaths>| -> Result<u64, EngineError> {
            let buckets = Some(vec![paths.bucket]);
            let query = FileQuery { buckets, hidden, limit: 0, ..FileQuery::default() };
            Ok(index.search(&query, &Limits::none())?.total)
        };
        let hidden = count(Vec::new())?.saturating_sub(count(own)?);
        counts.insert(paths.bucket, hidden);
    }
    Ok(counts)
}
