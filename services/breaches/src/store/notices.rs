//! The outbox, and what its messages were about already.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use outbound::Failure;

use super::schema::{domain_breach, domain_counted, notified, outbox, subscriber};
use crate::model::notice::{Notice, Recipient};

/// What a subscriber was told of: a breach, by its id.
pub const BREACH: &str = "breach";
/// What a subscriber was told of: a paste, by its number.
pub const PASTE: &str = "paste";

/// Puts a message into the outbox, unless one with its key was there before.
pub fn post(
    db: &mut Db,
    key: &str,
    recipient: Recipient,
    notice: &Notice,
    now: i64,
) -> Result<(), DatabaseError> {
    let payload = serde_json::to_string(notice).map_err(DatabaseError::broken)?;
    let (kind, target) = recipient.parts();
    let row = (
        outbox::key.eq(key),
        outbox::kind.eq(kind),
        outbox::target.eq(target.to_string()),
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

/// A message that is to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Number.
    pub id: i64,
    /// The same in every attempt.
    pub key: String,
    /// Whom it is for.
    pub recipient: Recipient,
    /// What it is about.
    pub notice: Notice,
    /// How many attempts failed.
    pub failed: u32,
}

/// Takes messages whose time has come and puts their next attempt off.
pub fn claim(db: &mut Db, limit: i64, now: i64, later: i64) -> Result<Vec<Posted>, DatabaseError> {
    let rows: Vec<(i64, String, String, String, String, i32)> = outbox::table
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null())
        .filter(outbox::next_try.le(now))
        .order(outbox::next_try)
        .limit(limit)
        .select((
            outbox::id,
            outbox::key,
            outbox::kind,
            outbox::target,
            outbox::payload,
            outbox::tries,
        ))
        .load(db)?;
    let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
    diesel::update(outbox::table.filter(outbox::id.eq_any(ids)))
        .set(outbox::next_try.eq(later))
        .execute(db)?;
    rows.into_iter()
        .map(|(id, key, kind, target, payload, tries)| {
            let recipient = Recipient::from_parts(&kind, &target);
            let recipient = recipient.ok_or_else(|| DatabaseError::broken("an outbox target"))?;
            let notice = serde_json::from_str(&payload).map_err(DatabaseError::broken)?;
            Ok(Posted { id, key, recipient, notice, failed: u32::try_from(tries).unwrap_or(0) })
        })
        .collect()
}

/// Notes that a message was delivered.
pub fn sent(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(outbox::table.find(id)).set(outbox::sent_at.eq(now)).execute(db)?;
    Ok(())
}

/// Notes a failed attempt; without a next one the message is given up.
pub fn failed(db: &mut Db, id: i64, failure: &Failure, now: i64) -> Result<(), DatabaseError> {
    let next = failure.next_try(now);
    let noted = (
        outbox::tries.eq(outbox::tries + 1),
        outbox::error.eq(&failure.why),
        next.map(|at| outbox::next_try.eq(at)),
        next.is_none().then(|| outbox::failed_at.eq(now)),
    );
    diesel::update(outbox::table.find(id)).set(noted).execute(db)?;
    Ok(())
}

/// Removes messages that were delivered or given up before a second. The tables of what was told
/// keep them from being written again.
pub fn prune(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let over = outbox::sent_at.lt(before).or(outbox::failed_at.lt(before));
    Ok(diesel::delete(outbox::table.filter(over)).execute(db)?)
}

/// Subscribers who confirmed their address and want notices, in the order of their numbers behind
/// one: number and address.
pub fn listeners(db: &mut Db, after: i64, limit: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
    Ok(subscriber::table
        .filter(subscriber::id.gt(after))
        .filter(subscriber::notify.eq(true))
        .filter(subscriber::confirmed_at.is_not_null())
        .order(subscriber::id)
        .limit(limit)
        .select((subscriber::id, subscriber::email))
        .load(db)?)
}

/// Subscribers who want notices and whose keys are between two, both included: number and address.
pub fn listeners_between(
    db: &mut Db,
    low: i64,
    high: i64,
) -> Result<Vec<(i64, String)>, DatabaseError> {
    Ok(subscriber::table
        .filter(subscriber::k.between(low, high))
        .filter(subscriber::notify.eq(true))
        .filter(subscriber::confirmed_at.is_not_null())
        .select((subscriber::id, subscriber::email))
        .load(db)?)
}

/// What a subscriber was told of, by kind and number.
pub fn told(db: &mut Db, subscriber: i64, kind: &str) -> Result<Vec<i64>, DatabaseError> {
    Ok(notified::table
        .filter(notified::subscriber_id.eq(subscriber))
        .filter(notified::kind.eq(kind))
        .select(notified::reference)
        .load(db)?)
}

/// Notes what a subscriber was told of.
pub fn tell(
    db: &mut Db,
    subscriber: i64,
    kind: &str,
    references: &[i64],
) -> Result<(), DatabaseError> {
    let rows: Vec<_> = references
        .iter()
        .map(|reference| {
            (
                notified::subscriber_id.eq(subscriber),
                notified::kind.eq(kind),
                notified::reference.eq(*reference),
            )
        })
        .collect();
    for chunk in rows.chunks(500) {
        on_backend!(db, conn => diesel::insert_into(notified::table)
            .values(chunk)
            .on_conflict_do_nothing()
            .execute(conn))?;
    }
    Ok(())
}

/// How many addresses of a domain were in each breach when it was counted last; none before.
pub fn counted(db: &mut Db, domain: &str) -> Result<Option<Vec<(i32, i64)>>, DatabaseError> {
    let known: Option<i64> =
        domain_counted::table.find(domain).select(domain_counted::at).first(db).optional()?;
    if known.is_none() {
        return Ok(None);
    }
    let rows = domain_breach::table
        .filter(domain_breach::domain.eq(domain))
        .select((domain_breach::breach_id, domain_breach::addresses));
    Ok(Some(rows.load(db)?))
}

/// Notes how many addresses of a domain are in each breach.
pub fn set_counted(
    db: &mut Db,
    domain: &str,
    counts: &[(i32, i64)],
    now: i64,
) -> Result<(), DatabaseError> {
    let row = (domain_counted::domain.eq(domain), domain_counted::at.eq(now));
    on_backend!(db, conn => diesel::insert_into(domain_counted::table)
        .values(row)
        .on_conflict(domain_counted::domain)
        .do_update()
        .set(domain_counted::at.eq(now))
        .execute(conn))?;
    diesel::delete(domain_breach::table.filter(domain_breach::domain.eq(domain))).execute(db)?;
    let rows: Vec<_> = counts
        .iter()
        .map(|(breach, addresses)| {
            (
                domain_breach::domain.eq(domain),
                domain_breach::breach_id.eq(*breach),
                domain_breach::addresses.eq(*addresses),
            )
        })
        .collect();
    for chunk in rows.chunks(500) {
        on_backend!(db, conn => diesel::insert_into(domain_breach::table)
            .values(chunk)
            .execute(conn))?;
    }
    Ok(())
}
