//! Background work of a server: counting domains after loads, posting notices about pastes,
//! deleting expired rows, continuing interrupted purges and index builds, and emptying SQLite's
//! write-ahead log after removals. Only one replica at a time counts domains, and only one continues
//! a job. Everything else is done by every replica, since doing it twice is harmless.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::{DatabaseError, Db};

use super::domain_counts::{count_new_domains, recount_domains};
use super::domain_index::resume_index;
use super::purge::resume_purge;
use crate::app;
use crate::jobs::context::JobContext;
use crate::jobs::notices::notify_listeners;
use crate::state::State;
use crate::store::versions::{self, Versions};
use crate::store::{jobs, mail_tokens, messages, sessions};

/// Initial and maximum delay in seconds before a failed round is retried. The delay doubles after
/// each failure.
const RETRY_SECONDS: (i64, i64) = (10, 3_600);
/// How long to keep delivered messages and expired links, in seconds. Until then, an expired link
/// can be distinguished from one that never existed.
const RETENTION_SECONDS: i64 = 30 * 86_400;
/// Seconds between deletions of expired rows.
const PRUNE_SECONDS: i64 = 3600;

/// Runs forever.
pub async fn maintain(state: State) {
    let pause = Duration::from_millis(state.settings().catalogue_poll_ms.max(1));
    let (mut counted, mut pasted, mut pruned) = (None::<Versions>, None, 0);
    let (mut retry_at, mut wait) = (0, RETRY_SECONDS.0);
    let interrupted = JobThread::default();
    let (mut cleared, mut clear_at) = (None, 0);
    let (mut count_at, mut count_wait) = (0, RETRY_SECONDS.0);
    loop {
        tokio::time::sleep(pause).await;
        interrupted.start(&state);
        let now = state.clock().unix();
        if now >= clear_at && !clear_log_after_removals(&state, &mut cleared).await {
            clear_at = now + RETRY_SECONDS.0;
        }
        let versions = state.snapshot_versions();
        let pastes = state.pools().read(|db| versions::get(db, versions::PASTES_VERSION)).await;
        let pastes = pastes.unwrap_or_else(|error| {
            log::warn!("the pastes version could not be read: {error}");
            pasted
        });
        if pasted != pastes {
            match notify_listeners(&state).await {
                Ok(()) => pasted = pastes,
                Err(error) => log::warn!("notices about pastes could not be posted: {error}"),
            }
        }
        if now >= count_at {
            match count_new_domains(&state).await {
                Ok(()) => count_wait = RETRY_SECONDS.0,
                Err(error) => {
                    count_wait = (count_wait * 2).min(RETRY_SECONDS.1);
                    log::warn!(
                        "some new domains could not be counted, retrying in {count_wait} s: {error}"
                    );
                }
            }
            count_at = now + count_wait;
        }
        let is_counted = counted.is_some_and(|counted| counted.has_same_catalogue(&versions));
        if !is_counted && now >= retry_at {
            match recount_domains(&state, versions).await {
                Ok(true) => (counted, wait) = (Some(versions), RETRY_SECONDS.0),
                Ok(false) => {}
                Err(error) => {
                    log::warn!("some domains could not be counted, retrying in {wait} s: {error}");
                    (retry_at, wait) = (now + wait, (wait * 2).min(RETRY_SECONDS.1));
                }
            }
        }
        if now >= pruned + PRUNE_SECONDS {
            pruned = now;
            if let Err(error) = prune(&state).await {
                log::warn!("expired rows could not be deleted: {error}");
            }
        }
    }
}

async fn prune(state: &State) -> Result<(), DatabaseError> {
    let now = state.clock().unix();
    let prune = move |db: &mut Db| {
        mail_tokens::prune(db, now - RETENTION_SECONDS)?;
        sessions::prune(db, now)?;
        messages::prune(db, now - RETENTION_SECONDS)?;
        app::prune_mail_counts(db, now)?;
        jobs::clear_finished(db)?;
        Ok(())
    };
    state.pools().write(prune).await
}

/// Continues interrupted jobs. A server that stops doesn't wait for this thread, because the job
/// will continue after the next start.
#[derive(Debug, Default)]
struct JobThread {
    is_running: Arc<AtomicBool>,
}

impl JobThread {
    /// Looks for interrupted jobs in the background, unless one is already being continued.
    fn start(&self, state: &State) {
        if self.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let running = ClearOnDrop(Arc::clone(&self.is_running));
        let context = JobContext {
            pools: state.pools().clone(),
            clock: state.clock().clone(),
            settings: state.settings().clone(),
        };
        std::thread::spawn(move || {
            let _running = running;
            if let Err(error) = resume_index(&context) {
                log::warn!("the accounts were not indexed by domain: {error}");
            }
            if let Err(error) = resume_purge(&context) {
                log::warn!("a purge could not be continued: {error}");
            }
        });
    }
}

/// Clears a flag when dropped, even in case of a panic.
struct ClearOnDrop(Arc<AtomicBool>);

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Empties SQLite's write-ahead log after opt-outs and catalogue changes so that removed data is
/// gone from it. Returns `false` if this has to be retried.
async fn clear_log_after_removals(state: &State, cleared: &mut Option<Versions>) -> bool {
    let Ok(version) = state.pools().read(versions::current).await else { return false };
    if *cleared == Some(version) {
        return true;
    }
    let pools = state.pools().clone();
    let clear = move || -> Result<(), DatabaseError> { database::clear_log(&mut pools.connect()?) };
    match tokio::task::spawn_blocking(clear).await {
        Ok(Ok(())) => *cleared = Some(version),
        Ok(Err(error)) => log::debug!("the write-ahead log was not cleared: {error}"),
        Err(_) => {}
    }
    *cleared == Some(version)
}
