//! Keeps the event index up to date, so that no request has to wait for it.

use crate::state::State;
use crate::store::event_index;

/// Builds or updates the index. A failure is logged, and the next request or tick tries again.
pub async fn refresh_index(state: &State) {
    let state = state.clone();
    let refresh = move || state.pools.connect().and_then(|mut db| state.index.refresh(&mut db));
    match tokio::task::spawn_blocking(refresh).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            log::warn!("cannot update the event index: {error}")
        }
        Err(error) => log::warn!("cannot update the event index: {error}"),
    }
}

/// Deletes all but the last 10,000 changes. A process that is further behind rebuilds its index.
pub async fn prune_changes(state: &State) {
    if let Err(error) = state.pools.write(event_index::prune).await {
        log::warn!("cannot prune the change log: {error}");
    }
}
