//! Delivers email and webhook messages.

use std::time::Duration;

use crate::app::Delivery;
use crate::state::State;

/// Time between checks of the outbox.
const DELIVERY_PAUSE: Duration = Duration::from_secs(2);

/// Delivers email forever.
pub async fn deliver_mails(state: State) {
    let delivery = Delivery::of_mails(state);
    outbound::deliver_forever(&delivery, &delivery, DELIVERY_PAUSE).await;
}

/// Delivers webhook messages forever.
pub async fn deliver_webhooks(state: State) {
    let delivery = Delivery::of_webhooks(state);
    outbound::deliver_forever(&delivery, &delivery, DELIVERY_PAUSE).await;
}

/// Delivers all messages that are due. Returns the number of messages claimed.
///
/// # Errors
/// Returns an error if the outbox can't be accessed.
pub async fn deliver_due(state: &State) -> Result<usize, outbound::OutboxError> {
    let mails = Delivery::of_mails(state.clone());
    let mails = outbound::deliver_due(&mails, &mails).await?;
    let webhooks = Delivery::of_webhooks(state.clone());
    Ok(mails + outbound::deliver_due(&webhooks, &webhooks).await?)
}
