//! Consistency checks for runs, used by `doctor`.

use std::collections::BTreeSet;

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::block::damaged;
use super::cursor::{Cursor, RunCursor};
use super::domain_block::{self, Place};
use super::filter::Filter;
use super::list;
use super::read;
use super::run_account::RunAccount;
use crate::store::schema::{account, domain_block as domain_blocks, run_filter};

/// Number of accounts to compare with the table per query.
const GROUP: usize = 500;

/// Counts accounts that are only in runs.
pub fn count_outside(db: &mut Db) -> Result<i64, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(0) };
    let mut merged = read::from(conn, i64::MIN)?;
    let mut outside = 0;
    loop {
        let mut group = Vec::with_capacity(GROUP);
        while group.len() < GROUP
            && let Some(next) = merged.next(conn)?
        {
            group.push(next);
        }
        if group.is_empty() {
            return Ok(outside);
        }
        outside += not_in_table(conn, &group)?;
    }
}

fn not_in_table(conn: &mut SqliteConnection, group: &[RunAccount]) -> Result<i64, DatabaseError> {
    let keys: Vec<i64> = group.iter().map(|account| account.k).collect();
    let rows: Vec<(i64, i32, String)> = account::table
        .filter(account::k.eq_any(keys))
        .select((account::k, account::domain_id, account::local))
        .load(conn)?;
    let stored: BTreeSet<(i64, i32, &str)> =
        rows.iter().map(|(k, domain_id, local)| (*k, *domain_id, local.as_str())).collect();
    let is_outside =
        |each: &&RunAccount| !stored.contains(&(each.k, each.domain_id, each.local.as_str()));
    Ok(i64::try_from(group.iter().filter(is_outside).count()).unwrap_or(i64::MAX))
}

/// Counts accounts in runs that can't be found through the by-domain index or the filter.
pub fn faults(db: &mut Db) -> Result<i64, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(0) };
    let mut faults = 0;
    for run in list::all(conn)? {
        let places = places(conn, run.id)?;
        let bytes: Vec<u8> = run_filter::table.find(run.id).select(run_filter::data).first(conn)?;
        let filter = Filter::from_bytes(&bytes).ok_or_else(|| damaged("filters"))?;
        let mut cursor = RunCursor::from(run.id, i64::MIN);
        while let Some(k) = cursor.peek(conn)? {
            let Some(found) = cursor.pop() else { break };
            let filed = places.binary_search(&Place::of(found.domain_id, k)).is_ok();
            let known = (run.low..=run.high).contains(&k) && filter.may_have(k, k);
            faults += i64::from(!filed || !known);
        }
    }
    Ok(faults)
}

fn places(conn: &mut SqliteConnection, run: i64) -> Result<Vec<Place>, DatabaseError> {
    let rows: Vec<(i64, Vec<u8>)> = domain_blocks::table
        .filter(domain_blocks::run.eq(run))
        .order(domain_blocks::first)
        .select((domain_blocks::first, domain_blocks::data))
        .load(conn)?;
    let mut all = Vec::new();
    for (first, data) in rows {
        all.extend(domain_block::places(first, &data).ok_or_else(|| damaged("domains"))?);
    }
    Ok(all)
}
