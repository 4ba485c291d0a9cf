//! Compares files with alerts for loads that were killed before they could do so.

use std::time::Duration;

use super::judge::judge;
use crate::app::CancelOnDrop;
use crate::engine::Limits;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::metrics;
use crate::state::State;
use crate::store::{alert_messages, generations};

/// Number of snapshot refreshes between checks.
const REFRESHES: u64 = 10;
/// After a publish, leave its alerts to the publishing process for this number of seconds.
const GRACE_PERIOD: i64 = 120;
/// How long to keep sent messages, in seconds.
const KEPT: i64 = 7 * 86_400;

/// Compares the files of killed loads with the alerts, and deletes old messages. Runs until the
/// server stops.
pub async fn judge_missed(state: State) {
    let pause = Duration::from_millis(state.settings().reload_ms.saturating_mul(REFRESHES));
    let mut failing = false;
    loop {
        tokio::time::sleep(pause).await;
        if state.fault().is_some() {
            continue;
        }
        let (looked, limits) = (state.clone(), Limits::none());
        // Prevents a stopping server from waiting for the remaining files.
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
    // A rebuild renumbers the files, so their ids only match if the snapshot is current.
    if snapshot.generation == current && now - snapshot.published_at() >= GRACE_PERIOD {
        judge(&context, &*snapshot.index, snapshot.generation, limits)?;
    }
    if context.pools.read_blocking(|db| alert_messages::has_over(db, now - KEPT))? {
        context.pools.write_blocking(|db| alert_messages::tidy(db, now - KEPT))?;
    }
    metrics::alerting(context.pools.read_blocking(|db| alert_messages::waiting(db, now))?);
    Ok(())
}
