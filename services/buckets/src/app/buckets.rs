//! Searches for buckets.

use std::cmp::Ordering;

use database::off_worker;

use crate::error::Error;
use crate::metrics;
use crate::model::address::Address;
use crate::model::package::Package;
use crate::state::{Snapshot, State};
use crate::store::buckets::Bucket;
use crate::wire::BucketOrder;
use crate::wire::buckets::{BucketMeta, BucketRecord, BucketSearch, BucketsAnswer};

/// Lists the matching buckets that the caller's package can see.
pub async fn list_buckets(
    state: &State,
    plan: Option<&str>,
    search: BucketSearch,
) -> Result<BucketsAnswer, Error> {
    let snapshot = state.snapshot();
    let package = snapshot.package(plan);
    let now = state.clock().unix();
    // Comparing hundreds of thousands of addresses takes a while, so keep this off the async
    // workers.
    let listed = off_worker(move || answer(search, &snapshot, &package, now));
    let answer = listed.await.map_err(|error| Error::Internal(error.to_string()))?;
    metrics::searched("listBuckets", answer.meta.results);
    Ok(answer)
}

fn answer(search: BucketSearch, snapshot: &Snapshot, package: &Package, now: i64) -> BucketsAnswer {
    let whole = search.echo.keywords.trim().to_lowercase();
    let since = package.hidden_since(now);
    let mut found: Vec<(u64, &Bucket)> = snapshot
        .listed(since)
        .filter(|bucket| matches(&search, &whole, bucket))
        .map(|bucket| (snapshot.file_count(bucket.id), bucket))
        .collect();
    sort(&mut found, search.order, search.descending);
    let results = found.len() as u64;
    let end = search.echo.start.saturating_add(search.echo.limit).min(package.reach());
    let page = found.iter().take(end as usize).skip(search.echo.start as usize);
    BucketsAnswer {
        meta: BucketMeta { results, notice: package.notice(now, results, false) },
        buckets: page.map(|(count, bucket)| record(*count, bucket)).collect(),
        query: search.echo,
    }
}

fn matches(search: &BucketSearch, whole: &str, bucket: &Bucket) -> bool {
    let address = bucket.address.as_str();
    if search.kind.is_some_and(|kind| kind != bucket.kind) {
        return false;
    }
    if search.echo.exact && !whole.is_empty() {
        let stored = Address::parse(address);
        let given = Address::parse(whole);
        return stored.is_ok_and(|stored| stored.name() == whole)
            || given.is_ok_and(|given| given.as_str() == address);
    }
    search.include.iter().all(|part| address.contains(part.as_str()))
        && !search.exclude.iter().any(|part| address.contains(part.as_str()))
}

fn sort(found: &mut [(u64, &Bucket)], order: Option<BucketOrder>, descending: bool) {
    let by_value = |a: &(u64, &Bucket), b: &(u64, &Bucket)| match order {
        Some(BucketOrder::FileCount) => a.0.cmp(&b.0),
        Some(BucketOrder::BucketName) => a.1.address.cmp(&b.1.address),
        None => Ordering::Equal,
    };
    found.sort_by(|a, b| {
        let by_value = by_value(a, b);
        let by_value = if descending { by_value.reverse() } else { by_value };
        by_value.then(a.1.id.cmp(&b.1.id))
    });
}

fn record(file_count: u64, bucket: &Bucket) -> BucketRecord {
    BucketRecord {
        id: bucket.id,
        bucket: bucket.address.clone(),
        file_count,
        kind: bucket.kind.as_str(),
    }
}
