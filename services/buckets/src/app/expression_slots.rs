//! Limits the number of concurrent regular-expression searches. A search either runs, waits in a
//! queue or is rejected. An account can only take half of the slots, so it can never lock out other
//! accounts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::error::Error;
use crate::metrics;
use crate::state::{Share, State};

/// Permission to run an expression search. Freed on drop.
pub struct ExpressionSlot {
    // Fields are dropped in declaration order. `_search` has to be last because it removes the
    // account's share once nothing else uses it.
    _running: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    _search: Search,
}

/// Waits for a free slot. Fails immediately if the queue is full or if this account already fills
/// its half of the queue.
pub async fn acquire_slot(state: &State, account: &str) -> Result<ExpressionSlot, Error> {
    let (search, own) = Search::enter(state, account);
    let running = Arc::clone(&state.slots().running);
    if let Ok(own) = Arc::clone(&own).try_acquire_owned()
        && let Ok(running) = Arc::clone(&running).try_acquire_owned()
    {
        return Ok(ExpressionSlot::new(running, own, search));
    }
    let waiting = Waiting::enter(&search)?;
    // Acquire the account's own permit first, so that an account never takes more than its share of
    // the common queue.
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

/// Maximum number of slots for one account.
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

/// A search that is running or waiting. Dropping an account's last search removes the account's
/// share.
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

/// A place in the queue. Freed on drop.
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
