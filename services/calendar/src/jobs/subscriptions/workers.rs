//! Finds subscriptions that are due, leases them, and runs several of them concurrently.

use std::time::Duration;

use anyhow::Context as _;
use database::{DatabaseError, Db};
use futures_util::future::join_all;
use tokio::runtime::Builder;

use super::outage::Outage;
use super::run::{LEASE, run};
use crate::model::subscription::{Run, Subscription, SubscriptionState};
use crate::state::State;
use crate::store::remote_calendars::CalendarFetcher;
use crate::store::subscriptions::Lease;
use crate::store::{subscriptions, transfer};

/// How often a worker looks for due subscriptions.
const PAUSE: Duration = Duration::from_secs(5);

/// Number of subscriptions that a process runs concurrently.
const WORKERS: usize = 4;

/// Runs subscriptions forever, as they become due. Returns immediately if this process doesn't
/// fetch files.
pub async fn run_subscriptions_forever(state: State) {
    let Some(fetcher) = &state.calendar_fetcher else { return };
    let outage = Outage::default();
    // With several workers, a long run doesn't delay other subscriptions.
    join_all((0..WORKERS).map(|_| work_forever(&state, fetcher, &outage))).await;
}

async fn work_forever(state: &State, fetcher: &CalendarFetcher, outage: &Outage) {
    loop {
        work(state, fetcher, outage).await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Runs the subscriptions that are due now, and returns their number.
pub async fn run_due_subscriptions(state: &State) -> usize {
    let Some(fetcher) = &state.calendar_fetcher else { return 0 };
    let outage = Outage::default();
    let workers = (0..WORKERS).map(|_| work(state, fetcher, &outage));
    join_all(workers).await.into_iter().sum()
}

/// Runs subscriptions until none are due, and returns their number.
async fn work(state: &State, fetcher: &CalendarFetcher, outage: &Outage) -> usize {
    let mut runs = 0;
    while let Some((subscription, lease)) = claim(state, fetcher, outage).await {
        run(state, fetcher, subscription, lease).await;
        runs += 1;
    }
    runs
}

/// Runs a subscription for a command, whether or not it is due. Returns `None` if an editor changed
/// or removed it in the meantime.
///
/// # Errors
/// Returns an error if the subscription does not exist, is paused or stopped, or is already
/// running, or if the database fails.
pub fn run_subscription(state: &State, id: i64) -> anyhow::Result<Option<Run>> {
    let fetcher = state.calendar_fetcher.as_ref().context("files cannot be fetched")?;
    let now = state.clock.unix();
    let until = now + lease_of(fetcher);
    let rests = |subscription: &Subscription| {
        matches!(subscription.state, SubscriptionState::Paused | SubscriptionState::Stopped)
    };
    let claim = |db: &mut Db| -> Result<_, DatabaseError> {
        match subscriptions::find(db, id)? {
            Some(found) if !rests(&found) => {
                Ok((Some(found), subscriptions::claim(db, id, now, until)?))
            }
            found => Ok((found, None)),
        }
    };
    let (found, claimed) = state.pools.write_blocking(claim)?;
    let found = found.with_context(|| format!("subscription {id} does not exist"))?;
    let name = found.state.name();
    anyhow::ensure!(!rests(&found), "subscription {id} is {name}: resume it first");
    let (subscription, lease) = claimed
        .with_context(|| format!("subscription {id} is running; wait until it has finished"))?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(run(state, fetcher, subscription, lease)))
}

/// Returns the duration of a new lease in seconds. This includes the time to fetch the file and the
/// same amount of time to read it, because the first transaction only starts after both.
fn lease_of(fetcher: &CalendarFetcher) -> i64 {
    2 * i64::try_from(fetcher.timeout().as_secs()).unwrap_or(0) + LEASE
}

/// Leases a subscription that is due. Errors are logged, unless the database is only busy for a
/// short time.
async fn claim(
    state: &State,
    fetcher: &CalendarFetcher,
    outage: &Outage,
) -> Option<(Subscription, Lease)> {
    let now = state.clock.unix();
    let until = now + lease_of(fetcher);
    let claim = move |db: &mut Db| -> Result<_, DatabaseError> {
        // While an export is being loaded, row counts must not change, because they are compared at
        // the end.
        match transfer::unfinished(db)? {
            Some(_) => Ok(None),
            None => subscriptions::claim_due(db, now, until),
        }
    };
    match state.pools.write_with_retries(DatabaseError::is_busy, claim).await {
        Ok(claimed) => {
            outage.end();
            claimed
        }
        Err(error) => {
            if !error.is_busy() || outage.note(state.clock.unix()) {
                log::warn!("cannot look up due subscriptions: {error}");
            }
            None
        }
    }
}
