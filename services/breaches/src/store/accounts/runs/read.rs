//! Reads accounts from runs by key.

use database::DatabaseError;
use diesel::SqliteConnection;
use roaring::RoaringBitmap;

use super::block::{Accounts, number};
use super::cursor::{Merged, RunCursor};
use super::list;
use super::run_account::{RunAccount, merge_duplicates};
use super::stored;
use super::view::AccountView;

/// Reads accounts with keys from `low` to `high`, inclusive, from all runs. Call this in a
/// transaction.
///
/// If `view` is given, its filters let us skip most blocks without a match.
pub fn between(
    conn: &mut SqliteConnection,
    view: Option<&AccountView>,
    low: i64,
    high: i64,
) -> Result<Vec<RunAccount>, DatabaseError> {
    let mut found = Vec::new();
    match view {
        Some(view) => {
            for run in view.with_keys(low, high) {
                of_run(conn, run, low, high, &mut found)?;
            }
        }
        None => {
            for run in list::overlapping(conn, low, high)? {
                of_run(conn, run.id, low, high, &mut found)?;
            }
        }
    }
    merge_duplicates(&mut found);
    Ok(found)
}

/// Reads accounts with `keys`, which must be sorted, from all runs. The result may include accounts
/// with other keys between them. Call this in a transaction.
///
/// If there are more blocks in between than keys, each key is looked up separately. Otherwise,
/// loading a few addresses would read all runs into memory.
pub fn with_keys(
    conn: &mut SqliteConnection,
    keys: &[i64],
) -> Result<Vec<RunAccount>, DatabaseError> {
    let mut found = Vec::new();
    let (Some(&low), Some(&high)) = (keys.first(), keys.last()) else { return Ok(found) };
    for run in list::overlapping(conn, low, high)? {
        if run.blocks_between(low, high) > keys.len() {
            for key in keys {
                of_run(conn, run.id, *key, *key, &mut found)?;
            }
        } else {
            of_run(conn, run.id, low, high, &mut found)?;
        }
    }
    merge_duplicates(&mut found);
    Ok(found)
}

/// Reads all runs and returns the ids of their accounts' domains.
pub fn domains(conn: &mut SqliteConnection) -> Result<RoaringBitmap, DatabaseError> {
    let mut found = RoaringBitmap::new();
    for run in list::all(conn)? {
        let (mut from, to) = stored::bounds(run.id);
        loop {
            let blocks = stored::blocks(conn, from, to)?;
            let Some(last) = blocks.last() else { break };
            from = last.id.saturating_add(1);
            for block in &blocks {
                for account in Accounts(&block.data) {
                    found.insert(account?.domain_id.cast_unsigned());
                }
            }
        }
    }
    Ok(found)
}

fn of_run(
    conn: &mut SqliteConnection,
    run: i64,
    low: i64,
    high: i64,
    found: &mut Vec<RunAccount>,
) -> Result<(), DatabaseError> {
    for block in stored::down_from(conn, run, high)? {
        let block = block?;
        for account in Accounts(&block.data).starting_at(low) {
            let account = account?;
            if account.k > high {
                break;
            }
            found.push(account.into());
        }
        if block.id <= number(run, low) {
            break;
        }
    }
    Ok(())
}

/// Reads accounts from all runs, starting at key `low`.
pub fn from(conn: &mut SqliteConnection, low: i64) -> Result<Merged<RunCursor>, DatabaseError> {
    let runs = list::overlapping(conn, low, i64::MAX)?;
    Ok(Merged::new(runs.into_iter().map(|run| RunCursor::from(run.id, low)).collect()))
}
