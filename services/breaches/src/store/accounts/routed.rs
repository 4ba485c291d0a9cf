//! Reads accounts from PostgreSQL, also if they are spread over several servers.
//!
//! Queries include the shard and don't use joins, so Citus can send each one to a single server
//! with little planning. Domain names are looked up on the coordinator. On a single server, a
//! generic plan made before the tables have statistics would join by reading all domains.

use std::collections::{BTreeSet, HashMap};

use database::{DatabaseError, Db};
use diesel::dsl::auto_type;
use diesel::prelude::*;

use super::rows::{AccountRow, RangeRow};
use super::runs::AccountFilters;
use crate::model::AccountKey;
use crate::store::mail_domains;
use crate::store::schema::account;
use crate::store::shard::{self, KeyBetween, KeyIs};

/// An account with its domain id.
#[derive(Queryable)]
struct Row {
    k: i64,
    seq: i16,
    domain_id: i32,
    local: String,
    breaches: Vec<u8>,
}

/// Columns of [`Row`].
#[auto_type]
fn columns() -> _ {
    (account::k, account::seq, account::domain_id, account::local, account::breaches)
}

/// Query for accounts by key.
#[auto_type]
pub fn one_key(k: i64) -> _ {
    let has_key: KeyIs<account::table> = shard::key_is(k);
    account::table.filter(has_key).select(columns())
}

/// Query for accounts with keys from `low` to `high` in one shard.
#[auto_type]
pub fn one_range(low: i64, high: i64) -> _ {
    let has_key: KeyBetween<account::table> = shard::key_between(low, high);
    account::table.filter(has_key).select(columns())
}

/// Like [`one_range()`], but limited and in key order.
#[auto_type]
pub fn one_page(low: i64, high: i64, limit: i64) -> _ {
    let has_key: KeyBetween<account::table> = shard::key_between(low, high);
    account::table.filter(has_key).select(columns()).order((account::k, account::seq)).limit(limit)
}

/// Reads accounts by key.
pub(super) fn with_key(db: &mut Db, key: AccountKey) -> Result<Vec<AccountRow>, DatabaseError> {
    let rows = one_key(key.0).load(db)?;
    named(db, rows)
}

/// Like [`with_key`], but reads only the domain names that aren't cached at the time `now`.
pub fn routed_with_key(
    db: &mut Db,
    filters: &AccountFilters,
    key: AccountKey,
    now: i64,
) -> Result<Vec<AccountRow>, DatabaseError> {
    let rows = one_key(key.0).load(db)?;
    known(db, filters, rows, now)
}

/// Reads accounts with keys from `low` to `high` in one shard.
pub fn routed_range(
    db: &mut Db,
    filters: &AccountFilters,
    (low, high): (AccountKey, AccountKey),
    now: i64,
) -> Result<Vec<RangeRow>, DatabaseError> {
    let rows = one_range(low.0, high.0).load(db)?;
    let rows = known(db, filters, rows, now)?.into_iter();
    let range_row =
        |AccountRow { local, domain, breaches, .. }| RangeRow { local, domain, breaches };
    Ok(rows.map(range_row).collect())
}

/// Reads accounts with any of `keys` from PostgreSQL. On a single server, the shards don't matter.
pub(super) fn with_keys(
    db: &mut Db,
    keys: &BTreeSet<i64>,
) -> Result<Vec<AccountRow>, DatabaseError> {
    let Db::Pg(conn) = &mut *db else { return Ok(Vec::new()) };
    let shards: BTreeSet<i16> = keys.iter().map(|k| shard::of_key(*k)).collect();
    let rows = account::table
        .filter(account::shard.eq_any(shards))
        .filter(account::k.eq_any(keys))
        .select(columns())
        .load(conn)?;
    named(db, rows)
}

fn domain_ids(rows: &[Row]) -> BTreeSet<i32> {
    rows.iter().map(|row| row.domain_id).collect()
}

/// Adds domain names to rows.
fn named(db: &mut Db, rows: Vec<Row>) -> Result<Vec<AccountRow>, DatabaseError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let names = mail_domains::names(db, &Vec::from_iter(domain_ids(&rows)))?;
    Ok(with_names(rows, &names))
}

/// Like [`named`], but reads only the names that aren't cached.
fn known(
    db: &mut Db,
    filters: &AccountFilters,
    rows: Vec<Row>,
    now: i64,
) -> Result<Vec<AccountRow>, DatabaseError> {
    let names = filters.names().by_id(db, &domain_ids(&rows), now)?;
    Ok(with_names(rows, &names))
}

fn with_names(rows: Vec<Row>, names: &HashMap<i32, String>) -> Vec<AccountRow> {
    let named = rows.into_iter().filter_map(|row| {
        let Row { k, seq, domain_id, local, breaches } = row;
        let domain = names.get(&domain_id)?.clone();
        Some(AccountRow { k, seq, local, domain, breaches })
    });
    named.collect()
}

/// Walks the shards of a distributed database in key order, a group at a time.
#[derive(Clone, Debug)]
pub(super) struct ShardWalk {
    /// Lowest key not read yet. `None` at the end.
    next: Option<i64>,
    /// Shards per query. If shards hold less than a page of accounts, several are read together.
    shards: i16,
}

impl ShardWalk {
    pub fn from(k: i64) -> Self {
        Self { next: Some(k), shards: 1 }
    }

    /// Reads up to `limit` accounts, or more if they all share a key. Empty at the end.
    pub fn read(&mut self, db: &mut Db, limit: i64) -> Result<Vec<AccountRow>, DatabaseError> {
        while let Some(low) = self.next {
            let first = shard::of_key(low);
            let last = first.saturating_add(self.shards - 1).min(shard::SHARDS - 1);
            let high = shard::keys(last).1;
            let mut rows: Vec<Row> = if first == last {
                one_page(low, high, limit).load(db)?
            } else {
                let Db::Pg(conn) = &mut *db else { return Ok(Vec::new()) };
                let shards: Vec<i16> = (first..=last).collect();
                account::table
                    .filter(account::shard.eq_any(shards))
                    .filter(account::k.between(low, high))
                    .order((account::k, account::seq))
                    .limit(limit)
                    .select(columns())
                    .load(conn)?
            };
            let is_full = rows.len() as i64 >= limit;
            self.adapt(rows.len() as i64, limit);
            if !is_full {
                self.next = high.checked_add(1);
            } else if let Some(last) = rows.last().map(|row| row.k) {
                // Don't split accounts with the same key.
                if rows.first().is_some_and(|row| row.k != last) {
                    rows.retain(|row| row.k != last);
                    self.next = Some(last);
                } else {
                    self.next = last.checked_add(1);
                    rows = one_key(last).order(account::seq).load(db)?;
                }
            }
            if !rows.is_empty() {
                return named(db, rows);
            }
        }
        Ok(Vec::new())
    }

    /// Adjusts the number of shards, aiming for about half a page per query.
    fn adapt(&mut self, found: i64, limit: i64) {
        let fitting = i64::from(self.shards) * limit / 2 / found.max(1);
        let most = i64::from(self.shards) * 16;
        let shards = fitting.clamp(1, most.min(i64::from(shard::SHARDS)));
        self.shards = i16::try_from(shards).unwrap_or(1);
    }
}
