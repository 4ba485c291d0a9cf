//! Taking accounts and links out of runs.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::block::{Accounts, push_account};
use super::list;
use super::run_account::{RunAccount, merge_duplicates};
use super::stored::{self, StoredBlock};
use crate::model::id_list;
use crate::store::new_account::NewAccount;
use crate::store::schema::{account_block, account_run};

/// Takes the wanted accounts with keys between two keys out of all runs, in a writing transaction.
///
/// What says where the accounts of a domain are is left as it is: it leads to nothing then.
pub fn take(
    conn: &mut SqliteConnection,
    low: i64,
    high: i64,
    wanted: impl Fn(i64) -> bool,
) -> Result<Vec<RunAccount>, DatabaseError> {
    let mut taken = Vec::new();
    for run in list::overlapping(conn, low, high)? {
        let before = taken.len();
        let concerned = |data: &[u8]| has_wanted(data, (low, high), &wanted);
        each_block(conn, run.id, (low, high), concerned, |account, kept| {
            match (low..=high).contains(&account.k) && wanted(account.k) {
                true => taken.push(RunAccount::from(account)),
                false => kept.push(RunAccount::from(account)),
            }
        })?;
        if taken.len() > before {
            list::note_taken(conn, run.id, taken.len() - before)?;
        }
    }
    merge_duplicates(&mut taken);
    Ok(taken)
}

/// Takes the links to a breach out of a run; returns how many there were.
pub fn strip(db: &mut Db, run: i64, breach: u16) -> Result<i64, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(0) };
    let (mut removed, mut emptied) = (0, 0);
    let all = |_: &[u8]| true;
    each_block(conn, run, (i64::MIN, i64::MAX), all, |account, kept| {
        let mut account = RunAccount::from(account);
        if let Some(shorter) = id_list::without(&account.breaches, breach) {
            removed += 1;
            account.breaches = shorter;
        }
        match account.breaches.is_empty() {
            true => emptied += 1,
            false => kept.push(account),
        }
    })?;
    let row = account_run::table.find(run);
    let ids: Vec<u8> = row.select(account_run::breaches).first(conn)?;
    if let Some(shorter) = id_list::without(&ids, breach) {
        diesel::update(row).set(account_run::breaches.eq(shorter)).execute(conn)?;
    }
    list::note_taken(conn, run, emptied)?;
    Ok(removed)
}

/// Whether a block has a wanted account with a key between two keys. One that is damaged there counts
/// too: whoever reads all of it says so.
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

/// Shows every account of the concerned blocks among those that may have keys between two keys, and
/// writes those anew of which not everything was kept as it is.
fn each_block(
    conn: &mut SqliteConnection,
    run: i64,
    (low, high): (i64, i64),
    concerned: impl Fn(&[u8]) -> bool,
    mut show: impl FnMut(NewAccount<'_>, &mut Vec<RunAccount>),
) -> Result<(), DatabaseError> {
    let mut change =
        |conn: &mut SqliteConnection, block: &StoredBlock| -> Result<(), DatabaseError> {
            if !concerned(&block.data) {
                return Ok(());
            }
            let mut kept = Vec::new();
            for account in Accounts(&block.data) {
                show(account?, &mut kept);
            }
            rewrite(conn, run, block, &kept)
        };
    if low == high {
        // The usual case by far, once for each run and address of a paste.
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
    if data.is_empty() {
        diesel::delete(row).execute(conn)?;
    } else if data != block.data {
        diesel::update(row).set(account_block::data.eq(data)).execute(conn)?;
    }
    Ok(())
}
