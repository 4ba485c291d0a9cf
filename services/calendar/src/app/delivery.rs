//! Webhook delivery.

use database::{DatabaseError, Db};
use outbound::{
    Courier, DeliveryError, Due, Failure, Outbox, OutboxError, UNDER_WAY, WebhookMessage,
    WebhookSecret, WebhookSender,
};

use crate::state::State;
use crate::store::webhooks::{self, Message};

pub struct Delivery {
    state: State,
    sender: WebhookSender,
}

impl Delivery {
    /// Returns the server's webhook delivery, or `None` if the server doesn't send webhooks.
    pub fn new(state: &State) -> Option<Delivery> {
        let sender = state.webhooks.clone()?;
        Some(Delivery { state: state.clone(), sender })
    }
}

/// A webhook id, as shown in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receiver(i64);

impl std::fmt::Display for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "webhook {}", self.0)
    }
}

impl Outbox for Delivery {
    type Message = Message;
    type Receiver = Receiver;

    async fn receivers_due(&self) -> Result<Vec<Receiver>, OutboxError> {
        let now = self.state.clock.unix();
        let due = self.state.pools.read(move |db| webhooks::due(db, now)).await?;
        Ok(due.into_iter().map(Receiver).collect())
    }

    async fn claim(
        &self,
        shares: Vec<(Receiver, usize)>,
    ) -> Result<Vec<Due<Receiver, Message>>, OutboxError> {
        let now = self.state.clock.unix();
        let claim = move |db: &mut Db| -> Result<_, DatabaseError> {
            let mut claimed = Vec::new();
            for (receiver, share) in shares {
                let own = webhooks::claim(db, receiver.0, share, now, now + UNDER_WAY)?;
                let failed = |message: &Message| u32::try_from(message.tries).unwrap_or(0);
                let due = |message| Due { receiver, failed: failed(&message), message };
                claimed.extend(own.into_iter().map(due));
            }
            Ok(claimed)
        };
        Ok(self.state.pools.write_with_retries(DatabaseError::is_busy, claim).await?)
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
    async fn deliver(&self, message: &Message) -> Result<(), DeliveryError> {
        let id = message.id;
        let found = self.state.pools.read(move |db| webhooks::of_message(db, id)).await;
        let found =
            found.map_err(|error: DatabaseError| DeliveryError::temporary(&error.to_string()))?;
        let webhook = found.ok_or_else(|| DeliveryError::unwanted("the webhook was removed"))?;
        let secret = WebhookSecret::parse(&webhook.secret);
        let secret = secret.ok_or_else(|| DeliveryError::permanent("the secret is invalid"))?;
        let message = WebhookMessage {
            url: webhook.url,
            secret,
            id: format!("msg_{}", message.id),
            timestamp: self.state.clock.unix(),
            body: message.payload.clone(),
            traceparent: message.traceparent.clone(),
        };
        self.sender.send(&message).await
    }
}
