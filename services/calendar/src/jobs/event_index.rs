//! Keeps the index of events built and up to date, so that no request has to wait for it.

use crate::state::State;
use crate::store::event_index;

/// Builds the index, or lets it follow what was written since; a failure is logged, and the next
/// request or tick tries again.
pub async fn refresh_index(state: &State) {
    let state = state.clone();
    let refresh = move || state.pools.connect().and_then(|mut db| state.index.refresh(&mut db));
    match tokio::task::spawn_blocking(refresh).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            log::warn!("the index of events could not be brought up to date: {error}")
        }
        Err(error) => log::warn!("the index of events could not be brought up to date: {error}"),
    }
}

/// Forgets all but the last 10,000 changes; a process that is further behind builds its index anew.
pub async fn prune_changes(state: &State) {
    if let Err(error) = state.pools.write(event_index::prune).await {
        log::warn!("the log of changes could not be pruned: {error}");
    }
}
