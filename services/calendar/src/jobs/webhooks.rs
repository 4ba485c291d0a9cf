//! Delivers webhook messages.

use std::time::Duration;

use database::{DatabaseError, Db};
use outbound::OutboxError;

use crate::app::Delivery;
use crate::metrics;
use crate::state::State;
use crate::store::webhooks;

/// How often to check the outbox.
const PAUSE: Duration = Duration::from_secs(2);

/// How long to keep finished messages, in seconds.
const KEPT: i64 = 7 * 24 * 3600;

/// Delivers messages forever, as they become due. Returns immediately if webhooks are disabled.
pub async fn deliver_forever(state: State) {
    if let Some(delivery) = Delivery::new(&state) {
        outbound::deliver_forever(&delivery, &delivery, PAUSE).await;
    }
}

/// Delivers the messages that are due now. Returns the number of attempts.
///
/// # Errors
/// Returns an error if the database is unreachable.
pub async fn deliver_due(state: &State) -> Result<usize, OutboxError> {
    match Delivery::new(state) {
        Some(delivery) => outbound::deliver_due(&delivery, &delivery).await,
        None => Ok(0),
    }
}

/// Publishes the number of pending messages as a metric.
pub async fn measure_messages(state: &State) {
    match state.pools.read(webhooks::all_waiting).await {
        Ok(waiting) => metrics::describe_webhooks(waiting),
        Err(error) => log::debug!("the webhook messages could not be counted: {error}"),
    }
}

/// Deletes messages that were delivered or abandoned some time ago.
pub async fn prune_messages(state: &State) {
    let before = state.clock.unix() - KEPT;
    let tidy = move |db: &mut Db| webhooks::tidy(db, before);
    if let Err(error) = state.pools.write_with_retries(DatabaseError::is_busy, tidy).await {
        log::warn!("cannot delete old webhook messages: {error}");
    }
}
