//! Index statistics.

use crate::state::State;
use crate::wire::stats::{StatsAnswer, StatsMeta};

/// Counts the files and buckets in the index. If the caller's package shows new buckets with a
/// delay, there's a second count without them.
pub fn get_stats(state: &State, plan: Option<&str>) -> StatsAnswer {
    let snapshot = state.snapshot();
    let package = snapshot.package(plan);
    let now = state.clock().unix();
    let meta = match package.hidden_since(now) {
        None => StatsMeta::default(),
        Some(since) => StatsMeta {
            notice: package.delay_notice(now),
            restricted_stats: Some(snapshot.counts(Some(since)).into()),
        },
    };
    StatsAnswer { meta, stats: snapshot.counts(None).into(), last_updated: snapshot.published_at() }
}
