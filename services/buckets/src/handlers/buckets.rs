//! `GET /api/v2/buckets`.

use std::cmp::Ordering;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;

use super::{json, package_of};
use crate::catalog::Catalog;
use crate::error::{Error, Failures};
use crate::metrics;
use crate::model::address::Address;
use crate::model::package::Package;
use crate::state::State;
use crate::store::bucket::Bucket;
use crate::wire::bucket_search::{
    BucketMeta, BucketParameters, BucketRecord, BucketSearch, BucketsAnswer,
};
use crate::wire::parameters::Parameters;

/// List buckets
///
/// Buckets whose addresses hold all parts of `keywords`; in the order of their ids unless `order`
/// says otherwise.
#[utoipa::path(
    operation_id = "listBuckets",
    tag = "search",
    params(BucketParameters),
    responses((status = 200, description = "The buckets", body = BucketsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/buckets")]
pub async fn list(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let search = BucketSearch::parse(&Parameters::parse(request.query_string())?)?;
    let catalog = state.catalog();
    let package = package_of(&caller, &catalog);
    let now = state.clock().unix();
    // Hundreds of thousands of addresses are looked at, which would hold up the worker thread.
    let listed = tokio::task::spawn_blocking(move || answer(search, &catalog, &package, now));
    let answer = listed.await.map_err(|error| Error::Internal(error.to_string()))?;
    metrics::searched("listBuckets", answer.meta.results);
    Ok(json(&answer))
}

fn answer(search: BucketSearch, catalog: &Catalog, package: &Package, now: i64) -> BucketsAnswer {
    let whole = search.echo.keywords.trim().to_lowercase();
    let since = package.hidden_since(now);
    let mut found: Vec<(u64, &Bucket)> = catalog
        .listed(since)
        .filter(|bucket| matches(&search, &whole, bucket))
        .map(|bucket| (catalog.file_count(bucket.id), bucket))
        .collect();
    sort(&mut found, search.echo.order, search.echo.direction == "desc");
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

fn sort(found: &mut [(u64, &Bucket)], order: &str, descending: bool) {
    let by_value = |a: &(u64, &Bucket), b: &(u64, &Bucket)| match order {
        "fileCount" => a.0.cmp(&b.0),
        "bucketName" => a.1.address.cmp(&b.1.address),
        _ => Ordering::Equal,
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
