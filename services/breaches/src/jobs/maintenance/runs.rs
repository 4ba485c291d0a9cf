//! When accounts go into runs beside the table, and from there into it.

use database::{DatabaseError, Db};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::retry::RetryingConnection;
use crate::store::account_runs::{self, Weights};
use crate::store::{account_links, load_connections, versions};

/// A load goes beside the table where the table has so many times its accounts: it would meet every
/// page of it.
const TIMES: i64 = 4;
/// Accounts in runs beyond which some go into the table, whatever it has: their filters take 2.25 bytes
/// of memory each.
const MOST: i64 = 32 << 20;
/// Accounts of a run that two others become, for each MiB of a load's memory.
const PER_MIB: usize = 16_384;
/// Accounts that go into the table in one transaction.
const PIECE: i64 = 100_000;
/// Up to which key accounts went into the table.
const MERGED_TO: &str = "runs_merged_to";

fn weights(db: &mut Db) -> Result<Option<Weights>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => account_runs::weights(conn).map(Some),
        Db::Pg(_) => Ok(None),
    }
}

/// Whether a load of so many accounts goes beside the table.
pub fn goes_beside(context: &JobContext, accounts: i64) -> Result<bool, JobError> {
    let weights = context.pools.read_blocking(weights)?;
    Ok(weights.is_some_and(|found| accounts.saturating_mul(TIMES) <= found.table + found.runs))
}

/// Makes fewer runs of many, and moves a part of their accounts into the table where they weigh half
/// as much as that: twice as many as the load had, so that each load has its share of this work.
pub fn merge_runs(context: &JobContext, accounts: i64) -> Result<(), JobError> {
    if context.pools.read_blocking(weights)?.is_none_or(|found| found.runs == 0) {
        return Ok(());
    }
    let mut connection = RetryingConnection::open(&context.pools)?;
    let memory = context.settings.load_memory_mb;
    load_connections::set_cache(connection.db(), (memory * 1_024 / 2).max(2_048))?;
    let most = i64::try_from(memory * PER_MIB).unwrap_or(i64::MAX);
    let merge = |db: &mut Db| match db {
        Db::Sqlite(conn) => Ok(account_runs::merge_two(conn, most)?),
        Db::Pg(_) => Ok(false),
    };
    while connection.transaction(merge)? {}
    let mut left = accounts.saturating_mul(2);
    while left > 0 {
        let Some(found) = weights(connection.db())? else { break };
        if found.runs <= MOST.min(found.table / 2) {
            break;
        }
        let moved = connection.transaction(|db| merge_some(db, found.runs))?;
        left -= moved.max(PIECE / 10);
    }
    Ok(())
}

/// Moves the accounts of the next range of keys, which are evenly spread.
fn merge_some(db: &mut Db, in_runs: i64) -> Result<i64, JobError> {
    versions::lock_accounts(db)?;
    let low = versions::get(db, MERGED_TO)?.unwrap_or(i64::MIN);
    let width = u64::MAX / u64::try_from(in_runs / PIECE).unwrap_or(0).max(1);
    let high = low.checked_add_unsigned(width).unwrap_or(i64::MAX);
    let moved = account_links::merge_between(db, low, high)?;
    let next = high.checked_add(1).unwrap_or(i64::MIN);
    versions::set(db, MERGED_TO, next)?;
    Ok(i64::try_from(moved).unwrap_or(i64::MAX))
}
