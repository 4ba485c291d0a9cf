//! Delivers the outbox: email and webhook messages.

use database::{DatabaseError, Db};
use outbound::{
    CLAIM_SECONDS, Courier, DeliveryError, Due, Failure, Limits, Outbox, OutboxError,
    WebhookMessage, WebhookSecret,
};

use super::mail_links::{Purpose, Topic, store_unsubscribe};
use super::mails;
use super::secret_token::{SecretToken, digest};
use crate::external::Mail;
use crate::metrics;
use crate::model::notice::{BreachCount, Notice};
use crate::model::waiting::Channel;
use crate::model::{Breach, instant};
use crate::state::State;
use crate::store::messages::{self, Claim, Posted};
use crate::store::{breaches, domain_controls, subscribers, webhooks};
use crate::wire::WebhookEvent;

/// Give up on a message once its breach has been hidden for this many seconds (30 days).
const MAX_HIDDEN_SECONDS: i64 = 30 * 86_400;

/// Email and webhook messages are delivered separately so that neither can hold up the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Mails,
    Webhooks,
}

/// Destination of a message. Messages to the same receiver are delivered in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Receiver {
    /// Emails, sent through the mail server.
    Mails,
    /// A webhook, by id.
    Webhook(i64),
}

impl std::fmt::Display for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mails => f.write_str("subscribers by email"),
            Self::Webhook(id) => write!(f, "webhook {id}"),
        }
    }
}

/// One of the two outboxes of this service.
#[derive(Clone)]
pub struct Delivery {
    state: State,
    kind: Kind,
    /// Random id that marks the messages claimed by this process.
    owner: i64,
}

impl Delivery {
    /// Delivers email.
    pub fn of_mails(state: State) -> Self {
        Self { state, kind: Kind::Mails, owner: random_owner() }
    }

    /// Delivers webhook messages.
    pub fn of_webhooks(state: State) -> Self {
        Self { state, kind: Kind::Webhooks, owner: random_owner() }
    }

    fn now(&self) -> i64 {
        self.state.clock().unix()
    }

    fn next_claim(&self) -> Claim {
        Claim { owner: self.owner, until: self.now() + CLAIM_SECONDS }
    }
}

/// Generates an id that distinguishes this process from other senders. Uses the process id if the
/// system's random source fails.
fn random_owner() -> i64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => i64::from_ne_bytes(bytes),
        Err(_) => i64::from(std::process::id()),
    }
}

impl Outbox for Delivery {
    type Message = Posted;
    type Receiver = Receiver;

    fn limits(&self) -> Limits {
        match self.kind {
            Kind::Mails => Limits::ONE,
            Kind::Webhooks => Limits::MANY,
        }
    }

    async fn receivers_due(&self) -> Result<Vec<Receiver>, OutboxError> {
        let (now, kind) = (self.now(), self.kind);
        let look = move |db: &mut Db| -> Result<Vec<Receiver>, DatabaseError> {
            Ok(match kind {
                Kind::Mails if messages::mails_due(db, now)? => vec![Receiver::Mails],
                Kind::Mails => Vec::new(),
                Kind::Webhooks => {
                    messages::webhooks_due(db, now)?.into_iter().map(Receiver::Webhook).collect()
                }
            })
        };
        Ok(self.state.pools().read(look).await?)
    }

    async fn claim(
        &self,
        shares: Vec<(Receiver, usize)>,
    ) -> Result<Vec<Due<Receiver, Posted>>, OutboxError> {
        let (now, next) = (self.now(), self.next_claim());
        let claim = move |db: &mut Db| -> Result<_, DatabaseError> {
            let (mut claimed, mut unreadable) = (Vec::new(), Vec::new());
            for (receiver, share) in shares {
                let webhook = match receiver {
                    Receiver::Mails => None,
                    Receiver::Webhook(id) => Some(id),
                };
                let own = messages::claim(db, webhook, share, next, now)?;
                unreadable.extend(own.unreadable);
                claimed.extend(own.posted.into_iter().map(|message| Due {
                    receiver,
                    failed: message.failed,
                    message,
                }));
            }
            Ok((claimed, unreadable))
        };
        let (claimed, unreadable) = self.state.pools().write(claim).await?;
        if !unreadable.is_empty() {
            log::warn!(
                "messages in the outbox are waiting for a version that can decode them: \
                 {unreadable:?}"
            );
        }
        Ok(claimed)
    }

    async fn renew_claim(&self, message: &Posted) -> Result<(), OutboxError> {
        let (id, claim) = (message.id, self.next_claim());
        Ok(self.state.pools().write(move |db| messages::renew(db, id, claim)).await?)
    }

    async fn mark_sent(&self, message: &Posted) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.now());
        Ok(self.state.pools().write(move |db| messages::sent(db, id, now)).await?)
    }

    async fn mark_failed(&self, message: &Posted, failure: Failure) -> Result<(), OutboxError> {
        let (id, owner, now) = (message.id, self.owner, self.now());
        let is_final = failure.retry.is_none() && failure.counts;
        let channel = message.recipient.webhook.map_or(Channel::Mail, |_| Channel::Webhook);
        let record = move |db: &mut Db| messages::failed(db, id, owner, &failure, now);
        self.state.pools().write(record).await?;
        if is_final {
            metrics::count_failed_message(channel);
        }
        Ok(())
    }
}

impl Courier<Posted> for Delivery {
    async fn deliver(&self, message: &Posted) -> Result<(), DeliveryError> {
        match message.recipient.webhook {
            None => self.mail(message).await,
            Some(id) => self.call(id, message).await,
        }
    }
}

/// A message that is still worth delivering.
struct Wanted {
    email: String,
    /// The breach that the message announces, if any.
    breach: Option<Breach>,
    /// For monthly reports: the breaches that may still be shown, and the number of addresses in
    /// each.
    listed: Vec<(Breach, i64)>,
}

/// Checks that a message is still wanted and still claimed by us. This reads the database rather
/// than the snapshot, and drops messages about data that is gone.
fn still_wanted(
    db: &mut Db,
    message: &Posted,
    owner: i64,
    now: i64,
) -> Result<Result<Wanted, DeliveryError>, DatabaseError> {
    let Posted { id, recipient, notice, created_at, .. } = message;
    let unwanted = |why| Ok(Err(DeliveryError::unwanted(why)));
    let Some(subscriber) = subscribers::listening(db, recipient.subscriber)? else {
        return unwanted("the subscriber was removed");
    };
    if !messages::is_claimed(db, *id, owner)? {
        return unwanted("the message was removed, or another process claimed it");
    }
    let is_mail = recipient.webhook.is_none();
    let is_subscribed =
        match notice.domain() {
            None => subscriber.notify,
            Some(domain) => domain_controls::verified(db, recipient.subscriber, domain)?
                .is_some_and(|control| match notice {
                    Notice::DomainReport(_) => control.monthly,
                    _ => control.notify || !is_mail,
                }),
        };
    if !is_subscribed {
        return unwanted("notices about the address or the domain are off");
    }
    if notice.domain().is_some() && subscribers::has_ended(db, recipient.subscriber, now)? {
        return unwanted("the subscription ended");
    }
    let Some(name) = notice.breach() else {
        let listed = still_shown(db, notice)?;
        return Ok(Ok(Wanted { email: subscriber.email, breach: None, listed }));
    };
    let Some(breach) = breaches::by_name(db, name)? else {
        return Ok(Err(DeliveryError::temporary("the breach does not exist")));
    };
    if breach.flags.retired {
        return unwanted("the breach is retired");
    }
    if !breach.active {
        // The breach may become visible again soon, and this notice wouldn't be posted again.
        return match now - created_at < MAX_HIDDEN_SECONDS {
            true => Ok(Err(DeliveryError::early("the breach is hidden"))),
            false => unwanted("the breach has been hidden for too long"),
        };
    }
    Ok(Ok(Wanted { email: subscriber.email, breach: Some(breach), listed: Vec::new() }))
}

/// Removes breaches from a monthly report that have since been hidden or retired.
fn still_shown(db: &mut Db, notice: &Notice) -> Result<Vec<(Breach, i64)>, DatabaseError> {
    let Notice::DomainReport(report) = notice else { return Ok(Vec::new()) };
    let mut listed = Vec::new();
    for BreachCount { breach, addresses } in &report.breaches {
        let found = breaches::by_name(db, breach)?;
        listed.extend(found.filter(Breach::shown_for_domain).map(|breach| (breach, *addresses)));
    }
    Ok(listed)
}

impl Delivery {
    async fn mail(&self, message: &Posted) -> Result<(), DeliveryError> {
        let mail = self.mail_text(message).await?;
        self.state.external().mailer.send(mail).await.map_err(|error| match error.permanent {
            true => DeliveryError::Permanent(error.why),
            false => DeliveryError::Temporary(error.why),
        })
    }

    /// Renders a notice, provided it's still wanted.
    async fn mail_text(&self, message: &Posted) -> Result<Mail, DeliveryError> {
        let (token, now, owner) = (SecretToken::new().map_err(temporary)?, self.now(), self.owner);
        let (url, text) = (self.state.external().public_url.clone(), token.text.clone());
        let checked = message.clone();
        let prepare = move |db: &mut Db| -> Result<_, DatabaseError> {
            let wanted = still_wanted(db, &checked, owner, now)?;
            if wanted.is_ok() {
                let topic = topic(&checked.notice);
                store_unsubscribe(db, &token, checked.recipient.subscriber, &topic, now)?;
            }
            Ok(wanted)
        };
        let prepared: Result<_, DatabaseError> = self.state.pools().write(prepare).await;
        let Wanted { email, breach, listed } = prepared.map_err(temporary)??;
        let end = format!("{url}{}?token={text}", Purpose::Unsubscribe.path());
        let breach = || {
            breach
                .as_ref()
                .ok_or_else(|| DeliveryError::permanent("the notice does not name a breach"))
        };
        let letter = match &message.notice {
            Notice::Breach { .. } => mails::new_breach(&email, breach()?, &url, end),
            Notice::Paste { source, id } => mails::new_paste(&email, source, id, &url, end),
            Notice::Domain { domain, new_accounts, .. } => {
                mails::domain_breach(domain, breach()?, *new_accounts, &url, end)
            }
            Notice::DomainPastes { domain, count, last } => {
                mails::domain_pastes(domain, *count, last, &url, end)
            }
            Notice::DomainReport(report) => mails::domain_report(report, &listed, &url, end),
        };
        Ok(letter.to(&email, message_id(message)))
    }

    async fn call(&self, id: i64, message: &Posted) -> Result<(), DeliveryError> {
        let (checked, owner, now) = (message.clone(), self.owner, self.now());
        let check = move |db: &mut Db| -> Result<_, DatabaseError> {
            let found = webhooks::enabled(db, id, checked.recipient.subscriber)?;
            Ok(match still_wanted(db, &checked, owner, now)? {
                Ok(_) => found.ok_or_else(|| DeliveryError::unwanted("the webhook was removed")),
                Err(unwanted) => Err(unwanted),
            })
        };
        let checked: Result<_, DatabaseError> = self.state.pools().read(check).await;
        let webhook = checked.map_err(temporary)??;
        let secret = WebhookSecret::parse(&webhook.secret);
        let secret = secret.ok_or_else(|| DeliveryError::permanent("the secret is invalid"))?;
        let body = webhook_body(&message.notice, now)?;
        let id = format!("msg_{}", message.id);
        let url = webhook.url;
        // There is no trace to link to, because these messages are the result of loads and
        // maintenance rather than requests.
        let traceparent = None;
        let message = WebhookMessage { url, secret, id, timestamp: now, body, traceparent };
        self.state.external().webhooks.send(&message).await
    }
}

/// Returns which emails a notice's unsubscribe link stops.
fn topic(notice: &Notice) -> Topic {
    match notice {
        Notice::DomainReport(report) => Topic::Reports(report.domain.clone()),
        other => other.domain().map_or(Topic::Own, |domain| Topic::Domain(domain.to_owned())),
    }
}

/// Returns the local part of the Message-ID. It's the same for every attempt so that receivers can
/// discard duplicates.
fn message_id(message: &Posted) -> String {
    let Posted { id, key, created_at, .. } = message;
    let digest = digest(&format!("message {id} {created_at} {key}"));
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn webhook_body(notice: &Notice, timestamp: i64) -> Result<String, DeliveryError> {
    let event = WebhookEvent::of(notice, instant::with_zone(timestamp));
    let event = event
        .ok_or_else(|| DeliveryError::permanent("webhooks receive notices about domains only"))?;
    serde_json::to_string(&event).map_err(|error| DeliveryError::permanent(&error.to_string()))
}

fn temporary(error: impl std::fmt::Display) -> DeliveryError {
    DeliveryError::Temporary(error.to_string())
}
