//! Counts search results by bucket, extension and type.

use std::cmp::Reverse;

use database::off_worker;

use super::files::{Extent, Prepared, run_prepared};
use super::search::count_facets;
use crate::error::Error;
use crate::metrics;
use crate::model::{BucketType, Facets};
use crate::state::{Snapshot, State};
use crate::wire::facets::{BucketFacet, ExtensionFacet, FacetMeta, FacetsAnswer, TypeFacet};
use crate::wire::files::FileSearch;

/// Counts all results of a search by bucket, extension and type, regardless of the requested page.
/// Only the largest counts are returned, up to the request's limit.
pub async fn get_facets(
    state: &State,
    (owner, plan): (&str, Option<&str>),
    request: FileSearch,
) -> Result<FacetsAnswer, Error> {
    let run = async |snapshot: &Snapshot, query| count_facets(state, snapshot, owner, query).await;
    let (prepared, (counts, permit)) =
        run_prepared(state, (owner, plan), &request, Extent::Page, run).await?;
    // Sorting hundreds of thousands of counts takes a while, so keep this off the async workers.
    let sorted = off_worker(move || {
        let _permit = permit;
        answer(&prepared, counts, request)
    });
    let answer = sorted.await.map_err(|error| Error::Internal(error.to_string()))?;
    metrics::searched("getFacets", answer.meta.results);
    Ok(answer)
}

fn answer(prepared: &Prepared, counts: Facets, request: FileSearch) -> FacetsAnswer {
    let results = counts.total();
    let mut buckets = Vec::with_capacity(counts.buckets.len());
    let mut types = [0; BucketType::ALL.len()];
    for (id, files) in counts.buckets {
        let Some(bucket) = prepared.snapshot.bucket(id) else { continue };
        types[bucket.kind as usize] += files;
        buckets.push((Reverse(files), bucket));
    }
    let mut extensions: Vec<(Reverse<u64>, String)> = counts
        .extensions
        .into_iter()
        .map(|(extension, files)| (Reverse(files), extension))
        .collect();
    let meta = FacetMeta {
        results,
        buckets: buckets.len() as u64,
        extensions: extensions.len() as u64,
        notice: prepared.package.delay_notice(prepared.now),
        regex_notice: request.regex_notice,
    };
    let limit = usize::try_from(request.echo.limit).unwrap_or(usize::MAX);
    // Ties are broken by id or alphabetically.
    buckets.sort_by_key(|(files, bucket)| (*files, bucket.id));
    extensions.sort_unstable();
    let bucket_facets = buckets.into_iter().take(limit).map(|(Reverse(files), bucket)| {
        let address = bucket.address.clone();
        BucketFacet { id: bucket.id, bucket: address, kind: bucket.kind.as_str(), files }
    });
    let extension_facets = extensions
        .into_iter()
        .take(limit)
        .map(|(Reverse(files), extension)| ExtensionFacet { extension, files });
    let mut type_facets: Vec<TypeFacet> = BucketType::ALL
        .into_iter()
        .map(|kind| TypeFacet { kind: kind.as_str(), files: types[kind as usize] })
        .filter(|facet| facet.files > 0)
        .collect();
    type_facets.sort_by_key(|facet| Reverse(facet.files));
    FacetsAnswer {
        query: request.echo,
        meta,
        buckets: bucket_facets.collect(),
        extensions: extension_facets.collect(),
        types: type_facets,
    }
}
