//! Webhooks and their outbox.

use std::collections::HashSet;

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::exists;
use diesel::prelude::*;
use outbound::Failure;

use super::schema::{webhook_outbox as outbox, webhooks};
use super::sql::{self, Sql};
use crate::model::event::Event;
use crate::model::notice::Notice;

/// A webhook. Its secret is needed to sign every message, so it is stored in plain text.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = webhooks)]
pub struct Webhook {
    pub id: i64,
    pub url: String,
    pub secret: String,
    pub created_utc: i64,
}

/// Returns all webhooks, oldest first.
pub fn all(db: &mut Db) -> Result<Vec<Webhook>, DatabaseError> {
    Ok(webhooks::table.order(webhooks::id).select(Webhook::as_select()).load(db)?)
}

/// Returns the webhook for a pending message, or `None` if the webhook and its messages have been
/// removed.
pub fn of_message(db: &mut Db, id: i64) -> Result<Option<Webhook>, DatabaseError> {
    Ok(outbox::table
        .inner_join(webhooks::table)
        .filter(outbox::id.eq(id).and(outbox::over_utc.is_null()))
        .select(Webhook::as_select())
        .first(db)
        .optional()?)
}

/// Adds a webhook. Fails with [`DatabaseError::Conflict`] if the URL is already registered.
pub fn add(db: &mut Db, url: &str, secret: &str, now: i64) -> Result<(), DatabaseError> {
    diesel::insert_into(webhooks::table)
        .values((webhooks::url.eq(url), webhooks::secret.eq(secret), webhooks::created_utc.eq(now)))
        .execute(db)?;
    Ok(())
}

/// Removes a webhook and its messages. Returns whether it existed.
pub fn remove(db: &mut Db, url: &str) -> Result<bool, DatabaseError> {
    // Block event writes, which could otherwise add messages for this webhook.
    sql::one_writer(db)?;
    let found: Option<i64> =
        webhooks::table.filter(webhooks::url.eq(url)).select(webhooks::id).first(db).optional()?;
    let Some(id) = found else { return Ok(false) };
    diesel::delete(outbox::table.filter(outbox::webhook_id.eq(id))).execute(db)?;
    Ok(diesel::delete(webhooks::table.find(id)).execute(db)? > 0)
}

/// Adds messages about an event to the outbox, one per webhook. Must run in the same transaction as
/// the change.
pub fn post(db: &mut Db, old: Option<&Event>, new: &Event) -> Result<(), DatabaseError> {
    for notice in Notice::of(old, new) {
        if add_message(db, notice.body(new), new.modified_utc)? == 0 {
            break;
        }
    }
    Ok(())
}

/// Adds messages about new events to the outbox, one per webhook and event. Must run in the same
/// transaction as the change.
pub fn post_new<'e>(
    db: &mut Db,
    mut new: impl Iterator<Item = &'e Event>,
) -> Result<(), DatabaseError> {
    match Sql::new(db, "select count(*) as n from webhooks").number(db)? {
        0 => Ok(()),
        _ => new.try_for_each(|event| post(db, None, event)),
    }
}

/// Replaces all messages after `last` with a single one. Does nothing if there aren't any. Must run
/// in the transaction that added them.
pub fn combine_after(db: &mut Db, last: i64, body: &str, now: i64) -> Result<(), DatabaseError> {
    let added = diesel::delete(outbox::table.filter(outbox::id.gt(last))).execute(db)?;
    if added == 0 {
        return Ok(());
    }
    add_message(db, body.to_owned(), now).map(drop)
}

/// Replaces all messages after `last` with `bodies`. Must run in the transaction that added them.
pub fn replace_after(
    db: &mut Db,
    last: i64,
    bodies: impl IntoIterator<Item = String>,
    now: i64,
) -> Result<(), DatabaseError> {
    diesel::delete(outbox::table.filter(outbox::id.gt(last))).execute(db)?;
    bodies.into_iter().try_for_each(|body| add_message(db, body, now).map(drop))
}

/// Adds a message for each webhook. Returns the number of webhooks.
fn add_message(db: &mut Db, body: String, at: i64) -> Result<usize, DatabaseError> {
    let text = "insert into webhook_outbox (webhook_id, payload, created_utc, next_try, tries) \
        select id, cast(";
    let mut sql = Sql::prepared(db, text);
    sql.bind(body).push(" as text), ").value(at).push(", ").value(at);
    sql.push(", 0 from webhooks order by id");
    sql.execute(db)
}

/// Returns the id of the last message, or 0 if there isn't one.
pub fn last_message(db: &mut Db) -> Result<i64, DatabaseError> {
    let last: Option<i64> = outbox::table.select(diesel::dsl::max(outbox::id)).first(db)?;
    Ok(last.unwrap_or(0))
}

/// Sets the `traceparent` of all messages after `last`. Within a transaction, these are the
/// messages that the transaction has added.
pub fn trace_after(db: &mut Db, last: i64, traceparent: &str) -> Result<(), DatabaseError> {
    diesel::update(outbox::table.filter(outbox::id.gt(last)))
        .set(outbox::traceparent.eq(traceparent))
        .execute(db)?;
    Ok(())
}

/// A message to deliver.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = outbox)]
pub struct Message {
    pub id: i64,
    pub webhook_id: i64,
    pub payload: String,
    pub tries: i32,
    pub traceparent: Option<String>,
}

/// Returns the ids of webhooks that have messages due.
pub fn due(db: &mut Db, now: i64) -> Result<Vec<i64>, DatabaseError> {
    let waiting = outbox::table
        .filter(outbox::webhook_id.eq(webhooks::id))
        .filter(outbox::over_utc.is_null().and(outbox::next_try.le(now)));
    let found = webhooks::table.filter(exists(waiting)).order(webhooks::id);
    Ok(found.select(webhooks::id).load(db)?)
}

/// Claims a webhook's due messages by postponing their next attempt. If replicas race, each message
/// goes to only one of them.
pub fn claim(
    db: &mut Db,
    webhook: i64,
    limit: usize,
    now: i64,
    later: i64,
) -> Result<Vec<Message>, DatabaseError> {
    let mut claimed = Vec::new();
    while claimed.len() < limit {
        let waiting: Vec<Message> = outbox::table
            .filter(outbox::webhook_id.eq(webhook))
            .filter(outbox::over_utc.is_null().and(outbox::next_try.le(now)))
            .order((outbox::next_try, outbox::id))
            .limit(i64::try_from(limit - claimed.len()).unwrap_or(i64::MAX))
            .select(Message::as_select())
            .load(db)?;
        if waiting.is_empty() {
            break;
        }
        let ids: Vec<i64> = waiting.iter().map(|message| message.id).collect();
        // Another replica might have claimed some of them between the two statements.
        let own: Vec<i64> = on_backend!(db, conn => diesel::update(outbox::table)
            .filter(outbox::id.eq_any(&ids))
            .filter(outbox::over_utc.is_null().and(outbox::next_try.le(now)))
            .set(outbox::next_try.eq(later))
            .returning(outbox::id)
            .get_results(conn))?;
        let own: HashSet<i64> = own.into_iter().collect();
        claimed.extend(waiting.into_iter().filter(|message| own.contains(&message.id)));
    }
    Ok(claimed)
}

pub fn sent(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(outbox::table.find(id)).set(outbox::over_utc.eq(now)).execute(db)?;
    Ok(())
}

/// Records a failed attempt. The message is abandoned if this was the last attempt.
pub fn failed(db: &mut Db, id: i64, failure: &Failure, now: i64) -> Result<(), DatabaseError> {
    let next = failure.next_try(now);
    let noted = (
        outbox::tries.eq(outbox::tries + i32::from(failure.counts)),
        outbox::error.eq(&failure.why),
        next.map(|at| outbox::next_try.eq(at)),
        next.is_none().then(|| outbox::over_utc.eq(now)),
    );
    diesel::update(outbox::table.find(id)).set(noted).execute(db)?;
    Ok(())
}

/// Counts pending messages for all webhooks.
pub fn all_waiting(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(outbox::table.filter(outbox::over_utc.is_null()).count().get_result(db)?)
}

/// Counts a webhook's pending messages.
pub fn waiting(db: &mut Db, webhook: i64) -> Result<i64, DatabaseError> {
    let own = outbox::webhook_id.eq(webhook).and(outbox::over_utc.is_null());
    Ok(outbox::table.filter(own).count().get_result(db)?)
}

/// Deletes messages that were delivered or abandoned before the given time in Unix seconds.
pub fn tidy(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    Ok(diesel::delete(outbox::table.filter(outbox::over_utc.lt(before))).execute(db)?)
}
