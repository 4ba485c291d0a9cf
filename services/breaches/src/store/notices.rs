//! Recipients of notices, and a record of the notices posted so far.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::{domain_breach, domain_counted, notified, subscriber};

/// Notice about a breach. `reference` is the breach id.
pub const BREACH: &str = "breach";
/// Notice about a paste. `reference` is the paste's row id.
pub const PASTE: &str = "paste";

/// Returns the next page of subscribers (id and address), by id, who have confirmed their address
/// and want notices.
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

/// Returns subscribers (id and address) who want notices and whose account keys are between `low`
/// and `high`, inclusive.
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

/// Number of account keys to look up per statement.
const MANY: usize = 1_000;

/// Like [`listeners_between`], but for subscribers who have any of these account keys.
pub fn listeners_with_keys(db: &mut Db, keys: &[i64]) -> Result<Vec<(i64, String)>, DatabaseError> {
    let mut found = Vec::new();
    for keys in keys.chunks(MANY) {
        let listeners = subscriber::table
            .filter(subscriber::k.eq_any(keys))
            .filter(subscriber::notify.eq(true))
            .filter(subscriber::confirmed_at.is_not_null())
            .select((subscriber::id, subscriber::email));
        found.extend(listeners.load::<(i64, String)>(db)?);
    }
    Ok(found)
}

/// Returns the references of notices of one kind that a subscriber has already received.
pub fn recorded(db: &mut Db, subscriber: i64, kind: &str) -> Result<Vec<i64>, DatabaseError> {
    Ok(notified::table
        .filter(notified::subscriber_id.eq(subscriber))
        .filter(notified::kind.eq(kind))
        .select(notified::reference)
        .load(db)?)
}

/// Records that a subscriber has been notified.
pub fn record(
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

/// Deletes the record of notices about a subscriber's own address.
pub fn forget_recorded(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    let records = notified::table.filter(notified::subscriber_id.eq(subscriber));
    diesel::delete(records).execute(db)?;
    Ok(())
}

/// Deletes the record that a subscriber was notified about a breach of their own address.
pub fn forget_breach(db: &mut Db, subscriber: i64, breach: u16) -> Result<(), DatabaseError> {
    let records = notified::table
        .filter(notified::subscriber_id.eq(subscriber))
        .filter(notified::kind.eq(BREACH))
        .filter(notified::reference.eq(i64::from(breach)));
    diesel::delete(records).execute(db)?;
    Ok(())
}

/// Deletes the record of notices about a removed paste.
pub fn forget_paste(db: &mut Db, paste: i64) -> Result<(), DatabaseError> {
    let records = notified::table.filter(notified::kind.eq(PASTE));
    diesel::delete(records.filter(notified::reference.eq(paste))).execute(db)?;
    Ok(())
}

/// Returns the number of addresses at a domain per breach, as of the last count. `None` if it was
/// never counted.
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

/// Saves the number of addresses at a domain per breach.
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
