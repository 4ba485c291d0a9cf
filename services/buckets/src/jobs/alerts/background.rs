//! Compares files with the alerts if a load was killed before it could.

use std::time::Duration;

use super::judge::judge;
use crate::app::CancelOnDrop;
use crate::engine::Limits;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::metrics;
use crate::state::State;
use crate::store::{alert_messages, generations};

/// Number of refreshes of a server between two checks.
const REFRESHES: u64 = 10;
/// Seconds after a publish during which the publishing process itself compares the files.
const PATIENCE: i64 = 120;
/// Seconds for which sent messages are kept.
const KEPT: i64 = 7 * 86_400;

/// Until the server stops, compares files that killed loads have published, and deletes old
/// messages.
pub async fn judge_missed(state: State) {
    let pause = Duration::from_millis(state.settings().reload_ms.saturating_mul(REFRESHES));
    let mut failing = false;
    loop {
        tokio::time::sleep(pause).await;
        if state.fault().is_some() {
            continue;
        }
        let (looked, limits) = (state.clone(), Limits::none());
        // A server that stops does not wait for the rest of the files.
        let _cancelled = CancelOnDrop::of(&limits);
        match tokio::task::spawn_blocking(move || look(&looked, &limits)).await {
            Ok(Ok(())) => failing = false,
            Ok(Err(error)) if !failing => {
                failing = true;
                log::error!("new files cannot be compared with alerts: {error}");
            }
            Ok(Err(_)) => {}
            Err(error) => log::error!("new files cannot be compared with alerts: {error}"),
        }
    }
}

fn look(state: &State, limits: &Limits) -> Result<(), JobError> {
    let context = JobContext {
        pools: state.pools().clone(),
        clock: state.clock().clone(),
        generations: state.shared_generations().clone(),
        memory_mb: 0,
    };
    let (snapshot, now) = (state.snapshot(), context.clock.unix());
    let current = context.pools.read_blocking(generations::read)?.generation;
    // After a rebuild, the files of an old snapshot have different ids.
    if snapshot.generation == current && now - snapshot.published_at() >= PATIENCE {
        judge(&context, &*snapshot.index, snapshot.generation, limits)?;
    }
    if context.pools.read_blocking(|db| alert_messages::has_over(db, now - KEPT))? {
        context.pools.write_blocking(|db| alert_messages::tidy(db, now - KEPT))?;
    }
    metrics::alerting(context.pools.read_blocking(alert_messages::waiting)?);
    Ok(())
}
