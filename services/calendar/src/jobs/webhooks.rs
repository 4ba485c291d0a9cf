//! Sends what webhooks are to hear.

use std::time::Duration;

use outbound::OutboxError;

use crate::app::Delivery;
use crate::state::State;
use crate::store::webhooks;

/// How often the outbox is looked into.
const PAUSE: Duration = Duration::from_secs(2);

/// How long a message that is over is kept, in seconds.
const KEPT: i64 = 7 * 24 * 3600;

/// Delivers what is due, again and again; does nothing where no webhooks are sent.
pub async fn deliver_for_ever(state: State) {
    if let Some(delivery) = Delivery::new(&state) {
        outbound::deliver_for_ever(&delivery, &delivery, PAUSE).await;
    }
}

/// Delivers what is due now; returns how many messages were tried.
///
/// # Errors
/// The database is out of reach.
pub async fn deliver_due(state: &State) -> Result<usize, OutboxError> {
    match Delivery::new(state) {
        Some(delivery) => outbound::deliver_due(&delivery, &delivery).await,
        None => Ok(0),
    }
}

/// Forgets messages that were delivered or given up long ago.
pub async fn prune_messages(state: &State) {
    let before = state.clock.unix() - KEPT;
    if let Err(error) = state.pools.write(move |db| webhooks::tidy(db, before)).await {
        log::warn!("old messages of webhooks could not be removed: {error}");
    }
}
