//! Keeps the event index up to date in the background, so that requests don't have to.

use database::DatabaseError;

use crate::metrics;
use crate::state::State;
use crate::store::event_index;

/// Builds or updates the index and publishes its metrics. Failures are logged, and the next request
/// or tick retries.
pub async fn refresh_index(state: &State) {
    let state = state.clone();
    let refresh = move || {
        let lacked = state.index.refresh(&mut state.pools.connect()?)?;
        metrics::describe_index(lacked, state.index.build_time(), state.index.bytes());
        state.index.statuses(metrics::describe_events);
        metrics::describe_kept_answers(state.answers.as_ref().map_or(0, |kept| kept.tidy()));
        Ok::<_, DatabaseError>(())
    };
    match tokio::task::spawn_blocking(refresh).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            log::warn!("cannot update the event index: {error}")
        }
        Err(error) => log::warn!("cannot update the event index: {error}"),
    }
}

/// Prunes the change log to the last 10,000 changes. Processes that have fallen further behind have
/// to rebuild their index.
pub async fn prune_changes(state: &State) {
    if let Err(error) =
        state.pools.write_with_retries(DatabaseError::is_busy, event_index::prune).await
    {
        log::warn!("cannot prune the change log: {error}");
    }
}
