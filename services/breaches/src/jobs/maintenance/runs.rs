//! Decides when accounts are written to runs and when they are moved to the table.

use database::{DatabaseError, Db};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::retry::RetryingConnection;
use crate::store::account_runs::{self, Weights};
use crate::store::{account_links, load_connections, versions};

/// A load uses a run if the table has at least this multiple of its accounts; otherwise it would
/// touch every page of the table.
const TIMES: i64 = 4;
/// Maximum number of accounts in runs before some are moved to the table. Their filters take 2.25
/// bytes of memory each.
const MAX_IN_RUNS: i64 = 32 << 20;
/// Maximum accounts of a merged run per MiB of a load's memory.
const PER_MIB: usize = 16_384;
/// Accounts moved to the table in one transaction.
const PIECE: i64 = 100_000;
/// The key up to which accounts were moved to the table.
const MERGED_TO: &str = "runs_merged_to";

fn weights(db: &mut Db) -> Result<Option<Weights>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => account_runs::weights(conn).map(Some),
        Db::Pg(_) => Ok(None),
    }
}

/// Returns whether a load of `accounts` accounts uses a run.
pub fn uses_runs(context: &JobContext, accounts: i64) -> Result<bool, JobError> {
    let weights = context.pools.read_blocking(weights)?;
    Ok(weights.is_some_and(|found| accounts.saturating_mul(TIMES) <= found.table + found.runs))
}

/// Merges runs if there are many. If they are at least half as large as the table, moves twice as
/// many accounts to the table as the load had, so that each load does its share.
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
        if found.runs <= MAX_IN_RUNS.min(found.table / 2) {
            break;
        }
        let moved = connection.transaction(|db| merge_some(db, found.runs))?;
        left -= moved.max(PIECE / 10);
    }
    Ok(())
}

/// Moves the accounts of the next range of keys, which are evenly distributed.
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
