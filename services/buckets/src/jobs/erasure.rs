//! Lets servers finish removals whose commands were killed.

use std::time::Duration;

use super::context::JobContext;
use super::error::JobError;
use super::remove::apply_pending_removals;
use super::write_session::Session;
use crate::state::State;
use crate::store::removals;

/// Number of snapshot refreshes between checks for pending removals.
const REFRESHES: u64 = 10;
/// Index writer memory, in MiB.
const MEMORY_MB: usize = 64;

/// Completes pending removals whenever no other process is writing. Runs until the server stops. If
/// it keeps failing, only the first failure is logged.
pub async fn erase_removed(state: State) {
    let pause = Duration::from_millis(state.settings().reload_ms.saturating_mul(REFRESHES));
    let context = JobContext {
        pools: state.pools().clone(),
        clock: state.clock().clone(),
        generations: state.shared_generations().clone(),
        memory_mb: MEMORY_MB,
    };
    let mut failing = false;
    loop {
        tokio::time::sleep(pause).await;
        if state.fault().is_some() {
            continue;
        }
        let context = context.clone();
        match tokio::task::spawn_blocking(move || erase(&context, pause)).await {
            Ok(Ok(())) => failing = false,
            Ok(Err(error)) if !failing => {
                failing = true;
                log::error!("the data of removed files cannot be erased: {error}");
            }
            Ok(Err(_)) => {}
            Err(error) => log::error!("the data of removed files cannot be erased: {error}"),
        }
    }
}

/// Completes the pending removals if at least one is older than `min_age`. A newer one is probably
/// still being completed by its own command.
fn erase(context: &JobContext, min_age: Duration) -> Result<(), JobError> {
    let latest = context.clock.unix() - min_age.as_secs() as i64;
    let pending = context.pools.read_blocking(removals::pending)?;
    if !pending.iter().any(|removal| removal.requested_at <= latest) {
        return Ok(());
    }
    if let Some(mut session) = Session::try_open(context, "a removal is being carried out")? {
        apply_pending_removals(&mut session)?;
        log::info!("erased the data of {} removals", pending.len());
    }
    Ok(())
}
