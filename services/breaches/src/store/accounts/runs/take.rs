//! Removes accounts and links from runs.

use database::DatabaseError;
use diesel::dsl::min;
use diesel::prelude::*;

use super::block::{Accounts, push_account};
use super::list;
use super::run_account::{RunAccount, merge_duplicates};
use super::stored::{self, StoredBlock};
use crate::model::id_list;
use crate::store::accounts::new_account::NewAccount;
use crate::store::schema::{account_block, account_run};

/// Removes the wanted accounts with keys from `low` to `high` from all runs and returns them. Must
/// be called in a write transaction.
///
/// The index by domain is not changed. Its entries for these accounts then match nothing.
pub fn take(
    conn: &mut SqliteConnection,
    low: i64,
    high: i64,
    wanted: impl Fn(i64) -> bool,
) -> Result<Vec<RunAccount>, DatabaseError> {
    let mut taken = Vec::new();
    for run in list::overlapping(conn, low, high)? {
        let before = taken.len();
        let affected = |data: &[u8]| has_wanted(data, (low, high), &wanted);
        each_block(conn, run.id, (low, high), affected, |account, kept| {
            match (low..=high).contains(&account.k) && wanted(account.k) {
                true => taken.push(RunAccount::from(account)),
                false => kept.push(RunAccount::from(account)),
            }
        })?;
        if taken.len() > before {
            list::note_taken(conn, run.id, taken.len() - before)?;
            tighten(conn, run.id)?;
        }
    }
    merge_duplicates(&mut taken);
    Ok(taken)
}

/// Number of blocks changed per transaction. They contain some tens of thousands of accounts.
const PIECE: usize = 1_024;

/// The result of removing links from some blocks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// Number of removed links.
    pub links: i64,
    /// The key from which to continue; `None` at the end of the run.
    pub next: Option<i64>,
}

/// Removes the links to a breach from some blocks of a run, starting at a key. The run lists the
/// breach until its end has been reached.
pub fn strip(
    conn: &mut SqliteConnection,
    run: i64,
    breach: u16,
    from: i64,
) -> Result<Stripped, DatabaseError> {
    let (mut links, mut emptied, mut next, mut changed) = (0, 0, Some(from), 0);
    while let Some(from) = next
        && changed < PIECE
    {
        let blocks = stored::blocks(conn, run, from, i64::MAX)?;
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
            rewrite(conn, run, block, &kept)?;
        }
        changed += blocks.len();
        next = blocks.last().and_then(|last| last.first.checked_add(1));
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

/// Returns whether a block contains a wanted account with a key from `low` to `high`. Also returns
/// true for a damaged block, so that the caller decodes it and reports the damage.
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

/// Passes every account of the affected blocks to `show`. Rewrites the blocks from which an account
/// was removed or changed.
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
            rewrite(conn, run, block, &kept)
        };
    if low == high {
        // The most frequent case, which occurs once per run for each address of a paste.
        let block = stored::with_key(conn, run, low)?;
        return block.map_or(Ok(()), |block| change(conn, &block));
    }
    let mut from = stored::start(conn, run, low)?;
    loop {
        let blocks = stored::blocks(conn, run, from, high)?;
        for block in &blocks {
            change(conn, block)?;
        }
        match blocks.last() {
            Some(last) if last.first < high => from = last.first + 1,
            _ => return Ok(()),
        }
    }
}

fn rewrite(
    conn: &mut SqliteConnection,
    run: i64,
    block: &StoredBlock,
    kept: &[RunAccount],
) -> Result<(), DatabaseError> {
    let row = account_block::table.find((run, block.first));
    let mut data = Vec::with_capacity(block.data.len());
    kept.iter().for_each(|account| push_account(&mut data, account.as_new()));
    // A block begins with the key of an account that it contains, so the key of a removed account
    // does not remain.
    let first = kept.first().map_or(block.first, |account| account.k);
    if data.is_empty() {
        diesel::delete(row).execute(conn)?;
    } else if first != block.first {
        diesel::delete(row).execute(conn)?;
        let moved = (
            account_block::run.eq(run),
            account_block::first.eq(first),
            account_block::data.eq(data),
        );
        diesel::insert_into(account_block::table).values(moved).execute(conn)?;
    } else if data != block.data {
        diesel::update(row).set(account_block::data.eq(data)).execute(conn)?;
    }
    Ok(())
}

/// Sets the lowest and the highest key of a run according to its accounts.
fn tighten(conn: &mut SqliteConnection, run: i64) -> Result<(), DatabaseError> {
    let Some(last) = stored::with_key(conn, run, i64::MAX)? else { return Ok(()) };
    let mut high = last.first;
    for account in Accounts(&last.data) {
        high = account?.k;
    }
    let blocks = account_block::table.filter(account_block::run.eq(run));
    let low: Option<i64> = blocks.select(min(account_block::first)).first(conn)?;
    diesel::update(account_run::table.find(run))
        .set((account_run::low.eq(low.unwrap_or(high)), account_run::high.eq(high)))
        .execute(conn)?;
    Ok(())
}
