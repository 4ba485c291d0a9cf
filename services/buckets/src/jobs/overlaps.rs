//! Crawls that list a bucket while another run publishes files of it.

use std::collections::HashSet;

use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use super::options::LoadOptions;
use crate::engine::NamedBucket;
use crate::store::{buckets, crawls};

/// Returns those of the buckets that other crawls are listing. These listings are older than the run,
/// so they must not remove files that the run lists.
pub(super) fn listed_meanwhile(
    context: &JobContext,
    options: &LoadOptions,
    named: &[NamedBucket],
) -> Result<HashSet<u64>, JobError> {
    let stored = options.sources.iter().filter_map(|source| source.stored.as_ref());
    let own: Vec<i64> = stored.map(|listing| listing.crawl).collect();
    Ok(context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
        let mut found = HashSet::new();
        for (crawl, address) in crawls::listing(db)? {
            if own.contains(&crawl) {
                continue;
            }
            let id = buckets::by_address(db, &address)?.map(|bucket| bucket.id);
            let is_named = |id: &u64| named.binary_search_by_key(id, |bucket| bucket.id).is_ok();
            found.extend(id.filter(is_named));
        }
        Ok(found)
    })?)
}
