//! The outbox of messages to be sent by email or to webhooks.

use std::collections::HashSet;

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::{exists, min};
use diesel::prelude::*;
use outbound::{Failure, PUT_OFF};

use super::schema::{outbox, subscriber, webhook};
use crate::model::notice::{Notice, Recipient};
use crate::model::waiting::{Channel, Waiting};

/// Error recorded for messages that this version can't decode.
const UNREADABLE: &str = "this version cannot read the message";

/// Give up on messages that can't be decoded after this many seconds (30 days).
const MAX_WAIT_SECONDS: i64 = 30 * 86_400;

/// Adds a message to the outbox. Does nothing if the key already exists or the recipient is gone.
pub fn post(
    db: &mut Db,
    key: &str,
    recipient: Recipient,
    notice: &Notice,
    now: i64,
) -> Result<(), DatabaseError> {
    if !keep(db, recipient)? {
        return Ok(());
    }
    let payload = serde_json::to_string(notice).map_err(DatabaseError::broken)?;
    let row = (
        outbox::key.eq(key),
        outbox::subscriber_id.eq(recipient.subscriber),
        outbox::webhook_id.eq(recipient.webhook),
        outbox::domain.eq(notice.domain()),
        outbox::payload.eq(payload),
        outbox::created_at.eq(now),
        outbox::next_try.eq(now),
        outbox::tries.eq(0),
    );
    on_backend!(db, conn => diesel::insert_into(outbox::table)
        .values(row)
        .on_conflict_do_nothing()
        .execute(conn))?;
    Ok(())
}

/// Locks the recipient so that it can't be removed before the transaction ends. Returns `false` if
/// it's already gone. SQLite needs no lock because it has only one writer.
fn keep(db: &mut Db, recipient: Recipient) -> Result<bool, DatabaseError> {
    let Db::Pg(conn) = db else { return Ok(true) };
    let id = subscriber::table.find(recipient.subscriber).select(subscriber::id);
    if id.for_key_share().first::<i64>(conn).optional()?.is_none() {
        return Ok(false);
    }
    let Some(number) = recipient.webhook else { return Ok(true) };
    let id = webhook::table.find(number).select(webhook::id);
    Ok(id.for_key_share().first::<i64>(conn).optional()?.is_some())
}

/// A message to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Outbox id.
    pub id: i64,
    /// Unique key derived from the message's subject and recipient.
    pub key: String,
    pub recipient: Recipient,
    pub notice: Notice,
    /// Creation time in Unix seconds.
    pub created_at: i64,
    /// Number of failed attempts.
    pub failed: u32,
}

/// Messages claimed from the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// Messages to deliver.
    pub posted: Vec<Posted>,
    /// Ids of messages that this version can't decode and that haven't been reported yet.
    pub unreadable: Vec<i64>,
}

/// Returns `true` if any emails are due.
pub fn mails_due(db: &mut Db, now: i64) -> Result<bool, DatabaseError> {
    let due = outbox::table
        .filter(outbox::webhook_id.is_null())
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null())
        .filter(outbox::next_try.le(now));
    Ok(diesel::select(exists(due)).get_result(db)?)
}

/// Lists webhooks with messages that are due.
pub fn webhooks_due(db: &mut Db, now: i64) -> Result<Vec<i64>, DatabaseError> {
    let due = outbox::table
        .filter(outbox::webhook_id.eq(webhook::id.nullable()))
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null())
        .filter(outbox::next_try.le(now));
    let webhooks = webhook::table.filter(webhook::enabled.eq(true)).filter(exists(due));
    Ok(webhooks.order(webhook::id).select(webhook::id).load(db)?)
}

/// Returns a channel's backlog at `now`, not counting disabled webhooks.
pub fn waiting(db: &mut Db, channel: Channel, now: i64) -> Result<Waiting, DatabaseError> {
    let open = || {
        let all = outbox::table.filter(outbox::sent_at.is_null()).into_boxed();
        let all = all.filter(outbox::failed_at.is_null());
        match channel {
            Channel::Mail => all.filter(outbox::webhook_id.is_null()),
            Channel::Webhook => {
                let enabled = webhook::table.filter(webhook::enabled.eq(true));
                all.filter(outbox::webhook_id.eq_any(enabled.select(webhook::id.nullable())))
            }
        }
    };
    let oldest: Option<i64> = open().select(min(outbox::created_at)).first(db)?;
    let due: Option<i64> = open().select(min(outbox::next_try)).first(db)?;
    let since = |at: Option<i64>| at.map_or(0, |at| (now - at).max(0));
    let messages = open().count().get_result(db)?;
    Ok(Waiting { messages, oldest: since(oldest), overdue: since(due) })
}

type Row = (i64, String, i64, Option<i64>, String, i64, i32, Option<String>);

/// A process's claim on a set of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Random number that identifies the process.
    pub owner: i64,
    /// When the messages become due again unless the claim is renewed.
    pub until: i64,
}

/// Claims messages that are due by postponing their next attempt. These are either emails or the
/// messages for one webhook. If two replicas race for a message, only one gets it.
pub fn claim(
    db: &mut Db,
    webhook: Option<i64>,
    limit: usize,
    claim: Claim,
    now: i64,
) -> Result<Claimed, DatabaseError> {
    let mut claimed = Claimed::default();
    while claimed.posted.len() < limit {
        let missing = i64::try_from(limit - claimed.posted.len()).unwrap_or(i64::MAX);
        let rows = due(db, webhook, missing, now)?;
        if rows.is_empty() {
            break;
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        // Another replica may have claimed some between the two statements.
        let own: Vec<i64> = on_backend!(db, conn => diesel::update(outbox::table)
            .filter(outbox::id.eq_any(&ids))
            .filter(outbox::sent_at.is_null())
            .filter(outbox::failed_at.is_null())
            .filter(outbox::next_try.le(now))
            .set((outbox::next_try.eq(claim.until), outbox::owner.eq(claim.owner)))
            .returning(outbox::id)
            .get_results(conn))?;
        let own: HashSet<i64> = own.into_iter().collect();
        for row in rows.into_iter().filter(|row| own.contains(&row.0)) {
            read(db, row, now, &mut claimed)?;
        }
    }
    Ok(claimed)
}

fn due(db: &mut Db, webhook: Option<i64>, limit: i64, now: i64) -> Result<Vec<Row>, DatabaseError> {
    let columns = (
        outbox::id,
        outbox::key,
        outbox::subscriber_id,
        outbox::webhook_id,
        outbox::payload,
        outbox::created_at,
        outbox::tries,
        outbox::error,
    );
    let waiting = outbox::table
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null())
        .filter(outbox::next_try.le(now))
        .order((outbox::next_try, outbox::id))
        .limit(limit)
        .select(columns);
    match webhook {
        None => Ok(waiting.filter(outbox::webhook_id.is_null()).load(db)?),
        Some(id) => Ok(waiting.filter(outbox::webhook_id.eq(id)).load(db)?),
    }
}

/// Decodes a message. If that fails, we leave it for a newer version.
fn read(
    db: &mut Db,
    (id, key, subscriber, webhook, payload, created_at, tries, error): Row,
    now: i64,
    claimed: &mut Claimed,
) -> Result<(), DatabaseError> {
    if let Ok(notice) = serde_json::from_str(&payload) {
        let (recipient, failed) =
            (Recipient { subscriber, webhook }, u32::try_from(tries).unwrap_or(0));
        claimed.posted.push(Posted { id, key, recipient, notice, created_at, failed });
        return Ok(());
    }
    let is_over = created_at <= now - MAX_WAIT_SECONDS;
    diesel::update(outbox::table.find(id))
        .set((
            outbox::next_try.eq(now.saturating_add_unsigned(PUT_OFF)),
            outbox::error.eq(UNREADABLE),
            is_over.then(|| outbox::failed_at.eq(now)),
        ))
        .execute(db)?;
    if error.as_deref() != Some(UNREADABLE) {
        claimed.unreadable.push(id);
    }
    Ok(())
}

/// Renews the claim on a message. Does nothing if another process has claimed the message since
/// then, or if it has been delivered.
pub fn renew(db: &mut Db, id: i64, claim: Claim) -> Result<(), DatabaseError> {
    let own = outbox::table.filter(outbox::id.eq(id)).filter(outbox::owner.eq(claim.owner));
    let own = own.filter(outbox::sent_at.is_null()).filter(outbox::failed_at.is_null());
    diesel::update(own).set(outbox::next_try.eq(claim.until)).execute(db)?;
    Ok(())
}

/// Returns `true` if a message is still pending and claimed by `owner`. It may be gone if its
/// subscriber, webhook or domain was removed.
pub fn is_claimed(db: &mut Db, id: i64, owner: i64) -> Result<bool, DatabaseError> {
    let waiting = outbox::table.filter(outbox::id.eq(id)).filter(outbox::sent_at.is_null());
    let waiting = waiting.filter(outbox::owner.eq(owner));
    Ok(diesel::select(exists(waiting.filter(outbox::failed_at.is_null()))).get_result(db)?)
}

/// Marks a message as delivered.
pub fn sent(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let sent = (outbox::sent_at.eq(now), outbox::owner.eq(None::<i64>));
    diesel::update(outbox::table.find(id)).set(sent).execute(db)?;
    Ok(())
}

/// Records a failed attempt, or abandons the message if there won't be another one. Does nothing if
/// another process has claimed the message since then.
pub fn failed(
    db: &mut Db,
    id: i64,
    owner: i64,
    failure: &Failure,
    now: i64,
) -> Result<(), DatabaseError> {
    let next = failure.next_try(now);
    let noted = (
        outbox::tries.eq(outbox::tries + i32::from(failure.counts)),
        outbox::error.eq(&failure.why),
        next.map(|at| outbox::next_try.eq(at)),
        next.is_none().then(|| outbox::failed_at.eq(now)),
        outbox::owner.eq(None::<i64>),
    );
    let own = outbox::table.filter(outbox::id.eq(id)).filter(outbox::owner.eq(owner));
    diesel::update(own).set(noted).execute(db)?;
    Ok(())
}

/// Deletes messages that were delivered or abandoned before the given time. The tables `notified`
/// and `domain_breach` prevent them from being posted again.
pub fn prune(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let over = outbox::sent_at.lt(before).or(outbox::failed_at.lt(before));
    Ok(diesel::delete(outbox::table.filter(over)).execute(db)?)
}

/// Drops pending messages about a subscriber's own address.
pub fn drop_own(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    let own = outbox::table
        .filter(outbox::subscriber_id.eq(subscriber))
        .filter(outbox::domain.is_null())
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null());
    diesel::delete(own).execute(db)?;
    Ok(())
}

/// Drops pending emails about a subscriber's domain.
pub fn drop_domain_mails(db: &mut Db, subscriber: i64, domain: &str) -> Result<(), DatabaseError> {
    let mails = outbox::table
        .filter(outbox::subscriber_id.eq(subscriber))
        .filter(outbox::domain.eq(domain))
        .filter(outbox::webhook_id.is_null())
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null());
    diesel::delete(mails).execute(db)?;
    Ok(())
}

/// Deletes all messages about a subscriber's own address, even if they were delivered.
pub fn forget_own(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    let own = outbox::table.filter(outbox::subscriber_id.eq(subscriber));
    diesel::delete(own.filter(outbox::domain.is_null())).execute(db)?;
    Ok(())
}

/// Deletes a message by key, even if it was delivered.
pub fn forget_key(db: &mut Db, key: &str) -> Result<(), DatabaseError> {
    diesel::delete(outbox::table.filter(outbox::key.eq(key))).execute(db)?;
    Ok(())
}
