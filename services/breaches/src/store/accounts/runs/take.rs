//! Removes accounts and links from runs.

use database::DatabaseError;
use diesel::prelude::*;

use super::block::{Accounts, number, push_account};
use super::list;
use super::run_account::{RunAccount, merge_duplicates};
use super::stored::{self, StoredBlock};
use crate::model::id_list;
use crate::store::accounts::new_account::NewAccount;
use crate::store::schema::{account_block, account_run};

/// Removes the accounts with keys from `low` to `high` from all runs and returns them. Call this in
/// a write transaction.
///
/// Their entries remain in the by-domain index but no longer match anything.
pub fn take(
    conn: &mut SqliteConnection,
    low: i64,
    high: i64,
) -> Result<Vec<RunAccount>, DatabaseError> {
    let mut taken = Vec::new();
    for run in list::overlapping(conn, low, high)? {
        take_ranges(conn, run.id, &[(low, high)], |_| true, &mut taken)?;
    }
    merge_duplicates(&mut taken);
    Ok(taken)
}

/// Like [`take`], but for `keys`, which must be sorted and unique. If there are more blocks in
/// between than keys, each key is looked up separately.
pub fn take_keys(
    conn: &mut SqliteConnection,
    keys: &[i64],
) -> Result<Vec<RunAccount>, DatabaseError> {
    let mut taken = Vec::new();
    let (Some(&low), Some(&high)) = (keys.first(), keys.last()) else { return Ok(taken) };
    let each: Vec<(i64, i64)> = keys.iter().map(|key| (*key, *key)).collect();
    let wanted = |k: i64| keys.binary_search(&k).is_ok();
    for run in list::overlapping(conn, low, high)? {
        if run.blocks_between(low, high) > keys.len() {
            take_ranges(conn, run.id, &each, wanted, &mut taken)?;
        } else {
            take_ranges(conn, run.id, &[(low, high)], wanted, &mut taken)?;
        }
    }
    merge_duplicates(&mut taken);
    Ok(taken)
}

/// Takes the accounts that match `wanted` and have keys in `ranges` from a run.
fn take_ranges(
    conn: &mut SqliteConnection,
    run: i64,
    ranges: &[(i64, i64)],
    wanted: impl Fn(i64) -> bool,
    taken: &mut Vec<RunAccount>,
) -> Result<(), DatabaseError> {
    let before = taken.len();
    for &(low, high) in ranges {
        let affected = |data: &[u8]| has_wanted(data, (low, high), &wanted);
        each_block(conn, run, (low, high), affected, |account, kept| {
            match (low..=high).contains(&account.k) && wanted(account.k) {
                true => taken.push(RunAccount::from(account)),
                false => kept.push(RunAccount::from(account)),
            }
        })?;
    }
    if taken.len() > before {
        list::note_taken(conn, run, taken.len() - before)?;
        tighten(conn, run)?;
    }
    Ok(())
}

/// Number of blocks to change per transaction. They hold tens of thousands of accounts.
const PIECE: usize = 1_024;

/// Result of [`strip`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// Number of links removed.
    pub links: i64,
    /// Number of the block to continue from, or `None` at the end of the run.
    pub next: Option<i64>,
}

/// Removes a breach's links from the next blocks of a run, starting at block `from`, or at the
/// first one if it's `None`. The run keeps listing the breach until the last block is done.
pub fn strip(
    conn: &mut SqliteConnection,
    run: i64,
    breach: u16,
    from: Option<i64>,
) -> Result<Stripped, DatabaseError> {
    let (first, end) = stored::bounds(run);
    let (mut links, mut emptied, mut changed) = (0, 0, 0);
    let mut next = Some(from.unwrap_or(first));
    while let Some(from) = next
        && changed < PIECE
    {
        let blocks = stored::blocks(conn, from, end)?;
        for block in &blocks {
            let mut kept = Vec::new();
            for account in Accounts(&block.data) {
                let mut account = RunAccount::from(account?);
                if let Some(shorter) = id_list::without(&account.breaches, breach) {
                    links += 1;
                    account.breaches = shorter;
                }
                match account.breaches.is_empty() {
                    true => emptied += 1,
                    false => kept.push(account),
                }
            }
            rewrite(conn, block, &kept)?;
        }
        changed += blocks.len();
        next = blocks.last().map(|last| last.id + 1);
    }
    if next.is_none() {
        let row = account_run::table.find(run);
        let ids: Vec<u8> = row.select(account_run::breaches).first(conn)?;
        if let Some(shorter) = id_list::without(&ids, breach) {
            diesel::update(row).set(account_run::breaches.eq(shorter)).execute(conn)?;
        }
    }
    list::note_taken(conn, run, emptied)?;
    if emptied > 0 {
        tighten(conn, run)?;
    }
    Ok(Stripped { links, next })
}

/// Returns `true` if the block contains a wanted account with a key from `low` to `high`. Also
/// returns `true` if the block is corrupt, so the caller will decode it and report the problem.
fn has_wanted(data: &[u8], (low, high): (i64, i64), wanted: impl Fn(i64) -> bool) -> bool {
    for account in Accounts(data).starting_at(low) {
        match account {
            Ok(account) if account.k > high => return false,
            Ok(account) if !wanted(account.k) => {}
            _ => return true,
        }
    }
    false
}

/// Passes every account in the affected blocks to `show`, which pushes the accounts to keep. Blocks
/// are rewritten if any accounts were removed or changed.
fn each_block(
    conn: &mut SqliteConnection,
    run: i64,
    (low, high): (i64, i64),
    affected: impl Fn(&[u8]) -> bool,
    mut show: impl FnMut(NewAccount<'_>, &mut Vec<RunAccount>),
) -> Result<(), DatabaseError> {
    let mut change =
        |conn: &mut SqliteConnection, block: &StoredBlock| -> Result<(), DatabaseError> {
            if !affected(&block.data) {
                return Ok(());
            }
            let mut kept = Vec::new();
            for account in Accounts(&block.data) {
                show(account?, &mut kept);
            }
            rewrite(conn, block, &kept)
        };
    if low == high {
        // By far the most common case: it happens once per run for each address in a paste.
        let block = stored::with_key(conn, run, low)?;
        return block.map_or(Ok(()), |block| change(conn, &block));
    }
    let (mut from, end) = (stored::start(conn, run, low)?, number(run, high));
    loop {
        let blocks = stored::blocks(conn, from, end)?;
        for block in &blocks {
            change(conn, block)?;
        }
        match blocks.last() {
            Some(last) if last.id < end => from = last.id + 1,
            _ => return Ok(()),
        }
    }
}

/// Replaces a block's accounts. The block keeps its number even if the key it was derived from is
/// gone.
fn rewrite(
    conn: &mut SqliteConnection,
    block: &StoredBlock,
    kept: &[RunAccount],
) -> Result<(), DatabaseError> {
    let row = account_block::table.find(block.id);
    let mut data = Vec::with_capacity(block.data.len());
    kept.iter().for_each(|account| push_account(&mut data, account.as_new()));
    if data.is_empty() {
        diesel::delete(row).execute(conn)?;
    } else if data != block.data {
        diesel::update(row).set(account_block::data.eq(data)).execute(conn)?;
    }
    Ok(())
}

/// Updates a run's lowest and highest keys.
fn tighten(conn: &mut SqliteConnection, run: i64) -> Result<(), DatabaseError> {
    let Some(last) = stored::with_key(conn, run, i64::MAX)? else { return Ok(()) };
    let (from, to) = stored::bounds(run);
    let first = account_block::table.filter(account_block::id.between(from, to));
    let first: StoredBlock = first.order(account_block::id).first(conn)?;
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for account in Accounts(&first.data).chain(Accounts(&last.data)) {
        let k = account?.k;
        (low, high) = (low.min(k), high.max(k));
    }
    diesel::update(account_run::table.find(run))
        .set((account_run::low.eq(low), account_run::high.eq(high)))
        .execute(conn)?;
    Ok(())
}
