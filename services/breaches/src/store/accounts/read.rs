//! Reads accounts by address, by hash prefix and in key order.
//!
//! On SQLite, an account's breaches are the union of its row and its entries in runs. Accounts
//! found only in runs have the sequence number [`IN_RUNS`].

use database::{DatabaseError, Db};
use diesel::dsl::{auto_type, exists, not};
use diesel::prelude::*;
use domain::EmailAddress;

use super::routed;
use super::rows::{AccountRow, IN_RUNS, RangeRow};
use super::runs::{self, AccountView, RunAccount};
use crate::model::{AccountKey, address_text};
use crate::store::mail_domains;
use crate::store::schema::{account, domain_account, mail_domain, paste_account, stealer_log};
use crate::store::shard::{self, KeyBetween};

/// Query for accounts by key, for SQLite. There's more than one only if the first 8 bytes of their
/// SHA-1 hashes collide.
#[auto_type]
pub fn by_key(k: i64) -> _ {
    account::table.inner_join(mail_domain::table).filter(account::k.eq(k)).select((
        account::k,
        account::seq,
        account::local,
        mail_domain::name,
        account::breaches,
    ))
}

/// Like [`by_key()`], but returns domain ids, as stored in runs.
#[auto_type]
fn by_key_with_domain(k: i64) -> _ {
    account::table.inner_join(mail_domain::table).filter(account::k.eq(k)).select((
        (account::k, account::seq, account::local, mail_domain::name, account::breaches),
        account::domain_id,
    ))
}

/// Query for accounts with keys from `low` to `high`.
#[auto_type]
pub fn by_range(low: i64, high: i64) -> _ {
    account::table
        .inner_join(mail_domain::table)
        .filter(account::k.between(low, high))
        .select(((account::local, mail_domain::name, account::breaches), account::domain_id))
}

/// Query for accounts with keys from `low` to `high` in a single shard, for PostgreSQL.
///
/// Looks up each row's domain instead of joining. Since the generic plan of a prepared statement
/// doesn't know the keys, a join would expect a large range and read all domains.
#[auto_type]
pub fn by_range_of_any_size(low: i64, high: i64) -> _ {
    let has_key: KeyBetween<account::table> = shard::key_between(low, high);
    account::table.filter(has_key).select((
        account::local,
        mail_domain::table
            .filter(mail_domain::id.eq(account::domain_id))
            .select(mail_domain::name)
            .single_value()
            .assume_not_null(),
        account::breaches,
    ))
}

/// Query for a domain's accounts.
#[auto_type]
pub fn by_domain(domain_id: i32) -> _ {
    domain_account::table
        .inner_join(
            account::table
                .on(account::k.eq(domain_account::k).and(account::seq.eq(domain_account::seq))),
        )
        .filter(domain_account::domain_id.eq(domain_id))
        .select((account::k, account::seq, account::local, account::breaches))
}

/// Like [`by_domain()`], but for PostgreSQL, which has an index by domain.
#[auto_type]
pub fn by_indexed_domain(domain_id: i32) -> _ {
    account::table.filter(account::domain_id.eq(domain_id)).select((
        account::k,
        account::seq,
        account::local,
        account::breaches,
    ))
}

/// Looks up an account by address.
pub fn find(db: &mut Db, address: &EmailAddress) -> Result<Option<AccountRow>, DatabaseError> {
    let rows = at_once_with_key(db, AccountKey::of(&address.sha1()))?;
    Ok(pick(rows, address))
}

/// Reads accounts by key in a separate transaction.
pub fn at_once_with_key(db: &mut Db, key: AccountKey) -> Result<Vec<AccountRow>, DatabaseError> {
    match db {
        Db::Pg(_) => with_key(db, None, key),
        Db::Sqlite(_) => db.transaction(|db| with_key(db, None, key)),
    }
}

/// Reads accounts by key. On SQLite, call this in the transaction that `view` was read in.
pub fn with_key(
    db: &mut Db,
    view: Option<&AccountView>,
    key: AccountKey,
) -> Result<Vec<AccountRow>, DatabaseError> {
    let conn = match db {
        Db::Pg(_) => return routed::with_key(db, key),
        Db::Sqlite(conn) => conn,
    };
    let rows: Vec<(AccountRow, i32)> = by_key_with_domain(key.0).load(conn)?;
    let others = runs::between(conn, view, key.0, key.0)?;
    joined(conn, view, rows, others)
}

/// Merges entries from runs into rows with domain ids.
pub(super) fn joined(
    conn: &mut SqliteConnection,
    view: Option<&AccountView>,
    mut rows: Vec<(AccountRow, i32)>,
    mut others: Vec<RunAccount>,
) -> Result<Vec<AccountRow>, DatabaseError> {
    others.retain(|RunAccount { domain_id, local, breaches, .. }| {
        let row = rows.iter_mut().find(|(row, id)| id == domain_id && row.local == *local);
        row.map(|(row, _)| row.add(breaches)).is_none()
    });
    let domains = domains_of(conn, view, &others)?;
    let others = others.into_iter().zip(domains);
    let others = others.map(|(account, domain)| AccountRow::of_run(account, domain));
    Ok(rows.into_iter().map(|(row, _)| row).chain(others).collect())
}

/// Looks up the domains of accounts that are only in runs.
fn domains_of(
    conn: &mut SqliteConnection,
    view: Option<&AccountView>,
    accounts: &[RunAccount],
) -> Result<Vec<String>, DatabaseError> {
    match view {
        Some(view) if !accounts.is_empty() => view.domains(conn, accounts),
        _ => accounts.iter().map(|account| mail_domains::name(conn, account.domain_id)).collect(),
    }
}

/// Reads accounts by key, ignoring any that are only in runs.
pub fn in_table(db: &mut Db, key: AccountKey) -> Result<Vec<AccountRow>, DatabaseError> {
    match db {
        Db::Pg(_) => routed::with_key(db, key),
        Db::Sqlite(conn) => Ok(by_key(key.0).load(conn)?),
    }
}

/// Finds the row for `address` among the rows with its key.
pub fn pick(rows: Vec<AccountRow>, address: &EmailAddress) -> Option<AccountRow> {
    rows.into_iter().find(|row| address_text::matches(&row.local, &row.domain, address))
}

/// Reads accounts with keys from `low` to `high`, inclusive; see [`with_key`].
pub fn range(
    db: &mut Db,
    view: Option<&AccountView>,
    low: AccountKey,
    high: AccountKey,
) -> Result<Vec<RangeRow>, DatabaseError> {
    match (db, view) {
        (Db::Pg(conn), _) if shard::of_key(low.0) == shard::of_key(high.0) => {
            Ok(by_range_of_any_size(low.0, high.0).load(conn)?)
        }
        (Db::Pg(conn), _) => {
            let rows: Vec<(RangeRow, i32)> = by_range(low.0, high.0).load(conn)?;
            Ok(rows.into_iter().map(|(row, _)| row).collect())
        }
        (Db::Sqlite(conn), Some(_)) => merged_range(conn, view, low, high),
        (Db::Sqlite(conn), None) => conn.transaction(|conn| merged_range(conn, None, low, high)),
    }
}

fn merged_range(
    conn: &mut SqliteConnection,
    view: Option<&AccountView>,
    low: AccountKey,
    high: AccountKey,
) -> Result<Vec<RangeRow>, DatabaseError> {
    let mut rows: Vec<(RangeRow, i32)> = by_range(low.0, high.0).load(conn)?;
    let mut others = runs::between(conn, view, low.0, high.0)?;
    others.retain(|RunAccount { domain_id, local, breaches, .. }| {
        let row = rows.iter_mut().find(|(row, id)| id == domain_id && row.local == *local);
        row.map(|(row, _)| row.add(breaches)).is_none()
    });
    let domains = domains_of(conn, view, &others)?;
    let others = others.into_iter().zip(domains);
    let others = others.map(|(RunAccount { local, breaches, .. }, domain)| RangeRow {
        local,
        domain,
        breaches,
    });
    Ok(rows.into_iter().map(|(row, _)| row).chain(others).collect())
}

/// How many accounts to read per query.
const PAGE: i64 = 5_000;

/// Counts accounts without any breach, stealer log entry or paste.
pub fn count_empty(db: &mut Db) -> Result<i64, DatabaseError> {
    let pair = stealer_log::k.eq(account::k).and(stealer_log::seq.eq(account::seq));
    let paste = paste_account::k.eq(account::k).and(paste_account::seq.eq(account::seq));
    let empty = account::table
        .filter(account::breaches.eq(&[][..]))
        .filter(not(exists(stealer_log::table.filter(pair).select(stealer_log::k))))
        .filter(not(exists(paste_account::table.filter(paste).select(paste_account::k))));
    let conn = match db {
        Db::Sqlite(conn) => conn,
        Db::Pg(conn) => {
            let pair = pair.and(stealer_log::shard.eq(account::shard));
            let paste = paste.and(paste_account::shard.eq(account::shard));
            let empty = account::table
                .filter(account::breaches.eq(&[][..]))
                .filter(not(exists(stealer_log::table.filter(pair).select(stealer_log::k))))
                .filter(not(exists(paste_account::table.filter(paste).select(paste_account::k))));
            return Ok(empty.count().get_result(conn)?);
        }
    };
    let (mut found, mut after) = (0, (i64::MIN, IN_RUNS));
    loop {
        let page = empty
            .filter(after_place(after))
            .order((account::k, account::seq))
            .limit(PAGE)
            .select((account::k, account::seq, account::domain_id, account::local));
        let rows: Vec<(i64, i16, i32, String)> = page.load(conn)?;
        let Some(last) = rows.last() else { return Ok(found) };
        after = (last.0, last.1);
        for (k, _, domain_id, local) in &rows {
            let has = runs::between(conn, None, *k, *k)?;
            let is_own =
                |other: &RunAccount| other.domain_id == *domain_id && other.local == *local;
            found += i64::from(!has.iter().any(is_own));
        }
    }
}

#[auto_type]
fn after_place(place: (i64, i16)) -> _ {
    let k: i64 = place.0;
    let seq: i16 = place.1;
    account::k.ge(k).and(account::k.gt(k).or(account::seq.gt(seq)))
}

/// Reads up to `limit` accounts after `(k, seq)` in key order.
pub fn after(db: &mut Db, place: (i64, i16), limit: i64) -> Result<Vec<AccountRow>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => conn.transaction(|conn| merged_after(conn, place, limit)),
        Db::Pg(conn) => Ok(account::table
            .inner_join(mail_domain::table)
            .filter(after_place(place))
            .order((account::k, account::seq))
            .limit(limit)
            .select((
                account::k,
                account::seq,
                account::local,
                mail_domain::name,
                account::breaches,
            ))
            .load(conn)?),
    }
}

/// Merges rows with accounts that are only in runs. If the position refers to a row, accounts in
/// runs with the same key have already been read.
fn merged_after(
    conn: &mut SqliteConnection,
    place: (i64, i16),
    limit: i64,
) -> Result<Vec<AccountRow>, DatabaseError> {
    let stored: Vec<(i32, AccountRow)> = account::table
        .inner_join(mail_domain::table)
        .filter(after_place(place))
        .order((account::k, account::seq))
        .limit(limit)
        .select((
            account::domain_id,
            (account::k, account::seq, account::local, mail_domain::name, account::breaches),
        ))
        .load(conn)?;
    if !runs::any(conn)? {
        return Ok(stored.into_iter().map(|(_, row)| row).collect());
    }
    let first = if place.1 < 0 { Some(place.0) } else { place.0.checked_add(1) };
    let mut others = match first {
        Some(first) => runs::from(conn, first)?,
        None => runs::Merged::new(Vec::new()),
    };
    let full = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut rows = Vec::with_capacity(stored.len());
    for (domain_id, mut row) in stored {
        while rows.len() < full
            && let Some(account) = others.next_below(conn, row.k)?
        {
            rows.push(with_domain(conn, account)?);
        }
        if rows.len() >= full {
            break;
        }
        if let Some(more) = others.take_same(conn, row.k, domain_id, &row.local)? {
            row.add(&more.breaches);
        }
        rows.push(row);
    }
    while rows.len() < full
        && let Some(account) = others.next(conn)?
    {
        rows.push(with_domain(conn, account)?);
    }
    Ok(rows)
}

fn with_domain(
    conn: &mut SqliteConnection,
    account: RunAccount,
) -> Result<AccountRow, DatabaseError> {
    let domain = mail_domains::name(conn, account.domain_id)?;
    Ok(AccountRow::of_run(account, domain))
}

/// Counts all accounts, including those in runs.
pub fn count(db: &mut Db) -> Result<i64, DatabaseError> {
    let rows: i64 = account::table.count().get_result(db)?;
    Ok(rows + runs::count_outside(db)?)
}
