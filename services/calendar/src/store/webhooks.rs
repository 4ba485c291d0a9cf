//! Webhooks of the operator, and the messages that wait for them.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use outbound::Failure;

use super::schema::{webhook_outbox as outbox, webhooks};
use super::sql::Sql;
use crate::model::event::Event;
use crate::model::notice::Notice;

/// A webhook. Its secret is stored as it is, because it signs every message.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = webhooks)]
pub struct Webhook {
    pub id: i64,
    pub url: String,
    pub secret: String,
    pub created_utc: i64,
}

/// Reads all webhooks, oldest first.
pub fn all(db: &mut Db) -> Result<Vec<Webhook>, DatabaseError> {
    Ok(webhooks::table.order(webhooks::id).select(Webhook::as_select()).load(db)?)
}

/// Finds a webhook.
pub fn find(db: &mut Db, id: i64) -> Result<Option<Webhook>, DatabaseError> {
    Ok(webhooks::table.find(id).select(Webhook::as_select()).first(db).optional()?)
}

/// Adds a webhook; [`DatabaseError::Conflict`] where there is one with this URL.
pub fn add(db: &mut Db, url: &str, secret: &str, now: i64) -> Result<(), DatabaseError> {
    diesel::insert_into(webhooks::table)
        .values((webhooks::url.eq(url), webhooks::secret.eq(secret), webhooks::created_utc.eq(now)))
        .execute(db)?;
    Ok(())
}

/// Removes a webhook with all that waits for it; whether there was one.
pub fn remove(db: &mut Db, url: &str) -> Result<bool, DatabaseError> {
    let found: Option<i64> =
        webhooks::table.filter(webhooks::url.eq(url)).select(webhooks::id).first(db).optional()?;
    let Some(id) = found else { return Ok(false) };
    diesel::delete(outbox::table.filter(outbox::webhook_id.eq(id))).execute(db)?;
    Ok(diesel::delete(webhooks::table.find(id)).execute(db)? > 0)
}

/// Puts messages for all webhooks into the outbox, in the transaction of the writer.
pub fn post(db: &mut Db, old: Option<&Event>, new: &Event) -> Result<(), DatabaseError> {
    for notice in Notice::of(old, new) {
        let at = new.modified_utc;
        let text = "insert into webhook_outbox (webhook_id, payload, created_utc, next_try, tries) \
            select id, cast(";
        let mut sql = Sql::new(db, text);
        sql.bind(notice.body(new)).push(" as text), ").value(at).push(", ").value(at);
        sql.push(", 0 from webhooks order by id");
        if sql.execute(db)? == 0 {
            break;
        }
    }
    Ok(())
}

/// A message that is to be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = outbox)]
pub struct Message {
    pub id: i64,
    pub webhook_id: i64,
    pub payload: String,
    pub tries: i32,
}

/// Takes messages whose time has come and puts their next attempt off.
pub fn claim(db: &mut Db, limit: i64, now: i64, later: i64) -> Result<Vec<Message>, DatabaseError> {
    let due: Vec<Message> = outbox::table
        .filter(outbox::over_utc.is_null().and(outbox::next_try.le(now)))
        .order((outbox::next_try, outbox::id))
        .limit(limit)
        .select(Message::as_select())
        .load(db)?;
    let ids: Vec<i64> = due.iter().map(|message| message.id).collect();
    on_backend!(db, conn => diesel::update(outbox::table.filter(outbox::id.eq_any(&ids)))
        .set(outbox::next_try.eq(later))
        .execute(conn))?;
    Ok(due)
}

/// Notes that a message was delivered.
pub fn sent(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(outbox::table.find(id)).set(outbox::over_utc.eq(now)).execute(db)?;
    Ok(())
}

/// Notes a failed attempt; without a next one the message is given up.
pub fn failed(db: &mut Db, id: i64, failure: &Failure, now: i64) -> Result<(), DatabaseError> {
    let next = failure.next_try(now);
    let noted = (
        outbox::tries.eq(outbox::tries + 1),
        outbox::error.eq(&failure.why),
        next.map(|at| outbox::next_try.eq(at)),
        next.is_none().then(|| outbox::over_utc.eq(now)),
    );
    diesel::update(outbox::table.find(id)).set(noted).execute(db)?;
    Ok(())
}

/// Counts the messages of a webhook that wait.
pub fn waiting(db: &mut Db, webhook: i64) -> Result<i64, DatabaseError> {
    let own = outbox::webhook_id.eq(webhook).and(outbox::over_utc.is_null());
    Ok(outbox::table.filter(own).count().get_result(db)?)
}

/// Forgets messages that were delivered or given up before a second.
pub fn tidy(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    Ok(diesel::delete(outbox::table.filter(outbox::over_utc.lt(before))).execute(db)?)
}

/// Tells whether no message is to be delivered now.
pub fn is_idle(db: &mut Db, now: i64) -> Result<bool, DatabaseError> {
    let due = outbox::over_utc.is_null().and(outbox::next_try.le(now));
    let first: Option<i64> = outbox::table.filter(due).select(outbox::id).first(db).optional()?;
    Ok(first.is_none())
}
