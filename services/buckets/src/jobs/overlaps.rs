//! Finds crawls that are listing a bucket while another run publishes some of its files.

use std::collections::HashSet;

use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use super::options::LoadOptions;
use crate::engine::NamedBucket;
use crate::store::{buckets, crawl_listings, load_runs};

/// Returns the `named` buckets that other crawls are listing, and the time at which the run's own
/// listing began. Crawls that started listing before that time don't know about the run's files, so
/// they must not remove them.
pub(super) fn listed_meanwhile(
    context: &JobContext,
    options: &LoadOptions,
    run: u64,
    named: &[NamedBucket],
) -> Result<(HashSet<u64>, i64), JobError> {
    let stored = options.sources.iter().filter_map(|source| source.stored.as_ref());
    let stored = stored.map(|listing| listing.begun_at).min();
    let now = context.clock.unix();
    Ok(context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
        let begun = match stored {
            Some(begun) => begun,
            None => load_runs::find(db, run)?.map_or(now, |run| run.started_at),
        };
        let mut found = HashSet::new();
        for (_, address) in crawl_listings::listing(db, begun, now)? {
            let id = buckets::by_address(db, &address)?.map(|bucket| bucket.id);
            let is_named = |id: &u64| named.binary_search_by_key(id, |bucket| bucket.id).is_ok();
            found.extend(id.filter(is_named));
        }
        Ok((found, begun))
    })?)
}
