//! Updates metrics periodically, so that neither lookups nor scrapes need to query the database for
//! them.

use std::time::Duration;

use database::{DatabaseError, Db};

use crate::metrics;
use crate::model::waiting::{Channel, Waiting};
use crate::state::State;
use crate::store::versions::Versions;
use crate::store::{accounts, jobs, messages, versions};

/// Time between measurements of jobs and messages.
const EVERY: Duration = Duration::from_secs(15);
/// Minimum number of seconds between account counts, each of which reads a whole index.
const COUNT_SECONDS: i64 = 900;

/// Runs forever. Every replica measures jobs and messages, since there might not be any replica
/// that delivers messages. Replicas that run maintenance also count accounts when the data has
/// changed, but at most once every 15 minutes.
pub async fn measure_regularly(state: State) {
    let mut counted: Option<(i64, (Versions, Option<i64>))> = None;
    loop {
        if let Err(error) = measure_queues(&state).await {
            log::debug!("jobs and messages could not be measured: {error}");
        }
        let now = state.clock().unix();
        let counts = state.settings().maintenance.is_on();
        if counts && counted.is_none_or(|(at, _)| now >= at + COUNT_SECONDS) {
            match changes(&state).await {
                Ok(found) if counted.is_some_and(|(_, last)| last == found) => {}
                Ok(found) => match measure_accounts(&state).await {
                    Ok(()) => counted = Some((now, found)),
                    Err(error) => log::debug!("the accounts could not be counted: {error}"),
                },
                Err(error) => log::debug!("the versions could not be read: {error}"),
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Reads the versions that change whenever accounts do.
async fn changes(state: &State) -> Result<(Versions, Option<i64>), DatabaseError> {
    let read = |db: &mut Db| {
        let pastes = versions::get(db, versions::PASTES_VERSION)?;
        Ok::<_, DatabaseError>((versions::current(db)?, pastes))
    };
    state.pools().read(read).await
}

/// Measures jobs and messages.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn measure_queues(state: &State) -> Result<(), DatabaseError> {
    let now = state.clock().unix();
    let read = move |db: &mut Db| {
        let jobs = jobs::figures(db, now)?;
        let mails = messages::waiting(db, Channel::Mail, now)?;
        let webhooks = messages::waiting(db, Channel::Webhook, now)?;
        Ok::<_, DatabaseError>((jobs, [mails, webhooks]))
    };
    let (jobs, waiting): (_, [Waiting; 2]) = state.pools().read(read).await?;
    metrics::describe_jobs(|name| jobs.get(name).copied().unwrap_or_default());
    for (channel, waiting) in Channel::ALL.into_iter().zip(waiting) {
        metrics::describe_waiting(channel, waiting);
    }
    Ok(())
}

/// Counts accounts and runs.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn measure_accounts(state: &State) -> Result<(), DatabaseError> {
    let count =
        |db: &mut Db| Ok::<_, DatabaseError>((accounts::count(db)?, accounts::run_figures(db)?));
    let (accounts, (runs, bytes)) = state.pools().read_long(count).await?;
    metrics::describe_accounts(accounts, runs, bytes);
    Ok(())
}
