//! Sends alert messages to webhooks.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::{DatabaseError, Db, off_worker};
use outbound::{
    Courier, DeliveryError, Due, Failure, Outbox, OutboxError, UNDER_WAY, WebhookMessage,
    WebhookSecret, WebhookSender,
};

use super::alerts::saved_search;
use super::files::{record, shown_between, shown_by};
use super::search::CancelOnDrop;
use super::snapshot::newest;
use crate::engine::{EngineError, Limits};
use crate::model::file_query::{FileQuery, Position, SortKey};
use crate::model::package::{Capability, Package};
use crate::state::{Snapshot, State};
use crate::store::alert_messages::{self, AlertMessage, MOST_NAMED};
use crate::store::alerts::{self, Alert};
use crate::store::buckets::Bucket;
use crate::wire::alerts::AlertEvent;
use crate::wire::files::FileRecord;

/// User agent of webhook requests.
const USER_AGENT: &str = concat!("buckets/", env!("CARGO_PKG_VERSION"));
/// Number of rows to read at a time.
const BATCH: usize = 100;
/// Time limit for the searches run during a delivery attempt. An attempt must finish within a few
/// seconds.
const SEARCH: Duration = Duration::from_secs(3);

/// Sends the queued alert messages.
pub struct AlertDelivery {
    state: State,
    /// Base URL for links back to this service.
    base: String,
    sender: WebhookSender,
}

impl AlertDelivery {
    /// Sets up delivery for a server.
    ///
    /// # Errors
    /// Returns an error if the HTTP client can't be built.
    pub fn new(state: &State, base: &str) -> anyhow::Result<Self> {
        let sender = WebhookSender::new(state.settings().webhook_reach(), USER_AGENT)?;
        Ok(Self { state: state.clone(), base: base.to_owned(), sender })
    }

    /// Returns a snapshot in which the message's files are visible, refreshing it if necessary.
    async fn current_snapshot(
        &self,
        message: &AlertMessage,
    ) -> Result<Arc<Snapshot>, DeliveryError> {
        let has_publish = |snapshot: &Snapshot| {
            let generation = i64::from(snapshot.generation);
            let newest = snapshot.summary.journal.published_id();
            let is_seen = message.last_id as u64 <= newest;
            message.generation < generation || (message.generation == generation && is_seen)
        };
        let mut snapshot = self.state.snapshot();
        if !has_publish(&snapshot) {
            let newest = newest(&self.state).await;
            snapshot = newest.map_err(|error| DeliveryError::Temporary(error.to_string()))?;
        }
        if has_publish(&snapshot) {
            Ok(snapshot)
        } else {
            Err(DeliveryError::temporary("the server has not seen the publish yet"))
        }
    }
}

/// An alert id, formatted for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receiver(i64);

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "alert {}", self.0)
    }
}

impl Outbox for AlertDelivery {
    type Message = AlertMessage;
    type Receiver = Receiver;

    async fn receivers_due(&self) -> Result<Vec<Receiver>, OutboxError> {
        let now = self.state.clock().unix();
        let due = self.state.pools().read(move |db| alert_messages::due(db, now)).await?;
        Ok(due.into_iter().map(Receiver).collect())
    }

    async fn claim(
        &self,
        shares: Vec<(Receiver, usize)>,
    ) -> Result<Vec<Due<Receiver, AlertMessage>>, OutboxError> {
        let now = self.state.clock().unix();
        let claim = move |db: &mut Db| -> Result<_, DatabaseError> {
            let mut claimed = Vec::new();
            for (receiver, share) in shares {
                let own = alert_messages::claim(db, receiver.0, share, (now, now + UNDER_WAY))?;
                let failed = |message: &AlertMessage| u32::try_from(message.tries).unwrap_or(0);
                let due = |message| Due { receiver, failed: failed(&message), message };
                claimed.extend(own.into_iter().map(due));
            }
            Ok(claimed)
        };
        Ok(self.state.pools().write(claim).await?)
    }

    async fn mark_sent(&self, message: &AlertMessage) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.state.clock().unix());
        Ok(self.state.pools().write(move |db| alert_messages::sent(db, id, now)).await?)
    }

    async fn mark_failed(
        &self,
        message: &AlertMessage,
        failure: Failure,
    ) -> Result<(), OutboxError> {
        let (id, now) = (message.id, self.state.clock().unix());
        let failed = move |db: &mut Db| alert_messages::failed(db, id, &failure, now);
        Ok(self.state.pools().write(failed).await?)
    }
}

impl Courier<AlertMessage> for AlertDelivery {
    async fn deliver(&self, message: &AlertMessage) -> Result<(), DeliveryError> {
        let now = self.state.clock().unix();
        let (id, message_id) = (message.alert_id, message.id);
        let found = self.state.pools().read(move |db| -> Result<_, DatabaseError> {
            let Some(alert) = alerts::by_id(db, id)? else { return Ok(None) };
            // Changing an alert deletes its messages. Reading the message after the alert ensures
            // that a deleted message is never sent to a new webhook.
            if !alert_messages::exists(db, message_id)? {
                return Ok(None);
            }
            let key = auth::find_live(db, alert.key_id, now)?;
            Ok(key.map(|key| (alert, key)))
        });
        let temporary = |error: DatabaseError| DeliveryError::temporary(&error.to_string());
        let unwanted = || {
            DeliveryError::unwanted(
                "the alert was changed or removed, or its key is no longer valid",
            )
        };
        let (alert, key) = found.await.map_err(temporary)?.ok_or_else(unwanted)?;
        let (Some(url), Some(secret)) = (&alert.webhook, &alert.secret) else {
            return Err(DeliveryError::unwanted("the alert has no webhook"));
        };
        let secret = WebhookSecret::parse(secret);
        let secret = secret.ok_or_else(|| DeliveryError::permanent("the secret is invalid"))?;
        let snapshot = self.current_snapshot(message).await?;
        let package = snapshot.package(key.plan.as_ref().map(|plan| plan.code.as_str()));
        if !package.allows(Capability::Alerts) {
            return Err(DeliveryError::unwanted("the package has no alerts"));
        }
        let (own, named) = (message.clone(), url.clone());
        let link = format!(
            "{}/api/v2/alerts/{}/files?after={}-{}",
            self.base, alert.id, message.generation, message.after_id
        );
        let limits = Limits::none();
        // Ends the search if the attempt times out. Otherwise, a cluster that hangs could occupy
        // more and more threads.
        let _cancelled = CancelOnDrop::of(&limits);
        let body = move || body(&snapshot, &package, (&alert, &own), link, now, &limits);
        let body = off_worker(body).await;
        let body = body.map_err(|error| DeliveryError::Temporary(error.to_string()))??;
        let message = WebhookMessage {
            url: named,
            secret,
            // In a restored database, new messages can reuse the ids of messages that were lost.
            id: format!("msg_{}_{}", message.id, message.published_at),
            timestamp: now,
            body,
            traceparent: None,
        };
        self.sender.send(&message).await
    }
}

/// Returns the number of seconds until a package shows `bucket`, given that it currently shows
/// buckets first indexed by `since`. `None` if it already shows the bucket.
fn wait_for(bucket: &Bucket, since: Option<i64>) -> Option<i64> {
    let wait = bucket.first_indexed?.saturating_sub(since?);
    (wait > 0).then_some(wait)
}

/// A message's files that are still in the index, or the number of seconds until the package shows
/// all of them.
type Counted = Result<(i64, Vec<FileRecord>), i64>;

/// Returns the files of a message whose file list is complete.
fn named(
    snapshot: &Snapshot,
    package: &Package,
    message: &AlertMessage,
    now: i64,
    limits: &Limits,
) -> Result<Counted, EngineError> {
    let ids = alert_messages::ids_of(&message.files);
    let (files, wait) = rows(snapshot, package, &ids, now, limits)?;
    // If the message's search couldn't run, there might be more files than the message lists.
    let count = message.count - (ids.len() - files.len()) as i64;
    Ok(wait.map_or(Ok((count, files)), Err))
}

/// Searches for the files of a message whose file list is incomplete. Returns `None` instead of an
/// error if the search can't be run or takes too long, because an error would cause the message to
/// be abandoned.
fn searched(
    snapshot: &Snapshot,
    package: &Package,
    alert: &Alert,
    message: &AlertMessage,
    now: i64,
) -> Result<Option<Counted>, EngineError> {
    let Ok(search) = saved_search(&alert.query) else { return Ok(None) };
    let since = alert.since();
    let first = if since.generation == message.generation { since.id } else { 0 };
    let ids = message.after_id.max(first) as u64 + 1..=message.last_id as u64;
    let limits = Limits::until(Instant::now() + SEARCH, 1);
    let run = |query: FileQuery, limit: usize| {
        let query = FileQuery { ids: Some(ids.clone()), limit, ..query };
        snapshot.index.search(&query, &limits)
    };
    let hidden_since = package.hidden_since(now);
    let split = message.shown_until.unwrap_or(i64::MAX);
    let (from, to) = if message.is_delayed { (split, i64::MAX) } else { (i64::MIN, split) };
    let found = || -> Result<Counted, EngineError> {
        if let Some(since) = hidden_since.filter(|since| *since < to)
            && let Some(query) = shown_between(&search, snapshot, (since.max(from), to), 0)
            && let Some(row) = run(query, 1)?.rows.first()
        {
            let bucket = snapshot.bucket(row.bucket);
            return Ok(Err(bucket.and_then(|bucket| wait_for(bucket, hidden_since)).unwrap_or(1)));
        }
        let query = if message.is_delayed {
            shown_between(&search, snapshot, (from, to), 0)
        } else {
            Some(shown_by(&search, snapshot, message.shown_until, 0))
        };
        let Some(query) = query else { return Ok(Ok((0, Vec::new()))) };
        let found = run(query, MOST_NAMED)?;
        let files = found.rows.into_iter().filter_map(|row| record(snapshot, row));
        Ok(Ok((found.total as i64, files.collect())))
    };
    match found() {
        Err(EngineError::Stopped | EngineError::Unsupported(_)) => Ok(None),
        found => found.map(Some),
    }
}

/// Returns the body of a message. Files that have since been removed are omitted and not counted.
fn body(
    snapshot: &Arc<Snapshot>,
    package: &Package,
    (alert, message): (&Alert, &AlertMessage),
    link: String,
    now: i64,
    limits: &Limits,
) -> Result<String, DeliveryError> {
    let failed = |error: EngineError| DeliveryError::Temporary(error.to_string());
    let (mut count, mut files) = (message.count, Vec::new());
    // A rebuild renumbers the files, so ids from earlier generations are meaningless.
    if message.generation == i64::from(snapshot.generation) {
        let found = if message.count > alert_messages::ids_of(&message.files).len() as i64 {
            searched(snapshot, package, alert, message, now).map_err(failed)?
        } else {
            None
        };
        let found = match found {
            Some(found) => found,
            None => named(snapshot, package, message, now, limits).map_err(failed)?,
        };
        (count, files) = found.map_err(|wait| {
            let why = "the package does not show all its files yet";
            DeliveryError::postponed(why, Duration::from_secs(wait.unsigned_abs()))
        })?;
        if count <= 0 {
            return Err(DeliveryError::unwanted("all files were removed"));
        }
    }
    let event = AlertEvent {
        kind: "alert",
        alert: alert.id,
        name: alert.name.clone(),
        run: message.run_id,
        published_at: message.published_at,
        count,
        files,
        link,
    };
    serde_json::to_string(&event).map_err(|error| DeliveryError::Permanent(error.to_string()))
}

/// Looks up files by id. Skips files that the package doesn't show yet, and returns the number of
/// seconds until it does, if it ever will. Both `ids` and the returned records are in ascending
/// order.
fn rows(
    snapshot: &Snapshot,
    package: &Package,
    ids: &[u64],
    now: i64,
    limits: &Limits,
) -> Result<(Vec<FileRecord>, Option<i64>), EngineError> {
    let since = package.hidden_since(now);
    let mut longest: Option<i64> = None;
    let mut records = Vec::with_capacity(ids.len());
    let mut wanted = ids.iter().copied().peekable();
    while let Some(&first) = wanted.peek() {
        let query = FileQuery {
            position: Position::After(SortKey { value: 0, id: first.saturating_sub(1) }),
            limit: BATCH,
            ..FileQuery::default()
        };
        let found = snapshot.index.search(&query, limits)?;
        let last = found.rows.last().map_or(u64::MAX, |row| row.id);
        for row in found.rows {
            while wanted.next_if(|id| *id < row.id).is_some() {}
            if wanted.next_if_eq(&row.id).is_none() {
                continue;
            }
            let Some(bucket) = snapshot.bucket(row.bucket) else { continue };
            let first = bucket.first_indexed.unwrap_or(now);
            if snapshot.takedowns.hides(row.bucket, &row.path) {
                continue;
            }
            if since.is_none_or(|since| first <= since) {
                records.extend(record(snapshot, row));
            } else {
                longest = longest.max(wait_for(bucket, since));
            }
        }
        while wanted.next_if(|id| *id <= last).is_some() {}
    }
    Ok((records, longest))
}
