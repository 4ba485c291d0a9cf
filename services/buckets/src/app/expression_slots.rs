//! Limits concurrent regular-expression searches: some run, some wait, all others are rejected. An
//! account gets at most half of the slots, so that it cannot block others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::error::Error;
use crate::metrics;
use crate::state::{Share, State};

/// A slot in which one expression runs, released on drop.
pub struct ExpressionSlot {
    // Fields are dropped in this order. The search must be dropped last, because it removes a share
    // that is no longer used.
    _running: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    _search: Search,
}

/// Waits for a slot for an account's expression. Fails immediately if too many searches are already
/// waiting, in total or for this account.
pub async fn acquire_slot(state: &State, account: &str) -> Result<ExpressionSlot, Error> {
    let (search, own) = Search::enter(state, account);
    let running = Arc::clone(&state.slots().running);
    if let Ok(own) = Arc::clone(&own).try_acquire_owned()
        && let Ok(running) = Arc::clone(&running).try_acquire_owned()
    {
        return Ok(ExpressionSlot::new(running, own, search));
    }
    let waiting = Waiting::enter(&search)?;
    // Waits for the account's own permit first, so that an account never exceeds its share of the
    // common queue.
    let turn = async {
        let own = own.acquire_owned().await?;
        Ok::<_, AcquireError>((running.acquire_owned().await?, own))
    };
    let timeout = Duration::from_secs(state.settings().search_timeout);
    let permits = tokio::time::timeout(timeout, turn).await;
    drop(waiting);
    let Ok(Ok((running, own))) = permits else { return Err(Error::Timeout) };
    Ok(ExpressionSlot::new(running, own, search))
}

/// Returns the maximum number of slots per account.
fn half(places: usize) -> usize {
    places.div_ceil(2)
}

fn shares(state: &State) -> MutexGuard<'_, HashMap<String, Share>> {
    state.slots().shares.lock()
}

impl ExpressionSlot {
    fn new(running: OwnedSemaphorePermit, own: OwnedSemaphorePermit, search: Search) -> Self {
        metrics::REGEXP_RUNNING.inc();
        Self { _running: running, _own: own, _search: search }
    }
}

impl Drop for ExpressionSlot {
    fn drop(&mut self) {
        metrics::REGEXP_RUNNING.dec();
    }
}

/// A search that is running or waiting. Dropping the last search of an account removes the
/// account's share.
struct Search {
    state: State,
    account: String,
}

impl Search {
    fn enter(state: &State, account: &str) -> (Self, Arc<Semaphore>) {
        let most = half(state.settings().regexp_running.max(1));
        let mut shares = shares(state);
        let share = shares.entry(account.to_owned()).or_insert_with(|| Share {
            running: Arc::new(Semaphore::new(most)),
            searches: 0,
            waiting: 0,
        });
        share.searches += 1;
        let own = Arc::clone(&share.running);
        drop(shares);
        (Self { state: state.clone(), account: account.to_owned() }, own)
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        let mut shares = shares(&self.state);
        let Some(share) = shares.get_mut(&self.account) else { return };
        share.searches -= 1;
        if share.searches == 0 {
            shares.remove(&self.account);
        }
    }
}

/// A position in the queue, released on drop.
struct Waiting<'a>(&'a Search);

impl<'a> Waiting<'a> {
    fn enter(search: &'a Search) -> Result<Self, Error> {
        let most = search.state.settings().regexp_waiting;
        let mut shares = shares(&search.state);
        let all: usize = shares.values().map(|share| share.waiting).sum();
        let share = shares.get_mut(&search.account);
        let Some(share) = share.filter(|share| all < most && share.waiting < half(most)) else {
            return Err(Error::Busy);
        };
        share.waiting += 1;
        metrics::REGEXP_WAITING.inc();
        Ok(Self(search))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        metrics::REGEXP_WAITING.dec();
        if let Some(share) = shares(&self.0.state).get_mut(&self.0.account) {
            share.waiting -= 1;
        }
    }
}
