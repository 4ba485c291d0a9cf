//! Statistics of the index.

use crate::state::State;
use crate::wire::stats::{StatsAnswer, StatsMeta};

/// Counts the whole index, and the part of it that the caller's package may search.
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
