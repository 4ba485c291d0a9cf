//! Delivery of what webhooks are to hear.

use database::{DatabaseError, Db};
use outbound::{
    Courier, DeliveryError, Due, Failure, Outbox, OutboxError, UNDER_WAY, WebhookMessage,
    WebhookSecret, WebhookSender,
};

use crate::state::State;
use crate::store::sql;
use crate::store::webhooks::{self, Message};

/// The outbox, and what delivers it.
pub struct Delivery {
    state: State,
    sender: WebhookSender,
}

impl Delivery {
    /// Delivery for a server; none where it does not send webhooks.
    pub fn new(state: &State) -> Option<Delivery> {
        let sender = state.webhooks.clone()?;
        Some(Delivery { state: state.clone(), sender })
    }
}

impl Outbox for Delivery {
    type Message = Message;

    async fn claim_due(&self, limit: usize) -> Result<Vec<Due<Message>>, OutboxError> {
        let (now, limit) = (self.state.clock.unix(), i64::try_from(limit)?);
        let due = move |db: &mut Db| -> Result<_, DatabaseError> {
            // One claims at a time; the other one sees what is left.
            sql::one_writer(db)?;
            webhooks::claim(db, limit, now, now + UNDER_WAY)
        };
        // Most of the time there is nothing, and nobody has to wait for a look.
        if self.state.pools.read(move |db| webhooks::is_idle(db, now)).await? {
            return Ok(Vec::new());
        }
        let claimed = self.state.pools.write(due).await?.into_iter();
        let failed = |message: &Message| u32::try_from(message.tries).unwrap_or(0);
        Ok(claimed.map(|message| Due { failed: failed(&message), message }).collect())
    }

    async fn mark_sent(&self, message: &Message) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.state.clock.unix());
        Ok(self.state.pools.write(move |db| webhooks::sent(db, id, now)).await?)
    }

    async fn mark_failed(&self, message: &Message, failure: Failure) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.state.clock.unix());
        Ok(self.state.pools.write(move |db| webhooks::failed(db, id, &failure, now)).await?)
    }
}

impl Courier<Message> for Delivery {
    fn destination(&self, message: &Message) -> String {
        format!("webhook {}", message.webhook_id)
    }

    async fn deliver(&self, message: &Message) -> Result<(), DeliveryError> {
        let id = message.webhook_id;
        let found = self.state.pools.read(move |db| webhooks::find(db, id)).await;
        let found =
            found.map_err(|error: DatabaseError| DeliveryError::temporary(&error.to_string()))?;
        // It was removed meanwhile.
        let Some(webhook) = found else { return Ok(()) };
        let secret = WebhookSecret::parse(&webhook.secret);
        let secret = secret.ok_or_else(|| DeliveryError::permanent("the secret is broken"))?;
        let message = WebhookMessage {
            url: webhook.url,
            secret,
            id: format!("msg_{}", message.id),
            timestamp: self.state.clock.unix(),
            body: message.payload.clone(),
        };
        self.sender.send(&message).await
    }
}
