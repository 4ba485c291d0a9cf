//! Index statistics.

use std::sync::Arc;

use database::off_worker;

use crate::error::Error;
use crate::model::counts::Counts;
use crate::state::State;
use crate::wire::stats::{StatsAnswer, StatsMeta};

/// Returns the number of files and buckets in the index and the time of the last publish, or 0
/// before the first publish.
pub fn get_totals(state: &State) -> (Counts, i64) {
    let snapshot = state.snapshot();
    (snapshot.totals, snapshot.published_at())
}

/// Returns the number of files and buckets in the index. If the caller's package shows new buckets
/// with a delay, there's a second count that leaves them out.
pub async fn get_stats(state: &State, plan: Option<&str>) -> Result<StatsAnswer, Error> {
    let snapshot = state.snapshot();
    let package = snapshot.package(plan);
    let now = state.clock().unix();
    let mut meta = StatsMeta::default();
    if let Some(since) = package.hidden_since(now) {
        // Counting hundreds of thousands of buckets takes a while, so keep this off the async
        // workers.
        let old = Arc::clone(&snapshot);
        let counts = off_worker(move || old.counts(Some(since))).await;
        let counts = counts.map_err(|error| Error::Internal(error.to_string()))?;
        meta.notice = package.delay_notice(now);
        meta.restricted_stats = Some(counts.into());
    }
    Ok(StatsAnswer { meta, stats: snapshot.totals.into(), last_updated: snapshot.published_at() })
}
