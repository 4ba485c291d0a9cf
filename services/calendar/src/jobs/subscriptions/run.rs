//! Runs subscriptions. Each run fetches the file, checks and imports it, and trashes events that
//! are missing from it.
//!
//! A run holds a lease, which each of its transactions renews. If the process dies, another process
//! can restart the run once the lease has expired. Events are identified by UID, so this doesn't
//! write any event twice.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, Retries, WriterQueue, off_worker};

use super::remarks::{kept, messages, remarks};
use crate::app::{
    FileContent, Import, ImportLimits, Loss, MAX_ERRORS, Overview, Progress, Subscriber,
    acting_user, trash_by_file,
};
use crate::error::Error;
use crate::ical::Reader;
use crate::metrics;
use crate::model::subscription::{
    LONGEST_URL, Run, RunOutcome, Subscription, SubscriptionState, next_after_failure,
};
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::remote_calendars::{CalendarFetcher, FetchFailure, Known};
use crate::store::subscribed_events::FutureEvent;
use crate::store::subscriptions::{Finish, Lease};
use crate::store::{events, sql, subscribed_events, subscriptions};
use crate::wire::import::{ImportErrorJson, ImportJson};

/// Lease duration in seconds. If a run doesn't renew its lease in time, another process can restart
/// the run.
pub const LEASE: i64 = 120;

/// Number of events to trash per transaction.
const BATCH: usize = 50;

/// How long to use the validators of an imported file, in seconds. After that, the file is read
/// again even if it hasn't changed, because its series might have new occurrences.
const FRESH: i64 = 86_400;

/// Maximum time to retry a transaction while the database is busy or unreachable.
const RETRY_TIME: Duration = Duration::from_secs(60);

/// Why a run was aborted.
#[derive(Debug, thiserror::Error)]
enum RunError {
    /// The lease was lost.
    #[error("the lease was lost")]
    Lost,
    #[error("{0}")]
    Failed(Error),
}

impl From<Error> for RunError {
    fn from(error: Error) -> RunError {
        RunError::Failed(error)
    }
}

impl From<DatabaseError> for RunError {
    fn from(error: DatabaseError) -> RunError {
        RunError::Failed(error.into())
    }
}

/// Publishes the number of subscriptions per state as metrics.
pub async fn measure_subscriptions(state: &State) {
    match state.pools.read(subscriptions::numbers).await {
        Ok(numbers) => metrics::describe_subscriptions([
            ("active", numbers.active),
            ("failing", numbers.failing),
            ("paused", numbers.paused),
            ("stopped", numbers.stopped),
        ]),
        Err(error) => log::debug!("the subscriptions could not be counted: {error}"),
    }
}

/// Runs a leased subscription and records the outcome. Returns `None` if the run only removed the
/// subscription, if it lost its lease, or if it failed to record the outcome.
pub async fn run(
    state: &State,
    fetcher: &CalendarFetcher,
    subscription: Subscription,
    lease: Lease,
) -> Option<Run> {
    let id = subscription.id;
    if subscription.state == SubscriptionState::Removing {
        if let Err(error) = remove(state, &lease).await {
            log::warn!("cannot remove subscription {id}: {error}");
        }
        return None;
    }
    let finish = match attempt(state, fetcher, &subscription, &lease).await {
        Ok(finish) => finish,
        Err(RunError::Lost) => {
            log::info!("the run of subscription {id} ended, because it was changed or taken over");
            return None;
        }
        Err(RunError::Failed(error)) => {
            let message = match error {
                Error::Store(cause) => {
                    log::warn!("the run of subscription {id} failed: {cause}");
                    "the database did not respond in time".to_owned()
                }
                other => other.to_string(),
            };
            let failure = FetchFailure { message, ..FetchFailure::default() };
            failed(state.clock.unix(), &subscription, failure)
        }
    };
    let run = finish.run.clone();
    let record = move |db: &mut Db| -> Result<_, DatabaseError> {
        sql::one_writer(db)?;
        subscriptions::finish(db, &lease, &finish)
    };
    match state.pools.write_with_retries(DatabaseError::is_busy, record).await {
        Ok(true) => {
            metrics::count_subscription_run(run.outcome);
            if matches!(run.outcome, RunOutcome::Failed | RunOutcome::Stopped) {
                let (outcome, message) = (run.outcome.name(), &run.message);
                log::info!("the run of subscription {id} is {outcome}: {message}");
            }
            Some(run)
        }
        Ok(false) => None,
        Err(error) => {
            log::warn!("the run of subscription {id} was not recorded: {error}");
            None
        }
    }
}

/// Returns the outcome of a run that will be retried later.
fn failed(now: i64, subscription: &Subscription, failure: FetchFailure) -> Finish {
    let failures = subscription.failures + 1;
    let interval = subscription.plan.interval * 60;
    let next_utc = next_after_failure(now, interval, failures, failure.retry_after);
    let (outcome, message) = (RunOutcome::Failed, failure.message);
    let run = Run { at: now, outcome, message, ..Run::default() };
    Finish { run, next_utc, failures, ..Finish::default() }
}

/// Returns the outcome of a run that requires a decision by an editor.
fn stopped(now: i64, subscription: &Subscription, message: String) -> Finish {
    let run = Run { at: now, outcome: RunOutcome::Stopped, message, ..Run::default() };
    let (next_utc, failures) = (subscription.next_utc, subscription.failures);
    Finish { run, next_utc, failures, ..Finish::default() }
}

/// Returns the outcome of a run that stopped because too many of the known future events are
/// missing from the file.
fn stopped_by_loss(
    now: i64,
    subscription: &Subscription,
    (loss, known): (Loss, &[FutureEvent]),
) -> Finish {
    let Loss { lost, known: counted, changed } = loss;
    let others = match changed {
        0 => String::new(),
        changed => format!(", not counting {changed} that users changed"),
    };
    let message = format!(
        "{lost} of {counted} future events are missing from the file{others}; nothing was changed. \
         Accept it if they are gone, or resume once the file is complete"
    );
    let mut finish = stopped(now, subscription, message);
    finish.run.lost = u64::try_from(lost).unwrap_or(u64::MAX);
    finish.counted_event = known.iter().map(|event| event.id).max().unwrap_or(0);
    finish
}

/// Fetches and imports a subscription's file.
async fn attempt(
    state: &State,
    fetcher: &CalendarFetcher,
    subscription: &Subscription,
    lease: &Lease,
) -> Result<Finish, RunError> {
    let began = state.clock.unix();
    let uses_validators =
        began - subscription.imported_utc < FRESH && subscription.accepted_loss == 0;
    let known = match uses_validators {
        true => Known {
            etag: subscription.etag.as_deref(),
            last_modified: subscription.last_modified.as_deref(),
        },
        false => Known::default(),
    };
    let is_conditional = known.etag.is_some() || known.last_modified.is_some();
    let fetched = match fetcher.fetch(&subscription.plan.url, known, began).await {
        Ok(fetched) => fetched,
        Err(failure) if failure.is_gone => {
            return Ok(stopped(state.clock.unix(), subscription, failure.message));
        }
        Err(failure) => return Ok(failed(state.clock.unix(), subscription, failure)),
    };
    let fits = |url: &String| fetcher.may_name(url) && url.chars().count() <= LONGEST_URL;
    let is_unencrypted = fetched.is_unencrypted;
    let url = fetched.moved_to.filter(fits);
    let interval = subscription.plan.interval * 60;
    let Some(file) = fetched.file else {
        let now = state.clock.unix();
        if !is_conditional {
            let message = "the address responded with 304 to an unconditional request".to_owned();
            let failure = FetchFailure { message, ..FetchFailure::default() };
            return Ok(failed(now, subscription, failure));
        }
        let run = Run { at: now, outcome: RunOutcome::NotModified, ..Run::default() };
        return Ok(Finish { run, next_utc: now + interval, url, ..Finish::default() });
    };
    let (bytes, media_type) = (Arc::<[u8]>::from(file.bytes), file.media_type);
    let (own, whole) = (state.clone(), bytes.clone());
    let time = fetcher.timeout();
    let read = off_worker(move || FileContent::read(&own, (&whole, &media_type), time)).await?;
    let (content, overview) = match read {
        Ok(read) => read,
        Err(message) => {
            let failure = FetchFailure { message, ..FetchFailure::default() };
            return Ok(failed(state.clock.unix(), subscription, failure));
        }
    };
    let now = state.clock.unix();
    let id = subscription.id;
    let known = state.pools.read(move |db| subscribed_events::future(db, id, now)).await?;
    let loss = content.loss(known.iter());
    if loss.is_great() && !is_accepted(subscription, &content, &known) {
        return Ok(stopped_by_loss(now, subscription, (loss, &known)));
    }
    if subscription.etag.is_some() || subscription.last_modified.is_some() {
        let own = lease.clone();
        write(state, lease, move |_, db| Ok(subscriptions::forget_validators(db, &own)?)).await?;
    }
    let (report, progress) = import(state, (subscription, lease), bytes, overview).await?;
    let missing = trash_missing(state, lease, content).await?;
    let dropped = u64::try_from(progress.trashed).unwrap_or(0);
    let staying = [progress.staying, missing.staying].concat();
    let kept = u64::try_from(progress.stayed + missing.stayed).unwrap_or(0);
    let now = state.clock.unix();
    let run = Run {
        at: now,
        outcome: RunOutcome::Imported,
        message: remarks(&report, kept, is_unencrypted),
        created: report.created,
        updated: report.updated,
        unchanged: report.unchanged,
        skipped: report.skipped,
        failed: report.failed,
        trashed: missing.trashed + dropped,
        lost: 0,
        messages: messages(&report, &staying),
    };
    let imported = Some((file.etag, file.last_modified));
    Ok(Finish { run, next_utc: now + interval, url, imported, ..Finish::default() })
}

/// Returns whether an editor has accepted that these events are missing from the file. Events that
/// have been added to series since then are ignored.
fn is_accepted(subscription: &Subscription, content: &FileContent, known: &[FutureEvent]) -> bool {
    let counted = known.iter().filter(|event| event.id <= subscription.counted_event);
    let lost = i64::try_from(content.loss(counted).lost).unwrap_or(i64::MAX);
    subscription.accepted_loss > 0 && lost <= subscription.accepted_loss
}

fn is_busy(error: &RunError) -> bool {
    matches!(error, RunError::Failed(Error::Store(DatabaseError::Busy)))
}

/// Runs a transaction, which also renews the lease, on a blocking thread.
async fn write<T: Send + 'static>(
    state: &State,
    lease: &Lease,
    mut work: impl FnMut(&State, &mut Db) -> Result<T, RunError> + Send + 'static,
) -> Result<T, RunError> {
    let (state, lease) = (state.clone(), lease.clone());
    let perform = move || {
        let retries = Retries::up_to(RETRY_TIME);
        WriterQueue::new(&state.pools, retries, is_busy).write(|db| {
            sql::one_writer(db)?;
            let until = state.clock.unix() + LEASE;
            match subscriptions::renew(db, &lease, until)? {
                true => work(&state, db),
                false => Err(RunError::Lost),
            }
        })
    };
    off_worker(perform).await?
}

/// Imports the file in short transactions. Also returns the final progress.
async fn import(
    state: &State,
    (subscription, lease): (&Subscription, &Lease),
    bytes: Arc<[u8]>,
    overview: Overview,
) -> Result<(ImportJson, Progress), RunError> {
    let (own, zone) = (subscription.clone(), state.site.settings.site_timezone.clone());
    let read = move |db: &mut Db| -> Result<_, Error> {
        Ok((acting_user(db, &own)?, Subscriber::of(db, &own, &zone)?))
    };
    let (user, subscriber) = state.pools.read(read).await?;
    let urls = Urls { base: String::new(), alias: false, language: None };
    let import = Import::new(user, urls, ImportLimits::default(), overview);
    let mut import = import.of_subscription(subscriber);
    for pass in import.passes() {
        let mut reader = Reader::new(Cursor::new(bytes.clone()));
        let mut more = true;
        while more {
            let own = state.clone();
            let prepared = off_worker(move || {
                import.prepare(&own, &mut reader, pass)?;
                Ok::<_, Error>((import, reader))
            });
            let (ready, rest) = prepared.await??;
            reader = rest;
            (import, more) = write_batch(state, lease, ready).await?;
        }
    }
    let progress = import.so_far().clone();
    Ok((import.into_report(), progress))
}

/// Writes prepared entries. Returns whether there are more. Each retry starts the batch from the
/// beginning.
async fn write_batch(
    state: &State,
    lease: &Lease,
    import: Import,
) -> Result<(Import, bool), RunError> {
    let (state, lease) = (state.clone(), lease.clone());
    let perform = move || {
        let mut import = import;
        let before = import.so_far().clone();
        let retries = Retries::up_to(RETRY_TIME);
        let more = WriterQueue::new(&state.pools, retries, is_busy).write(|db| {
            import.restore(before.clone());
            sql::one_writer(db)?;
            match subscriptions::renew(db, &lease, state.clock.unix() + LEASE)? {
                true => Ok(import.write(&state, db)?),
                false => Err(RunError::Lost),
            }
        })?;
        Ok((import, more))
    };
    off_worker(perform).await?
}

/// The events that are missing from the file.
struct Missing {
    /// Number of events that were trashed.
    trashed: u64,
    /// Number of events that were kept.
    stayed: usize,
    /// Messages about events that were kept, up to 1000.
    staying: Vec<ImportErrorJson>,
}

/// Trashes future events that are missing from the file, unless a user has changed them.
async fn trash_missing(
    state: &State,
    lease: &Lease,
    content: FileContent,
) -> Result<Missing, RunError> {
    let (content, mut trashed) = (Arc::new(content), 0);
    loop {
        let (id, content) = (lease.subscription, content.clone());
        let (some, stayed, staying) = write(state, lease, move |state, db| {
            let now = state.clock.unix();
            let future = subscribed_events::future(db, id, now)?.into_iter();
            let missing = future.filter(|event| !content.has(&event.name));
            let (gone, stay): (Vec<_>, Vec<_>) = missing.partition(|one| one.changed.is_empty());
            let ids: Vec<i64> = gone.iter().map(|event| event.id).take(BATCH).collect();
            for event in events::by_ids(db, &ids)? {
                trash_by_file(db, &event, now)?;
            }
            if !ids.is_empty() {
                return Ok((ids.len(), 0, Vec::new()));
            }
            for name in subscribed_events::erased(db, id)? {
                if !content.has(&name) {
                    subscribed_events::forget(db, id, &name)?;
                }
            }
            let named: Vec<i64> = stay.iter().map(|event| event.id).take(MAX_ERRORS).collect();
            Ok((0, stay.len(), events::by_ids(db, &named)?.into_iter().map(kept).collect()))
        })
        .await?;
        trashed += u64::try_from(some).unwrap_or(0);
        if some == 0 {
            return Ok(Missing { trashed, stayed, staying });
        }
    }
}

/// Trashes all of a subscription's events, then removes the subscription.
async fn remove(state: &State, lease: &Lease) -> Result<(), RunError> {
    loop {
        let id = lease.subscription;
        let is_over = write(state, lease, move |state, db| {
            let most = i64::try_from(BATCH).unwrap_or(i64::MAX);
            let ids = subscribed_events::some_untrashed(db, id, most)?;
            for event in events::by_ids(db, &ids)? {
                trash_by_file(db, &event, state.clock.unix())?;
            }
            if ids.is_empty() {
                subscriptions::remove(db, id)?;
            }
            Ok(ids.is_empty())
        })
        .await?;
        if is_over {
            return Ok(());
        }
    }
}
