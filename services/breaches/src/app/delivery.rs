//! Delivery of the outbox: mails and webhooks.

use database::{DatabaseError, Db};
use outbound::{
    Courier, DeliveryError, Due, Failure, Outbox, OutboxError, UNDER_WAY, WebhookMessage,
    WebhookSecret,
};
use serde_json::{Value, json};

use super::mails;
use super::people::{Purpose, store_link};
use super::secret_token::SecretToken;
use crate::engine::Mail;
use crate::model::instant;
use crate::model::notice::{FoundPaste, Notice, Recipient};
use crate::state::State;
use crate::store::notices::{self, Posted};
use crate::store::{subscribers, versions, webhooks};

/// The row that replicas take turns by.
const TURN: &str = "delivery_turn";

/// The outbox of this service, and what delivers it.
#[derive(Clone)]
pub struct Delivery(State);

impl Delivery {
    /// Delivery for a server.
    pub fn new(state: State) -> Self {
        Self(state)
    }

    fn now(&self) -> i64 {
        self.0.clock().unix()
    }
}

impl Outbox for Delivery {
    type Message = Posted;

    async fn claim_due(&self, limit: usize) -> Result<Vec<Due<Posted>>, OutboxError> {
        let (now, limit) = (self.now(), i64::try_from(limit)?);
        let claim = move |db: &mut Db| {
            // Whoever writes this row first claims first; the other one sees what is left.
            versions::set(db, TURN, now)?;
            notices::claim(db, limit, now, now + UNDER_WAY)
        };
        let claimed = self.0.pools().write(claim).await?;
        let due = claimed.into_iter().map(|message| Due { failed: message.failed, message });
        Ok(due.collect())
    }

    async fn mark_sent(&self, message: &Posted) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.now());
        Ok(self.0.pools().write(move |db| notices::sent(db, id, now)).await?)
    }

    async fn mark_failed(&self, message: &Posted, failure: Failure) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.now());
        Ok(self.0.pools().write(move |db| notices::failed(db, id, &failure, now)).await?)
    }
}

impl Courier<Posted> for Delivery {
    fn destination(&self, message: &Posted) -> String {
        match message.recipient {
            Recipient::Subscriber(_) => "subscribers by mail".to_owned(),
            Recipient::Webhook(id) => format!("webhook {id}"),
        }
    }

    async fn deliver(&self, message: &Posted) -> Result<(), DeliveryError> {
        match message.recipient {
            Recipient::Subscriber(id) => self.mail(id, message).await,
            Recipient::Webhook(id) => self.call(id, message).await,
        }
    }
}

impl Delivery {
    async fn mail(&self, subscriber: i64, message: &Posted) -> Result<(), DeliveryError> {
        let Some(mail) = self.mail_text(subscriber, &message.notice).await? else { return Ok(()) };
        self.0.outside().mailer.send(mail).await.map_err(|error| match error.permanent {
            true => DeliveryError::Permanent(error.why),
            false => DeliveryError::Temporary(error.why),
        })
    }

    /// The mail about a notice; none for those who do not want it any more.
    async fn mail_text(
        &self,
        subscriber: i64,
        notice: &Notice,
    ) -> Result<Option<Mail>, DeliveryError> {
        let (token, now) = (SecretToken::new().map_err(temporary)?, self.now());
        let (url, text) = (self.0.outside().public_url.clone(), token.text.clone());
        let own = notice.is_own();
        let prepare = move |db: &mut Db| {
            let Some(found) = subscribers::listening(db, subscriber)? else { return Ok(None) };
            if own && !found.notify {
                return Ok(None);
            }
            if own {
                store_link(db, &token, Purpose::Unsubscribe, &found.email, now)?;
            }
            Ok(Some(found.email))
        };
        // Mails about a domain carry no link, so nothing is written for them.
        let prepared: Result<_, DatabaseError> = match own {
            true => self.0.pools().write(prepare).await,
            false => self.0.pools().read(prepare).await,
        };
        let Some(email) = prepared.map_err(temporary)? else { return Ok(None) };
        let snapshot = self.0.snapshot();
        let catalogue = &snapshot.answers.catalogue;
        let unsubscribe = format!("{url}{}?token={text}", Purpose::Unsubscribe.path());
        Ok(match notice {
            Notice::Breach { breach } => catalogue
                .by_name(breach)
                .map(|breach| mails::new_breach(&email, breach, &url, &unsubscribe)),
            Notice::Paste { source, id } => {
                Some(mails::new_paste(&email, source, id, &url, &unsubscribe))
            }
            Notice::Domain { domain, breach, new_accounts, .. } => catalogue
                .by_name(breach)
                .map(|breach| mails::domain_breach(&email, domain, breach, *new_accounts, &url)),
            Notice::DomainPastes { domain, count, last } => {
                Some(mails::domain_pastes(&email, domain, *count, last, &url))
            }
        })
    }

    async fn call(&self, id: i64, message: &Posted) -> Result<(), DeliveryError> {
        let found = self.0.pools().read(move |db| webhooks::enabled(db, id)).await;
        // It was removed meanwhile.
        let Some(webhook) = found.map_err(temporary)? else { return Ok(()) };
        let secret = WebhookSecret::parse(&webhook.secret);
        let secret = secret.ok_or_else(|| DeliveryError::permanent("the secret is broken"))?;
        let timestamp = self.now();
        let body = webhook_body(&message.notice, timestamp)?;
        let id = format!("msg_{}", message.id);
        let (url, body) = (webhook.url, body.to_string());
        let message = WebhookMessage { url, secret, id, timestamp, body };
        self.0.outside().webhooks.send(&message).await
    }
}

/// What a webhook is told.
fn webhook_body(notice: &Notice, timestamp: i64) -> Result<Value, DeliveryError> {
    let sent_at = instant::with_zone(timestamp);
    match notice {
        Notice::Domain { domain, breach, new_accounts, catalogue_version } => Ok(json!({
            "event": "breach",
            "breachName": breach,
            "domain": domain,
            "newAccounts": new_accounts,
            "catalogueVersion": catalogue_version,
            "sentAt": sent_at,
        })),
        Notice::DomainPastes { domain, count, last } => {
            let paste = |found: &FoundPaste| json!({"source": found.source, "id": found.id, "newAccounts": found.addresses});
            let pastes: Vec<Value> = last.iter().map(paste).collect();
            Ok(json!({
                "event": "paste",
                "domain": domain,
                "newPastes": count,
                "pastes": pastes,
                "sentAt": sent_at,
            }))
        }
        Notice::Breach { .. } | Notice::Paste { .. } => {
            Err(DeliveryError::permanent("webhooks hear of domains alone"))
        }
    }
}

fn temporary(error: impl std::fmt::Display) -> DeliveryError {
    DeliveryError::Temporary(error.to_string())
}
